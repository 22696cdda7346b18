"""What was changed outside of Pulumi, claim by claim: read from the engine's preview of a refresh.

Pure: takes the engine's preview as data. The engine masks secrets; what is in a Secret is always masked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import EngineError, Source
from claimsmith.base.labels import CONTROLLER_OWNED
from claimsmith.base.values import object_at, walk
from claimsmith.compose.options import EXTERNAL_NAME_PATH, FIELD_MANAGER
from claimsmith.kubernetes.ownership import Taken, taken_over

MASKED: Final = "(secret)"
GIVEN: Final = "given as they are"
"""The heading of resources that belong to no claim."""
_MASK = "[secret]"
_COMPONENT = "claimsmith:"
_SECRET_FIELDS = ("data", "stringData")


@dataclass(frozen=True, slots=True)
class FieldDrift:
    """A field that is no longer what we wrote."""

    path: str
    old: Any
    """ABSENT where we wrote nothing."""
    new: Any
    """ABSENT where there is nothing any more."""
    where: Source | None = None
    """The place of the desired value."""
    managers: str = ""
    """Who writes it now, where that is known: our next change of it is a conflict with them."""
    unseen: bool = False
    """Whether the engine does not report it: what was added inside a list. A refresh restores nothing there."""

    def to_dict(self) -> dict[str, Any]:
        """The field for a machine to read."""
        place = asdict(self.where) if self.where else None
        sides = {"old": None if self.old is ABSENT else self.old, "new": None if self.new is ABSENT else self.new}
        return {"path": self.path, **sides, "where": place, **({"managers": self.managers} if self.managers else {})}


@dataclass(frozen=True, slots=True)
class ResourceDrift:
    """A resource that is no longer as we left it."""

    child: str
    """What it is called within the claim."""
    kind: str
    name: str
    urn: str
    change: str
    """`changed` or `gone`."""
    fields: tuple[FieldDrift, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The resource for a machine to read."""
        head = {"child": self.child, "kind": self.kind, "name": self.name, "urn": self.urn, "change": self.change}
        return {**head, "fields": [f.to_dict() for f in self.fields]}


@dataclass(frozen=True, slots=True)
class ClaimDrift:
    """A claim of which something is no longer as we left it."""

    claim: str
    """`Kind.group/namespace/name`."""
    resources: tuple[ResourceDrift, ...]

    def to_dict(self) -> dict[str, Any]:
        """The claim for a machine to read."""
        return {"claim": self.claim, "resources": [r.to_dict() for r in self.resources]}


@dataclass(frozen=True, slots=True)
class Drift:
    """All that a refresh of a stack would find."""

    stack: str
    claims: tuple[ClaimDrift, ...]
    looked_at: int
    """How many resources were read."""

    def to_dict(self) -> dict[str, Any]:
        """The drift for a machine to read."""
        claims = [c.to_dict() for c in self.claims]
        return {"stack": self.stack, "drift": bool(self.claims), "lookedAt": self.looked_at, "claims": claims}


Step = Mapping[str, Any]


def drift_of(stack: str, preview: Mapping[str, Any]) -> Drift:
    """The drift in the engine's preview of a refresh."""
    steps: Sequence[Step] = preview.get("steps") or ()
    parents = {str(s["urn"]): str(_state(s).get("parent") or "") for s in steps}
    found: dict[str, list[ResourceDrift]] = {}
    for step in sorted(steps, key=lambda s: str(s["urn"])):
        taken = _taken(step) if step["op"] != "delete" else []
        if step["op"] in ("update", "delete") or taken:
            root = _root(str(step["urn"]), parents)
            resource = _resource(step, root, taken)
            found.setdefault(_claim(root) if root else GIVEN, []).append(resource)
    claims = tuple(ClaimDrift(claim, tuple(resources)) for claim, resources in sorted(found.items()))
    return Drift(stack, claims, sum(1 for s in steps if _state(s).get("custom") and "provider" in s))


def with_places(drift: Drift, place_of: Callable[[str, str, str], Source | None]) -> Drift:
    """The drift with the place of each desired value; `place_of` gets claim, child and path in its document."""

    def placed(claim: str, resource: ResourceDrift) -> ResourceDrift:
        head = "properties." if is_native(resource.urn) else ""
        fields = (replace(f, where=place_of(claim, resource.child, f"{head}{f.path}")) for f in resource.fields)
        return replace(resource, fields=tuple(fields))

    claims = (replace(c, resources=tuple(placed(c.claim, r) for r in c.resources)) for c in drift.claims)
    return replace(drift, claims=tuple(claims))


def _state(step: Step) -> Mapping[str, Any]:
    return step.get("oldState") or step.get("newState") or {}


def _root(urn: str, parents: Mapping[str, str]) -> str:
    """The URN of the claim's component that a resource is in; empty where it is in none."""
    root = ""
    while urn:
        if _type(urn).startswith(_COMPONENT):
            root = urn
        urn = parents.get(urn, "")
    return root


def _type(urn: str) -> str:
    """The last of the types in a URN; nothing where it is none."""
    parts = urn.split("::")
    return parts[2].rpartition("$")[2] if len(parts) > 2 else ""


def _name(urn: str) -> str:
    return urn.split("::", 3)[3]


def _child(urn: str, root: str) -> str:
    """What a resource is called within its claim. The name of a native one has no slashes."""
    name, claim = _name(urn), _name(root)
    return name.removeprefix(f"{claim.replace('/', '-')}-") if is_native(urn) else name.removeprefix(f"{claim}/")


def is_native(urn: str) -> bool:
    """Whether a resource is of another provider than that of Kubernetes."""
    return not _type(urn).startswith("kubernetes:")


def _claim(root: str) -> str:
    _, group, kind = _type(root).split(":")
    return f"{kind}.{group}/{_name(root)}"


def _taken(step: Step) -> list[Taken]:
    """The fields that we wrote and others have taken over, from the managed fields of the live object."""
    inputs = {} if is_native(str(step["urn"])) else object_at(_state(step), "inputs")
    annotations = object_at(object_at(inputs, "metadata"), "annotations")
    manager = annotations.get(FIELD_MANAGER)
    if not isinstance(manager, str):
        return []
    left = [EXTERNAL_NAME_PATH, *str(annotations.get(CONTROLLER_OWNED, "")).split(",")]
    live = object_at(step.get("newState") or {}, "outputs")
    found = taken_over(inputs, live, manager, [path.strip() for path in left])
    return [t for t in found if _MASK not in (leaf for _, leaf in walk(t.ours))]


def _resource(step: Step, root: str, taken: Sequence[Taken]) -> ResourceDrift:
    urn, state = str(step["urn"]), _state(step)
    # Properties of native resources may be called kind or metadata as well.
    inputs = {} if is_native(urn) else state.get("inputs") or {}
    metadata = inputs.get("metadata") or {}
    name = str(metadata.get("name") or state.get("id") or "")
    place = f"{metadata['namespace']}/{name}" if metadata.get("namespace") else name
    child = _child(urn, root) if root else _name(urn)
    kind = str(inputs.get("kind") or _type(urn).rpartition(":")[2])
    gone = step["op"] == "delete"
    fields = [] if gone else list(_fields(step, secret=kind == "Secret"))
    fields = _with_managers(fields, taken, secret=kind == "Secret")
    return ResourceDrift(child, kind, place, urn, "gone" if gone else "changed", tuple(fields))


def _with_managers(fields: Sequence[FieldDrift], taken: Sequence[Taken], *, secret: bool) -> list[FieldDrift]:
    """The fields with who writes them now, and those that the engine does not report: what was added inside a list."""
    paths = {t.path: fieldpath.parse(t.path) for t in taken}
    known: list[FieldDrift] = []
    reported: set[str] = set()
    for field in fields:
        here = fieldpath.parse(field.path)
        taken_here = [t for t in taken if here[: len(paths[t.path])] == paths[t.path]]
        reported |= {t.path for t in taken_here}
        known.append(replace(field, managers=taken_here[0].managers) if taken_here else field)
    for t in taken:
        if t.path not in reported:
            masked = secret and paths[t.path][0] in _SECRET_FIELDS
            old, new = (v if v is ABSENT or not masked else MASKED for v in (t.ours, t.theirs))
            known.append(FieldDrift(t.path, old, new, managers=t.managers, unseen=True))
    return known


def _fields(step: Step, *, secret: bool) -> Iterator[FieldDrift]:
    old, new = step.get("oldState") or {}, step.get("newState") or {}
    detailed = [path for path in step.get("detailedDiff") or {} if not path.startswith("__")]
    for path in sorted(detailed or _differing(old.get("inputs") or {}, new.get("inputs") or {})):
        steps = fieldpath.parse(path)
        before, after = _value(old, steps), _value(new, steps)
        if secret and steps[:1] and steps[0] in _SECRET_FIELDS:
            before, after = (v if v is ABSENT else MASKED for v in (before, after))
        yield FieldDrift(fieldpath.to_text(steps), before, after)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The leaves in which two documents differ."""
    before, after = dict(walk(dict(old))), dict(walk(dict(new)))
    paths = [p for p in {**before, **after} if before.get(p, ABSENT) != after.get(p, ABSENT)]
    return [fieldpath.to_text(p) for p in paths]


def _value(state: Mapping[str, Any], path: fieldpath.Path) -> Any:
    """The value of a state at a path: what we sent, else what came back; masked where it is a secret."""
    for part in ("inputs", "outputs"):
        here: Any = state.get(part) or {}
        for depth in range(len(path)):
            if here == _MASK:
                return MASKED
            try:
                here = fieldpath.get(here, path[depth : depth + 1])
            except EngineError:
                break
        else:
            return MASKED if here == _MASK else here
    return ABSENT
