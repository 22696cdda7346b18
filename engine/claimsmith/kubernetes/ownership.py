"""Who owns which field of a live object, as the API server keeps it: which of ours somebody else has taken over.

A controller that writes inside a list which we set takes over all of it: to the API server most lists are one value.
As long as nothing changes here, nobody notices; the next update is refused as a conflict. Pure: from our document and
the live object with its `managedFields`, to the fields that this holds for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import Problem
from claimsmith.base.labels import CONTROLLER_OWNED
from claimsmith.base.names import ChildAddress
from claimsmith.base.values import Mix, Ref, object_at

Fields = Mapping[str, Any]
"""A `fieldsV1`: `f:name` is a field, `k:{…}` an item by its keys, `i:0` one by its place, `.` the thing itself."""
FORCE_ONCE = "PULUMI_K8S_ENABLE_PATCH_FORCE=true"
PATCH_FORCE = "pulumi.com/patchForce"
FORCE = f'{PATCH_FORCE}: "true"'


@dataclass(frozen=True, slots=True)
class Taken:
    """A field that we set, and that others have changed since."""

    path: str
    managers: str
    ours: Any
    theirs: Any
    """ABSENT where there is nothing any more."""


def taken_over(
    document: Mapping[str, Any], live: Mapping[str, Any], manager: str, handed_over: Sequence[str] = ()
) -> list[Taken]:
    """The fields of our document that others own and we no longer do, and whose value differs from ours.

    `manager` is our name as a writer; what is `handed_over` is meant to be others'.
    """
    entries = object_at(live, "metadata").get("managedFields") or ()
    own = [object_at(e, "fieldsV1") for e in entries if e.get("manager") == manager]
    left = [p for text in handed_over if (p := fieldpath.parse_or_root(text))]
    taken: dict[str, Taken] = {}
    for entry in entries:
        other = str(entry.get("manager", ""))
        if other == manager:
            continue
        for path, ours, theirs in _changed(document, live, object_at(entry, "fieldsV1"), own, ()):
            if any(path[: len(p)] == p for p in left):
                continue
            text = fieldpath.to_text(path)
            before = taken[text].managers.split(", ") if text in taken else []
            taken[text] = Taken(text, ", ".join(dict.fromkeys([*before, other])), ours, theirs)
    return list(taken.values())


def is_forced(document: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether the next change of an object overwrites what others own: its annotation or this run asks for that."""
    name, _, value = FORCE_ONCE.partition("=")
    annotations = object_at(object_at(document, "metadata"), "annotations")
    return annotations.get(PATCH_FORCE) == "true" or environment.get(name) == value


def conflict(address: ChildAddress, document: Mapping[str, Any], taken: Taken) -> Problem:
    """The problem of a field that was taken over: whose it is, by whom, and the ways out."""
    child = f"its child {address.template!r} ({document['kind']} {document['metadata']['name']})"
    what = f"{address.claim}: {child}: {taken.path} was "
    what += f"changed by {taken.managers!r}, which owns it now: the next change of this child is refused as a conflict"
    fix = (
        f"leave it to them: annotate the template with {CONTROLLER_OWNED}: {_whole(taken.path)}; or take it back with "
    )
    fix += f"the next change: {FORCE_ONCE} pulumi up; or with each change: annotate the template with {FORCE}"
    return Problem(what, path=taken.path, fix=fix)


def _changed(
    ours: Any, live: Any, theirs: Fields, own: Sequence[Fields], path: fieldpath.Path
) -> Iterator[tuple[fieldpath.Path, Any, Any]]:
    """Each value that only their tree of fields has, and that is another than ours."""
    for key, below in theirs.items():
        step = _step(key, ours)
        if step is None:
            continue
        mine, here = ours[step], _at(live, key)
        inner = [tree[key] for tree in own if key in tree]
        if below and isinstance(mine, dict | list):
            yield from _changed(mine, here, below, inner, (*path, step))
        elif not inner and not _same(mine, here):
            yield (*path, step), mine, here


def _step(key: str, value: Any) -> Any:
    """The key or index under which our value has what a key of a tree of fields denotes; None where it has not."""
    kind, _, name = key.partition(":")
    if kind == "f" and isinstance(value, dict) and name in value:
        return name
    if kind == "i" and isinstance(value, list) and name.isdigit() and int(name) < len(value):
        return int(name)
    if kind == "k" and isinstance(value, list):
        wanted = json.loads(name).items()
        return next((i for i, v in enumerate(value) if isinstance(v, dict) and wanted <= v.items()), None)
    return None


def _at(live: Any, key: str) -> Any:
    step = _step(key, live)
    return ABSENT if step is None else live[step]


def _same(ours: Any, live: Any) -> bool:
    """Whether a live value equals ours, as far as ours is resolved."""
    match ours, live:
        case ((Ref() | Mix()), _):
            return True
        case None, _:
            return live is None or live is ABSENT
        case dict(), dict():
            keys = {k for k, v in ours.items() if v is not None} | live.keys()
            return all(_same(ours.get(k), live.get(k, ABSENT)) for k in keys)
        case list(), list():
            return len(ours) == len(live) and all(map(_same, ours, live))
        case _:
            return bool(ours == live)


def _whole(path: str) -> str:
    """The field to hand over: of what is inside a list, the list. Its items cannot be left out one by one."""
    steps = fieldpath.parse(path)
    first = next((i for i, step in enumerate(steps) if isinstance(step, int)), len(steps))
    return fieldpath.to_text(steps[:first])
