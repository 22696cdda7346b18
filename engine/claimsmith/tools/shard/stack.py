"""`claimsmith shard`: a stack's claims, bindings, settings and state moved to the stacks that it is cut into.

In this order, so that whatever interrupts it, no run of any stack deletes anything: the new stacks' files, then the
state, then the old stack's files. Done again, it goes on where it stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from claimsmith.base.errors import BindingError, DeployError, LoadError, Problem, Source
from claimsmith.base.labels import GIVEN_BY
from claimsmith.compose.plan import Plan
from claimsmith.platform import bindings_file
from claimsmith.platform.binding import Record
from claimsmith.project import checkpoint, workspace
from claimsmith.project.load import read_text
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.providers.tokens import component_type, urn
from claimsmith.tools.shard.cut import Cut, Key, Part, cut

SHARED = "shared.yaml"
_CLUSTERS = "clusters.json"
_SEPARATOR = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sharding:
    """A cut, and what it takes to make it."""

    cut: Cut
    files: Mapping[str, str]
    """What is to be written for the new stacks, by path."""
    left: Mapping[str, str | None]
    """What remains of the old stack's files; None for one that goes."""
    moves: Mapping[str, tuple[str, ...]]
    """The URNs to be moved in the state, by the new stack; none where the stack was not deployed."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The sharding for a machine to read."""
        return {
            "stack": self.cut.stack,
            "parts": [
                {"stack": p.stack, "claims": [c.address for c in p.claims], "shared": list(p.shared)}
                for p in self.cut.parts
            ],
            "stays": [{"claim": c.address, "reason": why} for c, why in self.cut.stays],
            "joined": [{"claim": c.address, "with": other} for c, other in self.cut.joined],
            "files": sorted(self.files),
            "moves": {stack: list(urns) for stack, urns in self.moves.items()},
            "notes": list(self.notes),
        }


def look(project: Project, stack: str, key: Key) -> Sharding:
    """How a stack would be cut; changes nothing."""
    project.check_stack(stack)
    plan = project.plan(stack)
    found = cut(plan, key, stacks=_strangers(project, stack))
    files: dict[str, str] = {}
    left = _remaining(project, plan, found, files)
    notes: list[str] = []
    records, environments = project.records(stack), _environments(project, stack)
    for part in found.parts:
        _bindings(project, stack, records, part, files)
        _settings(project, stack, part, files, notes)
        _shared(plan, part, files)
        if environments:
            files[f"stacks/{part.stack}/resources/environments.yaml"] = environments
    gone = frozenset().union(*(p.keys for p in found.parts))
    kept = [r for r in records if r.claim not in gone]
    left[f"stacks/{stack}/bindings.yaml"] = bindings_file.write(kept, stack=stack, origin=project.uids_from(stack))
    return Sharding(found, files, left, _moves(project, plan, found), tuple(notes))


def shard(project: Project, stack: str, key: Key) -> Sharding:
    """Cut a stack; gives what was done."""
    sharding = look(project, stack, key)
    if not sharding.cut.parts:
        return sharding
    for path, text in sharding.files.items():
        write_atomically(project.root / path, text)
    for part, urns in sharding.moves.items():
        _move(project, stack, part, urns)
    _remember_cluster(project, stack, list(sharding.moves))
    for path, rest in sharding.left.items():
        if rest is None:
            (project.root / path).unlink(missing_ok=True)
        else:
            write_atomically(project.root / path, rest)
    return sharding


def _strangers(project: Project, stack: str) -> list[str]:
    """The stacks that no claim of this one was moved to before."""
    others = [s for s in project.stacks() if s != stack]
    return [s for s in others if all(r.stack != stack for r in project.records(s))]


def _remaining(project: Project, plan: Plan, found: Cut, files: dict[str, str]) -> dict[str, str | None]:
    """Put each claim's text into its part's files; gives what remains of the old ones."""
    goes: dict[str, dict[int, str]] = {}
    for part in found.parts:
        for claim in part.claims:
            place = claim.binding.claim.document.source_of()
            goes.setdefault(place.file, {})[place.line] = part.stack
    kept = [c.binding.claim.document for c in plan.claims] + [u.claim.document for u in plan.unbound]
    kept += [w.placement.application.document for w in plan.workloads]
    for place in (document.source_of() for document in kept if document.file in goes):
        goes[place.file].setdefault(place.line, found.stack)
    left: dict[str, str | None] = {}
    moved: dict[str, dict[str, str]] = {}
    for file, lines in goes.items():
        rest = []
        for first, text in _documents(read_text(project.root / file, root=project.root)):
            stack = _goes_to(lines, file, first, first + text.count("\n"))
            if stack in (None, found.stack):
                rest.append(text)
                continue
            path = file.replace(f"stacks/{found.stack}/", f"stacks/{stack}/", 1)
            if path not in moved:
                moved[path] = {t.strip(): t for _, t in _documents(_present(project, path))}
            moved[path].setdefault(text.strip(), text)
        left[file] = _joined(rest) if any(_says_something(t) for t in rest) else None
    files |= {path: _joined(list(texts.values())) for path, texts in moved.items()}
    folder = f"stacks/{found.stack}/claims"
    files_there = [p for p in (project.root / folder).rglob("*") if p.is_file()]
    if all(left.get(p.relative_to(project.root).as_posix(), "") is None for p in files_there):
        left[f"{folder}/.keep"] = ""  # The stack stays, for what it gives.
    return left


def _present(project: Project, path: str) -> str:
    """What a file of a part has already: claims that came there before, or in a cut that was interrupted."""
    return read_text(project.root / path, root=project.root) if (project.root / path).is_file() else ""


def _goes_to(lines: Mapping[int, str], file: str, first: int, last: int) -> str | None:
    """The stack that the claim between two lines goes to, if it goes."""
    here = sorted({lines[line] for line in range(first, last + 1) if line in lines})
    if len(here) > 1:
        what = f"claims that go to {' and '.join(here)} stand in one document"
        raise LoadError(Problem(what, Source(file, first), fix="give each claim a document of its own"))
    return here[0] if here else None


def _documents(text: str) -> list[tuple[int, str]]:
    """The documents of a YAML stream as they are written, each with its first line."""
    found, start, line = [], 0, 1
    for mark in _SEPARATOR.finditer(text):
        part = text[start : mark.start()]
        if part.strip():
            found.append((line, part))
        end = min(mark.end() + 1, len(text))
        start, line = end, line + text.count("\n", start, end)
    return [*found, *([(line, text[start:])] if text[start:].strip() else [])]


def _joined(texts: Sequence[str]) -> str:
    return "---\n".join(t if t.endswith("\n") else f"{t}\n" for t in texts)


def _says_something(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _bindings(project: Project, stack: str, records: Sequence[Record], part: Part, files: dict[str, str]) -> None:
    """The part's bindings: each keeps its uid, and the stack whose name its objects carry."""
    keys = part.keys
    moved = [replace(r, stack=r.stack or stack) for r in records if r.claim in keys]
    there = [r for r in project.records(part.stack) if r.claim not in keys]
    _refuse_unrecorded(part, moved)
    all_of_it = sorted([*there, *moved], key=lambda r: r.claim)
    # The moved claims name the stack that they come from; their project is that of the stack which is cut.
    origin = f"{project.uids_from(stack).partition('/')[0]}/{part.stack}"
    files[f"stacks/{part.stack}/bindings.yaml"] = bindings_file.write(all_of_it, stack=part.stack, origin=origin)


def _refuse_unrecorded(part: Part, moved: Sequence[Record]) -> None:
    missing = part.keys - {r.claim for r in moved}
    if missing:
        what = f"{min(missing)} is not bound yet"
        raise BindingError(Problem(what, fix="run: claimsmith bind on the stack first"))


def _settings(project: Project, stack: str, part: Part, files: dict[str, str], notes: list[str]) -> None:
    """The part's settings: those of the old stack, but for secrets, which only the engine can copy."""
    source, target = project.root / f"stacks/Pulumi.{stack}.yaml", f"stacks/Pulumi.{part.stack}.yaml"
    if not source.is_file() or (project.root / target).exists():
        return
    data = yaml.safe_load(source.read_text(encoding="utf-8")) or {}
    config = data.get("config") or {}
    secret = sorted(k for k, v in config.items() if _holds_secret(v))
    files[target] = yaml.safe_dump({"config": {k: v for k, v in config.items() if k not in secret}}, sort_keys=False)
    notes += [f"copy the secret setting: pulumi config cp {k} --stack {stack} --dest {part.stack}" for k in secret]


def _holds_secret(value: Any) -> bool:
    """Whether a setting, or a part of it, is encrypted for the stack that has it."""
    match value:
        case dict():
            return "secure" in value or any(map(_holds_secret, value.values()))
        case list():
            return any(map(_holds_secret, value))
        case _:
            return False


def _shared(plan: Plan, part: Part, files: dict[str, str]) -> None:
    """The pre-existing resources of the old stack that the part's claims refer to, marked as that stack's."""
    documents = []
    for resource in plan.resources:
        if resource.address in part.shared:
            metadata = resource.document["metadata"]
            annotations = {**(metadata.get("annotations") or {}), GIVEN_BY: plan.stack}
            spec = {k: v for k, v in resource.document.items() if k not in ("data", "stringData")}
            documents.append({**spec, "metadata": {**metadata, "annotations": annotations}})
    if documents:
        head = f"# Given by the stack {plan.stack}; here it is only referred to.\n"
        path = f"stacks/{part.stack}/resources/{SHARED}"
        files[path] = head + yaml.safe_dump_all(documents, sort_keys=False)


def _environments(project: Project, stack: str) -> str:
    """The data of the environment that the stack's own files bring: it is read, not deployed, so each part has it."""
    environments = project.catalog(stack).crossplane.environments.values()
    own = [d.data for d in environments if d.file.startswith(f"stacks/{stack}/")]
    return yaml.safe_dump_all(own, sort_keys=False) if own else ""


def _moves(project: Project, plan: Plan, found: Cut) -> dict[str, tuple[str, ...]]:
    """The components that the state of the old stack holds, by the stack that they go to."""
    try:
        state = workspace.export_state(project, plan.stack)
    except DeployError as error:
        # Only a stack that was never created has no state to move. Any other must be read: without it, a cut deletes.
        if "no stack named" in error.problems[0].what:
            return {}
        raise
    if checkpoint.pending(state):
        what = f"the last run of {plan.stack!r} was interrupted"
        raise DeployError(Problem(what, fix=f"run: claimsmith recover {plan.stack} --yes, and pulumi up"))
    known = {r["urn"] for r in state["deployment"].get("resources") or ()}
    moves = {}
    for part in found.parts:
        wanted = [
            urn(plan.project, plan.stack, [component_type(c.binding.claim.key.group_kind)], c.component_name)
            for c in part.claims
        ]
        moves[part.stack] = tuple(u for u in wanted if u in known)
    return {stack: urns for stack, urns in moves.items() if urns}


def _move(project: Project, stack: str, part: str, urns: Sequence[str]) -> None:
    """Move resources from one stack's state to another's, which is created if it is missing."""
    if workspace.pulumi(project, "stack", "export", "--stack", part).returncode:
        _done(workspace.pulumi(project, "stack", "init", part), f"the stack {part!r} cannot be created")
    # The command line has a limit; each call moves whole components.
    for start in range(0, len(urns), 200):
        arguments = ["state", "move", "--source", stack, "--dest", part, "--yes", *urns[start : start + 200]]
        _done(workspace.pulumi(project, *arguments), f"the state cannot be moved from {stack!r} to {part!r}")


def _done(ran: Any, what: str) -> None:
    if ran.returncode:
        reason = workspace.errors_in(ran.stderr or ran.stdout)
        fix = "nothing was deleted, and the claims are still in the old stack's files; fix that and run it again"
        raise DeployError(Problem(f"{what}: {reason}", fix=fix))


def _remember_cluster(project: Project, stack: str, parts: Sequence[str]) -> None:
    """The new stacks are deployed where the old one is."""
    path = project.private / _CLUSTERS
    known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if stack in known:
        write_atomically(path, json.dumps({**known, **dict.fromkeys(parts, known[stack])}, indent=2) + "\n")
