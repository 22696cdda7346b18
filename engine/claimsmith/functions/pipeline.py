"""Crossplane compositions rendered without a cluster: the steps in order, then what the core adds around them.

Takes a composition as a class, the composite, what exists already and what functions may ask for; gives the composite's
status and the composed resources, as `crossplane render` does. Each step is one call of a function
(`protocol.py`), repeated until its requirements settle. A step whose function is neither built in nor declared
is refused by its name: nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, EngineError, ModelError, Problem, Source
from claimsmith.base.labels import COMPOSITE_LABEL, RESOURCE_NAME, claim_labels
from claimsmith.base.values import copied, object_at, value_at
from claimsmith.dialects.common.klass import Class, Step
from claimsmith.functions import registry
from claimsmith.functions.protocol import (
    ENVIRONMENT,
    Condition,
    Later,
    Origin,
    Ready,
    Request,
    Resource,
    Response,
    Result,
    SchemaSelector,
    Severity,
    State,
)
from claimsmith.functions.registry import Declared, Place
from claimsmith.functions.requirements import Sources, selector_of, settled

if TYPE_CHECKING:
    from claimsmith.templating.readings import Scalar

TRANSITION = "2024-01-01T00:00:00Z"
"""The time of conditions: always the same, so that the same input gives the same output."""
_SHOWN = 3
_SYSTEM_CONDITIONS = frozenset({"Ready", "Synced", "Healthy"})
"""Conditions that Crossplane itself sets: a function cannot."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a pipeline may use beside its composition and composite."""

    context: Mapping[str, Any] = field(default_factory=dict)
    sources: Sources = field(default_factory=Sources)
    credentials: Mapping[tuple[str, str], Mapping[str, bytes]] = field(default_factory=dict)
    """The data of Secrets, by namespace and name."""
    declared: Declared = field(default_factory=dict)
    files: registry.Files | None = None
    """Reads templates of a folder beside the composition."""
    timeout: float | None = None
    """The seconds that a function which runs outside of this process may take; None for its own limit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the steps of a pipeline want, and what they report."""

    desired: State
    context: Mapping[str, Any] = field(default_factory=dict)
    results: tuple[tuple[str, Result], ...] = ()
    """Each with the name of its step."""
    conditions: tuple[Condition, ...] = ()
    versions: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)
    """Each desired resource after each step that changed it."""


@dataclass(frozen=True, slots=True)
class Version:
    """A desired resource as a step left it."""

    step: Step
    document: Mapping[str, Any]
    origin: Origin
    """Where a field is written."""
    later: Later = dict
    """The fields that are filled in once another resource exists."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The composite as far as it is written, the composed resources, and warnings."""

    composite: dict[str, Any]
    composed: tuple[dict[str, Any], ...]
    warnings: tuple[tuple[str, Problem], ...] = ()
    """Each with the step that it is from; those of the core have none."""
    outcome: Outcome = field(default_factory=lambda: Outcome(State()), repr=False)

    def documents(self) -> list[dict[str, Any]]:
        """The composite, then what it is composed of."""
        return [self.composite, *self.composed]

    def results(self) -> list[dict[str, Any]]:
        """The results of the functions as documents."""
        head = {"apiVersion": "render.crossplane.io/v1beta1", "kind": "Result"}
        return [
            {**head, "step": step, "severity": result.severity.value, "message": result.message}
            for step, result in self.outcome.results
            if not result.remark
        ]

    def context_document(self) -> dict[str, Any]:
        """The context after the last step as a document."""
        head = {"apiVersion": "render.crossplane.io/v1beta1", "kind": "Context"}
        return {**head, "fields": as_json(self.outcome.context)}


def render(
    klass: Class,
    composite: Mapping[str, Any],
    *,
    observed: Iterable[Mapping[str, Any]] = (),
    environment: Mapping[str, Any] | None = None,
    extra: Sequence[Mapping[str, Any]] = (),
    around: Surroundings | None = None,
) -> Rendered:
    """What the composition composes for a composite. `environment` and `extra` add to what is around it."""
    check_serves(klass, composite)
    around = around or Surroundings()
    context = {**around.context, **({ENVIRONMENT: dict(environment)} if environment else {})}
    sources = replace(around.sources, resources=(*around.sources.resources, *extra))
    there = State(Resource(copied(dict(composite))), existing_by_name(observed))
    outcome = run(klass, there, replace(around, context=context, sources=sources))
    state = outcome.desired
    reported = ((step, r) for step, r in outcome.results if r.severity is Severity.warning or r.remark)
    warnings = [(step, _problem(r)) for step, r in reported]
    warnings += [("", problem) for name in sorted(state.resources) for problem in _not_kept(name, state)]
    composed = [
        _dressed(name, state, there) for name in sorted(state.resources, key=lambda n: (not _bare(n, state), n))
    ]
    return Rendered(_composite(there.composite.document, outcome), tuple(composed), tuple(warnings), outcome)


@dataclass(frozen=True, slots=True)
class Between:
    """The state between two steps."""

    observed: State
    desired: State
    context: Mapping[str, Any]


def run(klass: Class, observed: State, around: Surroundings) -> Outcome:
    """What the steps want, one after the other. Fatal results are refused with step and place."""
    desired, context = State(), dict(around.context)
    results: list[tuple[str, Result]] = []
    conditions: list[Condition] = []
    versions: dict[str, tuple[Version, ...]] = {}
    for step in klass.steps:
        place = Place(step, klass.document, around.files, around.timeout)
        response = _called(place, _request(step, place, Between(observed, desired, context), around), around)
        results += [(step.name, _located(place, r)) for r in response.results]
        conditions += response.conditions
        for name, resource in response.desired.resources.items():
            if name not in desired.resources or desired.resources[name].document != resource.document:
                origin = response.origins.get(name) or partial(_step_source, place)
                version = Version(step, resource.document, origin, response.later.get(name, dict))
                versions[name] = (*versions.get(name, ()), version)
        desired, context = response.desired, dict(response.context)
    return Outcome(desired, context, tuple(results), tuple(conditions), versions)


def later(name: str, outcome: Outcome) -> dict[fieldpath.Path, Scalar]:
    """The fields of a resource that are filled in once another resource exists: those that no later step changed."""
    final = outcome.desired.resources[name].document
    return {
        path: scalar
        for version in outcome.versions.get(name, ())
        for path, scalar in version.later().items()
        if value_at(version.document, path, version) == value_at(final, path, final)
    }


def _step_source(place: Place, _: fieldpath.Path) -> Source:
    """The place of a step, for a function that knows no better one."""
    return place.document.source_of(place.step.at)


def _request(step: Step, place: Place, between: Between, around: Surroundings) -> Request:
    required = {str(r.get("requirementName", "")): around.sources.fetch(selector_of(r)) for r in step.required}
    schemas = {
        str(r.get("requirementName", "")): around.sources.schema(
            SchemaSelector(str(r.get("apiVersion", "")), str(r.get("kind", "")))
        )
        for r in step.required_schemas
    }
    return Request(
        between.observed,
        between.desired,
        step.input,
        between.context,
        required_resources=required or None,
        required_schemas=schemas,
        credentials={c.name: _secret(c.secret, place, around) for c in step.credentials},
    )


def _secret(secret: tuple[str, str], place: Place, around: Surroundings) -> Mapping[str, bytes]:
    if secret in around.credentials:
        return around.credentials[secret]
    what = f"the step {place.step.name!r} passes the Secret {'/'.join(secret)} to its function, which is not provided"
    path = f"{place.step.at.removesuffix('.input')}.credentials"
    raise ComposeError(place.document.problem(what, path, "provide it: --function-credentials FILE"))


def _called(place: Place, request: Request, around: Surroundings) -> Response:
    """The response of a step's function, with its requirements fulfilled; refused where a result is fatal."""
    try:
        function = registry.function_for(place, around.declared)
        response = settled(function, request, around.sources)
    except EngineError as error:
        raise ComposeError(*(_of_step(place, p) for p in error.problems)) from error
    fatal = [_of_step(place, _problem(r)) for r in response.results if r.severity is Severity.fatal]
    if fatal:
        raise ComposeError(*fatal)
    return response


def _problem(result: Result) -> Problem:
    return Problem(result.message, result.where, result.path, result.fix)


def _located(place: Place, result: Result) -> Result:
    """A result with the place of its step, where it has none of its own."""
    if result.where:
        return result
    return replace(result, where=place.document.source_of(place.step.at), path=result.path or place.step.at)


def _of_step(place: Place, problem: Problem) -> Problem:
    """A problem of a function, with the name and the place of the step."""
    step = place.step
    here = problem.where is not None and problem.where.file == place.document.file
    named = problem.what.startswith((f"step {step.name!r}", f"the step {step.name!r}"))
    what = problem.what if named else f"step {step.name!r}: {problem.what}"
    where = problem.where if here else place.document.source_of(step.at)
    fix = problem.fix or "see what the function reports, and fix its input or the composite"
    return replace(problem, what=what, where=where, path=problem.path or step.at, fix=fix)


def existing_by_name(observed: Iterable[Mapping[str, Any]]) -> dict[str, Resource]:
    """Resources that exist, by the annotation that names their template."""
    found: dict[str, Resource] = {}
    for document in observed:
        name = object_at(object_at(document, "metadata"), "annotations").get(RESOURCE_NAME)
        if not isinstance(name, str):
            what = f"an observed {document.get('kind')} has no annotation {RESOURCE_NAME}"
            raise ModelError(Problem(what, path="metadata.annotations", fix="annotate it with its template's name"))
        found[name] = Resource(dict(document))
    return found


def check_serves(klass: Class, composite: Mapping[str, Any]) -> None:
    """Refuse a composite that the composition is not for."""
    given = (composite.get("apiVersion"), composite.get("kind"))
    if given != (klass.claim_api_version, klass.serves.kind):
        what = f"{klass.key} is for {klass.serves.kind} of {klass.claim_api_version}, not for {given[1]} of {given[0]}"
        raise ComposeError(klass.document.problem(what, "spec.compositeTypeRef", "give it a composite of that kind"))
    selector = object_at(object_at(object_at(composite, "spec"), "crossplane"), "compositionSelector")
    for key, value in object_at(selector, "matchLabels").items():
        if klass.labels.get(key) != value:
            what = f"{klass.key} has not the label {key}: {value}, which the composite selects by"
            raise ComposeError(klass.document.problem(what, "metadata.labels", "add it, or fix the selector"))


def _composite(given: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """The composite as its steps want it, with its condition Ready and those that functions set."""
    state = outcome.desired
    unready = sorted(name for name, desired in state.resources.items() if desired.ready is not Ready.true)
    condition = {"type": "Ready", "lastTransitionTime": TRANSITION}
    if state.composite.ready is Ready.false:
        condition |= {"status": "False", "reason": "Creating"}
    elif unready and state.composite.ready is Ready.unspecified:
        message = f"Unready resources: {_listed(unready)}"
        condition |= {"status": "False", "reason": "Creating", "message": message}
    else:
        condition |= {"status": "True", "reason": "Available"}
    wanted = as_json(state.composite.document)
    metadata, status, own = object_at(wanted, "metadata"), object_at(wanted, "status"), object_at(given, "metadata")
    identity = {key: own[key] for key in ("name", "namespace") if own.get(key)}
    conditions = status.get("conditions")
    listed = list(conditions) if isinstance(conditions, list) else []
    for new in (condition, *(_condition(c) for c in outcome.conditions if c.type not in _SYSTEM_CONDITIONS)):
        listed = [*(c for c in listed if not (isinstance(c, dict) and c.get("type") == new["type"])), new]
    return {
        **wanted,
        "apiVersion": given["apiVersion"],
        "kind": given["kind"],
        "metadata": {**{k: v for k, v in metadata.items() if k not in ("name", "namespace")}, **identity},
        "status": {**status, "conditions": listed},
    }


def _condition(condition: Condition) -> dict[str, Any]:
    message = {"message": condition.message} if condition.message else {}
    head = {"type": condition.type, "status": condition.status, "reason": condition.reason}
    return {**head, **message, "lastTransitionTime": TRANSITION}


def _listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])}, and {len(names) - _SHOWN} more"
    return f"{', '.join(names[:-1])}, and {names[-1]}" if len(names) == _SHOWN else ", ".join(names)


def _dressed(name: str, state: State, observed: State) -> dict[str, Any]:
    """A composed resource with what the core writes into its metadata, which it cannot where that is null."""
    document = as_json(state.resources[name].document)
    if _bare(name, state):
        return document
    composite = observed.composite.document
    owner, metadata = object_at(composite, "metadata"), dict(object_at(document, "metadata"))
    if name in observed.resources:
        there = object_at(observed.resources[name].document, "metadata")
        for key in ("name", "namespace", "generateName"):
            metadata.pop(key, None)
            if there.get(key):
                metadata[key] = there[key]
    prefix = str(object_at(owner, "labels").get(COMPOSITE_LABEL) or owner.get("name", ""))
    if not metadata.get("name") and not metadata.get("generateName"):
        metadata["generateName"] = f"{prefix}-"
    if owner.get("namespace"):
        metadata["namespace"] = owner["namespace"]
    metadata["annotations"] = {**_texts(metadata.get("annotations")), RESOURCE_NAME: name}
    claim = claim_labels(object_at(owner, "labels"))
    metadata["labels"] = {**_texts(metadata.get("labels")), COMPOSITE_LABEL: prefix, **claim}
    metadata["ownerReferences"] = _owners(metadata.get("ownerReferences"), composite, name)
    return {**document, "metadata": metadata}


def _bare(name: str, state: State) -> bool:
    """Whether the metadata of a composed resource is null: `metadata:` in a base, with nothing after it."""
    return state.resources[name].document.get("metadata", {}) is None


def _not_kept(name: str, state: State) -> Iterable[Problem]:
    """Warnings about metadata that no API server would keep."""
    if _bare(name, state):
        what = f'the metadata of composed resource "{name}" is null: it gets no name, no labels and no owner'
        yield Problem(what, path="metadata", fix="remove the field, or write metadata: {}")
    metadata = object_at(state.resources[name].document, "metadata")
    for key in ("labels", "annotations"):
        if metadata.get(key) and not _texts(metadata[key]):
            what = f'the {key} of composed resource "{name}" are not all text: none of them is kept'
            yield Problem(what, path=f"metadata.{key}", fix="quote them, or convert them to string")


def _texts(value: Any) -> dict[str, str]:
    """Labels or annotations; what is no map of texts is not kept, as no API server would keep it."""
    fine = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    return value if fine else {}


def _owners(given: Any, composite: Mapping[str, Any], name: str) -> list[Any]:
    """The owners, with the composite as the one that controls it."""
    metadata = object_at(composite, "metadata")
    owner = {
        "apiVersion": composite["apiVersion"],
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": composite["kind"],
        "name": metadata.get("name", ""),
        "uid": metadata.get("uid", ""),
    }
    others = (
        [o for o in given if isinstance(o, dict) and o.get("uid") != owner["uid"]] if isinstance(given, list) else []
    )
    controller = next((o for o in others if o.get("controller") is True), None)
    if controller:
        what = f'composed resource "{name}" is controlled by {controller.get("kind")} {controller.get("name")} already'
        raise ComposeError(Problem(what, path="metadata.ownerReferences", fix="leave the owner to the composite"))
    return [*others, owner]


def as_json(document: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with numbers as JSON would have them."""
    holder: dict[str, Any] = {}
    fieldpath.put(holder, ("document",), dict(document))
    copy: dict[str, Any] = holder["document"]
    return copy
