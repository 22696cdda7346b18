"""The core's functions on values, for values that may be Pulumi Outputs.

Each function is the core's own; called with an Output, it returns an Output of the core function's result.
So a patch means the same offline, in generated code and in the engine.

A field that is not set is the core's `ABSENT`: the functions pass it through, and a document leaves it out. A null is a
value like any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pulumi

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import ComposeError, EngineError, FieldPathError, NotFound, Problem
from claimsmith.base.merge import MergePolicy, merge
from claimsmith.base.values import copied, value_at
from claimsmith.compose import identity
from claimsmith.kubernetes.schema import defaulted
from claimsmith.kubernetes.schema.lookup import properties_of
from claimsmith.patching import patches, transforms

T = TypeVar("T")
Value = Any
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _lifted(function: Callable[..., Value]) -> Callable[..., Value]:
    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        if any(map(is_output, args)):
            return pulumi.Output.all(*args).apply(lambda values: evaluate(function, *values, **kwargs))
        return function(*args, **kwargs)

    return call


def evaluate(function: Callable[..., Value], *args: Value, **kwargs: Value) -> Value:
    """Call a core function while the engine runs. An error of the user ends the run with its message."""
    try:
        return function(*args, **kwargs)
    except EngineError as error:
        # Pulumi prints a RunError without a traceback, every other exception with one.
        raise pulumi.RunError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Deferred(Generic[T]):
    """A coroutine that begins when it is awaited.

    An Output awaits its parts one after the other (SDK 3.272): once a part fails, those after it are never awaited, and
    Python warns of each coroutine among them.
    """

    begin: Callable[[], Coroutine[Any, Any, T]]

    def __await__(self) -> Generator[Any, Any, T]:
        return self.begin().__await__()


def once_known(
    outputs: Sequence[pulumi.Output[Any]],
    function: Callable[..., Value],
    *,
    conditions: Sequence[pulumi.Output[Any]] = (),
) -> pulumi.Output[Any]:
    """What a function returns for the values of outputs, once all of them are known, and all conditions.

    Only that a condition is known counts: the result does not depend on its resource, and is not secret because of it.
    Not by `Output.all` and `apply`, which create an Output each, and others for everything inside of a value.
    """

    async def resources() -> set[pulumi.Resource]:
        return set().union(*[await output.resources() for output in outputs])

    async def known() -> bool:
        return all([await output.is_known() for output in (*outputs, *conditions)])

    async def value() -> Value:
        values = [await output.future(with_unknowns=True) for output in outputs]
        return function(*values) if await known() else None

    async def secret() -> bool:
        return any([await output.is_secret() for output in outputs])

    return pulumi.Output(Deferred(resources), Deferred(value), Deferred(known), Deferred(secret))


def is_output(value: Value) -> bool:
    """Whether a value, or anything in it, is an Output."""
    match value:
        case pulumi.Output():
            return True
        case dict():
            return any(is_output(item) for item in value.values())
        case list():
            return any(is_output(item) for item in value)
        case _:
            return False


adler32 = _lifted(transforms.adler32)
clamp_max = _lifted(transforms.clamp_max)
clamp_min = _lifted(transforms.clamp_min)
converted = _lifted(transforms.converted)
formatted = _lifted(transforms.formatted)
from_base64 = _lifted(transforms.from_base64)
joined = _lifted(transforms.joined)
lookup = _lifted(transforms.lookup)
matched = _lifted(transforms.matched)
multiply = _lifted(transforms.multiply)
regexp = _lifted(transforms.regexp)
replaced = _lifted(transforms.replaced)
sha1 = _lifted(transforms.sha1)
sha256 = _lifted(transforms.sha256)
sha512 = _lifted(transforms.sha512)
to_base64 = _lifted(transforms.to_base64)
to_json = _lifted(transforms.to_json)
to_lower = _lifted(transforms.to_lower)
to_upper = _lifted(transforms.to_upper)
trim_prefix = _lifted(transforms.trim_prefix)
trim_suffix = _lifted(transforms.trim_suffix)


join = _lifted(identity.joined)


def unless(value: Value, otherwise: Value) -> Value:
    """`otherwise` if the value is not set; nothing if it is."""
    return _lifted_first(lambda v, o: o if v is ABSENT else ABSENT, value, otherwise)


def default(value: Value, otherwise: Value) -> Value:
    """The value, or `otherwise` if it is not set. A null is a value."""
    return _lifted_first(lambda v, o: o if v is ABSENT else v, value, otherwise)


def require(value: Value, path: str) -> Value:
    """The value; a claim that does not set it is refused."""
    return _lifted_first(_require, value, path)


def _require(value: Value, path: str) -> Value:
    if value is ABSENT:
        raise ComposeError(Problem(f"the claim has no {path}, which the class requires", path=path, fix=f"add {path}"))
    return value


def _lifted_first(function: Callable[..., Value], value: Value, other: Value) -> Value:
    # Only the value decides: `other` may hold Outputs, and stays a plain document where the value is one.
    if isinstance(value, pulumi.Output):
        return pulumi.Output.all(value, other).apply(lambda both: evaluate(function, *both))
    return function(value, other)


def field(data: Value, path: str) -> Value:
    """The value of a field, by its path; an Output if there is one on the way to it.

    A field that is not set is left out of the document that it is written to, and keeps a default there.
    """
    try:
        return fieldpath.get(data, path)
    except FieldPathError as error:
        steps = fieldpath.parse(path)
        above = _output_above({"data": data}, ("data", *steps))
        if above:
            rest = fieldpath.to_text(steps[len(above) - 1 :])
            return fieldpath.get({"data": data}, above).apply(lambda value: evaluate(field, value, rest))
        if isinstance(error, NotFound):
            return ABSENT
        raise


def write(
    document: dict[str, Any],
    path: str,
    value: Value,
    *,
    policy: MergePolicy = MergePolicy.Replace,
    wildcards: bool = True,
) -> None:
    """Write a value into a document at a field path; one that is not set changes nothing."""
    if value is ABSENT:
        return
    # The literal names fields that are not set: no wildcard may find them, no merge keep them, no path lead into them.
    _prune(document)
    above = _output_above(document, fieldpath.parse(path))
    if above:
        outer = fieldpath.get(document, above)
        inner = fieldpath.to_text(fieldpath.parse(path)[len(above) :])
        fieldpath.put(document, above, _written_inside(outer, inner, value, policy))
        return
    places = fieldpath.expand(document, path) if wildcards and fieldpath.has_wildcard(path) else []
    if places and policy is not MergePolicy.Replace:
        # Each place has a value of its own to merge with.
        for place in places:
            write(document, fieldpath.to_text(place), value, policy=policy, wildcards=False)
        return
    there = ABSENT if policy is MergePolicy.Replace else field(document, path)
    if there is not ABSENT and (isinstance(there, pulumi.Output) or isinstance(value, pulumi.Output)):
        value, policy = _merged(there, value, policy), MergePolicy.Replace
    patches.write(document, path, value, policy=policy, wildcards=wildcards)


def _output_above(document: dict[str, Any], path: fieldpath.Path) -> fieldpath.Path:
    """The path of an Output that a longer path leads into; empty if there is none."""
    for length in range(1, len(path)):
        if isinstance(value_at(document, path[:length]), pulumi.Output):
            return path[:length]
    return ()


def _written_inside(outer: Value, path: str, value: Value, policy: MergePolicy) -> Value:
    def written(both: list[Value]) -> Value:
        holder = {"value": {} if both[0] is ABSENT or both[0] is None else copied(both[0])}
        if both[1] is not ABSENT:
            evaluate(patches.write, holder["value"], path, both[1], policy=policy)
        return holder["value"]

    return pulumi.Output.all(outer, value).apply(written)


def _merged(there: Value, value: Value, policy: MergePolicy) -> Value:
    def merged(both: list[Value]) -> Value:
        return both[0] if both[1] is ABSENT else evaluate(merge, *both, policy)

    return pulumi.Output.all(there, value).apply(merged)


def settled(value: Value) -> Value:
    """The value, null if it is not set: an Output cannot take a field back that it was written to."""
    return None if value is ABSENT else value


def filled(value: Value, defaults: Value) -> Value:
    """The document, with the fields that only the defaults have."""
    if not isinstance(value, dict) or not isinstance(defaults, dict):
        return value
    kept = {k: filled(v, defaults.get(k)) for k, v in value.items()}
    return {**kept, **{k: v for k, v in defaults.items() if k not in value}}


def with_defaults(value: Value, schema: Mapping[str, Any]) -> Value:
    """A copy with the schema's defaults for what is missing, inside of Outputs too, once they are known."""
    return _with_later_defaults(defaulted(value, schema), schema)


def _with_later_defaults(value: Value, schema: Mapping[str, Any]) -> Value:
    match value:
        case pulumi.Output() if schema:
            inside = {"properties": {"value": schema}}
            return value.apply(lambda known: defaulted({"value": known}, inside).get("value"))
        case dict():
            named, others = properties_of(schema), schema.get("additionalProperties")
            rest = others if isinstance(others, Mapping) else {}
            return {k: _with_later_defaults(v, named.get(k, rest)) for k, v in value.items()}
        case list():
            items = schema.get("items")
            each = items if isinstance(items, Mapping) else {}
            return [_with_later_defaults(item, each) for item in value]
        case _:
            return value


def within(value: Value, planned: Value) -> Value:
    """The document without the fields that the planned one lacks: its schema does not define them."""
    match value, planned:
        case dict(), dict():
            return {k: within(v, planned[k]) for k, v in value.items() if k in planned}
        case list(), list() if len(value) == len(planned):
            return [within(v, p) for v, p in zip(value, planned, strict=True)]
        case _:
            return value


_SECRET_FIELDS = ("data", "stringData")


def secrets_hidden(value: Value) -> Value:
    """The value, with the data of each Kubernetes Secret in it as a Pulumi secret."""
    match value:
        case dict():
            hide = _SECRET_FIELDS if value.get("kind") == "Secret" else ()
            return {k: pulumi.Output.secret(v) if k in hide else secrets_hidden(v) for k, v in value.items()}
        case list():
            return [secrets_hidden(item) for item in value]
        case _:
            return value


def optional(value: Value) -> Value:
    """The value for an argument of an SDK: None if it is not set, and nothing inside of it that is not set."""
    found = _settled_inside(value)
    return None if found is ABSENT else found


def present(properties: dict[str, Any]) -> dict[str, Any]:
    """The properties that are set."""
    return {name: found for name, value in properties.items() if (found := optional(value)) is not None}


def _settled_inside(value: Value) -> Value:
    """The value as `pruned` leaves it, with each Output in it settled, in one walk: each native child takes it."""
    if type(value) in _PLAIN:
        return value
    match value:
        case pulumi.Output():
            return value.apply(settled)
        case dict() if value:
            kept = {k: s for k, v in value.items() if (s := _settled_inside(v)) is not ABSENT}
            return kept or ABSENT
        case list() if value:
            items = [s for v in value if (s := _settled_inside(v)) is not ABSENT]
            return items or ABSENT
        case _:
            return value


def _prune(document: dict[str, Any]) -> None:
    """Leave the fields that are not set out of a document, in place."""
    kept = pruned(document)
    document.clear()
    document.update({} if kept is ABSENT else kept)


def pruned(value: Value) -> Value:
    """The value without the fields that are not set, and without mappings and lists that held nothing else."""
    match value:
        case dict() if value:
            kept = {k: p for k, v in value.items() if (p := pruned(v)) is not ABSENT}
            return kept or ABSENT
        case list() if value:
            items = [p for v in value if (p := pruned(v)) is not ABSENT]
            return items or ABSENT
        case _:
            return value
