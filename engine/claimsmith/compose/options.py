"""How a child is deployed, derived from its document: kept or deleted, waited for, left to its controller."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, FieldPathError, Problem, at
from claimsmith.base.labels import CONTROLLER_OWNED, EXTERNAL_NAME, OWNER, PREVIOUS_API_VERSION, PROTECT, TIMEOUT
from claimsmith.base.values import copied, has
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.metadata import is_api_version

DEFAULT_TIMEOUT = "30m"
RECLAIM = {"Delete": False, "Retain": True, "Release": True}
EXTERNAL_NAME_PATH = f'metadata.annotations["{EXTERNAL_NAME}"]'
_DURATION = re.compile(r"([1-9][0-9]*(s|m|h))+")


WAIT_FOR = "pulumi.com/waitFor"
FIELD_MANAGER = "pulumi.com/patchFieldManager"
"""Two annotations that the engine's Kubernetes provider reads."""


@dataclass(frozen=True, slots=True)
class Options:
    """The engine's options of a child."""

    retain: bool = False
    wait_for: tuple[str, ...] = ("condition=Ready",)
    ignore_changes: tuple[str, ...] = ()
    timeout: str = DEFAULT_TIMEOUT
    protect: bool = False
    previous_api_version: str = ""
    """The apiVersion under which the engine may know it from before."""


def field_manager(project: str, stack: str) -> str:
    """Who writes our fields in the cluster: always the same, so that a retained object can be taken up again."""
    return f"claimsmith-{project}-{stack}"


def engine_annotations(options: Options, identity: Identity) -> dict[str, str]:
    """The annotations of a child for the engine, and for every other writer."""
    owned = {OWNER: identity.owner, FIELD_MANAGER: field_manager(identity.project, identity.stack)}
    return owned | waiting(options)


def waiting(options: Options) -> dict[str, str]:
    """The annotation that names what the engine waits for; none where it waits for nothing."""
    waits = list(options.wait_for)
    return {WAIT_FOR: waits[0] if len(waits) == 1 else json.dumps(waits)} if waits else {}


def options_of(
    document: Mapping[str, Any],
    *,
    managed: bool = True,
    identity: Identity | None = None,
    wait_for: Sequence[str] | None = None,
) -> Options:
    """The options that a resource's document, and the claim that it is for, ask for.

    A managed resource is waited for until it is Ready, unless its template names what to `wait_for`. The policy of an
    instance rules all that it composes.
    """
    own = _own_options(document) if managed or wait_for else Options(wait_for=())
    own = own if wait_for is None else replace(own, wait_for=tuple(wait_for))
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    stated = annotations.get(PROTECT) == "true"
    previous = annotations.get(PREVIOUS_API_VERSION, "")
    retain = own.retain
    if identity and identity.reclaim_policy is not None:
        retain = RECLAIM.get(identity.reclaim_policy, False)
    protect = stated or bool(identity and identity.protect)
    return replace(own, retain=retain, protect=protect, previous_api_version=_api_version(previous))


def _api_version(given: Any) -> str:
    if not isinstance(given, str) or (given and not is_api_version(given)):
        path = f"metadata.annotations[{PREVIOUS_API_VERSION}]"
        what = f"{given!r} is not an apiVersion"
        raise ComposeError(Problem(what, path=path, fix="write it like database.example.org/v1alpha1"))
    return given


def _own_options(document: Mapping[str, Any]) -> Options:
    spec = document.get("spec") or {}
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    policy = spec.get("reclaimPolicy", "Delete")
    if not isinstance(policy, str) or policy not in RECLAIM:
        what = f"the reclaimPolicy {policy!r} is unknown"
        raise ComposeError(Problem(what, path="spec.reclaimPolicy", fix=f"use one of: {', '.join(RECLAIM)}"))
    timeout = annotations.get(TIMEOUT, DEFAULT_TIMEOUT)
    if not isinstance(timeout, str) or not _DURATION.fullmatch(timeout):
        what = f"the timeout {timeout!r} is no duration"
        raise ComposeError(
            Problem(what, path=f"metadata.annotations[{TIMEOUT}]", fix="write it like 90s, 20m or 1h30m")
        )
    owned = [p.strip() for p in str(annotations.get(CONTROLLER_OWNED, "")).split(",") if p.strip()]
    for path in owned:
        with at(None, f"metadata.annotations[{CONTROLLER_OWNED}]"):
            _check(path)
    return Options(retain=RECLAIM[policy], ignore_changes=(EXTERNAL_NAME_PATH, *owned), timeout=timeout)


def _check(path: str) -> None:
    try:
        fieldpath.parse(path)
    except FieldPathError as error:
        raise ComposeError(*error.problems) from error


def with_live_values(document: Mapping[str, Any], live: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The document with what the live object holds at each of the paths."""
    changed: dict[str, Any] = copied(dict(document))
    for path in paths:
        if has(live, path):
            fieldpath.put(changed, path, fieldpath.get(live, path))
    return changed
