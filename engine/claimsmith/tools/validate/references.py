"""Selectors before any claim exists: whether the reference table has them, and whether anything can match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.compose import references
from claimsmith.compose.references import Selection
from claimsmith.dialects.common.klass import Class, Side, Template
from claimsmith.platform.catalog import Catalog
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules, classes, readable

_LABELS = ("metadata", "labels")


def check_references(catalog: Catalog, rules: Rules, given: Iterable[Document]) -> Findings:
    """Selectors of classes that nothing can match; `given` are the pre-existing resources of stacks."""
    findings = Findings()
    sound = [replace(c, templates=tuple(map(readable, c.templates))) for c in classes(catalog)]
    everyone = list(_of_templates(t for c in sound for t in c.templates))
    everyone += [(GroupKind.of(d.data), object_at(object_at(d.data, "metadata"), "labels")) for d in given]
    for klass in sound:
        for template in klass.templates:
            if template.based and not template.opaque and not template.native:
                _check(template, klass, rules, everyone, findings)
    return findings


Candidate = tuple[GroupKind, Mapping[str, Any] | None]
"""A kind that is composed or pre-existing, with its labels; None if they may be any."""


def _check(template: Template, klass: Class, rules: Rules, everyone: Sequence[Candidate], findings: Findings) -> None:
    try:
        chosen = references.selections(template.base, rules.table)
    except EngineError as error:
        if not klass.steps:
            findings.wrong("reference-unknown", [_placed(p, template, klass) for p in error.problems])
        return
    for selection in chosen:
        if _is_patched(selection, template):
            continue
        # Providers resolve Crossplane selectors in the whole cluster, and other functions may compose more.
        siblings = None if _is_open(klass) else list(_of_templates(t for t in klass.templates if t is not template))
        if selection.same_parent and siblings is not None and not _fits(selection, siblings):
            why = f"no other resource of {klass.key} is one"
            findings.report("reference-never-matches", _problem(selection, template, klass, why), never=True)
        elif not selection.same_parent and not klass.steps and not _fits(selection, everyone):
            why = "no class composes one, and no stack has one"
            findings.report("reference-never-matches", _problem(selection, template, klass, why), never=False)


def _is_open(klass: Class) -> bool:
    """Whether steps of a pipeline that are not read here may compose resources too."""
    return any(not s.templates and "auto-ready" not in s.function for s in klass.steps)


def _is_patched(selection: Selection, template: Template) -> bool:
    """Whether a patch may change the selector, or set a reference, which wins over it."""
    spots = (selection.path, selection.ref_path, (*selection.path[:-1], selection.name))
    written = [fieldpath.parse(p.to) for p in template.patches if p.target is Side.resource]
    return any(fieldpath.overlap(path, spot) for path in written for spot in spots)


def _fits(selection: Selection, candidates: Iterable[Candidate]) -> bool:
    wanted = selection.labels.items()
    return any(
        kind in selection.targets and (labels is None or all(labels.get(k) == v for k, v in wanted))
        for kind, labels in candidates
    )


def _of_templates(templates: Iterable[Template]) -> Iterator[Candidate]:
    for template in templates:
        patched = any(
            fieldpath.overlap(fieldpath.parse(p.to), _LABELS) for p in template.patches if p.target is Side.resource
        )
        free = patched or template.opaque is not None
        yield template.group_kind, None if free else (template.base.get("metadata") or {}).get("labels") or {}


def _problem(selection: Selection, template: Template, klass: Class, why: str) -> Problem:
    path = fieldpath.to_text(selection.path)
    what = f"{template.kind}: {path} selects a {selection}: {why}"
    fix = f"add such a resource, fix the labels, or name an existing one in {fieldpath.to_text(selection.ref_path)}"
    return _placed(Problem(what, None, path, fix), template, klass)


def _placed(problem: Problem, template: Template, klass: Class) -> Problem:
    document = template.document or klass.document
    place = template.place_of(problem.path)
    return Problem(problem.what, document.source_of(place), place, problem.fix)
