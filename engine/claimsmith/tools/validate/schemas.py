"""The kinds that a platform's files define: their versions, schemas and references.

Known are kinds whose CustomResourceDefinition is among the files, kinds that are defined there, the composites and
claims of Crossplane definitions, and the types of native resources whose SDK is installed. Others are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError, ProviderError
from claimsmith.base.names import GroupKind
from claimsmith.compose.references import Table
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.crossplane import claims
from claimsmith.dialects.crossplane.xrd import Xrd
from claimsmith.dialects.definitions import crds
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.crds import Crd
from claimsmith.kubernetes.schema import Schema
from claimsmith.kubernetes.schema.lookup import EMBEDDED, OPEN
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import Catalog
from claimsmith.providers import property_schema
from claimsmith.providers.index import Index

_RECONCILED: Final = ("conditions", "claimConditionTypes", "connectionDetails", "crossplane")
"""What whoever reconciles a composite writes to its status."""
ANY_OBJECT: Final[Schema] = {"type": "object", EMBEDDED: True, **OPEN}
"""What every kind has: its metadata."""


class Rules:
    """The schemas of the defined kinds, and the reference table."""

    def __init__(self, catalog: Catalog, table: Table, sdk: Callable[[str], Index]) -> None:
        self.table = table
        self.unreadable = catalog.unreadable
        """The words in files of the platform that cannot be read."""
        self.sdk = sdk
        """What the SDK of a provider declares; a ProviderError where it is not installed."""
        self._given = crd_set.given_crds(catalog)
        self._crds: dict[GroupKind, Crd] = {k: d.data for k, d in self._given.items()}
        for definition in catalog.definitions.values():
            for crd, kind in zip(
                crds.crds_of(definition), (definition.group_kind, definition.requirement), strict=False
            ):
                if kind:
                    self._crds[kind] = crd
        self._xrds: dict[GroupKind, Xrd] = {}
        for xrd in catalog.crossplane.xrds.values():
            self._xrds |= {kind: xrd for kind in (xrd.kind, xrd.claim) if kind and kind not in self._crds}
        self._schemas: dict[tuple[GroupKind, str], Schema | None] = {}

    def of(self, api_version: str, kind: GroupKind) -> Schema | None:
        """The schema of a kind's documents; None if it is undefined or takes anything."""
        version = api_version.rpartition("/")[2]
        if (kind, version) not in self._schemas:
            self._schemas[kind, version] = self._read(kind, version)
        return self._schemas[kind, version]

    def of_template(self, template: Template) -> Schema | None:
        """The schema of what a template composes."""
        return self.of(template.api_version, template.group_kind)

    def of_token(self, token: str) -> Schema | None:
        """The schema of a native type; None if there is none, or its SDK is not installed."""
        return self.of("", GroupKind.of({"type": token}))

    def given(self, api_version: str, kind: GroupKind) -> Schema | None:
        """The same, where a CustomResourceDefinition among the files says so."""
        return self.of(api_version, kind) if kind in self._given else None

    def versions(self, kind: GroupKind) -> list[str] | None:
        """The versions of a kind that are served; None if it is undefined."""
        if kind in self._xrds:
            return list(self._xrds[kind].versions)
        crd = self._crds.get(kind)
        if crd is None:
            return None
        listed = crd["spec"].get("versions") or [{"name": crd["spec"].get("version")}]
        return [str(v["name"]) for v in listed if v.get("served", True)]

    def is_composite(self, kind: GroupKind) -> bool:
        """Whether a kind is the composite or the claim of a Crossplane definition."""
        return kind in self._xrds

    def _read(self, kind: GroupKind, version: str) -> Schema | None:
        if ":" in kind.group:
            return self._read_native(kind)
        if kind in self._crds:
            return schemas.crd_schema(self._crds[kind], version)
        xrd = self._xrds.get(kind)
        written = xrd.versions.get(version) if xrd else None
        return _composite(xrd, version, kind) if xrd and written and written.get("properties") else None

    def _read_native(self, kind: GroupKind) -> Schema | None:
        package = kind.group.partition(":")[0]
        # A missing SDK and an unknown type are reported by themselves, in `native`.
        with suppress(ProviderError):
            index = self.sdk(package)
            found = index.resource(f"{kind.group}:{kind.kind}")
            return property_schema.document_schema(found, index) if found else None
        return None


def classes(catalog: Catalog) -> Iterator[Class]:
    """Every class of every dialect, once; a composition that cannot be deployed as it was read."""
    yield from catalog.classes.values()
    deployed = {id(c.document) for c in catalog.classes.values()}
    yield from (c for c in catalog.crossplane.compositions.values() if id(c.document) not in deployed)


def readable(template: Template) -> Template:
    """The template without patches of which a path cannot be parsed: these are reported by themselves."""
    return replace(template, patches=tuple(p for p in template.patches if all(map(_parses, (*p.reads, p.to)))))


def _parses(path: str) -> bool:
    try:
        fieldpath.parse(path)
    except FieldPathError:
        return False
    return True


def _composite(xrd: Xrd, version: str, kind: GroupKind) -> Schema:
    """The schema of a composite or claim; of its status only what the definition has, as an API server keeps it."""
    schema = schemas.normalised(claims.full_schema(xrd, version, claim=kind == xrd.claim))
    own: Mapping[str, Any] = (xrd.versions[version].get("properties") or {}).get("status") or {"type": "object"}
    status = schemas.normalised(own)
    status["properties"] = {**dict.fromkeys(_RECONCILED, OPEN), **(status.get("properties") or {})}
    return {**schema, EMBEDDED: True, "properties": {**schema["properties"], "status": status}}
