"""One patch-and-transform step of Crossplane compositions: from what is observed to what is desired.

The order and the rules are those of Crossplane's function of that name: patches of the environment first, then the
templates as they are listed. A patch
reads what exists (the composite, the resource, the environment) and writes what is desired. A patch from a resource
that does not exist yet is skipped; a required source that is missing keeps a new resource from being
created, and is only a warning where the resource exists already. Every other error stops the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, EngineError, NotFound, Problem, Source
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.common.klass import Patch, Side, Step, Template
from claimsmith.functions import protocol
from claimsmith.functions.protocol import Function, Ready, Resource, Response, Result, Severity
from claimsmith.functions.registry import Place
from claimsmith.patching import details, patches
from claimsmith.patching.patches import Outcome
from claimsmith.patching.readiness import is_ready

INTERNAL_ENVIRONMENT = {"apiVersion": "internal.crossplane.io/v1alpha1", "kind": "Environment"}
"""The kind of an environment that has none of its own."""


@dataclass(frozen=True, slots=True)
class Existing:
    """A composed resource that exists, and the details in its connection Secret."""

    document: dict[str, Any]
    details: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observed:
    """What exists: the composite, and its resources by their templates' names."""

    composite: dict[str, Any]
    resources: Mapping[str, Existing] = field(default_factory=dict)


@dataclass(slots=True)
class Desired:
    """A resource as it should be, and whether it is known to be ready."""

    document: dict[str, Any]
    ready: bool = False


@dataclass(slots=True)
class State:
    """What the steps so far want, as one step works on it."""

    composite: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Desired] = field(default_factory=dict)
    details: dict[str, bytes] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    held_back: bool = False
    """Whether a resource was left out: then the composite is not ready, whatever the others are."""
    warnings: list[Problem] = field(default_factory=list)
    outcomes: list[tuple[str, Outcome]] = field(default_factory=list)
    """The outcome of each patch, under its template's name."""
    missing_details: list[tuple[str, str]] = field(default_factory=list)
    """Template and name of each connection detail that the resource does not offer yet."""


def bind(place: Place) -> Function:
    """The function for one step, whose templates and patches were read with the composition."""
    return lambda request: _response(place, request)


def _response(place: Place, request: protocol.Request) -> Response:
    """The response to a request: the step runs on a copy of the desired state."""
    desired = request.desired
    observed = Observed(
        copied(dict(request.observed.composite.document)),
        {name: Existing(dict(r.document), r.details) for name, r in request.observed.resources.items()},
    )
    earlier = {n: Desired(copied(dict(r.document)), r.ready is Ready.true) for n, r in desired.resources.items()}
    state = State(
        composite=copied(dict(desired.composite.document)),
        resources=dict(earlier),
        details=dict(desired.composite.details),
        environment=request.environment(),
    )
    run_step(place.step, observed, state, document=place.document)
    # As in Crossplane's function, a verdict of an earlier step on the composite is lost.
    ready = Ready.false if state.held_back else Ready.unspecified
    own = {
        n: Resource(d.document, ready=Ready.true if d.ready else Ready.unspecified) for n, d in state.resources.items()
    }
    kept = {n: replace(own[n], ready=desired.resources[n].ready) for n, d in earlier.items() if state.resources[n] is d}
    return Response(
        protocol.State(Resource(state.composite, state.details, ready), own | kept),
        {**request.context, protocol.ENVIRONMENT: state.environment},
        tuple(Result.of(Severity.warning, problem) for problem in state.warnings),
        origins={t.name: partial(_origin, place, t) for t in place.step.templates},
    )


def _origin(place: Place, template: Template, path: fieldpath.Path) -> Source | None:
    """Where a field is written: in the last patch that writes it, else in the base."""
    writing = [p for p in template.patches if p.target is Side.resource and _overlaps(p, path)]
    at = writing[-1].at if writing else (*fieldpath.parse(f"{template.at}.base"), *path)
    return place.document.source_of(at)


def _overlaps(patch: Patch, path: fieldpath.Path) -> bool:
    return fieldpath.overlap(fieldpath.parse(patch.to), path)


def run_step(step: Step, observed: Observed, state: State, *, document: Document | None = None) -> None:
    """Run a step on the state, in place. `document` is the composition, for the places of problems."""
    _Run(step, observed, state, document).run()


@dataclass(slots=True)
class _Run:
    step: Step
    observed: Observed
    state: State
    document: Document | None

    def run(self) -> None:
        state, composite = self.state, self.observed.composite
        state.composite |= {key: composite[key] for key in ("apiVersion", "kind") if key in composite}
        if not state.environment.get("apiVersion") and not state.environment.get("kind"):
            state.environment |= INTERNAL_ENVIRONMENT
        for index, patch in enumerate(self.step.environment):
            self._patch_environment(patch, index)
        for template in self.step.templates:
            self._compose(template)
        if state.details and not details.has_own_secret(composite):
            secret = details.secret(composite, self.step.secret, state.details)
            name = f"{object_at(composite, 'metadata').get('name', '')}-connection-secret"
            state.resources[name] = Desired(secret, ready=True)

    def _patch_environment(self, patch: Patch, index: int) -> None:
        inward = patch.target is Side.environment
        origin = self.observed.composite if inward else self.state.environment
        target = self.state.environment if inward else self.state.composite
        try:
            patches.transfer(patch, {patch.origin: origin, patch.target: target})
            self.state.outcomes.append(("", Outcome(patch, applied=True)))
        except EngineError as error:
            if isinstance(error, NotFound) and not patch.required:
                self.state.outcomes.append(("", Outcome(patch, applied=False, why=_message(error))))
                return
            raise self._fatal(f"cannot apply the environment patch at index {index}", patch, error) from error

    def _compose(self, template: Template) -> None:
        existing = self.observed.resources.get(template.name)
        desired = Desired(self._base(template))
        if existing:
            _keep_identity(desired.document, existing.document)
            self._gather(template, existing)
            desired.ready = self._readiness(template, existing)
        for index, patch in enumerate(template.patches):
            if not self._patch(template, patch, index, desired.document, existing):
                self.state.held_back = True
                return
        self.state.resources[template.name] = desired

    def _base(self, template: Template) -> dict[str, Any]:
        if template.based:
            base: dict[str, Any] = copied(dict(template.base))
            return base
        if template.name not in self.state.resources:
            what = f'composed resource "{template.name}" has no base, and no earlier step composed it'
            raise ComposeError(self._located(what, template.at, "give it a base, or compose it in an earlier step"))
        earlier: dict[str, Any] = copied(self.state.resources[template.name].document)
        return earlier

    def _gather(self, template: Template, existing: Existing) -> None:
        found, missing = details.extract(template.details or (), existing.document, existing.details)
        self.state.details |= found
        self.state.missing_details += [(template.name, name) for name in missing]

    def _readiness(self, template: Template, existing: Existing) -> bool:
        try:
            return is_ready(existing.document, template.checks)
        except EngineError as error:
            what = f'cannot check readiness of composed resource "{template.name}": {_message(error)}'
            path = f"{template.at}.readinessChecks"
            self.state.warnings.append(self._located(what, path, _fix(error)))
            return False

    def _patch(
        self, template: Template, patch: Patch, index: int, desired: dict[str, Any], existing: Existing | None
    ) -> bool:
        """Apply one patch; False where the resource is not to be created."""
        inward = patch.target is Side.resource
        if not inward and existing is None:
            why = "the resource does not exist yet"
            self.state.outcomes.append((template.name, Outcome(patch, applied=False, why=why)))
            return True
        sides = {
            Side.claim: self.observed.composite if inward else self.state.composite,
            Side.environment: self.state.environment,
            Side.resource: desired if inward or existing is None else existing.document,
        }
        which = f'"{patch.type}" patch at index {index}'
        try:
            patches.transfer(patch, sides)
        except NotFound as error:
            why = _message(error)
            self.state.outcomes.append((template.name, Outcome(patch, applied=False, why=why)))
            if not patch.required:
                return True
            if inward and existing is None:
                what = f'not adding new composed resource "{template.name}" to desired state because {which} has '
                what += f"'policy.fromFieldPath: Required': {why}"
            else:
                what = f'cannot render composed resource "{template.name}" {which}: ignoring '
                what += f"'policy.fromFieldPath: Required' because 'to' resource already exists: {why}"
            self.state.warnings.append(self._located(what, patch.at, _fix(error)))
            return not (inward and existing is None)
        except EngineError as error:
            raise self._fatal(f'cannot render composed resource "{template.name}" {which}', patch, error) from error
        self.state.outcomes.append((template.name, Outcome(patch, applied=True)))
        return True

    def _fatal(self, prefix: str, patch: Patch, error: EngineError) -> ComposeError:
        return ComposeError(*(self._located(f"{prefix}: {p.what}", patch.at, p.fix) for p in error.problems))

    def _located(self, what: str, path: str, fix: str) -> Problem:
        where = self.document.source_of(path) if self.document else None
        return Problem(what, where, path, fix)


def _keep_identity(desired: dict[str, Any], existing: Mapping[str, Any]) -> None:
    """Give a resource the name and namespace under which it exists already."""
    there = object_at(existing, "metadata")
    if "metadata" not in desired and (there.get("name") or there.get("namespace")):
        desired["metadata"] = {}
    metadata = desired.get("metadata")
    if not isinstance(metadata, dict):
        return
    for key in ("name", "namespace"):
        metadata.pop(key, None)
        if there.get(key):
            metadata[key] = there[key]


def _message(error: EngineError) -> str:
    return error.problems[0].what if error.problems else str(error)


def _fix(error: EngineError) -> str:
    return next((p.fix for p in error.problems if p.fix), "")
