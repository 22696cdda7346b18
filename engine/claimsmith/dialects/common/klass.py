"""The class of every dialect: templates with patches, for one kind of claim.

Each dialect reads its own YAML into a `Class`; every later step handles only classes. A patch reads fields on one side,
combines and transforms them, and writes one field on another side.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem, Source
from claimsmith.base.labels import PROTECT
from claimsmith.base.merge import MergePolicy
from claimsmith.base.names import ClassKey, GroupKind, is_native, kebab
from claimsmith.base.transform import Transform
from claimsmith.base.values import Interpolation, walk
from claimsmith.dialects.common.dialect import Dialect


class Side(StrEnum):
    """Where a patch reads or writes."""

    claim = "claim"
    resource = "resource"
    environment = "environment"


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
    fill: bool = False
    """Whether it only fills fields that the base leaves open; a value of the base wins."""
    wildcards: bool = True
    """Whether `[*]` in the target means every element; else it is a key like any other."""
    at: str = ""
    """Where the patch is in the class's document."""

    @property
    def type(self) -> str:
        """Its type, as Crossplane's compositions write it."""
        inward = self.target is Side.resource
        side = "Composite" if (self.origin if inward else self.target) is Side.claim else "Environment"
        word = f"{'From' if inward else 'To'}{side}"
        return f"Combine{word}" if self.combine is not None else f"{word}FieldPath"


@dataclass(frozen=True, slots=True)
class Detail:
    """One connection detail that a child offers: a key of its Secret, and the name that it gets in the parent's."""

    name: str
    key: str
    field_path: str | None = None
    """The field of the child that it is read from, instead of a key of the Secret."""
    value: str | None = None
    """A fixed text, whatever the child has."""
    from_resource: str | None = None
    """The sibling that it is read from, instead of the template under which it is listed."""
    config: str | None = None
    """The setting of the stack that it is read from, like `postgresql:host`."""

    def plain(self) -> list[str | None]:
        """The detail as a class's fingerprint has it."""
        others = [self.field_path, self.value]
        native = [self.from_resource, self.config]
        return [
            self.name,
            self.key,
            *(others if any(o is not None for o in (*others, *native)) else []),
            *(native if any(o is not None for o in native) else []),
        ]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold of a child, once it exists, for it to be ready."""

    type: str
    field_path: str = ""
    expected: str | int | None = None
    condition: tuple[str, str] = ("", "")
    """Type and status of a condition."""


@dataclass(frozen=True, slots=True)
class SecretDestination:
    """Where a step writes the connection details of a composite that has no Secret of its own."""

    name: str = ""
    namespace: str = ""
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True, slots=True)
class Opaque:
    """A text that a template engine renders to a document: its fields are known only for a claim."""

    engine: str
    text: str


@dataclass(frozen=True, slots=True)
class Loop:
    """`forEach`: one child for each element of a list of the claim, identified by the element's key."""

    each: str
    """The name by which the template's patches read an element."""
    path: str
    """The list's field of the claim."""
    key: str = ""
    """The field of an element that names its child; empty where the element itself is that name."""

    def path_of(self, index: int | str, read: str) -> str:
        """A field that a patch reads, as a field of the claim; a field of an element is one of that at an index."""
        path = fieldpath.parse(read)
        if path[:1] != (self.each,):
            return read
        return fieldpath.to_text((*fieldpath.parse(self.path), index, *path[1:]))


@dataclass(frozen=True, slots=True)
class KnownAs:
    """A name and a type that the state may hold the object of a template under."""

    name: str
    """The name of the template that it was."""
    type: str = ""
    """The apiVersion that it had, or the type of a native resource; empty where that is as it is now."""


@dataclass(frozen=True, slots=True)
class Template:
    """One child of a class: its base and how the claim's fields change it."""

    name: str
    base: Mapping[str, Any]
    patches: tuple[Patch, ...] = ()
    previous_name: str | None = None
    known_as: tuple[KnownAs, ...] = ()
    """What the state may hold it as beside that. Only the engine reads it, so it is no part of the digest."""
    at: str = ""
    """Where the template is in the class's document."""
    details: tuple[Detail, ...] | None = None
    """The connection details that count; None means every key of the child's Secret."""
    class_ref: Mapping[str, Any] | None = None
    """The child's own class, where that is not the claim's."""
    managed: bool = True
    """Whether a provider's controller reports it Ready: then it is waited for."""
    composite: bool = False
    """Whether it is of a defined kind, and so composed in turn."""
    document: Document | None = field(default=None, repr=False, compare=False)
    """The document that contains the template, if that is not the class's."""
    loop: Loop | None = None
    """The list of the claim whose elements each get a child; None for one child."""
    when: str = ""
    """The condition under which there is a child: a field of the claim that is set, or a CEL expression."""
    element: tuple[str, str] | None = None
    """The name of the looped template that it was unrolled from, and the key of its element."""
    opaque: Opaque | None = None
    """The template text of the document, instead of base and patches."""
    spec_at: str = ""
    """Where the base's spec is in that document."""
    based: bool = True
    """Whether it has a base; without one, it patches the resource of an earlier step under its name."""
    existing_id: str = ""
    """The id of the existing native resource that is read, in the place of one that is created."""
    checks: tuple[Check, ...] = ()
    """What must hold for the child to be ready; nothing means that its condition Ready is True."""
    native: bool = field(init=False, repr=False, compare=False)
    """Whether it creates a resource of a Pulumi provider, and no Kubernetes object."""
    group_kind: GroupKind = field(init=False, repr=False, compare=False)
    """Group and kind of what the template creates."""
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Results derived from it once, for all claims."""

    def __post_init__(self) -> None:
        # Asked for every child of every claim: worked out once.
        object.__setattr__(self, "native", is_native(self.base))
        object.__setattr__(self, "group_kind", GroupKind.of(self.base))

    @classmethod
    def of_spec(cls, api_version: str, kind: str) -> Template:
        """The template of a composite that has the spec of its claim."""
        copy = Patch(reads=("spec",), to="spec", at="spec")
        return cls(kebab(kind), {"apiVersion": api_version, "kind": kind}, (copy,), at="spec")

    @property
    def named_after(self) -> str:
        """What the child's generated name is derived from: a template that was renamed keeps its resource."""
        return self.previous_name or self.name

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and all that it may have had."""
        others = (self.previous_name, *(k.name for k in self.known_as))
        return tuple(dict.fromkeys([self.name, *(name for name in others if name)]))

    def place_of(self, path: str) -> str:
        """Where a field of the base, or the base itself, is in the document."""
        outside = self.spec_at.removesuffix(".spec")
        if not path:
            return outside
        return f"{self.spec_at}{path.removeprefix('spec')}" if path.startswith("spec") else f"{outside}.{path}"

    @property
    def is_interpolated(self) -> bool:
        """Whether its base names fields of siblings."""
        if "interpolated" not in self.memo:
            self.memo["interpolated"] = any(isinstance(leaf, Interpolation) for _, leaf in walk(dict(self.base)))
        return bool(self.memo["interpolated"])

    @property
    def is_wired(self) -> bool:
        """Whether it has parts that only classes with native resources have: values of siblings, of the stack."""
        return self.native or any(d.from_resource or d.config for d in self.details or ())

    @property
    def api_version(self) -> str:
        """The apiVersion of what the template creates; a native resource has none."""
        return str(self.base.get("apiVersion", ""))

    @property
    def kind(self) -> str:
        """The kind of what the template creates."""
        return self.group_kind.kind


@dataclass(frozen=True, slots=True)
class Credential:
    """Credentials that a step passes to its function: the name for the function, and the Secret."""

    name: str
    secret: tuple[str, str]
    """Namespace and name."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a pipeline: a function by its name, and its input."""

    name: str
    function: str
    input: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The input of the function, as it is written."""
    environment: tuple[Patch, ...] = ()
    """Patches between composite and environment, which come before all templates."""
    templates: tuple[Template, ...] = ()
    secret: SecretDestination = SecretDestination()
    at: str = ""
    """Where the function's input is in the class's document."""
    credentials: tuple[Credential, ...] = ()
    required: tuple[Mapping[str, Any], ...] = ()
    """The resources that the step itself requires for its function, each with its `requirementName`."""
    required_schemas: tuple[Mapping[str, Any], ...] = ()
    declared: bool = False
    """Whether the project declares its function, which wins over a built-in one of that name."""


@dataclass(frozen=True, slots=True)
class Class:
    """How claims of one kind are provisioned."""

    api_version: str
    key: ClassKey
    serves: GroupKind
    templates: tuple[Template, ...]
    dialect: Dialect
    document: Document = field(repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    contract: tuple[str, ...] = ()
    """The connection details that every composition of the kind delivers; empty where there is no such promise."""
    secret_namespace: str | None = None
    """Where the composite's own connection Secret goes; None where it has none."""
    service_account: tuple[str, str] | None = None
    """Namespace and name of the account that creates the children; None for the stack's own."""
    namespaced: bool | None = None
    """Whether children must be in the claim's namespace (True), at cluster scope (False), or either (None)."""
    claim_api_version: str = ""
    """The apiVersion under which the class names its claims."""
    shared: bool = False
    """Whether the class may serve other kinds of claim too."""
    makes: str = ""
    """The one kind that it composes, where its own kind names it: `RedisClass` composes `Redis`."""
    retain: bool = False
    """Whether the composite itself, not its members, outlives its claim."""
    static: Mapping[str, Any] | None = None
    """The object that is there already, for a claim that names one instead of a class."""
    steps: tuple[Step, ...] = ()
    """The steps of Crossplane compositions, in order; their templates are those of the class."""
    revision: int = 0
    """The number of a composition's revision; 0 for what is no revision."""
    connection_keys: tuple[str, ...] = ()
    """The connection details that reach the composite's Secret; empty means all."""
    secret: SecretDestination | None = None
    """Where the details of a composite go that has no Secret of its own; None for one that has."""
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Results derived from it once, for all claims."""

    @property
    def name(self) -> str:
        """The class's name."""
        return self.key.name

    @property
    def generated(self) -> bool:
        """Whether its claims are deployed by a generated component: not where they are for what exists already."""
        return not self.static and not any(t.existing_id for t in self.templates)

    @property
    def protect(self) -> bool:
        """Whether nothing that is composed by it may be deleted."""
        return self.annotations.get(PROTECT) == "true"

    def reference(self) -> dict[str, Any]:
        """The class as a `classRef` names it."""
        return {"apiVersion": self.api_version, "kind": self.key.group_kind.kind, "name": self.name}

    def source_of(self, template: Template) -> Source:
        """Where a template stands."""
        return (template.document or self.document).source_of(template.at)

    def located(self, problems: Iterable[Problem], template: Template, *, prefix: str) -> list[Problem]:
        """Problems with fields of a template's base, at their places in the file."""
        source = (template.document or self.document).source_of
        return [replace(p, what=prefix + p.what, where=source(template.place_of(p.path))) for p in problems]

    def digest(self) -> str:
        """A fingerprint of what the class composes: comments, order of keys and labels for selection do not count."""
        if "digest" not in self.memo:
            self.memo["digest"] = self._digest()
        return str(self.memo["digest"])

    def _digest(self) -> str:
        content = {"key": str(self.key), "serves": str(self.serves), "parent": self.dialect.bound_by}
        templates = [
            {
                "name": t.name,
                "previous": t.previous_name,
                "base": t.base,
                "patches": [_plain(p) for p in t.patches],
                **({"details": [d.plain() for d in t.details]} if t.details is not None else {}),
                **({"class": t.class_ref} if t.class_ref else {}),
                **({"managed": False} if not t.managed else {}),
                **({"composite": True} if t.composite else {}),
                **({"forEach": [t.loop.each, t.loop.path, t.loop.key]} if t.loop else {}),
                **({"when": t.when} if t.when else {}),
                **({"template": [t.opaque.engine, t.opaque.text]} if t.opaque else {}),
            }
            for t in self.templates
        ]
        extras = {
            **({"contract": self.contract} if self.contract else {}),
            **({"secretNamespace": self.secret_namespace} if self.secret_namespace else {}),
            **({"serviceAccount": self.service_account} if self.service_account else {}),
            **({"static": self.static} if self.static else {}),
            **({"retain": True} if self.retain else {}),
            **({"steps": [[s.name, s.function, s.input] for s in self.steps]} if self.steps else {}),
            **({"connectionKeys": self.connection_keys} if self.connection_keys else {}),
        }
        whole = {**content, **extras, "templates": templates}
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"), default=_interpolated)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _interpolated(value: Any) -> Any:
    """An interpolation as the fingerprint has it: distinct from every text that looks like one."""
    if not isinstance(value, Interpolation):
        raise TypeError(f"no class holds a {type(value).__name__}")
    return {"interpolation": str(value)}


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
        **({"fill": True} if patch.fill else {}),
        **({} if patch.wildcards else {"wildcards": False}),
    }
