"""The core's functions on values, for values that may be Pulumi Outputs.

Each function is the core's own; given an Output it gives an Output of what the core's function
makes of it. So a patch means the same offline, in generated code and in the engine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pulumi

from claimsmith import fieldpath
from claimsmith.absent import ABSENT
from claimsmith.compose import identity, patches, transforms
from claimsmith.errors import ComposeError, EngineError, FieldPathError, NotFound, Problem
from claimsmith.merge import MergePolicy, merge
from claimsmith.values import copied

Value = Any


def _lifted(function: Callable[..., Value]) -> Callable[..., Value]:
    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        if any(map(is_output, args)):
            return pulumi.Output.all(*args).apply(lambda values: told(function, *values, **kwargs))
        return function(*args, **kwargs)

    return call


def told(function: Callable[..., Value], *args: Value, **kwargs: Value) -> Value:
    """What a function of the core gives while the engine runs; what it refuses ends the run with its text."""
    try:
        return function(*args, **kwargs)
    except EngineError as error:
        raise pulumi.RunError("\n".join(str(p) for p in error.problems)) from error


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


def _unless(value: Value, otherwise: Value) -> Value:
    return otherwise if value is ABSENT else ABSENT


def _first(value: Value, default: Value) -> Value:
    return default if value is ABSENT else value


def _require(value: Value, path: str) -> Value:
    if value is ABSENT:
        raise ComposeError(Problem(f"the claim has no {path}, which the class requires", path=path, fix=f"add {path}"))
    return value


def unless(value: Value, otherwise: Value) -> Value:
    """What to say where the value is not there; nothing where it is."""
    return _lifted_first(_unless, value, otherwise)


def first(value: Value, default: Value) -> Value:
    """The value where there is one, else the default."""
    return _lifted_first(_first, value, default)


def require(value: Value, path: str) -> Value:
    """The value; a claim without it is refused."""
    return _lifted_first(_require, value, path)


def _lifted_first(function: Callable[..., Value], value: Value, other: Value) -> Value:
    if isinstance(value, pulumi.Output):
        return pulumi.Output.all(value, other).apply(lambda both: told(function, *both))
    return function(value, other)


def read(data: Value, path: str) -> Value:
    """The value at a field path, ABSENT where there is none; an Output where one stands on the way."""
    try:
        return fieldpath.get(data, path)
    except FieldPathError as error:
        above = _output_above({"data": data}, f"data.{path.removeprefix('.')}")
        if above:
            rest = fieldpath.to_text(fieldpath.parse(path)[len(above) - 1 :])
            return fieldpath.get({"data": data}, above).apply(lambda value: told(read, value, rest))
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
    """Write a value into a document at a field path; one that is absent changes nothing."""
    if value is ABSENT:
        return
    above = _output_above(document, path)
    if above:
        outer = fieldpath.get(document, above)
        inner = fieldpath.to_text(fieldpath.parse(path)[len(above) :])
        fieldpath.put(document, above, _written_inside(outer, inner, value, policy))
        return
    there = ABSENT if policy is MergePolicy.Replace else read(document, path)
    if there is not ABSENT and (isinstance(there, pulumi.Output) or isinstance(value, pulumi.Output)):
        value, policy = _merged(there, value, policy), MergePolicy.Replace
    patches.write(document, path, value, policy=policy, wildcards=wildcards)


def _output_above(document: dict[str, Any], path: str) -> fieldpath.Path:
    """The path of an Output that a longer path leads into; empty where there is none."""
    steps = fieldpath.parse(path)
    for length in range(1, len(steps)):
        here = _step_to(document, steps[:length])
        if isinstance(here, pulumi.Output):
            return steps[:length]
    return ()


def _step_to(data: Value, path: fieldpath.Path) -> Value:
    try:
        return fieldpath.get(data, path)
    except FieldPathError:
        return None


def _written_inside(outer: Value, path: str, value: Value, policy: MergePolicy) -> Value:
    def written(both: list[Value]) -> Value:
        holder = {"value": {} if both[0] is ABSENT or both[0] is None else copied(both[0])}
        if both[1] is not ABSENT:
            told(patches.write, holder["value"], path, both[1], policy=policy)
        return holder["value"]

    return pulumi.Output.all(outer, value).apply(written)


def _merged(there: Value, value: Value, policy: MergePolicy) -> Value:
    def merged(both: list[Value]) -> Value:
        return both[0] if both[1] is ABSENT else told(merge, *both, policy)

    return pulumi.Output.all(there, value).apply(merged)


def settled(value: Value) -> Value:
    """The value with null for what turns out not to be there."""
    return None if value is ABSENT else value


def filled(value: Value, defaults: Value) -> Value:
    """The document with what only the defaults have."""
    if not isinstance(value, dict) or not isinstance(defaults, dict):
        return value
    kept = {k: filled(v, defaults.get(k)) for k, v in value.items()}
    return {**kept, **{k: v for k, v in defaults.items() if k not in value}}


def within(value: Value, planned: Value) -> Value:
    """The document without the fields that the planned one has not: those that its schema does not know."""
    match value, planned:
        case dict(), dict():
            return {k: within(v, planned[k]) for k, v in value.items() if k in planned}
        case list(), list() if len(value) == len(planned):
            return [within(v, p) for v, p in zip(value, planned, strict=True)]
        case _:
            return value


_SECRET_FIELDS = ("data", "stringData")


def secrets_hidden(value: Value) -> Value:
    """The value with the data of any Kubernetes Secret that is written out in it as a secret of the engine's."""
    match value:
        case dict():
            hide = _SECRET_FIELDS if value.get("kind") == "Secret" else ()
            return {k: pulumi.Output.secret(v) if k in hide else secrets_hidden(v) for k, v in value.items()}
        case list():
            return [secrets_hidden(item) for item in value]
        case _:
            return value


def pruned(value: Value) -> Value:
    """The value without what is absent; a mapping or list that only held such things goes with it."""
    match value:
        case dict() if value:
            kept = {k: p for k, v in value.items() if (p := pruned(v)) is not ABSENT}
            return kept or ABSENT
        case list() if value:
            items = [p for v in value if (p := pruned(v)) is not ABSENT]
            return items or ABSENT
        case _:
            return value
