"""A document checked against a schema: every problem at once, each with its place and a way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from claimsmith.base import fieldpath, regexp
from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem
from claimsmith.base.fieldpath import Path
from claimsmith.kubernetes.schema import formats, lookup
from claimsmith.kubernetes.schema.defaults import defaulted
from claimsmith.kubernetes.schema.lookup import EMBEDDED, INT_OR_STRING, Schema

_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "an array"}
_SHOWN = 12


def check(
    data: Any,
    schema: Schema,
    *,
    document: Document | None,
    at: Path = (),
    skip: Callable[[Any], bool] | None = None,
    partial: bool = False,
) -> list[Problem]:
    """The problems of data under a schema, after defaults; `at` is the path of the data in the document.

    Values for which `skip` holds are known later: they fit anywhere. What is `partial` may still get more fields, so
    that nothing is missed in it. Unknown fields, which an API server would drop, are problems.
    """
    checker = _Checker(schema, document, at, skip or (lambda _: False), partial)
    checker.value(defaulted(data, schema), schema, ())
    return checker.problems


def type_names(value: Any) -> tuple[str, ...]:
    """The schema types that a value is of; an integer is a number too, and so is 5.0 an integer."""
    match value:
        case bool():
            return ("boolean",)
        case int() | float():
            return ("integer", "number") if _is_whole(value) else ("number",)
        case str():
            return ("string",)
        case dict():
            return ("object",)
        case list() | tuple():
            return ("array",)
        case None:
            return ("null",)
        case _:
            return (type(value).__name__,)


def _is_whole(value: float) -> bool:
    return (isinstance(value, int) or value.is_integer()) and int(value) in _INT64


def identity(value: Any) -> Any:
    """A hashable that two values share when they are equal in JSON: 1 is 1.0, but not true."""
    match value:
        case bool():
            return ("boolean", value)
        case dict():
            return frozenset((key, identity(item)) for key, item in value.items())
        case list() | tuple():
            return tuple(identity(item) for item in value)
        case None | int() | float() | str():
            return value
        case _:
            return ("opaque", id(value))


@dataclass
class _Checker:
    """One check: what it is about, and the problems so far."""

    root: Schema
    document: Document | None
    at: Path
    skip: Callable[[Any], bool]
    partial: bool
    problems: list[Problem] = field(default_factory=list)

    def value(self, data: Any, schema: Schema, path: Path, *, closed: bool = True) -> None:
        """Check one value; only a `closed` check minds unknown fields."""
        if self.skip(data):
            return
        if not self._type(data, schema, path):
            return
        enum = schema.get("enum")
        if enum is not None and identity(data) not in [identity(e) for e in enum]:
            self.add(path, f"{_shown(data)} is not one of the values allowed", f"use one of: {_list(enum)}")
        match data:
            case bool() | None:
                pass
            case int() | float():
                self._number(data, schema, path)
            case str():
                self._text(data, schema, path)
            case list() | tuple():
                self._array(data, schema, path, closed=closed)
            case dict():
                self._object(data, schema, path, closed=closed)
        self._combined(data, schema, path)

    def add(self, path: Path, what: str, fix: str) -> None:
        """Keep one problem."""
        full = (*self.at, *path)
        where = self.document.source_of(full) if self.document else None
        self.problems.append(Problem(what, where, fieldpath.to_text(full), fix))

    def _type(self, data: Any, schema: Schema, path: Path) -> bool:
        wanted = ("integer", "string") if schema.get(INT_OR_STRING) else tuple(filter(None, [schema.get("type")]))
        if not wanted or (data is None and schema.get("nullable")):
            return True
        names_of_data = type_names(data)
        if any(name in wanted for name in names_of_data):
            return True
        names = " or ".join(_article(name) for name in wanted)
        self.add(path, f"{_shown(data)} is {_article(names_of_data[-1])}, not {names}", _type_fix(data, wanted))
        return False

    def _number(self, data: float, schema: Schema, path: Path) -> None:
        least, most, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
        if least is not None and (data < least or (data == least and schema.get("exclusiveMinimum"))):
            bound = f"more than {least}" if schema.get("exclusiveMinimum") else f"at least {least}"
            self.add(path, f"{data} is too small", f"use {bound}")
        if most is not None and (data > most or (data == most and schema.get("exclusiveMaximum"))):
            bound = f"less than {most}" if schema.get("exclusiveMaximum") else f"at most {most}"
            self.add(path, f"{data} is too large", f"use {bound}")
        if step and Fraction(str(data)) % Fraction(str(step)) != 0:
            self.add(path, f"{data} is not a multiple of {step}", f"use a multiple of {step}")
        if schema.get("format") == "int32" and int(data) not in _INT32:
            # The API server lets it pass, and the kind's controller then cannot read it.
            self.add(path, f"{data} is too large for 32 bits", f"use {_INT32.start} to {_INT32.stop - 1}")

    def _text(self, data: str, schema: Schema, path: Path) -> None:
        self._size(len(data), schema, path, ("minLength", "maxLength"), "characters")
        pattern, form = schema.get("pattern"), schema.get("format")
        if pattern is not None and not _matches(pattern, data):
            self.add(path, f"{data!r} does not match the pattern {pattern}", "write a text that matches it")
        if form is not None and not formats.fits(data, form):
            self.add(path, f"{data!r} is no {form}", f"write a {form}")

    def _array(self, data: Iterable[Any], schema: Schema, path: Path, *, closed: bool) -> None:
        items = list(data)
        self._size(len(items), schema, path, ("minItems", "maxItems"), "items")
        self._repeated(items, schema, path)
        each = schema.get("items")
        if isinstance(each, Mapping):
            for index, item in enumerate(items):
                self.value(item, each, (*path, index), closed=closed)

    def _repeated(self, items: list[Any], schema: Schema, path: Path) -> None:
        keys = schema.get("x-kubernetes-list-map-keys") or ()
        is_set = schema.get("uniqueItems") or schema.get("x-kubernetes-list-type") == "set"
        if not is_set and not keys:
            return
        seen: dict[Any, int] = {}
        for index, item in enumerate(items):
            if self._unknown_within(item) or (keys and not isinstance(item, dict)):
                continue
            key = {k: item.get(k) for k in keys} if keys else item
            first = seen.setdefault(identity(key), index)
            if first != index:
                self.add((*path, index), f"{_shown(key)} occurs twice; the first is item {first}", "remove one")

    def _object(self, data: dict[str, Any], schema: Schema, path: Path, *, closed: bool) -> None:
        self._size(len(data), schema, path, ("minProperties", "maxProperties"), "fields")
        required = [*(("apiVersion", "kind") if schema.get(EMBEDDED) else ()), *(schema.get("required") or ())]
        for name in dict.fromkeys(required):
            if name not in data and not self.partial:
                self.add((*path, name), f"the field {name!r} is missing", f"add {name}:")
        for name, item in data.items():
            inner = lookup.field_schema(schema, name)
            if inner is not None:
                self.value(item, inner, (*path, name), closed=closed)
            elif closed:
                self._unknown_field(name, schema, path)

    def _unknown_field(self, name: str, schema: Schema, path: Path) -> None:
        known = lookup.properties_of(schema)
        meant = lookup.nearest_field(self.root, (*path, name))
        if meant is not None:
            parsed = fieldpath.parse(meant)
            fix = f"did you mean {(parsed[-1] if parsed[:-1] == path else meant)!r}?"
        else:
            fix = f"remove it; known here: {_list(sorted(known), plain=True) or 'nothing'}"
        self.add((*path, name), f"unknown field {name!r}", fix)

    def _size(self, size: int, schema: Schema, path: Path, limits: tuple[str, str], unit: str) -> None:
        least, most = schema.get(limits[0]), schema.get(limits[1])
        if least is not None and size < least and not (self.partial and unit != "characters"):
            self.add(path, f"{size} {unit} are too few", f"give at least {least}")
        if most is not None and size > most:
            self.add(path, f"{size} {unit} are too many", f"give at most {most}")

    def _combined(self, data: Any, schema: Schema, path: Path) -> None:
        for inner in schema.get("allOf") or ():
            self.value(data, inner, path, closed=False)
        if self.partial:
            return
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                self._alternatives(data, schema[word], path, one=word == "oneOf")
        if (
            schema.get("not") is not None
            and not self._unknown_within(data)
            and not self._tried(data, schema["not"], path)
        ):
            self.add(path, f"{_shown(data)} is what it must not be", f"it must not fit: {_rule(schema['not'])}")

    def _alternatives(self, data: Any, branches: Iterable[Schema], path: Path, *, one: bool) -> None:
        tried = [(branch, self._tried(data, branch, path)) for branch in branches]
        fitting = [branch for branch, problems in tried if not problems]
        if not fitting:
            reasons = dict.fromkeys(p.what for _, problems in tried for p in problems[:1])
            rules = "; or ".join(_rule(branch) for branch, _ in tried)
            self.add(path, f"none of the forms allowed fits: {'; '.join(reasons)}", f"make it fit one: {rules}")
        elif one and len(fitting) > 1 and not self._unknown_within(data):
            rules = "; or ".join(_rule(branch) for branch in fitting)
            self.add(path, f"{len(fitting)} forms fit, where only one may", f"keep one: {rules}")

    def _tried(self, data: Any, schema: Schema, path: Path) -> list[Problem]:
        """The problems that the data would have under another schema."""
        attempt = _Checker(self.root, None, self.at, self.skip, self.partial)
        attempt.value(data, schema, path, closed=False)
        return attempt.problems

    def _unknown_within(self, data: Any) -> bool:
        """Whether anything in the data is known only later."""
        match data:
            case _ if self.skip(data):
                return True
            case dict():
                return any(self._unknown_within(item) for item in data.values())
            case list() | tuple():
                return any(self._unknown_within(item) for item in data)
            case _:
                return False


def _matches(pattern: str, text: str) -> bool:
    try:
        return regexp.first_match(pattern, text) is not None
    except regexp.BadPattern:
        # No API server takes such a schema; `check_schema` reports it with its place.
        return True


def _article(name: str) -> str:
    return "null" if name == "null" else _ARTICLES.get(name, f"a {name}")


def _type_fix(data: Any, wanted: tuple[str, ...]) -> str:
    """How to write a value of the type wanted."""
    match data, wanted:
        case ((bool() | int() | float()), (*_, "string")):
            return f'quote it: "{str(data).lower() if isinstance(data, bool) else data}"'
        case str(), ("integer" | "number",) if data.strip().lstrip("-").replace(".", "", 1).isdecimal():
            return f"write it without quotes: {data.strip()}"
        case str(), ("boolean",) if data.lower() in ("true", "false", "yes", "no", "on", "off"):
            return f"write {'true' if data.lower() in ('true', 'yes', 'on') else 'false'}, without quotes"
        case None, _:
            return "set a value, or remove it"
        case _, ("array",):
            return "write it as a list, with a dash before each item"
        case _:
            return f"write {' or '.join(_article(name) for name in wanted)}"


def _shown(data: Any) -> str:
    """A value for a person to read, not longer than a line."""
    match data:
        case None:
            return "null"
        case bool():
            return str(data).lower()
        case dict():
            return "the object"
        case list() | tuple():
            return "the list"
        case _:
            text = repr(data)
            return text if len(text) <= 60 else f"{text[:57]}…"


def _list(candidates: Iterable[Any], *, plain: bool = False) -> str:
    texts = [str(c) if plain else _shown(c) for c in candidates]
    return ", ".join(texts[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")


def _rule(schema: Schema) -> str:
    """What a branch requires, in short."""
    if schema.get("required") and not schema.keys() - {"required", "properties"}:
        return f"with {' and '.join(map(str, schema['required']))}"
    return ", ".join(f"{key} {value}" for key, value in schema.items()) or "anything"
