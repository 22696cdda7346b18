"""Today's definitions and compositions: how they are read, what a stack is told of them, and what files render."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.catalog import read_catalog
from claimsmith.cli.app import app
from claimsmith.compose import pipeline
from claimsmith.documents import Document, read_documents
from claimsmith.errors import CatalogError, ComposeError, EngineError, ModelError
from claimsmith.models import composition_today, xrd
from claimsmith.models.klass import Check, Detail, Side
from claimsmith.models.objects import GroupKind
from tests.samples import write_files

BUCKET = {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "spec": {"region": "eu"}}
XR = {
    "apiVersion": "example.org/v1",
    "kind": "XBucket",
    "metadata": {"name": "my", "uid": "u-1"},
    "spec": {"region": "us", "stage": "prod"},
}
PATCH = {"fromFieldPath": "spec.region", "toFieldPath": "spec.region"}
PLAIN = """\
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: a
"""


def document(data: dict[str, Any]) -> Document:
    return read_documents(yaml.safe_dump(data, sort_keys=False), file="platform.yaml")[0]


def composition(version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "Composition",
        "metadata": {"name": "buckets", "labels": {"tier": "a"}},
        "spec": {"compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XBucket"}, **spec},
    }


def step(function: str = "function-patch-and-transform", name: str = "pt", **data: Any) -> dict[str, Any]:
    return {"step": name, "functionRef": {"name": function}, **({"input": data} if data else {})}


def resources(*listed: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": list(listed)}


def piped(*steps: dict[str, Any]) -> dict[str, Any]:
    return composition(mode="Pipeline", pipeline=list(steps))


def definition(version: str = "v1", **spec: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 5}}}},
    }
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xbuckets.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "XBucket", "plural": "xbuckets"},
            "versions": [{"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}],
            **spec,
        },
    }


def render(data: dict[str, Any], composite: dict[str, Any] | None = None, **more: Any) -> pipeline.Rendered:
    return pipeline.render(composition_today.read(document(data))[0], composite or XR, **more)


# Reading


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_resources_mode(version: str) -> None:
    details = [
        {"fromConnectionSecretKey": "endpoint"},
        {"name": "host", "fromConnectionSecretKey": "endpoint"},
        {"name": "port", "value": "5432"},
        {"name": "arn", "fromFieldPath": "status.arn"},
    ]
    checks = [{"type": "MatchCondition", "matchCondition": {"type": "Synced", "status": "True"}}]
    unnamed = {"base": BUCKET, "patches": [PATCH], "connectionDetails": details, "readinessChecks": checks}
    data = composition(version, resources=[unnamed, {"name": "second", "base": BUCKET}])
    klass, warnings = composition_today.read(document(data))
    assert warnings == []
    assert klass.serves == GroupKind("example.org", "XBucket")
    assert [t.name for t in klass.templates] == ["resource-0", "second"]
    first = klass.templates[0]
    assert first.details == (
        Detail("endpoint", "endpoint"),
        Detail("host", "endpoint"),
        Detail("port", "", value="5432"),
        Detail("arn", "", field_path="status.arn"),
    )
    assert first.checks == (Check("MatchCondition", condition=("Synced", "True")),)
    patch = first.patches[0]
    assert (patch.reads, patch.to, patch.origin, patch.target) == (("spec.region",), "spec.region", *SIDES)
    assert patch.at == "spec.resources[0].patches[0]"


SIDES = (Side.claim, Side.resource)


def test_the_old_form_is_another_dialect() -> None:
    old = {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "Composition", "spec": {"from": {}, "to": []}}
    assert not composition_today.is_composition(Document(old, "f"))
    assert composition_today.is_composition(Document(composition("v1alpha1", resources=[]), "f"))


def test_the_digest_tells_steps_apart() -> None:
    one, other = (
        composition_today.read(document(piped(step(**resources({"name": n, "base": BUCKET})))))[0] for n in "ab"
    )
    assert one.digest() != other.digest()


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(composition(mode="Pipeline"), "spec.pipeline", id="pipeline-without-steps"),
        pytest.param(composition(pipeline=[step(name="a")]), "spec.pipeline", id="steps-without-pipeline"),
        pytest.param(composition(resources=[]), "spec.resources", id="nothing-to-do"),
        pytest.param(piped(step()), "spec.pipeline[0].input", id="step-without-input"),
        pytest.param(
            piped(step(**resources({"name": "a", "base": BUCKET, "connectionDetails": [{"name": "x", "value": "y"}]}))),
            "spec.pipeline[0].input.resources[0].connectionDetails[0].type",
            id="functions-infer-no-types",
        ),
        pytest.param(
            piped(step(**resources({"base": BUCKET}))), "spec.pipeline[0].input.resources[0].name", id="unnamed-in-step"
        ),
        pytest.param(
            piped(step(**{**resources({"name": "a", "base": BUCKET}), "kind": "Other"})),
            "spec.pipeline[0].input.kind",
            id="another-kind-of-input",
        ),
        pytest.param(composition(resources=[{"base": BUCKET}], modus="x"), "spec.modus", id="unknown-field"),
        pytest.param(
            composition(resources=[{"base": BUCKET}], environment={"environmentConfigs": [{"type": "Guess"}]}),
            "spec.environment.environmentConfigs[0].type",
            id="unknown-source-of-the-environment",
        ),
    ],
)
def test_refused_compositions(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        composition_today.read(document(data))
    problem = caught.value.problems[0]
    assert problem.path.startswith(path)
    assert problem.where
    assert problem.fix


def test_paths_that_cannot_be_parsed_are_doubtful() -> None:
    data = composition(resources=[{"base": BUCKET, "patches": [{"fromFieldPath": "a..b"}]}])
    assert [w.path for w in composition_today.read(document(data))[1]] == ["spec.resources[0].patches[0]"]


def test_definitions() -> None:
    more = {
        "claimNames": {"kind": "Bucket", "plural": "buckets"},
        "connectionSecretKeys": ["host"],
        "defaultCompositionRef": {"name": "a"},
        "enforcedCompositionRef": {"name": "b"},
    }
    found = xrd.read(document(definition(**more)))
    assert (found.kind, found.claim) == (GroupKind("example.org", "XBucket"), GroupKind("example.org", "Bucket"))
    assert (found.connection_keys, found.default_composition, found.enforced_composition) == (("host",), "a", "b")
    assert (found.namespaced, found.modern) == (False, False)
    assert found.defaulted(document(XR))["spec"] == {**XR["spec"], "size": 5}


@pytest.mark.parametrize(
    ("scope", "namespaced", "modern"),
    [
        pytest.param({}, True, True, id="left-out"),
        pytest.param({"scope": "Namespaced"}, True, True, id="namespaced"),
        pytest.param({"scope": "Cluster"}, False, True, id="cluster"),
        pytest.param({"scope": "LegacyCluster"}, False, False, id="legacy"),
    ],
)
def test_scopes_of_definitions(scope: dict[str, str], namespaced: bool, modern: bool) -> None:
    found = xrd.read(document(definition("v2", **scope)))
    assert (found.namespaced, found.modern) == (namespaced, modern)


@pytest.mark.parametrize(
    ("version", "where"),
    [pytest.param("v1", "spec", id="in-spec"), pytest.param("v2", "spec.crossplane", id="in-spec-crossplane")],
)
def test_the_update_policy_is_a_default_too(version: str, where: str) -> None:
    found = xrd.read(document(definition(version, defaultCompositionUpdatePolicy="Manual")))
    full = found.defaulted(document({**XR, "spec": {"crossplane": {}}}))
    spec = {"spec": full["spec"], "spec.crossplane": full["spec"]["crossplane"]}[where]
    assert spec["compositionUpdatePolicy"] == "Manual"


def test_the_oldest_form_of_definitions() -> None:
    template = {"group": "example.org", "version": "v1", "names": {"kind": "XBucket", "plural": "xbuckets"}}
    data = {**definition("v1alpha1"), "spec": {"crdSpecTemplate": template}}
    assert list(xrd.read(document(data)).versions) == ["v1"]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param({**definition(), "metadata": {"name": "other"}}, "metadata.name", id="misnamed"),
        pytest.param(definition(versions=[]), "spec.versions", id="no-version"),
        pytest.param(definition(versions=[{"name": "a"}, {"name": "b"}]), "spec.versions", id="none-referenceable"),
        pytest.param(definition(scope="Galaxy"), "spec.scope", id="unknown-scope"),
    ],
)
def test_refused_definitions(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        xrd.read(document(data))
    assert caught.value.problems[0].path == path


def test_a_definition_of_another_kind() -> None:
    with pytest.raises(ModelError):
        xrd.read(document(definition())).defaulted(document({**XR, "kind": "Other"}))


# In a stack


PLATFORM = [
    document(definition(claimNames={"kind": "Bucket", "plural": "buckets"})),
    document(composition(resources=[{"base": BUCKET}])),
]


def test_a_platform_may_hold_todays_documents() -> None:
    catalog = read_catalog(PLATFORM)
    assert [c.name for c in catalog.today.compositions.values()] == ["buckets"]
    assert sorted(str(c.serves) for c in catalog.classes.values()) == ["Bucket.example.org", "XBucket.example.org"]


@pytest.mark.parametrize("kind", ["XBucket", "Bucket"])
def test_a_kind_that_nothing_defines_is_told_so(kind: str) -> None:
    claim = {**XR, "kind": kind, "metadata": {"name": "my"}}
    alone = [PLATFORM[1]]
    if kind == "XBucket":
        with pytest.raises(CatalogError) as caught:
            read_catalog(alone, [document(claim)])
        assert "nothing defines it" in caught.value.problems[0].what
    else:
        assert read_catalog(alone, [document(claim)]).claims, "any kind may be claimed, and stays unbound"


@pytest.mark.parametrize("index", [0, 1])
def test_names_stand_once(index: int) -> None:
    twin = document(PLATFORM[index].data)
    with pytest.raises(CatalogError) as caught:
        read_catalog([*PLATFORM, twin])
    assert "stands twice" in caught.value.problems[0].what


# Rendering


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
        render(piped(step("function-kcl", name="make", apiVersion="krm.kcl.dev/v1", kind="KCLInput")))
    problem = caught.value.problems[0]
    assert "'make'" in problem.what
    assert "function-kcl" in problem.what
    assert problem.path == "spec.pipeline[0].functionRef.name"


# Other functions


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
    assert render(data, observed=[existing]).state.resources["a"].ready


def config(name: str, labels: dict[str, str] | None = None, **data: Any) -> dict[str, Any]:
    return {"kind": "EnvironmentConfig", "metadata": {"name": name, "labels": labels or {}}, "data": data}


CONFIGS = [config("one", region={"id": 1, "zone": "a"}), config("two", {"stage": "prod"}, region={"id": 2})]
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
        pytest.param({"type": "Selector", "selector": {"matchLabels": []}}, id="two-match-where-one-is-wanted"),
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


# The command


FUNCTIONS = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "Function",
    "metadata": {"name": "function-patch-and-transform"},
}
FILES = {
    "xr.yaml": yaml.safe_dump(XR),
    "composition.yaml": yaml.safe_dump(
        piped(step(**resources({"name": "a", "base": BUCKET, "patches": [PATCH, {"fromFieldPath": "spec.size"}]})))
    ),
    "functions.yaml": yaml.safe_dump(FUNCTIONS),
    "xrd.yaml": yaml.safe_dump(definition()),
    "observed/a.yaml": yaml.safe_dump(
        {**BUCKET, "metadata": {"name": "is", "annotations": {"crossplane.io/composition-resource-name": "a"}}}
    ),
}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    return tmp_path


def run(*words: str):
    return CliRunner().invoke(app, ["render", *words])


@pytest.mark.usefixtures("files")
def test_render_files() -> None:
    done = run("xr.yaml", "composition.yaml", "functions.yaml", "--observed", "observed", "--xrd", "xrd.yaml", "-x")
    assert done.exit_code == 0, done.output
    composite, bucket = yaml.safe_load_all(done.stdout)
    assert composite["spec"]["size"] == 5
    assert (bucket["metadata"]["name"], bucket["spec"]) == ("is", {"region": "us", "size": 5})


@pytest.mark.usefixtures("files")
def test_render_files_as_json() -> None:
    done = run("xr.yaml", "composition.yaml", "--output", "json")
    assert [d["kind"] for d in json.loads(done.stdout)] == ["XBucket", "Bucket"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("xr.yaml",), 2, id="no-composition"),
        pytest.param(("dev", "--observed", "observed"), 2, id="a-stack-observes-nothing"),
        pytest.param(("xr.yaml", "absent.yaml"), 1, id="no-such-file"),
        pytest.param(("xr.yaml", "functions.yaml"), 1, id="not-a-composition"),
        pytest.param(("xr.yaml", "composition.yaml", "xrd.yaml"), 1, id="functions-that-are-not-named"),
    ],
)
def test_render_files_refused(words: tuple[str, ...], code: int) -> None:
    assert run(*words).exit_code == code
