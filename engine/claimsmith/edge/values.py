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
from claimsmith.errors import ComposeError, NotFound, Problem
from claimsmith.merge import MergePolicy

Value = Any


def _lifted(function: Callable[..., Value]) -> Callable[..., Value]:
    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        if any(isinstance(a, pulumi.Output) for a in args):
            return pulumi.Output.all(*args).apply(lambda values: function(*values, **kwargs))
        return function(*args, **kwargs)

    return call


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
    """What to say where the value is not there; nothing where it is."""
    return otherwise if value is ABSENT else ABSENT


def first(value: Value, default: Value) -> Value:
    """The value where there is one, else the default."""
    return default if value is ABSENT else value


def read(data: Value, path: str) -> Value:
    """The value at a field path, ABSENT where there is none."""
    try:
        return fieldpath.get(data, path)
    except NotFound:
        return ABSENT


def require(value: Value, path: str) -> Value:
    """The value; a claim without it is refused."""
    if value is ABSENT:
        raise ComposeError(Problem(f"the claim has no {path}, which the class requires", path=path, fix=f"add {path}"))
    return value


def write(document: dict[str, Any], path: str, value: Value, *, policy: MergePolicy = MergePolicy.Replace) -> None:
    """Write a value into a document at a field path; one that is absent changes nothing."""
    if value is not ABSENT:
        patches.write(document, path, value, policy=policy)


def filled(value: Value, defaults: Value) -> Value:
    """The document with what only the defaults have."""
    if not isinstance(value, dict) or not isinstance(defaults, dict):
        return value
    kept = {k: filled(v, defaults.get(k)) for k, v in value.items()}
    return {**kept, **{k: v for k, v in defaults.items() if k not in value}}


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
