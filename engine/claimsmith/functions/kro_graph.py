"""A `ResourceGraph` of kro as data: its nodes, the expressions in them, and what depends on what.

An expression stands between `${` and `}` in a text. A text that is one expression becomes the expression's value;
others become text. Which nodes an expression refers to is read from its identifiers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from pydantic import Field

from claimsmith.base import fieldpath
from claimsmith.base.errors import ReferenceError_, did_you_mean, suggest
from claimsmith.base.topological import ordered
from claimsmith.base.values import object_at
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import inputs
from claimsmith.functions.registry import Place

SCHEMA: Final = "schema"
"""The variable that holds the composite."""
EACH: Final = "each"
"""The variable that holds one item of a collection in `readyWhen`."""
_MOST_DIMENSIONS = 10
_OWN_LABELS = "kro.run/"
_IDENTIFIER = re.compile(r"[a-z][a-zA-Z0-9]*\Z")
_TOKEN = re.compile(
    r"""(?P<text>[rRbB]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))"""
    r"""|(?P<name>[A-Za-z_]\w*)|(?P<other>\.\?|\S)""",
    re.DOTALL,
)
# fmt: off
_RESERVED: Final = frozenset({
    "apiVersion", "context", "dependency", "dependencies", "each", "externalRef", "externalReference",
    "externalRefs", "externalReferences", "graph", "instance", "item", "items", "kind", "kro", "metadata",
    "namespace", "object", "resource", "resourcegraphdefinition", "resourceGraphDefinition", "resources",
    "root", "runtime", "schema", "self", "serviceAccountName", "spec", "status", "this", "variables", "vars",
    "version", "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
    "if", "import", "let", "loop", "package", "return", "var", "void", "while",
})
# fmt: on
"""Words of kro and of CEL."""


class NodeKind(Enum):
    """What a node stands for."""

    resource = "resource"
    collection = "collection"
    external = "external"
    external_collection = "external collection"

    @property
    def is_list(self) -> bool:
        """Whether expressions see it as a list."""
        return self in (NodeKind.collection, NodeKind.external_collection)

    @property
    def is_external(self) -> bool:
        """Whether it is only read."""
        return self in (NodeKind.external, NodeKind.external_collection)


@dataclass(frozen=True, slots=True)
class Code:
    """An expression, its place in the input, and the names that it refers to."""

    text: str
    at: str
    names: frozenset[str] = frozenset()
    chains: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """What it reads of each name, field by field."""


@dataclass(frozen=True, slots=True)
class Node:
    """One resource of the graph."""

    id: str
    kind: NodeKind
    template: Mapping[str, Any]
    at: str
    fields: Mapping[fieldpath.Path, Code]
    """The expressions of the template, by their paths."""
    include_when: tuple[Code, ...] = ()
    ready_when: tuple[Code, ...] = ()
    for_each: tuple[tuple[str, Code], ...] = ()

    @property
    def iterators(self) -> frozenset[str]:
        """The names of its loops' variables."""
        return frozenset(name for name, _ in self.for_each)

    def needs(self) -> Iterator[tuple[str, str]]:
        """The names that it refers to, and where."""
        for code in (*self.fields.values(), *self.include_when, *(code for _, code in self.for_each)):
            for name in sorted(code.names - self.iterators - {SCHEMA}):
                yield name, code.at


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes in the order of their needs, and the expressions of the composite's status."""

    nodes: tuple[Node, ...]
    status: Mapping[fieldpath.Path, Code]


class _Resource(Lenient):
    id: str
    template: dict[str, Any] | None = None
    external_ref: dict[str, Any] | None = None
    ready_when: tuple[str, ...] = Field((), strict=False)
    include_when: tuple[str, ...] = Field((), strict=False)
    for_each: tuple[dict[str, str], ...] = Field((), strict=False)


class _Input(inputs.FunctionInput):
    status: dict[str, Any] = Field(default_factory=dict)
    resources: tuple[_Resource, ...] = Field((), strict=False)


def read(place: Place) -> Graph:
    """The graph in a step's input; what is wrong in it is refused with its place."""
    raw = inputs.read(_Input, place)
    _check_names(place, raw.resources)
    ids = frozenset(r.id for r in raw.resources)
    nodes = {r.id: _node(place, r, index, ids) for index, r in enumerate(raw.resources)}
    needs = {node.id: tuple(node.needs()) for node in nodes.values()}
    try:
        order = ordered(list(nodes), needs)
    except ReferenceError_ as error:
        raise inputs.problem(place, error.problems[0].what, "resources", "break the circle") from error
    status = _fields(place, raw.status, ("status",), ids, omits=False)
    plain = [p for p, v in _leaves(raw.status, ("status",)) if p not in status and v is not None]
    if plain:
        what = "a field of the status has no expression"
        raise inputs.problem(place, what, fieldpath.to_text(plain[0]), "write ${…}, or remove it")
    for path, code in status.items():
        if not code.names - {SCHEMA}:
            what = "an expression of the status must refer to a resource"
            raise inputs.problem(place, what, fieldpath.to_text(path), suggest("", ids))
    return Graph(tuple(nodes[id_] for id_ in order), status)


def _check_names(place: Place, resources: Sequence[_Resource]) -> None:
    ids = [r.id for r in resources]
    for index, resource in enumerate(resources):
        at = f"resources[{index}]"
        if resource.id in _RESERVED or not _IDENTIFIER.match(resource.id):
            what = f"{resource.id!r} cannot be the id of a resource"
            raise inputs.problem(place, what, f"{at}.id", "use lower camel case, and no word that kro reserves")
        if ids.count(resource.id) > 1:
            raise inputs.problem(place, f"two resources have the id {resource.id!r}", f"{at}.id", "give each its own")
        if (resource.template is None) == (resource.external_ref is None):
            what = f"the resource {resource.id!r} needs a template or an externalRef, and not both"
            raise inputs.problem(place, what, at, "write one of the two")
        if resource.external_ref is not None and resource.for_each:
            what = f"the resource {resource.id!r} has both externalRef and forEach"
            raise inputs.problem(place, what, f"{at}.forEach", "remove one of the two")
        _check_iterators(place, resource, at, ids)


def _check_iterators(place: Place, resource: _Resource, at: str, ids: Sequence[str]) -> None:
    names = [name for dimension in resource.for_each for name in dimension]
    if len(resource.for_each) > _MOST_DIMENSIONS:
        what = f"the resource {resource.id!r} has {len(names)} loops; the most is {_MOST_DIMENSIONS}"
        raise inputs.problem(place, what, f"{at}.forEach", "use fewer")
    for index, dimension in enumerate(resource.for_each):
        if len(dimension) != 1:
            raise inputs.problem(place, "a loop has one variable", f"{at}.forEach[{index}]", "write `- name: ${…}`")
    for name in names:
        if name in _RESERVED or name in ids or names.count(name) > 1 or not _IDENTIFIER.match(name):
            what = f"{name!r} cannot be the variable of a loop"
            raise inputs.problem(place, what, f"{at}.forEach", "use lower camel case, and a name of its own")


def _node(place: Place, raw: _Resource, index: int, ids: frozenset[str]) -> Node:
    key = "template" if raw.template is not None else "externalRef"
    template = raw.template if raw.template is not None else dict(raw.external_ref or {})
    at: fieldpath.Path = ("resources", index)
    _check_template(place, raw, template, fieldpath.to_text((*at, key)))
    external = raw.external_ref is not None
    selected = external and "selector" in object_at(template, "metadata")
    kind = (
        NodeKind.external_collection
        if selected
        else NodeKind.external
        if external
        else NodeKind.collection
        if raw.for_each
        else NodeKind.resource
    )
    iterators = frozenset(name for dimension in raw.for_each for name in dimension)
    return Node(
        raw.id,
        kind,
        template,
        fieldpath.to_text(at),
        {
            path[3:]: code
            for path, code in _fields(place, template, (*at, key), ids - {raw.id} | iterators, omits=True).items()
        },
        _conditions(place, raw.include_when, (*at, "includeWhen"), ids - {raw.id}),
        _conditions(place, raw.ready_when, (*at, "readyWhen"), frozenset({EACH} if kind.is_list else {raw.id})),
        tuple(
            (name, _standalone(place, text, (*at, "forEach", i, name), ids - {raw.id}))
            for i, dimension in enumerate(raw.for_each)
            for name, text in dimension.items()
        ),
    )


def _check_template(place: Place, raw: _Resource, template: Mapping[str, Any], at: str) -> None:
    for key in ("apiVersion", "kind"):
        if not isinstance(template.get(key), str):
            raise inputs.problem(place, f"the resource {raw.id!r} has no {key}", at, f"add {key}:")
    if not isinstance(template.get("metadata"), Mapping):
        raise inputs.problem(place, f"the resource {raw.id!r} has no metadata", at, "add metadata: {}")
    for label in object_at(object_at(template, "metadata"), "labels"):
        if str(label).startswith(_OWN_LABELS):
            what = f"the label {label} is kro's own"
            raise inputs.problem(place, what, f"{at}.metadata.labels", "use another")


def _conditions(place: Place, texts: Sequence[str], at: fieldpath.Path, ids: frozenset[str]) -> tuple[Code, ...]:
    return tuple(_standalone(place, text, (*at, index), ids) for index, text in enumerate(texts))


def _standalone(place: Place, text: str, at: fieldpath.Path, ids: frozenset[str]) -> Code:
    parts = _parts(place, text, at)
    if len(parts) != 1 or parts[0][0]:
        what = f"{text!r} is not one expression"
        raise inputs.problem(place, what, fieldpath.to_text(at), "write ${…} around all of it")
    return _code(place, parts[0][1], at, ids, omits=False)


def _fields(
    place: Place, data: Any, at: fieldpath.Path, ids: frozenset[str], *, omits: bool
) -> dict[fieldpath.Path, Code]:
    """The expressions in a document, by their paths."""
    found: dict[fieldpath.Path, Code] = {}
    for path, value in _leaves(data, at):
        parts = _parts(place, value, path) if isinstance(value, str) else []
        if not any(not literal for literal, _ in parts):
            continue
        whole = len(parts) == 1
        text = parts[0][1] if whole else " + ".join(_quoted(t) if literal else f"({t})" for literal, t in parts)
        found[path] = _code(place, text, path, ids, omits=omits and whole)
    return found


def _quoted(text: str) -> str:
    """A text as CEL writes it, which has no escapes for halves of surrogate pairs."""
    return json.dumps(text, ensure_ascii=False)


def _leaves(value: Any, path: fieldpath.Path) -> Iterator[tuple[fieldpath.Path, Any]]:
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _leaves(item, (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from _leaves(item, (*path, index))
        case _:
            yield path, value


def _code(place: Place, text: str, at: fieldpath.Path, ids: frozenset[str], *, omits: bool) -> Code:
    chains, calls = chains_of(text)
    names = {chain[0] for chain in chains}
    known = ids | {SCHEMA}
    where = fieldpath.to_text(at)
    if "omit" in calls and not omits:
        raise inputs.problem(place, "omit() can only be the value of a template's field", where, "remove it")
    # A name that is close to an id is a slip; others are variables of macros, which the engine checks.
    for name in sorted(names - known):
        if name not in _locals(text) and did_you_mean(name, known):
            what = f"the expression `{text}` refers to {name!r}, which is no resource"
            raise inputs.problem(place, what, where, did_you_mean(name, known))
    used = tuple(c for c in chains if c[0] in known)
    return Code(text, where, frozenset(names & known), used)


def _locals(text: str) -> frozenset[str]:
    """The names that macros such as map and exists introduce."""
    return frozenset(re.findall(r"[(,]\s*([A-Za-z_]\w*)\s*(?=,)", text))


def chains_of(text: str) -> tuple[list[tuple[str, ...]], frozenset[str]]:
    """The chains of fields that an expression reads, each from its first name on, and the functions that it calls."""
    tokens = [(m.lastgroup, m.group()) for m in _TOKEN.finditer(text)]
    chains: list[tuple[str, ...]] = []
    calls: set[str] = set()
    index = 0
    while index < len(tokens):
        kind, token = tokens[index]
        before = tokens[index - 1][1] if index else ""
        after = tokens[index + 1][1] if index + 1 < len(tokens) else ""
        index += 1
        if kind != "name" or before in (".", ".?"):
            continue
        if after == "(":
            calls.add(token)
            continue
        chain = [token]
        while index + 1 < len(tokens) and tokens[index][1] in (".", ".?") and tokens[index + 1][0] == "name":
            if index + 2 < len(tokens) and tokens[index + 2][1] == "(":
                break
            chain.append(tokens[index + 1][1])
            index += 2
        chains.append(tuple(chain))
    return chains, frozenset(calls)


def _parts(place: Place, text: str, at: fieldpath.Path) -> list[tuple[bool, str]]:
    """A text as literal parts (True) and expressions (False)."""
    parts: list[tuple[bool, str]] = []
    position = searched = 0
    while (start := text.find("${", searched)) >= 0:
        end = _closing(text, start + 2)
        if end < 0:  # an expression that never ends is text, as in kro
            searched = start + 1
            continue
        if "${" in _outside_texts(text[start + 2 : end]):
            what = "an expression is inside another"
            raise inputs.problem(place, what, fieldpath.to_text(at), "join them with +")
        if start > position:
            parts.append((True, text[position:start]))
        parts.append((False, text[start + 2 : end].strip()))
        position = searched = end + 1
    if position < len(text):
        parts.append((True, text[position:]))
    return parts


def _closing(text: str, start: int) -> int:
    depth, quoted, index = 1, False, start
    while index < len(text):
        char = text[index]
        if quoted and char == "\\":
            index += 2
            continue
        if char == '"':
            quoted = not quoted
        elif not quoted:
            depth += {"{": 1, "}": -1}.get(char, 0)
            if not depth:
                return index
        index += 1
    return -1


def _outside_texts(expression: str) -> str:
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', expression)


def unknown_fields(
    code: Code, variables: Mapping[str, tuple[Mapping[str, Any], NodeKind | None]]
) -> Iterable[tuple[str, str, str]]:
    """What an expression reads that a schema does not have: chain, field, and the nearest field."""
    for name, *fields in code.chains:
        schema, kind = variables.get(name, ({}, None))
        if not schema or (kind and kind.is_list):
            continue
        for position, each in enumerate(fields):
            properties = object_at(schema, "properties")
            open_ended = "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields")
            if not properties or open_ended or each in ("apiVersion", "kind", "metadata"):
                break
            if each not in properties:
                yield ".".join((name, *fields[: position + 1])), each, suggest(each, properties)
                break
            schema = object_at(properties, each)
