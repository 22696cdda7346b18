"""Requests and responses as the messages of the functions' protocol, v1 and v1beta1, which have the same fields.

What a message alone can have wrong is refused here; the rest is checked for all functions alike (`answers.py`). Needs
`claimsmith[grpc]`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.functions import answers
from claimsmith.functions.protocol import (
    Condition,
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
    Target,
)
from claimsmith.golang import strconv

_CAPABILITIES: Final = (1, 2, 3, 4, 5)
"""Capabilities, required resources, credentials, conditions, required schemas."""
_LONGEST_MESSAGE: Final = 100_000
_DEEPEST: Final = 100
_READY: Final = (Ready.unspecified, Ready.true, Ready.false)
_SEVERITY: Final = {1: Severity.fatal, 2: Severity.warning, 3: Severity.normal}
_STATUS: Final = {1: "Unknown", 2: "True", 3: "False"}


def encoded(request: Request, messages: Any) -> Any:
    """A request as a message of the given module of generated messages."""
    message = messages.RunFunctionRequest(
        meta={"tag": request.tag or "claimsmith", "capabilities": _CAPABILITIES},
        observed=_state(request.observed, messages),
        desired=_state(request.desired, messages),
        input=_struct(request.input),
        context=_struct(request.context),
    )
    for name, data in request.credentials.items():
        message.credentials[name].credential_data.data.update(data)
    _fill(message.extra_resources, request.extra_resources, messages)
    _fill(message.required_resources, request.required_resources or {}, messages)
    for name, schema in request.required_schemas.items():
        message.required_schemas[name].CopyFrom(
            messages.Schema(openapi_v3=_struct(schema)) if schema else messages.Schema()
        )
    return message


def _fill(target: Any, resources: Mapping[str, Sequence[Resource]], messages: Any) -> None:
    for name, found in resources.items():
        target[name].CopyFrom(messages.Resources(items=[_resource(r, messages) for r in found]))


def _state(state: State, messages: Any) -> Any:
    message = messages.State(composite=_resource(state.composite, messages))
    for name, resource in state.resources.items():
        message.resources[name].CopyFrom(_resource(resource, messages))
    return message


def _resource(resource: Resource, messages: Any) -> Any:
    return messages.Resource(
        resource=_struct(resource.document),
        connection_details=dict(resource.details),
        ready=_READY.index(resource.ready),
    )


def _struct(document: Mapping[str, Any]) -> Any:
    struct = import_module("google.protobuf.struct_pb2").Struct()
    for key, value in document.items():
        _set(struct.fields[strconv.scrubbed(str(key))], value)
    return struct


def _set(target: Any, value: Any) -> None:
    match value:
        case None:
            target.null_value = 0
        case bool():
            target.bool_value = value
        case int() | float():
            target.number_value = float(value)
        case str():
            target.string_value = strconv.scrubbed(value)
        case Mapping():
            target.struct_value.SetInParent()
            for key, item in value.items():
                _set(target.struct_value.fields[strconv.scrubbed(str(key))], item)
        case list() | tuple():
            target.list_value.SetInParent()
            for item in value:
                _set(target.list_value.values.add(), item)
        case _:
            what = f"a {type(value).__name__} cannot be sent to a function"
            raise ComposeError(Problem(what, fix="let the function run once the value is there"))


def decoded(message: Any) -> Response:
    """A response from its message."""
    desired = message.desired
    if len(desired.resources) > answers.MOST_RESOURCES:  # before all of them are read
        raise answers.refused(f"it has {len(desired.resources)} desired resources")
    if "" in desired.resources:
        raise answers.refused("it uses '' as a name")
    resources = {n: _decoded_resource(desired.resources[n], f"the desired resource {n!r}") for n in desired.resources}
    composite = _decoded_resource(desired.composite, "the composite")
    required = message.requirements
    return Response(
        State(composite, resources),
        _value_of(message.context, "the context"),
        tuple(_result(r) for r in message.results),
        tuple(_condition(c) for c in message.conditions),
        Requirements(
            {n: _selector(s) for n, s in required.extra_resources.items()},
            {n: _selector(s) for n, s in required.resources.items()},
            {n: SchemaSelector(s.api_version, s.kind) for n, s in required.schemas.items()},
        ),
    )


def _decoded_resource(message: Any, where: str) -> Resource:
    if not 0 <= message.ready < len(_READY):
        raise answers.refused(f"{where} has the unknown readiness {message.ready}")
    details = {name: bytes(value) for name, value in message.connection_details.items()}
    return Resource(_value_of(message.resource, where), details, _READY[message.ready])


def _result(message: Any) -> Result:
    severity = _SEVERITY.get(message.severity)
    if severity is None:
        raise answers.refused(f"it has a result of the unknown severity {message.severity}")
    return Result(severity, _text(message.message), _text(message.reason), _target(message.target))


def _condition(message: Any) -> Condition:
    status = _STATUS.get(message.status)
    if status is None or not message.type:
        raise answers.refused("it has a condition without type or status")
    texts = (_text(message.reason), _text(message.message))
    return Condition(_text(message.type), status, *texts, _target(message.target))


def _selector(message: Any) -> Selector:
    by_name = message.WhichOneof("match") == "match_name"
    labels = None if by_name else dict(message.match_labels.labels)
    return Selector(message.api_version, message.kind, message.match_name if by_name else "", labels, message.namespace)


def _target(number: int) -> Target:
    return Target.composite_and_claim if number == 2 else Target.composite  # as the protocol counts


def _text(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


def _value_of(struct: Any, where: str) -> dict[str, Any]:
    return {key: _value(struct.fields[key], where, 1) for key in struct.fields}


def _value(message: Any, where: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise answers.refused(f"{where} nests more than {_DEEPEST} levels")
    match message.WhichOneof("kind"):
        case "number_value":
            return _number(message.number_value)
        case "string_value":
            return message.string_value
        case "bool_value":
            return message.bool_value
        case "struct_value":
            fields = message.struct_value.fields
            return {key: _value(fields[key], where, depth + 1) for key in fields}
        case "list_value":
            return [_value(item, where, depth + 1) for item in message.list_value.values]
        case "null_value":
            return None
        case _:
            raise answers.refused(f"{where} has a field without a value")


def _number(value: float) -> int | float:
    return int(value) if math.isfinite(value) and value.is_integer() and abs(value) < 2**63 else value
