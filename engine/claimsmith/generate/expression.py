"""Python expressions for values: literals of a base, fields of a claim, transforms around them.

Every string of the user goes through `repr`, so that nothing in a YAML file becomes code.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.transform import Transform
from claimsmith.dialects.common.klass import Patch, Side
from claimsmith.patching import transforms

SPEC = "spec"
"""The variable that holds the claim's spec; among an expression's `uses` it is the one that is not imported."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A piece of Python, the names that it needs, and whether its value may be one that is not set."""

    code: str
    uses: frozenset[str] = frozenset()
    may_be_absent: bool = True
    optional: Expression | None = None
    """A shorter one for the same value, for whom None is as good as a value that is not set."""


Reader = Callable[[Patch, str], Expression]
"""How a patch's source is read."""


def claim_reader(patch: Patch, path: str) -> Expression:  # noqa: ARG001 - a patch of these classes reads the claim
    """The expression that reads a field of a claim."""
    return read_of(path)


def composite_reader(*, namespaced: bool) -> Reader:
    """How the patches between a Crossplane composite, its environment and its children read their sources."""

    def read(patch: Patch, path: str) -> Expression:
        if patch.origin is Side.environment:
            return field_of("self.environment", path)
        match fieldpath.parse(path):
            case ("status",):
                return Expression("self.status", may_be_absent=False)
            case ("status", *rest):
                return field_of("self.status", fieldpath.to_text(rest))
            case ("metadata", "namespace") if not namespaced:
                return field_of("args", path)
            case _:
                return read_of(path)

    return read


def child_reader(variable: str) -> Reader:
    """How a patch reads a child once it is created."""

    def read(patch: Patch, path: str) -> Expression:  # noqa: ARG001 - such a patch reads the child
        return Expression(f"self.observed({variable}, {path.removeprefix('.')!r})")

    return read


def read_of(path: str) -> Expression:
    """The expression that reads a field of the claim."""
    match fieldpath.parse(path):
        case ("metadata", "uid" | "name" | "namespace" as field):
            return Expression(f"self.claim.{field}", may_be_absent=False)
        case ("spec",):
            return Expression(SPEC, frozenset({SPEC}), may_be_absent=False)
        case ("spec", str(name)):
            short = Expression(f"{SPEC}.get({name!r})", frozenset({SPEC}), may_be_absent=False)
            return replace(field_of(SPEC, fieldpath.to_text((name,)), SPEC), optional=short)
        case ("spec", *rest):
            return field_of(SPEC, fieldpath.to_text(rest), SPEC)
        case _:
            return field_of("args", path)


def field_of(document: str, path: str, *uses: str) -> Expression:
    """The expression that reads a field of a document, by the name of its variable."""
    return Expression(f"field({document}, {path.removeprefix('.')!r})", frozenset({"field", *uses}))


def value_of(patch: Patch, reader: Reader = claim_reader) -> Expression:
    """The expression for what a patch writes."""
    reads = [_required(reader(patch, path), path) if patch.required else reader(patch, path) for path in patch.reads]
    value = reads[0]
    if patch.combine is not None:
        value = _call("formatted", (patch.combine,), reads, {})
    for transform in patch.transforms:
        value = _transformed(transform, value)
    return value


def either(value: Expression, default: Expression) -> Expression:
    """The value, or the default if the value is not set."""
    if not value.may_be_absent:
        return value
    code = f"default({value.code}, {default.code})"
    short = None
    if value.optional and value.optional.code.startswith(f"{SPEC}.get(") and not default.may_be_absent:
        short_code = f"{value.optional.code.removesuffix(')')}, {default.code})"
        short = Expression(short_code, value.optional.uses | default.uses, may_be_absent=False)
    return Expression(code, value.uses | default.uses | {"default"}, default.may_be_absent, short)


def literal(value: Any) -> Expression:
    """The expression for a document's value; expressions inside of it stay as they are.

    A mapping of several entries ends in a comma: ruff then writes each entry on a line of its own.
    """
    match value:
        case Expression():
            return value
        case dict():
            items = [(repr(k), literal(v)) for k, v in value.items()]
            inner = ", ".join(f"{k}: {v.code}" for k, v in items)
            comma = "," if len(items) > 1 else ""
            return Expression(f"{{{inner}{comma}}}", _uses(v for _, v in items), may_be_absent=False)
        case list():
            parts = [literal(v) for v in value]
            comma = "," if len(parts) > 1 else ""
            return Expression(f"[{', '.join(p.code for p in parts)}{comma}]", _uses(parts), may_be_absent=False)
        case _:
            return Expression(repr(value), may_be_absent=False)


def identifier(text: str) -> str:
    """The text as a Python name in snake_case."""
    words = "".join(c if c.isascii() and c.isalnum() else "_" for c in _snake(text)).strip("_") or "value"
    if words[0].isdigit():
        words = f"n{words}"
    return f"{words}_" if keyword.iskeyword(words) or keyword.issoftkeyword(words) else words


def _snake(text: str) -> str:
    out = ""
    for i, c in enumerate(text):
        if c.isupper() and i and (text[i - 1].islower() or (i + 1 < len(text) and text[i + 1].islower())):
            out += "_"
        out += c.lower()
    return out.replace("-", "_")


def _required(read: Expression, path: str) -> Expression:
    if not read.may_be_absent:
        return read
    return Expression(f"require({read.code}, {path!r})", read.uses | {"require"}, may_be_absent=False)


def _transformed(transform: Transform, value: Expression) -> Expression:
    name, arguments, options = transforms.call_of(transform)
    return _call(name, arguments, [value], options)


def _call(name: str, arguments: Iterable[Any], values: list[Expression], options: dict[str, Any]) -> Expression:
    constants = [_compact(a) for a in arguments]
    named = [f"{k}={literal(v).code}" for k, v in options.items()]
    code = f"{name}({', '.join([*(c.code for c in constants), *(v.code for v in values), *named])})"
    return Expression(code, _uses([*constants, *values]) | {name}, any(v.may_be_absent for v in values))


def _compact(value: Any) -> Expression:
    """A constant, on one line if it is short."""
    written = literal(value)
    short = repr(value)
    return Expression(short, may_be_absent=False) if len(short) <= 60 else written


def _uses(parts: Iterable[Expression]) -> frozenset[str]:
    return frozenset().union(*(p.uses for p in parts))
