"""Reads workload targets, which publish clusters in a namespace, and applications, which are deployed to them.

Nothing in them may name another namespace: an application is scheduled, and its Secrets are
read, where it stands. What a target may point to, and who may publish what, `compose/workload_targets.py` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, field_validator, model_validator

from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ModelError
from claimsmith.base.model import JSON, Model
from claimsmith.base.names import ClaimKey, GroupKind, ObjectKey
from claimsmith.base.parse import parse
from claimsmith.dialects.common.claim import ObjectRef
from claimsmith.dialects.common.metadata import CheckedHead, Metadata, Name, or_empty
from claimsmith.dialects.common.selector import Selector

GROUP = "workload.crossplane.io"
API_VERSION = f"{GROUP}/v1alpha1"
TARGET = GroupKind(GROUP, "WorkloadTarget")
APPLICATION = GroupKind(GROUP, "KubernetesApplication")
APPLICATION_RESOURCE = GroupKind(GROUP, "KubernetesApplicationResource")
PROVIDER = GroupKind("kubernetes.crossplane.io", "Provider")
KINDS = frozenset({TARGET, APPLICATION, APPLICATION_RESOURCE, PROVIDER})

AUTOMATIC = "claimsmith.io/workload-target"
"""The annotation by which a claim for a cluster asks for a target of its own name."""


@dataclass(frozen=True, slots=True)
class WorkloadTarget:
    """A cluster, published for applications of one namespace."""

    key: ClaimKey
    cluster: ObjectRef
    document: Document = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    published: bool = False
    """Whether it is the platform's; else it stands among the claims, and may point to these only."""
    path: str = "clusterRef"
    """The field that names the cluster."""


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """One object of an application, as it is to be in the target cluster, and the Secrets that go with it."""

    name: str
    document: Mapping[str, Any]
    secrets: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    at: str = ""
    """Where the object is in the application's document."""


@dataclass(frozen=True, slots=True)
class Application:
    """Objects that are deployed together to one target. A resource that is authored alone is an application of one."""

    api_version: str
    key: ClaimKey
    resources: tuple[ResourceTemplate, ...]
    document: Document = field(repr=False)
    selector: Selector | None = None
    selector_path: str = "spec.targetSelector"
    target: str | None = None
    """The name of the one target that it asks for."""
    may_use: tuple[str, ...] = ("*",)
    """The names of the targets that it may be sent to; `*` stands for any text."""

    @property
    def data(self) -> dict[str, Any]:
        """The application's document."""
        return self.document.data


@dataclass(frozen=True, slots=True)
class Provider:
    """An existing cluster, known by the Secret that holds how to connect to it."""

    api_version: str
    key: ObjectKey
    secret: tuple[str, str]
    """Namespace and name."""
    secret_key: str
    """The key that holds a kubeconfig; empty for the usual keys."""
    document: Document = field(repr=False)


class _Local(Model):
    name: Name

    @model_validator(mode="before")
    @classmethod
    def _here(cls, value: Any) -> Any:
        if isinstance(value, dict) and "namespace" in value:
            raise ValueError("nothing is reached across namespaces; fix: leave out namespace: it is the application's")
        return value


class _TargetSpec(Model):
    cluster_ref: ObjectRef


class _Target(CheckedHead):
    cluster_ref: ObjectRef | None = None
    spec: _TargetSpec | None = None


class _ResourceSpec(Model):
    secrets: tuple[_Local, ...] = Field((), strict=False)
    template: dict[str, JSON]


class _Resource(Model):
    metadata: Metadata
    spec: _ResourceSpec


class _Choice(Model):
    target_selector: Selector | None = None
    cluster_selector: Selector | None = None
    target_ref: _Local | None = None

    @model_validator(mode="after")
    def _one(self) -> _Choice:
        if self.target_selector is not None and self.cluster_selector is not None:
            raise ValueError("clusterSelector is the older name of targetSelector; fix: keep targetSelector only")
        return self


class _ApplicationSpec(_Choice):
    resource_selector: Selector | None = None
    resource_templates: tuple[_Resource, ...] = Field(strict=False)


class _Application(CheckedHead):
    spec: _ApplicationSpec

    _empty = field_validator("metadata", "spec", mode="before")(or_empty)


class _AloneSpec(_Choice, _ResourceSpec):
    pass


class _Alone(CheckedHead):
    spec: _AloneSpec


class _SecretKey(Model):
    namespace: Name
    name: Name
    key: str = ""


class _ProviderSpec(Model):
    credentials_secret_ref: _SecretKey


class _Provider(CheckedHead):
    spec: _ProviderSpec


def read_target(document: Document, *, published: bool) -> WorkloadTarget:
    """The target that a document describes; `clusterRef` is in its spec or beside it."""
    raw = parse(_Target, document)
    references = [r for r in (raw.cluster_ref, raw.spec.cluster_ref if raw.spec else None) if r]
    if len(references) != 1:
        what = "the target names its cluster twice" if references else "the target names no cluster"
        fix = "write one clusterRef with apiVersion, kind and name"
        raise ModelError(document.problem(what, "clusterRef", fix))
    return WorkloadTarget(
        key=ClaimKey(TARGET, raw.metadata.namespace or "default", raw.metadata.name),
        cluster=references[0],
        document=document,
        labels=raw.metadata.labels,
        annotations=raw.metadata.annotations,
        published=published,
        path="clusterRef" if raw.cluster_ref else "spec.clusterRef",
    )


def read_application(document: Document) -> Application:
    """The application that a document describes, or a single resource of one."""
    if GroupKind.of(document.data) == APPLICATION_RESOURCE:
        alone = parse(_Alone, document)
        single = _Resource(metadata=alone.metadata, spec=alone.spec)
        return _application(document, alone.metadata, alone.spec, [(single, "spec.template")])
    raw = parse(_Application, document)
    if not raw.spec.resource_templates:
        fix = "add a resource template, or remove the application"
        raise ModelError(document.problem("the application has no resources", "spec.resourceTemplates", fix))
    paths = [f"spec.resourceTemplates[{i}].spec.template" for i in range(len(raw.spec.resource_templates))]
    return _application(document, raw.metadata, raw.spec, list(zip(raw.spec.resource_templates, paths, strict=True)))


def read_provider(document: Document) -> Provider:
    """The existing cluster that a document describes."""
    raw = parse(_Provider, document)
    secret = raw.spec.credentials_secret_ref
    if raw.metadata.namespace:
        path = "metadata.namespace"
        raise ModelError(document.problem(f"{PROVIDER} is at cluster scope and has no namespace", path, "remove it"))
    key = ObjectKey(PROVIDER, "", raw.metadata.name)
    return Provider(raw.api_version, key, (secret.namespace, secret.name), secret.key, document)


def _application(
    document: Document, metadata: Metadata, choice: _Choice, resources: list[tuple[_Resource, str]]
) -> Application:
    kind = GroupKind.of(document.data)
    key = ClaimKey(kind, metadata.namespace or "default", metadata.name)
    problems = Collector()
    seen: dict[str, str] = {}
    for resource, at in resources:
        with problems.catch():
            _refuse_elsewhere(resource, at, key, document)
            _refuse_unnamed(resource.spec.template, at, document)
        other = seen.setdefault(resource.metadata.name, at)
        if other != at:
            what = f"two resource templates are named {resource.metadata.name!r}"
            problems.add(document.problem(what, at, "rename one of them"))
    problems.raise_as(ModelError)
    older = choice.cluster_selector is not None
    return Application(
        api_version=str(document.data["apiVersion"]),
        key=key,
        resources=tuple(
            ResourceTemplate(
                r.metadata.name,
                r.spec.template,
                tuple(dict.fromkeys(s.name for s in r.spec.secrets)),
                r.metadata.labels,
                r.metadata.annotations,
                at,
            )
            for r, at in resources
        ),
        document=document,
        selector=choice.cluster_selector if older else choice.target_selector,
        selector_path="spec.clusterSelector" if older else "spec.targetSelector",
        target=choice.target_ref.name if choice.target_ref else None,
    )


def _refuse_elsewhere(resource: _Resource, at: str, key: ClaimKey, document: Document) -> None:
    namespace = resource.metadata.namespace
    if namespace and namespace != key.namespace:
        what = f"{key}: the resource {resource.metadata.name!r} cannot be in the namespace {namespace!r}"
        fix = "leave it out: an application's resources are in its own namespace; the template's is the target's"
        raise ModelError(document.problem(what, at.removesuffix("spec.template") + "metadata.namespace", fix))


def _leads_elsewhere(name: Any) -> bool:
    """Whether a name is more than one part of an address in the API server: Kubernetes takes no such name."""
    return isinstance(name, str) and (name in (".", "..") or any(c in name for c in "/%"))


def _refuse_unnamed(template: Mapping[str, Any], at: str, document: Document) -> None:
    metadata = template.get("metadata")
    named = isinstance(metadata, dict) and isinstance(metadata.get("name"), str) and metadata["name"]
    for key, sound in (
        ("apiVersion", isinstance(template.get("apiVersion"), str)),
        ("kind", isinstance(template.get("kind"), str)),
        ("metadata.name", named),
    ):
        if not sound:
            fix = f"add {key}: objects are deployed to the target under the names that are written"
            raise ModelError(document.problem(f"the template has no {key}", f"{at}.{key}", fix))
    for key in ("name", "namespace"):
        if _leads_elsewhere(template["metadata"].get(key)):
            path = f"{at}.metadata.{key}"
            what = f"the template's {key} would lead to another object: it is part of the object's address"
            raise ModelError(document.problem(what, path, "leave out '/' and '%', '.' and '..' alone"))
    if str(template["kind"]).endswith("List") and "items" in template:
        fix = "write each of its items as a resource template"
        raise ModelError(document.problem("a template is one object, not a list", at, fix))
