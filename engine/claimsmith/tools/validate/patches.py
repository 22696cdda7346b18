"""Patches before any claim exists: what they read, what they write, and whether the one can ever become the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import FieldPathError, Problem
from claimsmith.base.merge import MergePolicy
from claimsmith.compose.references import Table
from claimsmith.dialects.common.klass import Class, Patch, Side, Template
from claimsmith.dialects.common.ordering import STATUS
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema import Schema
from claimsmith.kubernetes.schema.checking import type_names
from claimsmith.tools.validate import value_flow
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import ANY_OBJECT, Rules
from claimsmith.tools.validate.value_flow import Possible


class _Patched:
    """One patch, with the schemas of its two sides."""

    def __init__(self, patch: Patch, template: Template, klass: Class, rules: Rules) -> None:
        self.patch, self.template = patch, template
        self.document: Document = template.document or klass.document
        composed = rules.of_template(template)
        claimed = rules.of(klass.claim_api_version, klass.serves)
        known = {Side.claim: claimed, Side.resource: composed, Side.environment: None}
        self.read, self.written = known[patch.origin], known[patch.target]
        self.claim = klass.serves.kind
        self.word = "composite" if rules.is_composite(klass.serves) else "claim"
        self.table = rules.table
        self.status = list(_status_writes(klass))

    def problem(self, what: str, fix: str, within: str = "") -> Problem:
        """A problem at the patch, or at a part of it that the file has."""
        place = f"{self.patch.at}{within}"
        return Problem(what, self.document.source_of(place), self.patch.at, fix)

    def is_written(self, path: fieldpath.Path) -> bool:
        """Whether another patch of the composition writes what this one reads from the composite's status."""
        return self.patch.origin is Side.claim and any(fieldpath.overlap(path, other) for other in self.status)

    def owner(self, side: Side) -> str:
        """What has the fields of a side."""
        return f"no such {self.word if side is Side.claim else 'resource'}"


def check_patches(template: Template, klass: Class, rules: Rules) -> Findings:
    """What is wrong with a template's patches."""
    findings = Findings()
    for patch in template.patches:
        here = _Patched(patch, template, klass, rules)
        try:
            reads = [fieldpath.parse(path) for path in patch.reads]
            to = fieldpath.parse(patch.to)
        except FieldPathError as error:
            problem = error.problems[0]
            findings.report("patch-path-unreadable", here.problem(problem.what, problem.fix), never=True)
            continue
        if to and _writes(here, to, findings) and _reads(here, reads, findings):
            _becomes(here, reads, to, findings)
    if all(p.fill for p in template.patches):
        # What only fills in comes from the table of bindable kinds, not from the class.
        return Findings([], [*findings.errors, *findings.warnings])
    return findings


def _status_writes(klass: Class) -> Iterator[fieldpath.Path]:
    """The fields of the composite's status that the patches of a composition write."""
    environment = (p for step in klass.steps for p in step.environment)
    for patch in (*(p for t in klass.templates for p in t.patches), *environment):
        if patch.target is Side.claim and patch.to.startswith(f"{STATUS}."):
            with suppress(FieldPathError):
                yield fieldpath.parse(patch.to)


def _writes(here: _Patched, to: fieldpath.Path, findings: Findings) -> bool:
    """Whether the target has the field; an API server would drop what is written elsewhere."""
    patch, template = here.patch, here.template
    if here.written is None or _stays(patch, to, template, here.written, here.table):
        return True
    close = nearest_field(here.written, to)
    fix = f"did you mean {close!r}?" if close else "write a field that it has; any other is dropped"
    if patch.target is Side.resource:
        owner = template.base["type"] if template.native else template.api_version
        what = f"{template.kind}: a patch writes {patch.to}, which {owner} does not have"
    else:
        what = f"{here.claim}: a patch writes {patch.to}, which {here.owner(patch.target)} has"
    # What goes to a composite's status is there for other patches of the same run, and only then dropped.
    passing = patch.target is Side.claim and to[0] == STATUS
    findings.report("patch-writes-unknown-field", here.problem(what, fix), never=not passing)
    return False


def _reads(here: _Patched, reads: Sequence[fieldpath.Path], findings: Findings) -> bool:
    """Whether the source has each field; one that it has not leaves an optional patch without effect."""
    source = here.read
    if source is None:
        return True
    unknown = [path for path in reads if not schemas.knows(source, path) and not here.is_written(path)]
    for path in unknown:
        close = schemas.nearest_field(source, path)
        fix = f"did you mean {close!r}?" if close else "read a field that its definition names"
        whose = f"{here.claim}: " if here.patch.origin is Side.claim else f"{here.template.kind}: "
        what = f"{whose}a patch reads {fieldpath.to_text(path)}, which {here.owner(here.patch.origin)} has"
        findings.report("patch-reads-unknown-field", here.problem(what, fix), never=here.patch.required)
    return not unknown


def _becomes(here: _Patched, reads: Sequence[fieldpath.Path], to: fieldpath.Path, findings: Findings) -> None:
    """Whether what is read can become what is written."""
    patch = here.patch
    start = value_flow.TEXT if patch.combine is not None else _possible(here.read, reads[0])
    end, losses = value_flow.follow(patch.transforms, start)
    for loss in losses:
        within = f".transforms[{loss.index}]"
        what = f"{here.template.kind or here.template.name}: {patch.to}: {loss.problem.what}"
        findings.report(loss.rule, here.problem(what, loss.problem.fix, within), never=loss.never)
    known = here.written if here.written is not None else ANY_OBJECT if patch.target is not Side.environment else None
    target = schemas.at_path(known, to) if known is not None else None
    if end is not None and target is not None and patch.policy is MergePolicy.Replace:
        for rule, problem, never in _misfits(here, end, target):
            findings.report(rule, problem, never=never)


def _possible(source: Schema | None, path: fieldpath.Path) -> Possible:
    if source is None or fieldpath.WILDCARD in path:
        return value_flow.ANYTHING
    return value_flow.of_schema(schemas.at_path(source, path))


def _misfits(here: _Patched, possible: Possible, target: Schema) -> Iterator[tuple[str, Problem, bool]]:
    wanted = value_flow.of_schema(target).types
    kind, to = here.template.kind or here.template.name, here.patch.to
    if wanted is not None and possible.types is not None and not _may_fit(possible.types, wanted):
        what = f"{kind}: {to} is {_alternatives(wanted)}, and the patch gives {possible}"
        yield "patch-type-mismatch", here.problem(what, _conversion(possible, wanted)), True
        return
    refused = [
        (value, problems[0])
        for value in possible.values or ()
        if (problems := schemas.check(value, target, document=None, partial=True))
    ]
    if refused:
        never = len(refused) == len(possible.values or ())
        listed = ", ".join(_shown(value) for value, _ in refused)
        what = f"{kind}: {to} cannot be {listed}: {refused[0][1].what}"
        yield "patch-value-impossible", here.problem(what, refused[0][1].fix, _blamed(here.patch)), never


def _blamed(patch: Patch) -> str:
    """The last transform, which the value comes from; the patch itself if there is none."""
    return f".transforms[{len(patch.transforms) - 1}]" if patch.transforms else ""


def _may_fit(types: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether one of the types may do; a number may be whole."""
    return bool(types & wanted) or ("integer" in wanted and "number" in types)


def _conversion(possible: Possible, wanted: frozenset[str]) -> str:
    types = possible.types or frozenset()
    if wanted == {"string"} and types <= {"integer", "number", "boolean"}:
        values = possible.values
        quoted = values is not None and any("string" not in type_names(v) for v in values)
        return "quote the values, or convert them to string" if quoted else "add a convert transform to string"
    if wanted & {"integer", "number"} and types == {"string"}:
        return "add a convert transform to int64 or float64"
    if wanted == {"boolean"} and types == {"string"}:
        return "add a convert transform to bool"
    return f"write to a field that is {_alternatives(types)}, or read one that is {_alternatives(wanted)}"


def _alternatives(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))


def _shown(value: object) -> str:
    return repr(value) if not isinstance(value, dict | list) else "an object" if isinstance(value, dict) else "a list"


def _stays(patch: Patch, path: fieldpath.Path, template: Template, found: Schema, table: Table) -> bool:
    """Whether an API server keeps what a patch writes. Selectors are followed by us, and never sent."""
    if schemas.knows(found, path):
        return True
    fields = table.get(template.group_kind, {}) if patch.target is Side.resource else {}
    return any(isinstance(s, str) and s.endswith("Selector") and s.removesuffix("Selector") in fields for s in path)


def nearest_field(found: Schema, path: fieldpath.Path) -> str | None:
    """The field that was most likely meant, though perhaps an object on the way to it is one too many."""
    close = schemas.nearest_field(found, path)
    if close:
        return close
    shorter = [(*path[:i], *path[i + 1 :]) for i in range(1, len(path) - 1)]
    return next((fieldpath.to_text(p) for p in shorter if schemas.knows(found, p)), None)
