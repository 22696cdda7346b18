"""What the SDKs of the providers declare of tags, for the native children of a plan."""

from __future__ import annotations

from collections.abc import Callable

from claimsmith.base.errors import ProviderError
from claimsmith.compose.native_children import NativeTypes, TagProperty
from claimsmith.providers.index import Index
from claimsmith.providers.resource_types import AnyType, MapOf, ResourceType, Scalar
from claimsmith.providers.tokens import Token

Sdks = Callable[[str], Index]
"""The index of a provider's SDK, by the name of its package."""


def native_types(sdks: Sdks) -> NativeTypes:
    """What is known of types by their SDKs; of those that are not installed, nothing."""

    def tags(token: str) -> TagProperty:
        kind = _type(sdks, token)
        return tag_property(kind) if kind else ""

    # Not the physical names: generated components do not set them, and must create what the plan says.
    return NativeTypes(tags)


def tag_property(kind: ResourceType) -> TagProperty:
    """The property of a type that takes tags as a map of texts; empty where it has none."""
    found: tuple[TagProperty, ...] = ("tags", "labels")
    return next((name for name in found if name in kind.inputs and _is_map(kind, name)), "")


def _is_map(kind: ResourceType, name: str) -> bool:
    declared = kind.inputs[name].type
    return isinstance(declared, MapOf) and declared.item in (Scalar("string"), AnyType())


def _type(sdks: Sdks, token: str) -> ResourceType | None:
    try:
        return sdks(Token.parse(token).package).resource(token)
    except ProviderError:
        return None
