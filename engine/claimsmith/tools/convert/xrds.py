"""`CompositeResourceDefinition`s: one for each kind that the platform defines or serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.grouping import grouped
from claimsmith.base.transform import MapTransform, MatchTransform, MathTransform
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.common.klass import Class, Patch
from claimsmith.dialects.definitions import Definition
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema.lookup import PRESERVE
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.selection import IS_DEFAULT
from claimsmith.platform.unread import CHOOSING
from claimsmith.tools.convert import paths
from claimsmith.tools.convert.kinds import Composite, Names, old_classes
from claimsmith.tools.convert.notes import Notes

GROUP = "apiextensions.crossplane.io"


def document(composite: Composite, catalog: Catalog, names: Names, notes: Notes) -> dict[str, Any]:
    """The definition of a kind of composite, and of the claim for it."""
    _note(composite, catalog, notes)
    served = {composite.group_kind, composite.claim}
    classes = [c for c in old_classes(catalog) if c.serves in served]
    spec: dict[str, Any] = {"group": composite.group_kind.group}
    if composite.namespaced:
        spec["scope"] = "Namespaced"
    spec["names"] = dict(composite.names)
    if composite.claim:
        spec["claimNames"] = dict(composite.claim_names)
    spec |= _promises(composite.definition, notes) if composite.definition else {}
    spec |= _choice(composite, classes, names, notes)
    spec["versions"] = [_version(composite, classes, catalog, notes, v) for v in composite.versions]
    return {
        "apiVersion": f"{GROUP}/{'v2' if composite.namespaced else 'v1'}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": composite.name},
        "spec": spec,
    }


def _note(composite: Composite, catalog: Catalog, notes: Notes) -> None:
    if composite.namespaced:
        what = f"{composite.group_kind.kind} is namespaced, which only Crossplane v2 supports for composites"
        fix = "nothing in Crossplane v2; before it, define infrastructure and publish it"
        notes.differ(composite.document, "kind", what, fix)
    given = crd_set.given_crds(catalog).get(composite.claim) if composite.claim else None
    if given:
        what = f"{composite.name} defines {composite.claim}, and Crossplane creates this definition itself"
        notes.differ(given, "kind", what, "do not install both")


def _promises(definition: Definition, notes: Notes) -> dict[str, Any]:
    if definition.service_account:
        what = f"the children of {definition.group_kind} are created by a service account of their own"
        fix = "Crossplane creates all with its own account: grant that account the permissions"
        notes.leave_out(definition.document, "spec.serviceAccountRef", f"{what}, which cannot be converted", fix)
    keys = list(definition.connection_details)
    return {"connectionSecretKeys": keys} if keys and not definition.namespaced else {}


def _choice(composite: Composite, classes: Sequence[Class], names: Names, notes: Notes) -> dict[str, Any]:
    """The default composition, and the enforced one."""
    definition = composite.definition
    if definition is None:
        defaults = [c for c in classes if c.annotations.get(IS_DEFAULT) == "true"]
        for other in defaults[1:]:
            what = f"{other.key} is a default class beside {defaults[0].key}; a definition names one composition"
            path = ("metadata", "annotations", IS_DEFAULT)
            notes.leave_out(other.document, path, what, "keep one default class")
        return {"defaultCompositionRef": {"name": names[defaults[0]]}} if defaults else {}
    references: dict[str, Any] = {}
    for word, key in (("default", definition.default_composition), ("force", definition.force_composition)):
        klass = next((c for c in classes if c.key == key), None)
        if klass is not None:
            references[f"{'enforced' if word == 'force' else word}CompositionRef"] = {"name": names[klass]}
        elif key is not None:
            what = f"the {word}Composition {key.name!r} of {definition.group_kind} is not in these files"
            notes.leave_out(definition.document, f"spec.{word}Composition", what, "pass its file too, or remove it")
    return references


def _version(
    composite: Composite, classes: Sequence[Class], catalog: Catalog, notes: Notes, version: str
) -> dict[str, Any]:
    spec = spec_schema(composite, classes, catalog, notes, version=version)
    required = ["spec"] if spec.get("required") else []
    schema = {"type": "object", **({"required": required} if required else {}), "properties": {"spec": spec}}
    definition = composite.definition
    columns = [_column(c, definition) for c in definition.columns] if definition else []
    return {
        "name": version,
        "served": True,
        "referenceable": version == composite.version,
        "schema": {"openAPIV3Schema": schema},
        **({"additionalPrinterColumns": columns} if columns else {}),
    }


def _column(column: Mapping[str, Any], definition: Definition) -> dict[str, Any]:
    """A column for `kubectl get`; injected fields have another place in Crossplane."""
    there = ".spec.crossplane." if definition.namespaced else ".spec."
    return {**column, "jsonPath": str(column["jsonPath"]).replace(f".spec.{definition.injected}.", there)}


def spec_schema(
    composite: Composite, classes: Iterable[Class], catalog: Catalog, notes: Notes, *, version: str
) -> dict[str, Any]:
    """The schema of the spec, without the fields that Crossplane adds.

    It is that of the definition, that of the claim's CRD, or derived from the patches.
    """
    if composite.definition:
        found = copied(dict(composite.definition.schema))
        _refuse_taken(composite, found, notes)
        return dict(found)
    given = crd_set.given_crds(catalog).get(composite.claim) if composite.claim else None
    whole = schemas.crd_schema(given.data, version) if given else None
    spec = copied(dict(object_at(object_at(whole, "properties"), "spec")))
    if not spec:
        return _schema_of_patches(classes)
    spec["properties"] = {k: v for k, v in object_at(spec, "properties").items() if k not in CHOOSING}
    required = [k for k in spec.pop("required", None) or () if k not in CHOOSING]
    return {**spec, **({"required": required} if required else {})}


def _schema_of_patches(classes: Iterable[Class]) -> dict[str, Any]:
    """The fields that patches read; with a type only if a transform refuses any other."""
    read = [field for klass in classes for t in klass.templates for patch in t.patches for field in _fields(patch)]
    types = grouped(read, lambda field: field[0])
    properties = {n: _leaf({kind for _, kind in found}) for n, found in types.items() if n not in paths.TAKEN}
    return {"type": "object", PRESERVE: True, **({"properties": properties} if properties else {})}


def _fields(patch: Patch) -> Iterable[tuple[str, str]]:
    for read in patch.reads:
        steps = fieldpath.parse(read)
        if len(steps) < 2 or steps[0] != "spec" or not isinstance(steps[1], str) or steps[1] in CHOOSING:
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


def _refuse_taken(composite: Composite, found: Mapping[str, Any], notes: Notes) -> None:
    taken = ("crossplane",) if composite.namespaced else sorted(paths.TAKEN)
    for name in object_at(found, "properties"):
        if name in taken:
            what = f"{composite.group_kind.kind} has a field {name!r}, which Crossplane reserves"
            notes.leave_out(composite.document, "spec.crdSpecTemplate", what, "give the field another name")
