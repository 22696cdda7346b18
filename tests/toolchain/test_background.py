"""Background processes: recorded, recognised and stopped, and never mistaken for others."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from claimsmith.toolchain import background
from tests.support.eventually import eventually


def sleeper(tmp_path: Path, *, code: str = "import time; time.sleep(3600)") -> background.Process:
    argv = [sys.executable, "-c", code]
    return background.spawn(argv, record=tmp_path / "r.json", log=tmp_path / "p.log", env=dict(os.environ))


def test_process_is_found_again_and_stopped(tmp_path: Path) -> None:
    begun = sleeper(tmp_path)
    assert background.recorded(tmp_path / "r.json") == begun
    assert os.getsid(begun.pid) == begun.pid
    background.stop(begun, grace=5)
    assert not begun.alive
    assert background.recorded(tmp_path / "r.json") is None


def test_process_that_does_not_listen_is_made_to_end(tmp_path: Path) -> None:
    code = (
        "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(3600)"
    )
    begun = sleeper(tmp_path, code=code)
    eventually(lambda: (tmp_path / "p.log").read_text())
    background.stop(begun, grace=0.2)
    assert not begun.alive


def test_another_process_with_a_recorded_id_is_left_alone(tmp_path: Path) -> None:
    begun = sleeper(tmp_path)
    try:
        earlier = background.Process(begun.pid, "another start")
        record = tmp_path / "old.json"
        record.write_text(json.dumps({"pid": begun.pid, "started": "another start"}))
        assert background.recorded(record) is None
        background.stop(earlier, grace=0.1)
        assert begun.alive
    finally:
        background.stop(begun, grace=5)


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"pid": 1}'])
def test_damaged_record_is_no_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    assert background.recorded(tmp_path / "r.json") is None
