"""Aggregate classes: an `AggregateResource` stands between a claim and its children, each with a class of its own."""

from __future__ import annotations

from typing import Any

from claimsmith.base.labels import AGGREGATE
from claimsmith.dialects.common.dialect import BoundBy, Dialect, Identity, Reference


class _Aggregates(Dialect):
    def parent_reference(self, identity: Identity, class_ref: Reference | None) -> dict[str, Any]:
        parent = {**AGGREGATE, "name": identity.composite_name}
        return {"aggregateRef": parent, "classRef": dict(class_ref or identity.class_ref)}

    def composite_fields(self, identity: Identity) -> tuple[dict[str, Any], str]:
        selector, _ = super().composite_fields(identity)
        return {"aggregationRule": selector}, "aggregatedResources"


AGGREGATES = _Aggregates(bound_by=BoundBy.AGGREGATE, class_word="aggregate class", composite=AGGREGATE)
