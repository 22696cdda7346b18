"""Files are written whole or not at all: a full disk leaves the old one, and broken bindings are never written over."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import WriteError
from claimsmith.cli.app import app
from claimsmith.project.writing import write_atomically, write_together
from tests.support.refusal_files import FILES, PATH_BINDINGS
from tests.support.samples import contents, write_files

COMPONENT = "components/x/component.py"
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from claimsmith.cli.app import main
main()
"""


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    for words in (["bind", "dev"], ["generate"]):
        assert CliRunner().invoke(app, words).exit_code == 0
    return tmp_path


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, call: str
) -> None:
    path = tmp_path / "bindings.yaml"
    path.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(WriteError) as caught:
        write_atomically(path, "new")
    monkeypatch.undo()
    assert contents(tmp_path) == {"bindings.yaml": b"old"}
    assert os.strerror(code) in caught.value.problems[0].what
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("words", "path"), [(["bind", "dev"], PATH_BINDINGS), (["generate"], COMPONENT)], ids=["bind", "generate"]
)
@pytest.mark.parametrize("before", [b"# older\n", None], ids=["old-file", "no-file"])
def test_a_real_limit_of_space_is_told_and_harms_nothing(
    ready: Path, words: list[str], path: str, before: bytes | None
) -> None:
    target = ready / path
    small = {b"# older\n": lambda: target.write_bytes(older(target)), None: target.unlink}
    small[before]()
    kept = contents(ready)
    program = LIMITED.format(limit=64)
    done = subprocess.run([sys.executable, "-B", "-c", program, *words], cwd=ready, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert f"{target.name} in " in done.stderr
    assert "cannot be written: File too large" in done.stderr
    assert "fix: free some space" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(ready) == kept


def older(path: Path) -> bytes:
    """The file as another version of claimsmith would have written it: the same, with a comment."""
    return b"# older\n" + path.read_bytes()


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda text: text[: len(text) // 2], id="half"),
        pytest.param(lambda _: "", id="empty"),
        pytest.param(lambda text: text.replace("bindings:", "<<<<<<< ours\nbindings:"), id="merge-conflict"),
        pytest.param(lambda text: text.replace("uid:", "  uid:"), id="indented-by-hand"),
        pytest.param(lambda text: text + text, id="doubled"),
    ],
)
@pytest.mark.parametrize("words", [["bind", "dev"], ["render", "dev"], ["validate", "dev"]], ids=lambda w: w[0])
def test_broken_bindings_are_refused_with_their_line_and_kept(ready: Path, words: list[str], broken) -> None:
    path = ready / PATH_BINDINGS
    path.write_text(broken(path.read_text()))
    before = contents(ready)
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 1
    assert f"{PATH_BINDINGS}:" in ran.output
    assert "fix: " in ran.output
    assert contents(ready) == before


def old_files(folder: Path) -> Path:
    for name in "ab":
        (folder / name).write_text(f"old {name}")
    return folder


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize(("call", "after"), [("fsync", 1), ("replace", 1), ("replace", 2)], ids=str)
def test_several_files_or_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: BaseException, call: str, after: int
) -> None:
    """A failure, or an interruption, at the first, second or third file leaves each as it was."""
    before = old_files(tmp_path)
    original, calls = getattr(os, call), iter(range(9))

    def fail(*words: object, **named: object) -> object:
        if next(calls) == after:
            raise failure
        return original(*words, **named)

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(WriteError if isinstance(failure, OSError) else KeyboardInterrupt):
        write_together({before / "a": "new a", before / "new/c": "new c", before / "b": "new b"})
    monkeypatch.undo()
    assert contents(tmp_path) == {"a": b"old a", "b": b"old b"}


def test_an_interruption_waits_until_all_files_are_replaced_and_takes_them_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old_files(tmp_path)
    original = os.replace

    def interrupted(*words: str) -> None:
        signal.raise_signal(signal.SIGINT)
        original(*words)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_together({tmp_path / "a": "new a", tmp_path / "b": "new b"})
    monkeypatch.undo()
    assert contents(tmp_path) == {"a": b"old a", "b": b"old b"}


def test_files_that_stay_the_same_are_not_written(tmp_path: Path) -> None:
    old_files(tmp_path)
    assert write_together({tmp_path / "a": "old a", tmp_path / "b": "new b"}) == [tmp_path / "b"]
