"""function-kro: resources of a `ResourceGraph`, whose fields are CEL expressions over the composite and each other.

A resource is desired once all that it refers to exists and is ready. `forEach` creates one resource for each item,
named by its own metadata.name; `includeWhen` decides whether there is a resource at all, `readyWhen` whether it is
ready. An `externalRef` is read from the cluster, and never changed. OpenAPI schemas are required for checks, and the
graph also runs without them: then an expression that reads a field that no schema has waits for it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, EngineError, Problem, Source
from claimsmith.base.values import object_at
from claimsmith.functions import cel, cel_types, inputs, kro_graph
from claimsmith.functions.cel import OMIT, AbsentValue
from claimsmith.functions.cel_types import Types
from claimsmith.functions.kro_graph import EACH, SCHEMA, Code, Graph, Node, NodeKind
from claimsmith.functions.protocol import (
    Function,
    Ready,
    Request,
    Requirements,
    Resource,
    Response,
    Result,
    SchemaSelector,
    Selector,
    Severity,
    State,
)
from claimsmith.functions.registry import Place

_INDEX_LABEL: Final = "kro.run/collection-index"
_MOST_ITEMS: Final = 1000


class _Waiting(Exception):  # not an error: the resource follows later
    """Something that a node needs does not exist yet, or is not ready."""


def bind(place: Place) -> Function:
    """The function for one step."""
    graph = kro_graph.read(place)

    def run(request: Request) -> Response:
        return _Run(place, graph, request).run()

    return run


@dataclass(slots=True)
class _Run:
    place: Place
    graph: Graph
    request: Request
    nodes: dict[str, Node] = field(init=False)
    observed: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    desired: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ignored: dict[str, bool] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    waiting: list[Node] = field(default_factory=list)
    """The nodes that are not composed yet."""
    created: dict[str, Node] = field(default_factory=dict)
    """The node of each composed resource."""

    def __post_init__(self) -> None:
        self.nodes = {node.id: node for node in self.graph.nodes}

    def run(self) -> Response:
        composite = self.request.observed.composite.document
        self.observed[SCHEMA] = [{key: value for key, value in composite.items() if key != "status"}]
        self._check_schemas()
        self._observe()
        selectors = self._selectors()
        resources = {**self.request.desired.resources, **dict(self._composed())}
        head = {key: composite[key] for key in ("apiVersion", "kind") if key in composite}
        before = self.request.desired.composite
        return replace(
            Response.to(self.request),
            desired=State(Resource({**head, **self._status()}, ready=before.ready), resources),
            requirements=Requirements(resources=selectors, schemas=self._schemas()),
            results=(*(Result.of(Severity.warning, problem) for problem in self.warnings), *self._waiting()),
            origins={name: partial(self._origin, node) for name, node in self.created.items()},
        )

    def _waiting(self) -> Iterator[Result]:
        """What follows once others exist: Crossplane's function composes it without a word."""
        for node in self.waiting:
            if needed := ", ".join(repr(need.id) for need in self._needs(node)):
                what = f"{node.id!r} follows once {needed} exists, and has all that it reads"
                problem = Problem(what, self._origin(node, ()), fix="deploy again then")
                yield replace(Result.of(Severity.normal, problem), remark=True)

    def _origin(self, node: Node, path: fieldpath.Path) -> Source | None:
        """Where a field of a resource is written."""
        at = f"{self.place.step.at}.{node.at}.template"
        return self.place.document.source_of((*fieldpath.parse(at), *path))

    # What is required

    def _schemas(self) -> dict[str, SchemaSelector]:
        documents = [self.request.observed.composite.document, *(node.template for node in self.graph.nodes)]
        return {_kind_text(d): SchemaSelector(str(d.get("apiVersion", "")), str(d.get("kind", ""))) for d in documents}

    def _check_schemas(self) -> None:
        """Refuse expressions that read a field which the schema does not have."""
        schemas = self.request.required_schemas
        composite = schemas.get(_kind_text(self.request.observed.composite.document), {})
        variables: dict[str, tuple[Mapping[str, Any], NodeKind | None]] = {SCHEMA: (composite, None)}
        variables |= {n.id: (schemas.get(_kind_text(n.template), {}), n.kind) for n in self.graph.nodes}
        for code, _ in self._scopes():
            for chain, name, fix in kro_graph.unknown_fields(code, variables):
                what = f"the expression `{code.text}` reads {chain}, and the schema has no field {name!r}"
                raise inputs.problem(self.place, what, code.at, fix)
        self._check_types(variables)

    def _check_types(self, schemas: Mapping[str, tuple[Mapping[str, Any], NodeKind | None]]) -> None:
        """Refuse expressions that no value of the schemas fits."""
        if not any(schema for schema, _ in schemas.values()):
            return
        for code, scope in self._scopes():
            types = Types()
            for name in code.names:
                schema, kind = schemas.get(name, ({}, None))
                types.declare(name, cel_types.resource(schema), listed=bool(kind and kind.is_list))
            types.variables |= dict.fromkeys(scope, cel_types.ANY)
            found = cel.expression(code.text, types.variables, seconds=self.place.timeout).type_problems(types)
            for what, fix in found:
                raise inputs.problem(self.place, f"the expression `{code.text}`: {what}", code.at, fix)

    def _scopes(self) -> Iterator[tuple[Code, frozenset[str]]]:
        """All expressions, each with the variables whose types no schema has."""
        yield from ((code, frozenset()) for code in self.graph.status.values())
        for node in self.graph.nodes:
            yield from ((code, node.iterators) for code in node.fields.values())
            yield from ((code, frozenset()) for code in node.include_when)
            yield from ((code, frozenset({EACH} if node.kind.is_list else ())) for code in node.ready_when)
            yield from ((code, frozenset()) for _, code in node.for_each)

    def _selectors(self) -> dict[str, Selector]:
        found: dict[str, Selector] = {}
        for node in self.graph.nodes:
            if not node.kind.is_external:
                continue
            try:
                found[node.id] = self._selector(node)
            except _Waiting:
                continue
        return found

    def _selector(self, node: Node) -> Selector:
        if node.kind is NodeKind.external_collection:
            self._await_needs(node)
        document = self._resolved(node, {})
        metadata = object_at(document, "metadata")
        namespace = metadata.get("namespace")
        version, kind = str(document["apiVersion"]), str(document["kind"])
        if node.kind is NodeKind.external_collection:
            labels = object_at(object_at(metadata, "selector"), "matchLabels")
            wanted = {str(k): str(v) for k, v in labels.items()}
            return Selector(version, kind, labels=wanted, namespace=str(namespace or ""))
        own = object_at(self.request.observed.composite.document, "metadata").get("namespace")
        return Selector(version, kind, name=str(metadata.get("name", "")), namespace=str(namespace or own or ""))

    # What exists

    def _observe(self) -> None:
        required = self.request.required_resources or {}
        for node in self.graph.nodes:
            if node.kind.is_external and required.get(node.id):
                self.observed[node.id] = [r.document for r in required[node.id]]
        for name, resource in self.request.observed.resources.items():
            owner = name if name in self.nodes else self._collection_of(name, resource.document)
            if owner:
                self.observed.setdefault(owner, []).append(resource.document)
        for node in self.graph.nodes:
            if node.kind is NodeKind.collection and node.id in self.observed:
                self.observed[node.id].sort(key=_index)

    def _collection_of(self, name: str, document: Mapping[str, Any]) -> str:
        """The collection that an item is of: the longest id that its name begins with."""
        if _INDEX_LABEL not in object_at(object_at(document, "metadata"), "labels"):
            return ""
        parts = name.split("-")
        prefixes = ("-".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
        return next((p for p in prefixes if p in self.nodes and self.nodes[p].kind.is_list), "")

    # What is desired

    def _composed(self) -> Iterator[tuple[str, Resource]]:
        for node in self.graph.nodes:
            if node.kind.is_external:
                continue
            try:
                if self._is_ignored(node):
                    continue
                self._await_needs(node)
                documents = list(self._expanded(node))
            except _Waiting:
                self.waiting.append(node)
                continue
            self._check_distinct(node, documents)
            self.desired[node.id] = documents
            for document in documents:
                suffix = f"-{_name(document)}" if node.kind is NodeKind.collection else ""
                self.created[f"{node.id}{suffix}"] = node
                yield f"{node.id}{suffix}", Resource(document, ready=self._verdict(node))

    def _expanded(self, node: Node) -> Iterator[dict[str, Any]]:
        if node.kind is not NodeKind.collection:
            yield self._resolved(node, {})
            return
        dimensions = [(name, self._items(node, name, code)) for name, code in node.for_each]
        size = math.prod(len(items) for _, items in dimensions)
        if size > _MOST_ITEMS:
            what = f"the collection {node.id!r} has {size} items; the most is {_MOST_ITEMS}"
            raise inputs.problem(self.place, what, f"{node.at}.forEach", "loop over less")
        names = [name for name, _ in dimensions]
        for index, values in enumerate(itertools.product(*(items for _, items in dimensions))):
            document = self._resolved(node, dict(zip(names, values, strict=True)))
            metadata = document["metadata"]
            metadata["labels"] = {**object_at(metadata, "labels"), _INDEX_LABEL: str(index)}
            yield document

    def _items(self, node: Node, name: str, code: Code) -> list[Any]:
        value = self._value(code, {})
        if not isinstance(value, list):
            what = f"the loop {name!r} of {node.id!r} needs a list"
            raise inputs.problem(self.place, what, code.at, "let the expression return one")
        return value

    def _resolved(self, node: Node, items: Mapping[str, Any]) -> dict[str, Any]:
        """The template with the values of its expressions."""
        document: dict[str, Any] = _without_omissions(self._filled(node, node.template, (), items))
        return document

    def _filled(self, node: Node, value: Any, path: fieldpath.Path, items: Mapping[str, Any]) -> Any:
        code = node.fields.get(path)
        if code:
            return self._value(code, items)
        match value:
            case Mapping():
                return {key: self._filled(node, item, (*path, key), items) for key, item in value.items()}
            case list():
                return [self._filled(node, item, (*path, index), items) for index, item in enumerate(value)]
            case _:
                return value

    def _check_distinct(self, node: Node, documents: Iterable[Mapping[str, Any]]) -> None:
        names: set[tuple[str, str]] = set()
        for document in documents:
            metadata = object_at(document, "metadata")
            identity = (str(metadata.get("namespace", "")), _name(document))
            if node.kind is NodeKind.collection and identity in names:
                what = f"two items of {node.id!r} are named {identity[1]!r}"
                path = f"{node.at}.template.metadata.name"
                raise inputs.problem(self.place, what, path, "use the loops' variables in the name")
            names.add(identity)

    def _verdict(self, node: Node) -> Ready:
        if not node.ready_when:
            return Ready.unspecified
        try:
            self._await_ready(node)
        except _Waiting:
            return Ready.false
        except EngineError as error:
            self.warnings += error.problems
            return Ready.false
        return Ready.true

    # Whether it can be desired

    def _is_ignored(self, node: Node) -> bool:
        if node.id not in self.ignored:
            self.ignored[node.id] = self._left_out(node)
        return self.ignored[node.id]

    def _left_out(self, node: Node) -> bool:
        if any(self._is_ignored(need) for need in self._needs(node)):
            return True
        for code in node.include_when:
            for name in code.names - {SCHEMA}:
                self._await_observed(self.nodes[name])
        for code in node.include_when:
            try:
                value = self._value(code, {})
            except _Waiting:
                if code.names - {SCHEMA}:
                    raise
                what = f"includeWhen of {node.id!r} reads a field that the composite does not have: `{code.text}`"
                self.warnings.append(Problem(what, self._source(code), code.at, "give the field a default"))
                raise
            if value is None or value is False:
                return True
            if value is not True:
                what = f"includeWhen of {node.id!r} returns no boolean: `{code.text}`"
                raise inputs.problem(self.place, what, code.at, "compare the value")
        return False

    def _needs(self, node: Node) -> list[Node]:
        return [self.nodes[name] for name in dict(node.needs()) if name in self.nodes]

    def _await_needs(self, node: Node) -> None:
        for need in self._needs(node):
            if not self._is_ignored(need):
                self._await_ready(need)

    def _await_ready(self, node: Node) -> None:
        if not self._is_ignored(node):
            self._await_observed(node)

    def _await_observed(self, node: Node) -> None:
        """Wait until a node exists, and its `readyWhen` is true."""
        there = self.observed.get(node.id, [])
        if node.kind is NodeKind.collection:
            wanted = self.desired.get(node.id)
            if wanted is None or len(there) < len(wanted):
                raise _Waiting
            if not wanted:
                return
        elif node.kind is not NodeKind.external_collection and not there:
            raise _Waiting
        for document in there if node.kind.is_list else there[:1]:
            variable = EACH if node.kind.is_list else node.id
            for code in node.ready_when:
                if self._value(code, {variable: document}, only=variable) is not True:
                    raise _Waiting

    # The status of the composite

    def _status(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path, code in self.graph.status.items():
            try:
                value = self._value(code, {})
            except _Waiting:
                continue
            fieldpath.put(found, path, value)
        return found

    # Values

    def _value(self, code: Code, items: Mapping[str, Any], only: str = "") -> Any:
        """The value of an expression; waiting where it reads what is not there yet."""
        lists = {n.id for n in self.graph.nodes if n.kind.is_list and n.id in code.names}
        singles = (code.names - lists) | ({only} if only else frozenset())
        values: dict[str, Any] = {}
        for name in code.names:
            if name in items:
                values[name] = items[name]
            elif name in self.observed:
                values[name] = self.observed[name] if name in lists else self.observed[name][0]
            else:
                raise _Waiting
        if only:
            values[only] = items[only]
        try:
            return cel.expression(code.text, singles, lists, self.place.timeout).evaluate(values)
        except AbsentValue as error:
            raise _Waiting from error
        except ComposeError as error:
            raise ComposeError(
                *(Problem(p.what, self._source(code), f"{self.place.step.at}.{code.at}", p.fix) for p in error.problems)
            ) from error

    def _source(self, code: Code) -> Any:
        return self.place.document.source_of(f"{self.place.step.at}.{code.at}")


def _without_omissions(value: Any) -> Any:
    """A document with its values, and without fields and items whose value is `omit()`."""
    match value:
        case Mapping():
            resolved = ((key, _without_omissions(item)) for key, item in value.items())
            return {key: item for key, item in resolved if item is not OMIT}
        case list():
            return [item for item in map(_without_omissions, value) if item is not OMIT]
        case _:
            return value


def _kind_text(document: Mapping[str, Any]) -> str:
    """A kind as Go prints it."""
    group, _, version = str(document.get("apiVersion", "")).rpartition("/")
    return f"{group}/{version}, Kind={document.get('kind', '')}"


def _name(document: Mapping[str, Any]) -> str:
    return str(object_at(document, "metadata").get("name", ""))


def _index(document: Mapping[str, Any]) -> tuple[int, str]:
    label = str(object_at(object_at(document, "metadata"), "labels").get(_INDEX_LABEL, ""))
    return (int(label) if label.isascii() and label.isdigit() else 0, _name(document))
