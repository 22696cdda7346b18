"""The kinds of a platform as today's dialect has them: a composite for each, and a claim for it where there is one.

The kind of a claim stays what it is, so that claims keep their apiVersion and kind: its composite is a new kind,
`X<Kind>`. Defined infrastructure is the composite itself, and its requirement the claim; a defined application is a
composite in a namespace, which only version 2 of today's definitions knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith import crd_set, crds
from claimsmith.catalog import Catalog
from claimsmith.documents import Document
from claimsmith.models.claim import Claim
from claimsmith.models.definition import Definition
from claimsmith.models.klass import Class, Parent
from claimsmith.models.objects import GroupKind


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


_OLD = frozenset({Parent.claim, Parent.composite, Parent.aggregate, Parent.instance})


def old_classes(catalog: Catalog) -> list[Class]:
    """The classes that are converted: those of older dialects, but for what publishing a kind makes."""
    return [c for c in catalog.classes.values() if c.parent in _OLD and not c.steps]


def is_todays(catalog: Catalog, kind: GroupKind) -> bool:
    """Whether a kind is one of today's dialect already."""
    return any(kind in (x.kind, x.claim) for x in catalog.today.xrds.values())


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
    kinds = [c.serves for c in old_classes(catalog) if c.parent is not Parent.instance]
    taken = {*catalog.definitions, *kinds, *catalog.today.xrds}
    for kind in dict.fromkeys(kinds):
        classes = [c for c in old_classes(catalog) if c.serves == kind]
        api_versions = {c.api_version for c in claims if c.key.group_kind == kind} | {
            c.claim_api_version for c in classes
        }
        plural = _plural(catalog, kind)
        made = f"X{kind.kind}"
        made = made if GroupKind(kind.group, made) not in taken else f"Composite{kind.kind}"
        counted = Counter(c.claim_api_version for c in classes)
        version = max(counted, key=lambda v: counted[v]).rpartition("/")[2]
        versions = sorted({v.rpartition("/")[2] for v in api_versions} - {version})
        prefix = made.removesuffix(kind.kind).lower()
        yield Composite(
            group_kind=GroupKind(kind.group, made),
            version=version,
            names=_names(made, f"{prefix}{plural}", made.lower(), f"{made}List"),
            document=classes[0].document,
            claim=kind,
            claim_names=_names(kind.kind, plural, kind.kind.lower(), f"{kind.kind}List"),
            versions=(version, *versions),
        )


def _plural(catalog: Catalog, kind: GroupKind) -> str:
    given = crd_set.given_crds(catalog).get(kind)
    if given is None:
        return crds.plural_of(kind.kind)
    return str(given.data["spec"]["names"]["plural"])


def _names(kind: str, plural: str, singular: str, list_kind: str) -> dict[str, Any]:
    return {"kind": kind, "listKind": list_kind, "plural": plural, "singular": singular}
