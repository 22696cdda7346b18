"""Whether a resource that exists is ready: by the checks of its template, else by its condition Ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, NotFound, Problem, at
from claimsmith.dialects.common.klass import Check

READY = "Ready"
_WANTED: Mapping[str, tuple[type, str]] = {
    "MatchString": (str, "text"),
    "MatchInteger": (int, "a whole number"),
    "MatchTrue": (bool, "true or false"),
    "MatchFalse": (bool, "true or false"),
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
    """The status of a condition; Unknown where there is no such condition."""
    status = document.get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    for found in conditions if isinstance(conditions, list) else ():
        if isinstance(found, Mapping) and found.get("type") == condition:
            verdict = found.get("status")
            return verdict if isinstance(verdict, str) else "Unknown"
    return "Unknown"


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
    if kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not kind:
        what = f"{check.field_path} is not {expected}"
        raise ComposeError(Problem(what, path=check.field_path, fix="check a field of that type, or another check"))
    if kind is bool:
        return bool(value) is (check.type == "MatchTrue")
    return bool(value == check.expected)
