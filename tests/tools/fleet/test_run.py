"""A whole run with a stand-in for the engine: guards, failures, locks, repeats, resume, interrupts, exit codes."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import DeployError, EngineError, LoadError, WriteError
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.toolchain import locks
from claimsmith.tools import recover
from claimsmith.tools.fleet import engine, journal, stack
from claimsmith.tools.fleet.run import Result, chosen, run
from claimsmith.tools.fleet.schedule import Outcome, State
from claimsmith.tools.fleet.selection import Selection, Wanted
from claimsmith.tools.fleet.stack import Command, Options
from claimsmith.tools.many import cores
from tests.support.fleet_files import committed, engine_program, fleet, named_lock

UP = Options(Command.up)
ALL = Wanted(all=True)
Start = Callable[..., Result]


class Rig:
    """A project of four stacks, of which `c` needs `b`, and what the engine does to each."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project: Project = fleet(root, ("a", "b", "c", "d"), after={"c": ["b"]})
        self.bin = root / ".claimsmith" / "bin"
        self.deployed: dict[str, int] = dict.fromkeys(("a", "b", "c", "d"), 0)
        self.backend = f"file://{root}/.claimsmith/state"
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        monkeypatch.setattr(workspace, "require", lambda _project: None)
        monkeypatch.setattr(workspace, "environment", lambda _project: env)
        monkeypatch.setattr("claimsmith.tools.fleet.run.read_backend", lambda _: (self.backend, self.deployed))
        self.wants({})

    def wants(self, wanted: dict[str, Any]) -> None:
        engine_program(self.bin, wanted)

    @property
    def calls(self) -> list[str]:
        return (self.bin / "calls.txt").read_text().splitlines()

    def run(self, options: Options = UP, wanted: Wanted = ALL, *, resume: bool = False, **more: Any) -> Result:
        selection, last = chosen(self.project, options, wanted, resume=resume)
        return run(self.project, options, selection, parallel=2, last=last, **more)

    def lock(self, name: str, pid: int) -> Path:
        """Lock a stack as the engine does."""
        folder = locks.folder(self.backend, self.project.root, self.project.name, name)
        assert folder
        folder.mkdir(parents=True, exist_ok=True)
        owner = {"pid": pid, "username": "ann", "hostname": os.uname().nodename, "timestamp": "2126-01-01T00:00:00Z"}
        (folder / "lock.json").write_text(json.dumps(owner))
        return folder / "lock.json"


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(tmp_path, monkeypatch)


def states(result: Result) -> dict[str, str]:
    return {o.stack: o.state.value for o in result.outcomes}


SAME = [["same"]]


def test_what_only_a_preview_saw_is_not_reported_as_changed(rig: Rig) -> None:
    rig.wants({"a": {"fails": "preview"}, "d": {"fails": "up"}})
    rig.deployed["a"] = 2
    failed, ran = rig.run(wanted=Wanted(["a", "d"])).outcomes
    assert (failed.state, dict(failed.changes), failed.destructive, failed.runs) == (State.failed, {}, 0, 1)
    assert (ran.state, dict(ran.changes)) == (State.failed, {"create": 1})


@pytest.mark.parametrize(
    ("wants", "options", "want", "code"),
    [
        pytest.param({}, UP, "done done done done", 10, id="all-change"),
        pytest.param({key: {"ops": SAME} for key in "abcd"}, UP, "done done done done", 0, id="nothing-changes"),
        pytest.param({"b": {"fails": "up"}}, UP, "done failed skipped done", 1, id="a-failure-skips-its-dependents"),
        pytest.param({"a": {"ops": [["delete"]]}}, UP, "refused done done done", 11, id="a-deletion-is-refused"),
        pytest.param(
            {"b": {"ops": [["replace"]]}}, UP, "done refused skipped done", 11, id="so-is-a-replacement-with-dependents"
        ),
        pytest.param(
            {"a": {"ops": [["delete"]]}},
            Options(Command.up, allow_destructive=True),
            "done done done done",
            11,
            id="a-deletion-that-is-allowed",
        ),
        pytest.param({"a": {"fails": "preview"}}, UP, "failed done done done", 1, id="a-preview-that-fails"),
        pytest.param(
            {"a": {"ops": [["delete"]]}},
            Options(Command.preview),
            "done done done done",
            11,
            id="a-preview-of-deletions",
        ),
        pytest.param({}, Options(Command.refresh), "done done done done", 10, id="refresh"),
        pytest.param(
            {key: {"ops": [["delete"]]} for key in "abcd"},
            Options(Command.destroy, allow_destructive=True),
            "done done done done",
            11,
            id="destroy",
        ),
    ],
)
def test_runs(rig: Rig, wants: dict[str, Any], options: Options, want: str, code: int) -> None:
    rig.wants(wants)
    rig.deployed = dict.fromkeys("abcd", 3)
    result = rig.run(options)
    assert states(result) == dict(zip("abcd", want.split(), strict=True))
    assert result.exit_code == code
    assert all(o.problem for o in result.outcomes if o.state is not State.done)


def test_a_stack_runs_after_what_it_needs_and_is_destroyed_before(rig: Rig) -> None:
    rig.run()
    assert rig.calls.index("up b") < rig.calls.index("up c")
    rig.run(Options(Command.destroy, allow_destructive=True))
    assert rig.calls.index("destroy c") < rig.calls.index("destroy b")


def test_only_a_stack_that_has_something_is_previewed_first(rig: Rig) -> None:
    rig.deployed["a"] = 2
    rig.run(wanted=Wanted(["a", "d"]))
    assert sorted(rig.calls) == ["preview a", "up a", "up d"]


def test_a_stack_that_is_not_in_the_backend_is_created(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def pulumi(_project: Project, *words: str, **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(words)
        return subprocess.CompletedProcess(words, int(words[3] == "b"), "", "error: no space left")

    monkeypatch.setattr(workspace, "pulumi", pulumi)
    rig.deployed = {}
    result = rig.run(wanted=Wanted(["a", "b"]))
    assert sorted(asked) == [("stack", "init", "--stack", name, "--no-select") for name in ("a", "b")]
    assert states(result) == {"a": "done", "b": "failed"}
    assert "cannot be created: no space left" in str(result.outcomes[1].problem)
    assert states(rig.run(Options(Command.destroy, allow_destructive=True), Wanted(["a"]))) == {"a": "done"}
    assert rig.calls == ["up a"]


def test_the_review_of_a_base_refuses_before_the_engine_runs(rig: Rig) -> None:
    committed(rig.project.root)
    (rig.project.root / "stacks/b/claims/claim.yaml").write_text("")
    wanted = Wanted(all=True, base="main")
    result = rig.run(Options(Command.up, skip_preview=True), wanted)
    assert states(result) == {"a": "done", "b": "refused", "c": "skipped", "d": "done"}
    assert sorted(rig.calls) == ["up a", "up d"]
    assert "by the review, 1 resource of 'b' would be deleted or replaced" in str(result.outcomes[1].problem)
    assert result.exit_code == 11
    allowed = rig.run(Options(Command.up, allow_destructive=True), Wanted(affected=True))
    assert states(allowed) == {"b": "done"}


def test_affected_stacks_are_reviewed_on_all_cores(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def select(_project: Project, _wanted: Wanted, *, processes: int, **_: bool) -> Selection:
        asked.append(processes)
        return Selection({})

    monkeypatch.setattr("claimsmith.tools.fleet.run.select", select)
    monkeypatch.chdir(rig.project.root)
    assert CliRunner().invoke(app, ["up", "--affected"]).exit_code == 0
    assert asked == [cores()]


def test_files_that_cannot_be_read_fail_before_the_engine_runs(rig: Rig) -> None:
    committed(rig.project.root)
    (rig.project.root / "stacks/a/claims/claim.yaml").write_text("a: [")
    result = rig.run(wanted=Wanted(affected=True))
    assert (states(result), rig.calls, result.exit_code) == ({"a": "failed"}, [], 1)
    assert "stacks/a/claims/claim.yaml:" in str(result.outcomes[0].problem)


def test_a_stack_that_another_run_has_is_waited_for(rig: Rig) -> None:
    rig.wants({"a": {"locked": 1}})
    assert states(rig.run(Options(Command.up, lock_timeout=60), Wanted(["a"]))) == {"a": "done"}
    assert rig.calls == ["up a", "up a"]


def test_a_lock_that_the_engine_reports_is_named(rig: Rig) -> None:
    rig.wants({"a": {"locked": 1}})
    problem = str(rig.run(wanted=Wanted(["a"])).outcomes[0].problem)
    assert "another run has the stack 'a': the lock of unknown@unknown" in problem
    assert "claimsmith recover a --unlock --yes" in problem


@pytest.mark.parametrize(
    ("pid", "what"),
    [
        pytest.param(os.getpid(), "another run has the stack 'a': the lock of ann@", id="at-work"),
        pytest.param(2**22 + 1, "whose run was killed\n  fix: run: claimsmith recover a --yes", id="killed"),
    ],
)
def test_a_lock_that_stays_is_reported(rig: Rig, pid: int, what: str) -> None:
    rig.lock("a", pid)
    result = rig.run(wanted=Wanted(["a", "d"]))
    assert (states(result), rig.calls) == ({"a": "failed", "d": "done"}, ["up d"])
    assert what in str(result.outcomes[0].problem)


def test_a_pipeline_runs_until_nothing_changes(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which stacks have one is read from their plans; the stand-in has none."""
    monkeypatch.setattr(stack._Run, "_needs_observed_values", lambda self: self.stack != "d")
    rig.wants({"a": {"ops": [["create"], ["create", "update"], ["same"]]}})
    result = rig.run(Options(Command.up, until_settled=4), Wanted(["a", "b", "d"]))
    assert states(result) == {"a": "done", "b": "failed", "d": "done"}
    assert {o.stack: o.runs for o in result.outcomes} == {"a": 3, "b": 4, "d": 1}
    assert result.outcomes[0].changes == {"create": 2, "update": 1}
    assert "still changed in run 4" in str(result.outcomes[1].problem)


@pytest.mark.parametrize(
    ("more", "state", "calls"),
    [
        pytest.param({}, "refused", ["up a", "preview a"], id="refused"),
        pytest.param({"allow_destructive": True}, "done", ["up a", "up a", "up a"], id="allowed"),
    ],
)
def test_each_repeated_run_is_guarded(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, more: dict[str, bool], state: str, calls: list[str]
) -> None:
    """The pipelines read what the first run created, so its preview knew nothing of the second."""
    monkeypatch.setattr(stack._Run, "_needs_observed_values", lambda _: True)
    rig.wants({"a": {"ops": [["create"], ["delete"], ["same"]], "previews": [["create", "delete"]]}})
    (outcome,) = rig.run(Options(Command.up, until_settled=4, **more), Wanted(["a"])).outcomes
    assert (outcome.state.value, rig.calls) == (state, calls)
    assert outcome.changes["create"] == 1
    assert outcome.destructive == 1
    assert more or "the engine's preview of run 2" in str(outcome.problem)


def test_a_plan_without_pipelines_is_not_repeated(rig: Rig) -> None:
    (outcome,) = rig.run(Options(Command.up, until_settled=4), Wanted(["a"])).outcomes
    assert outcome.runs == 1


def test_resume_goes_on_with_what_is_not_done(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    repaired: list[str] = []
    monkeypatch.setattr(recover, "repair", lambda _project, name: repaired.append(name))
    rig.wants({"b": {"fails": "up"}})
    assert rig.run().exit_code == 1
    rig.run(Options(Command.preview))
    rig.wants({})
    result = rig.run(resume=True, wanted=Wanted())
    assert (states(result), rig.calls) == ({"b": "done", "c": "done"}, ["up b", "up c"])
    assert repaired == ["b"]
    assert rig.run(resume=True, wanted=Wanted()).outcomes == ()


@pytest.mark.parametrize(
    ("lock", "want", "asked"),
    [
        pytest.param("", "done", ["stack rename"], id="no-lock"),
        pytest.param(named_lock(2**22 + 1), "done", ["stack rename", "cancel --stack"], id="of-a-run-that-ended"),
        pytest.param(named_lock(os.getpid()), "failed", ["stack rename"], id="of-a-run-at-work"),
        pytest.param(named_lock(2**22 + 1, "another-machine"), "failed", ["stack rename"], id="of-another-machine"),
    ],
)
def test_resume_frees_a_lock_in_a_database_only_if_its_owner_has_ended(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, lock: str, want: str, asked: list[str]
) -> None:
    rig.backend = "postgres://me@db/state?table=shop"
    rig.wants({"a": {"fails": "up"}})
    rig.run(wanted=Wanted(["a"]))
    rig.wants({})
    calls: list[str] = []
    repaired: list[str] = []

    def pulumi(_project: Project, *words: str, **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(" ".join(words[:2]))
        return subprocess.CompletedProcess(words, int(words[0] == "stack"), "", lock)

    monkeypatch.setattr(workspace, "pulumi", pulumi)
    monkeypatch.setattr(recover, "repair", lambda _project, name: repaired.append(name))
    (outcome,) = rig.run(resume=True, wanted=Wanted()).outcomes
    assert (outcome.state.value, list(dict.fromkeys(calls))) == (want, asked), outcome.problem
    assert repaired == (["a"] if want == "done" else [])
    assert want == "done" or "if it was killed: claimsmith recover a" in str(outcome.problem)


@pytest.mark.parametrize(
    ("pid", "want"), [pytest.param(os.getpid(), "failed", id="runs"), pytest.param(2**22 + 1, "done", id="has-ended")]
)
def test_resume_waits_for_an_engine_that_has_no_lock_yet(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, pid: int, want: str
) -> None:
    """It began just before its run was killed, and would take its lock in the middle of the next one."""
    monkeypatch.setattr(recover, "repair", lambda *_: None)
    rig.deployed = {"a": 1}
    rig.wants({"a": {"fails": "up"}})
    rig.run(wanted=Wanted(["a"]))
    rig.wants({})
    place = engine.running(rig.project.private / "fleet" / "a.log")
    assert not place.exists()
    locks.write(place, pid)
    (outcome,) = rig.run(resume=True, wanted=Wanted()).outcomes
    assert (outcome.state.value, place.exists()) == (want, want == "failed"), outcome.problem
    assert want == "done" or f"process {pid}" in str(outcome.problem)


def test_resume_runs_a_stack_again_whose_files_changed(rig: Rig) -> None:
    rig.run(wanted=Wanted(["a", "d"]))
    # As the engine writes it, once the stack is created.
    config = rig.project.root / "stacks/Pulumi.a.yaml"
    config.write_text("encryptionsalt: v1:abc\n" + yaml.safe_dump(yaml.safe_load(config.read_text()), indent=4))
    assert rig.run(resume=True, wanted=Wanted()).outcomes == ()
    path = rig.project.root / "stacks/d/claims/claim.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "spec": {"size": 2}}))
    assert states(rig.run(resume=True, wanted=Wanted())) == {"d": "done"}


def test_a_resumed_run_is_resumed_as_a_whole(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done before stays in the record, and so does what a kill left behind, until it was repaired."""
    repaired: list[str] = []
    monkeypatch.setattr(recover, "repair", lambda _project, name: repaired.append(name))
    rig.deployed = dict.fromkeys("abcd", 1)
    rig.wants({"b": {"fails": "up"}})
    rig.run()
    rig.wants({})

    def killed(outcome: Outcome) -> None:
        raise MemoryError(outcome.stack)

    with pytest.raises(MemoryError, match="b"):
        rig.run(resume=True, wanted=Wanted(), report=killed)
    repaired.clear()
    path = rig.project.root / "stacks/d/claims/claim.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "spec": {"size": 2}}))
    assert states(rig.run(resume=True, wanted=Wanted())) == {"b": "done", "c": "done", "d": "done"}
    assert repaired == ["b"]


def test_a_new_run_keeps_what_the_last_one_left(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks that it does not run stay to be resumed, and to be recovered."""
    repaired: list[str] = []
    monkeypatch.setattr(recover, "repair", lambda _project, name: repaired.append(name))
    rig.deployed = dict.fromkeys("abcd", 1)
    rig.wants({"b": {"fails": "up"}})
    assert states(rig.run()) == {"a": "done", "b": "failed", "c": "skipped", "d": "done"}
    rig.wants({"d": {"fails": "up"}})
    assert states(rig.run(wanted=Wanted(["d"]))) == {"d": "failed"}
    shutil.rmtree(rig.project.root / "stacks" / "c")
    rig.wants({})
    assert states(rig.run(wanted=Wanted(["a"]))) == {"a": "done"}
    assert states(rig.run(resume=True, wanted=Wanted())) == {"b": "done", "d": "done"}
    assert sorted(repaired) == ["b", "d"]
    assert rig.run(resume=True, wanted=Wanted()).outcomes == ()


def test_a_new_run_reports_what_the_last_one_left(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recover, "repair", lambda *_: None)
    monkeypatch.chdir(rig.project.root)

    def notices(*words: str) -> list[str]:
        result = CliRunner().invoke(app, ["up", "--yes", *words])
        lines = result.stderr.splitlines()
        return [line for i, line in enumerate(lines) if "the last" in line or (i and "the last" in lines[i - 1])]

    notice = [
        "warning: 2 stacks of the last `claimsmith up` are not done: b, c",
        "  fix: to go on with these, what a kill left behind recovered first, run: claimsmith up --resume",
    ]
    rig.wants({"b": {"fails": "up"}})
    assert notices("--all") == []
    assert notices("a") == notice
    assert notices("--all") == notice
    rig.wants({})
    assert notices("--resume") == []
    assert notices("--all") == []
    (rig.project.private / "fleet" / "up.json").write_text("{")
    assert notices("--all") == []


def test_resume_names_stacks_that_are_gone(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recover, "repair", lambda *_: None)
    rig.wants({"a": {"fails": "up"}, "b": {"fails": "up"}})
    rig.run()
    rig.wants({})
    shutil.rmtree(rig.project.root / "stacks" / "a")
    for left in ({"b": "done", "c": "done"}, {}):
        selection, last = chosen(rig.project, UP, Wanted(), resume=True)
        assert last
        assert [(p.what, bool(p.fix)) for p in last.gone(rig.project)] == [
            ("the stack 'a' of the last run is gone from the files; its resources stay", True)
        ]
        assert states(run(rig.project, UP, selection, parallel=2, last=last)) == left


def test_a_stack_whose_files_cannot_be_read_fails_alone(rig: Rig) -> None:
    (rig.project.root / "stacks/Pulumi.b.yaml").write_text("config: [")
    result = rig.run()
    assert states(result) == {"a": "done", "b": "failed", "c": "skipped", "d": "done"}
    assert "stacks/Pulumi.b.yaml:" in str(result.outcomes[1].problem)
    assert result.exit_code == 1
    # What it needs is not known: `destroy` could take it away.
    with pytest.raises(LoadError, match=r"stacks/Pulumi\.b\.yaml:"):
        rig.run(Options(Command.destroy, allow_destructive=True))
    assert states(rig.run(wanted=Wanted(["a"]))) == {"a": "done"}


def test_an_interrupt_while_the_backend_is_read_is_no_failure(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal's Ctrl-C reaches the command of the engine too, and ends it."""

    def interrupted(_: Project) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise DeployError("signal: interrupt")

    monkeypatch.setattr("claimsmith.tools.fleet.run.read_backend", interrupted)
    result = rig.run(wanted=Wanted(["a", "d"]))
    assert (states(result), result.exit_code) == ({"a": "stopped", "d": "stopped"}, 130)
    assert rig.calls == []


def test_only_the_user_can_read_logs_and_records(rig: Rig) -> None:
    rig.run(wanted=Wanted(["a"]))
    files = [p for p in (rig.project.private / "fleet").iterdir() if p.is_file()]
    assert {p.name: p.stat().st_mode & 0o777 for p in files} == dict.fromkeys(("a.log", "run.lock", "up.json"), 0o600)


def test_a_passphrase_that_does_not_fit_is_explained(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    salt = "v1:VBTRh3GdUSA=:v1:c4GuMqSt0rK2lD2r:Oprk6gml7XOW1Sd9JVmJDMAQ6BqM4w=="
    for name in "ad":
        config = rig.project.root / f"stacks/Pulumi.{name}.yaml"
        config.write_text(f"encryptionsalt: {salt}\n{config.read_text()}")
    env = {**workspace.environment(rig.project), "PULUMI_CONFIG_PASSPHRASE": "wrong"}
    monkeypatch.setattr(workspace, "environment", lambda _: env)
    rig.wants({"a": {"fails": "up", "says": "get stack secrets manager: incorrect passphrase"}})
    failed, other = rig.run(wanted=Wanted(["a", "d"])).outcomes
    assert "the passphrase of PULUMI_CONFIG_PASSPHRASE does not fit the stack 'a'" in str(failed.problem)
    assert "claimsmith backend join" in str(failed.problem)
    assert other.state is State.done


@pytest.mark.parametrize(
    ("before", "options", "wanted", "what"),
    [
        pytest.param(None, UP, Wanted(), "there is no `claimsmith up` to resume", id="none"),
        pytest.param("{}", UP, Wanted(), "cannot be read", id="broken"),
        pytest.param('{"command": "up", "stacks": {"a": 1}}', UP, Wanted(), "cannot be read", id="broken-inside"),
        pytest.param(
            '{"command": "up", "stacks": {}}',
            Options(Command.refresh),
            Wanted(),
            "no `claimsmith refresh`",
            id="another",
        ),
        pytest.param('{"command": "up", "stacks": {}}', UP, ALL, "stacks are selected too", id="with-a-selection"),
    ],
)
def test_refused_resumes(rig: Rig, before: str | None, options: Options, wanted: Wanted, what: str) -> None:
    if before is not None:
        path = rig.project.private / "fleet" / "up.json"
        path.parent.mkdir(parents=True)
        path.write_text(before)
    with pytest.raises(EngineError) as error:
        rig.run(options, wanted, resume=True)
    assert what in str(error.value)
    assert "fix:" in str(error.value)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        pytest.param(Options(Command.destroy), "confirm it: --allow-destructive", id="destroy"),
        pytest.param(Options(Command.up, skip_preview=True), "add --base REVISION", id="no-guard-at-all"),
    ],
)
def test_refused_options(rig: Rig, options: Options, what: str) -> None:
    with pytest.raises(EngineError) as error:
        rig.run(options)
    assert what in str(error.value)
    assert rig.calls == []


def test_two_runs_in_one_project_are_refused(rig: Rig) -> None:
    with journal.alone(rig.project), pytest.raises(DeployError, match="another claimsmith runs many stacks"):
        rig.run()


@pytest.mark.parametrize(
    ("path", "what"),
    [
        pytest.param("fleet", "fleet cannot be created: File exists", id="a-file-where-a-folder-is-wanted"),
        pytest.param("fleet/run.lock/x", "run.lock cannot be written: Is a directory", id="the-lock"),
        pytest.param("state", "state cannot be created: File exists", id="the-state"),
    ],
)
def test_a_private_folder_that_cannot_be_used_is_no_bug(rig: Rig, path: str, what: str) -> None:
    (rig.project.private / path).parent.mkdir(parents=True, exist_ok=True)
    (rig.project.private / path).write_text("")
    with pytest.raises(WriteError, match=what) as error:
        rig.run()
    assert "fix:" in str(error.value)


def test_events_that_a_kill_left_behind_are_removed(rig: Rig) -> None:
    """The next run may be one of other stacks."""
    left = rig.project.private / "fleet" / "d.events"
    left.parent.mkdir(parents=True)
    left.write_text("{}")
    rig.run(wanted=Wanted(["a"]))
    assert not left.exists()


def test_ctrl_c_stops_in_order_and_resume_goes_on(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recover, "repair", lambda _project, _name: None)
    rig.wants({"a": {"seconds": 600}, "b": {"seconds": 600}})

    def interrupt() -> None:
        while not all((rig.bin / f"{name}.began").exists() for name in ("a", "b")):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = rig.run()
    thread.join()
    assert states(result) == {"a": "stopped", "b": "stopped", "c": "stopped", "d": "stopped"}
    assert (result.interrupted, result.exit_code) == (True, 130)
    rig.wants({})
    assert set(states(rig.run(resume=True, wanted=Wanted())).values()) == {"done"}


class Unread(io.StringIO):
    """A pipe whose reader has ended."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("streams", "code"),
    [
        pytest.param(["stderr"], 1, id="progress"),
        pytest.param(["stdout"], 141, id="result"),
        pytest.param(["stdout", "stderr"], 141, id="both"),
    ],
)
def test_a_run_goes_on_when_nobody_reads_its_output(
    rig: Rig,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    streams: list[str],
    code: int,
) -> None:
    """As with `claimsmith up --all 2>&1 | head -1`. What went wrong is reported if only the table is not read."""
    rig.wants({"b": {"fails": "up"}})
    for name in streams:
        monkeypatch.setattr(sys, name, Unread())
    try:
        ended = app(["-C", str(rig.project.root), "up", "--all", "--yes"], standalone_mode=False)
    except SystemExit as error:
        ended = error.code
    for name in streams:
        getattr(sys, name).close()
    assert (ended, journal.read(rig.project, Command.up).undone) == (code, ["b", "c"])
    assert "stderr" in streams or "error: not run: it needs 'b'" in capsys.readouterr().err
