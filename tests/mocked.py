"""Running generated components on Pulumi's mocks: what they register, with which options, and no engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime import mocks, rpc

from claimsmith.cluster import Cluster
from claimsmith.edge.deployment import Deployment
from claimsmith.plan import Plan, target_of, target_of_given
from tests import samples


@dataclass(frozen=True)
class Registered:
    """One resource as the engine is told of it."""

    type: str
    name: str
    inputs: dict[str, Any]
    retain: bool = False
    ignore_changes: tuple[str, ...] = ()
    timeouts: tuple[str, str, str] = ("", "", "")
    aliases: tuple[str, ...] = ()


@dataclass
class Recorder(mocks.Mocks):
    """Gives back as outputs what it is given as inputs."""

    resources: list[Registered] = field(default_factory=list)

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"nothing is called here: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return f"{args.name}-id", args.inputs


class Monitor(mocks.MockMonitor):
    """The mocks' engine, which also keeps the options that the mocks are not shown."""

    def RegisterResource(self, request: Any) -> Any:
        self.mocks.resources.append(
            Registered(
                request.type,
                request.name,
                rpc.deserialize_properties(request.object),
                request.retainOnDelete,
                tuple(request.ignoreChanges),
                (request.customTimeouts.create, request.customTimeouts.update, request.customTimeouts.delete),
                tuple(alias.spec.name for alias in request.aliases),
            )
        )
        return super().RegisterResource(request)


class NoCluster(Cluster):
    """A cluster in which there is nothing but connection Secrets, each with one key named after it."""

    def __init__(self) -> None:
        super().__init__("")

    def read(self, *_: Any, **__: Any) -> None:
        return None

    def secret_data(self, namespace: str, name: str) -> dict[str, str]:
        return {f"key-of-{namespace}-{name}": "dmFsdWU="}


def registered(
    plan: Plan, build: Callable[[], Any], composites: dict[str, tuple[Any, dict[str, Any]]] | None = None
) -> list[Registered]:
    """What is registered while `build` runs as the program of the plan's stack."""
    recorder = Recorder()
    mocks.set_mocks(recorder, project=plan.project, stack=plan.stack, preview=False, monitor=Monitor(recorder))
    targets = [target_of(child, claim.identity) for claim in plan.walk() for child in claim.children]
    targets += [target_of_given(resource) for resource in plan.resources]
    deployment = Deployment(
        project=plan.project,
        stack=plan.stack,
        cluster=NoCluster(),
        targets=targets,
        composites=composites,
        table=samples.table(),
        picks=plan.picks,
    )
    Deployment.begin(deployment)
    try:
        pulumi.runtime.test(build)()
    finally:
        Deployment.begin(None)
    return [r for r in recorder.resources if r.type.startswith("kubernetes:")]
