"""The package: its public names, its one version, and the reference page that is written from it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest

import claimsmith
from claimsmith import deploy
from tests.support.paths import ROOT


def python(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_public_names() -> None:
    assert claimsmith.__all__ == ["__version__"]


@pytest.mark.parametrize("name", deploy.__all__)
def test_what_components_import_is_there(name: str) -> None:
    assert hasattr(deploy, name)


def test_names_are_listed_once_in_order() -> None:
    assert deploy.__all__ == sorted(set(deploy.__all__))


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import claimsmith; print(*sorted(set(sys.modules) - before))"
    assert python("-c", code) == "claimsmith"


def test_the_version_stands_in_one_place() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in settings["project"]
    assert "version" in settings["project"]["dynamic"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "claimsmith.__version__"}


def test_the_versions_of_python_are_those_of_the_reference_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "reference" / "compatibility.md").read_text(encoding="utf-8")
    [(oldest, tested)] = re.findall(r"^\| Python \| (\S+) or newer \| (.*) \|$", page, re.MULTILINE)
    assert project["requires-python"] == f">={oldest}"
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert re.findall(r"3\.\d+", tested) == named


def test_a_build_has_this_version() -> None:
    pytest.importorskip("setuptools", reason="only where packages are built")
    assert python("-W", "ignore", "setup.py", "--version").splitlines()[-1] == claimsmith.__version__


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+) - (unreleased|\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
    assert len(headings) == len(re.findall(r"^## ", text, re.MULTILINE)), "a version has a date, or is unreleased"
    assert headings[0][0] == claimsmith.__version__
    assert [version for version, date in headings[1:] if date == "unreleased"] == []


def test_the_reference_page_is_current() -> None:
    python("scripts/api_reference.py", "--check")


def test_the_reference_page_has_every_method_of_a_component() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    methods = [name for name, found in vars_of(deploy.Composite) if inspect.isfunction(found)]
    assert {"child", "child_options", "publish_connection"} <= set(methods)
    assert [name for name in methods if f"\n#### `Composite.{name}`\n" not in page] == []


def vars_of(component: type) -> list[tuple[str, Any]]:
    """The public members that a component has from claimsmith, whichever of its bases has them."""
    ours = [part for part in component.__mro__ if part.__module__.startswith("claimsmith.")]
    return [(n, found) for part in ours for n, found in vars(part).items() if not n.startswith("_")]
