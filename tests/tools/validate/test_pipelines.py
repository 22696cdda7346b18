"""What the functions of a composition make is checked against the kinds' schemas, with the step and its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.tools.validate import validate
from tests.support import piped_project
from tests.support.piped_project import PLATFORM, line_of

PATCHES = """\
    - step: patched
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: other
            base:
              apiVersion: ec2.example.org/v1
              kind: Subnet
              spec:
                forProvider:
                  typo: a  # typo
"""


@pytest.mark.parametrize(
    ("change", "step", "comment", "what"),
    [
        pytest.param(("            name: {{", "            typo: {{"), "text", "name", "'typo'", id="go-templating"),
        pytest.param(("name: {{ $xr.spec.region }}", "name: [a]"), "text", "name", "array", id="go-templating-type"),
        pytest.param(("kind: Node\n", "kind: Subnet\n"), "graph", "node", "'region'", id="kro"),
        pytest.param(('kind = "Tag"', 'kind = "Subnet"'), "tags", "tags", "'region'", id="kcl"),
        pytest.param(
            ("    - step: graph\n", f"{PATCHES}    - step: graph\n"), "patched", "typo", "'typo'", id="patches"
        ),
    ],
)
def test_what_a_step_writes_is_checked(
    tmp_path: Path, change: tuple[str, str], step: str, comment: str, what: str
) -> None:
    assert change[0] in PLATFORM
    platform = PLATFORM.replace(*change, 1)
    errors = validate(piped_project.project(tmp_path, platform=platform), ["dev"]).errors
    [found] = [p for p in errors if f"(written by the step {step!r})" in p.what]
    assert what in found.what
    assert found.where is not None
    assert (found.where.file, found.where.line) == (piped_project.COMPOSITION, line_of(comment, platform))
    assert found.path.startswith("spec.")


def test_a_field_that_is_filled_in_later_is_no_error(tmp_path: Path) -> None:
    errors = validate(piped_project.project(tmp_path), ["dev"]).errors
    assert [p.what for p in errors if "written by" in p.what] == []
