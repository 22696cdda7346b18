"""Functions behind gRPC: programs and sockets, good and hostile ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import grpc_caller, requirements
from claimsmith.functions.grpc_caller import ARGUMENTS, Address, Limits, Program
from claimsmith.functions.protocol import Condition, Ready, Request, Resource, Response, Severity, State
from tests.support.eventually import eventually
from tests.support.function_calls import XR, place
from tests.support.paths import ROOT
from tests.support.processes import await_end, is_running

SERVER = ROOT / "tests" / "support" / "function_server.py"
INPUT = {"apiVersion": "acme.example.org/v1", "kind": "Input"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("function") / "function-acme"
    found.write_text(f'#!/bin/sh\nexec {sys.executable} {SERVER} "$@"\n')
    found.chmod(0o755)
    return found


@pytest.fixture(autouse=True, scope="module")
def _stopped() -> Iterator[None]:
    yield
    grpc_caller.stop_all()


UNHURRIED = Limits(seconds=3600, start_seconds=3600)
"""How long a call takes says something of the machine: only a hang meets these limits."""


def run(where: Program | Address, behaviour: str = "compose", limits: Limits = UNHURRIED, **more: Any) -> Response:
    data = {**INPUT, "behaviour": behaviour}
    bound = grpc_caller.of_function("function-acme", where, limits)(place("function-acme", data))
    given = Request(State(Resource(XR)), input=data, **more)
    return requirements.settled(bound, given, requirements.Sources([{**labelled("one")}, {**labelled("two")}]))


def labelled(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"kind": "wanted"}}}


def data_of(response: Response) -> dict[str, str]:
    found: dict[str, str] = response.desired.resources["made"].document["data"]
    return found


@pytest.mark.parametrize("only", ["v1", "v1beta1"])
def test_a_program(path: Path, only: str) -> None:
    response = run(Program(str(path), (*ARGUMENTS, f"--only={only}")), context={"key": 1})
    assert data_of(response)["region"] == "eu"
    assert response.desired.resources["made"].ready is Ready.true
    assert [(r.severity, r.message) for r in response.results] == [(Severity.warning, "a warning")]
    assert response.conditions == (Condition("Made", "True", "Done"),)
    assert response.context == {"key": 1, "seen": True}


def test_a_program_is_started_once(path: Path) -> None:
    program = Program(str(path))
    assert data_of(run(program))["pid"] == data_of(run(program))["pid"]


def test_a_program_on_a_port(path: Path) -> None:
    arguments = ("--insecure", "--network=tcp", "--address=127.0.0.1:{port}")
    assert data_of(run(Program(str(path), arguments)))["region"] == "eu"


def test_requirements(path: Path) -> None:
    assert data_of(run(Program(str(path)), "require"))["found"] == "one,two"


def test_a_socket(tmp_path: Path) -> None:
    listening = tmp_path / "s"
    with subprocess.Popen([sys.executable, str(SERVER), f"--address={listening}"]) as server:
        try:
            assert data_of(run(Address(f"unix:{listening}")))["pid"] == str(server.pid)
        finally:
            server.kill()


@pytest.mark.parametrize(
    ("behaviour", "what"),
    [
        ("raise", "failed: UNKNOWN"),
        ("hang", "took longer than 1 seconds"),
        ("die", "ended: exit code 3: the function gives up"),
        ("huge", "answered with more than 16 MB"),
        ("many", "it has 10001 desired resources"),
        ("bad severity", "unknown severity 17"),
        ("valueless", "a field without a value"),
    ],
)
def test_hostile_functions(path: Path, behaviour: str, what: str) -> None:
    limits = replace(UNHURRIED, seconds=1) if behaviour == "hang" else UNHURRIED
    program = Program(str(path), (*ARGUMENTS, "--ignore-terminate"))
    before = set(grpc_caller.processes())
    with pytest.raises(EngineError) as caught:
        run(program, behaviour, limits)
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].fix
    assert set(grpc_caller.processes()) <= before


@pytest.mark.parametrize(
    ("behaviour", "what"),
    [
        ("no kind", "the desired resource 'made' has no kind"),
        ("bad name", "as a name"),
        ("not finite", "a number that is not finite"),
        ("demanding", "requirements; the most is 1000"),
        ("unsettled", "its requirements still change after 5 rounds"),
    ],
)
def test_hostile_answers(path: Path, behaviour: str, what: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(Program(str(path)), behaviour)
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].fix


def test_a_function_that_died_in_the_middle_is_started_again(path: Path) -> None:
    program = Program(str(path), (*ARGUMENTS, "--ignore-terminate"))
    with pytest.raises(EngineError):
        run(program, "die")
    assert data_of(run(program))["region"] == "eu"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((*ARGUMENTS, "--only=garbage"), "failed: INTERNAL"),
        ((*ARGUMENTS, "--only=nothing"), "implements neither v1 nor v1beta1"),
        (("--nonsense",), "ended: exit code 2"),
        (("--insecure", "--address=/tmp/nowhere/s"), "ended: exit code 1"),
    ],
    ids=["garbage", "no function", "arguments", "address"],
)
def test_programs_that_are_no_functions(path: Path, arguments: tuple[str, ...], what: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(Program(str(path), arguments))
    assert what in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("where", "seconds", "what"),
    [
        (Program("/no/such/program"), 3600, "is no program that can be started"),
        (Program("/bin/true"), 3600, "ended: exit code 0"),
        (Program("/bin/sleep", ("600",)), 1, "does not listen after 1 seconds"),
        (Address("127.0.0.1:9"), 1, "does not listen after 1 seconds"),
    ],
    ids=["missing", "ends", "sleeps", "nobody"],
)
def test_nobody_answers(where: Program | Address, seconds: float, what: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(where, limits=Limits(start_seconds=seconds))
    assert what in caught.value.problems[0].what


def test_fatal_results_are_results(path: Path) -> None:
    assert [r.severity for r in run(Program(str(path)), "fatal").results] == [Severity.fatal]


KILLED = """
import sys, time
from claimsmith.functions import grpc_caller
from claimsmith.functions.protocol import Request, Resource, State
from tests.support.function_calls import XR, place
data = {"apiVersion": "acme.example.org/v1", "kind": "Input", "behaviour": sys.argv[3]}
program = grpc_caller.Program(sys.argv[1], (*grpc_caller.ARGUMENTS, "--ignore-terminate"))
function = grpc_caller.of_function("function-acme", program)(place("function-acme", data))
made = function(Request(State(Resource(XR)), input=data)).desired.resources["made"].document["data"]
print(made["pid"], made["child"], flush=True)
if sys.argv[2] == "killed":
    time.sleep(600)
"""


@pytest.mark.parametrize("behaviour", ["child", "hidden child"])
@pytest.mark.parametrize("what", ["killed", "done"])
def test_nothing_is_left_of_a_command_that_ends_or_is_killed(path: Path, what: str, behaviour: str) -> None:
    """The program and what it started, also in a session of its own, end with the command; they ignore SIGTERM."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'engine'}:{ROOT}"}
    command = [sys.executable, "-c", KILLED, str(path), what, behaviour]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        if what == "killed":
            assert all(map(is_running, pids))
            process.kill()
    for pid in pids:
        await_end(pid)


def test_no_folder_is_left(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grpc_caller.tempfile, "tempdir", str(tmp_path))
    run(Program(str(path), (*ARGUMENTS, "--insecure")))
    assert list(tmp_path.iterdir())
    grpc_caller.stop_all()
    eventually(lambda: not list(tmp_path.iterdir()))


def test_the_folder_of_sockets_has_a_short_path(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment has its temporary files in a folder of the project, which may be deep."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    # A folder of its own makes it another program, which is started here.
    assert data_of(run(Program(str(path), folder=str(tmp_path))))["region"] == "eu"
    assert list(deep.iterdir()) == []
