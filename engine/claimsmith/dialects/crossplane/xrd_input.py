"""A `CompositeResourceDefinition` as it is written: what each of its fields may hold, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field

from claimsmith.dialects.common.metadata import Head
from claimsmith.dialects.crossplane.patch_input import Lenient, Need


class _Names(Lenient):
    kind: str
    plural: str
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = Field((), strict=False)
    categories: tuple[str, ...] = Field((), strict=False)


class _Named(Lenient):
    name: str


class _Schema(Lenient):
    open_api_v3_schema: dict[str, Any] = Field(default_factory=dict, alias="openAPIV3Schema")


class _Version(Lenient):
    name: str
    served: bool = True
    referenceable: bool = True
    deprecated: bool = False
    deprecation_warning: str | None = None
    schema_: _Schema = Field(default_factory=_Schema, alias="schema")
    additional_printer_columns: Any = None
    subresources: Any = None
    selectable_fields: Any = None


class _OldTemplate(Lenient):
    group: str
    version: str = ""
    names: _Names
    validation: _Schema = Field(default_factory=_Schema)
    additional_printer_columns: Any = None


class _Spec(Lenient):
    group: str = ""
    scope: Literal["LegacyCluster", "Cluster", "Namespaced"] | None = None
    names: _Names | None = None
    claim_names: _Names | None = None
    versions: tuple[_Version, ...] = Field((), strict=False)
    crd_spec_template: _OldTemplate | None = None
    connection_secret_keys: tuple[str, ...] = Field((), strict=False)
    default_composition_ref: _Named | None = None
    enforced_composition_ref: _Named | None = None
    default_composite_delete_policy: str | None = None
    default_composition_update_policy: str | None = None
    metadata: Any = None
    conversion: Any = None

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """A kind and its versions, one of which compositions are for."""
        if "crdSpecTemplate" in data:
            return
        for key in ("group", "names", "versions"):
            if not data.get(key):
                yield key, f"the definition has no {key}", f"add {key}:"
        versions = data.get("versions")
        listed = [v for v in versions if isinstance(v, Mapping)] if isinstance(versions, list) else []
        if len([v for v in listed if v.get("referenceable")]) != 1 and len(listed) > 1:
            what = "exactly one version must be referenceable: the one that compositions are for"
            yield "versions", what, "set referenceable: true on one of them, false on the others"


class DefinitionInput(Lenient, Head):
    """The whole document."""

    spec: _Spec
