"""A stack's exported state as data: what was interrupted, and the state with finished creations taken in. Pure.

The engine keeps an interrupted creation as pending, and never takes it up: it cannot know whether the object was
created. Our names are deterministic, so the cluster can be asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.base.labels import OWNER, RESOURCE_NAME
from claimsmith.base.names import GroupKind, ObjectKey

State = Mapping[str, Any]
CREATING = "creating"
INTERRUPTED = "its creation was interrupted"
_PROVIDER = "pulumi:providers:kubernetes"
_KUBERNETES = "kubernetes:"


@dataclass(frozen=True, slots=True)
class Pending:
    """An operation that was begun and not ended, as far as the state shows."""

    urn: str
    operation: str
    resource: Mapping[str, Any]
    in_state: bool
    """Whether the state holds the resource: a later run created it."""

    @property
    def name(self) -> str:
        """The resource's name in the program: claim and template."""
        return self.urn.rpartition("::")[2]

    @property
    def document(self) -> Mapping[str, Any]:
        """What was to be written to the cluster."""
        inputs: Mapping[str, Any] = self.resource.get("inputs") or {}
        return inputs

    @property
    def object_id(self) -> str:
        """How the engine's Kubernetes provider names the object; empty for what is no object of a cluster."""
        if "apiVersion" not in self.document or self.native:
            return ""
        metadata = self.document.get("metadata") or {}
        name, namespace = metadata.get("name"), metadata.get("namespace")
        if not isinstance(name, str):
            return ""
        return f"{namespace}/{name}" if namespace else name

    @property
    def native(self) -> bool:
        """Whether it is a resource of another provider than that of Kubernetes: no cluster can be asked for it."""
        return not str(self.resource.get("type", "")).startswith(_KUBERNETES)

    @property
    def only_in_state(self) -> bool:
        """Whether it is in the state and nowhere else: a component, a provider, the stack itself."""
        return not self.resource.get("custom") or str(self.resource.get("type", "")).startswith("pulumi:")

    @property
    def owner(self) -> str:
        """Whose the object is to be."""
        annotations = (self.document.get("metadata") or {}).get("annotations") or {}
        return str(annotations.get(OWNER, ""))


def pending(state: State) -> list[Pending]:
    """The interrupted operations, each resource once."""
    present = {r["urn"] for r in _resources(state)}
    operations: dict[tuple[str, str], Pending] = {}
    for operation in state["deployment"].get("pending_operations") or ():
        resource, kind = operation["resource"], operation["type"]
        operations[resource["urn"], kind] = Pending(resource["urn"], kind, resource, resource["urn"] in present)
    return list(operations.values())


def taken_in(state: State, created: Mapping[str, str]) -> dict[str, Any]:
    """The state with the creations that created their object, by URN and id, as resources; none is pending any more.

    Each is marked as unfinished, so that the next run waits for it as the interrupted one did.
    """
    deployment = state["deployment"]
    resources = list(_resources(state))
    kept = []
    for operation in deployment.get("pending_operations") or ():
        resource = operation["resource"]
        urn = resource["urn"]
        if operation["type"] != CREATING:
            kept.append(operation)
        elif urn in created and all(r["urn"] != urn for r in resources):
            inputs = resource.get("inputs") or {}
            resources.append({**resource, "id": created[urn], "outputs": inputs, "initErrors": [INTERRUPTED]})
    return {**state, "deployment": {**deployment, "resources": resources, "pending_operations": kept}}


def kubeconfigs(state: State) -> dict[str, tuple[str, str | None]]:
    """The kubeconfig and context of each provider, by the reference that resources have to it.

    The state must be one that shows secrets.
    """
    providers = {}
    for resource in _resources(state):
        if resource["type"] != _PROVIDER:
            continue
        inputs = resource.get("inputs") or {}
        text = _plain(inputs.get("kubeconfig"))
        if isinstance(text, str):
            providers[f"{resource['urn']}::{resource['id']}"] = (text, inputs.get("context"))
    return providers


def objects(state: State) -> Iterator[tuple[str, GroupKind, str]]:
    """Every object of a cluster that the state holds: its provider, kind and id."""
    for resource in _resources(state):
        inputs = resource.get("inputs") or {}
        object_ = str(resource["type"]).startswith(_KUBERNETES)
        if resource.get("custom") and object_ and inputs.get("apiVersion"):
            yield str(resource.get("provider", "")), GroupKind.of(dict(inputs)), str(resource.get("id", ""))


@dataclass(frozen=True, slots=True)
class HeldObject:
    """An object that the state holds as its own."""

    provider: str
    """The name of its provider."""
    key: ObjectKey
    urn: str
    owner: str = ""
    """Whose it is, as its owner annotation says."""
    part: str = ""
    """The name that a composition gives it."""
    api_version: str = ""


def held(state: State) -> Iterator[HeldObject]:
    """Every object that the state holds as its own: not what it only reads or patches, or is about to delete."""
    for resource in _resources(state):
        inputs = resource.get("inputs") or {}
        owned = resource.get("custom") and not resource.get("external") and not resource.get("delete")
        kind = inputs.get("kind")
        object_ = str(resource["type"]).startswith(_KUBERNETES) and inputs.get("apiVersion")
        if owned and object_ and str(resource["type"]).endswith(f":{kind}"):
            namespace, _, name = str(resource.get("id", "")).rpartition("/")
            provider = f"::{resource.get('provider', '')}".split("::")[-2]
            key = ObjectKey(GroupKind.of(dict(inputs)), namespace, name)
            annotations = (inputs.get("metadata") or {}).get("annotations") or {}
            owner, part = str(annotations.get(OWNER, "")), str(annotations.get(RESOURCE_NAME, ""))
            yield HeldObject(provider, key, str(resource["urn"]), owner, part, str(inputs["apiVersion"]))


def outputs_of(state: State, urn: str) -> Mapping[str, Any] | None:
    """What a resource has in the state; None where it is not there. A failed run leaves a component without any."""
    found = next((r for r in _resources(state) if r["urn"] == urn and not r.get("delete")), None)
    return None if found is None else found.get("outputs") or {}


def _resources(state: State) -> list[Mapping[str, Any]]:
    resources: list[Mapping[str, Any]] = state["deployment"].get("resources") or []
    return resources


def _plain(value: Any) -> Any:
    """A value that the state holds as a secret, in plain text; any other as it is."""
    if isinstance(value, Mapping) and "plaintext" in value:
        return json.loads(value["plaintext"])
    return value
