"""The spec of an instance of a defined kind, or of a requirement, as today's composites and claims have it.

What a definition of document 002 injects under one word stands beside the kind's own fields there, or below
`spec.crossplane` where the composite is in a namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claimsmith import fieldpath
from claimsmith.convert.said import Said
from claimsmith.documents import Document
from claimsmith.models.definition import Definition
from claimsmith.values import copied, object_at

_KEPT = ("writeConnectionSecretToRef", "resourceRef")


def spec_of(spec: Any, definition: Definition, said: Said, *, document: Document, at: str) -> Any:
    """The spec in today's words; `at` is its place in the document."""
    if not isinstance(spec, Mapping):
        return spec
    here = f"{at}.{definition.injected}"
    given = object_at(spec, definition.injected)
    own = {k: copied(v) for k, v in spec.items() if k != definition.injected}
    chosen: dict[str, Any] = {}
    reference = _one(given.get("compositionRef"))
    if reference:
        chosen["compositionRef"] = {"name": reference.get("name")}
    if given.get("compositionSelector") is not None:
        labels = selector(given["compositionSelector"], said, document, f"{here}.compositionSelector")
        if labels is not None:
            chosen["compositionSelector"] = labels
    chosen |= {k: copied(_one(given[k])) for k in _KEPT if given.get(k)}
    if given.get("reclaimPolicy") not in (None, "Delete"):
        what = f"the reclaimPolicy {given['reclaimPolicy']!r} of a composite and all that it is composed of"
        fix = "say it of each resource, as its provider has it: deletionPolicy: Orphan"
        said.leave_out(document, f"{here}.reclaimPolicy", f"{what} cannot be said: a composite has no such field", fix)
    if not chosen:
        return own
    return {**own, "crossplane": chosen} if definition.namespaced else {**own, **chosen}


def selector(given: Any, said: Said, document: Document, path: fieldpath.Path | str) -> dict[str, Any] | None:
    """A selector of compositions, which knows labels only; None where that does not say it."""
    if object_at({"s": given}, "s").get("matchExpressions"):
        what = "a compositionSelector has matchLabels only: the matchExpressions cannot be said"
        said.leave_out(document, path, what, "label the compositions so that matchLabels finds them, or name one")
        return None
    return {"matchLabels": dict(object_at(given, "matchLabels"))}


def _one(value: Any) -> Any:
    """A reference, which document 002 also writes as a list of one."""
    return (value[0] if value else None) if isinstance(value, list) else value
