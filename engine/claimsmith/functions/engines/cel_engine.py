"""Evaluates CEL expressions: each is compiled once for the variables that it may use.

The engine counts iterations and nesting itself; memory and time are limits of this process.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]  # it ships no marker of its types

from claimsmith.functions.engines.cel_declared import configuration, function, functions, overloads
from claimsmith.functions.engines.cel_kubernetes import TEXTS, TYPES
from claimsmith.functions.engines.cel_library import COMPREHENSIONS, LIBRARY, POSITIONS, plain
from claimsmith.functions.engines.cel_texts import FORMATS, PATTERNS
from claimsmith.functions.engines.child import Engine

READABLE = ("/usr/share/zoneinfo",)
"""What functions of times need, which take the name of a time zone."""
_EXTENSIONS = ("lists", "sets", "math", "optional", "bindings", "encoders")
_OMIT = f"\ue000omit-{secrets.token_hex(8)}\ue001"
"""Stands for the value of `omit()`; no input can contain it."""
_ABSENT = re.compile(r"[A-Z_]+: (Key not found|No value with name|Index error|no such|no_matching_key)")
"""How messages about something absent begin; what follows may be text of a claim."""
_OWN = (*LIBRARY, *PATTERNS, *TYPES, *TEXTS, function("omit", "dyn", does=lambda: _OMIT))


def start(folders: Sequence[str], confined: bool) -> Engine:  # noqa: ARG001 - every engine is started alike
    """The engine; it reads no files."""
    return answer


def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The value of an expression, or why it has none."""
    kinds = tuple(sorted((name, "list" if name in request["lists"] else "dyn") for name in request["variables"]))
    try:
        compiled, returns = _compiled(request["text"], kinds)
    except RuntimeError as error:
        return {"invalid": str(error)}
    if "values" not in request:
        return {"returns": returns}
    values = {name: _with_bytes(value) for name, value in request["values"].items()}
    try:
        result = compiled.eval(data=values)
    except RuntimeError as error:
        return {"failed": str(error), "absent": False}
    if result.type() == cel.Type.ERROR:
        message = str(result.plain_value())
        return {"failed": message, "absent": bool(_ABSENT.match(message))}
    return {"value": plain(result.plain_value()), "returns": returns, "omit": _OMIT}


@lru_cache(maxsize=4096)
def _compiled(text: str, kinds: tuple[tuple[str, str], ...]) -> tuple[Any, str]:
    """The expression, and the type that it returns."""
    checker, evaluator = _environments(kinds)
    checked = checker.compile(text)
    returns = str(checked.return_type().name())
    if returns.startswith("optional_type<"):
        # The engine's Python values have no optional ones: what is absent is null, as in kro.
        checked = checker.compile(f"dyn(({text}\n).orValue(dyn(null)))")
        if str(checked.return_type().name()).startswith("optional_type<"):
            raise RuntimeError("INVALID_ARGUMENT: an optional value holds another one")
    return evaluator.deserialize(checked.serialize()), returns


@lru_cache(maxsize=256)
def _environments(kinds: tuple[tuple[str, str], ...]) -> tuple[Any, Any]:
    """What checks expressions over these variables, and what evaluates them."""
    types = {"list": cel.Type.List(cel.Type.DYN), "dyn": cel.Type.DYN}
    variables = {name: types[kind] for name, kind in kinds}
    # Version 0 of the library of texts has none of the functions that are done here.
    libraries = configuration([*_EXTENSIONS, "strings@0"])
    does = functions([*_OWN, *POSITIONS, *FORMATS, *COMPREHENSIONS])
    return cel.NewEnv(variables=variables, **declared()), cel.NewEnv(
        config=libraries, variables=variables, functions=does
    )


def declared() -> dict[str, Any]:
    """The functions that expressions may use, for the checker."""
    extensions = [*_EXTENSIONS, "strings", "two-var-comprehensions"]
    return {"config": configuration(extensions, _OWN, without=["string"]), "extensions": [overloads(POSITIONS)]}


def _with_bytes(value: Any) -> Any:
    """The data of a Secret as bytes, which is its type in the schema of Kubernetes."""
    if isinstance(value, list):
        return [_with_bytes(item) for item in value]
    if isinstance(value, dict) and value.get("kind") == "Secret" and value.get("apiVersion") == "v1":
        data = value.get("data")
        if isinstance(data, dict):
            return {**value, "data": {k: base64.b64decode(v) if isinstance(v, str) else v for k, v in data.items()}}
    return value
