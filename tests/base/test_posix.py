"""Locks of this machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith.base import posix
from claimsmith.base.errors import DeployError, WriteError


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Copies of each locked descriptor, as a child has them that was forked and has not begun its program."""
    made: list[int] = []
    flock = posix.fcntl.flock

    def copied(descriptor: int, operation: int) -> None:
        flock(descriptor, operation)
        if operation & posix.fcntl.LOCK_EX:
            made.append(os.dup(descriptor))

    monkeypatch.setattr(posix.fcntl, "flock", copied)
    yield made
    for copy in made:
        os.close(copy)


def test_a_second_one_is_refused(tmp_path: Path) -> None:
    with posix.alone(tmp_path / "lock", "another one is at work"):
        with pytest.raises(DeployError) as caught, posix.alone(tmp_path / "lock", "another one is at work"):
            pass
        (problem,) = caught.value.problems
        assert (problem.what, problem.fix) == ("another one is at work", "wait until it ends")
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_a_child_that_is_just_starting_holds_no_lock(tmp_path: Path, copies: list[int]) -> None:
    for _ in range(2):
        with posix.alone(tmp_path / "lock", "another one is at work"):
            pass
    assert len(copies) == 2


def test_a_failure_frees_it(tmp_path: Path, copies: list[int]) -> None:
    with pytest.raises(ZeroDivisionError), posix.alone(tmp_path / "lock", "another one is at work"):
        raise ZeroDivisionError
    with posix.alone(tmp_path / "lock", "another one is at work"):
        assert len(copies) == 2


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(WriteError) as caught, posix.alone(tmp_path / "nowhere" / "lock", ""):
        pass
    assert "nowhere/lock cannot be written" in caught.value.problems[0].what
