"""Claims: what an application team asks for. Any kind that a class serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from claimsmith.base.documents import Document
from claimsmith.base.model import Model
from claimsmith.base.names import ClaimKey, ClassKey, GroupKind
from claimsmith.base.parse import parse
from claimsmith.base.regexp import matches
from claimsmith.dialects.common.metadata import CheckedHead, Name, or_empty
from claimsmith.dialects.common.selector import Selector
from claimsmith.providers.tokens import is_native


class ObjectRef(Model):
    """A reference to an object by apiVersion, kind and name."""

    api_version: str
    kind: str
    name: Name

    @property
    def key(self) -> ClassKey:
        """What is referenced, whatever its version."""
        return ClassKey(GroupKind.of({"apiVersion": self.api_version, "kind": self.kind}), self.name)


class SecretRef(Model):
    """Where the claim's connection Secret goes: a name in the claim's own namespace."""

    name: Name


class _Spec(Model):
    # The rest of a claim's spec is the platform team's to define.
    model_config = ConfigDict(extra="allow", frozen=True, strict=True, alias_generator=to_camel, validate_by_name=True)

    class_ref: ObjectRef | None = None
    class_selector: Selector | None = None
    resource_ref: ObjectRef | None = None
    write_connection_secret_to_ref: SecretRef | None = None

    @field_validator("resource_ref", mode="before")
    @classmethod
    def _of_the_cluster(cls, value: object) -> object:
        if isinstance(value, dict) and is_native(value):
            fix = "take it over with the annotation claimsmith.io/import: <template>=<id>, and a class that composes it"
            raise ValueError(f"resourceRef binds to objects of a cluster, not to native resources; fix: {fix}")
        return value


class _Claim(CheckedHead):
    spec: _Spec = Field(default_factory=_Spec)

    _empty = field_validator("metadata", "spec", mode="before")(or_empty)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a stack."""

    api_version: str
    key: ClaimKey
    document: Document = field(repr=False)
    class_ref: ObjectRef | None = None
    class_selector: Selector | None = None
    resource_ref: ObjectRef | None = None
    secret_name: str | None = None
    secret_namespace: str = ""
    """Where the connection Secret goes; a claim's is in its own namespace."""
    word: str = "spec.class"
    """What the fields that choose a class begin with: `spec.class` gives classRef and classSelector."""
    force: ClassKey | None = None
    """The class that its kind is always served by, whatever it asks for."""
    default: ClassKey | None = None
    """The class that serves it where it asks for none."""
    resource_path: str = "spec.resourceRef"
    """Where it names a resource that is there already."""
    given_uid: str | None = None
    """The uid in its file: names that are derived from it stay the same."""
    any_class: bool = False
    """Whether any class of its kind may serve it where it asks for none."""
    revision: str | None = None
    """The revision of its class that it names."""
    revision_selector: Selector | None = None
    """Which revisions of its class may serve it, of which the latest does."""
    may_use: tuple[str, ...] = ("*",)
    """The names of the classes that may serve it; `*` stands for any text."""

    def may_be_served_by(self, name: str) -> bool:
        """Whether the platform lets a class of this name serve it."""
        return matches(name, self.may_use)

    @property
    def data(self) -> dict[str, Any]:
        """The claim's document."""
        return self.document.data


def read(document: Document) -> Claim:
    """The claim that the document describes; one without a namespace is in `default`."""
    raw = parse(_Claim, document)
    spec = raw.spec
    key = ClaimKey(GroupKind.of(document.data), raw.metadata.namespace or "default", raw.metadata.name)
    return Claim(
        api_version=raw.api_version,
        key=key,
        document=document,
        class_ref=spec.class_ref,
        class_selector=spec.class_selector,
        resource_ref=spec.resource_ref,
        secret_name=spec.write_connection_secret_to_ref.name if spec.write_connection_secret_to_ref else None,
        secret_namespace=key.namespace,
    )
