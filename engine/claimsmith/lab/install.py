"""Installs definitions and namespaces in a cluster, and waits until they are served."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from claimsmith.base.errors import ControlPlaneError, Problem
from claimsmith.kubernetes import crds as definitions
from claimsmith.kubernetes.client import CRDS, NAMESPACES, ApiError, Cluster, Resource

MANAGER = "claimsmith-local"
_DIGEST = "claimsmith.io/digest"
_PATIENCE = 600.0
_TOUCH_AFTER = 1.0
_TOUCHED = "claimsmith.io/touched"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def install_crds(kubeconfig: Path, crds: Iterable[dict[str, Any]]) -> bool:
    """Install definitions and wait until the cluster serves them; returns whether any was new or changed.

    The garbage collector of a running controller manager looks for new kinds every 30 seconds: until then an
    object of such a kind that is deleted in the foreground stays. `up` starts the controllers after the definitions.
    """
    with Cluster.of_file(kubeconfig, manager=MANAGER) as cluster:
        wanted = [definitions.without_webhook(crd) for crd in definitions.merge_crds(crds)]
        changed = [crd for crd in wanted if _install(cluster, crd)]
        _wait_until_served(cluster, changed)
        wait_until_discovered(cluster)
    return bool(changed)


def ensure_namespaces(cluster: Cluster, names: Sequence[str]) -> None:
    """Create the namespaces that are missing."""
    for name in names:
        if cluster.get(NAMESPACES, name) is None:
            cluster.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def until(done: Callable[[], bool], *, what: str, patience: float = _PATIENCE) -> None:
    """Wait until a condition holds; raise where it never does."""
    deadline = time.monotonic() + patience
    while not done():
        if time.monotonic() > deadline:
            fix = "read the logs (claimsmith local status lists them), then try again"
            raise ControlPlaneError(Problem(f"{what} did not happen within {patience:.0f} seconds", fix=fix))
        time.sleep(0.05)


def _install(cluster: Cluster, crd: dict[str, Any]) -> bool:
    """Whether the definition had to be created or changed."""
    digest = hashlib.sha256(json.dumps(crd, sort_keys=True).encode()).hexdigest()
    meta = crd["metadata"]
    body = {
        **crd,
        "metadata": {"name": meta["name"], "annotations": {**meta.get("annotations", {}), _DIGEST: digest}},
    }
    if "labels" in meta:
        body["metadata"]["labels"] = meta["labels"]
    try:
        there = cluster.get(CRDS, meta["name"])
        if there is None:
            cluster.create(CRDS, body)
            return True
        if there["metadata"].get("annotations", {}).get(_DIGEST) == digest:
            return False
        body["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"]
        cluster.replace(CRDS, _with_stored_versions(body, there))
        return True
    except ApiError as error:
        what = f"the definition {meta['name']!r} is refused: {error.message}"
        again = "start over: claimsmith local down --wipe"
        fix = f"correct it; where its change is one that no cluster accepts (such as its scope), {again}"
        raise ControlPlaneError(Problem(what, fix=fix)) from error


def _with_stored_versions(body: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """The new definition with the versions in which objects may be stored already: those cannot be removed."""
    names = {v["name"] for v in body["spec"]["versions"]}
    stored = set(there.get("status", {}).get("storedVersions") or ()) - names
    kept = [{**v, "storage": False} for v in there["spec"]["versions"] if v["name"] in stored]
    return {**body, "spec": {**body["spec"], "versions": [*body["spec"]["versions"], *kept]}}


def wait_until_discovered(cluster: Cluster) -> None:
    """Wait until the server's list of all kinds, which controllers and tools read, has every definition's kind.

    That list is gathered in the background. Rarely, a group is missed when the server starts, and looked at again only
    after five minutes, in which nothing of it can be deleted in the foreground. A touched definition is looked at now.
    """
    deadline = time.monotonic() + _TOUCH_AFTER

    def complete() -> bool:
        nonlocal deadline
        lacking = _undiscovered(cluster)
        if lacking and time.monotonic() > deadline:
            deadline = time.monotonic() + _TOUCH_AFTER
            for crd in lacking:
                _touch(cluster, crd)
        return not lacking

    until(complete, what="discovery of all definitions")


def _undiscovered(cluster: Cluster) -> list[dict[str, Any]]:
    """The definitions that are in force, but not in the list of all kinds."""
    listed = {
        (group["metadata"]["name"], version["version"], resource["resource"])
        for group in cluster.request("GET", "/apis", accept=_AGGREGATED)["items"]
        for version in group["versions"]
        for resource in version.get("resources") or ()
    }
    return [
        crd
        for crd in cluster.snapshot(CRDS)[0]
        if definitions.is_established(crd)
        and any(
            (crd["spec"]["group"], version["name"], crd["spec"]["names"]["plural"]) not in listed
            for version in crd["spec"]["versions"]
            if version["served"]
        )
    ]


def _touch(cluster: Cluster, crd: dict[str, Any]) -> None:
    """Change an annotation of a definition, so that the server discovers it again."""
    crd["metadata"].setdefault("annotations", {})[_TOUCHED] = str(time.time_ns())
    # A list's items do not say what they are.
    body = {**crd, "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    try:
        cluster.replace(CRDS, body)
    except ApiError as error:
        if error.code not in (404, 409):
            raise


def _wait_until_served(cluster: Cluster, crds: Iterable[dict[str, Any]]) -> None:
    for crd in crds:
        spec = crd["spec"]
        for version in (v["name"] for v in spec["versions"] if v["served"]):
            resource = Resource(f"{spec['group']}/{version}", spec["names"]["plural"])
            until(partial(_serves, cluster, crd, resource), what=f"serving {resource.path()}")


def _serves(cluster: Cluster, crd: dict[str, Any], resource: Resource) -> bool:
    try:
        installed = cluster.get(CRDS, crd["metadata"]["name"]) or {}
        # The API server may refuse the first requests for a new kind, and answer them a moment later.
        cluster.request("GET", resource.path(), limit="1")
    except ApiError:
        return False
    return definitions.is_established(installed)
