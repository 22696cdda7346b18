"""YAML text in, documents out, with the line of every field.

YAML is read the way a careful person reads it: a key may stand once, `no` is a word and
2024-01-01 is a text, and a text that would unfold to something huge is refused. Nothing here
knows what a document means, or touches a file.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import yaml

from claimsmith.base import fieldpath
from claimsmith.base.errors import Collector, LoadError, Problem, Source

MAX_NODES = 200_000
MAX_DEPTH = 64
MAX_TEXT = 8 * 1024 * 1024
"""So many characters a document may have once its aliases are followed: what a file may have without any."""

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)$")
_OCTAL_LIKE = re.compile(r"[-+]?0[0-9_]+$|[-+]?0[xo][0-9a-fA-F_]+$")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
_LOSES_ZEROS = re.compile(r"[-+]?[0-9]*\.[0-9]+0$")
"""A number that would come out shorter: version 1.10 must not become 1.1."""
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}

_PLAIN = ("null", "bool", "int", "float", "str", "timestamp", "merge", "value", "seq", "map")
_TAGS = {f"tag:yaml.org,2002:{t}" for t in _PLAIN}
_SUSPICIOUS = 1000
"""So many collections may be nested before the C stack is in danger, with a wide margin."""
_DEEP_BLOCK = re.compile(rf"^[ ?:\-]{{{_SUSPICIOUS}}}", re.MULTILINE)

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT, _BINARY = "tag:yaml.org,2002:str", "tag:yaml.org,2002:binary"
_UNTAGGED = "tag:claimsmith.io,2026:plain"

Plain = Callable[[str], Any]
"""What a scalar without quotes and without a tag stands for."""


class _PlainLoader(_Loader):  # type: ignore[misc,valid-type]  # the C loader, where there is one
    """Leaves plain scalars to their reader."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: Any) -> str:
        """The tag of a node that has none."""
        if kind is yaml.ScalarNode:
            return _UNTAGGED if implicit[0] else _TEXT
        return str(super().resolve(kind, value, implicit))


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its data, and where each of its fields stands."""

    data: dict[str, Any]
    file: str
    line: int = 1
    text: str = field(default="", repr=False, compare=False)
    """The document's own part of the file, from its first line on."""
    at: fieldpath.Path = field(default=(), repr=False, compare=False)
    """Where it is in that part, if it is an item of a list."""

    def source_of(self, path: fieldpath.Path | str = ()) -> Source:
        """The place of the deepest part of the path that the file really has.

        The document is parsed once more to find it: positions are only wanted when something is
        wrong or is explained, and keeping them for ten thousand documents would cost more than their data.
        """
        steps = (*self.at, *(fieldpath.parse(path) if isinstance(path, str) else path))
        if not self.text:
            return Source(self.file, self.line)
        node = _node(self.text)
        mark = node.start_mark
        for step in steps:
            match node:
                case yaml.MappingNode():
                    found = [(key, value) for key, value in node.value if key.value == str(step)]
                case yaml.SequenceNode() if isinstance(step, int) and step < len(node.value):
                    found = [(node.value[step], node.value[step])]
                case _:
                    found = []
            if not found:
                break
            key, node = found[0]
            mark = key.start_mark
        return Source(self.file, self.line + mark.line, mark.column + 1)

    def problem(self, what: str, path: fieldpath.Path | str, fix: str) -> Problem:
        """A problem with a field of the document, at its place in the file."""
        return Problem(what, self.source_of(path), path if isinstance(path, str) else fieldpath.to_text(path), fix)

    def unrolled(self) -> Iterator[Document]:
        """The items of a List, as kubectl prints several objects, each a document of its own; else the document."""
        if (self.data.get("apiVersion"), self.data.get("kind")) != ("v1", "List"):
            yield self
            return
        items = self.data.get("items") or []
        for index, item in enumerate(items if isinstance(items, list) else [None]):
            if not isinstance(item, dict):
                what = "the items of a List must be objects"
                fix = "list objects, each with apiVersion: and kind:"
                raise LoadError(self.problem(what, f"items[{index}]" if isinstance(items, list) else "items", fix))
            yield from replace(self, data=item, at=(*self.at, "items", index)).unrolled()

    def sources_of_items(self, key: str) -> list[Source]:
        """The place of each item of a list at the top, for lists that are too long to ask one by one."""
        root: yaml.Node = next(iter(yaml.compose_all(self.text, Loader=_Loader)))
        items = next(value.value for name, value in root.value if name.value == key)
        marks = [item.start_mark for item in items]
        return [Source(self.file, self.line + mark.line, mark.column + 1) for mark in marks]


def read_documents(text: str, *, file: str, repeated: bool = False, plain: Plain | None = None) -> list[Document]:
    """All documents of a text, empty ones left out. Where keys may be repeated, the last one counts.

    With `plain`, the text is read as other tools read YAML: it says what plain scalars stand for, keys among them, and
    merge keys and unknown tags are read too.
    """
    problems = Collector()
    documents: list[Document] = []
    # Marks do not count it.
    text = text.removeprefix("\ufeff")
    nodes = _nodes(text, file, _PlainLoader if plain else _Loader)
    starts = [text.rfind("\n", 0, node.start_mark.index) + 1 for node in nodes]
    for node, begin, end in zip(nodes, starts, [*starts[1:], len(text)], strict=False):
        start = node.start_mark
        with problems.catch():
            builder = _Builder(file, plain)
            data = builder.build(node, 0)
            problems.problems.extend(() if repeated else builder.problems)
            if data is None:
                continue
            if not isinstance(data, dict):
                what, where = f"a document must be a mapping, not {_kind(data)}", _place(file, start)
                raise LoadError(Problem(what, where, fix="start it with apiVersion: and kind:"))
            documents.append(Document(data, file, start.line + 1, text[begin:end]))
    problems.raise_as(LoadError)
    return documents


def _place(file: str, mark: yaml.Mark) -> Source:
    return Source(file, mark.line + 1, mark.column + 1)


def _nodes(text: str, file: str, loader: Any) -> list[yaml.Node]:
    try:
        _refuse_depth(text, file)
        return list(yaml.compose_all(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = _place(file, mark) if mark else Source(file)
        raise LoadError(
            Problem(f"not valid YAML: {error.problem or error.context}", where, fix="fix the YAML here")
        ) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        what = f"not valid YAML: half of a character, {text[error.start]!r}"
        raise LoadError(Problem(what, Source(file, line), fix="write the whole character")) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise LoadError(Problem(f"not valid YAML: {error}".split("\n")[0], Source(file), fix="fix the YAML")) from error


def _refuse_depth(text: str, file: str) -> None:
    """Refuse a text so deep that composing it, which recurses in C, would end the process.

    Few texts are suspicious; only these are parsed once more, by a parser that does not recurse.
    """
    if text.count("[") + text.count("{") < _SUSPICIOUS and not _DEEP_BLOCK.search(text):
        return
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH + 1:
            mark = event.start_mark
            raise LoadError(_too_large(_place(file, mark)))


def _too_large(where: Source) -> Problem:
    what = "the document is too large or too deep once its aliases are followed"
    return Problem(what, where, fix="write it out, smaller")


@lru_cache(maxsize=16)
def _node(text: str) -> yaml.Node:
    """The one document of a text, before whatever separates it from the next."""
    node: yaml.Node = next(iter(yaml.compose_all(text, Loader=_Loader)))
    return node


class _Builder:
    """Turns nodes into plain data; counts them, so that aliases cannot unfold without end."""

    def __init__(self, file: str, plain: Plain | None = None) -> None:
        self.file = file
        self.plain = plain
        self.count = self.length = 0
        self.problems: list[Problem] = []

    def build(self, node: yaml.Node, depth: int) -> Any:
        self._counted(node, depth)
        if node.tag not in _TAGS and not self.plain:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise LoadError(Problem(f"the YAML tag {tag} is not read", self._at(node), fix="write a plain value"))
        match node:
            case yaml.ScalarNode():
                return self._scalar(node)
            case yaml.SequenceNode():
                return [self.build(item, depth + 1) for item in node.value]
            case yaml.MappingNode():
                return self._mapping(node, depth)
            case _:
                raise AssertionError(f"unknown YAML node {node!r}")

    def _counted(self, node: yaml.Node, depth: int) -> None:
        self.count += 1
        if self.count > MAX_NODES or depth > MAX_DEPTH:
            raise LoadError(_too_large(self._at(node)))

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                fix = "quote the key, or fix the indentation"
                raise LoadError(Problem("a key must be a plain text", self._at(key_node), fix=fix))
            if self.plain and key_node.tag == _UNTAGGED and key_node.value == "<<":
                result |= self._merged(value_node, depth)
                continue
            key = self._key(key_node)
            if key_node.tag == "tag:yaml.org,2002:merge" and key == "<<":
                what = "merge keys ('<<') are not read"
                raise LoadError(Problem(what, self._at(key_node), fix="write the fields out"))
            if key in lines:
                what = f"the key {key!r} occurs twice; the first is on line {lines[key]}"
                self.problems.append(Problem(what, self._at(key_node), fix="remove one of the two"))
            lines[key] = key_node.start_mark.line + 1
            result[key] = self.build(value_node, depth + 1)
        return result

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = node.value
        self.length += len(text)
        if self.length > MAX_TEXT:
            raise LoadError(_too_large(self._at(node)))
        if self.plain:
            return self._plain(node, self.plain)
        if node.style or node.tag == _TEXT:
            return text
        if text in _NULLS:
            return None
        if text in _BOOLS:
            return _BOOLS[text]
        if _INT.match(text):
            return int(text) if len(text) < 64 else text
        if _FLOAT.match(text) and not _OCTAL_LIKE.match(text) and not _LOSES_ZEROS.match(text):
            return float(text) if math.isfinite(float(text)) else text
        return text

    def _plain(self, node: yaml.ScalarNode, read: Plain) -> Any:
        """A scalar as other tools read it: a tag that they do not know makes it a text."""
        if node.tag == _BINARY:
            try:
                return base64.b64decode(node.value, validate=True).decode()
            except ValueError:
                raise LoadError(Problem("!!binary is no base64", self._at(node), fix="encode it as base64")) from None
        value = read(node.value) if node.tag == _UNTAGGED or (node.tag in _TAGS and node.tag != _TEXT) else node.value
        if isinstance(value, float) and not math.isfinite(value):
            what = f"{node.value} is a number that no document can hold"
            raise LoadError(Problem(what, self._at(node), fix="quote it, or write a finite number"))
        return value

    def _key(self, node: yaml.ScalarNode) -> str:
        value = self._plain(node, self.plain) if self.plain else node.value
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None:
            raise LoadError(Problem("a key must be a text, not null", self._at(node), fix="quote the key"))
        return f"{value:g}" if isinstance(value, float) else str(value)

    def _merged(self, node: yaml.Node, depth: int) -> dict[str, Any]:
        """The fields that a merge key adds; of several objects, the first counts."""
        several = node.value if isinstance(node, yaml.SequenceNode) else [node]
        fields: dict[str, Any] = {}
        for item in reversed(several):
            if not isinstance(item, yaml.MappingNode):
                raise LoadError(Problem("a merge key ('<<') needs an object", self._at(item), fix="merge an object"))
            self._counted(item, depth + 1)
            fields |= self._mapping(item, depth + 1)
        return fields

    def _at(self, node: yaml.Node) -> Source:
        return _place(self.file, node.start_mark)


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "a truth value"}.get(type(value), "a number")
