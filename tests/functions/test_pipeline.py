"""The pipeline of a composition: what Crossplane adds around its steps, and the built-in functions."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ComposeError, EngineError, Problem
from claimsmith.dialects.crossplane import composition as compositions
from claimsmith.functions import pipeline, registry
from claimsmith.functions.protocol import Function, Ready
from tests.support.crossplane_documents import (
    BUCKET,
    PATCH,
    XR,
    composition,
    document,
    piped,
    resources,
    step,
)

PLAIN = """\
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: a
"""


def render(data: dict[str, Any], composite: dict[str, Any] | None = None, **more: Any) -> pipeline.Rendered:
    return pipeline.render(compositions.read(document(data))[0], composite or XR, **more)


def test_what_the_core_adds() -> None:
    rendered = render(composition(resources=[{"base": BUCKET, "patches": [PATCH]}]))
    owner = {"apiVersion": "example.org/v1", "kind": "XBucket", "name": "my", "uid": "u-1"}
    assert rendered.composed == (
        {
            "apiVersion": "s3.example.org/v1",
            "kind": "Bucket",
            "metadata": {
                "generateName": "my-",
                "annotations": {"crossplane.io/composition-resource-name": "resource-0"},
                "labels": {"crossplane.io/composite": "my"},
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": {"region": "us"},
        },
    )
    condition = rendered.composite["status"]["conditions"][0]
    assert condition["message"] == "Unready resources: resource-0"


def test_names_that_the_composition_gives_are_kept() -> None:
    base = {**BUCKET, "metadata": {"name": "fixed", "labels": {"a": "b"}}}
    metadata = render(piped(step(**resources({"name": "a", "base": base})))).composed[0]["metadata"]
    assert metadata["name"] == "fixed"
    assert "generateName" not in metadata
    assert metadata["labels"] == {"a": "b", "crossplane.io/composite": "my"}


def test_a_name_in_a_base_of_mode_resources_is_ignored() -> None:
    metadata = render(composition(resources=[{"base": {**BUCKET, "metadata": {"name": "fixed"}}}])).composed[0][
        "metadata"
    ]
    assert "name" not in metadata
    assert metadata["generateName"] == "my-"


def test_a_namespaced_composite_composes_in_its_namespace() -> None:
    base = {**BUCKET, "metadata": {"namespace": "other"}}
    composite = {**XR, "metadata": {"name": "my", "namespace": "mine"}}
    rendered = render(composition(resources=[{"base": base}]), composite)
    assert rendered.composed[0]["metadata"]["namespace"] == "mine"
    assert rendered.composite["metadata"] == {"name": "my", "namespace": "mine"}


def test_what_exists_keeps_its_name_and_makes_the_composite_ready() -> None:
    existing = {
        **BUCKET,
        "metadata": {"name": "my-1", "annotations": {"crossplane.io/composition-resource-name": "resource-0"}},
        "status": {"arn": "arn:1", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    patch = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.arn", "toFieldPath": "status.arn"}
    rendered = render(composition(resources=[{"base": BUCKET, "patches": [patch]}]), observed=[existing])
    assert rendered.composed[0]["metadata"]["name"] == "my-1"
    assert rendered.composite["status"]["arn"] == "arn:1"
    assert rendered.composite["status"]["conditions"][0]["status"] == "True"


def test_metadata_that_is_null_stays_so_and_is_told() -> None:
    """`metadata:` in a base, with nothing after it: the core has nowhere to write. Crossplane lists it first."""
    null = {"name": "b", "base": {**BUCKET, "metadata": None}}
    rendered = render(piped(step(**resources({"name": "a", "base": BUCKET}, null))))
    assert rendered.composed[0] == {**BUCKET, "metadata": None}
    assert rendered.composed[1]["metadata"]["generateName"] == "my-"
    assert "is null" in rendered.warnings[0][1].what


def test_labels_that_are_no_texts_are_told() -> None:
    rendered = render(composition(resources=[{"base": {**BUCKET, "metadata": {"labels": {"a": 5}}}}]))
    assert rendered.composed[0]["metadata"]["labels"] == {"crossplane.io/composite": "my"}
    assert "not all text" in rendered.warnings[0][1].what
    assert rendered.results() == []


@pytest.mark.parametrize(
    ("data", "composite", "more"),
    [
        pytest.param(composition(resources=[{"base": BUCKET}]), {**XR, "kind": "Other"}, {}, id="another-kind"),
        pytest.param(
            composition(resources=[{"base": BUCKET}]),
            {**XR, "spec": {"crossplane": {"compositionSelector": {"matchLabels": {"tier": "b"}}}}},
            {},
            id="another-label",
        ),
        pytest.param(
            composition(resources=[{"base": BUCKET}]), XR, {"observed": [BUCKET]}, id="observed-without-annotation"
        ),
        pytest.param(
            composition(
                resources=[
                    {"base": {**BUCKET, "metadata": {"ownerReferences": [{"uid": "z", "controller": True}]}}},
                ]
            ),
            XR,
            {},
            id="controlled-by-another",
        ),
        pytest.param(piped(step("function-kcl", apiVersion="krm.kcl.dev/v1", kind="KCLInput")), XR, {}, id="function"),
    ],
)
def test_refused_renders(data: dict[str, Any], composite: dict[str, Any], more: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        render(data, composite, **more)
    assert caught.value.problems[0].fix


def test_an_unknown_function_is_named_with_its_step() -> None:
    with pytest.raises(ComposeError) as caught:
        render(piped(step("function-unheard-of", name="make", apiVersion="unheard-of.example.org/v1", kind="Input")))
    problem = caught.value.problems[0]
    assert "'make'" in problem.what
    assert "function-unheard-of" in problem.what
    assert problem.path == "spec.pipeline[0].functionRef.name"


def test_a_problem_while_a_declared_function_is_bound_names_its_step() -> None:
    def bind(_: registry.Place) -> Function:
        raise ComposeError(Problem("the program is gone", fix="build it"))

    around = pipeline.Surroundings(declared={"function-acme": bind})
    with pytest.raises(ComposeError) as caught:
        render(piped(step("function-acme", name="make", apiVersion=OTHER, kind="Input")), around=around)
    [problem] = caught.value.problems
    assert problem.what == "step 'make': the program is gone"
    assert problem.where
    assert problem.path == "spec.pipeline[0].input"


OTHER = "inputs.acme.example.org/v1"


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([step(apiVersion=OTHER, resources=[{"name": "a", "base": BUCKET}])], id="patch-and-transform"),
        pytest.param(
            [step("acme-function-go-templating", apiVersion=OTHER, source="Inline", inline={"template": PLAIN})],
            id="go-templating",
        ),
        pytest.param(
            [
                step("function-environment-configs", name="env", apiVersion=OTHER, spec={"defaultData": {"a": 1}}),
                step(**resources({"name": "a", "base": BUCKET})),
            ],
            id="environment-configs",
        ),
        pytest.param(
            [step(**resources({"name": "a", "base": BUCKET})), step("function-auto-ready", name="r", apiVersion=OTHER)],
            id="auto-ready",
        ),
    ],
)
def test_a_function_is_known_by_its_name_whatever_its_input_is_called(steps: list[dict[str, Any]]) -> None:
    """Crossplane runs what functionRef names: it does not look at the input's apiVersion."""
    assert [d["kind"] for d in render(piped(*steps)).composed] == ["Bucket"]


def test_auto_ready_asks_for_the_condition_ready() -> None:
    checks = [{"type": "MatchString", "fieldPath": "status.x", "matchString": "y"}]
    data = piped(
        step(**resources({"name": "a", "base": BUCKET, "readinessChecks": checks})),
        step("function-auto-ready", name="ready"),
    )
    existing = {
        **BUCKET,
        "metadata": {"annotations": {"crossplane.io/composition-resource-name": "a"}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    assert render(data, observed=[existing]).outcome.desired.resources["a"].ready is Ready.true


def config(name: str, labels: dict[str, str] | None = None, **data: Any) -> dict[str, Any]:
    head = {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "EnvironmentConfig"}
    return {**head, "metadata": {"name": name, "labels": labels or {}}, "data": data}


CONFIGS = [
    config("one", {"all": "yes"}, region={"id": 1, "zone": "a"}),
    config("two", {"stage": "prod", "all": "yes"}, region={"id": 2}),
]
ZONE = {
    "name": "a",
    "base": BUCKET,
    "patches": [{"type": "FromEnvironmentFieldPath", "fromFieldPath": "region", "toFieldPath": "spec.region"}],
}
SELECTED = {
    "type": "Selector",
    "selector": {
        "matchLabels": [{"key": "stage", "type": "FromCompositeFieldPath", "valueFromFieldPath": "spec.stage"}]
    },
}


def environment_step(*sources: dict[str, Any]) -> dict[str, Any]:
    return step(
        "function-environment-configs",
        name="environment",
        apiVersion="environmentconfigs.fn.crossplane.io/v1beta1",
        kind="Input",
        spec={"environmentConfigs": list(sources)},
    )


def test_environment_configs_are_merged_in_order() -> None:
    sources = [{"type": "Reference", "ref": {"name": "one"}}, SELECTED]
    rendered = render(piped(environment_step(*sources), step(**resources(ZONE))), extra=CONFIGS)
    assert rendered.composed[0]["spec"]["region"] == {"id": 2, "zone": "a"}


def test_environment_of_resources_mode() -> None:
    environment = {"environmentConfigs": [{"ref": {"name": "one"}}]}
    rendered = render(composition(environment=environment, resources=[ZONE]), extra=CONFIGS)
    assert rendered.composed[0]["spec"]["region"] == {"id": 1, "zone": "a"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"ref": {"name": "three"}}, id="absent"),
        pytest.param(
            {"type": "Selector", "selector": {"matchLabels": [{"key": "all", "type": "Value", "value": "yes"}]}},
            id="two-match-where-one-is-wanted",
        ),
    ],
)
def test_refused_environments(source: dict[str, Any]) -> None:
    with pytest.raises(ComposeError) as caught:
        render(piped(environment_step(source), step(**resources(ZONE))), extra=CONFIGS)
    assert "step 'environment'" in caught.value.problems[0].what


TEMPLATE = """
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: templated
    gotemplating.fn.crossplane.io/ready: "True"
spec:
  region: {{ .observed.composite.resource.spec.region }}
---
apiVersion: example.org/v1
kind: XBucket
status:
  seen: {{ .observed.composite.resource.spec.stage | quote }}
"""


def templated(text: str, **more: Any) -> dict[str, Any]:
    data = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline"}
    return step("function-go-templating", name="template", **{**data, "inline": {"template": text}, **more})


def test_go_templating() -> None:
    rendered = render(piped(templated(TEMPLATE), step(**resources({"name": "templated", "patches": [PATCH]}))))
    assert rendered.composite["status"]["seen"] == "prod"
    made = rendered.composed[0]
    assert made["spec"] == {"region": "us"}
    assert made["metadata"]["annotations"] == {"crossplane.io/composition-resource-name": "templated"}


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(templated("apiVersion: v1\nkind: Secret\n"), id="unnamed"),
        pytest.param(templated("{{ nonsense }}"), id="outside-the-subset"),
        pytest.param(templated("", source="FileSystem"), id="from-elsewhere"),
    ],
)
def test_refused_templates(broken: dict[str, Any]) -> None:
    with pytest.raises(ComposeError) as caught:
        render(piped(broken))
    assert "'template'" in caught.value.problems[0].what
