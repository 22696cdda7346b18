"""What the SDKs of the providers declare of tags and physical names, for the native children of a plan."""

from __future__ import annotations

from collections.abc import Callable

from claimsmith.base.errors import ProviderError
from claimsmith.base.names import kebab, lower_first
from claimsmith.compose.native_children import NativeTypes, TagProperty
from claimsmith.providers.index import Index
from claimsmith.providers.resource_types import AnyType, MapOf, ResourceType, Scalar
from claimsmith.providers.tokens import Token

Sdks = Callable[[str], Index]
"""The index of a provider's SDK, by the name of its package."""
_NAMES = {"aws:s3/bucket:Bucket": "bucket", "aws:rds/instance:Instance": "identifier"}
"""The property that is the physical name, where the rule of its provider does not tell."""


def native_types(sdks: Sdks) -> NativeTypes:
    """What is known of types by their SDKs; of those that are not installed, nothing."""

    def tags(token: str) -> TagProperty:
        kind = _type(sdks, token)
        return tag_property(kind) if kind else ""

    def name(token: str) -> str:
        kind = _type(sdks, token)
        return name_property(kind) if kind else ""

    return NativeTypes(tags, name)


def tag_property(kind: ResourceType) -> TagProperty:
    """The property of a type that takes tags as a map of texts; empty where it has none."""
    found: tuple[TagProperty, ...] = ("tags", "labels")
    return next((name for name in found if name in kind.inputs and _is_map(kind, name)), "")


def name_property(kind: ResourceType) -> str:
    """The property of a type that is its physical name; empty where that is not certain.

    It is `name` with most providers; azure-native has `accountName` for a StorageAccount.
    """
    own = Token.parse(kind.token).name
    last = kebab(own).rpartition("-")[2]
    usual = ("name", f"{lower_first(own)}Name", f"{last}Name")
    known = _NAMES.get(kind.token)
    return known or next((n for n in usual if n in kind.inputs and kind.inputs[n].type == Scalar("string")), "")


def _is_map(kind: ResourceType, name: str) -> bool:
    declared = kind.inputs[name].type
    return isinstance(declared, MapOf) and declared.item in (Scalar("string"), AnyType())


def _type(sdks: Sdks, token: str) -> ResourceType | None:
    try:
        return sdks(Token.parse(token).package).resource(token)
    except ProviderError:
        return None
