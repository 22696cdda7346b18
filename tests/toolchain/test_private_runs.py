"""Each run of the engine has a temporary folder of its own, and nothing of it is left. The engine here is a script."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from claimsmith import toolchain
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.toolchain import engine_wrapper, private_runs
from tests.support.eventually import eventually

ENGINE = """#!/bin/sh
echo secret > "$TMPDIR/kubeconfig4711"
echo "$TMPDIR"
[ "$1" = wait ] && read -r _
exit 7
"""


@dataclass
class Place:
    """A project, an engine on PATH, and the wrapper before it."""

    root: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def private(self) -> Path:
        return self.root / ".claimsmith"

    @property
    def env(self) -> dict[str, str]:
        path = f"{engine_wrapper.write()}{os.pathsep}{self.root / 'bin'}{os.pathsep}{os.defpath}"
        return {**os.environ, "PATH": path, "CLAIMSMITH_PRIVATE": str(self.private)}

    def begin(self) -> tuple[subprocess.Popen[str], Path]:
        """A run that waits, and its folder."""
        run = subprocess.Popen(
            ["pulumi", "wait"], env=self.env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.running.append(run)
        assert run.stdout
        return run, Path(run.stdout.readline().strip())

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["pulumi"], env=self.env, text=True, capture_output=True)

    def left(self) -> list[str]:
        folder = self.private / "tmp"
        return sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []

    def left_of_a_dead_run(self) -> Path:
        """What is there where the engine and its cleaner were both killed."""
        folder = self.private / "tmp" / "run-4711-abc"
        folder.mkdir(parents=True)
        folder.with_name(f"{folder.name}.lock").touch()
        (folder / "kubeconfig4711").write_text("secret")
        return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("CLAIMSMITH_CACHE", str(tmp_path / "cache"))
    made = Place(tmp_path / "project with space")
    made.private.mkdir(parents=True)
    engine = made.root / "bin" / "pulumi"
    engine.parent.mkdir()
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    yield made
    for run in made.running:
        run.kill()
        run.communicate()
    eventually(lambda: not made.left())


def test_a_run_has_a_folder_of_its_own_that_goes_with_it(place: Place) -> None:
    ran = place.run()
    assert ran.returncode == 7, "the exit code is the engine's"
    assert Path(ran.stdout.strip()).parent == place.private / "tmp"
    assert ran.stderr == ""
    eventually(lambda: not place.left())


def test_only_its_user_can_look_into_it(place: Place) -> None:
    _, folder = place.begin()
    assert [stat.S_IMODE(p.stat().st_mode) for p in (folder, folder.parent)] == [0o700, 0o700]


def test_a_folder_that_others_could_look_into_is_closed(place: Place) -> None:
    (place.private / "tmp").mkdir(mode=0o755)
    place.run()
    assert stat.S_IMODE((place.private / "tmp").stat().st_mode) == 0o700


def test_the_process_is_the_engine_s(place: Place) -> None:
    run, folder = place.begin()
    assert folder.name.startswith(f"run-{run.pid}-")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_run_that_is_killed(place: Place, number: signal.Signals) -> None:
    run, folder = place.begin()
    assert (folder / "kubeconfig4711").exists()
    run.send_signal(number)
    assert run.wait() == -number
    eventually(lambda: not place.left())


def test_a_run_leaves_the_folder_of_another_alone(place: Place) -> None:
    one, first = place.begin()
    _, second = place.begin()
    place.run()
    assert first != second
    assert (first / "kubeconfig4711").exists()
    assert (second / "kubeconfig4711").exists()
    one.kill()
    eventually(lambda: not first.exists())
    assert (second / "kubeconfig4711").exists()


def test_a_folder_stays_as_long_as_a_plugin_lives(place: Place) -> None:
    # Descriptor 9: the lock that the plugin inherits may have number 3.
    plugin = ENGINE.replace("exit 7", "exec 9<&0; cat <&9 >/dev/null & exit 7")
    (place.root / "bin" / "pulumi").write_text(plugin)
    kept, given = os.pipe()
    ran = subprocess.run(["pulumi"], env=place.env, text=True, stdin=kept, stdout=subprocess.PIPE)
    folder = Path(ran.stdout.strip())
    os.close(kept)
    assert private_runs.dead(str(place.private)) == []
    assert (folder / "kubeconfig4711").exists()
    os.close(given)
    eventually(lambda: not folder.exists())


def test_what_a_killed_run_and_its_killed_cleaner_left_goes_with_the_next(place: Place) -> None:
    folder = place.left_of_a_dead_run()
    assert private_runs.dead(str(place.private)) == [folder.name]
    place.run()
    assert not folder.exists()
    eventually(lambda: not place.left())


def test_a_folder_whose_lock_was_removed_goes_too(place: Place) -> None:
    folder = place.left_of_a_dead_run()
    folder.with_name(f"{folder.name}.lock").unlink()
    assert private_runs.remove(str(place.private), folder.name)
    assert not folder.exists()


def test_a_living_run_is_not_removed(place: Place) -> None:
    _, folder = place.begin()
    assert private_runs.dead(str(place.private)) == []
    assert not private_runs.remove(str(place.private), folder.name)
    assert folder.exists()


def test_a_link_in_place_of_the_folder_is_not_followed(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "run-1-a").mkdir(parents=True)
    (place.private / "tmp").symlink_to(elsewhere)
    ran = place.run()
    assert ran.returncode == 7, "the engine runs all the same"
    assert "no private temporary folder" in ran.stderr
    assert [p.name for p in elsewhere.iterdir()] == ["run-1-a"]
    (place.private / "tmp").unlink()


def test_links_in_a_dead_folder_are_removed_and_not_what_they_lead_to(place: Place, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (place.left_of_a_dead_run() / "link").symlink_to(tmp_path / "kept")
    place.run()
    assert (tmp_path / "kept").is_dir()


def test_without_an_engine_it_is_told(place: Place) -> None:
    (place.root / "bin" / "pulumi").unlink()
    ran = place.run()
    assert ran.returncode == 127
    assert "claimsmith toolchain install" in ran.stderr


def test_without_a_project_the_engine_runs_as_it_is(place: Place) -> None:
    env = {k: v for k, v in place.env.items() if k != "CLAIMSMITH_PRIVATE"} | {"TMPDIR": str(place.root)}
    ran = subprocess.run(["pulumi"], env=env, text=True, capture_output=True)
    assert ran.stdout.strip() == str(place.root)


def test_the_wrapper_is_not_taken_for_an_engine(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(engine_wrapper.write()))
    assert toolchain.find("pulumi") is None
    assert private_runs.find_engine(os.environ["PATH"]) is None


def test_the_wrapper_is_written_once_and_mended(place: Place) -> None:
    path = engine_wrapper.write() / "pulumi"
    before = path.stat().st_mtime_ns
    assert (engine_wrapper.write() / "pulumi").stat().st_mtime_ns == before
    path.with_name("private_runs.py").write_text("")
    engine_wrapper.write()
    assert path.with_name("private_runs.py").read_bytes() == engine_wrapper.SOURCE.read_bytes()


def test_settings_are_the_same_when_evaluated_twice(place: Place) -> None:
    project = Project(place.root)
    once = workspace.environment(project, place.env)
    assert workspace.settings(project, once) == {}
    assert once["PATH"].split(os.pathsep)[0] == str(engine_wrapper.write())
    assert once["PATH"].split(os.pathsep).count(str(engine_wrapper.write())) == 1


def test_settings_are_those_of_the_project_that_was_asked_last(place: Place, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    once = workspace.environment(Project(place.root), place.env)
    again = workspace.environment(Project(tmp_path / "other"), once)
    assert again["CLAIMSMITH_PRIVATE"] == str(tmp_path / "other" / ".claimsmith")
    assert again["PATH"] == once["PATH"]


def test_the_printed_settings_can_be_evaluated(place: Place) -> None:
    (place.root / "Pulumi.yaml").write_text("name: p\nruntime: python\n")
    env = {k: v for k, v in place.env.items() if k != "CLAIMSMITH_PRIVATE"}
    command = [sys.executable, "-m", "claimsmith.cli", "env"]
    printed = subprocess.run(command, cwd=place.root, env=env, text=True, capture_output=True)
    assert printed.returncode == 0, printed.stderr
    script = f'{printed.stdout}\n{printed.stdout}\nprintf "%s" "$CLAIMSMITH_PRIVATE"'
    ran = subprocess.run(["sh", "-c", script], env={"PATH": os.defpath}, text=True, capture_output=True)
    assert (ran.stdout, ran.stderr) == (str(place.private), "")
