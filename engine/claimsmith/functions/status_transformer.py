"""function-status-transformer: conditions and events of the composite, derived from conditions of its resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import Field

from claimsmith.base.errors import EngineError, ModelError
from claimsmith.base.names import group_of
from claimsmith.base.regexp import BadPattern, compiled
from claimsmith.base.values import object_at
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import inputs
from claimsmith.functions.protocol import (
    EXTRA_RESOURCES,
    Condition,
    Function,
    Request,
    Response,
    Result,
    Severity,
    Target,
)
from claimsmith.functions.registry import Place
from claimsmith.golang.verbs import type_name
from claimsmith.templating import gofunction

_SUCCESS = "StatusTransformationSuccess"


class _Refused(Exception):  # not an error of the user: it becomes a condition
    """A matcher or a message that cannot be used."""


class _NotLoaded(_Refused):
    """Extra resources of another form than those of function-extra-resources: nothing is matched after them."""


class _ConditionMatcher(Lenient):
    type: str = ""
    status: str | None = None
    reason: str | None = None
    message: str | None = None


class _ResourceMatcher(Lenient):
    name: str = ""


class _Matcher(Lenient):
    name: str | None = None
    type: str | None = None
    resources: tuple[_ResourceMatcher, ...] = Field((), strict=False)
    conditions: tuple[_ConditionMatcher, ...] = Field((), strict=False)
    include_composite_as_resource: bool = False
    include_extra_resources: bool = False


class _ConditionText(Lenient):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str | None = None


class _SetCondition(Lenient):
    target: str = "Composite"
    force: bool = False
    condition: _ConditionText


class _EventText(Lenient):
    type: str = "Normal"
    reason: str | None = None
    message: str = ""


class _CreateEvent(Lenient):
    target: str = "Composite"
    event: _EventText


class _Hook(Lenient):
    matchers: tuple[_Matcher, ...] = Field((), strict=False)
    set_conditions: tuple[_SetCondition, ...] = Field((), strict=False)
    create_events: tuple[_CreateEvent, ...] = Field((), strict=False)


class _Transformation(inputs.FunctionInput):
    status_condition_hooks: tuple[_Hook, ...] = Field((), strict=False)


def bind(place: Place) -> Function:
    """The function for one step; an input that it cannot read is a condition of the composite, not a refusal."""
    try:
        hooks = inputs.read(_Transformation, place).status_condition_hooks
    except ModelError as error:
        return _failing(place, error)

    def run(request: Request) -> Response:
        state = _Run(request)
        try:
            for index, hook in enumerate(hooks):
                state.apply(hook, index)
        except _NotLoaded as error:
            state.fail("InputFailure", f"cannot load extra-resources: {error}")
        success = () if state.errored else (Condition(_SUCCESS, "True", "Available"),)
        return replace(Response.to(request), conditions=(*state.conditions, *success), results=tuple(state.results))

    return run


def _failing(place: Place, error: ModelError) -> Function:
    unknown = next(
        (k for k in place.step.input if k not in ("apiVersion", "kind", "metadata", "statusConditionHooks")), None
    )
    kind = "v1beta1.StatusTransformation"
    # The function's own words, since a composite's condition shows them.
    reason = (
        f'json: cannot unmarshal Go value of type {kind}: unknown name "{unknown}"'
        if unknown
        else error.problems[0].what
    )
    message = (
        f"cannot get Function input from *v1.RunFunctionRequest: cannot get function input *{kind} from "
        f"*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *{kind}: {reason}"
    )
    failed = Condition(_SUCCESS, "False", "InputFailure", message)
    return lambda request: replace(Response.to(request), conditions=(failed,))


@dataclass(slots=True)
class _Run:
    request: Request
    conditions: list[Condition] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    errored: bool = False

    def apply(self, hook: _Hook, index: int) -> None:
        groups = self._matched(hook, index)
        if groups is None:
            return
        for position, setter in enumerate(hook.set_conditions):
            wanted = setter.condition
            if any(c.type == wanted.type for c in self.conditions) and not setter.force:
                continue
            where = f"cannot set condition, statusConditionHookIndex: {index}, setConditionIndex: {position}"
            message = self._message(wanted.message, groups, where)
            if message is not None:
                status = wanted.status if wanted.status in ("True", "False") else "Unknown"
                target = _target(setter.target)
                self.conditions.append(Condition(wanted.type, status, wanted.reason, message, target))
        for position, event in enumerate(hook.create_events):
            self._event(
                event, groups, f"cannot create event, statusConditionHookIndex: {index}, createEventIndex: {position}"
            )

    def _matched(self, hook: _Hook, index: int) -> dict[str, str] | None:
        """The groups that the matchers' patterns captured; None where not all of them match."""
        if not hook.matchers:
            return None
        groups: dict[str, str] = {}
        for position, matcher in enumerate(hook.matchers):
            try:
                captured = _captured(matcher, list(self._resources(matcher)))
            except _NotLoaded:
                raise
            except _Refused as error:
                where = f"cannot match resources, statusConditionHookIndex: {index}, matchConditionIndex: {position}"
                self.fail("MatchFailure", f"{where}: {error}")
                return None
            if captured is None:
                return None
            groups |= captured
        return groups

    def _resources(self, matcher: _Matcher) -> Iterator[Mapping[str, Any]]:
        extra = list(self._extra()) if matcher.include_extra_resources else []
        patterns = [
            _pattern(r.name, f"cannot compile resource key regex, resourcesIndex: {i}")
            for i, r in enumerate(matcher.resources)
        ]
        for name, resource in self.request.observed.resources.items():
            if any(p.search(name) for p in patterns):
                yield resource.document
        for name, document in extra:
            if any(p.search(name) for p in patterns):
                yield document
        if matcher.include_composite_as_resource:
            yield self.request.observed.composite.document

    def _extra(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        found = self.request.context.get(EXTRA_RESOURCES, {})
        if not isinstance(found, Mapping):
            raise _NotLoaded(f"unexpected extra-resources type: {type_name(found)}")
        for into, documents in found.items():
            what = f"unexpected extra-resources value type for {into}"
            if not isinstance(documents, list):
                raise _NotLoaded(f"{what}: {type_name(documents)}")
            for index, document in enumerate(documents):
                if not isinstance(document, Mapping):
                    raise _NotLoaded(f"{what} [{index}]: {type_name(document)}")
                yield f"extra-resource.{into}.{_key(document)}", document

    def _event(self, event: _CreateEvent, groups: Mapping[str, str], where: str) -> None:
        severity = {"Normal": Severity.normal, "Warning": Severity.warning}.get(event.event.type)
        if severity is None:
            self.fail(
                "SetConditionFailure", f"{where}: invalid type {event.event.type}, must be one of [Normal, Warning]"
            )
            return
        message = self._message(event.event.message, groups, where)
        if message is not None:
            reason = event.event.reason or ""
            self.results.append(Result(severity, message, reason, _target(event.target)))

    def _message(self, text: str | None, groups: Mapping[str, str], where: str) -> str | None:
        """A message with what was captured; None where its template fails."""
        if not text or not groups:
            return text or ""
        try:
            return gofunction.render(text, groups, file="message").text
        except EngineError as error:
            self.fail("SetConditionFailure", f"{where}: cannot execute template: {error.problems[0].what}")
            return None

    def fail(self, reason: str, message: str) -> None:
        self.errored = True
        self.conditions.append(Condition(_SUCCESS, "False", reason, message))


def _key(document: Mapping[str, Any]) -> str:
    metadata = object_at(document, "metadata")
    group = group_of(str(document.get("apiVersion", "")))
    return ".".join(
        str(p) for p in (group, document.get("kind", ""), metadata.get("namespace", ""), metadata.get("name", ""))
    )


def _captured(matcher: _Matcher, resources: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """What the patterns of a matcher capture; None where it does not match.

    A condition is looked at only if the verdict depends on it: what is wrong with the pattern of another has no effect.
    """
    conditions = matcher.conditions
    if not resources or not conditions:
        return None
    match matcher.type:
        case "AnyResourceMatchesAnyCondition":
            return next((g for r in resources for c in conditions if (g := _match(c, r)) is not None), None)
        case "AnyResourceMatchesAllConditions":
            return next((g for r in resources if (g := _all(conditions, r)) is not None), None)
        case "AllResourcesMatchAnyCondition":
            judge = _any
        case _:
            judge = _all
    groups: dict[str, str] = {}
    for resource in resources:
        found = judge(conditions, resource)
        if found is None:
            return None
        groups |= found
    return groups


def _all(conditions: Sequence[_ConditionMatcher], resource: Mapping[str, Any]) -> dict[str, str] | None:
    groups: dict[str, str] = {}
    for condition in conditions:
        found = _match(condition, resource)
        if found is None:
            return None
        groups |= found
    return groups


def _any(conditions: Sequence[_ConditionMatcher], resource: Mapping[str, Any]) -> dict[str, str] | None:
    found = [groups for c in conditions if (groups := _match(c, resource)) is not None]
    return {name: value for groups in found for name, value in groups.items()} if found else None


def _match(matcher: _ConditionMatcher, resource: Mapping[str, Any]) -> dict[str, str] | None:
    condition = _condition(resource, matcher.type)
    if matcher.reason is not None and matcher.reason != (condition.get("reason") or ""):
        return None
    if matcher.status is not None and matcher.status != (condition.get("status") or ""):
        return None
    if matcher.message is None:
        return {}
    pattern = _pattern(matcher.message, "cannot compile message regex")
    found = pattern.search(condition.get("message") or "")
    if found is None:
        return None
    names = {number: name for name, number in pattern.groupindex.items()}
    return {names.get(i, ""): value or "" for i, value in enumerate(found.groups(), start=1)}


def _condition(resource: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The condition of a type; Unknown if it is missing, and without a status if the resource has no status to read."""
    status = resource.get("status", "")
    listed = (status or {}).get("conditions") or [] if isinstance(status, Mapping | None) else None
    if not isinstance(listed, list) or not all(_is_condition(each) for each in listed):
        return {}
    return next((each for each in listed if each.get("type") == kind), {"status": "Unknown"})


def _is_condition(value: Any) -> bool:
    fields = ("type", "status", "reason", "message")
    return isinstance(value, Mapping) and all(isinstance(value.get(field), str | None) for field in fields)


def _pattern(text: str, why: str) -> Any:
    try:
        return compiled(text)
    except BadPattern as error:
        raise _Refused(f"{why}: {error}") from error


def _target(name: str) -> Target:
    return Target.composite_and_claim if name == "CompositeAndClaim" else Target.composite
