"""How claims come to a class: defaults, weights, names that lead nowhere, classes that nothing can choose."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from claimsmith import binding, crd_set, definitions
from claimsmith.binding import IS_DEFAULT
from claimsmith.catalog import STACKS, Catalog
from claimsmith.checks.findings import Findings
from claimsmith.errors import Collector, Problem, nearest
from claimsmith.models import resource_class
from claimsmith.models.definition import Definition
from claimsmith.models.klass import Class, Parent
from claimsmith.models.objects import ClassKey, GroupKind


def check_choices(catalog: Catalog) -> Findings:
    """What is wrong or odd in how a platform's classes may be chosen."""
    findings, weights = Findings(), Collector()
    for klass in catalog.classes.values():
        with weights.catch():
            binding.weight_of(klass)
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
            findings.odd("class-never-selected", never_chosen(catalog.serving(definition.group_kind), forced))
    findings.odd("undefined-kind", _undefined_kinds(catalog))
    return findings


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


def never_chosen(classes: Iterable[Class], forced: ClassKey) -> Iterator[Problem]:
    """The classes of a kind whose definition forces another one."""
    for klass in classes:
        if klass.key != forced:
            what = f"{klass.key} is never chosen: the definition of {klass.serves} forces {forced.name!r}"
            where = klass.document.source_of("metadata.name")
            yield Problem(what, where, "metadata.name", "remove it, or let the definition name a default instead")


def offered_nowhere(catalog: Catalog, stacks: Collection[str]) -> Iterator[Problem]:
    """Classes for environments that there are not."""
    for klass in catalog.classes.values():
        named = [name.strip() for name in klass.annotations.get(STACKS, "").split(",") if name.strip()]
        if named and not set(named) & set(stacks):
            close = nearest(named[0], stacks)
            what = f"{klass.key} is for {', '.join(named)}, and there is no such stack"
            where = klass.document.source_of(("metadata", "annotations", STACKS))
            fix = f"did you mean {close!r}?" if close else f"name one of: {', '.join(stacks) or 'none yet'}"
            yield Problem(what, where, f"metadata.annotations[{STACKS}]", fix)


def _outweighed(catalog: Catalog) -> Iterator[Problem]:
    """Classes whose labels are those of a heavier one: every selector that fits both takes that one."""
    named = {k for d in catalog.definitions.values() for k in (d.default_composition, d.force_composition)}
    named |= {x.composition(enforced=word) for x in catalog.today.xrds.values() for word in (True, False)}
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
        # Another kind of resource is a way out that is kept on purpose.
        return False
    if not klass.labels or dict(rival.labels) != dict(klass.labels):
        return False
    everywhere = rival.annotations.get(STACKS) in (None, klass.annotations.get(STACKS))
    default = klass.annotations.get(IS_DEFAULT) == "true" != rival.annotations.get(IS_DEFAULT)
    return everywhere and not default and binding.weight_of(rival) > binding.weight_of(klass)


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
