"""What GitHub reads of the repository: templates, owners, and the contact for security."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import claimsmith
from tests.support.paths import ROOT

FOLDER = ROOT / ".github"
FORMS = [p for p in sorted((FOLDER / "ISSUE_TEMPLATE").glob("*.yml")) if p.name != "config.yml"]
OWNERS = [line.split() for line in (FOLDER / "CODEOWNERS").read_text("utf-8").splitlines() if line[:1] not in ("", "#")]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_have_what_github_requires(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    assert {"name", "description", "body"} <= set(form)
    inputs = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in inputs}) == len(inputs)
    assert all(part["attributes"]["label"] for part in inputs)


@pytest.mark.parametrize("owned", OWNERS, ids=lambda owned: owned[0])
def test_owned_paths_exist_and_have_an_owner(owned: list[str]) -> None:
    pattern, *owners = owned
    assert owners
    assert all(re.fullmatch(r"@[\w-]+/[\w-]+", owner) for owner in owners)
    assert pattern == "*" or list(ROOT.glob(pattern.strip("/")))


def test_everything_has_an_owner() -> None:
    assert OWNERS[0][0] == "*"


def test_security_says_how_to_report_and_which_version_is_fixed() -> None:
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    minor = claimsmith.__version__.rpartition(".")[0]
    assert "## Report a vulnerability" in page
    assert f"| {minor} | yes |" in page
