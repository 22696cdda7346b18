"""Checks CEL expressions over variables with types, which are protobuf messages for CEL's own checker.

It is an engine beside that of evaluation, since only checks need messages, and they take a while to import.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]  # it ships no marker of its types
from google.protobuf import (  # type: ignore[import-untyped]  # its types are a package of their own
    descriptor_pb2,
    descriptor_pool,
    struct_pb2,
)

from claimsmith.functions.engines import cel_engine
from claimsmith.functions.engines.child import Engine

_PACKAGE = "claim"
_ANY = ".google.protobuf.Value"
_FIELD = descriptor_pb2.FieldDescriptorProto
_SIMPLE = {
    "int": _FIELD.TYPE_INT64,
    "double": _FIELD.TYPE_DOUBLE,
    "string": _FIELD.TYPE_STRING,
    "bool": _FIELD.TYPE_BOOL,
}


def start(folders: Sequence[str], confined: bool) -> Engine:  # noqa: ARG001 - every engine is started alike
    """The engine; it reads no files."""
    return answer


def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The type of an expression, or all that is wrong with it."""
    try:
        return {
            "returns": str(_environment(json.dumps(request["types"])).compile(request["text"]).return_type().name())
        }
    except RuntimeError as error:
        return {"invalid": str(error)}


@lru_cache(maxsize=64)
def _environment(text: str) -> Any:
    types = json.loads(text)
    number = types["number"]
    variables = {name: _declared(each, number) for name, each in types["variables"].items()}
    return cel.NewEnv(
        descriptor_pool=_pool(types["objects"], number),
        variables=variables,
        **cel_engine.declared(),
    )


def _declared(type_: Any, number: str) -> Any:
    """The type of a variable."""
    kind = cel.Type
    match type_:
        case {"list": inner}:
            return kind.List(_declared(inner, number))
        case {"map": inner}:
            return kind.Map(kind.STRING, _declared(inner, number))
        case {"object": index}:
            return kind(f"{_PACKAGE}.T{index}")
        case _:
            simple = {"int": kind.INT, "double": kind.DOUBLE, "string": kind.STRING, "bool": kind.BOOL}
            return simple.get(number if type_ == "number" else type_, kind.DYN)


def _pool(objects: Sequence[Mapping[str, Any]], number: str) -> Any:
    """The messages of all objects."""
    found = descriptor_pool.DescriptorPool()
    struct = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(struct)
    found.Add(struct)
    file = descriptor_pb2.FileDescriptorProto(
        name="claim.proto", package=_PACKAGE, syntax="proto2", dependency=[struct.name]
    )
    for index, fields in enumerate(objects):
        message = file.message_type.add(name=f"T{index}")
        for position, (name, type_) in enumerate(fields.items(), 1):
            _add(message, name, position, type_, number)
    found.Add(file)
    return found


def _add(message: Any, name: str, position: int, type_: Any, number: str) -> None:
    added = message.field.add(name=name, json_name=name, number=position, label=_FIELD.LABEL_OPTIONAL)
    match type_:
        case {"list": inner} if _fits(inner):
            added.label = _FIELD.LABEL_REPEATED
            _set(added, inner, number)
        case {"map": inner} if _fits(inner):
            added.label = _FIELD.LABEL_REPEATED
            added.type = _FIELD.TYPE_MESSAGE
            added.type_name = f".{_PACKAGE}.{message.name}.{_entry_name(name)}"
            entry = message.nested_type.add(name=_entry_name(name))
            entry.options.map_entry = True
            _add(entry, "key", 1, "string", number)
            _add(entry, "value", 2, inner, number)
        case _:
            _set(added, type_, number)


def _fits(type_: Any) -> bool:
    """Whether a list or a map of it is a field of a message: lists of lists are not."""
    return not isinstance(type_, Mapping) or "object" in type_


def _entry_name(field: str) -> str:
    """The name that a map's entry must have: that of the field, in camel case."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _set(field: Any, type_: Any, number: str) -> None:
    simple = _SIMPLE.get(number if type_ == "number" else type_) if isinstance(type_, str) else None
    if simple is not None:
        field.type = simple
        return
    field.type = _FIELD.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.T{type_['object']}" if isinstance(type_, Mapping) and "object" in type_ else _ANY
