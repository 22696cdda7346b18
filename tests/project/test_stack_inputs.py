"""What a plan depends on: which stacks have a digest that tells all of it, and which are always planned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claimsmith.compose.plan import Plan
from claimsmith.project import digest_cache, sdks
from claimsmith.project.project import Project
from claimsmith.project.stack_inputs import is_repeatable
from tests.support.crossplane_documents import XR, definition, piped, resources, step
from tests.support.native_plans import native
from tests.support.samples import BUCKET, DEFAULT_CLASS, claim_data, class_data, patch
from tests.support.silent_stacks import STACKS, Command, write_project

TEMPLATE = """\
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: bucket}
"""
GO = step("function-go-templating", name="text", source="Inline", inline={"template": TEMPLATE})
PATCHES = step(**resources({"name": "bucket", "base": {"apiVersion": "s3.example.org/v1", "kind": "Bucket"}}))
HEAD = f"apiVersion: {BUCKET['apiVersion']}\nkind: {BUCKET['kind']}\nspec:\n"
PET = {**native("pet"), "patches": [patch("spec.size", "properties.prefix")]}
CLAIM = {"stacks/a/claims/more.yaml": claim_data("more", kind="Gamma", size="small")}


def classes(*parts: dict[str, Any]) -> dict[str, Any]:
    more = class_data("more", *parts, kind="Gamma", annotations=DEFAULT_CLASS)
    return {"components/more/class.yaml": more, **CLAIM}


def text(engine: str, inline: str) -> dict[str, Any]:
    source = {"type": "inline", "inline": inline}
    return classes({"name": "bucket", "template": {"engine": engine, "source": source}})


def pipeline(*steps: dict[str, Any]) -> dict[str, Any]:
    return {
        "components/xr/composition.yaml": [definition(), piped(*steps)],
        "stacks/a/claims/xr.yaml": {**XR, "spec": {"size": 1}},
    }


@pytest.fixture(params=["review", "validate"])
def says(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.setenv(digest_cache.PLACE, str(tmp_path / "cache"))
    return Command.noted(request.param, monkeypatch)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(text("go-sprig", f"{HEAD}  size: {{{{ .spec.size }}}}"), id="a-go-template"),
        pytest.param(text("jinja2", f"{HEAD}  size: {{{{ spec.size }}}}"), id="a-jinja-template"),
        pytest.param(classes({"base": BUCKET, "when": "spec.size == 'small'"}), id="a-condition"),
        pytest.param(classes(PET), id="a-native-resource"),
        pytest.param(pipeline(PATCHES), id="a-pipeline-of-patches"),
        pytest.param(pipeline(GO), id="a-pipeline-of-templates"),
    ],
)
def test_what_is_known_to_be_silent(tmp_path: Path, says: Command, files: dict[str, Any]) -> None:
    root = write_project(tmp_path / "project", files)
    first = says(root, cache=True)
    assert says.planned == [*STACKS]
    assert (says(root, cache=True), says.planned) == (first, [])
    assert says(root) == first


def test_an_sdk_that_changes_is_read_again(tmp_path: Path, says: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_project(tmp_path / "project", classes(PET))
    says(root, cache=True)
    monkeypatch.setattr(sdks, "fingerprint", lambda package: [package, "another place"])
    says(root, cache=True)
    assert says.planned == [*STACKS]


def test_a_template_beside_a_class_does_not_matter_to_others(tmp_path: Path, says: Command) -> None:
    files = text("jinja2", f"{HEAD}  size: {{{{ spec.size }}}}")
    root = write_project(tmp_path / "project", files)
    says(root, cache=True)
    path = root / "components/more/class.yaml"
    path.write_text(path.read_text() + "# text\n")
    says(root, cache=True)
    assert says.planned == ["a"]


def plan_of(root: Path, files: dict[str, Any], **changed: Any) -> Plan:
    """The plan of a stack, the first step of its first pipeline as it might be."""
    plan = Project(write_project(root, files)).plan("a")
    return plan if not changed else _with_step(plan, **changed)


def _with_step(plan: Plan, **changed: Any) -> Plan:
    claims = []
    for claim in plan.claims:
        klass = claim.binding.klass
        steps = tuple(replace(s, **changed) for s in klass.steps)
        claims.append(replace(claim, binding=replace(claim.binding, klass=replace(klass, steps=steps))))
    return replace(plan, claims=tuple(claims))


NAMED = claim_data("named", kind="Alpha", size="small")
NAMED["metadata"]["annotations"] = {"crossplane.io/external-name": "chosen"}


@pytest.mark.parametrize(
    ("files", "changed", "repeatable"),
    [
        pytest.param({}, {}, True, id="patches"),
        pytest.param(pipeline(GO), {}, True, id="a-built-in-function"),
        pytest.param(pipeline(GO), {"declared": True}, False, id="a-function-of-the-project"),
        pytest.param(pipeline(GO), {"function": "function-kcl", "input": {}}, False, id="kcl"),
        pytest.param(pipeline(GO), {"function": "function-python", "input": {}}, False, id="python"),
        pytest.param(pipeline(GO), {"function": "function-else", "input": {}}, False, id="an-unknown-function"),
        pytest.param({"stacks/a/claims/named.yaml": NAMED}, {}, False, id="an-external-name-that-a-claim-chose"),
    ],
)
def test_which_plans_their_files_tell(
    tmp_path: Path, files: dict[str, Any], changed: dict[str, Any], repeatable: bool
) -> None:
    assert is_repeatable(plan_of(tmp_path / "project", files, **changed)) is repeatable
