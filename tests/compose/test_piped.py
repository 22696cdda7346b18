"""Children that a pipeline makes: with what exists, until nothing new appears, and what would follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from claimsmith.base.documents import Document
from claimsmith.base.errors import EngineError
from claimsmith.compose.drafts import Draft
from claimsmith.compose.expand import expand
from claimsmith.compose.piped import Live
from claimsmith.kubernetes.crds import permissive_crd
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
NOT_READY = {"conditions": [{"type": "Ready", "status": "False"}]}


@dataclass
class There:
    """A cluster in which some kinds have a status."""

    status: Mapping[str, Any] = field(default_factory=dict)

    def read(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        kind = str(document["kind"])
        return {**document, "status": self.status[kind]} if kind in self.status else None

    def details(self, document: Mapping[str, Any]) -> Mapping[str, bytes]:
        return {"from": str(document["kind"]).encode()}


def draft(*steps: dict[str, Any], live: Live | None = None, more: tuple[Document, ...] = ()) -> tuple[Draft, list[str]]:
    platform = [document(definition()), document(piped(*steps)), *more]
    catalog = read_catalog(platform, [document({**XR, "spec": {"size": 7}})])
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
    assert a.name == a.document["metadata"]["name"]
    arn = b.document["data"]["arn"]
    assert (arn.resource, arn.path, arn.known) == (a.address, ("status", "arn"), "arn:1")
    assert found.status == {"arn": "arn:1"}
    assert warnings == []
    assert [(d.name, d.value) for d in b.template.details or ()] == [("arn", "arn:1")]


@pytest.mark.parametrize(
    ("steps", "status", "unseen"),
    [
        pytest.param((AUTO,), {"Bucket": READY, "ConfigMap": {}}, (), id="judged-by-a-function"),
        pytest.param((), {"Bucket": READY, "ConfigMap": {}}, (), id="its-own-condition"),
        pytest.param((), {"Bucket": READY}, ("b",), id="absent"),
        pytest.param((), {"Bucket": {}}, ("a",), id="managed-without-condition"),
        pytest.param((), {"Bucket": NOT_READY}, ("a",), id="not-ready"),
    ],
)
def test_what_the_pipeline_has_not_seen(steps: Any, status: dict[str, Any], unseen: tuple[str, ...]) -> None:
    """What an object reports of itself counts: many pipelines have no function that judges readiness."""
    found, _ = draft(templated(), *steps, live=There(status))
    assert found.piped is not None
    assert found.piped.unseen == unseen


@pytest.mark.parametrize(("marked", "unseen"), [(False, ()), (True, ("a",))], ids=["plain", "managed"])
def test_an_object_without_conditions_is_complete_unless_a_provider_manages_its_kind(
    marked: bool, unseen: tuple[str, ...]
) -> None:
    crd = document(permissive_crd("s3.example.org/v1", "Bucket", namespaced=False, managed=marked))
    found, _ = draft(templated(), live=There({"Bucket": {}}), more=(crd,))
    assert found.piped is not None
    assert found.piped.unseen == unseen


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
