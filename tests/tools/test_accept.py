"""Accepting changed classes: what is written, in all stacks, and that claims keep their classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.base.errors import BindingError
from claimsmith.project.project import Project
from claimsmith.tools.accept import accepted, write
from claimsmith.tools.bind import bind
from claimsmith.tools.generate import generate
from claimsmith.tools.render.stack import rendered
from claimsmith.tools.validate import validate
from tests.support.refusal_files import CLAIM, CLASS, FILES, PATH_CLAIM, PATH_CLASS, spoilt
from tests.support.samples import contents, write_files

COMPONENT = "components/x/component.py"
BINDINGS = [f"stacks/{stack}/bindings.yaml" for stack in ("dev", "prod")]
GOLDENS = [f"tests/golden/{stack}.yaml" for stack in ("dev", "prod")]
CHANGED = spoilt(CLASS, "multiply: 1024", "multiply: 2048")
OTHER = spoilt(spoilt(CLASS, "name: small", "name: heavy"), "labels: {tier: gold}", "labels: {tier: silver}")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two stacks, bound, generated and recorded."""
    second = {"stacks/prod/claims/b.yaml": spoilt(CLAIM, "namespace: default", "namespace: other")}
    write_files(tmp_path, {**FILES, "stacks/prod/claims/a.yaml": CLAIM, **second, "components/y/class.yaml": OTHER})
    found = Project(tmp_path)
    generate(found)
    for stack in found.stacks():
        bind(found, stack)
    write_files(tmp_path, {GOLDENS[0]: "".join(rendered(found, "dev")), GOLDENS[1]: "".join(rendered(found, "prod"))})
    return found


@pytest.mark.parametrize(
    ("files", "want"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({PATH_CLASS: f"# A comment.\n{CLASS}"}, [], id="a-comment"),
        pytest.param({PATH_CLASS: CHANGED}, [COMPONENT, *BINDINGS, *GOLDENS], id="a-class"),
        pytest.param({PATH_CLAIM: spoilt(CLAIM, "size: 10", "size: 11")}, GOLDENS[:1], id="a-claim"),
        pytest.param({COMPONENT: "# by hand\n"}, [COMPONENT], id="an-edited-component"),
    ],
)
def test_the_files_that_change(project: Project, files: dict[str, str], want: list[str]) -> None:
    write_files(project.root, files)
    before = contents(project.root)
    found = accepted(project)
    assert sorted(found.names) == sorted(want)
    assert contents(project.root) == before
    write(found)
    assert not accepted(project).files
    assert not validate(project, project.stacks()).errors


def test_the_claims_of_a_class_are_counted_in_each_stack(project: Project) -> None:
    write_files(project.root, {PATH_CLASS: CHANGED})
    found = accepted(project, ["small"])
    assert [(key.name, stacks) for key, stacks in found.classes.items()] == [("small", {"dev": 1, "prod": 2})]
    assert {row["change"] for row in found.to_dict()["bindings"]} == {"class changed"}


def test_claims_keep_their_class_where_another_one_would_be_chosen_now(project: Project) -> None:
    """The claim names no class any more, and another class is the default: only binding anew would move it."""
    by_default = spoilt(
        OTHER, "labels:", "annotations: {resourceclass.crossplane.io/is-default-class: 'true'}\n  labels:"
    )
    unnamed = CLAIM.partition("  classRef:")[0]
    write_files(project.root, {PATH_CLASS: CHANGED, "components/y/class.yaml": by_default, PATH_CLAIM: unnamed})
    assert {r.klass.name for stack in accepted(project).stacks for r in stack.rows} == {"small"}


def test_a_class_that_was_not_named_stays_refused(project: Project) -> None:
    claim = spoilt(spoilt(CLAIM, "name: small", "name: heavy"), "namespace: default", "namespace: third")
    write_files(project.root, {"stacks/dev/claims/d.yaml": claim})
    bind(project, "dev")
    write_files(project.root, {PATH_CLASS: CHANGED, "components/y/class.yaml": OTHER.replace("West US", "North US")})
    with pytest.raises(BindingError, match="small has changed since"):
        accepted(project, ["heavy"])


def test_a_project_that_records_no_resources_gets_no_golden(project: Project) -> None:
    for name in GOLDENS:
        (project.root / name).unlink()
    write_files(project.root, {PATH_CLASS: CHANGED})
    assert sorted(accepted(project).names) == sorted([COMPONENT, *BINDINGS])


def test_an_unknown_class(project: Project) -> None:
    with pytest.raises(BindingError) as caught:
        accepted(project, ["smal"])
    assert caught.value.problems[0].fix == "did you mean 'small'?"


def test_validate_reports_a_changed_class_once_for_all_stacks(project: Project) -> None:
    write_files(project.root, {PATH_CLASS: CHANGED})
    found = [p for p in validate(project, project.stacks()).errors if p.rule == "class-changed"]
    assert [p.what.rpartition("/")[2] for p in found] == ["small: 1 claim in dev, 2 in prod"]
    assert found[0].fix.startswith("review and accept it: claimsmith accept small")
