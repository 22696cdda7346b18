"""The engine's Kubernetes provider: which version is asked for, how it is set up, and what it takes over.

The version follows the installed Python package, as in every Pulumi program. Only where that plugin is missing and
another one is there, as on a machine that built its own, that one is asked for: nothing has to be downloaded then.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes

from claimsmith.models.objects import GroupKind, ObjectKey

OLDEST, BELOW = (4, 25, 0), (5, 0, 0)
"""The accepted versions of the provider, as `pyproject.toml` has them for its package."""
_PLUGIN = re.compile(r"resource-kubernetes-v(\d+)\.(\d+)\.(\d+)")

Taken = Mapping[ObjectKey, str]
"""Objects of a cluster that are taken over in this run, with the ids that the provider knows them by."""


@cache
def provider_version() -> str:
    """The version of the provider that this run asks for."""
    return version_to_ask_for(metadata.version("pulumi-kubernetes"), _plugin_folders())


def version_to_ask_for(package: str, folders: Iterable[str]) -> str:
    """The package's own version, unless its plugin is missing and another accepted one is installed.

    `folders` are the names in the engine's plugin folder. The engine would download a missing plugin, or fail offline.
    """
    found = [tuple(map(int, match.groups())) for folder in folders if (match := _PLUGIN.fullmatch(folder))]
    usable = [".".join(map(str, version)) for version in sorted(found) if OLDEST <= version < BELOW]
    return usable[-1] if usable and package not in usable else package


def _plugin_folders() -> list[str]:
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    plugins = home / "plugins"
    return [p.name for p in plugins.iterdir()] if plugins.is_dir() else []


class ClusterProvider(pulumi_kubernetes.Provider):
    """The provider of one cluster. It knows which objects there are taken over instead of created.

    The kubeconfig must be a secret. The cluster is known by its identity: a changed address replaces nothing.
    """

    def __init__(
        self,
        name: str,
        *,
        kubeconfig: pulumi.Output[str],
        identity: str,
        context: str | None = None,
        taken: Taken | None = None,
    ) -> None:
        super().__init__(
            name,
            kubeconfig=kubeconfig,
            context=context,
            cluster_identifier=identity,
            enable_secret_mutable=True,
            opts=pulumi.ResourceOptions(version=provider_version()),
            **creating_only(pulumi_kubernetes.ProviderArgs),
        )
        self.taken: Taken = taken or {}


def creating_only(arguments: type[Any]) -> dict[str, Any]:
    """The setting by which creating never merges into an object that is there already, where the package has it.

    Provider versions before 4.29 always merge. False is the default since then; it is set all the same because an
    environment variable (PULUMI_K8S_UPSERT_EXISTING_OBJECTS) would win over the default.
    """
    known = inspect.signature(arguments).parameters
    return {"upsert_existing_objects": False} if "upsert_existing_objects" in known else {}


def import_id(provider: pulumi.ProviderResource | None, document: Mapping[str, Any]) -> str | None:
    """The id by which the engine imports an object that is there already and taken over; None for all others."""
    taken = provider.taken if isinstance(provider, ClusterProvider) else {}
    return taken.get(key_of(document)) if taken else None


def key_of(document: Mapping[str, Any]) -> ObjectKey:
    """Which object a document describes, whatever its version."""
    metadata = document["metadata"]
    return ObjectKey(GroupKind.of(dict(document)), str(metadata.get("namespace") or ""), str(metadata["name"]))
