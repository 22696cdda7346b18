"""References among children: a selector picks its target, the target's name becomes the reference.

`xxxSelector` says which resource is meant; it is replaced by `xxxRef` with the name of the one
that it picks. A reference that is set wins over its selector, a value over both. What a field may
point to is known from a table, never guessed. References must not run in a circle.
"""

from __future__ import annotations

import graphlib
import hashlib
import heapq
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith import fieldpath
from claimsmith.errors import Problem, ReferenceError_, nearest
from claimsmith.models.objects import GroupKind

SAME_PARENT = ("matchComposite", "matchControllerRef", "matchAggregate")
"""Three words of three documents for one meaning: made by the same parent."""

_SUFFIX = "Selector"

Table = Mapping[GroupKind, Mapping[str, tuple[GroupKind, ...]]]


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a selector may pick."""

    address: str
    group_kind: GroupKind
    labels: Mapping[str, str]
    parent: str
    name: str = ""
    """The name it will have in the cluster, where that is known."""
    template: str = ""
    """What made it: a choice among siblings must not depend on the claim, whose component is generated once for all."""
    class_name: str = ""
    """The name of its own class, where it has one."""


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
    """The class that the target was made by, where the selector says so."""
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
        parts += [f"made by the class {self.class_name}"] if self.class_name else []
        parts += [f"with {', '.join(f'{k}={v}' for k, v in self.labels.items())}"] if self.labels else []
        return " ".join(parts)


def selections(
    document: Mapping[str, Any], table: Table, maybe: Callable[[Any], bool] = lambda _: False
) -> list[Selection]:
    """The selectors of a child that are in force, in file order.

    `maybe` tells of a value that it may turn out not to be there: then the selector counts as far as it does.
    """
    owner = GroupKind.of(dict(document))
    places = _places(document.get("spec"), ("spec",), table.get(owner, {}))
    return [_selection(p, owner, table) for p in places if p.in_force(maybe)]


def fitting(selection: Selection, *, own: Target, candidates: Iterable[Target]) -> list[Target]:
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


def pick(selection: Selection, *, own: Target, candidates: Iterable[Target], recorded: str = "") -> Target:
    """The one resource that a selection means: the recorded one as long as it fits, else a stable choice.

    A choice among siblings depends on the class alone, and is not recorded.
    """
    found = fitting(selection, own=own, candidates=candidates)
    if not found:
        path = fieldpath.to_text(selection.path)
        fix = f"add such a resource, or name an existing one in {fieldpath.to_text(selection.ref_path)}"
        raise ReferenceError_(Problem(f"the selector matches no {selection}", path=path, fix=fix))
    if selection.same_parent:
        return min(found, key=lambda t: _stable(own.template, t.template))
    kept = next((t for t in found if t.address == recorded), None)
    return kept or min(found, key=lambda t: _stable(own.address, t.address))


def replace_selectors(
    document: Mapping[str, Any],
    table: Table,
    ref_of: Callable[[Selection], Any],
    maybe: Callable[[Any], bool] = lambda _: False,
) -> dict[str, Any]:
    """The document with `xxxRef` in the place of each `xxxSelector` that is in force, and none of the others.

    `ref_of` gives what `xxxRef` is to say.
    """
    owner = GroupKind.of(dict(document))
    places = _places(document.get("spec"), ("spec",), table.get(owner, {}))
    if not places:
        return dict(document)
    chosen = {(*p.path, p.key): _selection(p, owner, table) for p in places if p.in_force(maybe)}
    way = {p.path[:depth] for p in places for depth in range(1, len(p.path) + 1)}
    spec = _replaced(document["spec"], ("spec",), way, chosen, ref_of, table.get(owner, {}))
    return {**document, "spec": spec}


def ordered(items: Sequence[str], needs: Mapping[str, Sequence[tuple[str, str]]]) -> list[str]:
    """The items so that each comes after what it needs, else in the order given.

    `needs` gives for an item what it needs and the path where it says so; a circle is refused, naming these.
    """
    place = {item: index for index, item in enumerate(items)}
    waiting = {item: {n for n, _ in needs.get(item, ()) if n in place} for item in items}
    needed_by: dict[str, list[str]] = {}
    for item in items:
        for need in waiting[item]:
            needed_by.setdefault(need, []).append(item)
    ready = [place[item] for item in items if not waiting[item]]
    done: list[str] = []
    while ready:
        item = items[heapq.heappop(ready)]
        done.append(item)
        for follower in needed_by.get(item, ()):
            waiting[follower].discard(item)
            if not waiting[follower]:
                heapq.heappush(ready, place[follower])
    if len(done) < len(items):
        raise ReferenceError_(_circle([i for i in items if waiting[i]], needs))
    return done


def _circle(items: Sequence[str], needs: Mapping[str, Sequence[tuple[str, str]]]) -> Problem:
    sorter = graphlib.TopologicalSorter({i: tuple(n for n, _ in needs.get(i, ())) for i in items})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        cycle: list[str] = list(reversed(error.args[1]))
        steps = []
        for here, there in itertools.pairwise(cycle):
            path = next(p for n, p in needs[here] if n == there)
            steps.append(f"{here} needs {there} ({path})")
        return Problem(f"references run in a circle: {'; '.join(steps)}", fix="remove one of these references")
    raise AssertionError("items that cannot be ordered hold a circle")


@dataclass(frozen=True, slots=True)
class _Place:
    """A selector in a document: the object that holds it, where that is, and under which key."""

    path: fieldpath.Path
    holder: Mapping[str, Any]
    key: str

    @property
    def name(self) -> str:
        """The field that the selector is for."""
        return self.key.removesuffix(_SUFFIX)

    def in_force(self, maybe: Callable[[Any], bool]) -> bool:
        """Whether neither a reference nor a value is there that wins over the selector."""
        ref, own = f"{self.name}Ref", self.holder.get(self.name)
        return (ref not in self.holder or maybe(self.holder[ref])) and (own is None or maybe(own))


def _places(value: Any, path: fieldpath.Path, fields: Mapping[str, tuple[GroupKind, ...]]) -> list[_Place]:
    """Every selector, in file order."""
    found: list[_Place] = []
    for key, item in enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ():
        if not isinstance(item, dict | list):
            continue
        if isinstance(key, str) and _is_selector(key, item, fields):
            found.append(_Place(path, value, key))
        else:
            found += _places(item, (*path, key), fields)
    return found


def _is_selector(key: str, value: Any, fields: Mapping[str, tuple[GroupKind, ...]]) -> bool:
    """A selector says `matchComposite` or the like; one with labels only is told from a pod's by the table."""
    if not key.endswith(_SUFFIX) or not isinstance(value, dict):
        return False
    return any(word in value for word in (*SAME_PARENT, "matchClassRef")) or key.removesuffix(_SUFFIX) in fields


def _selection(place: _Place, owner: GroupKind, table: Table) -> Selection:
    path, name, value = (*place.path, place.key), place.name, place.holder[place.key]
    text = fieldpath.to_text(path)
    known = table.get(owner, {})
    if name not in known:
        close = nearest(name, known)
        hint = f"did you mean {close}{_SUFFIX}? " if close else ""
        fix = f"{hint}say in components/references.yaml what {name} of {owner} points to"
        raise ReferenceError_(Problem(f"it is not known what {name!r} of {owner} refers to", path=text, fix=fix))
    unknown = set(value) - {*SAME_PARENT, "matchLabels", "matchClassRef", "policy"}
    if unknown:
        fix = f"use {', '.join(SAME_PARENT)}, matchLabels or matchClassRef"
        raise ReferenceError_(Problem(f"a selector knows no {sorted(unknown)[0]!r}", path=text, fix=fix))
    labels = value.get("matchLabels") or {}
    class_name = str((value.get("matchClassRef") or {}).get("name", ""))
    same_parent = any(value.get(w) is True for w in SAME_PARENT)
    ref, own = place.holder.get(f"{name}Ref"), place.holder.get(name)
    return Selection(path, name, known[name], same_parent, labels, class_name, ref=ref, unless=own)


def _replaced(
    value: Any,
    path: fieldpath.Path,
    way: Collection[fieldpath.Path],
    chosen: Mapping[fieldpath.Path, Selection],
    ref_of: Callable[[Selection], Any],
    fields: Mapping[str, tuple[GroupKind, ...]],
) -> Any:
    """The value with its selectors replaced; what is not on the way to one stays as it is."""
    if path not in way:
        return value
    if isinstance(value, list):
        return [_replaced(item, (*path, i), way, chosen, ref_of, fields) for i, item in enumerate(value)]
    result: dict[str, Any] = {}
    for key, item in value.items():
        here = (*path, key)
        if selection := chosen.get(here):
            result[f"{selection.name}Ref"] = ref_of(selection)
        elif (*path, f"{key.removesuffix('Ref')}{_SUFFIX}") in chosen and key.endswith("Ref"):
            continue  # it is said together with the selector
        elif not _is_selector(key, item, fields):
            result[key] = _replaced(item, here, way, chosen, ref_of, fields)
    return result


def _stable(own: str, other: str) -> str:
    return hashlib.sha256(f"{own}|{other}".encode()).hexdigest()
