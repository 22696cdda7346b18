"""The stacks of a change as waves for CI runners."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from claimsmith.base.errors import LoadError
from claimsmith.cli.app import app
from claimsmith.tools.fleet.matrix import Entry, Matrix, matrix
from claimsmith.tools.fleet.selection import Selection
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.changes import Level, ReviewWarning
from tests.support.fleet_files import committed, fleet
from tests.support.samples import claim_data, class_ref


def named(found: Matrix) -> list[list[str]]:
    return [[" ".join(entry.stacks) for entry in wave] for wave in found.waves]


@pytest.mark.parametrize(
    ("needs", "runners", "want"),
    [
        pytest.param({}, 256, [], id="none"),
        pytest.param({"a": (), "b": ("a",), "c": ("a",)}, 256, [["a"], ["b", "c"]], id="waves"),
        pytest.param(dict.fromkeys("abcde", ()), 2, [["a c e", "b d"]], id="more-stacks-than-runners"),
        pytest.param({**dict.fromkeys("abc", ()), "d": ("a",)}, 1, [["a b c"], ["d"]], id="one-runner"),
    ],
)
def test_waves(needs: dict[str, Any], runners: int, want: list[list[str]]) -> None:
    assert named(matrix(Selection(needs), runners=runners)) == want


LOUD = StackReview("x", warnings=(ReviewWarning("data-deleted", Level.danger, "it is deleted"),))


@pytest.mark.parametrize(
    ("destructive", "runners", "want"),
    [
        pytest.param("c", 2, [("a b d e", False), ("c", True)], id="one"),
        pytest.param("abc", 3, [("d", False), ("e", False), ("a b c", True)], id="most-of-them"),
        pytest.param("abcde", 2, [("a c e", True), ("b d", True)], id="all"),
        pytest.param("c", 1, [("a b c d e", True)], id="one-runner"),
    ],
)
def test_stacks_are_not_deployed_with_what_destructive_ones_are_permitted(
    destructive: str, runners: int, want: list[tuple[str, bool]]
) -> None:
    found = matrix(Selection(dict.fromkeys("abcde", ()), dict.fromkeys(destructive, LOUD)), runners=runners)
    assert [(" ".join(e.stacks), e.destructive) for e in found.waves[0]] == want
    assert all(len({s in destructive for s in e.stacks}) == 1 for e in found.waves[0]) or runners == 1
    assert len(found.waves[0]) <= runners


@pytest.mark.parametrize("name", ["a b", "$(reboot)", "a;b", "-rf", "a\nb"])
def test_names_that_a_shell_would_read_are_refused(name: str) -> None:
    with pytest.raises(LoadError, match="is not written into a pipeline"):
        matrix(Selection({name: ()}))


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["-C", str(root), "ci", "matrix", *words])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three stacks in a chain and one beside them: of the chain the ends are changed, and the lone one is removed."""
    fleet(tmp_path, ("a", "b", "c", "d"), after={"c": ["b"], "b": ["a"]}, labels={"c": {"region": "eu"}})
    committed(tmp_path)
    (tmp_path / "stacks/c/claims/more.yaml").write_text(yaml.safe_dump(claim_data("m", classRef=class_ref("plain"))))
    (tmp_path / "stacks/a/claims/claim.yaml").write_text("")
    shutil.rmtree(tmp_path / "stacks/d")
    return tmp_path


def test_github(root: Path) -> None:
    ran = run(root, "--base", "main")
    assert (ran.exit_code, ran.stdout.count("\n")) == (0, 1), ran.output
    assert json.loads(ran.stdout) == {
        "count": 2,
        "waves": [
            {"include": [{"name": "a", "stacks": "a", "destructive": True}]},
            {"include": [{"name": "c", "stacks": "c", "destructive": False}]},
        ],
        "removed": ["d"],
    }
    assert "d is gone from the files" in ran.stderr
    assert json.loads(run(root, "--label", "region=eu").stdout)["count"] == 1
    assert json.loads(run(root, "--all").stdout)["count"] == 3


def test_gitlab(root: Path) -> None:
    ran = run(root, "--output", "gitlab", "--include", "ci/claimsmith.yml")
    assert ran.exit_code == 0, ran.output
    pipeline = yaml.safe_load(ran.stdout)
    assert pipeline["stages"] == ["wave-1", "wave-2"]
    assert pipeline["include"] == [{"local": "ci/claimsmith.yml"}]
    assert (pipeline["up a"]["stage"], pipeline["up a"]["when"]) == ("wave-1", "manual")
    assert (pipeline["up c"]["stage"], pipeline["up c"].get("when")) == ("wave-2", None)
    assert ["--allow-destructive" in pipeline[job]["script"][0] for job in ("up a", "up c")] == [True, False]
    assert pipeline["up c"]["variables"] == {"CLAIMSMITH_STACKS": "c"}


def test_a_pipeline_without_stacks_has_a_job() -> None:
    assert yaml.safe_load(Matrix(()).gitlab()) == {
        "stages": ["nothing"],
        "nothing": {"stage": "nothing", "script": ["true"]},
    }
    assert Matrix(()).github() == {"count": 0, "waves": [], "removed": []}
    assert Entry(("a", "b", "c")).to_dict()["name"] == "a and 2 more"


@pytest.mark.parametrize("stack", ["1e5", "08", "0o17", "123e4567", "on", "2024-01-01"])
def test_a_stack_whose_name_looks_like_a_number_is_a_text_for_gitlab(stack: str) -> None:
    text = matrix(Selection({stack: ()})).gitlab()
    assert f"  resource_group: '{stack}'\n  variables:\n    CLAIMSMITH_STACKS: '{stack}'\n" in text


def test_files_that_cannot_be_read_are_refused(root: Path) -> None:
    (root / "stacks/a/claims/claim.yaml").write_text("a: [")
    ran = run(root)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "stacks/a/claims/claim.yaml:" in ran.stderr
