"""Definitions and namespaces put into a cluster, and waited for until they are served."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from claimsmith import crds as definitions
from claimsmith.errors import ControlPlaneError, Problem
from claimsmith.local import api

MANAGER = "claimsmith-local"
_DIGEST = "claimsmith.io/digest"
_PATIENCE = 600.0
_TOUCH_AFTER = 1.0
_TOUCHED = "claimsmith.io/touched"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def install_crds(kubeconfig: Path, crds: Iterable[dict[str, Any]]) -> bool:
    """Put definitions into a cluster and wait until it serves them; tells whether anything was new or changed.

    The garbage collector of a running controller manager looks for new kinds every 30 seconds: until then an
    object of such a kind that is deleted in the foreground stays. `up` starts the controllers after the definitions.
    """
    with api.Api.of(kubeconfig, manager=MANAGER) as client:
        wanted = [definitions.without_webhook(crd) for crd in definitions.merge_crds(crds)]
        changed = [crd for crd in wanted if _install(client, crd)]
        _wait_until_served(client, changed)
        wait_until_discovered(client)
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


def wait_until_discovered(client: api.Api) -> None:
    """Wait until the server's list of all kinds, which controllers and tools read, has every definition's kind.

    That list is gathered in the background. Rarely, a group is missed when the server starts, and looked at again only
    after five minutes, in which nothing of it can be deleted in the foreground. A touched definition is looked at now.
    """
    deadline = time.monotonic() + _TOUCH_AFTER

    def complete() -> bool:
        nonlocal deadline
        lacking = _undiscovered(client)
        if lacking and time.monotonic() > deadline:
            deadline = time.monotonic() + _TOUCH_AFTER
            for crd in lacking:
                _touch(client, crd)
        return not lacking

    until(complete, what="discovery of all definitions")


def _undiscovered(client: api.Api) -> list[dict[str, Any]]:
    """The definitions that are in force, but not in the list of all kinds."""
    listed = {
        (group["metadata"]["name"], version["version"], resource["resource"])
        for group in client.request("GET", "/apis", accept=_AGGREGATED)["items"]
        for version in group["versions"]
        for resource in version.get("resources") or ()
    }
    return [
        crd
        for crd in client.list(api.CRDS)[0]
        if definitions.is_established(crd)
        and any(
            (crd["spec"]["group"], version["name"], crd["spec"]["names"]["plural"]) not in listed
            for version in crd["spec"]["versions"]
            if version["served"]
        )
    ]


def _touch(client: api.Api, crd: dict[str, Any]) -> None:
    """Change a definition in a way that means nothing, so that the server looks at it."""
    crd["metadata"].setdefault("annotations", {})[_TOUCHED] = str(time.time_ns())
    # A list's items do not say what they are.
    body = {**crd, "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    try:
        client.replace(api.CRDS, body)
    except api.ApiError as error:
        if error.code not in (404, 409):
            raise


def _wait_until_served(client: api.Api, crds: Iterable[dict[str, Any]]) -> None:
    for crd in crds:
        spec = crd["spec"]
        for version in (v["name"] for v in spec["versions"] if v["served"]):
            resource = api.Resource(spec["group"], version, spec["names"]["plural"], spec["scope"] == "Namespaced")
            until(partial(_serves, client, resource), what=f"serving {resource.path()}")


def _serves(client: api.Api, resource: api.Resource) -> bool:
    try:
        found = client.get(api.CRDS, f"{resource.plural}.{resource.group}") or {}
        # The first requests for a new kind may be told to come back later.
        client.request("GET", resource.path(), limit="1")
    except api.ApiError:
        return False
    return definitions.is_established(found)
