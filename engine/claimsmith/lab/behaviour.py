"""What a provider's controller does to an object: pure, so that each habit can be tested in a table.

Takes a live object, its kind's profile and what else the cloud holds; returns the object, the status or the
secret as the controller would write them. Nothing changes where there is nothing to do.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.base.labels import EXTERNAL_NAME, SECRET_TYPE
from claimsmith.lab.kinds import Profile

Object = dict[str, Any]

FINALIZER = "finalizer.managedresource.crossplane.io"
NEVER_READY = "simulated-cloud.claimsmith.io/never-ready"
READY_AFTER = "simulated-cloud.claimsmith.io/ready-after"
NO_SECRET = "simulated-cloud.claimsmith.io/no-secret"

# References that are not for the provider's controller to resolve.
_FOREIGN = (
    "provider",
    "providerConfig",
    "composite",
    "composition",
    "composed",
    "claim",
    "class",
    "resource",
    "requirement",
    "aggregate",
)
_FOREIGN_ENDINGS = ("To", "Secret", "ConfigMap")
_LOGINS = ("administratorLogin", "masterUsername", "masterAuth.username")
_EACH = "[*]"
_STEADY = ("type", "status", "reason", "message")


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to: the value to write, empty while it is unknown, and whether the object waits for it."""

    value: str = ""
    required: bool = False


Find = Callable[[str, Mapping[str, Any]], Target]
"""Resolves a reference, by the field it is for and its content."""


def desired(live: Object, profile: Profile, find: Find, schema: Mapping[str, Any]) -> tuple[Object, list[str], bool]:
    """The object as the controller would have it, the references that it must wait for, and whether any is open."""
    wanted = copy.deepcopy(live)
    meta = wanted["metadata"]
    finalizers = meta.setdefault("finalizers", [])
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    annotations = meta.setdefault("annotations", {})
    if profile.assigned:
        annotations[EXTERNAL_NAME] = profile.assigned.format(hash=fingerprint(live["metadata"]["uid"]))
    elif not annotations.get(EXTERNAL_NAME):
        annotations[EXTERNAL_NAME] = meta["name"]
    spec = wanted["spec"] = wanted.get("spec") or {}
    missing, unresolved = _resolve(spec, find)
    _late_initialise(wanted, profile, schema)
    for path, values in profile.rewrites.items():
        for holder, name in _holders(spec, path):
            value = holder.get(name)
            if isinstance(value, str) and value in values and allows(schema, f"spec.{path}", values[value]):
                holder[name] = values[value]
    return wanted, missing, unresolved


def without_finalizer(live: Object) -> Object:
    """The object when the thing outside is gone."""
    left = [name for name in live["metadata"].get("finalizers", ()) if name != FINALIZER]
    return {**live, "metadata": {**live["metadata"], "finalizers": left}}


def external_name(live: Object) -> str:
    """The name that the thing has outside; empty before it has one."""
    return str(live["metadata"].get("annotations", {}).get(EXTERNAL_NAME, ""))


def ready_after(live: Object, delay: float) -> float | None:
    """How many seconds the thing takes to become ready; nothing where it never does."""
    annotations = live["metadata"].get("annotations", {})
    if annotations.get(NEVER_READY) == "true":
        return None
    duration = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)?", str(annotations.get(READY_AFTER, "")))
    return float(duration[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}[duration[2]] if duration else delay


def is_ready(live: Object) -> bool:
    """Whether the object has the condition Ready."""
    conditions = live.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def status(live: Object, profile: Profile, *, phase: str, problem: str = "", now: str) -> Object:
    """The status in a phase: Creating, Available, Unavailable or Deleting; a problem shows in Synced."""
    changed: Object = copy.deepcopy(live.get("status") or {})
    ready = {"type": "Ready", "status": "True" if phase == "Available" else "False", "reason": phase}
    ready["message"] = f"simulated cloud: {phase.lower()}"
    synced = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "message": "simulated cloud"}
    if problem:
        synced |= {"status": "False", "reason": "ReconcileError", "message": f"simulated cloud: {problem}"}
    changed["conditions"] = _merge_conditions(changed.get("conditions") or [], [ready, synced], now)
    if phase == "Available":
        changed["atProvider"] = {**changed.get("atProvider", {}), **_observe(live, profile)}
        changed["observedGeneration"] = live["metadata"].get("generation", 1)
    return changed


def secret_target(live: Object) -> tuple[str, str] | None:
    """Namespace and name of the connection secret; nothing where none is wanted."""
    spec = live.get("spec") or {}
    ref = spec.get("writeConnectionSecretToRef") or spec.get("writeConnectionSecretsToRef")
    if not isinstance(ref, dict) or live["metadata"].get("annotations", {}).get(NO_SECRET) == "true":
        return None
    return str(ref.get("namespace") or live["metadata"].get("namespace", "")), str(ref.get("name") or "")


def connection_details(
    live: Object, profile: Profile, *, password: str, cluster: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What an application needs to connect; `cluster` is how to reach what plays a cluster's part."""
    details = {"endpoint": _names(live, profile)["endpoint"]}
    match profile.connection:
        case "database":
            details |= {"port": str(profile.port), "username": _login(live), "password": password}
        case "cache":
            details |= {"port": str(profile.port), "password": password}
        case "cluster":
            details |= {"username": _login(live), "password": password, **(cluster or {})}
    return details


def secret(live: Object, target: tuple[str, str], details: Mapping[str, str], there: Object | None) -> Object:
    """The connection secret, owned by the object; what else is in one that exists is kept."""
    meta = live["metadata"]
    body: Object = copy.deepcopy(there) if there else {"apiVersion": "v1", "kind": "Secret", "type": SECRET_TYPE}
    body.setdefault("metadata", {}).update(namespace=target[0], name=target[1])
    if meta.get("namespace", "") in ("", target[0]):
        # An owner in another namespace would be taken for gone, and the secret collected.
        owner = {"apiVersion": live["apiVersion"], "kind": live["kind"], "name": meta["name"], "uid": meta["uid"]}
        body["metadata"]["ownerReferences"] = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    data = {key: base64.b64encode(value.encode()).decode() for key, value in details.items()}
    body["data"] = {**(body.get("data") or {}), **data}
    return body


def refusal(live: Object, there: Object) -> str:
    """Why an existing secret is not this object's to write; empty where it is."""
    owners = there["metadata"].get("ownerReferences") or ()
    controller = next((owner for owner in owners if owner.get("controller")), None)
    place = f"{there['metadata']['namespace']}/{there['metadata']['name']}"
    if there.get("type") != SECRET_TYPE:
        return f"secret {place} is not a connection secret (type {there.get('type')})"
    if controller is not None and controller["uid"] != live["metadata"]["uid"]:
        return f"secret {place} belongs to {controller['kind']} {controller['name']}"
    return ""


def allows(schema: Mapping[str, Any], path: str, value: Any) -> bool:
    """Whether a definition's schema would keep a value at a path, as far as the schema says."""
    keeps = False
    for name in path.replace(_EACH, f".{_EACH}").split("."):
        keeps = keeps or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        inner = schema.get("items") if name == _EACH else schema.get("properties", {}).get(name)
        if inner is None:
            extra = schema.get("additionalProperties")
            if not isinstance(extra, Mapping):
                return keeps
            inner = extra
        schema = inner
    return "enum" not in schema or value in schema["enum"]


def fingerprint(*texts: str) -> str:
    """Twelve hex digits that identify some texts."""
    return hashlib.sha256("/".join(texts).encode()).hexdigest()[:12]


def _resolve(spec: Object, find: Find) -> tuple[list[str], bool]:
    """Fill in what references lead to; returns those that must be waited for, and whether any is open."""
    missing: list[str] = []
    unresolved = False
    for holder, name, refs, many in list(_references(spec)):
        always = any(_policy(ref, "resolve") == "Always" for ref in refs)
        if holder.get(name) and not always:
            continue
        targets = [find(name, ref) for ref in refs]
        values = [target.value for target in targets]
        if all(values):
            holder[name] = values if many else values[0]
            continue
        unresolved = True
        for ref, target in zip(refs, targets, strict=True):
            if target.required and not target.value and _policy(ref, "resolution") != "Optional":
                missing.append(f"{name} refers to {ref['name']!r}, which does not exist yet")
    return missing, unresolved


def _references(node: Any) -> Iterator[tuple[Object, str, list[Object], bool]]:
    """Each reference below a node: what holds it, the field it is for, its content, and whether it is a list."""
    if isinstance(node, list):
        for item in node:
            yield from _references(item)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        many = key.endswith("Refs")
        name = key.removesuffix("Refs" if many else "Ref")
        refs = value if many else [value]
        if key == name or not name or name in _FOREIGN or name.endswith(_FOREIGN_ENDINGS):
            yield from _references(value)
        elif isinstance(refs, list) and refs and all(isinstance(r, dict) and r.get("name") for r in refs):
            yield node, f"{name}s" if many and not name.endswith("s") else name, refs, many


def _policy(ref: Mapping[str, Any], word: str) -> Any:
    return (ref.get("policy") or {}).get(word)


def _late_initialise(wanted: Object, profile: Profile, schema: Mapping[str, Any]) -> None:
    spec = wanted["spec"]
    if "reclaimPolicy" not in spec and "deletionPolicy" not in spec and allows(schema, "spec.deletionPolicy", "Delete"):
        spec["deletionPolicy"] = "Delete"
    mark = fingerprint(wanted["metadata"]["name"])
    for path, value in profile.defaults.items():
        for holder, name in _holders(spec, path):
            if name not in holder and allows(schema, f"spec.{path}", value):
                holder[name] = value.format(hash=mark) if isinstance(value, str) else copy.deepcopy(value)


def _holders(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """Each mapping that holds a path's last field, and that field; `[*]` is for every item of a list."""
    *steps, name = path.replace(_EACH, f".{_EACH}").split(".")
    nodes: list[Any] = [spec]
    for step in steps:
        if step == _EACH:
            nodes = [item for node in nodes if isinstance(node, list) for item in node]
        else:
            nodes = [node[step] for node in nodes if isinstance(node, dict) and step in node]
    yield from ((node, name) for node in nodes if isinstance(node, dict))


def _observe(live: Object, profile: Profile) -> Object:
    names = _names(live, profile)
    observed: Object = {"id": f"simulated-cloud/{live['kind'].lower()}/{names['name']}", "state": "available"}
    observed["endpoint"] = names["endpoint"]
    for key, value in profile.atProvider.items():
        observed[key] = value.format(**names) if isinstance(value, str) else copy.deepcopy(value)
    for key, path in profile.observed.items():
        for holder, name in _holders(live.get("spec") or {}, path):
            if name in holder:
                observed[key] = copy.deepcopy(holder[name])
    return observed


def _names(live: Object, profile: Profile) -> dict[str, str]:
    name = external_name(live) or live["metadata"]["name"]
    return {
        "name": name,
        "hash": fingerprint(live["kind"], live["metadata"]["name"]),
        "endpoint": profile.endpoint.format(name=name),
    }


def _login(live: Object) -> str:
    for path in _LOGINS:
        for holder, name in _holders((live.get("spec") or {}).get("forProvider") or {}, path):
            if isinstance(holder.get(name), str):
                return str(holder[name])
    return "admin"


def _merge_conditions(old: list[Object], new: list[Object], now: str) -> list[Object]:
    """The conditions with new ones in place; an unchanged one keeps its time."""
    merged = {c["type"]: c for c in old}
    for condition in new:
        before = merged.get(condition["type"], {})
        same = all(before.get(key) == condition.get(key) for key in _STEADY)
        merged[condition["type"]] = before if same else {**condition, "lastTransitionTime": now}
    return list(merged.values())
