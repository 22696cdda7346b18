"""Whether a resource that exists is ready: by the checks of its template, else by its condition Ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, NotFound, Problem, at
from claimsmith.dialects.common.klass import Check
from claimsmith.golang import dates, strconv

READY = "Ready"
_WANTED: Mapping[str, tuple[type, str]] = {
    "MatchString": (str, "a string"),
    "MatchInteger": (int, "a (int64) number"),
    "MatchTrue": (bool, "a bool"),
    "MatchFalse": (bool, "a bool"),
}


def is_ready(document: Mapping[str, Any], checks: Sequence[Check]) -> bool:
    """Whether all checks hold; a check of a field of another type is an error."""
    if not checks:
        return status_of(document, READY) == "True"
    for index, check in enumerate(checks):
        with at(None, prefix=f"cannot run readiness check at index {index}: "):
            if not _holds(document, check):
                return False
    return True


def status_of(document: Mapping[str, Any], condition: str) -> str:
    """The status of a condition: Unknown if there is no such condition, empty if the conditions cannot be read.

    As in Crossplane, one condition with a field of the wrong type makes all of them unreadable.
    """
    if "status" not in document:
        return ""
    status = {} if document["status"] is None else document["status"]
    conditions = status.get("conditions", []) if isinstance(status, Mapping) else ()
    conditions = [] if conditions is None else conditions
    if not isinstance(conditions, list) or not all(map(_is_condition, conditions)):
        return ""
    for found in conditions:
        if found and found.get("type") == condition:
            return found.get("status") or ""
    return "Unknown"


def _is_condition(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, Mapping):
        return False
    texts = (value.get(key) for key in ("type", "status", "reason", "message"))
    if not all(text is None or isinstance(text, str) for text in texts):
        return False
    time, generation = value.get("lastTransitionTime"), value.get("observedGeneration")
    counted = generation is None or (isinstance(generation, int) and not isinstance(generation, bool))
    return counted and (time is None or (isinstance(time, str) and dates.parse(dates.RFC3339, time) is not None))


def _holds(document: Mapping[str, Any], check: Check) -> bool:
    if check.type == "None":
        return True
    if check.type == "MatchCondition":
        return status_of(document, check.condition[0]) == check.condition[1]
    try:
        value = fieldpath.get(document, check.field_path)
    except NotFound:
        return False
    if check.type == "NonEmpty":
        return True
    kind, expected = _WANTED[check.type]
    if kind is int and isinstance(value, float) and value.is_integer() and int(value) in strconv.INT64:
        value = int(value)
    if type(value) is not kind:
        what = f"{check.field_path}: not {expected}"
        raise ComposeError(Problem(what, path=check.field_path, fix="check a field of that type, or another check"))
    if kind is bool:
        return bool(value) is (check.type == "MatchTrue")
    return bool(value == check.expected)
