"""What a platform's files say of kinds: their versions and schemas, and where references lead.

Known are kinds whose CustomResourceDefinition is among the files, kinds that are defined there, and the composites and
claims of today's definitions. Of any other kind nothing is said, so that nothing is found wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from claimsmith import crd_set, definitions, fieldpath
from claimsmith import schema as schemas
from claimsmith.catalog import Catalog
from claimsmith.crds import Crd
from claimsmith.errors import FieldPathError
from claimsmith.models import composite
from claimsmith.models.klass import Class, Template
from claimsmith.models.objects import GroupKind
from claimsmith.models.xrd import Xrd
from claimsmith.reference import Table
from claimsmith.schema import Schema
from claimsmith.schema.lookup import EMBEDDED, OPEN

_RECONCILED: Final = ("conditions", "claimConditionTypes", "connectionDetails", "crossplane")
"""What whoever reconciles a composite writes to its status."""
ANY_OBJECT: Final[Schema] = {"type": "object", EMBEDDED: True, **OPEN}
"""What is known of every kind: its metadata."""


class Rules:
    """The schemas of the kinds that are known, and the table of references."""

    def __init__(self, catalog: Catalog, table: Table) -> None:
        self.table = table
        self._given = crd_set.given_crds(catalog)
        self._crds: dict[GroupKind, Crd] = {k: d.data for k, d in self._given.items()}
        for definition in catalog.definitions.values():
            for crd, kind in zip(
                definitions.crds_of(definition), (definition.group_kind, definition.requirement), strict=False
            ):
                if kind:
                    self._crds[kind] = crd
        self._xrds: dict[GroupKind, Xrd] = {}
        for xrd in catalog.today.xrds.values():
            self._xrds |= {kind: xrd for kind in (xrd.kind, xrd.claim) if kind and kind not in self._crds}
        self._schemas: dict[tuple[GroupKind, str], Schema | None] = {}

    def of(self, api_version: str, kind: GroupKind) -> Schema | None:
        """The schema of a kind's documents; None where it is not known or takes anything."""
        version = api_version.rpartition("/")[2]
        if (kind, version) not in self._schemas:
            self._schemas[kind, version] = self._read(kind, version)
        return self._schemas[kind, version]

    def given(self, api_version: str, kind: GroupKind) -> Schema | None:
        """The same, where a CustomResourceDefinition among the files says so."""
        return self.of(api_version, kind) if kind in self._given else None

    def versions(self, kind: GroupKind) -> list[str] | None:
        """The versions of a kind that are served; None where its definition is not known."""
        if kind in self._xrds:
            return list(self._xrds[kind].versions)
        crd = self._crds.get(kind)
        if crd is None:
            return None
        listed = crd["spec"].get("versions") or [{"name": crd["spec"].get("version")}]
        return [str(v["name"]) for v in listed if v.get("served", True)]

    def is_composite(self, kind: GroupKind) -> bool:
        """Whether a kind is the composite or the claim of a definition of today's."""
        return kind in self._xrds

    def _read(self, kind: GroupKind, version: str) -> Schema | None:
        if kind in self._crds:
            return schemas.crd_schema(self._crds[kind], version)
        xrd = self._xrds.get(kind)
        written = xrd.versions.get(version) if xrd else None
        return _composite(xrd, version, kind) if xrd and written and written.get("properties") else None


def classes(catalog: Catalog) -> Iterator[Class]:
    """Every class of every dialect, once; a composition that cannot be deployed as it was read."""
    yield from catalog.classes.values()
    deployed = {id(c.document) for c in catalog.classes.values()}
    yield from (c for c in catalog.today.compositions.values() if id(c.document) not in deployed)


def readable(template: Template) -> Template:
    """The template without patches of which a path cannot be parsed: these are told by themselves."""
    return replace(template, patches=tuple(p for p in template.patches if all(map(_parses, (*p.reads, p.to)))))


def _parses(path: str) -> bool:
    try:
        fieldpath.parse(path)
    except FieldPathError:
        return False
    return True


def _composite(xrd: Xrd, version: str, kind: GroupKind) -> Schema:
    """The schema of a composite or claim; of its status only what the definition says, as an API server keeps it."""
    schema = schemas.normalised(composite.full_schema(xrd, version, claim=kind == xrd.claim))
    own: Mapping[str, Any] = (xrd.versions[version].get("properties") or {}).get("status") or {"type": "object"}
    status = schemas.normalised(own)
    status["properties"] = {**dict.fromkeys(_RECONCILED, OPEN), **(status.get("properties") or {})}
    return {**schema, EMBEDDED: True, "properties": {**schema["properties"], "status": status}}
