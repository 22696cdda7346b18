"""Connection details while the engine runs: read once the children are ready, secret from then on."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import pulumi

from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import ConnectionError_, EngineError, Problem, at
from claimsmith.compose import connections
from claimsmith.compose.connections import Connection, SecretSource
from claimsmith.deploy.context import Context
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.dialects.common.klass import Detail
from claimsmith.patching.details import encoded_value

if TYPE_CHECKING:
    from claimsmith.deploy.component import Composite

GRACE_SECONDS = 5.0
"""How long an `up` waits for a Secret that a ready resource has not written yet."""


def from_field(path: str) -> Detail:
    """A connection detail that is a field of the child."""
    return Detail("", "", field_path=path)


def from_value(text: str) -> Detail:
    """A connection detail with a fixed value."""
    return Detail("", "", value=text)


Source: TypeAlias = (
    "KubernetesObject | Composite | tuple[KubernetesObject | Composite | None, Mapping[str, str | Detail]] | None"
)
"""A child or an inner composite, alone or with the details that count: `(child, {name: key})`. None has no details."""


def source_of(source: Source) -> tuple[SecretSource, Any] | None:
    """Where a source's connection details are, and the source itself; None if it has none."""
    child, keys = source if isinstance(source, tuple) else (source, None)
    details = None if keys is None else [_detail(name, key) for name, key in keys.items()]
    if child is None:
        return None
    if isinstance(child, KubernetesObject):
        place = connections.secret_source(child.template, child.document, details)
    else:
        secret = _secret_of(child)
        composed = child.claim.dialect.lenient_details
        place = connections.composite_source(child.template, child.CLAIM.kind, secret, details, composed=composed)
    return (place, child) if place else None


def _secret_of(composite: Composite) -> tuple[str, str] | None:
    """Namespace and name of a composite's Secret; empty ones if it has details and no cluster to write them to."""
    if composite._secrets:
        return composite._secrets[-1].namespace, composite._secrets[-1].name
    return None if composite.details is None else ("", "")


def _detail(name: str, key: str | Detail) -> Detail:
    return replace(key, name=name) if isinstance(key, Detail) else Detail(name, key)


def united(
    context: Context,
    claim: str,
    wanted: Connection | None,
    sources: Sequence[tuple[SecretSource, Any]],
    values: Mapping[str, pulumi.Output[str]] | None = None,
    *,
    parent: pulumi.Resource,
    later_wins: bool = False,
) -> pulumi.Output[dict[str, str]]:
    """The data of the claim's Secret, as a secret Output that is known once the children are ready.

    A child's Secret is read once the child is ready: from the cluster, or by the provider if the context has none. The
    details of an inner composite are outputs already, and so are `values`.
    """
    ready = [_ready(context, place, child, parent) for place, child in sources]
    only = wanted.only if wanted else ()

    async def gather(resolved: list[Any]) -> dict[str, str]:
        *known, own = resolved
        try:
            parts: list[tuple[SecretSource, dict[str, str]]] = [(_OWN, own)]
            live: list[dict[str, Any] | None] = [None]
            for (place, child), value in zip(sources, known, strict=True):
                data, observed = await _details(context, claim, place, child, value)
                parts.append((place, data))
                live.append(observed)
            with at(None, prefix=f"{claim}: "):
                data = connections.unite(parts, live, only=only, later_wins=later_wins)
            left_out = connections.left_out(parts, live, only=only)
            return await _kept(context, claim, wanted, data, left_out) if left_out else data
        except EngineError as error:
            return await _unchanged(context, wanted, error)

    return secret_once_known(pulumi.Output.all(*ready, dict(values or {})).apply(gather))


def secret_once_known(data: pulumi.Input[Any]) -> pulumi.Output[Any]:
    """The data as a secret. Data that is unknown in an update is none: a child has failed, and there is none to hide.

    SDK 3.272 sends an unknown secret as a secret. Engines (3.259) refuse that in an update as malformed, and end the
    whole run, where they leave out what depends on a failed resource.
    """
    if pulumi.runtime.is_dry_run():
        return pulumi.Output.secret(data)
    return pulumi.Output.unsecret(pulumi.Output.from_input(data)).apply(lambda known: pulumi.Output.secret(known))


def stored(data: pulumi.Output[Any]) -> pulumi.Output[Any]:
    """The data of a Secret as the API server stores it: none where it is empty, which would differ for ever."""
    return pulumi.Output.unsecret(data).apply(lambda known: pulumi.Output.secret(known) if known else None)


_OWN = SecretSource("the class", "", "", "")
"""The source of the details that a class names by their values."""


def published(claim: str, details: Mapping[str, Any], *, only: Sequence[str] = ()) -> dict[str, pulumi.Output[str]]:
    """Details by their values, encoded as a Secret's data, each a secret of its own: a preview knows the others."""

    def encoded(name: str, value: Any) -> str:
        if value is None or value is ABSENT:
            pulumi.log.warn(f"{claim}: nothing is known for its connection detail {name!r}: it is empty")
            value = ""
        return base64.b64encode(encoded_value(value)).decode()

    return {
        name: secret_once_known(value).apply(partial(encoded, name))
        for name, value in sorted(details.items())
        if not only or name in only
    }


class _ReadSecret(KubernetesObject):
    """A Secret that a child's controller writes, as the provider reads it."""

    data: pulumi.Output[dict[str, str]]


def _ready(context: Context, place: SecretSource, child: Any, parent: pulumi.Resource) -> Any:
    """An input that is known once a source is ready: a composite's details, a child's id, or its Secret and fields."""
    if not isinstance(child, KubernetesObject):
        return [child.details or {}, child.document if place.own else {}]
    if context.cluster is not None:
        return child.ready
    data: Any = {}
    if place.reads_secret:
        document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"namespace": place.namespace, "name": place.name},
        }
        opts = pulumi.ResourceOptions(
            parent=parent,
            provider=context.provider,
            id=child.ready.apply(lambda _: str(place)),
            additional_secret_outputs=["data"],
        )
        # The SDK resolves only those outputs that are among the inputs.
        data = _ReadSecret(f"{child._name}/details", {**document, "data": None}, opts).data
    live = {"metadata": child.metadata, "spec": child.spec, "status": child.status} if place.own else None
    return pulumi.Output.all(data, live)


async def _details(
    context: Context, claim: str, place: SecretSource, child: Any, value: Any
) -> tuple[dict[str, str], dict[str, Any] | None]:
    """The data of a source's Secret, and the live source if details are fields of it."""
    if not isinstance(child, KubernetesObject):
        return _of_composite(value)
    if context.cluster is None:
        return value[0] or {}, value[1]
    data = await _read(context, claim, place) if place.reads_secret else {}
    return data, await _observed(context, child, place) if place.own else None


def _of_composite(known: list[Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The details of an inner composite, and the composite itself without the fields that are not set."""
    return known[0], {key: _present(value) for key, value in known[1].items()}


def _present(value: Any) -> Any:
    return {k: _present(v) for k, v in value.items() if v is not None} if isinstance(value, dict) else value


async def _observed(context: Context, child: KubernetesObject, place: SecretSource) -> dict[str, Any]:
    """A child as it is in the cluster now. Its controller may write some fields a moment after it is ready."""

    def whole() -> dict[str, Any] | None:
        live = context.live(child.document) or {}
        return None if place.missing({}, live) else live

    return await _when_there(whole) or await asyncio.to_thread(context.live, child.document) or {}


async def _kept(
    context: Context, claim: str, wanted: Connection | None, data: dict[str, str], left_out: Mapping[str, Problem]
) -> dict[str, str]:
    """The data, and of the claim's Secret the details that no source has now: no key is removed."""
    present = await _present_data(context, wanted) or {}
    for name, problem in left_out.items():
        what = "it stays as it was" if name in present else "it is left out"
        pulumi.log.warn(str(replace(problem, what=f"{claim}: {problem.what}: {what}")))
    return dict(sorted({**{n: present[n] for n in left_out if n in present}, **data}.items()))


async def _read(context: Context, claim: str, place: SecretSource) -> dict[str, str]:
    what = f"{claim}: the Secret {place} of its child {place.child!r} ({place.kind}) is missing"
    fix = "let its controller write it again; until then the claim's Secret stays as it was"
    found = await _when_there(lambda: context.read_secret(place.namespace, place.name))
    if found is None:
        raise ConnectionError_(Problem(what, fix=fix))
    return found


async def secret_when_there(
    context: Context, namespace: str, name: str, missing: Problem, *, wait: bool
) -> dict[str, Any]:
    """A whole Secret, awaited for a moment if it may still be written; without it the run fails with `missing`."""
    cluster = context.cluster
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


async def _present_data(context: Context, wanted: Connection | None) -> dict[str, Any] | None:
    """The data of the claim's Secret as it is in the cluster now."""
    if context.cluster is None or wanted is None:
        return None
    return await asyncio.to_thread(context.read_secret, wanted.namespace, wanted.name)


async def _unchanged(context: Context, wanted: Connection | None, error: EngineError) -> dict[str, str]:
    """The data of the claim's Secret as it is now: a claim whose sources are missing keeps it unchanged."""
    present = await _present_data(context, wanted) if context.planned else None
    if present is None:
        raise pulumi.RunError(str(error)) from error
    context.problems.extend(error.problems)
    return present
