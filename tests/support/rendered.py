"""Rendered and registered documents, without what only the engine adds, by kind and name."""

from __future__ import annotations

from typing import Any

from claimsmith import render
from claimsmith.base.labels import OWNER
from claimsmith.compose.plan import Plan


def without_engine(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what the edge adds for the engine, the owner, and a Secret's data."""
    metadata = document["metadata"]
    kept = {k: v for k, v in metadata.get("annotations", {}).items() if not k.startswith("pulumi.com/") and k != OWNER}
    bare = {k: v for k, v in metadata.items() if k != "annotations"} | ({"annotations": kept} if kept else {})
    return {k: v for k, v in document.items() if k not in ("metadata", "data" * (document["kind"] == "Secret"))} | {
        "metadata": bare
    }


def by_name(documents: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(d["kind"], d["metadata"]["name"]): without_engine(d) for d in documents}


def rendered(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    return by_name([d for claim in plan.claims for d in render.documents(claim) if "kind" in d])
