"""Objects and definitions of managed kinds, as providers have them, and a wait for what a controller does to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from claimsmith.kubernetes import crds

AZURE = "database.azure.crossplane.io"


def managed(api_version: str, kind: str, **options: Any) -> dict[str, Any]:
    return crds.permissive_crd(api_version, kind, **{"namespaced": False, "managed": True, **options})


def thing(kind: str = "MySQLServer", name: str = "db", *, api_version: str = f"{AZURE}/v1beta1", **spec: Any) -> Any:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "uid": f"uid-of-{name}", "generation": 1},
        "spec": spec,
    }


def eventually(check: Callable[[], Any]) -> Any:
    """The first true result, however long it takes: a hang meets the time limit of all tests."""
    while not (found := check()):
        time.sleep(0.02)
    return found
