"""New definitions and classes in every format: valid as written, with the fields that their kinds have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import EngineError
from claimsmith.base.names import GroupKind
from claimsmith.cli.app import app
from claimsmith.platform import offers
from claimsmith.project.project import Project
from claimsmith.tools.scaffold.definition_file import NewField
from claimsmith.tools.scaffold.kind_fields import KindFields, fields_of
from tests.support.native_classes import PROJECT
from tests.support.samples import contents, write_files

STORE = "platform.example.org/v1alpha1/Store"
QUEUE = "sqs.aws.upbound.io/v1beta1/Queue"
REDIS = "cache.azure.crossplane.io/v1beta1/Redis"
GROUP = "azure.crossplane.io/v1alpha3/ResourceGroup"
CLUSTER = "cache.crossplane.io/v1alpha1/RedisCluster"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_files(tmp_path, {**PROJECT, "requirements.txt": "claimsmith\n"}))
    return tmp_path


def run(*words: str):
    return CliRunner().invoke(app, list(words))


def ok(*words: str) -> str:
    ran = run(*words)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


# what a kind has


def crd_schema(**fields: dict[str, Any]) -> dict[str, Any]:
    spec = {"type": "object", "properties": fields}
    return {"type": "object", "properties": {"spec": spec}}


OBJECT = {"type": "object"}
FOR_PROVIDER = {"type": "object", "required": ["region"], "properties": {"region": {"type": "string"}}}
KINDED = {"type": "object", "properties": {"kind": {"type": "string"}, "name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("api_version", "kind", "schema", "want"),
    [
        pytest.param(
            "sqs.aws.upbound.io/v1beta1",
            "Queue",
            None,
            KindFields("spec.forProvider", rest={"providerConfigRef": {"name": "default"}, "deletionPolicy": "Delete"}),
            id="upbound",
        ),
        pytest.param(
            "sqs.aws.m.upbound.io/v1beta1",
            "Queue",
            None,
            KindFields(
                "spec.forProvider", rest={"providerConfigRef": {"kind": "ClusterProviderConfig", "name": "default"}}
            ),
            id="upbound-namespaced",
        ),
        pytest.param(
            "cache.azure.crossplane.io/v1beta1",
            "Redis",
            None,
            KindFields("spec.forProvider", rest={"providerRef": {"name": "example"}, "reclaimPolicy": "Delete"}),
            id="older-provider",
        ),
        pytest.param(
            "azure.crossplane.io/v1alpha3",
            "ResourceGroup",
            None,
            KindFields("spec", rest={"providerRef": {"name": "example"}, "reclaimPolicy": "Delete"}),
            id="older-alpha",
        ),
        pytest.param("v1", "ConfigMap", None, KindFields("data"), id="config-map"),
        pytest.param("apps/v1", "Deployment", None, KindFields("spec"), id="kubernetes"),
        pytest.param("example.org/v1", "Thing", None, KindFields("spec"), id="nothing-known"),
        pytest.param(
            "example.org/v1",
            "Thing",
            crd_schema(forProvider=FOR_PROVIDER, providerConfigRef=OBJECT, deletionPolicy={"type": "string"}),
            KindFields(
                "spec.forProvider",
                ("region",),
                {"providerConfigRef": {"name": "default"}, "deletionPolicy": "Delete"},
            ),
            id="definition",
        ),
        pytest.param(
            "sqs.aws.upbound.io/v1",
            "Queue",
            crd_schema(forProvider=OBJECT, providerConfigRef=KINDED),
            KindFields(
                "spec.forProvider", rest={"providerConfigRef": {"kind": "ClusterProviderConfig", "name": "default"}}
            ),
            id="definition-before-group",
        ),
        pytest.param(
            "example.org/v1",
            "Thing",
            crd_schema(size={"type": "integer"}, providerRef=OBJECT),
            KindFields("spec", rest={"providerRef": {"name": "example"}}),
            id="definition-without-for-provider",
        ),
    ],
)
def test_the_fields_of_a_kind(api_version: str, kind: str, schema: dict[str, Any] | None, want: KindFields) -> None:
    assert fields_of(api_version, kind, schema) == want


def test_a_definition_of_the_platform_is_used(project: Path) -> None:
    names = {"kind": "Thing", "plural": "things"}
    version = {"name": "v1", "served": True, "storage": True}
    schema = crd_schema(forProvider=FOR_PROVIDER, providerConfigRef=OBJECT)
    spec = {"group": "example.org", "scope": "Cluster", "names": names}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.org"},
        "spec": {**spec, "versions": [{**version, "schema": {"openAPIV3Schema": schema}}]},
    }
    (project / "components").mkdir(exist_ok=True)
    (project / "components" / "crd.yaml").write_text(yaml.safe_dump(crd))
    ok("new", "class", "store", "--claim", STORE, "--makes", "example.org/v1/Thing")
    [resource] = yaml.safe_load((project / "components/store/class.yaml").read_text())["spec"]["resources"]
    assert resource["base"]["spec"] == {"forProvider": {}, "providerConfigRef": {"name": "default"}}
    assert resource["patches"] == [
        {"fromClaimFieldPath": "spec.region", "toResourceFieldPath": "spec.forProvider.region"}
    ]


# formats of classes


@pytest.mark.parametrize(
    ("defined_as", "claim", "serves"),
    [
        pytest.param("crossplane", "Store/team/photos", "Store.platform.example.org", id="crossplane"),
        pytest.param("crossplane-v1", "Store/team/photos", "XStore.platform.example.org", id="crossplane-v1"),
        pytest.param("definitions", "StoreRequirement/team/photos", "Store.platform.example.org", id="definitions"),
    ],
)
def test_a_definition_its_class_and_a_claim_are_valid_as_written(
    project: Path, defined_as: str, claim: str, serves: str
) -> None:
    fields = ["--field", "size:small|large", "--field", "ttl:integer=60", "--field", "note?:string"]
    assert ok("new", "definition", STORE, *fields, "--format", defined_as) == "components/store/definition.yaml\n"
    written = ok("new", "class", "store", "--claim", STORE, "--makes", QUEUE, "--makes", "postgresql:Role")
    assert written == "components/store/composition.yaml\ncomponents/store/component.py\n"
    ok("new", "claim", claim, "--stack", "dev")
    assert run("validate", "dev").exit_code == 0
    (offer,) = offers.offers(Project(project).catalog(), GroupKind.parse(serves))
    assert offer.makes == ["Queue", "Role"]
    spec = yaml.safe_load((project / "stacks/dev/claims/photos.yaml").read_text())["spec"]
    assert spec["size"] == "small"


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        pytest.param(["--format", "single", "--makes", REDIS], ["Redis"], id="single"),
        pytest.param(
            ["--format", "aggregate", "--makes", GROUP, "--makes", REDIS], ["ResourceGroup", "Redis"], id="aggregate"
        ),
        pytest.param(["--makes", GROUP, "--makes", REDIS], ["ResourceGroup", "Redis"], id="composite"),
    ],
)
def test_classes_of_older_formats_serve_a_claim(project: Path, words: list[str], kinds: list[str]) -> None:
    ok("new", "class", "cache", "--claim", CLUSTER, *words, "--default")
    ok("new", "claim", "RedisCluster/team/sessions", "--stack", "dev")
    assert run("validate", "dev").exit_code == 0
    [claim] = [c for c in Project(project).plan("dev").claims if c.binding.claim.key.name == "sessions"]
    assert sorted(child.template.kind for child in claim.children) == sorted(kinds)


@pytest.mark.parametrize(
    ("words", "want"),
    [
        pytest.param(
            ["class", "x", "--claim", STORE, "--makes", REDIS, "--format", "single"],
            "does not serve Store",
            id="single-of-another-kind",
        ),
        pytest.param(
            ["class", "x", "--claim", CLUSTER, "--makes", REDIS, "--makes", GROUP, "--format", "single"],
            "makes one resource",
            id="single-of-two",
        ),
        pytest.param(
            ["class", "x", "--claim", CLUSTER, "--makes", "random:RandomId", "--format", "aggregate"],
            "Kubernetes objects alone",
            id="aggregate-of-native",
        ),
        pytest.param(
            ["class", "x", "--claim", STORE, "--makes", QUEUE, "--format", "crossplane", "--default"],
            "defaultCompositionRef",
            id="default-of-a-composition",
        ),
        pytest.param(["definition", "Store"], "is no kind", id="definition-of-a-name"),
        pytest.param(["definition", STORE, "--field", "size"], "NAME:TYPE", id="field-without-type"),
        pytest.param(["definition", STORE, "--field", "size:text"], "string, integer", id="unknown-type"),
        pytest.param(["definition", STORE, "--field", "size:integer={"], "default", id="unreadable-default"),
        pytest.param(["namespace", "Shop", "--stack", "dev"], "no name for a namespace", id="namespace"),
        pytest.param(["stack", "a/b"], "no name for a stack", id="stack-name"),
        pytest.param(["stack", "dev"], "already", id="stack-twice"),
        pytest.param(["stack", "prod", "--like", "dve"], "did you mean 'dev'?", id="like-nothing"),
    ],
)
def test_what_is_refused(project: Path, words: list[str], want: str) -> None:
    before = contents(project)
    ran = run("new", *words)
    assert ran.exit_code == 1, ran.output
    assert want in ran.stderr
    assert contents(project) == before


def test_a_kind_is_defined_once(project: Path) -> None:
    ok("new", "definition", STORE)
    ran = run("new", "definition", STORE)
    assert ran.exit_code == 1
    assert "is defined already" in ran.stderr


@pytest.mark.parametrize(
    ("text", "schema", "required"),
    [
        pytest.param("size:integer", {"type": "integer"}, True, id="required"),
        pytest.param("size?:integer", {"type": "integer"}, False, id="optional"),
        pytest.param("size:integer=3", {"type": "integer", "default": 3}, False, id="default"),
        pytest.param("on:boolean=true", {"type": "boolean", "default": True}, False, id="boolean"),
        pytest.param("tier:a|b=b", {"type": "string", "enum": ["a", "b"], "default": "b"}, False, id="values"),
        pytest.param("version:string=5.10", {"type": "string", "default": "5.10"}, False, id="text-like-a-number"),
    ],
)
def test_fields(text: str, schema: dict[str, Any], required: bool) -> None:
    assert NewField.parse(text) == NewField(text.partition(":")[0].removesuffix("?"), schema, required)


@pytest.mark.parametrize("text", ["", ":string", "a-b:string", "a:"])
def test_fields_that_are_refused(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        NewField.parse(text)
    assert caught.value.problems[0].fix


# environments and namespaces


def test_a_new_environment_can_be_claimed_in(project: Path) -> None:
    assert ok("new", "stack", "prod").split() == ["stacks/prod/claims/.gitkeep", "stacks/prod/bindings.yaml"]
    assert "prod" in Project(project).stacks()


def test_an_environment_like_another_has_its_claims_and_its_own_bindings(project: Path) -> None:
    ok("new", "class", "store", "--claim", STORE, "--makes", "random:RandomPassword")
    ok("new", "claim", "Store/team/photos", "--stack", "dev", "--set", "length=8")
    ok("new", "stack", "prod", "--like", "dev")
    found = {stack: {r.claim: r.uid for r in Project(project).records(stack)} for stack in ("dev", "prod")}
    assert found["dev"].keys() == found["prod"].keys() != set()
    assert not set(found["dev"].values()) & set(found["prod"].values())
    assert run("validate", "prod").exit_code == 0


def test_a_namespace_is_created_on_request(project: Path) -> None:
    ok("new", "class", "store", "--claim", STORE, "--makes", "random:RandomPassword")
    first = ok("new", "claim", "Store/shop/a", "--stack", "dev", "--set", "length=8", "--create-namespace")
    assert "stacks/dev/resources/namespace-shop.yaml" in first.split()
    again = ok("new", "claim", "Store/shop/b", "--stack", "dev", "--set", "length=8", "--create-namespace")
    assert "stacks/dev/resources/namespace-shop.yaml" not in again.split()
    ran = run("new", "namespace", "shop", "--stack", "dev")
    assert (ran.exit_code, "creates the namespace 'shop' already" in ran.stderr) == (1, True)
    [provided] = [r for r in Project(project).plan("dev").resources if r.document["kind"] == "Namespace"]
    assert provided.document["metadata"]["name"] == "shop"
