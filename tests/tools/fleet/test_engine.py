"""The engine's events, and its child processes: counted, logged, interrupted, waited for."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from claimsmith.tools.fleet.engine import Children, Events, Ran
from tests.support.fleet_files import engine_program

URN = "urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet"


def step(op: str, urn: str = URN, **old: Any) -> dict[str, Any]:
    return {"resourcePreEvent": {"metadata": {"op": op, "urn": urn, "old": old}}}


@pytest.mark.parametrize(
    ("events", "want"),
    [
        pytest.param([step("create"), step("update"), step("same")], 0, id="harmless"),
        pytest.param([step("delete")], 1, id="deleted"),
        pytest.param([step("delete", retainOnDelete=True)], 0, id="retained"),
        pytest.param([step("create-replacement"), step("replace"), step("delete-replaced")], 1, id="replaced-once"),
        pytest.param([step("delete", "urn:pulumi:dev::shop::claimsmith:a:B::x")], 0, id="a-component"),
        pytest.param([step("delete", "urn:pulumi:dev::shop::pulumi:providers:random::x")], 0, id="a-provider"),
    ],
)
def test_destructive(events: list[dict[str, Any]], want: int) -> None:
    found = Events()
    for event in events:
        found.add(event)
    assert len(found.destroyed) == want


def test_changes_are_the_sums_of_the_engine_or_the_steps_so_far() -> None:
    found = Events()
    for op in ("create", "create", "same"):
        found.add({"resOutputsEvent": {"metadata": {"op": op}}})
    assert found.changes == {"create": 2}
    found.add({"summaryEvent": {"resourceChanges": {"create": 3, "same": 1}}})
    assert found.changes == {"create": 3}
    found.add({"diagnosticEvent": {"severity": "error", "message": "error: it is\nwrong\n"}})
    found.add({"diagnosticEvent": {"severity": "warning", "message": "look"}})
    assert found.errors == ["it is wrong"]


def run(folder: Path, children: Children, stack: str = "a", **options: Any) -> Ran:
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command = ["pulumi", "up", "--stack", stack]
    return children.run(command, cwd=folder, env=env, log=folder / f"{stack}.log", **options)


def test_a_run_is_counted_and_logged(tmp_path: Path) -> None:
    engine_program(tmp_path / "bin", {"a": {"ops": [["create", "create", "same"]]}})
    seen: list[dict[str, int]] = []
    ran = run(tmp_path, Children(), progress=lambda steps: seen.append(dict(steps)))
    assert (ran.code, ran.events.changes) == (0, {"create": 2})
    assert seen[-1] == {"create": 2, "same": 1}
    assert (tmp_path / "a.log").read_text() == "$ pulumi up --stack a\nthis is up of a\n"
    assert not (tmp_path / "a.events").exists()
    again = run(tmp_path, Children())
    assert again.output == "$ pulumi up --stack a\nthis is up of a\n"
    assert (tmp_path / "a.log").read_text() == again.output * 2


def test_a_locked_stack_is_told_from_a_failure(tmp_path: Path) -> None:
    engine_program(tmp_path / "bin", {"a": {"locked": 1}, "b": {"fails": "up"}})
    assert run(tmp_path, Children()).locks
    failed = run(tmp_path, Children(), "b")
    assert (failed.code, failed.locks, failed.events.errors) == (1, [], ["no such database"])


def test_an_interrupt_reaches_every_child_and_is_waited_for(tmp_path: Path) -> None:
    engine_program(tmp_path / "bin", {"a": {"seconds": 60}, "b": {"seconds": 60}})
    children = Children()
    ended: dict[str, Ran] = {}
    threads = [
        threading.Thread(target=lambda s=stack: ended.update({s: run(tmp_path, children, s)})) for stack in ("a", "b")
    ]
    for thread in threads:
        thread.start()
    while not all((tmp_path / "bin" / f"{stack}.began").exists() for stack in ("a", "b")):
        time.sleep(0.02)
    children.interrupt()
    for thread in threads:
        thread.join()
    assert {stack: ran.code for stack, ran in ended.items()} == {"a": 255, "b": 255}
    # One that starts just then ends as well.
    assert run(tmp_path, children).code != 0
