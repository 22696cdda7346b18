"""Which stacks a command names, and what the review says of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.base.errors import EngineError, LoadError, Source
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.fleet.matrix import matrix
from claimsmith.tools.fleet.selection import Wanted, select
from claimsmith.tools.validate import validate
from tests.support.fleet_files import committed, fleet
from tests.support.samples import BUCKET, claim_data, class_data, class_ref

LABELS = {"a": {"region": "eu", "team": "shop"}, "b": {"region": "us"}, "c": {"region": "eu"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = fleet(tmp_path, ("a", "b", "c", "d"), after={"c": ["b"], "b": ["a"]}, labels=LABELS)
    committed(tmp_path)
    return made


def claim(project: Project, stack: str, name: str) -> None:
    """Write one more claim."""
    path = project.root / f"stacks/{stack}/claims/{name}.yaml"
    path.write_text(yaml.safe_dump(claim_data(name, classRef=class_ref("plain"))))


@pytest.mark.parametrize(
    ("wanted", "want"),
    [
        pytest.param(Wanted(all=True), {"a": (), "b": ("a",), "c": ("b", "a"), "d": ()}, id="all"),
        pytest.param(Wanted(["c", "a", "c"]), {"c": ("a",), "a": ()}, id="names"),
        pytest.param(Wanted(labels={"region": "eu"}), {"a": (), "c": ("a",)}, id="a-label"),
        pytest.param(Wanted(labels={"region": "eu", "team": "shop"}), {"a": ()}, id="two-labels"),
        pytest.param(Wanted(["a", "b"], labels={"region": "us"}), {"b": ()}, id="names-with-a-label"),
        pytest.param(Wanted(affected=True), {}, id="nothing-is-affected"),
    ],
)
def test_selected(project: Project, wanted: Wanted, want: dict[str, Any]) -> None:
    assert select(project, wanted).needs == want


@pytest.mark.parametrize(
    ("wanted", "want", "unreadable"),
    [
        pytest.param(Wanted(all=True), {"a": (), "b": (), "c": ("b",), "d": ()}, ["b"], id="all"),
        pytest.param(Wanted(["a", "d"]), {"a": (), "d": ()}, [], id="others"),
        pytest.param(Wanted(["a", "c"]), {"a": (), "c": ()}, ["c"], id="one-that-needs-it"),
        pytest.param(Wanted(labels={"region": "eu"}), {"a": (), "b": (), "c": ("b",)}, ["b"], id="by-label"),
    ],
)
@pytest.mark.parametrize("file", ["stacks/Pulumi.b.yaml", "stacks/b/resources/more.yaml"])
def test_a_stack_whose_files_cannot_be_read_is_kept(
    project: Project, file: str, wanted: Wanted, want: dict[str, Any], unreadable: list[str]
) -> None:
    """What it needs is not known, so those that need it may not run either."""
    (project.root / file).parent.mkdir(exist_ok=True)
    (project.root / file).write_text("a: [")
    found = select(project, wanted, keep_unreadable=True)
    if wanted.labels and "resources" in file:
        want, unreadable = {"a": (), "c": ()}, ["c"]
    assert (found.needs, sorted(found.unreadable)) == (want, unreadable)
    assert all(f"{file}:" in str(problem) for problem in found.unreadable.values())
    with pytest.raises(EngineError, match=f"{file}:"):
        select(project, wanted)


def test_affected_are_those_that_the_review_names(project: Project) -> None:
    claim(project, "a", "second")
    (project.root / "stacks/b/claims/claim.yaml").write_text(
        "# a comment changes nothing\n" + (project.root / "stacks/b/claims/claim.yaml").read_text()
    )
    (project.root / "stacks/d/claims/claim.yaml").write_text("")
    found = select(project, Wanted(affected=True, base="main"))
    assert found.needs == {"a": (), "d": ()}
    assert {stack: review.destructive for stack, review in found.reviews.items()} == {"a": False, "d": True}
    assert select(project, Wanted(affected=True, labels={"region": "eu"})).needs == {"a": ()}


def test_a_class_affects_every_stack_that_uses_it(project: Project) -> None:
    changed = class_data("plain", {"base": {**BUCKET, "spec": {"forProvider": {"region": "us"}}}})
    (project.root / "components/plain/class.yaml").write_text(yaml.safe_dump(changed))
    assert list(select(project, Wanted(affected=True)).needs) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("recorded", [False, True], ids=["none-before", "a-file-before"])
def test_a_folder_in_the_place_of_bindings_affects_its_stack(tmp_path: Path, recorded: bool) -> None:
    project = fleet(tmp_path, ("a", "b"))
    bindings = tmp_path / "stacks/b/bindings.yaml"
    if recorded:
        bind(project, "b")
    committed(tmp_path)
    bindings.unlink(missing_ok=True)
    bindings.mkdir()
    found = select(project, Wanted(affected=True))
    assert list(found.needs) == ["b"]
    [problem] = found.reviews["b"].problems
    assert (problem.where, problem.fix) == (Source("stacks/b/bindings.yaml"), "save it as UTF-8 text")
    assert problem in validate(project, ["a", "b"]).errors
    with pytest.raises(LoadError, match=re.escape(problem.what)):
        matrix(found)


def test_a_removed_stack_is_named_and_not_run(project: Project) -> None:
    shutil.rmtree(project.root / "stacks" / "d")
    found = select(project, Wanted(affected=True))
    assert (found.needs, [review.stack for review in found.removed]) == ({}, ["d"])


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        pytest.param(Wanted(), "no stack is named", id="nothing"),
        pytest.param(Wanted(["a"], all=True), "stacks are named, and --all is set too", id="names-and-all"),
        pytest.param(Wanted(["a"], affected=True), "--affected is set too", id="names-and-affected"),
        pytest.param(Wanted(["aa"]), "there is no stack 'aa'", id="unknown"),
        pytest.param(Wanted(affected=True, base="mian"), "there is no revision 'mian'", id="an-unknown-base"),
    ],
)
def test_refused(project: Project, wanted: Wanted, what: str) -> None:
    with pytest.raises(EngineError) as error:
        select(project, wanted)
    assert what in str(error.value)
