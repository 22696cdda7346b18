"""Connection details while the engine runs: read once the children are there, secret from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pulumi

from claimsmith import connection
from claimsmith.connection import Connection, SecretPlace
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.errors import ConnectionError_, EngineError, Problem, at
from claimsmith.models.klass import Detail

GRACE_SECONDS = 5.0
"""How long an `up` waits for a Secret that a ready resource has not written yet."""


def from_field(path: str) -> Detail:
    """A connection detail that is a field of the child."""
    return Detail("", "", field_path=path)


def from_value(text: str) -> Detail:
    """A connection detail that is always the same."""
    return Detail("", "", value=text)


def united(
    deployment: Deployment,
    claim: str,
    wanted: Connection,
    sources: Sequence[tuple[SecretPlace, Any]],
    *,
    parent: pulumi.Resource,
    later_wins: bool = False,
) -> pulumi.Output[dict[str, str]]:
    """The data of the claim's Secret, as a secret Output that is known once the children are ready.

    A child's Secret is read once the child is there: from the cluster, or where the context has none, by the
    provider. A composite's details are at hand.
    """
    ready = [_ready(deployment, place, made, parent) for place, made in sources]

    async def gather(known: list[Any]) -> dict[str, str]:
        try:
            parts, live = [], []
            for (place, made), value in zip(sources, known, strict=True):
                data, told = await _details(deployment, claim, place, made, value)
                parts.append((place, data))
                live.append(told)
            with at(None, prefix=f"{claim}: "):
                data = connection.unite(parts, live, only=wanted.only, later_wins=later_wins)
            left_out = connection.left_out(parts, live, only=wanted.only)
            return await _kept(deployment, claim, wanted, data, left_out) if left_out else data
        except EngineError as error:
            return await _as_it_was(deployment, wanted, error)

    return pulumi.Output.secret(pulumi.Output.all(*ready).apply(gather))


class _ReadSecret(Managed):
    """A Secret that a child's controller writes, as the provider reads it."""

    data: pulumi.Output[dict[str, str]]


def _ready(deployment: Deployment, place: SecretPlace, made: Any, parent: pulumi.Resource) -> Any:
    """What is known once a source is there: a composite's details, that a child is made, or all that it tells."""
    if not isinstance(made, Managed):
        return [made.details or {}, made.seen if place.own else {}]
    if deployment.cluster is not None:
        return made.ready
    data: Any = {}
    if place.reads_secret:
        document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"namespace": place.namespace, "name": place.name},
        }
        opts = pulumi.ResourceOptions(
            parent=parent,
            provider=deployment.provider,
            id=made.ready.apply(lambda _: str(place)),
            additional_secret_outputs=["data"],
        )
        # A field that is not among the inputs would not be among the outputs.
        data = _ReadSecret(f"{made._name}/details", {**document, "data": None}, opts).data
    live = {"metadata": made.metadata, "spec": made.spec, "status": made.status} if place.own else None
    return pulumi.Output.all(data, live)


async def _details(
    deployment: Deployment, claim: str, place: SecretPlace, made: Any, value: Any
) -> tuple[dict[str, str], dict[str, Any] | None]:
    """The data of a source's Secret, and the live source where it tells something itself."""
    if not isinstance(made, Managed):
        return _of_composite(value)
    if deployment.cluster is None:
        return value[0] or {}, value[1]
    data = await _read(deployment, claim, place) if place.reads_secret else {}
    return data, await _told(deployment, made, place) if place.own else None


def _of_composite(known: list[Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The details of a nested composite, and the composite itself without what it was not told."""
    return known[0], {key: _present(value) for key, value in known[1].items()}


def _present(value: Any) -> Any:
    return {k: _present(v) for k, v in value.items() if v is not None} if isinstance(value, dict) else value


async def _told(deployment: Deployment, made: Managed, place: SecretPlace) -> dict[str, Any]:
    """A child as it is in the cluster now; the fields that it tells may come a moment after it is ready."""

    def whole() -> dict[str, Any] | None:
        live = deployment.live(made.document) or {}
        return None if place.missing({}, live) else live

    return await _when_there(whole) or await asyncio.to_thread(deployment.live, made.document) or {}


async def _kept(
    deployment: Deployment, claim: str, wanted: Connection, data: dict[str, str], left_out: Mapping[str, Problem]
) -> dict[str, str]:
    """The data with what the claim's Secret holds of the details that nobody offers now: no key is taken away."""
    known = deployment.cluster is not None
    present = await asyncio.to_thread(deployment.read_secret, wanted.namespace, wanted.name) if known else None
    present = present or {}
    for name, problem in left_out.items():
        what = "it stays as it was" if name in present else "it is left out"
        pulumi.log.warn(str(replace(problem, what=f"{claim}: {problem.what}: {what}")))
    return dict(sorted({**{n: present[n] for n in left_out if n in present}, **data}.items()))


async def _read(deployment: Deployment, claim: str, place: SecretPlace) -> dict[str, str]:
    what = f"{claim}: the Secret {place} of its child {place.child!r} ({place.kind}) is missing"
    fix = "let its controller write it again; until then the claim's Secret stays as it was"
    found = await _when_there(lambda: deployment.read_secret(place.namespace, place.name))
    if found is None:
        raise ConnectionError_(Problem(what, fix=fix))
    return found


async def secret_when_there(
    deployment: Deployment, namespace: str, name: str, missing: Problem, *, wait: bool
) -> dict[str, Any]:
    """A whole Secret, waited for a little while where it may still come; the run fails with `missing` without it."""
    cluster = deployment.cluster
    found = await _when_there(lambda: cluster.secret(namespace, name), wait=wait) if cluster else None
    if found is None:
        raise pulumi.RunError(str(missing))
    return found


async def _when_there(read: Callable[[], dict[str, Any] | None], *, wait: bool = True) -> dict[str, Any] | None:
    waited = 0.0
    while (found := await asyncio.to_thread(read)) is None:
        if not wait or pulumi.runtime.is_dry_run() or waited >= GRACE_SECONDS:
            return None
        await asyncio.sleep(0.5)
        waited += 0.5
    return found


async def _as_it_was(deployment: Deployment, wanted: Connection, error: EngineError) -> dict[str, str]:
    """What the claim's Secret holds now: a claim whose sources are missing keeps what it has, and gets nothing half."""
    planned = deployment.planned and deployment.cluster is not None
    present = await asyncio.to_thread(deployment.read_secret, wanted.namespace, wanted.name) if planned else None
    if present is None:
        raise pulumi.RunError("\n".join(str(p) for p in error.problems)) from error
    deployment.problems.extend(error.problems)
    return present
