"""What the commands do, apart from flags and printing: read a project, make something of it, write files whole."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from claimsmith import binding, bindings_file, released, workload
from claimsmith import render as renderer
from claimsmith.binding import Record
from claimsmith.checks.components import Components
from claimsmith.errors import BindingError, ComposeError, GenerateError, LoadError, ModelError, Problem, nearest
from claimsmith.models.objects import ClaimKey, ClassKey
from claimsmith.plan import Plan
from claimsmith.printable import one_line
from claimsmith.project import Project, write_atomically


@dataclass(frozen=True, slots=True)
class BindRow:
    """One claim after `bind`."""

    claim: ClaimKey
    klass: ClassKey
    reason: str
    change: str


@dataclass(frozen=True, slots=True)
class BindResult:
    """All claims of a stack after `bind`."""

    rows: list[BindRow]
    changed: bool
    warnings: list[Problem] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    unread: Sequence[Problem] = ()
    """Fields of claims that nothing reads."""

    def to_dict(self) -> dict[str, Any]:
        """The result for a machine to read."""
        rows = [
            {"claim": str(r.claim), "class": str(r.klass), "reason": r.reason, "change": r.change} for r in self.rows
        ]
        unbound = [p.to_dict() for p in (*self.warnings, *self.errors)]
        unread = [p.to_dict() for p in self.unread]
        return {"bindings": rows, "changed": self.changed, "unbound": unbound, "unread": unread}


def bind(
    project: Project,
    stack: str,
    *,
    rebind: Sequence[str] = (),
    rebind_class: Sequence[str] = (),
    repick: Sequence[str] = (),
    forget: Sequence[str] = (),
    check: bool = False,
    strict: bool = False,
) -> BindResult:
    """Bind a stack's claims and record it, with what their selectors pick.

    Claims that cannot be bound are reported; the rest goes on. What cannot be planned is refused, and nothing written;
    so are fields of claims that nothing reads, where a schema forbids them or it is `strict`.
    """
    project.check_stack(stack)
    if forget and not check:
        project.mend_records(stack, forget)
    before = project.records(stack)
    chosen = frozenset(_claim_key(text, project, stack) for text in rebind) | _bound_to(rebind_class, before, stack)
    anew = frozenset(_claim_key(text, project, stack) for text in repick)
    catalog, found = project.expand(stack, rebind=chosen, repick=anew)
    unread = project.unread(stack, catalog, strict=strict)
    if unread.errors:
        raise ModelError(*unread.errors)
    scheduled = project.schedule(stack, catalog, found, rebind=chosen)
    unbound = found.unbound
    plan = project.planned(stack, catalog, found, scheduled)
    if taken := project.taken_names(plan):
        raise ComposeError(*taken)
    picks = {c.binding.claim.key: c.picks for c in plan.walk()}
    records = binding.to_records(found.bindings(), before, picks)
    records = sorted([*records, *workload.to_records(scheduled.placements, before)], key=lambda r: r.claim)
    known = {r.claim: r for r in before}
    present = {r.claim for r in records}
    left = [r for r in before if r.claim not in present and str(r.claim) not in forget]
    records = sorted([*records, *released.keep(catalog, left)], key=lambda r: r.claim)
    rows = [BindRow(r.claim, r.klass, r.reason, _change(known.get(r.claim), r)) for r in records]
    kept = {r.claim for r in records}
    gone = [BindRow(c, r.klass, r.reason, "removed") for c, r in known.items() if c not in kept]
    path = project.bindings_path(stack)
    text = bindings_file.write(records, stack=stack, origin=project.uids_from(stack))
    changed = not path.exists() or path.read_text(encoding="utf-8") != text
    if changed and not check:
        write_atomically(path, text)
    warnings = [*(u.problem for u in unbound if not u.mistake), *scheduled.unscheduled]
    errors = [u.problem for u in unbound if u.mistake]
    return BindResult([*rows, *gone], changed, warnings, errors, unread=unread.warnings)


def _bound_to(classes: Sequence[str], records: Sequence[Record], stack: str) -> frozenset[ClaimKey]:
    """The claims that are bound to classes of these names; a class that serves none is refused."""
    served = {r.klass.name for r in records if not r.released}
    for name in classes:
        if name not in served:
            close = nearest(name, served)
            fix = f"did you mean {close!r}?" if close else f"bound are: {', '.join(sorted(served)) or 'none'}"
            raise BindingError(Problem(f"no claim of {stack} is bound to a class {name!r}", fix=fix))
    return frozenset(r.claim for r in records if r.klass.name in classes and not r.released)


def rendered(project: Project, stack: str, claim: str | None = None) -> Iterator[str]:
    """What a stack makes, as YAML, claim by claim."""
    return renderer.stream(_narrowed(project.plan(stack, unrecorded_ok=True), claim))


def rendered_documents(project: Project, stack: str, claim: str | None = None) -> list[dict[str, Any]]:
    """What a stack makes, as documents."""
    plan = _narrowed(project.plan(stack, unrecorded_ok=True), claim)
    made = [document for c in plan.claims for document in renderer.documents(c)]
    return [*made, *(document for w in plan.workloads for document in w.documents())]


def generate(project: Project, *, check: bool = False) -> list[tuple[str, str]]:
    """Write each folder's component; tells for each whether it was new, changed or the same."""
    rows: list[tuple[str, str]] = []
    texts = component_texts(project)
    for path, text in texts.items():
        shown = path.relative_to(project.root).as_posix()
        old = path.read_bytes() if path.is_file() else None
        rows.append((shown, "new" if old is None else "none" if old == text.encode() else "changed"))
    if not check:
        for path, text in texts.items():
            write_atomically(path, text)
    return rows


def component_texts(project: Project) -> dict[Path, str]:
    """The source of every component, formatted."""
    found = Components(project)
    return {path: format_source(found.source(path)) for path in found.folders}


def format_source(source: str) -> str:
    """The source as the formatter writes it."""
    # Ruffs before 0.15.3 have it only here.
    from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]  # it has no types

    command = [find_ruff_bin(), "format", "--isolated", "--line-length", "120", "--target-version", "py311", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    if done.returncode:
        raise GenerateError(
            Problem(f"the generated source cannot be formatted: {one_line(done.stderr)}", fix="report this as a bug")
        )
    return done.stdout


@dataclass(frozen=True, slots=True)
class ClaimStatus:
    """A deployed claim."""

    claim: ClaimKey
    details: dict[str, Any]

    @property
    def children(self) -> list[tuple[int, str, str]]:
        """Depth, kind and name of each child, those of a composite below it."""
        return list(_tree(self.details["resources"], 1))

    @property
    def secret(self) -> str:
        """The connection Secret's place and keys, in short."""
        secret = self.details.get("connectionSecret")
        return f"{secret['namespace']}/{secret['name']}: {', '.join(secret['keys'])}" if secret else "none asked for"

    def to_dict(self) -> dict[str, Any]:
        """The claim for a machine to read."""
        return {"claim": str(self.claim), **self.details}


def _tree(resources: Sequence[Mapping[str, Any]], depth: int) -> Iterator[tuple[int, str, str]]:
    for resource in resources:
        yield depth, resource["kind"], resource["name"]
        yield from _tree(resource.get("resources") or (), depth + 1)


def status(project: Project, stack: str) -> list[ClaimStatus]:
    """The claims of a deployed stack."""
    from claimsmith import workspace

    project.check_stack(stack)
    outputs = workspace.stack_outputs(project, stack)
    claims = {**(outputs.get("claims") or {}), **(outputs.get("workloads") or {})}
    return [ClaimStatus(ClaimKey.parse(name), details) for name, details in sorted(claims.items())]


def _change(old: binding.Record | None, new: binding.Record) -> str:
    if new.released:
        return "none" if old and old.released else "released"
    if old is None:
        return "bound"
    if old.klass != new.klass:
        return f"moved from {old.klass.name}"
    if old.released:
        return "taken up again"
    if old.digest != new.digest:
        return "class changed"
    return "none" if old.picks == new.picks else "picks changed"


def _narrowed(plan: Plan, claim: str | None) -> Plan:
    if claim is None:
        return plan
    chosen = tuple(c for c in plan.claims if c.address == claim)
    workloads = tuple(w for w in plan.workloads if w.address == claim)
    if not chosen and not workloads:
        known = [*(c.address for c in plan.claims), *(w.address for w in plan.workloads)]
        close = nearest(claim, known)
        raise LoadError(
            Problem(
                f"there is no claim {claim!r} in {plan.stack}",
                fix=f"did you mean {close}?" if close else f"use one of: {', '.join(known)}",
            )
        )

    return replace(plan, claims=chosen, workloads=workloads)


def _claim_key(text: str, project: Project, stack: str) -> ClaimKey:
    catalog = project.catalog(stack)
    recorded = [r.claim for r in project.records(stack)]
    known = {str(k): k for k in (*catalog.claims, *catalog.workloads.applications, *recorded)}
    if text not in known:
        close = nearest(text, known)
        fix = f"did you mean {close}?" if close else f"use one of: {', '.join(known) or 'none yet'}"
        raise BindingError(Problem(f"there is no claim {text!r} in {stack}", fix=fix))
    return known[text]
