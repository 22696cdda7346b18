"""The kinds of a platform in Crossplane: a composite for each, and a claim for it where there is one.

The kind of a claim stays what it is, so that claims keep their apiVersion and kind: its composite is a new kind,
`X<Kind>`. Defined infrastructure is the composite itself, and its requirement the claim; a defined application is a
composite in a namespace, which only Crossplane v2 supports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.names import ClassKey, GroupKind, kebab
from claimsmith.dialects.aggregates.reading import KIND as AGGREGATE
from claimsmith.dialects.common.bindable import Bindable
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.composite_classes import reading as composite_classes
from claimsmith.dialects.crossplane import documents as crossplane_documents
from claimsmith.dialects.definitions import Definition, composition
from claimsmith.dialects.definitions.model import DEFINITIONS, PUBLICATION
from claimsmith.dialects.resource_classes import reading as resource_classes
from claimsmith.kubernetes import crds
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import CRD, Catalog


@dataclass(frozen=True, slots=True)
class Composite:
    """One kind of composite, with its names."""

    group_kind: GroupKind
    version: str
    """The version that compositions are for."""
    names: Mapping[str, Any]
    document: Document = field(repr=False, compare=False)
    """Where it comes from: its definition, or the first class that serves its claim."""
    claim: GroupKind | None = None
    claim_names: Mapping[str, Any] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    """All versions in which it is claimed."""
    definition: Definition | None = field(default=None, repr=False)

    @property
    def api_version(self) -> str:
        """The apiVersion that compositions are for."""
        return f"{self.group_kind.group}/{self.version}"

    @property
    def name(self) -> str:
        """The name of its definition."""
        return f"{self.names['plural']}.{self.group_kind.group}"

    @property
    def namespaced(self) -> bool:
        """Whether it is in a namespace itself."""
        return bool(self.definition and self.definition.namespaced)


Kinds = Mapping[GroupKind, Composite]
"""The composite behind each kind that is claimed, required or authored."""


def old_classes(catalog: Catalog) -> list[Class]:
    """The classes that are converted: those of the older formats, without those that a publication creates."""
    return [c for c in catalog.classes.values() if not (c.dialect.crossplane or c.dialect.publishing or c.steps)]


def is_crossplane(catalog: Catalog, kind: GroupKind) -> bool:
    """Whether a Crossplane definition defines the kind already."""
    return any(kind in (x.kind, x.claim) for x in catalog.crossplane.xrds.values())


def composites(catalog: Catalog, claims: Iterable[Claim]) -> Kinds:
    """The composite for each kind of the platform, in the order of the files; served in the versions of all claims."""
    found: dict[GroupKind, Composite] = {}
    for composite in (*_defined(catalog), *_claimed(catalog, list(claims))):
        found[composite.group_kind] = composite
        if composite.claim:
            found[composite.claim] = composite
    return found


def _defined(catalog: Catalog) -> Iterator[Composite]:
    for definition in catalog.definitions.values():
        kind = definition.group_kind.kind
        names = _names(kind, definition.plural, definition.singular, definition.list_kind)
        names |= {"categories": list(definition.categories)} if definition.categories else {}
        names |= {"shortNames": list(definition.short_names)} if definition.short_names else {}
        required = definition.requirement
        singular = f"{definition.singular}requirement"
        yield Composite(
            group_kind=definition.group_kind,
            version=definition.version,
            names=names,
            document=definition.document,
            claim=required,
            claim_names=_names(required.kind, f"{singular}s", singular, f"{required.kind}List") if required else {},
            versions=(definition.version,),
            definition=definition,
        )


def _claimed(catalog: Catalog, claims: Sequence[Claim]) -> Iterator[Composite]:
    kinds = [c.serves for c in old_classes(catalog) if not c.dialect.is_composite]
    taken = {*catalog.definitions, *kinds, *catalog.crossplane.xrds}
    for kind in dict.fromkeys(kinds):
        classes = [c for c in old_classes(catalog) if c.serves == kind]
        claimed = [c.api_version for c in claims if c.key.group_kind == kind]
        plural = _plural(catalog, kind)
        name = f"X{kind.kind}"
        name = name if GroupKind(kind.group, name) not in taken else f"Composite{kind.kind}"
        counted = Counter(c.claim_api_version for c in classes)
        version = max(counted, key=lambda v: counted[v]).rpartition("/")[2]
        versions = sorted({v.rpartition("/")[2] for v in (*claimed, *counted)} - {version})
        prefix = name.removesuffix(kind.kind).lower()
        yield Composite(
            group_kind=GroupKind(kind.group, name),
            version=version,
            names=_names(name, f"{prefix}{plural}", name.lower(), f"{name}List"),
            document=classes[0].document,
            claim=kind,
            claim_names=_names(kind.kind, plural, kind.kind.lower(), f"{kind.kind}List"),
            versions=(version, *versions),
        )


def _plural(catalog: Catalog, kind: GroupKind) -> str:
    given = crd_set.given_crds(catalog).get(kind)
    return str(given.data["spec"]["names"]["plural"]) if given else crds.plural_of(kind.kind)


def _names(kind: str, plural: str, singular: str, list_kind: str) -> dict[str, Any]:
    return {"kind": kind, "listKind": list_kind, "plural": plural, "singular": singular}


Key = tuple[ClassKey, GroupKind]


@dataclass(frozen=True, slots=True)
class Names:
    """The composition of each class, for each kind of claim that it serves."""

    by_class: dict[Key, str] = field(default_factory=dict)

    def __getitem__(self, klass: Class) -> str:
        return self.by_class[klass.key, klass.serves]


_STEPS: tuple[Callable[[Class], str], ...] = (
    lambda c: c.name,
    lambda c: f"{c.name}-{kebab(c.key.group_kind.kind)}",
    lambda c: f"{c.name}-{kebab(c.serves.kind)}",
    lambda c: f"{c.name}-{kebab(c.key.group_kind.kind)}-for-{kebab(c.serves.kind)}",
    lambda c: f"{c.name}-{kebab(c.key.group_kind.kind)}-for-{kebab(c.serves.kind)}.{c.serves.group}",
)
"""Ways to name a composition, the plainest first."""


def names(classes: Iterable[Class], taken: Iterable[str] = ()) -> Names:
    """A name for each: the class's own, and with its kind or the claim's where others would have it too.

    No numbers: a class that is added later must not change which composition is which.
    """
    named: dict[Key, str] = {}
    left = list(classes)
    used = set(taken)
    for step in _STEPS:
        counted = Counter(step(c) for c in left)
        fits = [c for c in left if counted[step(c)] == 1 and step(c) not in used]
        named |= {(c.key, c.serves): step(c) for c in fits}
        used |= {step(c) for c in fits}
        left = [c for c in left if (c.key, c.serves) not in named]
    return Names(named | {(c.key, c.serves): f"{_STEPS[-1](c)}.{c.key.group_kind.group}" for c in left})


_PLATFORM = frozenset({AGGREGATE, CRD, PUBLICATION}) | DEFINITIONS | composite_classes.KINDS


def is_platform(document: Document, bindable: Bindable) -> bool:
    """Whether the document is a class, definition, publication, composition or CRD."""
    return (
        GroupKind.of(document.data) in _PLATFORM
        or composition.is_composition(document)
        or crossplane_documents.is_crossplane(document)
        or resource_classes.is_class(document, bindable)
    )


def claimed_kinds(catalog: Catalog) -> set[GroupKind]:
    """The kinds that a platform serves or defines."""
    served = {c.serves for c in catalog.classes.values()} | set(catalog.bindable.served)
    defined = {kind for d in catalog.definitions.values() for kind in (d.group_kind, d.requirement_kind)}
    return served | defined


def claims_among(documents: Iterable[Document], kinds: Collection[GroupKind]) -> tuple[list[Document], list[Document]]:
    """The documents of kinds that can be claimed, and the others."""
    listed = list(documents)
    claims = [d for d in listed if GroupKind.of(d.data) in kinds]
    return claims, [d for d in listed if d not in claims]
