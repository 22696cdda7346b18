"""A defined kind, whatever it was defined by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem
from claimsmith.base.names import ClassKey, GroupKind

GROUP = "apiextensions.crossplane.io"
API_VERSION = f"{GROUP}/v1alpha1"
APPLICATION = GroupKind(GROUP, "ApplicationDefinition")
INFRASTRUCTURE = GroupKind(GROUP, "InfrastructureDefinition")
DEFINITIONS = frozenset({APPLICATION, INFRASTRUCTURE})
PUBLICATION = GroupKind(GROUP, "InfrastructurePublication")
COMPOSITION = GroupKind(GROUP, "Composition")

REQUIREMENT = "Requirement"
"""What the kind of a published kind's namespaced twin ends in."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One defined kind: its names, its fields, and its compositions."""

    kind_of: Literal["application", "infrastructure"]
    api_version: str
    """Group and version of the defined kind."""
    group_kind: GroupKind
    plural: str
    singular: str
    list_kind: str
    schema: Mapping[str, Any]
    """The schema of the spec, without the object that is injected."""
    document: Document = field(repr=False, compare=False)
    connection_details: tuple[str, ...] = ()
    service_account: tuple[str, str] | None = None
    """Namespace and name."""
    default_composition: ClassKey | None = None
    force_composition: ClassKey | None = None
    published: bool = False
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Mapping[str, Any], ...] = ()
    """Further columns for `kubectl get`."""
    warnings: tuple[Problem, ...] = field(default=(), repr=False, compare=False)

    @property
    def name(self) -> str:
        """The definition's name, `<plural>.<group>`."""
        return f"{self.plural}.{self.group_kind.group}"

    @property
    def version(self) -> str:
        """The one version of the kind."""
        return self.api_version.rpartition("/")[2]

    @property
    def namespaced(self) -> bool:
        """Whether instances are in a namespace; requirements always are."""
        return self.kind_of == "application"

    @property
    def injected(self) -> str:
        """The field of the spec that the definition adds."""
        return self.kind_of

    @property
    def requirement(self) -> GroupKind | None:
        """The kind by which application teams ask for this one, where it is published."""
        return self.requirement_kind if self.published else None

    @property
    def requirement_kind(self) -> GroupKind:
        """The kind that publishing creates, or would create."""
        return GroupKind(self.group_kind.group, f"{self.group_kind.kind}{REQUIREMENT}")


@dataclass(frozen=True, slots=True)
class Publication:
    """The wish to offer a defined infrastructure kind to application teams."""

    name: str
    definition: str
    """The name of the definition that is published."""
    document: Document = field(repr=False, compare=False)
