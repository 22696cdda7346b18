"""A class as a `Composition` in mode Pipeline: one step that patches and transforms, after one for opaque templates."""

from __future__ import annotations

from typing import Any

from claimsmith.compose.references import Table
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.resource_classes.reading import CARRIED
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.selection import IS_DEFAULT, WEIGHT
from claimsmith.tools.convert import go_templates
from claimsmith.tools.convert.kinds import Composite
from claimsmith.tools.convert.notes import Notes
from claimsmith.tools.convert.resources import Resources, Selectors, document_of

API_VERSION = "apiextensions.crossplane.io/v1"
FUNCTION = "function-patch-and-transform"
_SELECTION = (IS_DEFAULT, WEIGHT, *(key for key in CARRIED if not key.startswith("claimsmith.io/")))
"""Annotations of a class that mean nothing on a composition."""


def document(
    klass: Class, composite: Composite, name: str, catalog: Catalog, table: Table, notes: Notes
) -> dict[str, Any] | None:
    """The composition that composes what the class composes; None if no part of it can be converted."""
    _note(klass, composite, notes)
    inline = {}
    for template in klass.templates:
        if go_templates.is_text(template):
            found = go_templates.text_of(template, klass, notes, document_of(template, klass))
            if found is not None:
                inline[template.name] = found
    templates = [t for t in klass.templates if not go_templates.is_text(t) or t.name in inline]
    if not templates:
        return None
    selectors = Selectors(templates, table, notes)
    for template in templates:  # a first pass finds the templates that need a label
        selectors.converted(template, document_of(template, klass), template.base.get("spec"), ("spec",))
    resources = Resources(klass, catalog, selectors, notes)
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
            "pipeline": [*([go_templates.step([*inline.values()])] if inline else []), _step(entries)],
        },
    }


def _step(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "step": "patch-and-transform",
        "functionRef": {"name": FUNCTION},
        "input": {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": entries},
    }


def _note(klass: Class, composite: Composite, notes: Notes) -> None:
    if WEIGHT in klass.annotations:
        what = f"the weight of {klass.key} cannot be converted: Crossplane takes any of several that match"
        fix = "give it a label of its own that claims select by, or make it the default"
        notes.leave_out(klass.document, ("metadata", "annotations", WEIGHT), what, fix)
    if klass.retain:
        what = f"the reclaimPolicy of {klass.key} keeps the composite when its claim is deleted; Crossplane deletes it"
        notes.leave_out(klass.document, "specTemplate.reclaimPolicy", what, "set it on each resource that must stay")
    if klass.claim_api_version and klass.claim_api_version != composite.api_version and not composite.definition:
        what = f"{klass.key} serves {klass.claim_api_version}, its composition {composite.api_version}"
        notes.differ(klass.document, "spec.claim.apiVersion", what, "use one version in all classes")
