"""Definitions and namespaces put into a cluster, and waited for until they are served."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from claimsmith import crds as definitions
from claimsmith.errors import ControlPlaneError, Problem
from claimsmith.local import api

MANAGER = "claimsmith-local"
_DIGEST = "claimsmith.io/digest"
_PATIENCE = 60.0


def install_crds(kubeconfig: Path, crds: Iterable[dict[str, Any]]) -> bool:
    """Put definitions into a cluster and wait until it serves them; tells whether anything was new or changed.

    The garbage collector of a running controller manager looks for new kinds every 30 seconds: until then an
    object of such a kind that is deleted in the foreground stays. `up` starts the controllers after the definitions.
    """
    client = api.Api.of(kubeconfig, manager=MANAGER)
    try:
        wanted = [definitions.without_webhook(crd) for crd in definitions.merge_crds(crds)]
        changed = [crd for crd in wanted if _install(client, crd)]
        _wait_until_served(client, changed)
    finally:
        client.close()
    return bool(changed)


def ensure_namespaces(client: api.Api, names: Sequence[str]) -> None:
    """Make the namespaces that are missing."""
    for name in names:
        if client.get(api.NAMESPACES, name) is None:
            client.create(api.NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def until(done: Callable[[], bool], *, what: str, patience: float = _PATIENCE, pause: float = 0.05) -> None:
    """Wait until something is so; raise where it does not come."""
    deadline = time.monotonic() + patience
    while not done():
        if time.monotonic() > deadline:
            raise ControlPlaneError(
                Problem(
                    what=f"{what} did not come about within {patience:.0f} seconds",
                    fix="look into the logs (claimsmith local status names them), then try again",
                )
            )
        time.sleep(pause)


def _install(client: api.Api, crd: dict[str, Any]) -> bool:
    """Whether the definition had to be made or changed."""
    digest = hashlib.sha256(json.dumps(crd, sort_keys=True).encode()).hexdigest()
    meta = crd["metadata"]
    body = {
        **crd,
        "metadata": {"name": meta["name"], "annotations": {**meta.get("annotations", {}), _DIGEST: digest}},
    }
    if "labels" in meta:
        body["metadata"]["labels"] = meta["labels"]
    try:
        there = client.get(api.CRDS, meta["name"])
        if there is None:
            client.create(api.CRDS, body)
            return True
        if there["metadata"].get("annotations", {}).get(_DIGEST) == digest:
            return False
        body["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"]
        client.replace(api.CRDS, _with_stored_versions(body, there))
        return True
    except api.ApiError as error:
        raise ControlPlaneError(
            Problem(
                what=f"the definition {meta['name']!r} is refused: {error}",
                fix="correct it; where it was changed in a way that no cluster takes (its scope, say), "
                "start afresh: claimsmith local down --wipe",
            )
        ) from error


def _with_stored_versions(body: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """The new definition with the versions in which objects may be stored already: those cannot be taken away."""
    names = {v["name"] for v in body["spec"]["versions"]}
    stored = set(there.get("status", {}).get("storedVersions") or ()) - names
    kept = [{**v, "storage": False} for v in there["spec"]["versions"] if v["name"] in stored]
    return {**body, "spec": {**body["spec"], "versions": [*body["spec"]["versions"], *kept]}}


def _wait_until_served(client: api.Api, crds: Iterable[dict[str, Any]]) -> None:
    for crd in crds:
        spec = crd["spec"]
        for version in (v["name"] for v in spec["versions"] if v["served"]):
            resource = api.Resource(spec["group"], version, spec["names"]["plural"], spec["scope"] == "Namespaced")
            until(lambda r=resource: _serves(client, r), what=f"serving {resource.path()}")  # type: ignore[misc]  # loop variable bound now


def _serves(client: api.Api, resource: api.Resource) -> bool:
    try:
        found = client.get(api.CRDS, f"{resource.plural}.{resource.group}") or {}
        conditions = {c["type"]: c["status"] for c in found.get("status", {}).get("conditions") or ()}
        listed = client.request("GET", f"/apis/{resource.group}/{resource.version}").get("resources", ())
        # The first requests for a new kind may be told to come back later.
        client.request("GET", resource.path(), limit="1")
    except api.ApiError:
        return False
    return conditions.get("Established") == "True" and any(r["name"] == resource.plural for r in listed)
