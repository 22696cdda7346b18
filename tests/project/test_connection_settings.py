"""`claimsmith:connections`: where connection details go beside the stack's output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from claimsmith.base.errors import ModelError
from claimsmith.project.connection_settings import FOLDER, ConnectionSettings, FileSink, read_connection_settings


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(None, ConnectionSettings(), id="nothing"),
        pytest.param({}, ConnectionSettings(), id="empty"),
        pytest.param({"file": True}, ConnectionSettings(FileSink("dotenv", FOLDER)), id="files"),
        pytest.param({"file": False}, ConnectionSettings(), id="no-files"),
        pytest.param({"file": {"format": "json"}}, ConnectionSettings(FileSink("json", FOLDER)), id="json"),
        pytest.param({"file": {"folder": "x"}}, ConnectionSettings(FileSink("dotenv", "x")), id="a-folder"),
        pytest.param({"sink": True}, ConnectionSettings(sink=True), id="a-sink"),
        pytest.param({"sink": "true"}, ConnectionSettings(sink=True), id="a-sink-as-text"),
        pytest.param(json.dumps({"sink": True}), ConnectionSettings(sink=True), id="as-json"),
    ],
)
def test_read(value: Any, want: ConnectionSettings) -> None:
    assert read_connection_settings(value) == want


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param("file", "", id="a-text"),
        pytest.param([], "", id="a-list"),
        pytest.param({"fil": True}, ".fil", id="misspelt"),
        pytest.param({"file": "x"}, ".file", id="a-file-that-is-a-text"),
        pytest.param({"file": {"format": "yaml"}}, ".file.format", id="an-unknown-format"),
        pytest.param({"file": {"folder": ""}}, ".file.folder", id="no-folder"),
        pytest.param({"file": {"path": "x"}}, ".file.path", id="an-unknown-field"),
        pytest.param({"sink": "perhaps"}, ".sink", id="neither-true-nor-false"),
    ],
)
def test_refused(value: Any, path: str) -> None:
    with pytest.raises(ModelError) as refused:
        read_connection_settings(value)
    (problem,) = refused.value.problems
    assert problem.path == f"claimsmith:connections{path}"
    assert problem.fix
