"""The type tokens and URNs of components and resources, computed without the engine.

A component's type comes from the claim's kind, its name from namespace and claim; a child's type is its parents' types
and its own, joined with `$`, and its name is its parent's with the template's behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base.names import GroupKind

SECRET = {"apiVersion": "v1", "kind": "Secret"}


def component_type(kind: GroupKind) -> str:
    """The type of the component of a claim. The class is no part of it: a claim may move from class to class."""
    return f"claimsmith:{kind.group}:{kind.kind}"


def resource_type(document: Mapping[str, Any]) -> str:
    """The engine's type for a document's apiVersion and kind."""
    api_version = str(document["apiVersion"])
    module = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{module}:{document['kind']}"


def urn(project: str, stack: str, types: Sequence[str], name: str) -> str:
    """The URN of a resource, by the types of its parents and its own, outermost first."""
    return f"urn:pulumi:{stack}::{project}::{'$'.join(types)}::{name}"
