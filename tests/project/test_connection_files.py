"""Files of connection details: for one user alone, whole or not at all, gone with their claims."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claimsmith.base.errors import ConnectionError_, EngineError, WriteError
from claimsmith.project import connection_files
from claimsmith.project.connection_settings import FileSink
from claimsmith.project.layout import Layout

CLAIM = "Store.storage.example.org/default/files"
DETAILS = {"password": "it's $HOME", "host": "db"}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


@pytest.mark.parametrize(
    ("sink", "name", "text"),
    [
        pytest.param(FileSink(), f"{CLAIM}.env", "HOST=db\nPASSWORD='it'\"'\"'s $HOME'\n", id="dotenv"),
        pytest.param(
            FileSink("json"), f"{CLAIM}.json", json.dumps(dict(sorted(DETAILS.items())), indent=2) + "\n", id="json"
        ),
    ],
)
def test_written(layout: Layout, sink: FileSink, name: str, text: str) -> None:
    path = connection_files.write(layout, "dev", sink, CLAIM, DETAILS)
    assert path == layout.root / ".claimsmith/connections/dev" / name
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert not list(layout.root.rglob("*.partial"))


def test_a_file_that_others_could_read_is_closed(layout: Layout) -> None:
    path = connection_files.write(layout, "dev", FileSink(), CLAIM, DETAILS)
    path.chmod(0o644)
    connection_files.write(layout, "dev", FileSink(), CLAIM, DETAILS)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_chosen_folder(layout: Layout, tmp_path: Path) -> None:
    sink = FileSink("json", str(tmp_path / "elsewhere"))
    assert connection_files.write(layout, "dev", sink, CLAIM, DETAILS) == tmp_path / f"elsewhere/dev/{CLAIM}.json"


def test_only_files_of_claims_that_are_gone_are_removed(layout: Layout) -> None:
    kept = connection_files.write(layout, "dev", FileSink(), CLAIM, DETAILS)
    gone = connection_files.write(layout, "dev", FileSink(), f"{CLAIM}-2", DETAILS)
    other = connection_files.write(layout, "prod", FileSink(), f"{CLAIM}-2", DETAILS)
    own = gone.with_name("notes.env")
    own.write_text("mine")
    assert connection_files.remove_gone(layout, "dev", FileSink(), [CLAIM]) == [gone]
    assert [p.exists() for p in (kept, gone, other, own)] == [True, False, True, True]
    assert connection_files.remove_gone(layout, "dev", FileSink(), [CLAIM]) == []


@pytest.mark.parametrize(
    "sink",
    [
        pytest.param(None, id="no-files-any-more"),
        pytest.param(FileSink("json"), id="another-format"),
        pytest.param(FileSink("dotenv", "elsewhere"), id="another-folder"),
    ],
)
def test_a_changed_setting_leaves_nothing_behind(layout: Layout, sink: FileSink | None) -> None:
    before = connection_files.write(layout, "dev", FileSink(), CLAIM, DETAILS)
    assert connection_files.remove_gone(layout, "dev", sink, [CLAIM]) == [before]
    assert not before.exists()


def test_a_link_of_the_repository_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "target")
    with pytest.raises(WriteError):
        connection_files.write(layout, "dev", FileSink("json", "linked"), CLAIM, DETAILS)
    assert list((tmp_path / "target").iterdir()) == []


@pytest.mark.parametrize("claim", ["../../x", "/etc/x"])
def test_a_name_that_leads_elsewhere_is_refused(layout: Layout, claim: str) -> None:
    with pytest.raises(ConnectionError_):
        connection_files.write(layout, "dev", FileSink(), claim, DETAILS)


def test_a_broken_list_is_reported(layout: Layout) -> None:
    layout.private.mkdir()
    (layout.private / connection_files.WRITTEN).write_text("{")
    with pytest.raises(EngineError, match="is broken"):
        connection_files.remove_gone(layout, "dev", None, [])
