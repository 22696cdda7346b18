"""The engine's Kubernetes provider: which version is asked for, how it is set up, and what it takes over."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

import pulumi
import pulumi_kubernetes

from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.toolchain.parts import PROVIDER_VERSION

Taken = Mapping[ObjectKey, str]
"""Objects of a cluster that are taken over in this run, with the ids that the provider knows them by."""


def provider_version() -> str:
    """The version of the provider that this run asks for: the engine takes the plugin of exactly this version.

    `claimsmith env` names the plugin that it found. Without it, the version follows the installed Python package, as in
    every Pulumi program: an official engine installs that plugin by itself.
    """
    return os.environ.get(PROVIDER_VERSION) or _package_version()


@cache
def _package_version() -> str:
    # Reading a package's metadata parses its whole description: far too slow for every child.
    return metadata.version("pulumi-kubernetes")


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
    """The id by which the engine imports an object that already exists and is taken over; None for all others."""
    taken = provider.taken if isinstance(provider, ClusterProvider) else {}
    # A name that is known only later is nobody's yet.
    return taken.get(key_of(document)) if taken and isinstance(document["metadata"]["name"], str) else None


def key_of(document: Mapping[str, Any]) -> ObjectKey:
    """Which object a document describes, whatever its version."""
    metadata = document["metadata"]
    return ObjectKey(GroupKind.of(dict(document)), str(metadata.get("namespace") or ""), str(metadata["name"]))
