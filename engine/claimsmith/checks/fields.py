"""Fields under their definitions: bases, the fields that patches write and read, and what comes out for each claim.

Only kinds whose CustomResourceDefinition is among the platform's files, or that are defined there, can be checked. What
an API server would drop without a word is named here, with the field that was most likely meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from claimsmith import crd_set, definitions, fieldpath, reference
from claimsmith import schema as schemas
from claimsmith.catalog import Catalog
from claimsmith.checks.findings import Findings
from claimsmith.crds import Crd
from claimsmith.errors import EngineError, Problem
from claimsmith.expand import Child
from claimsmith.models import resource_class
from claimsmith.models.klass import Class, Patch, Side, Template
from claimsmith.models.objects import GroupKind
from claimsmith.plan import Plan, PlannedClaim
from claimsmith.reference import Table
from claimsmith.schema import Schema
from claimsmith.values import Mix, Ref

_OURS = ("claimRef", "classRef", "compositeRef", "aggregateRef")
_SECRET = "writeConnectionSecretToRef"


class _Later:
    """A value that is known only when the resource is made."""


LATER: Final = _Later()


class Rules:
    """What the platform's files say of kinds: their versions and schemas, and where references lead."""

    def __init__(self, catalog: Catalog, table: Table) -> None:
        self.table = table
        self._crds: dict[GroupKind, Crd] = {k: d.data for k, d in crd_set.given_crds(catalog).items()}
        for definition in catalog.definitions.values():
            for crd, kind in zip(
                definitions.crds_of(definition), (definition.group_kind, definition.requirement), strict=False
            ):
                if kind:
                    self._crds[kind] = crd
        self._schemas: dict[tuple[GroupKind, str], Schema | None] = {}

    def of(self, api_version: str, kind: GroupKind) -> Schema | None:
        """The schema of a kind's documents; None where it is not known or takes anything."""
        version = api_version.rpartition("/")[2]
        if kind not in self._crds:
            return None
        if (kind, version) not in self._schemas:
            self._schemas[kind, version] = schemas.crd_schema(self._crds[kind], version)
        return self._schemas[kind, version]

    def versions(self, kind: GroupKind) -> list[str] | None:
        """The versions of a kind that are served; None where its definition is not known."""
        crd = self._crds.get(kind)
        if crd is None:
            return None
        listed = crd["spec"].get("versions") or [{"name": crd["spec"].get("version")}]
        return [str(v["name"]) for v in listed if v.get("served", True)]


def check_classes(catalog: Catalog, rules: Rules) -> Findings:
    """What is wrong with the classes' bases and patches."""
    findings = Findings()
    for klass in catalog.classes.values():
        for template in klass.templates:
            findings.errors += _version_problems(template, klass, rules)
            findings.errors += base_problems(template, klass, rules)
            findings.add(_patch_findings(template, klass, rules))
    return findings


def base_problems(template: Template, klass: Class, rules: Rules) -> list[Problem]:
    """What is wrong with a base under its definition.

    Document 001 wants the base to be valid by itself, even where patches overwrite all of it; other bases are parts.
    """
    found = rules.of(template.api_version, template.group_kind)
    if found is None or not template.spec_at or template.opaque:
        return []
    data: Any = _with_references(template.base, rules.table)
    at = fieldpath.parse(template.spec_at)
    if at[-2:] == ("base", "spec"):
        at = at[:-1]
    else:
        data, found = data.get("spec") or {}, schemas.at_path(found, ("spec",)) or {}
    whole = klass.key.group_kind in resource_class.KINDS
    document = template.document or klass.document
    problems = schemas.check(data, found, document=document, at=at, skip=_is_later, partial=not whole)
    return [replace(p, what=f"{template.kind}: {p.what}") for p in problems]


def result_problems(plan: Plan, rules: Rules) -> Iterator[Problem]:
    """What is wrong with the claims' children, beside what is wrong with their bases already."""
    bases: dict[int, set[str]] = {}
    for claim in plan.walk():
        for child in claim.children:
            found = rules.of(child.template.api_version, child.template.group_kind)
            if found is None:
                continue
            key = id(child.template)
            if key not in bases:
                bases[key] = {p.path for p in base_problems(child.template, claim.binding.klass, rules)}
            for problem in schemas.check(_sent(child, found), found, document=None, skip=_is_later):
                yield from _blamed(problem, child, claim, found, bases[key])


def _version_problems(template: Template, klass: Class, rules: Rules) -> Iterator[Problem]:
    served = rules.versions(template.group_kind)
    version = template.api_version.rpartition("/")[2]
    if served is not None and version not in served:
        path = template.place_of("apiVersion") if template.spec_at.endswith("base.spec") else "apiVersion"
        document = template.document or klass.document
        what = f"{template.group_kind} has no version {version}"
        fix = f"write one of: {', '.join(served)}" if served else "serve one in its definition"
        yield Problem(what, document.source_of(path), path, fix)


def _patch_findings(template: Template, klass: Class, rules: Rules) -> Findings:
    """Patches into fields that an API server would drop, and patches from fields that no claim can have."""
    findings = Findings()
    made = rules.of(template.api_version, template.group_kind)
    claimed = rules.of(klass.claim_api_version, klass.serves)
    for patch in template.patches:
        document = template.document or klass.document
        where = document.source_of(patch.at)
        if made is not None and patch.target is Side.resource and not _stays(patch, template, made, rules.table):
            close = _nearest(made, fieldpath.parse(patch.to))
            what = f"{template.kind}: a patch writes {patch.to}, which {template.api_version} does not have"
            fix = f"did you mean {close}?" if close else "write a field that it has; any other is dropped"
            # What only fills in comes from the table of bindable kinds, not from the class.
            listed = findings.warnings if patch.fill else findings.errors
            listed.append(Problem(what, where, patch.at, fix))
        if claimed is not None and patch.origin is Side.claim:
            findings.warnings += [
                Problem(
                    f"{klass.serves.kind}: a patch reads {read}, which no such claim has",
                    where,
                    patch.at,
                    f"did you mean {close}?"
                    if (close := schemas.nearest_field(claimed, fieldpath.parse(read)))
                    else "read a field that its definition names",
                )
                for read in patch.reads
                if not schemas.knows(claimed, fieldpath.parse(read))
            ]
    return findings


def _stays(patch: Patch, template: Template, found: Schema, table: Table) -> bool:
    """Whether an API server keeps what a patch writes. Selectors are followed by us, and never sent."""
    path = fieldpath.parse(patch.to)
    if schemas.knows(found, path):
        return True
    fields = table.get(template.group_kind, {})
    return any(isinstance(s, str) and s.endswith("Selector") and s.removesuffix("Selector") in fields for s in path)


def _with_references(base: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The base with what is added to it whatever the claim: references for selectors, the name of its Secret."""
    data = dict(base)
    # A selector that leads nowhere is told with the claims that use it.
    with suppress(EngineError):
        data = reference.replace_selectors(base, table, lambda _: LATER)
    spec = data.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get(_SECRET), dict):
        data["spec"] = {**spec, _SECRET: {"name": LATER, **spec[_SECRET]}}
    return data


def _sent(child: Child, found: Schema) -> dict[str, Any]:
    """The child's document without what we bind it by, where its kind does not know that."""
    spec = child.document.get("spec")
    if not isinstance(spec, dict):
        return child.document
    kept = {k: v for k, v in spec.items() if k not in _OURS or schemas.knows(found, ("spec", k))}
    return {**child.document, "spec": kept}


def _blamed(problem: Problem, child: Child, claim: PlannedClaim, found: Schema, known: set[str]) -> Iterator[Problem]:
    """The problem of a result at the claim's field that made it, else at the base's."""
    template, klass = child.template, claim.binding.klass
    document = template.document or klass.document
    path = fieldpath.parse(problem.path)
    for outcome in reversed([o for o in child.outcomes if o.applied]):
        to = fieldpath.parse(outcome.patch.to)
        if not schemas.knows(found, to) and (_within(path, to) or _within(to, path)):
            # The patch itself is told.
            return
        if _within(path, to):
            read = outcome.patch.reads[0]
            place = document.source_of(outcome.patch.at)
            what = f"{claim.address}, child {template.name!r}: {problem.path}: {problem.what} (patch at {place})"
            yield replace(problem, what=what, where=claim.binding.claim.document.source_of(read), path=read)
            return
    if template.opaque:
        what = f"{claim.address}, child {template.name!r}: {problem.path}: {problem.what}"
        yield replace(problem, what=what, where=document.source_of(template.at), path=template.at)
        return
    place_text = template.place_of(problem.path)
    if place_text not in known:
        what = f"{template.kind}: {problem.what}"
        yield replace(problem, what=what, where=document.source_of(place_text), path=place_text)


def _nearest(found: Schema, path: fieldpath.Path) -> str | None:
    """The field that was most likely meant, though perhaps an object on the way to it is one too many."""
    close = schemas.nearest_field(found, path)
    if close:
        return close
    shorter = [(*path[:i], *path[i + 1 :]) for i in range(1, len(path) - 1)]
    return next((fieldpath.to_text(p) for p in shorter if schemas.knows(found, p)), None)


def _within(path: fieldpath.Path, to: fieldpath.Path) -> bool:
    """Whether a path is at or below another."""
    same = all(a == b or fieldpath.WILDCARD in (a, b) for a, b in zip(path, to, strict=False))
    return same and len(path) >= len(to)


def _is_later(value: Any) -> bool:
    return value is LATER or isinstance(value, Ref | Mix)
