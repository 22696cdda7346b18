"""What functions require beside their request: resources and schemas, looked up until the requirements settle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.functions import answers
from claimsmith.functions.protocol import (
    Function,
    Request,
    Requirements,
    Resource,
    Response,
    SchemaSelector,
    Selector,
    Severity,
)

MAX_ROUNDS: Final = 5
"""How often a function may require something else, as in Crossplane."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where requirements are looked up: resources and OpenAPI documents that were provided."""

    resources: Sequence[Mapping[str, Any]] = ()
    schemas: Sequence[Mapping[str, Any]] = ()

    def fetch(self, selector: Selector) -> tuple[Resource, ...]:
        """The resources that a selector is for; of any version of their group, as an API server converts them."""
        kind = GroupKind.of({"apiVersion": selector.api_version, "kind": selector.kind})
        return tuple(Resource(d) for d in self.resources if GroupKind.of(d) == kind and _matches(selector, d))

    def schema(self, selector: SchemaSelector) -> Mapping[str, Any]:
        """The schema of a kind; empty where no document has it."""
        for document in self.schemas:
            schemas = object_at(object_at(document, "components"), "schemas")
            for schema in schemas.values():
                if _describes(schema, selector):
                    return dict(schema)
        return {}


def settled(function: Function, request: Request, sources: Sources) -> Response:
    """The response of a function that has what it requires: it runs until its requirements stay the same."""
    before: Requirements | None = None
    required = request.required_resources or {}
    for _ in range(MAX_ROUNDS + 1):
        response = function(request)
        answers.check(response, request)
        wanted = response.requirements
        fatal = any(r.severity is Severity.fatal for r in response.results)
        if fatal or wanted in (before, Requirements()):
            return response
        before = wanted
        request = replace(
            request,
            context=response.context,
            extra_resources={name: sources.fetch(s) for name, s in wanted.extra_resources.items()},
            required_resources={**required, **{name: sources.fetch(s) for name, s in wanted.resources.items()}},
            required_schemas={
                **request.required_schemas,
                **{name: sources.schema(s) for name, s in wanted.schemas.items()},
            },
        )
    what = f"its requirements still change after {MAX_ROUNDS} rounds"
    raise ComposeError(Problem(what, fix="let the function require the same as soon as it has what it required"))


def selector_of(data: Mapping[str, Any]) -> Selector:
    """The selector that a composition or a template writes: by `matchName` or `name`, else by `matchLabels`."""
    name = str(data.get("matchName") or data.get("name") or "")
    labels = data.get("matchLabels")
    return Selector(
        str(data.get("apiVersion", "")),
        str(data.get("kind", "")),
        name=name,
        labels=None if name else {str(k): str(v) for k, v in dict(labels or {}).items()},
        namespace=str(data.get("namespace") or ""),
    )


def identity(document: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """What identifies a resource."""
    metadata = object_at(document, "metadata")
    kind = GroupKind.of(document)
    return kind.group, kind.kind, str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def distinct(resources: Iterable[Resource]) -> list[Mapping[str, Any]]:
    """The documents, each once."""
    return list({identity(r.document): r.document for r in resources}.values())


def _matches(selector: Selector, document: Mapping[str, Any]) -> bool:
    metadata = object_at(document, "metadata")
    if selector.namespace and metadata.get("namespace") != selector.namespace:
        return False
    if selector.labels is None:
        return metadata.get("name") == selector.name
    return selector.labels.items() <= dict(object_at(metadata, "labels")).items()


def _describes(schema: Any, selector: SchemaSelector) -> bool:
    group, _, version = selector.api_version.rpartition("/")
    kinds = schema.get("x-kubernetes-group-version-kind") if isinstance(schema, Mapping) else None
    wanted = {"group": group, "version": version, "kind": selector.kind}
    return isinstance(kinds, list) and any(
        isinstance(k, Mapping) and {"group": k.get("group", ""), **dict(k)} == wanted for k in kinds
    )
