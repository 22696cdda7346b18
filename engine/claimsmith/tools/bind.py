"""`claimsmith bind`: bind the claims of a stack to classes, and record it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimsmith.base.errors import BindingError, ComposeError, LoadError, ModelError, Problem, suggest
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.compose import released, scheduling
from claimsmith.platform import binding, bindings_file
from claimsmith.platform.binding import Record
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.tools.explain.facts import named


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

    stack: str
    rows: list[BindRow]
    path: Path
    """The stack's bindings file."""
    text: str
    """What it holds from now on."""
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
        head = {"stack": self.stack, "changed": self.changed}
        return {**head, "bindings": rows, "unbound": unbound, "unread": unread}


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
        project.repair_records(stack, forget)
    result = bound(
        project, stack, rebind=rebind, rebind_class=rebind_class, repick=repick, forget=forget, strict=strict
    )
    if result.changed and not check:
        write_atomically(result.path, result.text)
    return result


def bound(
    project: Project,
    stack: str,
    *,
    rebind: Sequence[str] = (),
    rebind_class: Sequence[str] = (),
    repick: Sequence[str] = (),
    forget: Sequence[str] = (),
    accept: Collection[str] = (),
    strict: bool = False,
) -> BindResult:
    """What `bind` would record; nothing is written. Claims of the classes in `accept` keep them as they are now."""
    before = project.records(stack)
    chosen = frozenset(_claim_key(text, project, stack) for text in rebind) | _bound_to(rebind_class, before, stack)
    anew = frozenset(_claim_key(text, project, stack) for text in repick)
    catalog, found = project.expand(stack, rebind=chosen, repick=anew, accept=accept)
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
    records += scheduling.to_records(scheduled.placements, before)
    known = {r.claim: r for r in before}
    present = {r.claim for r in records}
    forgotten = _forgotten(forget, before, stack)
    left = [r for r in before if r.claim not in present and str(r.claim) not in forgotten]
    records = sorted([*records, *released.keep(catalog, left)], key=lambda r: r.claim)
    rows = [BindRow(r.claim, r.klass, r.reason, _change(known.get(r.claim), r)) for r in records]
    kept = {r.claim for r in records}
    gone = [BindRow(c, r.klass, r.reason, "removed") for c, r in known.items() if c not in kept]
    path = project.bindings_path(stack)
    text = bindings_file.write(records, stack=stack, origin=project.uids_from(stack))
    changed = not path.exists() or path.read_text(encoding="utf-8") != text
    warnings = [*(u.problem for u in unbound if not u.mistake), *scheduled.unscheduled]
    errors = [u.problem for u in unbound if u.mistake]
    return BindResult(stack, [*rows, *gone], path, text, changed, warnings, errors, unread=unread.warnings)


def _bound_to(classes: Sequence[str], records: Sequence[Record], stack: str) -> frozenset[ClaimKey]:
    """The claims that are bound to classes of these names; a class that serves none is refused."""
    served = {r.klass.name for r in records if not r.released}
    for name in classes:
        if name not in served:
            fix = suggest(name, sorted(served), none="none")
            raise BindingError(Problem(f"no claim of {stack} is bound to a class {name!r}", fix=fix))
    return frozenset(r.claim for r in records if r.klass.name in classes and not r.released)


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
    if old.resource != new.resource:
        return "resource changed"
    return "none" if old.picks == new.picks else "picks changed"


def _claim_key(text: str, project: Project, stack: str) -> ClaimKey:
    catalog = project.catalog(stack)
    recorded = [r.claim for r in project.records(stack)]
    return named(text, dict.fromkeys((*catalog.claims, *catalog.workloads.applications, *recorded)), stack)


def _forgotten(texts: Sequence[str], records: Sequence[Record], stack: str) -> set[str]:
    """The claims whose records are to go; one whose broken record was removed already has none."""
    recorded = [r.claim for r in records]
    found = set(texts)
    for text in texts:
        with suppress(LoadError):
            found.add(str(named(text, recorded, stack)))
    return found
