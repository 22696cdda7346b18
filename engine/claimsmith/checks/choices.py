"""How claims come to a class: several defaults, weights that are no numbers, names that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from claimsmith import binding, crd_set, definitions
from claimsmith.binding import IS_DEFAULT
from claimsmith.catalog import Catalog
from claimsmith.checks.findings import Findings
from claimsmith.errors import Collector, Problem, nearest
from claimsmith.models import resource_class
from claimsmith.models.definition import Definition
from claimsmith.models.klass import Class, Parent
from claimsmith.models.objects import GroupKind


def check_choices(catalog: Catalog) -> Findings:
    """What is wrong or odd in how a platform's classes may be chosen."""
    found = Collector()
    for klass in catalog.classes.values():
        with found.catch():
            binding.weight_of(klass)
    warnings = [w for d in catalog.definitions.values() for w in d.warnings]
    warnings += [w for c in catalog.classes.values() for w in _default_as_label(c)]
    if not found.problems:
        warnings += _several_defaults(catalog)
    warnings += [w for d in catalog.definitions.values() for w in _missing_compositions(d, catalog)]
    warnings += _undefined_kinds(catalog)
    return Findings([*found.problems, *claim_crd_problems(catalog)], warnings)


def claim_crd_problems(catalog: Catalog) -> list[Problem]:
    """What given definitions of claims' kinds lack for their instances to be bound."""
    given = crd_set.given_crds(catalog)
    claimed = [given[kind] for kind in crd_set.claim_kinds(catalog) if kind in given]
    return [p for document in claimed for p in definitions.check_claim_crd(document.data, document=document)]


def _default_as_label(klass: Class) -> Iterator[Problem]:
    """Classes of documents 000 and 003 are told when they are read."""
    if klass.key.group_kind in resource_class.KINDS and IS_DEFAULT in klass.labels:
        where = klass.document.source_of(("metadata", "labels", IS_DEFAULT))
        what = f"{IS_DEFAULT} is a label of {klass.name!r}, which makes it no default class"
        yield Problem(what, where, f"metadata.labels[{IS_DEFAULT}]", "write it as an annotation")


def _several_defaults(catalog: Catalog) -> Iterator[Problem]:
    defaults: dict[GroupKind, list[Class]] = {}
    for klass in catalog.classes.values():
        if klass.annotations.get(IS_DEFAULT) == "true" and not catalog.defined(klass.serves):
            defaults.setdefault(klass.serves, []).append(klass)
    for kind, classes in defaults.items():
        if len(classes) < 2:
            continue
        top = max(binding.weight_of(c) for c in classes)
        heaviest = [c.name for c in classes if binding.weight_of(c) == top]
        chosen = f"{heaviest[0]} weighs most" if len(heaviest) == 1 else "a stable choice is made for each claim"
        what = f"{kind} has {len(classes)} default classes: {', '.join(c.name for c in classes)}; {chosen}"
        path = ("metadata", "annotations", IS_DEFAULT)
        fix = f"keep one; or say which by the annotation {binding.WEIGHT}"
        yield Problem(what, classes[-1].document.source_of(path), f"metadata.annotations[{IS_DEFAULT}]", fix)


def _missing_compositions(definition: Definition, catalog: Catalog) -> Iterator[Problem]:
    """Compositions that a definition names and that are nowhere: no mistake until an instance needs one."""
    serving = [c.name for c in catalog.serving(definition.group_kind)]
    for word, key in (("force", definition.force_composition), ("default", definition.default_composition)):
        if key is None or (key, definition.group_kind) in catalog.classes:
            continue
        path = f"spec.{word}Composition"
        named = catalog.named(key)
        why = f"serves {named[0].serves}" if named else "is nowhere"
        what = f"the {word}Composition {key.name!r} of {definition.group_kind} {why}"
        close = nearest(key.name, serving)
        offer = f"name one of: {', '.join(serving)}" if serving else "add it"
        fix = f"did you mean {close!r}?" if close else f"{offer}; or remove it"
        yield Problem(what, definition.document.source_of(path), path, fix)


def _undefined_kinds(catalog: Catalog) -> Iterator[Problem]:
    """Compositions of kinds that nothing defines: nobody can ask for one."""
    given = crd_set.given_crds(catalog)
    known = {d.group_kind.kind: d for d in catalog.definitions.values()}
    for klass in catalog.classes.values():
        if klass.parent is not Parent.instance or klass.serves in catalog.definitions or klass.serves in given:
            continue
        path = "spec.from.kind"
        close = known.get(nearest(klass.serves.kind, known) or "")
        fix = "define it by an ApplicationDefinition or InfrastructureDefinition"
        if close:
            fix = f"did you mean kind: {close.group_kind.kind} of apiVersion: {close.api_version}?"
        what = f"{klass.key} composes {klass.serves}, which nothing defines"
        yield Problem(what, klass.document.source_of(path), path, fix)
