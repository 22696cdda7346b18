"""References among children: a selector picks its target, the target's name becomes the reference.

`xxxSelector` selects a resource; it is replaced by `xxxRef` with the name of the one
that it picks. A reference that is set wins over its selector, a value over both. What a field may
point to is known from a table, never guessed. References must not run in a circle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, ReferenceError_, nearest
from claimsmith.base.names import GroupKind

SAME_PARENT = ("matchComposite", "matchControllerRef", "matchAggregate")
"""Three words of three formats for one meaning: composed by the same parent."""

NO_MATCH = "reference-never-matches"
"""The check that finds selectors which nothing fits."""
LATER = "reference-created-later"
"""The check that finds selectors whose resource is created after the one that selects it."""
_EARLIER = "put its template before the one that refers to it"
_SUFFIX = "Selector"

Table = Mapping[GroupKind, Mapping[str, tuple[GroupKind, ...]]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A resource that a selector may pick."""

    address: str
    group_kind: GroupKind
    labels: Mapping[str, str]
    parent: str
    name: str = ""
    """The name it will have in the cluster, where that is known."""
    template: str = ""
    """Its template: a choice among siblings must not depend on the claim, whose component is generated once for all."""
    class_name: str = ""
    """The name of its own class, where it has one."""
    namespace: str = ""
    """Its namespace, empty at cluster scope."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A selector in a child's document: which field it is for, what it may select, and how."""

    path: fieldpath.Path
    """Where the selector stands."""
    name: str
    """The field it is for, without `Selector`."""
    targets: tuple[GroupKind, ...]
    """The kinds that it may select."""
    same_parent: bool
    labels: Mapping[str, str] = field(default_factory=dict)
    class_name: str = ""
    """The class of the candidate, where the selector names one."""
    ref: Any = None
    """The reference that wins over the selector, if it turns out to be there."""
    unless: Any = None
    """The value that wins over both, if it turns out to be there."""

    @property
    def ref_path(self) -> fieldpath.Path:
        """Where the reference goes that replaces the selector."""
        return (*self.path[:-1], f"{self.name}Ref")

    def __str__(self) -> str:
        parts = [" or ".join(str(kind) for kind in self.targets)]
        parts += ["of the same parent"] if self.same_parent else []
        parts += [f"created from the class {self.class_name}"] if self.class_name else []
        parts += [f"with {', '.join(f'{k}={v}' for k, v in self.labels.items())}"] if self.labels else []
        return " ".join(parts)


def selections(
    document: Mapping[str, Any],
    table: Table,
    maybe: Callable[[Any], bool] = lambda _: False,
    *,
    only_known: bool = False,
) -> list[Selection]:
    """The selectors of a child that are in force, in file order.

    `maybe` is true of a value that may turn out to be absent: then the selector counts as far as it does. With
    `only_known`, a selector is left alone whose targets the table does not know; else it is refused.
    """
    group_kind = GroupKind.of(dict(document))
    found: list[Selection] = []
    _find(document.get("spec"), ("spec",), group_kind, table, found, maybe, only_known=only_known)
    return found


def fitting(selection: Selection, *, own: Candidate, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The resources that a selection may mean, never the one that selects."""
    return [
        t
        for t in candidates
        if t.address != own.address
        and t.group_kind in selection.targets
        and (not selection.same_parent or t.parent == own.parent)
        and (not selection.class_name or t.class_name == selection.class_name)
        and all(t.labels.get(k) == v for k, v in selection.labels.items())
    ]


def pick(selection: Selection, *, own: Candidate, candidates: Iterable[Candidate], recorded: str = "") -> Candidate:
    """The one resource that a selection means: the recorded one as long as it fits, else a stable choice.

    A choice among siblings depends on the class alone, and is not recorded.
    """
    found = fitting(selection, own=own, candidates=candidates)
    if not found:
        path = fieldpath.to_text(selection.path)
        fix = f"add such a resource, or name an existing one in {fieldpath.to_text(selection.ref_path)}"
        raise ReferenceError_(Problem(f"the selector matches no {selection}", path=path, fix=fix, rule=NO_MATCH))
    if selection.same_parent:
        return min(found, key=lambda t: _stable(own.template, t.template))
    kept = next((t for t in found if t.address == recorded), None)
    return kept or min(found, key=lambda t: _stable(own.address, t.address))


def created_later(address: str, path: str = "") -> Problem:
    """What is wrong with a reference to a resource that is created after the one that refers to it."""
    return Problem(f"{address} is referred to before it is created", None, path, _EARLIER, LATER)


def replace_selectors(
    document: Mapping[str, Any],
    table: Table,
    ref_of: Callable[[Selection], Any],
    maybe: Callable[[Any], bool] = lambda _: False,
    *,
    siblings: Mapping[str, Any] | None = None,
    fits: Callable[[Selection], bool] = lambda _: True,
    also: Callable[[Selection, Any], Any] = lambda _, __: None,
) -> dict[str, Any]:
    """The document with `xxxRef` in the place of each `xxxSelector` that is in force, and none of the others.

    `ref_of` gives the value of `xxxRef`, and `also` what stays of the selector. Where `siblings` are labels
    that all children of the same parent have, a selector is left to its controller, by these labels, unless its targets
    are known and it `fits`.
    """
    fields = _fields(document, table)
    way = _way(document.get("spec"), ("spec",), fields)
    if not way:
        return dict(document)
    found = selections(document, table, maybe, only_known=siblings is not None)
    chosen = {s.path: s for s in found if fits(s)}

    def said_of(selection: Selection, value: Any) -> dict[str, Any]:
        kept = also(selection, value)
        return {f"{selection.name}Ref": ref_of(selection)} | (
            {} if kept is None else {f"{selection.name}{_SUFFIX}": kept}
        )

    replaced = _replaced(document.get("spec"), ("spec",), way, chosen, said_of, fields, siblings)
    return dict(document) | {"spec": replaced}


def _find(
    value: Any,
    path: fieldpath.Path,
    owner: GroupKind,
    table: Table,
    found: list[Selection],
    maybe: Callable[[Any], bool],
    *,
    only_known: bool,
) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _find(item, (*path, index), owner, table, found, maybe, only_known=only_known)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if not isinstance(item, dict | list):
            continue
        here = (*path, key)
        if isinstance(item, dict) and _is_selector(key, item, table.get(owner, {})):
            name = key.removesuffix(_SUFFIX)
            if only_known and (name not in table.get(owner, {}) or _unknown_keys(item)):
                continue
            ref, own = value.get(f"{name}Ref"), value.get(name)
            if (f"{name}Ref" not in value or maybe(ref)) and (own is None or maybe(own)):
                found.append(replace(_selection(here, name, item, owner, table), unless=own, ref=ref))
        else:
            _find(item, here, owner, table, found, maybe, only_known=only_known)


def _is_selector(key: str, value: Any, fields: Mapping[str, tuple[GroupKind, ...]]) -> bool:
    """A selector has `matchComposite` or the like; the table distinguishes one with labels only from a pod selector."""
    if not key.endswith(_SUFFIX) or not isinstance(value, dict):
        return False
    return any(word in value for word in (*SAME_PARENT, "matchClassRef")) or key.removesuffix(_SUFFIX) in fields


def _selection(path: fieldpath.Path, name: str, value: dict[str, Any], owner: GroupKind, table: Table) -> Selection:
    text = fieldpath.to_text(path)
    known = table.get(owner, {})
    if name not in known:
        close = nearest(name, known)
        hint = f"did you mean {close}{_SUFFIX}? " if close else ""
        fix = f"{hint}say in components/references.yaml what {name} of {owner} points to"
        raise ReferenceError_(Problem(f"it is not known what {name!r} of {owner} refers to", path=text, fix=fix))
    unknown = _unknown_keys(value)
    if unknown:
        fix = f"use {', '.join(SAME_PARENT)}, matchLabels or matchClassRef"
        raise ReferenceError_(Problem(f"a selector knows no {sorted(unknown)[0]!r}", path=text, fix=fix))
    labels, class_ref = (value.get(key) or {} for key in ("matchLabels", "matchClassRef"))
    # A value that is known only later may turn out to be an object.
    if any(isinstance(part, str | int | float | list) for part in (labels, class_ref)):
        fix = "write matchLabels: {key: value}, matchClassRef: {name: …}"
        raise ReferenceError_(Problem("what a selector matches must be an object", path=text, fix=fix))
    class_name = str(class_ref.get("name", "")) if isinstance(class_ref, dict) else ""
    return Selection(path, name, known[name], any(value.get(w) is True for w in SAME_PARENT), labels, class_name)


def _unknown_keys(selector: Mapping[str, Any]) -> set[str]:
    return set(selector) - {*SAME_PARENT, "matchLabels", "matchClassRef", "policy"}


def _fields(document: Mapping[str, Any], table: Table) -> Mapping[str, tuple[GroupKind, ...]]:
    return table.get(GroupKind.of(dict(document)), {})


def _way(value: Any, path: fieldpath.Path, fields: Mapping[str, tuple[GroupKind, ...]]) -> set[fieldpath.Path]:
    """The paths of all objects and lists that hold a selector, or lead to one."""
    found: set[fieldpath.Path] = set()
    for key, item in enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ():
        if not isinstance(item, dict | list):
            continue
        if isinstance(key, str) and _is_selector(key, item, fields):
            found.add(path)
        else:
            found |= _way(item, (*path, key), fields)
    return {path, *found} if found else found


def _replaced(
    value: Any,
    path: fieldpath.Path,
    way: Collection[fieldpath.Path],
    chosen: Mapping[fieldpath.Path, Selection],
    said_of: Callable[[Selection, Any], dict[str, Any]],
    fields: Mapping[str, tuple[GroupKind, ...]],
    siblings: Mapping[str, Any] | None,
) -> Any:
    """The value with its selectors replaced; what is not on the way to one stays as it is."""
    if path not in way:
        return value
    if isinstance(value, list):
        return [_replaced(item, (*path, i), way, chosen, said_of, fields, siblings) for i, item in enumerate(value)]
    result: dict[str, Any] = {}
    for key, item in value.items():
        here = (*path, key)
        if selection := chosen.get(here):
            result |= said_of(selection, item)
        elif (*path, f"{key.removesuffix('Ref')}{_SUFFIX}") in chosen and key.endswith("Ref"):
            continue  # it is resolved together with the selector
        elif not _is_selector(key, item, fields):
            result[key] = _replaced(item, here, way, chosen, said_of, fields, siblings)
        elif siblings is not None:
            result[key] = _by_labels(item, siblings)
    return result


def _by_labels(selector: Mapping[str, Any], siblings: Mapping[str, Any]) -> dict[str, Any]:
    """A selector that means a sibling, as its controller can follow it: no owner is written, but labels are."""
    kept = {k: v for k, v in selector.items() if k not in SAME_PARENT}
    if not any(selector.get(word) is True for word in SAME_PARENT):
        return kept
    return {**kept, "matchLabels": {**(kept.get("matchLabels") or {}), **siblings}}


def _stable(own: str, other: str) -> str:
    return hashlib.sha256(f"{own}|{other}".encode()).hexdigest()
