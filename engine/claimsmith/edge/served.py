"""What a component serves: the kind of claim, the class that it was generated from, and who the claim is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith import binding
from claimsmith.compose.identity import EXTERNAL_NAME, PROTECT, Identity
from claimsmith.edge.deployment import Deployment
from claimsmith.models.klass import Parent
from claimsmith.models.objects import ClaimKey, ClassKey, GroupKind, group_of
from claimsmith.urns import component_type


@dataclass(frozen=True, slots=True)
class ClaimKind:
    """The kind of claim that a component serves."""

    api_version: str
    kind: str

    @property
    def group_kind(self) -> GroupKind:
        """The kind, whatever its version."""
        return GroupKind(group_of(self.api_version), self.kind)

    @property
    def type_token(self) -> str:
        """The component's Pulumi type. The class is no part of it: a claim may move from class to class."""
        return component_type(self.group_kind)


@dataclass(frozen=True, slots=True)
class ClassRef:
    """The class that a component was generated from, and how it binds what it makes."""

    api_version: str
    kind: str
    name: str
    bound_by: str = "compositeRef"
    namespaced: bool | None = None
    secret_namespace: str | None = None
    service_account: tuple[str, str] | None = None
    protect: bool = False
    retain: bool = False
    connection_keys: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What a claim's spec gets where it says nothing, as a schema."""

    def reference(self) -> dict[str, str]:
        """The class as a `classRef` names it."""
        return {"apiVersion": self.api_version, "kind": self.kind, "name": self.name}

    def __str__(self) -> str:
        """The class as `bindings.yaml` and the stack's outputs name it."""
        return str(ClassKey(GroupKind(group_of(self.api_version), self.kind), self.name))


def identity_of(claim: ClaimKind, klass: ClassRef, args: Any, deployment: Deployment) -> Identity:
    """The claim's identity: from its metadata, with a uid derived where no binding gives one."""
    metadata = args["metadata"]
    parent = Parent(klass.bound_by)
    clustered = parent in (Parent.instance, Parent.xr) and not klass.namespaced
    namespace = "" if clustered else metadata.get("namespace", "default")
    name = metadata["name"]
    annotations = metadata.get("annotations") or {}
    infrastructure = args["spec"].get("infrastructure") or {}
    key = ClaimKey(claim.group_kind, namespace, name)
    uid = metadata.get("uid") or binding.derive_uid(key, project=deployment.project, stack=deployment.stack)
    return Identity(
        project=deployment.project,
        stack=deployment.owner_stack(uid),
        api_version=args.get("apiVersion", claim.api_version),
        kind=claim.kind,
        namespace=namespace,
        name=name,
        uid=uid,
        external_name=annotations.get(EXTERNAL_NAME),
        class_ref=klass.reference(),
        parent=parent,
        namespaced=klass.namespaced,
        secret_namespace=klass.secret_namespace,
        reclaim_policy=infrastructure.get("reclaimPolicy") if clustered and parent is Parent.instance else None,
        protect=klass.protect or annotations.get(PROTECT) == "true",
        given_labels=metadata.get("labels") or {},
        given_annotations=annotations,
    )


def composition_of(spec: Mapping[str, Any]) -> str | None:
    """The composition that a composite asks for by name, wherever its dialect writes that."""
    for holder in (spec, *(spec.get(word) for word in ("crossplane", "infrastructure", "application"))):
        named = holder.get("compositionRef") if isinstance(holder, Mapping) else None
        if isinstance(named, Mapping) and isinstance(named.get("name"), str):
            return str(named["name"])
    return None
