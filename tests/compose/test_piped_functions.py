"""Children that built-in functions beyond templates make in a plan."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.compose.expand import expand
from claimsmith.kubernetes.scope import Scopes
from claimsmith.platform.catalog import read_catalog
from tests.support.crossplane_documents import BUCKET, XR, definition, document, piped, resources, step

GRAPH = step(
    "function-kro",
    apiVersion="kro.fn.crossplane.io/v1alpha1",
    kind="ResourceGraph",
    resources=[
        {"id": "bucket", "template": {**BUCKET, "metadata": {}, "spec": {"size": "${schema.spec.size}"}}},
        {"id": "user", "template": {**BUCKET, "metadata": {}, "spec": {"of": "${bucket.status.id}"}}},
    ],
)
PROGRAM = step(
    "function-kcl",
    apiVersion="krm.kcl.dev/v1alpha1",
    kind="KCLInput",
    spec={
        "source": 'items = [{apiVersion = "s3.example.org/v1", kind = "Bucket", metadata.name = "kcl", '
        'spec.size = option("params").oxr.spec.size}]'
    },
)
CONDITIONAL = step(
    "function-conditional-patch-and-transform",
    apiVersion="pt.fn.crossplane.io/v1beta1",
    kind="Resources",
    resources=[
        {"name": "large", "base": BUCKET, "condition": "observed.composite.resource.spec.size > 5"},
        {"name": "small", "base": BUCKET, "condition": "observed.composite.resource.spec.size <= 5"},
    ],
)
SEQUENCER = step(
    "function-sequencer",
    name="order",
    apiVersion="sequencer.fn.crossplane.io/v1beta1",
    kind="Input",
    rules=[{"sequence": ["a", "b"]}],
)
TWO = step(**resources({"name": "a", "base": BUCKET}, {"name": "b", "base": BUCKET}))


@pytest.mark.parametrize(
    ("steps", "children", "following"),
    [
        ([GRAPH], ["bucket"], False),
        ([PROGRAM], ["kcl"], False),
        ([CONDITIONAL], ["large"], False),
        ([TWO, SEQUENCER], ["a"], True),
    ],
    ids=["kro", "kcl", "conditional", "sequencer"],
)
def test_children(steps: list[dict[str, Any]], children: list[str], following: bool) -> None:
    catalog = read_catalog([document(definition()), document(piped(*steps))], [document({**XR, "spec": {"size": 7}})])
    expansion = expand(catalog, [], project="p", stack="dev", scopes=Scopes({}))
    [found] = expansion.drafts
    assert [c.template.name for c in found.children] == children
    assert any("more resources follow" in p.what for p in expansion.warnings) is following
