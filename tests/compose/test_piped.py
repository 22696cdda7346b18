"""Children that a pipeline makes: with what exists, until nothing new appears, and what would follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.errors import EngineError
from claimsmith.compose.expand import Draft, expand
from claimsmith.compose.piped import Live
from claimsmith.kubernetes.scope import Scopes
from claimsmith.platform.catalog import read_catalog
from tests.support.crossplane_documents import BUCKET, XR, definition, document, piped, resources, step

TEMPLATE = """
{{- $a := getComposedResource . "a" }}
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: a}
spec: {size: {{ .observed.composite.resource.spec.size }} }
{{- if eq (getResourceCondition "Ready" $a).Status "True" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: shop
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: b}
data: {arn: {{ $a.status.arn | quote }} }
---
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: CompositeConnectionDetails
data: {arn: {{ $a.status.arn | default "none" | b64enc }} }
{{- end }}
---
apiVersion: example.org/v1
kind: XBucket
status: {arn: {{ dig "status" "arn" "none" ($a | default dict) }} }
"""


def templated(text: str = TEMPLATE) -> dict[str, Any]:
    return step("function-go-templating", name="render", source="Inline", inline={"template": text})


AUTO = step("function-auto-ready", name="ready")
READY = {"conditions": [{"type": "Ready", "status": "True"}], "arn": "arn:1"}


@dataclass
class There:
    """A cluster in which some kinds have a status."""

    status: Mapping[str, Any] = field(default_factory=dict)

    def read(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        kind = str(document["kind"])
        return {**document, "status": self.status[kind]} if kind in self.status else None

    def details(self, document: Mapping[str, Any]) -> Mapping[str, bytes]:
        return {"from": str(document["kind"]).encode()}


def draft(*steps: dict[str, Any], live: Live | None = None) -> tuple[Draft, list[str]]:
    catalog = read_catalog([document(definition()), document(piped(*steps))], [document({**XR, "spec": {"size": 7}})])
    expansion = expand(catalog, [], project="p", stack="dev", scopes=Scopes({}), live=live)
    [found] = expansion.drafts
    return found, [p.what for p in expansion.warnings]


def test_what_does_not_exist_is_not_made_yet_and_reported() -> None:
    found, warnings = draft(templated(), AUTO)
    assert [c.template.name for c in found.children] == ["a"]
    assert found.status == {"arn": "none"}
    assert any("more resources follow once 'a' is ready: 'b'" in w for w in warnings)


def test_what_exists_is_seen_and_read() -> None:
    found, warnings = draft(templated(), AUTO, live=There({"Bucket": READY, "ConfigMap": {}}))
    a, b = found.children
    assert (a.name, b.document["data"]) == (a.document["metadata"]["name"], {"arn": "arn:1"})
    assert found.status == {"arn": "arn:1"}
    assert warnings == []
    assert [(d.name, d.value) for d in b.template.details or ()] == [("arn", "arn:1")]


def test_names_do_not_depend_on_what_exists() -> None:
    before, _ = draft(templated(), AUTO)
    after, _ = draft(templated(), AUTO, live=There({"Bucket": READY}))
    assert before.children[0].document["metadata"] == after.children[0].document["metadata"]


def test_patches_and_templates_in_one_pipeline() -> None:
    """A template adds to what patches make; the readiness checks of the patches stay with the resource."""
    text = TEMPLATE.partition("{{- if")[0]
    checks = [{"type": "NonEmpty", "fieldPath": "status.arn"}]
    patched = step(**resources({"name": "c", "base": BUCKET, "readinessChecks": checks}))
    found, _ = draft(patched, templated(text), AUTO)
    assert [c.template.name for c in found.children] == ["a", "c"]
    assert found.children[1].options.wait_for == ("jsonpath={$['status']['arn']}",)


def test_the_problem_of_a_template_names_claim_step_and_place() -> None:
    try:
        draft(templated("{{ fail `no` }}"))
        raise AssertionError("it must be refused")
    except EngineError as error:
        [problem] = error.problems
    assert "XBucket.example.org/my" in problem.what
    assert "step 'render'" in problem.what
    assert problem.where
