"""The children of a composite whose pipeline has functions beyond patches: they are known once the pipeline has run.

The pipeline runs before the engine, with the composite and what exists of its children. Each result is fed back until
nothing new appears, as a control plane does over time. What exists is looked up by the names that the children have,
so there is no state of our own. A last run, with all children supposed to be ready, shows what would follow later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError, Problem, Source
from claimsmith.base.labels import SECRET_TYPE
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.values import copied, object_at, value_at
from claimsmith.compose import waiting
from claimsmith.compose.identity import dress
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.klass import Class, Detail, Step, Template
from claimsmith.dialects.common.template import checked
from claimsmith.functions import pipeline
from claimsmith.functions.health import is_healthy
from claimsmith.functions.pipeline import Outcome, Surroundings, Version
from claimsmith.functions.protocol import ENVIRONMENT, Ready, Resource, Severity, State
from claimsmith.functions.registry import Declared
from claimsmith.functions.requirements import Sources
from claimsmith.patching.readiness import status_of

MAX_PASSES: Final = 10
"""How often a pipeline runs on its own results: deeper chains go on with the next deployment."""
_READY: Final = {"conditions": [{"type": kind, "status": "True"} for kind in ("Ready", "Synced")]}


class Live(Protocol):
    """What exists in the cluster."""

    def read(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The live object of a document; None where there is none."""

    def details(self, document: Mapping[str, Any]) -> Mapping[str, bytes]:
        """The connection details that an object's controller wrote."""


@dataclass(frozen=True, slots=True)
class Piped:
    """What a pipeline composes for one composite."""

    templates: tuple[Template, ...] = ()
    """A template for each desired resource, after those that fill in its fields; its base is the whole document."""
    status: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    """The resources that do not exist yet, or are not complete."""
    following: tuple[str, ...] = ()
    """The resources that the pipeline would add if those were ready."""
    warnings: tuple[Problem, ...] = ()
    versions: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)
    """Each resource after each step that changed it."""
    scalars: waiting.Scalars = field(default_factory=dict)
    """The fields of each resource that another one fills in once it exists."""
    awaited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The status fields of each resource that the engine waits for."""
    observed: State = field(default_factory=State, repr=False)
    """What the last run saw."""

    def marked(self, templates: Iterable[Template], claim: ClaimKey) -> Piped:
        """The same with its templates marked, and with references to each other in the fields that wait."""
        marked = tuple(templates)
        scalars = waiting.without_composites(self.scalars, marked)
        return replace(self, templates=waiting.referring(marked, scalars, claim, self.observed), scalars=scalars)

    def written_by(self, name: str, path: fieldpath.Path) -> tuple[Step, Source | None] | None:
        """The step that wrote a field of a resource last, and where; None for a field that no step writes."""
        found, before = None, None
        for version in self.versions.get(name, ()):
            value = value_at(version.document, path)
            if value != before:
                found = version.step, version.origin(path)
            before = value
        return found if before is not None else None

    def value_now(self, name: str, path: fieldpath.Path) -> Any:
        """What the pipeline wrote in the place of a field that another resource fills in."""
        return value_at(self.versions[name][-1].document, path)


def run(
    klass: Class,
    composite: Mapping[str, Any],
    identity: Identity,
    *,
    resources: Sequence[Mapping[str, Any]] = (),
    live: Live | None = None,
    declared: Declared | None = None,
    managed: Callable[[GroupKind], bool] = lambda kind: not kind.built_in,
) -> Piped:
    """What the pipeline of a class composes for a composite.

    `resources` are what its functions may require, `declared` the functions of the project, and `managed` says which
    kinds a provider's controller makes Ready.
    """
    around = Surroundings(sources=Sources(resources), declared=declared or {})
    observed, outcome = State(Resource(dict(composite))), Outcome(State())
    awaited: Mapping[str, tuple[str, ...]] = {}
    for number in range(MAX_PASSES):
        outcome = pipeline.run(klass, observed, around)
        if number == 0:
            awaited = waiting.awaited(waiting.scalars_of(outcome, _documents(outcome, klass)))
        seen = _observed(outcome, composite, identity, live)
        if seen == observed:
            break
        observed = seen
    documents = _documents(outcome, klass)
    unseen = tuple(name for name in documents if not _is_seen(name, outcome, observed, managed))
    following = _following(klass, observed, outcome, around, identity) if unseen else ()
    return Piped(
        tuple(_with_own_details([_template(n, d, klass, outcome) for n, d in documents.items()], klass, outcome)),
        dict(object_at(outcome.desired.composite.document, "status")),
        dict(object_at(outcome.context, ENVIRONMENT)),
        unseen,
        following,
        tuple(_warnings(outcome, klass, identity, unseen, following)),
        outcome.versions,
        waiting.scalars_of(outcome, documents),
        awaited,
        observed,
    )


def _documents(outcome: Outcome, klass: Class) -> dict[str, dict[str, Any]]:
    """The desired resources by their names; the Secret of patch-and-transform is written with the composite's own."""
    found = {name: pipeline.as_json(r.document) for name, r in sorted(outcome.desired.resources.items())}
    for name, document in found.items():
        checked(document, klass.document, _step_at(name, outcome))
    return {name: d for name, d in found.items() if not (d.get("kind") == "Secret" and d.get("type") == SECRET_TYPE)}


def _observed(outcome: Outcome, composite: Mapping[str, Any], identity: Identity, live: Live | None) -> State:
    """What the next run sees: the composite with the status that it has by now, and what exists of the resources."""
    status = object_at(outcome.desired.composite.document, "status")
    whole = {**composite, **({"status": copied(dict(status))} if status else {})}
    found: dict[str, Resource] = {}
    for name, desired in outcome.desired.resources.items() if live else ():
        dressed = dress(desired.document, name, identity)
        document = live.read(dressed) if live else None
        if live and document is not None:
            found[name] = Resource(document, live.details(document))
    return State(Resource(whole), found)


def _is_seen(name: str, outcome: Outcome, observed: State, managed: Callable[[GroupKind], bool]) -> bool:
    """Whether the pipeline saw a resource complete.

    What the object reports of itself counts, since many pipelines have no function that judges readiness.
    """
    if name not in observed.resources:
        return False
    document = observed.resources[name].document
    if outcome.desired.resources[name].ready is Ready.true:
        return True
    healthy = is_healthy(document)
    if healthy is not None:
        return healthy
    reported = status_of(document, "Ready")
    return reported == "True" or (reported in ("Unknown", "") and not managed(GroupKind.of(document)))


def _following(
    klass: Class, observed: State, outcome: Outcome, around: Surroundings, identity: Identity
) -> tuple[str, ...]:
    """The resources that come beside those of now, once these are all there and ready."""
    known, supposed = outcome, observed
    try:
        for _ in range(MAX_PASSES):
            there = {
                name: _supposed(name, desired, supposed, identity) for name, desired in known.desired.resources.items()
            }
            if there.keys() <= supposed.resources.keys() and supposed is not observed:
                break
            supposed = State(supposed.composite, {**supposed.resources, **there})
            known = pipeline.run(klass, supposed, around)
    except EngineError:
        # A template may need more than that a resource is ready: then nothing can be foretold.
        return ()
    return tuple(sorted(known.desired.resources.keys() - outcome.desired.resources.keys()))


def _supposed(name: str, desired: Resource, observed: State, identity: Identity) -> Resource:
    """A resource as it would be observed once it is ready."""
    if name in observed.resources:
        document = observed.resources[name].document
        return replace(observed.resources[name], document={**document, "status": _with_ready(document)})
    return Resource({**dress(desired.document, name, identity), "status": dict(_READY)})


def _with_ready(document: Mapping[str, Any]) -> dict[str, Any]:
    status = object_at(document, "status")
    listed = [c for c in status.get("conditions") or () if c.get("type") not in ("Ready", "Synced")]
    return {**status, "conditions": [*listed, *_READY["conditions"]]}


def _step_at(name: str, outcome: Outcome) -> str:
    written = outcome.versions.get(name)
    return written[-1].step.at if written else "spec.pipeline"


def _template(name: str, document: Mapping[str, Any], klass: Class, outcome: Outcome) -> Template:
    """The template of a desired resource; readiness checks and connection details are those of its patches, if any."""
    written = [t for step in klass.steps for t in step.templates if t.name == name]
    details = tuple(d for t in written for d in t.details or ())
    checks = next((t.checks for t in reversed(written) if t.checks), ())
    at = written[-1].at if written else _step_at(name, outcome)
    return Template(name, dict(document), at=at, details=details, checks=checks)


def _with_own_details(templates: list[Template], klass: Class, outcome: Outcome) -> list[Template]:
    """The templates with the details that functions set by themselves: known values, which the last child publishes."""
    patched = {d.name for step in klass.steps for t in step.templates for d in t.details or ()}
    found = outcome.desired.composite.details
    own = [Detail(name, "", value=found[name].decode("utf-8", "replace")) for name in sorted(found.keys() - patched)]
    if not templates or not own:
        return templates
    last = templates[-1]
    return [*templates[:-1], replace(last, details=(*(last.details or ()), *own))]


def _warnings(
    outcome: Outcome, klass: Class, identity: Identity, unseen: Sequence[str], following: Sequence[str]
) -> list[Problem]:
    prefix = f"{identity.key}: "
    reported = [r for _, r in outcome.results if r.severity is Severity.warning or r.remark]
    found = [Problem(prefix + r.message, r.where, r.path, r.fix) for r in reported]
    if following:
        what = f"{prefix}more resources follow once {_listed(unseen)} {'is' if len(unseen) == 1 else 'are'} ready: "
        fix = "deploy again then: the pipeline runs with what exists"
        found.append(klass.document.problem(what + _listed(following), "spec.pipeline", fix))
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
