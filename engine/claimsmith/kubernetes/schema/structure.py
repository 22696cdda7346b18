"""Checks a schema itself: what no API server accepts, with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath, regexp
from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError, Problem, suggest
from claimsmith.base.fieldpath import Path
from claimsmith.kubernetes.schema.checking import check
from claimsmith.kubernetes.schema.lookup import EMBEDDED, INT_OR_STRING, PRESERVE, Schema

TYPES = ("string", "integer", "number", "boolean", "object", "array")

_BRANCHES = ("allOf", "anyOf", "oneOf")
_NOT_IN_BRANCHES = frozenset({"type", "nullable", "default", "additionalProperties", "title", "description", PRESERVE})


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _is_fields(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, Mapping) for item in value.values())


def _of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_FIELDS_FIX = "write a field's name and schema on each line"
_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "properties": (_is_fields, _FIELDS_FIX.removeprefix("write ")),
    "items": (_of(Mapping), "one schema"),
    "additionalProperties": (_of(bool, Mapping), "true, false or a schema"),
    "required": (_is_texts, "a list of fields' names, beside properties"),
    "enum": (lambda value: isinstance(value, list) and bool(value), "a list of values"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), (_is_count, "a whole number")),
    **dict.fromkeys(("minProperties", "maxProperties"), (_is_count, "a whole number")),
    **dict.fromkeys(("minimum", "maximum"), (_is_number, "a number")),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    **{
        key: (_of(bool), "true or false") for key in ("exclusiveMinimum", "exclusiveMaximum", "nullable", "uniqueItems")
    },
    **{key: (_of(bool), "true or false") for key in (PRESERVE, INT_OR_STRING, EMBEDDED)},
    **{key: (_of(str), "a text") for key in ("type", "format", "pattern", "title", "description")},
    **dict.fromkeys(_BRANCHES, (_is_schemas, "a list of schemas")),
    "not": (_of(Mapping), "one schema"),
    "default": (lambda _: True, ""),
    "example": (lambda _: True, ""),
    "externalDocs": (_of(Mapping), "a description and a url"),
    "x-kubernetes-list-type": (lambda value: value in ("atomic", "set", "map"), "atomic, set or map"),
    "x-kubernetes-map-type": (lambda value: value in ("atomic", "granular"), "atomic or granular"),
    "x-kubernetes-list-map-keys": (_is_texts, "a list of fields' names"),
    "x-kubernetes-validations": (_of(list), "a list of rules"),
}


def check_schema(schema: Schema, *, document: Document | None, at: Path = ()) -> list[Problem]:
    """The problems of a schema, as `normalised` returns it; `at` is its path in the document."""
    checker = _Checker(document, at)
    checker.schema(schema, ())
    return checker.problems


def refuse_unreadable(schema: Schema, *, document: Document, at: Path = ()) -> None:
    """Refuse a schema with a field that has no schema of its own: nothing can be read through it.

    Whoever reads schemas relies on this. All other mistakes are left to `check_schema`.
    """
    problems = list(_without_schema(schema, document, at))
    if problems:
        raise ModelError(*problems)


def _without_schema(schema: Mapping[str, Any], document: Document, at: Path) -> Iterator[Problem]:
    named = schema.get("properties")
    if named is not None and not isinstance(named, Mapping):
        yield _problem(document, (*at, "properties"), "'properties' has a value that it cannot have", _FIELDS_FIX)
        return
    parts: dict[Path, Any] = {(key,): schema.get(key) for key in ("items", "additionalProperties", "not")}
    for name, value in (named or {}).items():
        parts["properties", name] = value
        if not isinstance(value, Mapping):
            what = f"the field {name!r} has no schema"
            fix = f"write its schema below {name}:, such as type: string"
            yield _problem(document, (*at, "properties", name), what, fix)
    for key in _BRANCHES:
        listed = schema.get(key)
        parts |= {(key, i): each for i, each in enumerate(listed)} if isinstance(listed, list) else {}
    for path, value in parts.items():
        if isinstance(value, Mapping):
            yield from _without_schema(value, document, (*at, *path))


def _problem(document: Document, path: Path, what: str, fix: str) -> Problem:
    return Problem(what, document.source_of(path), fieldpath.to_text(path), fix)


@dataclass
class _Checker:
    document: Document | None
    at: Path
    problems: list[Problem] = field(default_factory=list)

    def schema(self, schema: Schema, path: Path, *, branch: bool = False) -> None:
        """Check one schema and those in it; a `branch` of anyOf and the like only adds rules."""
        before = len(self.problems)
        for key, value in schema.items():
            self._keyword(key, value, path)
        if len(self.problems) > before:
            return
        if branch:
            self._branch(schema, path)
        else:
            self._type(schema, path)
        self._pairs(schema, path)
        for name, inner in (schema.get("properties") or {}).items():
            self.schema(inner, (*path, "properties", name), branch=branch)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), Mapping):
                self.schema(schema[key], (*path, key), branch=branch)
        for key in _BRANCHES:
            for index, inner in enumerate(schema.get(key) or ()):
                self.schema(inner, (*path, key, index), branch=True)
        if "not" in schema:
            self.schema(schema["not"], (*path, "not"), branch=True)
        if len(self.problems) == before:
            self._list_keys(schema, path)
        if schema.get("default") is not None and len(self.problems) == before:
            self.problems += check(schema["default"], schema, document=self.document, at=(*self.at, *path, "default"))

    def _keyword(self, key: str, value: Any, path: Path) -> None:
        rule = _RULES.get(key)
        if rule is None:
            fix = suggest(key, _RULES, "remove it; a field of the kind belongs under properties")
            self._add((*path, key), f"{key!r} is no keyword of a schema", fix)
        elif not rule[0](value):
            self._add((*path, key), f"{key!r} has a value that it cannot have", f"write {rule[1]}")
        elif key == "pattern":
            try:
                regexp.compiled(value)
            except regexp.BadPattern as error:
                self._add((*path, key), f"the pattern {value!r} cannot be read: {error}", "write it as RE2 has it")

    def _branch(self, schema: Schema, path: Path) -> None:
        """Branches do not define what a value is, but for the one pair that Kubernetes accepts."""
        pair = schema in ({"type": "integer"}, {"type": "string"}) and path[-2:-1] == ("anyOf",)
        for key in () if pair else sorted(_NOT_IN_BRANCHES & schema.keys()):
            what = f"{key!r} cannot stand in a branch of anyOf, oneOf, allOf or not"
            self._add((*path, key), what, "write it outside of the branch")

    def _type(self, schema: Schema, path: Path) -> None:
        written = schema.get("type")
        untyped = schema.get(PRESERVE) or schema.get(INT_OR_STRING)
        if written is None and not untyped:
            self._add(path, "the schema has no type", f"add type: one of {', '.join(TYPES)}")
        elif written is not None and written not in TYPES:
            self._add((*path, "type"), f"{written!r} is no type", suggest(str(written), TYPES))

    def _pairs(self, schema: Schema, path: Path) -> None:
        """Keywords that do not go together, or not with this type."""
        if schema.get("properties") and "additionalProperties" in schema:
            fix = f"keep one of the two; for fields of any name beside those named, {PRESERVE}: true"
            self._add((*path, "additionalProperties"), "additionalProperties is beside properties", fix)
        if schema.get("uniqueItems"):
            self._add((*path, "uniqueItems"), "uniqueItems is refused by Kubernetes", "use x-kubernetes-list-type: set")
        named = schema.get("properties") or {}
        for name in schema.get("required") or ():
            if named and name not in named and not schema.get(PRESERVE):
                fix = suggest(name, named, f"name it under properties: {', '.join(named)}")
                self._add((*path, "required"), f"the required field {name!r} is not among the properties", fix)

    def _list_keys(self, schema: Schema, path: Path) -> None:
        """The fields that identify the items of a list."""
        keys, items = schema.get("x-kubernetes-list-map-keys") or (), schema.get("items") or {}
        if (schema.get("x-kubernetes-list-type") == "map") != bool(keys):
            fix = "set both x-kubernetes-list-type: map and x-kubernetes-list-map-keys, or neither"
            self._add(path, "x-kubernetes-list-type: map goes with x-kubernetes-list-map-keys", fix)
        for key in keys:
            inner = (items.get("properties") or {}).get(key) or {}
            if key not in (items.get("required") or ()) and "default" not in inner:
                what = f"the key {key!r} may be missing from an item"
                self._add((*path, "x-kubernetes-list-map-keys"), what, f"make {key} a required property of the items")

    def _add(self, path: Path, what: str, fix: str) -> None:
        full = (*self.at, *path)
        where = self.document.source_of(full) if self.document else None
        self.problems.append(Problem(what, where, fieldpath.to_text(full), fix))
