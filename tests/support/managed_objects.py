"""Objects and definitions of managed kinds, as providers have them."""

from __future__ import annotations

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
