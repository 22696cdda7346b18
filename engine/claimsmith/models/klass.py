"""What every dialect's class comes down to: templates with patches, for one kind of claim.

The dialects (one module each) read their own YAML and make a `Class`; from there on there is
one way through. A patch reads fields on one side, combines and transforms them, and writes one
field on another side.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from claimsmith.documents import Document
from claimsmith.merge import MergePolicy
from claimsmith.models.objects import ClassKey, GroupKind
from claimsmith.models.transform import Transform


class Side(StrEnum):
    """Where a patch reads or writes."""

    claim = "claim"
    resource = "resource"
    environment = "environment"


class Parent(StrEnum):
    """What a child is bound to, and so which reference it carries."""

    claim = "claimRef"
    composite = "compositeRef"


@dataclass(frozen=True, slots=True)
class Patch:
    """Reads one or more fields, combines and transforms them, writes the result to one field."""

    reads: tuple[str, ...]
    to: str
    transforms: tuple[Transform, ...] = ()
    required: bool = False
    policy: MergePolicy = MergePolicy.Replace
    combine: str | None = None
    origin: Side = Side.claim
    target: Side = Side.resource
    at: str = ""
    """Where the patch stands in the class's document."""


@dataclass(frozen=True, slots=True)
class Template:
    """One child of a class: its base and how the claim's fields change it."""

    name: str
    base: Mapping[str, Any]
    patches: tuple[Patch, ...] = ()
    previous_name: str | None = None
    at: str = ""
    """Where the template stands in the class's document."""

    @property
    def api_version(self) -> str:
        """The apiVersion of what the template makes."""
        return str(self.base["apiVersion"])

    @property
    def kind(self) -> str:
        """The kind of what the template makes."""
        return str(self.base["kind"])

    @property
    def group_kind(self) -> GroupKind:
        """Group and kind of what the template makes."""
        return GroupKind.of(dict(self.base))


@dataclass(frozen=True, slots=True)
class Class:
    """How claims of one kind are provisioned."""

    api_version: str
    key: ClassKey
    serves: GroupKind
    templates: tuple[Template, ...]
    parent: Parent
    document: Document = field(repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The class's name."""
        return self.key.name

    def reference(self) -> dict[str, Any]:
        """The class as a `classRef` names it."""
        return {"apiVersion": self.api_version, "kind": self.key.group_kind.kind, "name": self.name}

    def digest(self) -> str:
        """A fingerprint of what the class makes: comments, order of keys and labels for selection do not count."""
        content = {"key": str(self.key), "serves": str(self.serves), "parent": self.parent.value}
        templates = [
            {
                "name": t.name,
                "previous": t.previous_name,
                "base": t.base,
                "patches": [_plain(p) for p in t.patches],
            }
            for t in self.templates
        ]
        text = json.dumps({**content, "templates": templates}, sort_keys=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _plain(patch: Patch) -> dict[str, Any]:
    return {
        "reads": patch.reads,
        "to": patch.to,
        "transforms": [t.model_dump(mode="json", exclude_none=True, warnings=False) for t in patch.transforms],
        "required": patch.required,
        "policy": patch.policy.value,
        "combine": patch.combine,
        "origin": patch.origin.value,
        "target": patch.target.value,
    }
