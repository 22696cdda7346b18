"""The custom resource definitions of a platform: those of its own kinds, and those that its classes need.

Takes a catalog, gives definitions as data. `own_crds` are the kinds that a platform defines, as `claimsmith crds`
prints them; `needed_crds` are these and permissive ones for all that its classes make, as a control plane of one's own
installs them.
"""

from __future__ import annotations

from collections.abc import Iterator

from claimsmith.base.documents import Document
from claimsmith.base.names import GroupKind
from claimsmith.dialects.definitions import crds as definitions
from claimsmith.kubernetes import crds
from claimsmith.kubernetes.crds import Crd, kind_of
from claimsmith.kubernetes.scope import BUILT_IN
from claimsmith.platform.catalog import Catalog

_ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}


def own_crds(catalog: Catalog) -> list[Crd]:
    """The definitions of defined kinds, requirements, claims and our records; one of the platform replaces ours."""
    given = given_crds(catalog)
    claims = claim_kinds(catalog)
    generated = [
        *definitions.record_crds(),
        *(crd for d in catalog.definitions.values() for crd in definitions.crds_of(d)),
        *(crd for x in catalog.crossplane.xrds.values() for crd in definitions.xrd_crds(x)),
        *(
            definitions.claim_crd(version, kind.kind)
            for kind, versions in claims.items()
            for version in sorted(versions, key=lambda v: crds.version_rank(v.rpartition("/")[2]))
        ),
    ]
    ours = {kind_of(crd) for crd in generated} | claims.keys()
    kept = [crd for crd in generated if kind_of(crd) not in given]
    return crds.merge_crds([*kept, *(_modern(d.data) for kind, d in given.items() if kind in ours)])


def needed_crds(catalog: Catalog) -> list[Crd]:
    """All definitions that a platform's claims and their children need; permissive ones where none is provided."""
    return crds.merge_crds([*_permissive(catalog), *own_crds(catalog), *(_modern(d.data) for d in catalog.crds)])


def given_crds(catalog: Catalog) -> dict[GroupKind, Document]:
    """The definitions in the platform's own files, by kind."""
    return {kind_of(d.data): d for d in catalog.crds}


def claim_kinds(catalog: Catalog) -> dict[GroupKind, set[str]]:
    """The kinds of claims that classes serve, with the apiVersions in use; defined kinds are not among them."""
    found: dict[GroupKind, set[str]] = {}
    for klass in catalog.classes.values():
        defined = catalog.defined(klass.serves) or catalog.crossplane.defined(klass.serves)
        if not klass.dialect.defined and not defined:
            found.setdefault(klass.serves, set()).add(klass.claim_api_version)
    for claim in catalog.claims.values():
        if claim.key.group_kind in found or (claim.object_ref and not catalog.defined(claim.key.group_kind)):
            found.setdefault(claim.key.group_kind, set()).add(claim.api_version)
    return found


def _permissive(catalog: Catalog) -> Iterator[Crd]:
    """A definition for each composed or provided kind; built-in kinds need none."""
    for klass in catalog.classes.values():
        # Crossplane v2: a namespaced composite composes in its own namespace alone, managed resources too.
        definition = catalog.crossplane.defined(klass.serves)
        together = definition is not None and definition[0].namespaced
        for template in klass.templates:
            if not template.composite and not template.native and _is_custom(template.group_kind):
                known = BUILT_IN.namespaced(template.group_kind)
                namespaced = bool(klass.namespaced and (together or not template.managed)) if known is None else known
                yield crds.permissive_crd(
                    template.api_version, template.kind, namespaced=namespaced, managed=template.managed
                )
    # A stack that provides a definition installs it itself.
    provided = {kind_of(d.data) for d in catalog.resources.values() if d.data["kind"] == "CustomResourceDefinition"}
    for key, document in catalog.resources.items():
        if _is_custom(key.group_kind) and key.group_kind not in provided:
            managed = key.group_kind in catalog.managed
            version = str(document.data["apiVersion"])
            yield crds.permissive_crd(
                version, key.group_kind.kind, namespaced=bool(key.namespace) and not managed, managed=managed
            )


def _is_custom(kind: GroupKind) -> bool:
    kubernetes = kind.group.endswith(".k8s.io") and BUILT_IN.namespaced(kind) is not None
    return "." in kind.group and not kubernetes


def _modern(crd: Crd) -> Crd:
    """The definition in the layout of apiextensions.k8s.io/v1, which lists its versions, each with its schema."""
    spec = dict(crd["spec"])
    version, schema = spec.pop("version", None), spec.pop("validation", None) or _ANYTHING
    listed = spec.get("versions") or [{"name": version, "served": True, "storage": True}]
    spec["versions"] = [{**v, "schema": v.get("schema") or schema} for v in listed]
    spec.pop("preserveUnknownFields", None)
    return {**crd, "apiVersion": "apiextensions.k8s.io/v1", "spec": spec}
