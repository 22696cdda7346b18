"""One call of a composition function: the request that it is given, the response that it returns.

The shape is that of Crossplane's `RunFunctionRequest` and `RunFunctionResponse`, as plain frozen data: documents are
dictionaries as JSON has them, connection details and credentials are bytes. A function never changes its request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, Source
from claimsmith.base.values import copied

if TYPE_CHECKING:
    from claimsmith.templating.readings import Scalar

ENVIRONMENT = "apiextensions.crossplane.io/environment"
"""The key of the context that holds the environment."""
EXTRA_RESOURCES = "apiextensions.crossplane.io/extra-resources"
"""The key of the context under which functions pass on the resources that they required."""


class Ready(StrEnum):
    """Whether a function regards a resource as ready; unspecified means that it leaves the verdict to others."""

    unspecified = "READY_UNSPECIFIED"
    true = "READY_TRUE"
    false = "READY_FALSE"


class Severity(StrEnum):
    """How serious a result is; a fatal one stops the pipeline."""

    fatal = "SEVERITY_FATAL"
    warning = "SEVERITY_WARNING"
    normal = "SEVERITY_NORMAL"


class Target(StrEnum):
    """Who sees a result or a condition."""

    composite = "TARGET_COMPOSITE"
    composite_and_claim = "TARGET_COMPOSITE_AND_CLAIM"


@dataclass(frozen=True, slots=True)
class Resource:
    """A composite or composed resource: its document, connection details and readiness."""

    document: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, bytes] = field(default_factory=dict)
    ready: Ready = Ready.unspecified


@dataclass(frozen=True, slots=True)
class State:
    """A composite and its composed resources, by the names that the composition gives them."""

    composite: Resource = field(default_factory=Resource)
    resources: Mapping[str, Resource] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selector:
    """The resources that a function requires: one by its name, or all with these labels."""

    api_version: str
    kind: str
    name: str = ""
    labels: Mapping[str, str] | None = None
    """Labels to match, where no name is given; no labels match every resource of the kind."""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class SchemaSelector:
    """The kind whose OpenAPI schema a function requires."""

    api_version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a function needs beside its request; it runs again with it."""

    extra_resources: Mapping[str, Selector] = field(default_factory=dict)
    resources: Mapping[str, Selector] = field(default_factory=dict)
    schemas: Mapping[str, SchemaSelector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """A message of a function about its run."""

    severity: Severity
    message: str
    reason: str = ""
    target: Target = Target.composite
    where: Source | None = None
    """The place that it is about, where the function knows one; else the runner adds that of the step."""
    path: str = ""
    fix: str = ""
    remark: bool = False
    """Whether it is a remark of this program: Crossplane's own function has no such result."""

    @classmethod
    def of(cls, severity: Severity, problem: Problem) -> Result:
        """A problem as a result."""
        return cls(severity, problem.what, where=problem.where, path=problem.path, fix=problem.fix)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that a function sets on the composite."""

    type: str
    status: str
    """`True`, `False` or `Unknown`."""
    reason: str
    message: str = ""
    target: Target = Target.composite


@dataclass(frozen=True, slots=True)
class Request:
    """What a function is given."""

    observed: State
    desired: State = field(default_factory=State)
    input: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    extra_resources: Mapping[str, Sequence[Resource]] = field(default_factory=dict)
    required_resources: Mapping[str, Sequence[Resource]] | None = None
    """The resources that it required, by the names of its requirements; None before it required any."""
    required_schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The OpenAPI schemas that it required."""
    credentials: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    tag: str = ""

    def environment(self) -> dict[str, Any]:
        """A copy of the environment in the context."""
        found: dict[str, Any] = copied(dict(self.context.get(ENVIRONMENT) or {}))
        return found


Origin = Callable[[fieldpath.Path], Source | None]
"""Where a field of a resource is written: in a template, or in the composition."""
Later = Callable[[], Mapping[fieldpath.Path, "Scalar"]]
"""The fields of a resource that are nothing but a field of another, which may not be observed yet."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a function returns: the whole desired state and context, not only what it changed."""

    desired: State
    context: Mapping[str, Any] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    conditions: tuple[Condition, ...] = ()
    requirements: Requirements = Requirements()
    ttl: float = 60.0
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False, repr=False)
    """Where the fields of resources are written, by their names; looked up only when somebody asks."""
    later: Mapping[str, Later] = field(default_factory=dict, compare=False, repr=False)
    """The fields of resources that other resources fill in, by their names; looked up only for a deployment."""

    @classmethod
    def to(cls, request: Request) -> Response:
        """A response that changes nothing."""
        return cls(request.desired, request.context)

    def with_result(self, severity: Severity, message: str, fix: str = "") -> Response:
        """The response with one more result."""
        return replace(self, results=(*self.results, Result(severity, message, fix=fix)))


Function = Callable[[Request], Response]
"""A composition function. One that runs here may raise an `EngineError` for a fatal result with its own places."""
