"""Finds what a killed run left behind, and repairs it: the documented steps, each only where it is safe.

A lock is freed when its owner is gone. An interrupted creation is looked up in the cluster: what is there and ours is
taken into the state, what is not there is cleared. The rest is the engine's own `refresh`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from claimsmith.base.errors import ConnectionError_, DeployError, EngineError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.base.posix import alone
from claimsmith.compose.clusters import kubernetes_children
from claimsmith.kubernetes.client import Cluster, owner_of
from claimsmith.project import checkpoint, stack_locks, workspace
from claimsmith.project.checkpoint import CREATING, Pending
from claimsmith.project.load import shown
from claimsmith.project.project import Project
from claimsmith.providers import tokens
from claimsmith.toolchain import background, file_backend, leftovers, private_runs
from claimsmith.toolchain.leftovers import Leftover
from claimsmith.toolchain.locks import Lock


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was found, and what is done about it."""

    found: str
    step: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An operation that was interrupted, and how the cluster stands."""

    pending: Pending
    created: bool = False
    """Whether a creation created its object, and it is ours."""
    foreign: str = ""
    """Whose an object of its name is, if it is not ours."""

    @property
    def step(self) -> Step:
        """What it comes to."""
        p = self.pending
        found = f"{p.name}: interrupted while {p.operation}"
        if p.operation != CREATING:
            return Step(found, "refresh it")
        if p.in_state:
            return Step(f"{found}, created by a later run", "clear it")
        if p.only_in_state:
            return Step(f"{found}, and is nowhere but in the state", "clear it")
        if p.native:
            again = "clear it; if the next up reports that it exists, take it over: claimsmith.io/import on the claim"
            return Step(f"{found}, and only its provider knows whether it is there", again)
        if self.created:
            return Step(f"{found}, and {p.object_id} is there", "take it into the state")
        if self.foreign:
            return Step(f"{found}, and {p.object_id} {self.foreign}", "clear it")
        return Step(f"{found}, and {p.object_id or 'nothing'} is not there", "clear it")


@dataclass(frozen=True, slots=True)
class Stray:
    """An object in the cluster that carries this stack's name as its owner, and that its state does not know."""

    kind: GroupKind
    place: str
    wanted: bool
    """Whether a claim of this stack owns it."""

    @property
    def step(self) -> Step:
        """What it comes to."""
        found = f"{self.kind.kind} {self.place} is in the cluster, but not in the state"
        if self.wanted:
            return Step(found, "none: the next up takes it up")
        return Step(found, "none: no claim owns it; it was kept on purpose, or delete it by hand")


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found."""

    stack: str
    locks: tuple[Lock, ...] = ()
    interrupted: tuple[Interrupted, ...] = ()
    strays: tuple[Stray, ...] = ()
    processes: tuple[Leftover, ...] = ()
    files: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    """Half-written attributes of the state's files, in the file backend."""
    copies: tuple[Path, ...] = ()
    """Copies of the kubeconfig in the system's temporary folder."""
    warnings: tuple[Problem, ...] = ()

    @property
    def steps(self) -> list[Step]:
        """What is there to do, in the order of doing."""
        return [
            *(Step(f"{p.program} (process {p.process.pid}), whose engine is gone", "end it") for p in self.processes),
            *(Step(f"{lock}, {lock.owner}", "free it") for lock in self.locks),
            *(Step(f"{file}: half-written by a run that is gone", "remove it") for file in self.files),
            *(Step(f"{file}: half-written by an engine that is gone", "remove it") for file in self.attributes),
            *(Step(f"{copy}: the kubeconfig, left by a provider that is gone", "remove it") for copy in self.copies),
            *(i.step for i in self.interrupted),
        ]

    @property
    def notes(self) -> list[Step]:
        """What is only reported."""
        return [s.step for s in self.strays]

    def to_dict(self) -> dict[str, Any]:
        """The report for a machine to read."""
        steps, notes = ([asdict(s) for s in listed] for listed in (self.steps, self.notes))
        return {"stack": self.stack, "steps": steps, "notes": notes, "warnings": [p.to_dict() for p in self.warnings]}


def look(project: Project, stack: str, *, unlock: bool = False) -> Report:
    """What a killed run left behind. A stack that a run is working on is refused.

    `unlock` says that the owners of locks from other machines are known to be gone.
    """
    project.check_stack(stack)
    backend = workspace.backend(project)
    held = stack_locks.held(project, stack, backend)
    _refuse_running(held, stack, unlock=unlock)
    attributes = file_backend.half_written(file_backend.folder(backend, project.root), project.name, stack)
    if attributes:
        # The engine cannot read the state until they are gone: the rest is found after that.
        return Report(stack, locks=tuple(held), attributes=tuple(shown(p, project.root) for p in attributes))
    state = workspace.export_state(project, stack)
    pending = checkpoint.pending(state)
    clusters = _Clusters(project, stack)
    try:
        interrupted = tuple(_interrupted(p, clusters) for p in pending)
        strays, warnings = _strays(project, stack, state, pending, clusters)
        copies = leftovers.kubeconfigs(Path(tempfile.gettempdir()), clusters.kubeconfigs)
    finally:
        clusters.close()
    return Report(
        stack,
        locks=tuple(held),
        interrupted=interrupted,
        strays=strays,
        processes=tuple(leftovers.processes(project.root)),
        files=tuple(p.relative_to(project.root).as_posix() for p in leftovers.half_written(project.root)),
        copies=tuple(copies),
        warnings=tuple(warnings),
    )


def repair(project: Project, stack: str, *, unlock: bool = False) -> Report:
    """Do the steps; gives what was found before them. Done twice, the second finds nothing."""
    with _alone(project):
        report = look(project, stack, unlock=unlock)
        if attributes := report.attributes:
            for file in attributes:
                (project.root / file).unlink(missing_ok=True)
            report = replace(look(project, stack, unlock=unlock), attributes=attributes)
        for leftover in report.processes:
            background.stop(leftover.process, grace=5.0)
        stack_locks.free(project, stack, list(report.locks))
        for file in report.files:
            (project.root / file).unlink(missing_ok=True)
        # Those of other dead runs went with the first run of the engine above; not that of a plugin ended just now.
        for run in private_runs.dead(str(project.private)):
            private_runs.remove(str(project.private), run)
        for copy in report.copies:
            copy.unlink(missing_ok=True)
        created = {i.pending.urn: i.pending.object_id for i in report.interrupted if i.created}
        if created:
            workspace.import_state(project, stack, checkpoint.taken_in(workspace.export_state(project, stack), created))
        if report.interrupted:
            _refresh(project, stack)
    return report


def _refuse_running(held: list[Lock], stack: str, *, unlock: bool) -> None:
    problems = []
    for lock in held:
        if lock.foreign and not unlock:
            what = f"{stack!r} is locked: {lock}, {lock.owner}; whether it still runs cannot be known here"
            problems.append(Problem(what, fix=f"make sure that it is gone, then: claimsmith recover {stack} --unlock"))
        elif not lock.foreign and not lock.stale:
            what = f"a run of {stack!r} is at work: {lock}"
            problems.append(Problem(what, fix="wait until it ends; there is nothing to recover before that"))
    if problems:
        raise DeployError(*problems)


class _Clusters:
    """The clusters that a stack's providers lead to, each opened once."""

    def __init__(self, project: Project, stack: str) -> None:
        self._project, self._stack = project, stack
        self._open: dict[str, Cluster] = {}
        self._known: dict[str, tuple[str, str | None]] | None = None

    def main(self) -> Cluster:
        """The stack's own cluster, as its settings name it."""
        if "" not in self._open:
            settings = workspace.settings_of(self._project, self._stack)
            self._open[""] = workspace.stack_cluster(self._project, settings.get("kubeconfig"), settings.get("context"))
        return self._open[""]

    def of(self, provider: str) -> Cluster | None:
        """The cluster of a provider, by the reference that resources make to it."""
        if provider.rpartition("::")[0].endswith("::cluster"):
            return self.main()
        known = self._in_state()
        if provider in known and provider not in self._open:
            text, context = known[provider]
            self._open[provider] = Cluster(text, context, file=f"the state of {self._stack}")
        return self._open.get(provider)

    def kubeconfigs(self) -> list[str]:
        """The kubeconfigs of all of them: that of the settings, where it can be read, and those in the state."""
        in_state = [text for text, _ in self._in_state().values()]
        if not in_state and "" not in self._open:
            return []  # No run of the stack had a cluster.
        try:
            return [self.main().kubeconfig, *in_state]
        except EngineError:
            return in_state

    def _in_state(self) -> dict[str, tuple[str, str | None]]:
        if self._known is None:
            secret = workspace.export_state(self._project, self._stack, show_secrets=True)
            self._known = checkpoint.kubeconfigs(secret)
        return self._known

    def close(self) -> None:
        """End all connections."""
        for cluster in self._open.values():
            cluster.close()


def _interrupted(pending: Pending, clusters: _Clusters) -> Interrupted:
    if pending.operation != CREATING or pending.in_state or not pending.object_id:
        return Interrupted(pending)
    cluster = clusters.of(str(pending.resource.get("provider", "")))
    if cluster is None:
        return Interrupted(pending)
    document = pending.document
    metadata = document["metadata"]
    live = cluster.read(
        str(document["apiVersion"]), str(document["kind"]), metadata["name"], metadata.get("namespace") or None
    )
    if live is None:
        return Interrupted(pending)
    owner = owner_of(live)
    if owner and owner == pending.owner:
        return Interrupted(pending, created=True)
    return Interrupted(pending, foreign=f"belongs to {owner}" if owner else "was not created by claimsmith")


def _strays(
    project: Project, stack: str, state: checkpoint.State, pending: list[Pending], clusters: _Clusters
) -> tuple[tuple[Stray, ...], list[Problem]]:
    """The objects of this stack's that its state does not know; a warning if the cluster cannot be read."""
    known = {(kind, place) for _, kind, place in checkpoint.objects(state)}
    begun = {(GroupKind.of(dict(p.document)), p.object_id) for p in pending if p.object_id}
    kinds = {kind for kind, _ in known | begun} | _planned_kinds(project, stack)
    if not kinds:
        # Nothing of the stack is, or was to be, in a cluster: none is looked for.
        return (), []
    try:
        owners, moved = _owners(project, stack)
    except EngineError as error:
        return (), list(error.problems)
    head = f"{project.name}/{stack}/"
    found = []
    try:
        for kind in sorted(kinds):
            for item in clusters.main().metadata(kind):
                owner, metadata = owner_of(item) or "", item["metadata"]
                namespace = metadata.get("namespace")
                place = f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
                ours = owner in owners or (owner.startswith(head) and owner not in moved)
                if ours and (kind, place) not in known | begun and not owners.get(owner):
                    found.append(Stray(kind, place, wanted=owner in owners))
    except ConnectionError_:
        # A mistake in the stack's settings, which every run would meet; not a cluster that is away.
        raise
    except EngineError as error:
        if any(p.operation == CREATING and not p.in_state for p in pending):
            raise
        return (), list(error.problems)
    return tuple(found), []


def _owners(project: Project, stack: str) -> tuple[dict[str, bool], set[str]]:
    """The owners that the stack's bindings name, and whether each was released; and those that went to other stacks."""
    owners = {f"{project.name}/{r.stack or stack}/{r.uid}": r.released for r in project.records(stack)}
    others = [r for other in project.stacks() if other != stack for r in project.records(other)]
    return owners, {f"{project.name}/{r.stack}/{r.uid}" for r in others if r.stack}


def _planned_kinds(project: Project, stack: str) -> set[GroupKind]:
    """The kinds that the stack deploys; none if it cannot be planned now, which other commands report."""
    try:
        plan = project.plan(stack, unrecorded_ok=True)
    except EngineError:
        return set()
    claims = list(plan.walk())
    secrets = {GroupKind.of(tokens.SECRET) for claim in claims if claim.connections}
    return secrets | {GroupKind.of(child.document) for claim in claims for child in kubernetes_children(claim)}


def _refresh(project: Project, stack: str) -> None:
    """Let the engine compare its state with the cluster; what is still pending is cleared by it."""
    done = workspace.pulumi(
        project, "refresh", "--stack", stack, "--yes", "--skip-preview", "--clear-pending-creates", "--suppress-outputs"
    )
    if done.returncode:
        what = f"the state of {stack!r} cannot be refreshed: {workspace.errors_in(done.stdout + done.stderr)}"
        raise DeployError(Problem(what, fix=f"fix that, then run again: claimsmith recover {stack} --yes"))


@contextmanager
def _alone(project: Project) -> Iterator[None]:
    """Hold the right to recover; another that recovers at the same time is refused."""
    workspace.prepare(project)
    with alone(project.private / "recover.lock", "another claimsmith is recovering in this project"):
        yield
