"""What the documentation shows is true: YAML from the files, commands and their output, links."""

from __future__ import annotations

import re
import textwrap
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.cli.app import app
from claimsmith.templating import subset_table
from tests.support.paths import ROOT

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*DOCS, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))

_FROM = re.compile(r"<!-- from: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
_RUN = re.compile(r"<!-- run -->\n```console\n\$ claimsmith (.*?)\n(.*?)```", re.DOTALL)
_YAML = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)")
_MARK = re.compile(r"<!-- (\w+)")
_NAMED = re.compile(r"`([\w./-]+(?:/|/[\w.-]+\.\w+|\.py))`")
_FOLDER = re.compile(r"^\*\*`(\w+)/`\*\* (.*?)\n\n", re.MULTILINE | re.DOTALL)


def each(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in paths]


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", each(DOCS))
def test_shown_files_are_those_in_the_repository(page: Path) -> None:
    for file, shown in _FROM.findall(text(page)):
        assert shown in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no such part:\n{shown}"


@pytest.mark.parametrize("page", each(DOCS))
def test_shown_yaml_can_be_read(page: Path) -> None:
    for shown in _YAML.findall(text(page)):
        assert all(isinstance(data, dict | list) for data in yaml.safe_load_all(textwrap.dedent(shown)))


@pytest.mark.parametrize("page", each(DOCS))
def test_commands_print_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for command, shown in _RUN.findall(text(page)):
        ran = CliRunner().invoke(app, command.split())
        assert ran.exit_code == 0, ran.output
        parts = [part.strip("\n") for part in shown.split("…\n")]
        places = [ran.output.find(part) for part in parts]
        assert -1 not in places, f"not in what {command} prints:\n{parts[places.index(-1)]}\n\nbut:\n{ran.output}"
        assert all(before <= after for before, after in pairwise(places[:-1] if not parts[-1] else places))
        assert "…\n" in shown or ran.output.strip() == shown.strip()


@pytest.mark.parametrize("page", each(DOCS))
def test_marks_are_understood(page: Path) -> None:
    found = text(page)
    assert set(_MARK.findall(found)) <= {"from", "run", "subset", "generated", "graph"}
    assert found.count("<!-- from: ") == len(_FROM.findall(found))
    assert found.count("<!-- run -->") == len(_RUN.findall(found))


@pytest.mark.parametrize("page", each(PAGES))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(text(page)):
        file = page.parent / target
        assert file.exists(), f"{target} is not there"
        headings = re.findall(r"^#+ (.+)$", text(file), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", each([ROOT / "CONTRIBUTING.md", ROOT / "docs" / "internals" / "architecture.md"]))
def test_named_files_exist(page: Path) -> None:
    """A path is that of the repository or of the package; a file's name alone stands for one of the package."""
    package = ROOT / "engine" / "claimsmith"
    names = {path.name for path in package.rglob("*.py")}
    named = _NAMED.findall(text(page))
    assert named
    assert [n for n in named if not ((ROOT / n).exists() or (package / n).exists() or n in names)] == []


def test_every_folder_has_a_paragraph_that_names_its_modules() -> None:
    package = ROOT / "engine" / "claimsmith"
    paragraphs = dict(_FOLDER.findall(text(ROOT / "docs" / "internals" / "architecture.md")))
    assert set(paragraphs) == {path.parent.name for path in package.glob("*/__init__.py")}
    for folder, paragraph in paragraphs.items():
        names = {path.name for path in (package / folder).rglob("*.py")}
        assert set(re.findall(r"`(\w+\.py)`", paragraph)) <= names, folder


def test_the_subset_of_templates_is_that_of_the_code() -> None:
    page = ROOT / "docs" / "guides" / "composite-classes.md"
    [table] = re.findall(r"<!-- subset -->\n(.*?)\n\n", text(page), re.DOTALL)
    assert f"{table}\n" == subset_table()


@pytest.mark.parametrize("picture", each(PICTURES))
def test_pictures_are_for_light_and_dark_and_have_a_title(picture: Path) -> None:
    source = text(picture)
    assert "prefers-color-scheme: dark" in source
    assert ET.fromstring(source).find("{http://www.w3.org/2000/svg}title") is not None
    assert any(f"pictures/{picture.name}" in text(page) for page in DOCS)


def test_every_page_is_in_the_index() -> None:
    index = text(ROOT / "docs" / "README.md")
    names = [p.relative_to(ROOT / "docs").as_posix() for p in DOCS]
    assert [name for name in names if f"({name})" not in index and name != "README.md"] == []
