"""Reviews of changes to claims whose resources a pipeline composes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from claimsmith.project.project import Project
from claimsmith.tools.review.stack import review_stack
from tests.support import piped_project
from tests.support.crossplane_documents import XR, definition, piped, step
from tests.support.samples import write_files

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
