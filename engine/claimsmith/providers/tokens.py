"""The type tokens and URNs of components and resources, computed without the engine.

A component's type comes from the claim's kind, its name from namespace and claim; a child's type is its parents' types
and its own, joined with `$`, and its name is its parent's with the template's behind it. A native resource has its
provider's own type; its name has no slashes, for providers derive physical names from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import ModelError, Problem
from claimsmith.base.names import GroupKind, is_native, lower_first, native_parts

__all__ = ["SECRET", "Token", "child_name", "component_type", "is_native", "resource_type", "urn"]

SECRET = {"apiVersion": "v1", "kind": "Secret"}
_PLAIN_PACKAGES = ("aws-native", "azure-native", "kubernetes")
"""Packages whose tokens do not repeat the resource's name behind the module: they are not bridged."""
_TOKEN = re.compile(r"[a-z][a-z0-9-]*:([A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)*:)?[A-Z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True, order=True)
class Token:
    """The type of a native resource: its package, module (`index` where it has none) and name."""

    package: str
    module: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Token:
        """The token that a text is, short (`aws:s3:Bucket`) or full (`aws:s3/bucket:Bucket`)."""
        if not _TOKEN.fullmatch(text):
            what = f"{text!r} is not the type of a Pulumi resource"
            raise ModelError(
                Problem(what, fix="write it as package:module:Name, like aws:s3:Bucket or random:RandomPassword")
            )
        return cls(*native_parts(text))

    def __str__(self) -> str:
        return self.full

    @property
    def full(self) -> str:
        """The engine's own form, by the rule of bridged providers: `random:index/randomPassword:RandomPassword`."""
        if self.package in _PLAIN_PACKAGES:
            return f"{self.package}:{self.module}:{self.name}"
        return f"{self.package}:{self.module}/{lower_first(self.name)}:{self.name}"

    @property
    def short(self) -> str:
        """The form for people: `random:RandomPassword`, `aws:s3:Bucket`."""
        return ":".join(part for part in (self.package, self.module, self.name) if part != "index")


def component_type(kind: GroupKind) -> str:
    """The type of the component of a claim. The class is no part of it: a claim may move from class to class."""
    return f"claimsmith:{kind.group}:{kind.kind}"


def resource_type(document: Mapping[str, Any]) -> str:
    """The engine's type for a document's apiVersion and kind, or for a native resource's type."""
    if is_native(document):
        return Token.parse(str(document["type"])).full
    api_version = str(document["apiVersion"])
    module = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{module}:{document['kind']}"


def child_name(namespace: str, claim: str, template: str) -> str:
    """The engine's name of a native resource: those of namespace, claim and template, without any slash."""
    return "-".join([part for part in (namespace, claim, template) if part]).replace("/", "-")


def urn(project: str, stack: str, types: Sequence[str], name: str) -> str:
    """The URN of a resource, by the types of its parents and its own, outermost first."""
    return f"urn:pulumi:{stack}::{project}::{'$'.join(types)}::{name}"
