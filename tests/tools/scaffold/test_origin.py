"""Where claimsmith was installed from, by installers' notes (PEP 610) and by a real installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimsmith.tools.scaffold import origin, skeleton

COMMIT = "7e1bc3b3bc3cd4f3e0b3e9b3ac3a4cf8c0d4f6b1"
GIT = {"vcs": "git", "requested_revision": "v1", "commit_id": COMMIT}
REPOSITORY = "https://git.example.org/platform.git"


@pytest.mark.parametrize(
    ("note", "want", "local"),
    [
        pytest.param(None, "claimsmith[lab] == 1.2.3", False, id="an-index"),
        pytest.param(
            {"url": "file:///d/claimsmith-1.2.3-py3-none-any.whl", "archive_info": {"hashes": {"sha256": "00"}}},
            "claimsmith[lab] @ file:///d/claimsmith-1.2.3-py3-none-any.whl",
            True,
            id="a-wheel-here",
        ),
        pytest.param(
            {"url": "https://example.org/claimsmith-1.2.3-py3-none-any.whl", "archive_info": {}},
            "claimsmith[lab] @ https://example.org/claimsmith-1.2.3-py3-none-any.whl",
            False,
            id="a-wheel-elsewhere",
        ),
        pytest.param(
            {"url": "file:///src/claimsmith", "dir_info": {}},
            "claimsmith[lab] @ file:///src/claimsmith",
            True,
            id="a-folder",
        ),
        pytest.param(
            {"url": "file:///src/claimsmith", "dir_info": {"editable": True}},
            "-e '/src/claimsmith[lab]'",
            True,
            id="a-folder-to-edit",
        ),
        pytest.param(
            {"url": "file:///my%20src/claimsmith", "dir_info": {"editable": True}},
            "-e '/my src/claimsmith[lab]'",
            True,
            id="a-folder-to-edit-with-a-space",
        ),
        pytest.param(
            {"url": REPOSITORY, "vcs_info": GIT},
            f"claimsmith[lab] @ git+{REPOSITORY}@{COMMIT}",
            False,
            id="a-repository-at-its-commit",
        ),
        pytest.param(
            {"url": REPOSITORY, "vcs_info": GIT, "subdirectory": "engine"},
            f"claimsmith[lab] @ git+{REPOSITORY}@{COMMIT}#subdirectory=engine",
            False,
            id="a-folder-of-a-repository",
        ),
        pytest.param(
            {"url": "file:///src/claimsmith", "vcs_info": GIT},
            f"claimsmith[lab] @ git+file:///src/claimsmith@{COMMIT}",
            True,
            id="a-repository-here",
        ),
    ],
)
def test_origin(note: dict[str, Any] | None, want: str, local: bool) -> None:
    assert origin.origin(note, "1.2.3") == origin.Origin(want, local)


def test_a_new_project_asks_for_what_is_installed(tmp_path: Path) -> None:
    skeleton.init(tmp_path / "shop")
    lines = (tmp_path / "shop" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert origin.installed().requirement in lines
    assert "@" not in "".join(line for line in lines if line.startswith("#"))
