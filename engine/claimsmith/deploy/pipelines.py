"""Pipelines at deployment: they run with what exists in the cluster, and nothing vanishes because it was not seen.

A resource that the pipeline does not compose in this run stays, as long as others that it composes do not exist or are
not ready: a template may leave out what it has not seen the reason for. It is registered as the state has it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.compose.connections import written_secret
from claimsmith.compose.plan import Plan
from claimsmith.deploy.deployed import Held
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.crossplane.composition import GROUP, KIND
from claimsmith.dialects.crossplane.composition import read as read_composition
from claimsmith.kubernetes.client import Cluster, live_object
from claimsmith.project.checkpoint import HeldObject

VOLATILE = ("status",)
"""What of a live object is never an input."""


class LiveObjects:
    """What exists in the stack's cluster; it is asked only once a pipeline needs it."""

    def __init__(self, connect: Callable[[], Cluster]) -> None:
        self._connect = connect

    @cached_property
    def cluster(self) -> Cluster:
        """The stack's cluster."""
        return self._connect()

    def read(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The live object of a document; None where there is none."""
        return live_object(self.cluster, document)

    def details(self, document: Mapping[str, Any]) -> Mapping[str, bytes]:
        """The connection details in the Secret that an object's controller wrote."""
        place = written_secret(document)
        data = self.cluster.secret_data(*place) if place else None
        return {key: base64.b64decode(value) for key, value in (data or {}).items()}


def unseen_parts(plan: Plan, held: Held | None) -> dict[str, list[HeldObject]]:
    """The objects that stay though the pipelines of their composites do not make them now, by the composites' owners.

    Only composites whose pipelines have not seen all that they make are among them.
    """
    waiting = {c.identity.owner: {t.name for t in c.piped.templates} for c in plan.walk() if c.piped and c.piped.unseen}
    found: dict[str, list[HeldObject]] = {}
    for one in held.objects if held else ():
        if one.owner in waiting and one.part and one.part not in waiting[one.owner]:
            found.setdefault(one.owner, []).append(one)
    return found


def needs_state(plan: Plan) -> bool:
    """Whether a pipeline of the plan has not seen all that it composes, so that the state decides what stays."""
    return any(c.piped and c.piped.unseen for c in plan.walk())


def as_input(live: Mapping[str, Any]) -> dict[str, Any]:
    """A live object as an input: what only a cluster writes is left out."""
    metadata = live["metadata"]
    kept = {k: metadata[k] for k in ("name", "namespace", "labels", "annotations") if metadata.get(k)}
    return {**{k: v for k, v in live.items() if k not in VOLATILE}, "metadata": kept}


def composition_of(api_version: str, kind: str, name: str, steps: list[dict[str, Any]]) -> Class:
    """The composition that a component's steps are of."""
    data = {
        "apiVersion": f"{GROUP}/v1",
        "kind": KIND.kind,
        "metadata": {"name": name},
        "spec": {
            "compositeTypeRef": {"apiVersion": api_version, "kind": kind},
            "mode": "Pipeline",
            "pipeline": steps,
        },
    }
    klass, _ = read_composition(Document(data, f"{name} (generated component)"))
    return klass
