"""function-python, and functions of folders in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import python, requirements, worker
from claimsmith.functions.protocol import Ready, Response, Severity
from tests.support.function_calls import place, request

HEAD = {"apiVersion": "python.fn.crossplane.io/v1beta1", "kind": "Script"}
MADE = 'rsp.desired.resources["a"].resource.update({"apiVersion": "v1", "kind": "Thing", "spec": {"r": region}})'


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    yield
    worker.stop_all()


def run(script: str, code: python.Code | None = None, **more: Any) -> Response:
    data = {**HEAD, "script": script}
    bound = python.of_code(code or python.Code())(place("function-python", data))
    return requirements.settled(bound, request(data, **more), requirements.Sources())


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_script(kind: str) -> None:
    response = run(
        f'{kind} compose(req, rsp):\n    region = req.observed.composite.resource["spec"]["region"]\n    {MADE}\n'
        "    rsp.desired.resources['a'].ready = True\n"
        "    from crossplane.function import response\n    response.warning(rsp, 'careful')\n"
    )
    assert response.desired.resources["a"].document == {"apiVersion": "v1", "kind": "Thing", "spec": {"r": "eu"}}
    assert response.desired.resources["a"].ready is Ready.true
    assert [(r.severity, r.message) for r in response.results] == [(Severity.warning, "careful")]


def test_a_folder_whose_main_imports_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(f"from .lib import region\ndef compose(req, rsp):\n    {MADE}\n")
    (tmp_path / "lib.py").write_text("region = 'from lib'\n")
    response = run("", python.Code(str(tmp_path)))
    assert response.desired.resources["a"].document["spec"] == {"r": "from lib"}


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("def other(req, rsp): pass", "has no function compose"),
        ("def compose(req, rsp):\n    raise ValueError('no')", "ValueError: no (line 2 of compose)"),
        ("def compose(req, rsp", "SyntaxError"),
        ("def compose(req, rsp):\n    import os\n    os._exit(3)", "ended while it ran (exit code 3)"),
        ("def compose(req, rsp):\n    compose(req, rsp)", "RecursionError"),
        ("def compose(req, rsp):\n    rsp.desired.resources['a'].resource.update({'kind': 'x'})", "has no apiVersion"),
        ("def compose(req, rsp):\n    open('/etc/passwd')", "PermissionError"),
        (
            "def compose(req, rsp):\n    import socket\n    socket.create_connection(('127.0.0.1', 9))",
            "PermissionError",
        ),
    ],
    ids=["no function", "raises", "syntax", "exits", "recursion", "answer", "file", "network"],
)
def test_refused(script: str, what: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(script)
    assert what in caught.value.problems[0].what


def test_the_environment_of_the_command_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "s3cret"
    script = f"def compose(req, rsp):\n    import os\n    region = str(dict(os.environ))\n    {MADE}\n"
    assert "s3cret" not in run(script).desired.resources["a"].document["spec"]["r"]


def test_limits() -> None:
    own = worker.Worker(worker.PYTHON, limits=worker.Limits(seconds=2, megabytes=2048))
    with pytest.raises(EngineError) as caught:
        own.call({"request": "", "script": "while True: pass"})
    assert "longer than 2 seconds" in caught.value.problems[0].what
    assert own.pid is None


def test_scripts_are_refused_unless_the_project_declares_the_function() -> None:
    data = {**HEAD, "script": "def compose(req, rsp): pass"}
    with pytest.raises(EngineError) as caught:
        python.bind(place("function-python", data))(request(data))
    assert caught.value.problems[0].fix == "permit it in claimsmith.yaml: functions: {scripts: [function-python]}"
