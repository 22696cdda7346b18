"""The engine's Kubernetes provider: its version, its settings, what it imports. Pulumi's mocks play the engine.

The setting `upsert_existing_objects` came with pulumi-kubernetes 4.29; a class with that argument stands in for the
newer package where an older one is installed.
"""

from __future__ import annotations

import inspect
from importlib import metadata
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
from pulumi.runtime import mocks, rpc

from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.deploy.provider import ClusterProvider, creating_only, provider_version


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param("4.28.0-alpha.1772599760", "4.28.0-alpha.1772599760", id="the-plugin-that-was-found"),
        pytest.param("", metadata.version("pulumi-kubernetes"), id="that-of-the-package"),
    ],
)
def test_the_version_follows_what_was_found_else_the_package(
    monkeypatch: pytest.MonkeyPatch, found: str, want: str
) -> None:
    monkeypatch.setenv("CLAIMSMITH_PROVIDER_VERSION", found)
    assert provider_version() == want
    assert {r.version for r in registered().values() if "kubernetes" in r.type} == {want}


class NewerArguments:
    """The arguments of the provider from 4.29 on, as far as they matter here."""

    def __init__(self, kubeconfig: str | None = None, upsert_existing_objects: bool | None = None) -> None:
        self.said = (kubeconfig, upsert_existing_objects)


class OlderArguments:
    """The arguments of the provider before 4.29, as far as they matter here."""

    def __init__(self, kubeconfig: str | None = None) -> None:
        self.said = kubeconfig


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        pytest.param(NewerArguments, {"upsert_existing_objects": False}, id="4.29-and-newer"),
        pytest.param(OlderArguments, {}, id="before-4.29"),
    ],
)
def test_creating_never_merges_where_the_package_can_say_so(arguments: type[Any], want: dict[str, bool]) -> None:
    assert creating_only(arguments) == want


class Recorder(mocks.Mocks):
    """Gives back as outputs what it is given as inputs."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"nothing is called here: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return f"{args.name}-id", args.inputs


class Monitor(mocks.MockMonitor):
    """The mocks' engine, which keeps the requests."""

    def __init__(self) -> None:
        super().__init__(Recorder())
        self.requests: dict[str, Any] = {}

    def RegisterResource(self, request: Any) -> Any:
        self.requests[request.name] = request
        return super().RegisterResource(request)


def thing(name: str) -> dict[str, Any]:
    return {"apiVersion": "example.org/v2", "kind": "Thing", "metadata": {"name": name, "namespace": "shop"}}


def registered() -> dict[str, Any]:
    """What the engine is asked for by a provider that takes one object over."""
    monitor = Monitor()
    mocks.set_mocks(monitor.mocks, project="p", stack="dev", preview=False, monitor=monitor)

    def program() -> None:
        taken = {ObjectKey(GroupKind("example.org", "Thing"), "shop", "ours"): "shop/ours"}
        provider = ClusterProvider("cluster", kubeconfig=pulumi.Output.secret("k"), identity="uid", taken=taken)
        opts = pulumi.ResourceOptions(provider=provider)
        KubernetesObject("ours", thing("ours"), opts)
        KubernetesObject("new", thing("new"), opts)
        KubernetesObject("hold", thing("ours"), opts, patch=True)

    pulumi.runtime.test(program)()
    return monitor.requests


def test_what_is_taken_over_is_imported_and_the_rest_created() -> None:
    requests = registered()
    assert {name: requests[name].importId for name in ("ours", "new", "hold")} == {
        "ours": "shop/ours",
        "new": "",
        "hold": "",
    }


def test_the_provider_is_told_not_to_merge_where_its_package_knows_how() -> None:
    """With the installed package, whichever it is."""
    inputs = rpc.deserialize_properties(registered()["cluster"].object)
    knows = "upsert_existing_objects" in inspect.signature(pulumi_kubernetes.ProviderArgs).parameters
    assert inputs.get("upsertExistingObjects") == {True: "false", False: None}[knows]
    assert (inputs["clusterIdentifier"], inputs["enableSecretMutable"]) == ("uid", "true")
