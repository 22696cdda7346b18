"""Reviews of changes to claims whose resources a pipeline composes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.project.functions import TRUST
from claimsmith.project.project import Project
from claimsmith.tools.fleet.matrix import matrix
from claimsmith.tools.fleet.selection import Wanted, select
from claimsmith.tools.generate import generate
from claimsmith.tools.review.project import review
from claimsmith.tools.review.stack import review_stack
from tests.support import piped_project
from tests.support.crossplane_documents import XR, definition, piped, step
from tests.support.review_files import committed, git
from tests.support.samples import PERMISSIVE, write_files

TEMPLATE = """\
{{- range .observed.composite.resource.spec.zones }}
---
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: {{ . }}}
spec: {size: {{ $.observed.composite.resource.spec.size }}}
{{- end }}
"""


def project(root: Path, **spec: Any) -> Project:
    defined = definition()
    fields = defined["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields["zones"] = {"type": "array", "items": {"type": "string"}}
    text = step("function-go-templating", name="text", source="Inline", inline={"template": TEMPLATE})
    files: dict[str, str | bytes] = {
        "Pulumi.yaml": "name: shop\nruntime: python\nmain: stacks\n",
        "components/bucket/composition.yaml": yaml.safe_dump_all([defined, piped(text)]),
        "stacks/dev/claims/my.yaml": yaml.safe_dump({**XR, "spec": spec}),
    }
    return Project(write_files(root, files))


def test_a_changed_claim_of_a_pipeline(tmp_path: Path) -> None:
    before = project(tmp_path / "before", size=1, zones=["a", "b"])
    after = project(tmp_path / "after", size=2, zones=["a", "c"])
    [claim] = review_stack(before, after, "dev").claims
    found = {r.part: (r.op.value, r.why) for r in claim.resources}
    assert found == {
        "a": ("updated", ""),
        "b": (
            "deleted",
            "the pipeline no longer composes it; it is deleted once all that the pipeline composes is ready",
        ),
        "c": ("created", "the pipeline composes it now"),
    }
    [updated] = [r for r in claim.resources if r.part == "a"]
    [changed] = updated.fields
    assert (changed.path, changed.old, changed.new) == ("spec.size", 1, 2)
    assert changed.cause is not None
    assert "written by the step 'text', which runs function-go-templating" in changed.cause.what


def test_a_field_that_another_resource_fills_in(tmp_path: Path) -> None:
    """It is shown by its origin, and a template that reads another field changes it."""
    old = "status.atProvider.id }}"
    before = piped_project.project(tmp_path / "before")
    changed = piped_project.PLATFORM.replace(old, "status.atProvider.arn }}")
    after = piped_project.project(tmp_path / "after", platform=changed)
    [claim] = review_stack(before, after, "dev").claims
    [subnet] = [r for r in claim.resources if r.part == "asubnet"]
    [field] = subnet.fields
    assert field.path == "spec.forProvider.networkId"
    assert [str(side).rpartition(".")[2].strip(">") for side in (field.old, field.new)] == ["id", "arn"]


SIZED = """\
---
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: store}
spec: {size: SIZE}
"""
KCL = """\
items = [{
    apiVersion = "s3.example.org/v1"
    kind = "Bucket"
    metadata = {name = "store", annotations = {"krm.kcl.dev/composition-resource-name" = "store"}}
    spec = {size = SIZE}
}]
"""
PYTHON = """\
def compose(req, rsp):
    bucket = {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "spec": {"size": SIZE}}
    rsp.desired.resources["store"].resource.update(bucket)
"""
LISTED = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-store, annotations: {claimsmith.io/function-binary: bin/SIZE}}
"""


@pytest.fixture
def sized(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, str, str]:
    """A project whose only pipeline runs a function of the project, committed; its file, and the file's text."""
    file, text = request.param
    files = {
        "Pulumi.yaml": {"name": "shop", "runtime": "python", "main": "stacks"},
        "components/bucket/composition.yaml": [definition(), piped({"step": "s", "functionRef": {"name": "store"}})],
        "stacks/dev/claims/my.yaml": {**XR, "metadata": {"name": "my"}, "spec": {"size": 1}},
        "stacks/Pulumi.dev.yaml": {"config": {"claimsmith:bind": "auto"}},
    }
    if file == "functions.yaml":
        files["components/bucket/composition.yaml"][1]["spec"]["pipeline"][0]["functionRef"]["name"] = "function-store"
    root = committed(tmp_path / "project", files)
    write_files(root, {file: text.replace("SIZE", "1")})
    generate(Project(root), check=False)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "functions")
    return root, file, text


@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no-cache"])
@pytest.mark.parametrize(
    "sized",
    [
        pytest.param(("functions/store/main.k", KCL), id="kcl"),
        pytest.param(("functions/store/inner/a.gotmpl", SIZED), id="templates"),
    ],
    indirect=True,
)
def test_a_changed_function_of_the_project(sized: tuple[Path, str, str], cache: bool) -> None:
    root, file, text = sized
    assert review(Project(root), "HEAD", cache=cache).changes is False, "nothing changed yet"
    (root / file).write_text(text.replace("SIZE", "2"))
    [stack] = review(Project(root), "HEAD", cache=cache).stacks
    assert (stack.problems, stack.refusals) == ((), ())
    [changed] = [f for r in stack.resources() for f in r.fields]
    assert (changed.path, changed.old, changed.new) == ("spec.size", 1, 2)
    found = select(Project(root), Wanted(affected=True), cache=cache)
    assert list(found.needs) == ["dev"]
    assert [e.stacks for wave in matrix(found).waves for e in wave] == [("dev",)]


@pytest.mark.parametrize(
    ("sized", "unread"),
    [
        pytest.param(("functions/store/main.py", PYTHON), "runs a program of the project", id="python"),
        pytest.param(("functions.yaml", LISTED), "runs a program of the project", id="functions.yaml"),
    ],
    indirect=["sized"],
)
def test_a_function_that_runs_a_program_is_refused(sized: tuple[Path, str, str], unread: str) -> None:
    """It is the base that is read first, so the shortcut for the same files was not taken."""
    root, file, text = sized
    (root / file).write_text(text.replace("SIZE", "2"))
    [stack] = review(Project(root), "HEAD").stacks
    assert (stack.unread, [unread in p.what for p in stack.problems]) == ("base", [True])


@pytest.mark.parametrize("sized", [pytest.param(("functions/store/main.py", PYTHON), id="python")], indirect=True)
def test_python_runs_on_both_sides_if_its_files_are_trusted(
    sized: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the interpreter of the working tree, which git does not have."""
    pytest.importorskip("crossplane.function")
    root, file, text = sized
    (root / ".venv-functions").symlink_to(sys.prefix)
    permitted = {"scripts": ["store"], "interpreter": ".venv-functions/bin/python"}
    (root / "claimsmith.yaml").write_text(PERMISSIVE + yaml.safe_dump({"functions": permitted}))
    git(root, "add", "claimsmith.yaml")
    git(root, "commit", "--quiet", "--message", "permitted")
    (root / file).write_text(text.replace("SIZE", "2"))
    monkeypatch.setenv(TRUST, "run")
    [stack] = review(Project(root), "HEAD").stacks
    assert [p.what for p in stack.problems] == []
    [changed] = [f for r in stack.resources() for f in r.fields]
    assert (changed.path, changed.old, changed.new) == ("spec.size", 1, 2)
