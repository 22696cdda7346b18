"""Templates in files: only those of folders beside the composition."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.base.errors import LoadError
from claimsmith.project.template_files import template_files
from tests.support.samples import write_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"own/templates/b.yaml": "b", "own/templates/a/c.tmpl": "c", "own/templates/.hidden": "x", "secret": "s"}
    return write_files(tmp_path, files) / "own"


@pytest.mark.parametrize(
    ("directory", "want"),
    [
        pytest.param("templates", {"a/c.tmpl": "c", "b.yaml": "b"}, id="relative"),
        pytest.param("/templates", {"a/c.tmpl": "c", "b.yaml": "b"}, id="as-in-the-image-of-the-function"),
        pytest.param("elsewhere", {}, id="no-such-folder"),
        pytest.param("/etc", {}, id="never-a-folder-of-the-machine"),
    ],
)
def test_files(folder: Path, directory: str, want: dict[str, str]) -> None:
    assert template_files(folder)(directory) == want


def test_folders_above_are_refused(folder: Path) -> None:
    with pytest.raises(LoadError):
        template_files(folder)("../")


def test_links_that_lead_out_are_refused(folder: Path) -> None:
    (folder / "templates" / "link").symlink_to(folder.parent / "secret")
    with pytest.raises(LoadError):
        template_files(folder)("templates")


def test_a_folder_that_is_a_link_out_is_refused(folder: Path) -> None:
    (folder.parent / "outside").mkdir()
    (folder.parent / "outside" / "a.yaml").write_text("a: 1")
    (folder / "linked").symlink_to(folder.parent / "outside")
    with pytest.raises(LoadError):
        template_files(folder)("linked")
