"""Native sinks of connection details: what a class of the platform creates from the details of each claim.

The class is one like any other, with claims of the kind `ConnectionDetails`: their spec has the details, and names the
claim that they are of. In a plan the details are references, never values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.names import GroupKind, is_native
from claimsmith.base.values import Ref
from claimsmith.compose.expand import expand
from claimsmith.compose.native_children import NativeTypes
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.compose.references import Table
from claimsmith.dialects.common.claim import ObjectRef
from claimsmith.dialects.common.klass import Class
from claimsmith.kubernetes.scope import BUILT_IN
from claimsmith.platform.catalog import Catalog

API_VERSION = "claimsmith.io/v1alpha1"
KIND = "ConnectionDetails"
SERVES = GroupKind("claimsmith.io", KIND)
COMPONENT = "connection-details"
"""The name of a sink's component within that of its claim."""


def has_natives(claim: PlannedClaim) -> bool:
    """Whether a claim, or a composite within it, has native resources."""
    return any(is_native(child.document) for inner in claim.walk() for child in inner.children)


def sink_document(claim: PlannedClaim, details: Any) -> dict[str, Any]:
    """The claim for the details of a claim."""
    key = claim.binding.claim.key
    place = {"name": key.name, **({"namespace": key.namespace} if key.namespace else {})}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {**place, "uid": claim.binding.uid},
        "spec": {
            "claim": {"apiVersion": claim.binding.claim.api_version, "kind": key.group_kind.kind, **place},
            "details": details,
        },
    }


def with_sinks(plan: Plan, catalog: Catalog, table: Table, types: NativeTypes) -> Plan:
    """The plan with the sink of each claim that has details of native resources.

    Without exactly one class of native resources for it there are none: whoever deploys the plan refuses that.
    """
    classes = catalog.serving(SERVES)
    if len(classes) != 1 or not all(template.native for template in classes[0].templates):
        return plan
    claims = [c for c in plan.claims if has_natives(c) and any(source.key_names for source in c.sources)]
    sinks = {c.address: _sink(c, classes[0], plan, catalog, table, types) for c in claims}
    return replace(plan, sinks={address: sink for address, sink in sinks.items() if sink})


def _sink(
    claim: PlannedClaim, klass: Class, plan: Plan, catalog: Catalog, table: Table, types: NativeTypes
) -> PlannedClaim | None:
    names = dict.fromkeys(name for source in claim.sources for name in source.key_names)
    details: Mapping[str, Any] = {name: Ref(claim.address, (COMPONENT, name)) for name in names}
    written = claim.binding.claim.document
    document = Document(sink_document(claim, dict(details)), written.file, written.line)
    reference = ObjectRef(api_version=klass.api_version, kind=klass.key.group_kind.kind, name=klass.name)
    # Any class may serve it: the platform asks for it, and not the team that wrote the claim.
    sink = replace(catalog.read_claim(document), class_ref=reference, given_uid=claim.binding.uid)
    alone = replace(catalog, claims={sink.key: sink})
    found = expand(alone, [], project=plan.project, stack=plan.stack, scopes=BUILT_IN, types=types)
    planned = build_plan(found, project=plan.project, stack=plan.stack, table=table).claims
    return next(iter(planned), None)
