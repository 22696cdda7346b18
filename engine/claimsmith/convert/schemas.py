"""The schema of a composite's spec: its definition's, that of its claim's CRD, or what patches tell of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from claimsmith import crd_set, fieldpath
from claimsmith import schema as schemas
from claimsmith.catalog import Catalog
from claimsmith.convert import paths
from claimsmith.convert.kinds import Composite
from claimsmith.convert.said import Said
from claimsmith.models.klass import Class, Patch
from claimsmith.models.transform import MapTransform, MatchTransform, MathTransform
from claimsmith.values import copied, object_at

PRESERVE = "x-kubernetes-preserve-unknown-fields"
_CLAIMS_OWN = ("classRef", "classSelector", "resourceRef", "writeConnectionSecretToRef")


def spec_schema(
    composite: Composite, classes: Iterable[Class], catalog: Catalog, said: Said, *, version: str
) -> dict[str, Any]:
    """The schema of the spec, without what today's definitions add to it themselves."""
    if composite.definition:
        found = copied(dict(composite.definition.schema))
        _refuse_taken(composite, found, said)
        return dict(found)
    given = crd_set.given_crds(catalog).get(composite.claim) if composite.claim else None
    whole = schemas.crd_schema(given.data, version) if given else None
    spec = object_at(object_at(whole, "properties"), "spec")
    if spec:
        return _without(spec, _CLAIMS_OWN)
    return _told(classes)


def _without(spec: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    left = set(fields)
    made = copied(dict(spec))
    made["properties"] = {k: v for k, v in object_at(made, "properties").items() if k not in left}
    required = [k for k in made.pop("required", None) or () if k not in left]
    return {**made, **({"required": required} if required else {})}


def _told(classes: Iterable[Class]) -> dict[str, Any]:
    """The fields that patches read; of what type, only where a transform would refuse any other."""
    types: dict[str, set[str]] = {}
    for klass in classes:
        for template in klass.templates:
            for patch in template.patches:
                for field, kind in _fields(patch):
                    types.setdefault(field, set()).add(kind)
    properties = {name: _leaf(kinds) for name, kinds in types.items() if name not in paths.TAKEN}
    return {"type": "object", PRESERVE: True, **({"properties": properties} if properties else {})}


def _fields(patch: Patch) -> Iterable[tuple[str, str]]:
    for read in patch.reads:
        steps = fieldpath.parse(read)
        if len(steps) < 2 or steps[0] != "spec" or not isinstance(steps[1], str) or steps[1] in _CLAIMS_OWN:
            continue
        yield steps[1], _type(patch) if len(steps) == 2 else ""


def _type(patch: Patch) -> str:
    match patch.transforms:
        case (MapTransform() | MatchTransform(), *_):
            return "string"
        case (MathTransform(), *_):
            return "number"
        case _:
            return ""


def _leaf(kinds: set[str]) -> dict[str, Any]:
    known = kinds - {""}
    return {"type": known.pop()} if len(known) == 1 else {PRESERVE: True}


def _refuse_taken(composite: Composite, found: Mapping[str, Any], said: Said) -> None:
    taken = ("crossplane",) if composite.namespaced else sorted(paths.TAKEN)
    for name in object_at(found, "properties"):
        if name in taken:
            what = f"{composite.group_kind.kind} has a field {name!r}, which today's definitions keep for themselves"
            said.leave_out(composite.document, "spec.crdSpecTemplate", what, "give the field another name")
