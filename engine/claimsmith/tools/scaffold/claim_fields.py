"""The fields of a kind of claim: from its definition or CustomResourceDefinition, else from what classes read of it.

Takes a catalog and a kind, gives a `Form`; no file is read, nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError
from claimsmith.base.names import GroupKind
from claimsmith.base.transform import MapTransform, MathMultiply, MathTransform
from claimsmith.dialects.common.klass import Class, Patch, Side
from claimsmith.dialects.crossplane import claims
from claimsmith.dialects.crossplane.xrd import Xrd
from claimsmith.dialects.definitions import Definition, spec_schema
from claimsmith.generate.arguments import fields_of
from claimsmith.kubernetes import crds
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema.lookup import properties_of
from claimsmith.platform import crd_set, offers
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.offers import Offer
from claimsmith.platform.unread import CHOOSING

_TYPES = {"str": "string", "int": "integer", "bool": "boolean", "float": "number"}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a claim's spec."""

    name: str
    type: str = ""
    """As schemas name it; empty where it may be anything."""
    required: bool = False
    values: tuple[Any, ...] = ()
    """All that it may be, where that is a short list."""
    default: Any = None
    description: str = ""
    bounds: str = ""
    inner: tuple[Field, ...] = ()
    """The fields of an object."""

    @property
    def proposal(self) -> Any:
        """What to write by default: the default, else the first value that it may have; None if open."""
        return self.default if self.default is not None else self.values[0] if self.values else None


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of claim: its fields, how a class is selected, and the candidates."""

    kind: GroupKind
    api_version: str
    fields: tuple[Field, ...]
    offers: tuple[Offer, ...]
    word: str = "class"
    """What the fields that choose begin with: `class` or `composition`."""
    within: str = ""
    """The object of the spec that they stand in; empty where they stand in the spec itself."""
    secret: bool = True
    """Whether it has a field for the connection Secret."""
    any_class: bool = False
    """Whether it is served without a choice, by whichever class there is."""


def form_of(catalog: Catalog, kind: GroupKind) -> Form:
    """The form of a kind of claim."""
    defined = catalog.defined(kind)
    if defined:
        return _of_definition(catalog, kind, *defined)
    crossplane = catalog.crossplane.defined(kind)
    if crossplane:
        return _of_crossplane(catalog, kind, *crossplane)
    offered = tuple(offers.offers(catalog, kind))
    api_version = _api_version(catalog, kind)
    given = crd_set.given_crds(catalog).get(kind)
    known = schemas.crd_schema(given.data, api_version.rpartition("/")[2]) if given else None
    spec = (known or {}).get("properties", {}).get("spec")
    fields = [f for f in _fields(spec) if f.name not in CHOOSING] if spec else _read(offered)
    return Form(kind, api_version, tuple(fields), offered, secret=_gives_details(offered))


def is_namespaced(catalog: Catalog, kind: GroupKind) -> bool:
    """Whether claims of a kind are in a namespace."""
    defined, crossplane = catalog.defined(kind), catalog.crossplane.defined(kind)
    if defined:
        return defined[1] or defined[0].namespaced
    return crossplane is None or crossplane[1] or crossplane[0].namespaced


def _of_definition(catalog: Catalog, kind: GroupKind, definition: Definition, requirement: bool) -> Form:
    schema = spec_schema(definition, requirement=requirement)
    inner = schema["properties"][definition.injected]
    fields = tuple(f for f in _fields(schema) if f.name != definition.injected)
    offered = tuple(offers.offers(catalog, kind))
    secret = bool(definition.connection_details) and "writeConnectionSecretToRef" in inner["properties"]
    return Form(kind, definition.api_version, fields, offered, "composition", definition.injected, secret)


def _of_crossplane(catalog: Catalog, kind: GroupKind, xrd: Xrd, claim: bool) -> Form:
    version = xrd.api_version.rpartition("/")[2]
    own = xrd.schema_of(version).get("properties", {}).get("spec") or {}
    schema = claims.full_schema(xrd, version, claim=claim).get("properties", {}).get("spec") or {}
    added = set(schema.get("properties") or {}) - set(own.get("properties") or {})
    fields = tuple(f for f in _fields(schema) if f.name not in added | set(CHOOSING))
    chosen = {xrd.composition(enforced=False): "default", xrd.composition(enforced=True): "forced"}
    known = offers.offers(catalog, xrd.kind)
    offered = tuple(replace(o, default=chosen.get(o.klass.key) or o.default) for o in known)
    within = "crossplane" if xrd.modern and not claim else ""
    secret = not xrd.modern and (bool(xrd.connection_keys) or _gives_details(offered))
    return Form(kind, xrd.api_version, fields, offered, "composition", within, secret, any_class=True)


def _gives_details(offered: tuple[Offer, ...]) -> bool:
    return any(t.details != () for o in offered for t in o.klass.templates)


def _api_version(catalog: Catalog, kind: GroupKind) -> str:
    versions = crd_set.claim_kinds(catalog).get(kind, set()) - {""}
    rank = sorted(versions, key=lambda v: crds.version_rank(v.rpartition("/")[2]))
    return rank[-1] if rank else f"{kind.group}/v1alpha1"


def _fields(schema: Mapping[str, Any]) -> list[Field]:
    """The fields of an object, those that must be there first."""
    required = set(schema.get("required") or ())
    found = [_field(name, inner, name in required) for name, inner in properties_of(schema).items()]
    return sorted(found, key=lambda f: not f.required)


def _field(name: str, schema: Mapping[str, Any], required: bool) -> Field:
    bounds = [
        f"{word} {schema[key]}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in schema
    ]
    return Field(
        name,
        str(schema.get("type") or ""),
        required,
        tuple(schema.get("enum") or ()),
        schema.get("default"),
        str(schema.get("description") or ""),
        ", ".join(bounds),
        tuple(_fields(schema)) if schema.get("properties") else (),
    )


def _read(offered: tuple[Offer, ...]) -> list[Field]:
    """The fields that classes read, with the values in their maps and bases."""
    found: dict[str, Field] = {}
    for offer in offered:
        for argument in fields_of(offer.klass):
            if argument.name in found or argument.name in CHOOSING:
                continue
            values, default = _values_in(offer.klass, argument.name)
            found[argument.name] = Field(
                argument.name, _TYPES.get(argument.type, ""), argument.required, values, default
            )
    return sorted(found.values(), key=lambda f: not f.required)


def _values_in(klass: Class, name: str) -> tuple[tuple[Any, ...], Any]:
    """The values that a class allows for a field, and its default."""
    values: tuple[Any, ...] = ()
    default: Any = None
    for patch, base in _patches(klass, name):
        match patch.transforms:
            case (MapTransform(map=pairs),):
                values = values or tuple(pairs)
                default = default or next((k for k, v in pairs.items() if v == _base(base, patch)), None)
            case (MathTransform(math=MathMultiply(multiply=factor)),) if factor:
                written = _base(base, patch)
                default = default or (written // factor if isinstance(written, int) and not written % factor else None)
            case ():
                default = default or _base(base, patch)
    return values, default


def _patches(klass: Class, name: str) -> Iterator[tuple[Patch, Mapping[str, Any]]]:
    for template in klass.templates:
        for patch in template.patches:
            if patch.origin is Side.claim and patch.reads == (f"spec.{name}",):
                yield patch, template.base


def _base(base: Mapping[str, Any], patch: Patch) -> Any:
    try:
        value = fieldpath.get(base, patch.to)
    except FieldPathError:
        return None
    return value if isinstance(value, str | int | float | bool) else None
