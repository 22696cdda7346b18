"""Claims: what an application team asks for. Any kind that a class serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import ConfigDict, Discriminator, Field, Tag, field_validator
from pydantic.alias_generators import to_camel

from claimsmith.base.documents import Document
from claimsmith.base.model import Model
from claimsmith.base.names import ClaimKey, ClassKey, GroupKind
from claimsmith.base.parse import parse
from claimsmith.base.regexp import matches
from claimsmith.dialects.common.checked import TypeToken
from claimsmith.dialects.common.metadata import CheckedHead, Name, or_empty
from claimsmith.dialects.common.selector import Selector
from claimsmith.providers.tokens import Token, is_native


class ObjectRef(Model):
    """A reference to an object by apiVersion, kind and name."""

    api_version: str
    kind: str
    name: Name

    @property
    def key(self) -> ClassKey:
        """What is referenced, whatever its version."""
        return ClassKey(GroupKind.of({"apiVersion": self.api_version, "kind": self.kind}), self.name)


class NativeRef(Model):
    """A reference to an existing native resource: its type, and its id for the provider."""

    type: TypeToken
    id: str = Field(min_length=1)
    template: str | None = None
    """The template of the class whose resource it stands for, where the class has several of the type."""

    @property
    def token(self) -> Token:
        """Its type."""
        return Token.parse(self.type)

    def __str__(self) -> str:
        return f"{self.token.full} {self.id}"


def _reference_form(value: object) -> str:
    native = isinstance(value, NativeRef) or (isinstance(value, dict) and is_native(value))
    return "native" if native else "object"


ExistingRef = Annotated[
    Annotated[ObjectRef, Tag("object")] | Annotated[NativeRef, Tag("native")], Discriminator(_reference_form)
]
"""What a `resourceRef` names: an object of the cluster, or a resource of a Pulumi provider."""


class SecretRef(Model):
    """Where the claim's connection Secret goes: a name in the claim's own namespace."""

    name: Name


class _Spec(Model):
    # The rest of a claim's spec is the platform team's to define.
    model_config = ConfigDict(extra="allow", frozen=True, strict=True, alias_generator=to_camel, validate_by_name=True)

    class_ref: ObjectRef | None = None
    class_selector: Selector | None = None
    resource_ref: ExistingRef | None = None
    write_connection_secret_to_ref: SecretRef | None = None


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
    resource_ref: ObjectRef | NativeRef | None = None
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
    def object_ref(self) -> ObjectRef | None:
        """The existing object of the cluster that it binds to instead of a class."""
        return self.resource_ref if isinstance(self.resource_ref, ObjectRef) else None

    @property
    def native_ref(self) -> NativeRef | None:
        """The existing native resource that is read in the place of what its class composes."""
        return self.resource_ref if isinstance(self.resource_ref, NativeRef) else None

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
