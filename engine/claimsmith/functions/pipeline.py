"""Crossplane compositions rendered without a cluster: the steps in order, then what the core adds around them.

Takes a composition as a class, the composite, what exists already and what functions may ask for; gives the composite's
status and the composed resources, as `crossplane render` does. A step for a function that is not known here
is refused by its name: nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, ModelError, Problem
from claimsmith.base.labels import COMPOSITE_LABEL, RESOURCE_NAME, claim_labels
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.common.klass import Class
from claimsmith.functions import builtin
from claimsmith.functions.patch_and_transform import Existing, Observed, State

TRANSITION = "2024-01-01T00:00:00Z"
"""The time of conditions: always the same, so that the same input gives the same output."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Rendered:
    """The composite as far as it is written, the composed resources, and warnings."""

    composite: dict[str, Any]
    composed: tuple[dict[str, Any], ...]
    warnings: tuple[tuple[str, Problem], ...] = ()
    """Each with the step that it is from; those of the core have none."""
    context: dict[str, Any] = field(default_factory=dict)
    state: State = field(default_factory=State, repr=False)

    def documents(self) -> list[dict[str, Any]]:
        """The composite, then what it is composed of."""
        return [self.composite, *self.composed]

    def results(self) -> list[dict[str, Any]]:
        """The warnings as documents."""
        head = {"apiVersion": "render.crossplane.io/v1beta1", "kind": "Result"}
        return [
            {**head, "step": step, "severity": "SEVERITY_WARNING", "message": problem.what}
            for step, problem in self.warnings
            if step
        ]


def render(
    klass: Class,
    composite: Mapping[str, Any],
    *,
    observed: Iterable[Mapping[str, Any]] = (),
    environment: Mapping[str, Any] | None = None,
    extra: Sequence[Mapping[str, Any]] = (),
) -> Rendered:
    """What the composition makes of a composite."""
    check_serves(klass, composite)
    given: dict[str, Any] = copied(dict(composite))
    there = Observed(given, existing_by_name(observed))
    state = State(environment=copied(dict(environment or {})))
    warnings: list[tuple[str, Problem]] = []
    for step in klass.steps:
        before = len(state.warnings)
        builtin.run(step, there, state, document=klass.document, extra=extra)
        warnings += [(step.name, problem) for problem in state.warnings[before:]]
    warnings += [("", problem) for name in sorted(state.resources) for problem in _not_kept(name, state)]
    composed = [_dressed(name, state, there) for name in sorted(state.resources)]
    return Rendered(_composite(given, state), tuple(composed), tuple(warnings), state.environment, state)


def existing_by_name(observed: Iterable[Mapping[str, Any]]) -> dict[str, Existing]:
    """Resources that exist, by the annotation that names their template."""
    found: dict[str, Existing] = {}
    for document in observed:
        name = object_at(object_at(document, "metadata"), "annotations").get(RESOURCE_NAME)
        if not isinstance(name, str):
            what = f"an observed {document.get('kind')} has no annotation {RESOURCE_NAME}"
            raise ModelError(Problem(what, path="metadata.annotations", fix="annotate it with its template's name"))
        found[name] = Existing(dict(document))
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


def _composite(given: Mapping[str, Any], state: State) -> dict[str, Any]:
    """The composite as its steps want it, with its condition Ready."""
    unready = sorted(name for name, desired in state.resources.items() if not desired.ready)
    condition = {"type": "Ready", "lastTransitionTime": TRANSITION}
    if state.held_back:
        condition |= {"status": "False", "reason": "Creating"}
    elif unready:
        message = f"Unready resources: {_listed(unready)}"
        condition |= {"status": "False", "reason": "Creating", "message": message}
    else:
        condition |= {"status": "True", "reason": "Available"}
    wanted = as_json(state.composite)
    metadata, status, own = object_at(wanted, "metadata"), object_at(wanted, "status"), object_at(given, "metadata")
    identity = {key: own[key] for key in ("name", "namespace") if own.get(key)}
    conditions = status.get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    others = [c for c in listed if not (isinstance(c, dict) and c.get("type") == "Ready")]
    return {
        **wanted,
        "apiVersion": given["apiVersion"],
        "kind": given["kind"],
        "metadata": {**{k: v for k, v in metadata.items() if k not in ("name", "namespace")}, **identity},
        "status": {**status, "conditions": [*others, condition]},
    }


def _listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])}, and {len(names) - _SHOWN} more"
    return f"{', '.join(names[:-1])}, and {names[-1]}" if len(names) == _SHOWN else ", ".join(names)


def _dressed(name: str, state: State, observed: Observed) -> dict[str, Any]:
    """A composed resource with what the core writes into its metadata."""
    document = as_json(state.resources[name].document)
    owner, metadata = object_at(observed.composite, "metadata"), dict(object_at(document, "metadata"))
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
    metadata["ownerReferences"] = _owners(metadata.get("ownerReferences"), observed.composite, name)
    return {**document, "metadata": metadata}


def _not_kept(name: str, state: State) -> Iterable[Problem]:
    """Warnings about labels and annotations that no API server would keep."""
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
