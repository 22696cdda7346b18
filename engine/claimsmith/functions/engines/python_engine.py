"""Runs functions written in Python: a script with `compose(req, rsp)`, or `main.py` of a folder.

A script is code of the platform; the process around it has limits, and reads only its folder and the interpreter's own.
"""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from crossplane.function import response
from crossplane.function.proto.v1 import run_function_pb2 as messages

from claimsmith.functions.engines.child import Engine

READABLE = tuple(
    dict.fromkeys((sys.prefix, sys.base_prefix, *sys.path, "/usr/lib", "/lib", "/lib64", "/usr/share/zoneinfo"))
)
"""What the interpreter and its packages need."""


def start(folders: Sequence[str], confined: bool) -> Engine:  # noqa: ARG001 - every engine is started alike
    """The engine."""
    return answer


def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response of a script, as a message."""
    incoming = messages.RunFunctionRequest.FromString(base64.b64decode(request["request"]))
    module = _from_folder(request["folder"]) if request.get("folder") else _from_text(request["script"])
    compose = getattr(module, "compose", None)
    if compose is None:
        return {"failed": "the script has no function compose(req, rsp)"}
    outgoing = response.to(incoming)
    try:
        if inspect.iscoroutinefunction(compose):
            asyncio.run(compose(incoming, outgoing))
        else:
            compose(incoming, outgoing)
    except Exception as error:  # whatever a script raises is its answer
        last = traceback.extract_tb(error.__traceback__)[-1]
        return {"failed": f"{type(error).__name__}: {error} (line {last.lineno} of {last.name})"}
    return {"response": base64.b64encode(outgoing.SerializeToString()).decode()}


def _from_text(text: str) -> ModuleType:
    module = ModuleType("script")
    exec(compile(text, "script", "exec"), module.__dict__)  # to run it is the purpose
    return module


@lru_cache(maxsize=64)
def _from_folder(folder: str) -> ModuleType:
    """`main.py` of a folder, as a module of a package, so that it can import its neighbours."""
    package = ModuleType("function")
    package.__path__ = [folder]
    sys.modules["function"] = package
    spec = importlib.util.spec_from_file_location("function.main", f"{folder}/main.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{folder}/main.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["function.main"] = module
    spec.loader.exec_module(module)
    return module
