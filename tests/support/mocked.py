"""Running generated components on Pulumi's mocks: what they register, with which options, and no engine."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime import mocks, rpc

from claimsmith import render
from claimsmith.base import fieldpath
from claimsmith.base.names import ChildAddress, GroupKind
from claimsmith.base.values import Ref, refs
from claimsmith.compose.candidates import candidate_of
from claimsmith.compose.plan import Plan, candidate_of_given
from claimsmith.deploy import Context
from claimsmith.kubernetes.client import Cluster
from tests.support import samples


@dataclass(frozen=True)
class Registered:
    """One resource as it is registered with the engine."""

    type: str
    name: str
    inputs: dict[str, Any]
    retain: bool = False
    ignore_changes: tuple[str, ...] = ()
    timeouts: tuple[str, str, str] = ("", "", "")
    aliases: tuple[tuple[str, str], ...] = ()
    """Name and type of each, empty where it is the same as now."""
    protect: bool = False
    more: dict[str, Any] = field(default_factory=dict)
    """The options that only native resources have, by their names in Pulumi YAML, where they are set."""


@dataclass
class Recorder(mocks.Mocks):
    """Gives back as outputs what it is given as inputs."""

    resources: list[Registered] = field(default_factory=list)
    outputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What native resources have beside their inputs, by their names: as the offline render shows it."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"nothing is called here: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        found = self.outputs.get(args.name, {})
        return found.get("id", f"{args.name}-id"), {**args.inputs, **found}


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
                tuple((alias.spec.name, alias.spec.type) for alias in request.aliases),
                request.protect,
                {name: value for name, value in _more(request).items() if value},
            )
        )
        return super().RegisterResource(request)


def _more(request: Any) -> dict[str, Any]:
    provider = request.provider.rpartition("::")[0].rpartition("::")[2]
    return {
        "additionalSecretOutputs": list(request.additionalSecretOutputs),
        "deleteBeforeReplace": request.deleteBeforeReplace,
        "dependsOn": sorted(urn.rpartition("::")[2] for urn in request.dependencies),
        "import": request.importId,
        "parent": request.parent,
        "provider": provider,
        "replaceOnChanges": list(request.replaceOnChanges),
    }


class MockedCluster(Cluster):
    """A cluster that has every connection Secret, and those children of a plan that others are made of.

    A Secret has the keys that are asked of it, else one named after it. A field that others are made of says where it
    comes from, as the offline render does.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__("")
        self._keys: dict[tuple[str, str], list[str]] = {}
        self._live: dict[tuple[str, str], dict[str, Any]] = {}
        children = {c.address: c for claim in plan.walk() for c in claim.children if not c.template.native}
        references = [ref for claim in plan.walk() for c in claim.children for ref in refs(c.document)]
        references += [ref for claim in plan.walk() for ref in refs(dict(claim.status))]
        references += [
            Ref(a, fieldpath.parse(d.field_path))
            for a, c in children.items()
            for d in c.template.details or ()
            if d.field_path
        ]
        for ref in references:
            if (child := children.get(ref.resource)) and ref.known is None:
                live = self._live.setdefault((child.template.kind, child.name), render.plain(child.document))
                fieldpath.put(live, ref.path, f"<{ref}>")
        for claim in plan.walk():
            for place in (p for secret in claim.connections for p in secret.sources):
                self._keys[place.namespace, place.name] = [key for _, key in place.keys or ()]

    def read(self, _: str, kind: str, name: str, *__: Any) -> dict[str, Any] | None:
        return self._live.get((kind, name))

    def secret_data(self, namespace: str, name: str) -> dict[str, str]:
        keys = self._keys.get((namespace, name)) or [f"key-of-{namespace}-{name}"]
        return dict.fromkeys(keys, "dmFsdWU=")


def native_outputs(plan: Plan) -> dict[str, dict[str, Any]]:
    """What the native children of a plan give to others: each value says where it comes from, as the render does."""
    children = {c.address: c for claim in plan.walk() for c in claim.children}
    found: dict[str, dict[str, Any]] = {}
    read = [ref for c in children.values() for ref in refs(c.document)]
    read += [ref for claim in plan.walk() for ref in refs(dict(claim.status))]
    read += [
        Ref(ChildAddress(address.claim, d.from_resource or address.template), fieldpath.parse(d.field_path))
        for address, c in children.items()
        for d in c.template.details or ()
        if d.field_path
    ]
    for ref in read:
        child = children.get(ref.resource)
        if child and child.template.native and ref.path[:1] == ("outputs",):
            fieldpath.put(found.setdefault(child.name, {}), ref.path[1:], f"<{ref}>")
    return found


def native_providers(plan: Plan) -> dict[str, pulumi.ProviderResource]:
    """The providers that the native children of a plan name, registered."""
    named = {
        str(name): GroupKind.of(c.document).group.partition(":")[0]
        for claim in plan.walk()
        for c in claim.children
        if c.template.native and (name := c.document.get("options", {}).get("provider"))
    }
    return {name: pulumi.ProviderResource(package, name) for name, package in named.items()}


def settings_of(plan: Plan) -> dict[str, str]:
    """The settings that connection details of a plan are read from."""
    templates = (t for claim in plan.walk() for t in claim.binding.klass.templates)
    return {d.config: f"<{d.config}>" for t in templates for d in t.details or () if d.config}


def registered(
    plan: Plan,
    build: Callable[[Context], Any],
    composites: dict[str, tuple[Any, dict[str, Any]]] | None = None,
    *,
    of: str = "kubernetes:",
) -> list[Registered]:
    """What is registered while `build` runs as the program of the plan's stack, of types that begin so."""
    recorder = Recorder(outputs=native_outputs(plan))
    mocks.set_mocks(recorder, project=plan.project, stack=plan.stack, preview=False, monitor=Monitor(recorder))
    targets = [candidate_of(child, claim.identity) for claim in plan.walk() for child in claim.children]
    targets += [candidate_of_given(resource) for resource in plan.resources]
    context = Context(
        project=plan.project,
        stack=plan.stack,
        cluster=MockedCluster(plan),
        targets=targets,
        composites=composites or {},
        table=samples.table(),
        picks=plan.picks,
        environments=plan.environments,
        piped={c.address: c.piped for c in plan.walk() if c.piped},
    )

    def program() -> Any:
        context.providers = native_providers(plan)
        return build(context)

    pulumi.runtime.config.set_all_config(settings_of(plan))
    try:
        pulumi.runtime.test(program)()
    except Exception:
        # What is left of a failed run complains when it is collected, and that must not be in the middle of a parse.
        gc.collect()
        raise
    return [r for r in recorder.resources if r.type.startswith(of)]
