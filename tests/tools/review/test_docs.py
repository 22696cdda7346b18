"""The example of docs/guides/review.md is what the command prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.cli.app import app
from claimsmith.tools.review import warnings
from tests.support import review_example
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guides" / "review.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return review_example.made_in(tmp_path)


def test_the_example_is_what_the_command_prints(example: Path) -> None:
    words = " ".join(review_example.WORDS)
    ran = CliRunner().invoke(app, ["review", *review_example.WORDS])
    assert ran.exit_code == 11
    found = re.search(rf"\$ claimsmith review {re.escape(words)}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    commit = re.compile(r"\([0-9a-f]{10}\)")
    assert commit.sub("", found[1]) == commit.sub("", ran.stdout)


def test_every_rule_is_documented(example: Path) -> None:
    source = Path(warnings.__file__).read_text(encoding="utf-8")
    rules = set(re.findall(r'(?:ReviewWarning\(|_of\(\w+(?:\.\w+)?, )"([a-z-]+)"', source))
    assert len(rules) > 10
    assert {rule for rule in rules if f"`{rule}`" not in PAGE} == set()


def test_every_field_of_the_json_is_documented(example: Path) -> None:
    ran = CliRunner().invoke(app, ["review", *review_example.WORDS, "--output", "json"])
    whole = json.loads(ran.stdout)
    [_, stack] = whole["stacks"]
    claim = stack["claims"][0]
    resource = claim["resources"][0]
    parts = [whole, stack, claim, resource, resource["fields"][0], resource["fields"][0]["cause"], stack["warnings"][0]]
    names = {name for part in (*parts, whole["code"][0]) for name in part}
    assert {name for name in names if f"`{name}" not in PAGE} == set()


def test_the_second_screen_of_the_readme_is_part_of_the_example() -> None:
    """The README shows what the page shows, and the page is compared with the command."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("$ claimsmith review --base main\n")[2].partition("…\n")[0]
    assert shown.startswith("dev: 1 claim touched")
    assert shown in PAGE
