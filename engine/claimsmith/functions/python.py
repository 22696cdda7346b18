"""function-python, and functions of a project folder in Python: `compose(req, rsp)` in a child process.

A script can do whatever the user can that runs the command, as far as its process is not confined. So the platform has
to permit it in claimsmith.yaml.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.functions import inputs, messages, worker
from claimsmith.functions.protocol import Function, Request, Response
from claimsmith.functions.registry import Place


class _Script(inputs.FunctionInput):
    script: str


@dataclass(frozen=True, slots=True)
class Code:
    """Where the code of a function is: in a folder, or in the step's input; and the interpreter that runs it."""

    folder: str = ""
    interpreter: str = ""


def bind(place: Place) -> Function:
    """A refusal: a script runs only where the project permits it, and then the project declares the function."""
    return lambda _: _refuse(place)


def _refuse(place: Place) -> Response:
    what = f"the function {place.step.function!r} runs Python code of the composition"
    fix = f"permit it in claimsmith.yaml: functions: {{scripts: [{place.step.function}]}}"
    raise inputs.problem(place, what, "script", fix)


def of_code(code: Code) -> Callable[[Place], Function]:
    """The function of a folder, or of the steps' own scripts."""

    def bound(place: Place) -> Function:
        script = "" if code.folder else inputs.read(_Script, place).script
        return lambda request: _response(code, script, request, place.timeout)

    return bound


def _response(code: Code, script: str, request: Request, seconds: float | None) -> Response:
    worker.require(worker.PYTHON)
    from crossplane.function.proto.v1 import run_function_pb2 as v1

    folders = (code.folder,) if code.folder else ()
    message = messages.encoded(request, v1).SerializeToString()
    # What one script leaves behind in its process is nothing to another.
    purpose = hashlib.sha256(script.encode()).hexdigest() if script else ""
    answer = worker.worker(worker.PYTHON, folders, code.interpreter, purpose).call(
        {"request": base64.b64encode(message).decode(), "folder": code.folder, "script": script}, seconds
    )
    if "failed" in answer:
        raise ComposeError(Problem(str(answer["failed"]), fix="fix the script"))
    unreadable = import_module("google.protobuf.message").DecodeError
    try:
        return messages.decoded(v1.RunFunctionResponse.FromString(base64.b64decode(str(answer.get("response", "")))))
    except (binascii.Error, unreadable, ValueError) as error:
        what = "the script answered with what is no response, or with one that nests too deeply"
        raise ComposeError(Problem(what, fix="fix the script")) from error
