"""Child processes of engines: started once, restarted after a crash, gone with the command."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from claimsmith.base.errors import ComposeError
from claimsmith.functions import worker
from tests.support.paths import ROOT
from tests.support.processes import await_end, is_running

ADD = {"text": "1 + 1", "variables": [], "lists": [], "values": {}}


@pytest.fixture
def own() -> object:
    found = worker.Worker(worker.CEL)
    yield found
    found.stop()


def test_one_process_for_many_calls(own: worker.Worker) -> None:
    assert own.call(ADD)["value"] == 2
    first = own.pid
    assert own.call(ADD)["value"] == 2
    assert own.pid == first


def test_stopped_and_started_again(own: worker.Worker) -> None:
    own.call(ADD)
    pid = own.pid or 0
    own.stop()
    await_end(pid)
    assert own.call(ADD)["value"] == 2
    assert own.pid != pid


def test_a_process_that_died_in_between_is_replaced(own: worker.Worker) -> None:
    own.call(ADD)
    os.kill(own.pid or 0, signal.SIGKILL)
    await_end(own.pid or 0)
    assert own.call(ADD)["value"] == 2


def test_what_an_engine_cannot_answer_is_a_problem(own: worker.Worker) -> None:
    with pytest.raises(ComposeError) as caught:
        own.call({"nonsense": True})
    assert "KeyError" in caught.value.problems[0].what
    assert own.call(ADD)["value"] == 2


def test_workers_are_shared_within_a_command() -> None:
    assert worker.worker(worker.CEL) is worker.worker(worker.CEL)
    assert worker.worker(worker.KCL, ("/a", "/b")) is worker.worker(worker.KCL, ("/b", "/a"))
    assert worker.worker(worker.KCL, ("/a",)) is not worker.worker(worker.KCL)


def test_a_missing_package_is_named() -> None:
    absent = worker.Kind("cel", "CEL", "no_such_package", "cel", worker.CEL.limits)
    with pytest.raises(ComposeError) as caught:
        worker.Worker(absent).call(ADD)
    assert caught.value.problems[0].fix == "pip install 'claimsmith[cel]'"


def test_an_answer_to_something_else_is_refused() -> None:
    """A script that writes to the channel of answers cannot answer for the next one."""
    own = worker.Worker(worker.PYTHON)
    writes = "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'{}\\n')\n    except OSError: pass\n"
    try:
        with pytest.raises(ComposeError) as caught:
            own.call({"request": "", "script": f"{writes}def compose(req, rsp): pass"})
        assert "answered what it was not asked" in caught.value.problems[0].what
        assert own.pid is None
        assert "response" in own.call({"request": "", "script": "def compose(req, rsp): pass"})
    finally:
        own.stop()


def test_scripts_have_processes_of_their_own() -> None:
    assert worker.worker(worker.PYTHON, purpose="a") is not worker.worker(worker.PYTHON, purpose="b")


@pytest.mark.parametrize(
    ("waited", "least"), [pytest.param(0.0, 0.3, id="idle-machine"), pytest.param(1.0, 2.9, id="busy-machine")]
)
def test_time_is_the_processes_own(waited: float, least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait for a processor does not count; ten times the limit by the clock ends every call."""
    asked = itertools.count()
    monkeypatch.setattr(worker, "_waits", lambda _: {"1": waited * next(asked)})
    own = worker.Worker(worker.PYTHON)
    start = time.monotonic()
    with pytest.raises(ComposeError) as caught:
        own.call({"request": "", "script": "while True: pass"}, seconds=0.3)
    assert "took longer than 0.3 seconds" in caught.value.problems[0].what
    assert own.pid is None
    assert time.monotonic() - start >= least


PROGRAM = """
import sys, time
from claimsmith.functions import worker
own = worker.worker(worker.KCL)
own.call({"files": {"prog.k": "items = []"}, "arguments": {}, "packages": {}, "config": {}})
print(own.pid, flush=True)
if sys.argv[1] == "busy":
    source = "items = [i + j + k for i in range(99999) for j in range(99999) for k in range(99999)]"
    own.call({"files": {"prog.k": source}, "arguments": {}, "packages": {}, "config": {}})
elif sys.argv[1] == "idle":
    time.sleep(600)
"""


@pytest.mark.parametrize("what", ["busy", "idle", "done"])
def test_nothing_is_left_of_a_command_that_ends_or_is_killed(what: str, tmp_path: Path) -> None:
    """The engine's process ends with the command, also in the middle of a call."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    command = [sys.executable, "-c", PROGRAM, what]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        if what != "done":
            assert is_running(pid)
            process.kill()
    await_end(pid)
