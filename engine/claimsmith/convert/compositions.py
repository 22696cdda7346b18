"""A class as a `Composition` in mode Pipeline: one step that patches and transforms, after one for opaque templates."""

from __future__ import annotations

from typing import Any

from claimsmith.binding import IS_DEFAULT, WEIGHT
from claimsmith.catalog import Catalog
from claimsmith.convert import texts
from claimsmith.convert.kinds import Composite
from claimsmith.convert.resources import Resources, document_of
from claimsmith.convert.said import Said
from claimsmith.convert.selectors import Selectors
from claimsmith.models.klass import Class
from claimsmith.models.specific_class import CARRIED
from claimsmith.reference import Table

API_VERSION = "apiextensions.crossplane.io/v1"
FUNCTION = "function-patch-and-transform"
_SELECTION = (IS_DEFAULT, WEIGHT, *(key for key in CARRIED if not key.startswith("claimsmith.io/")))
"""Annotations of a class that say nothing of a composition."""


def document(
    klass: Class, composite: Composite, name: str, catalog: Catalog, table: Table, said: Said
) -> dict[str, Any] | None:
    """The composition that makes what the class makes; None where nothing of it can be said."""
    _note(klass, composite, said)
    said_texts = {}
    for template in klass.templates:
        if texts.is_text(template):
            found = texts.text_of(template, klass, said, document_of(template, klass))
            if found is not None:
                said_texts[template.name] = found
    templates = [t for t in klass.templates if not texts.is_text(t) or t.name in said_texts]
    if not templates:
        return None
    selectors = Selectors(templates, table, said)
    for template in templates:  # a first pass tells which templates must be labelled
        selectors.turned(template, document_of(template, klass), template.base.get("spec"), ("spec",))
    resources = Resources(klass, catalog, selectors, said)
    entries = [resources.entry(t) for t in templates]
    annotations = {k: v for k, v in klass.annotations.items() if k not in _SELECTION}
    metadata = {
        "name": name,
        **({"labels": dict(klass.labels)} if klass.labels else {}),
        **({"annotations": annotations} if annotations else {}),
    }
    secrets = {"writeConnectionSecretsToNamespace": klass.secret_namespace} if klass.secret_namespace else {}
    return {
        "apiVersion": API_VERSION,
        "kind": "Composition",
        "metadata": metadata,
        "spec": {
            "compositeTypeRef": {"apiVersion": composite.api_version, "kind": composite.group_kind.kind},
            "mode": "Pipeline",
            **secrets,
            "pipeline": [*([texts.step(list(said_texts.values()))] if said_texts else []), _step(entries)],
        },
    }


def _step(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "step": "patch-and-transform",
        "functionRef": {"name": FUNCTION},
        "input": {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": entries},
    }


def _note(klass: Class, composite: Composite, said: Said) -> None:
    if WEIGHT in klass.annotations:
        what = f"the weight of {klass.key} cannot be said: there, one of several that match is taken at random"
        fix = "give it a label of its own that claims select by, or make it the default"
        said.leave_out(klass.document, ("metadata", "annotations", WEIGHT), what, fix)
    if klass.retain:
        what = f"the reclaimPolicy of {klass.key} keeps the composite when its claim goes; there, it always goes too"
        said.leave_out(klass.document, "specTemplate.reclaimPolicy", what, "say it of each resource that must stay")
    if klass.claim_api_version and klass.claim_api_version != composite.api_version and not composite.definition:
        what = f"{klass.key} speaks of {klass.claim_api_version}, its composition of {composite.api_version}"
        said.differ(klass.document, "spec.claim.apiVersion", what, "speak of one version in all classes")
