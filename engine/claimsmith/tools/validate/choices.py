"""How a class is selected: defaults, weights, names of missing classes, classes that no claim can select."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from claimsmith.base.errors import Collector, Problem, nearest, suggest
from claimsmith.base.grouping import grouped
from claimsmith.base.names import ClassKey
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.composite_classes import reading as composite_classes
from claimsmith.dialects.definitions import Definition, crds
from claimsmith.platform import crd_set, selection
from claimsmith.platform.catalog import STACKS, Catalog
from claimsmith.platform.selection import IS_DEFAULT
from claimsmith.tools.validate.rules import Findings


def check_choices(catalog: Catalog) -> Findings:
    """Problems with how a platform's classes are selected."""
    findings, weights = Findings(), Collector()
    for klass in catalog.classes.values():
        with weights.catch():
            selection.weight_of(klass)
    findings.wrong("weight-not-a-number", weights.problems)
    findings.wrong("incomplete-claim-definition", claim_crd_problems(catalog))
    for klass in catalog.classes.values():
        findings.odd("default-as-label", _default_as_label(klass))
    if not weights.problems:
        findings.odd("several-defaults", _several_defaults(catalog))
        findings.odd("class-never-selected", _outweighed(catalog))
    for definition in catalog.definitions.values():
        findings.odd("missing-composition", _missing_compositions(definition, catalog))
        forced = definition.force_composition
        if forced and (forced, definition.group_kind) in catalog.classes:
            findings.odd("class-never-selected", never_selected(catalog.serving(definition.group_kind), forced))
    findings.odd("undefined-kind", _undefined_kinds(catalog))
    return findings


def claim_crd_problems(catalog: Catalog) -> list[Problem]:
    """What provided CRDs of claims' kinds lack for their instances to be bound."""
    given = crd_set.given_crds(catalog)
    claimed = [given[kind] for kind in crd_set.claim_kinds(catalog) if kind in given]
    return [p for document in claimed for p in crds.check_claim_crd(document.data, document=document)]


def _default_as_label(klass: Class) -> Iterator[Problem]:
    """Resource classes and aggregates are checked when they are read."""
    if klass.key.group_kind in composite_classes.KINDS and IS_DEFAULT in klass.labels:
        where = klass.document.source_of(("metadata", "labels", IS_DEFAULT))
        what = f"{IS_DEFAULT} is a label of {klass.name!r}, which makes it no default class"
        yield Problem(what, where, f"metadata.labels[{IS_DEFAULT}]", "write it as an annotation")


def _several_defaults(catalog: Catalog) -> Iterator[Problem]:
    defaults = [c for c in catalog.classes.values() if c.annotations.get(IS_DEFAULT) == "true"]
    for kind, classes in grouped(defaults, lambda klass: klass.serves).items():
        if len(classes) < 2 or catalog.defined(kind):
            continue
        top = max(selection.weight_of(c) for c in classes)
        first, *equals = (c.name for c in classes if selection.weight_of(c) == top)
        selected = "each claim gets one of them, always the same" if equals else f"{first} weighs most"
        what = f"{kind} has {len(classes)} default classes: {', '.join(c.name for c in classes)}; {selected}"
        path = ("metadata", "annotations", IS_DEFAULT)
        fix = f"keep one; or set the annotation {selection.WEIGHT}"
        yield Problem(what, classes[-1].document.source_of(path), f"metadata.annotations[{IS_DEFAULT}]", fix)


def never_selected(classes: Iterable[Class], forced: ClassKey) -> Iterator[Problem]:
    """The classes of a kind whose definition forces another one."""
    for klass in classes:
        if klass.key != forced:
            what = f"{klass.key} is never selected: the definition of {klass.serves} forces {forced.name!r}"
            where = klass.document.source_of("metadata.name")
            yield Problem(what, where, "metadata.name", "remove it, or let the definition name a default instead")


def offered_nowhere(catalog: Catalog, stacks: Collection[str]) -> Iterator[Problem]:
    """Classes for environments that there are not."""
    for klass in catalog.classes.values():
        named = [name.strip() for name in klass.annotations.get(STACKS, "").split(",") if name.strip()]
        if named and not set(named) & set(stacks):
            what = f"{klass.key} is for {', '.join(named)}, and there is no such stack"
            where = klass.document.source_of(("metadata", "annotations", STACKS))
            yield Problem(what, where, f"metadata.annotations[{STACKS}]", suggest(named[0], stacks))


def _outweighed(catalog: Catalog) -> Iterator[Problem]:
    """Classes whose labels are those of a heavier one: every selector that fits both takes that one."""
    named = {k for d in catalog.definitions.values() for k in (d.default_composition, d.force_composition)}
    named |= {x.composition(enforced=word) for x in catalog.crossplane.xrds.values() for word in (True, False)}
    for klass in catalog.classes.values():
        rivals = [c for c in catalog.serving(klass.serves) if _beats(c, klass)]
        if rivals and klass.key not in named:
            labels = ", ".join(f"{k}={v}" for k, v in klass.labels.items())
            what = f"no selector ever chooses {klass.key}: {rivals[0].name} has its labels ({labels}) and weighs more"
            where = klass.document.source_of("metadata.labels")
            yield Problem(what, where, "metadata.labels", "give it a label of its own, or remove it")


def _beats(rival: Class, klass: Class) -> bool:
    """Whether a class is taken before another wherever both could be."""
    if rival.key == klass.key or rival.key.group_kind != klass.key.group_kind:
        # A class of another kind is an alternative that is kept on purpose.
        return False
    if not klass.labels or dict(rival.labels) != dict(klass.labels):
        return False
    everywhere = rival.annotations.get(STACKS) in (None, klass.annotations.get(STACKS))
    default = klass.annotations.get(IS_DEFAULT) == "true" != rival.annotations.get(IS_DEFAULT)
    return everywhere and not default and selection.weight_of(rival) > selection.weight_of(klass)


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
        offer = f"name one of: {', '.join(serving)}" if serving else "add it"
        fix = suggest(key.name, serving, f"{offer}; or remove it")
        yield Problem(what, definition.document.source_of(path), path, fix)


def _undefined_kinds(catalog: Catalog) -> Iterator[Problem]:
    """Compositions of kinds that nothing defines: no claim can select one."""
    given = crd_set.given_crds(catalog)
    known = {d.group_kind.kind: d for d in catalog.definitions.values()}
    for klass in catalog.classes.values():
        needs_one = klass.dialect.is_composite and not klass.dialect.crossplane
        if not needs_one or klass.serves in catalog.definitions or klass.serves in given:
            continue
        path = "spec.from.kind"
        close = known.get(nearest(klass.serves.kind, known) or "")
        fix = "define it by an ApplicationDefinition or InfrastructureDefinition"
        if close:
            fix = f"did you mean kind: {close.group_kind.kind} of apiVersion: {close.api_version}?"
        what = f"{klass.key} composes {klass.serves}, which nothing defines"
        yield Problem(what, klass.document.source_of(path), path, fix)
