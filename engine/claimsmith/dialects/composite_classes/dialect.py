"""Composite classes: a `CompositeResource` stands between a claim and its children, which name it in their spec."""

from __future__ import annotations

from typing import Any

from claimsmith.base.labels import COMPOSITE
from claimsmith.dialects.common.dialect import BoundBy, Dialect, Identity, Reference


class _CompositeClasses(Dialect):
    def parent_reference(self, identity: Identity, class_ref: Reference | None) -> dict[str, Any]:
        return {"compositeRef": {**COMPOSITE, "name": identity.composite_name}}


COMPOSITE_CLASSES = _CompositeClasses(bound_by=BoundBy.COMPOSITE, class_word="composite class", composite=COMPOSITE)
