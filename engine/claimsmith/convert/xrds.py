"""`CompositeResourceDefinition`s: one for each kind that the platform defines or serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith import crd_set
from claimsmith.binding import IS_DEFAULT
from claimsmith.catalog import Catalog
from claimsmith.convert import schemas
from claimsmith.convert.kinds import Composite, old_classes
from claimsmith.convert.names import Names
from claimsmith.convert.said import Said
from claimsmith.models.definition import Definition
from claimsmith.models.klass import Class

GROUP = "apiextensions.crossplane.io"


def document(composite: Composite, catalog: Catalog, names: Names, said: Said) -> dict[str, Any]:
    """The definition of a kind of composite, and of the claim for it."""
    _note(composite, catalog, said)
    served = {composite.group_kind, composite.claim}
    classes = [c for c in old_classes(catalog) if c.serves in served]
    spec: dict[str, Any] = {"group": composite.group_kind.group}
    if composite.namespaced:
        spec["scope"] = "Namespaced"
    spec["names"] = dict(composite.names)
    if composite.claim:
        spec["claimNames"] = dict(composite.claim_names)
    spec |= _promises(composite.definition, said) if composite.definition else {}
    spec |= _choice(composite, classes, names, said)
    spec["versions"] = [_version(composite, classes, catalog, said, v) for v in composite.versions]
    return {
        "apiVersion": f"{GROUP}/{'v2' if composite.namespaced else 'v1'}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": composite.name},
        "spec": spec,
    }


def _note(composite: Composite, catalog: Catalog, said: Said) -> None:
    if composite.namespaced:
        what = f"{composite.group_kind.kind} is in a namespace, which only version 2 of Crossplane knows of composites"
        fix = "nothing to do with that version; before it, define infrastructure and publish it"
        said.differ(composite.document, "kind", what, fix)
    given = crd_set.given_crds(catalog).get(composite.claim) if composite.claim else None
    if given:
        what = f"{composite.name} defines {composite.claim} there, and makes this definition itself"
        said.differ(given, "kind", what, "do not install both")


def _promises(definition: Definition, said: Said) -> dict[str, Any]:
    if definition.service_account:
        what = f"the children of {definition.group_kind} are made by a service account of their own"
        fix = "today's Crossplane makes all with its own account: give that the rights, or run one per account"
        said.leave_out(definition.document, "spec.serviceAccountRef", f"{what}, which cannot be said", fix)
    keys = list(definition.connection_details)
    return {"connectionSecretKeys": keys} if keys and not definition.namespaced else {}


def _choice(composite: Composite, classes: Sequence[Class], names: Names, said: Said) -> dict[str, Any]:
    """The composition that serves what chooses none, and the one that serves all."""
    definition = composite.definition
    if definition is None:
        defaults = [c for c in classes if c.annotations.get(IS_DEFAULT) == "true"]
        for other in defaults[1:]:
            what = f"{other.key} is a default class beside {defaults[0].key}; a definition names one composition"
            path = ("metadata", "annotations", IS_DEFAULT)
            said.leave_out(other.document, path, what, "keep one default class")
        return {"defaultCompositionRef": {"name": names[defaults[0]]}} if defaults else {}
    made: dict[str, Any] = {}
    for word, key in (("default", definition.default_composition), ("force", definition.force_composition)):
        klass = next((c for c in classes if c.key == key), None)
        if klass is not None:
            made[f"{'enforced' if word == 'force' else word}CompositionRef"] = {"name": names[klass]}
        elif key is not None:
            what = f"the {word}Composition {key.name!r} of {definition.group_kind} is nowhere in these files"
            said.leave_out(definition.document, f"spec.{word}Composition", what, "give its file too, or remove it")
    return made


def _version(
    composite: Composite, classes: Sequence[Class], catalog: Catalog, said: Said, version: str
) -> dict[str, Any]:
    spec = schemas.spec_schema(composite, classes, catalog, said, version=version)
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
    """A column for `kubectl get`; what the old definition injected stands elsewhere."""
    there = ".spec.crossplane." if definition.namespaced else ".spec."
    return {**column, "jsonPath": str(column["jsonPath"]).replace(f".spec.{definition.injected}.", there)}
