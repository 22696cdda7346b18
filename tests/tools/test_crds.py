from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import CatalogError, LoadError
from claimsmith.cli.app import app
from claimsmith.dialects.definitions import crds as definitions
from claimsmith.kubernetes import crds
from claimsmith.kubernetes import schema as schemas
from claimsmith.project.project import Project, crds_needed
from claimsmith.tools.crds import crds as crds_of
from tests.support.platform_files import PLATFORM
from tests.support.refusal_files import FILES
from tests.support.samples import write_files

RECORDS = {
    "AggregateResource",
    "CompositeResource",
    "KubernetesApplication",
    "KubernetesApplicationResource",
    "WorkloadTarget",
}
MADE_UP = {"Database", "RedisCluster", "Site", "Store", "StoreRequirement"}


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    monkeypatch.chdir(write_files(tmp_path, PLATFORM))
    return Project(tmp_path)


def run(*arguments: str):
    return CliRunner().invoke(app, ["crds", *arguments])


def by_kind(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {c["spec"]["names"]["kind"]: c for c in found}


def versions(crd: dict[str, Any]) -> list[str]:
    return [v["name"] for v in crd["spec"]["versions"]]


def given(**changes: Any) -> dict[str, str | bytes]:
    """The platform's own definition of the claim's kind."""
    crd = definitions.claim_crd("database.example.org/v1alpha1", "Database")
    crd["metadata"]["labels"] = {"mine": "yes"}
    crd["spec"] |= changes
    return {"components/x/crd.yaml": yaml.safe_dump(crd)}


def test_every_kind_that_the_platform_makes_up(project: Project) -> None:
    assert set(by_kind(crds_of(project))) == RECORDS | MADE_UP


@pytest.mark.parametrize("kind", sorted(MADE_UP))
def test_real_definitions_that_describe_their_fields(project: Project, kind: str) -> None:
    crd = by_kind(crds_of(project))[kind]
    found = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert not crds.is_permissive(crd)
    assert found["description"]
    assert all("description" in field for field in found["properties"].values())
    assert schemas.check_schema(found, document=None) == []


def test_claims_have_what_claims_need(project: Project) -> None:
    assert definitions.check_claim_crd(by_kind(crds_of(project))["Database"]) == []


def test_defined_kinds_keep_their_schema(project: Project) -> None:
    crd = by_kind(crds_of(project))["Store"]
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["properties"]["storageGB"] == {"type": "integer"}
    assert (crd["spec"]["scope"], by_kind(crds_of(project))["StoreRequirement"]["spec"]["scope"]) == (
        "Cluster",
        "Namespaced",
    )


def test_a_stack_adds_the_versions_in_which_it_claims(project: Project, tmp_path: Path) -> None:
    text = str(PLATFORM["stacks/dev/claims/more.yaml"]).replace(
        "cache.crossplane.io/v1alpha1", "cache.crossplane.io/v1beta1"
    )
    write_files(tmp_path, {"stacks/dev/claims/more.yaml": text})
    assert versions(by_kind(crds_of(project))["RedisCluster"]) == ["v1alpha1"]
    assert versions(by_kind(crds_of(project, "dev"))["RedisCluster"]) == ["v1alpha1", "v1beta1"]


def test_a_given_definition_stands_for_ours(tmp_path: Path) -> None:
    project = Project(write_files(tmp_path, {**FILES, **given()}))
    assert by_kind(crds_of(project))["Database"]["metadata"]["labels"] == {"mine": "yes"}


def test_given_definitions_of_what_is_made_are_not_ours_to_print(tmp_path: Path) -> None:
    crd = crds.permissive_crd("azure.crossplane.io/v1alpha3", "ResourceGroup", namespaced=False, managed=True)
    project = Project(write_files(tmp_path, {**FILES, "components/x/crd.yaml": yaml.safe_dump(crd)}))
    assert "ResourceGroup" not in by_kind(crds_of(project))
    assert "ResourceGroup" in by_kind(crds_needed(tmp_path))


# What a control plane of one's own installs


def test_needed_are_these_and_permissive_ones_for_what_is_made(project: Project, tmp_path: Path) -> None:
    needed = by_kind(crds_needed(tmp_path))
    managed = {"ResourceGroup", "MySQLServer", "CloudMemorystoreInstance"}
    assert set(needed) == RECORDS | MADE_UP | managed
    assert all(crds.is_permissive(needed[k]) and crds.is_managed(needed[k]) for k in managed)
    assert not any(crds.is_permissive(needed[k]) for k in MADE_UP)
    assert {needed[k]["spec"]["scope"] for k in managed} == {"Cluster"}


def test_what_kubernetes_has_itself_needs_no_definition(tmp_path: Path) -> None:
    definition = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: ApplicationDefinition
metadata: {name: blogs.apps.example.org}
spec:
  crdSpecTemplate:
    group: apps.example.org
    version: v1alpha1
    names: {kind: Blog, listKind: BlogList, plural: blogs, singular: blog}
---
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: Composition
metadata: {name: blog}
spec:
  from: {apiVersion: apps.example.org/v1alpha1, kind: Blog}
  to:
  - base: {apiVersion: apps/v1, kind: Deployment, spec: {}}
  - base: {apiVersion: v1, kind: Service, spec: {}}
  - base: {apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {}}
  - base: {apiVersion: workload.crossplane.io/v1alpha1, kind: KubernetesApplication, spec: {}}
  - base: {apiVersion: widgets.example.org/v1, kind: Widget, spec: {}}
"""
    needed = by_kind(crds_needed(write_files(tmp_path, {"components/blog/all.yaml": definition})))
    assert set(needed) == RECORDS | {"Blog", "Widget"}
    assert not crds.is_managed(needed["Widget"])
    assert needed["Widget"]["spec"]["scope"] == "Namespaced"


def test_a_definition_of_the_old_layout_is_brought_up_to_date(tmp_path: Path) -> None:
    old = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "resourcegroups.azure.crossplane.io"},
        "spec": {
            "group": "azure.crossplane.io",
            "version": "v1alpha3",
            "scope": "Cluster",
            "names": {"kind": "ResourceGroup", "plural": "resourcegroups"},
            "validation": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
        },
    }
    write_files(tmp_path, {**FILES, "components/x/crd.yaml": yaml.safe_dump(old)})
    [version] = by_kind(crds_needed(tmp_path))["ResourceGroup"]["spec"]["versions"]
    assert (version["name"], version["storage"]) == ("v1alpha3", True)
    assert version["schema"]["openAPIV3Schema"]["properties"] == {"spec": {"type": "object"}}


# The command


def test_yaml_is_one_stream_without_anchors(project: Project) -> None:
    result = run()
    documents = list(yaml.safe_load_all(result.stdout))
    assert (result.exit_code, len(documents)) == (0, len(RECORDS | MADE_UP))
    assert "&id" not in result.stdout
    assert documents == crds_of(project)


def test_json(project: Project) -> None:
    assert json.loads(run("--output", "json").stdout)["items"] == crds_of(project)


def test_the_same_twice(project: Project) -> None:
    assert run().stdout == run().stdout


def test_a_stack_that_is_not_there(project: Project) -> None:
    with pytest.raises(LoadError) as caught:
        crds_of(project, "dve")
    assert caught.value.problems[0].fix == "did you mean 'dev'?"
    assert run("--stack", "dve").exit_code == 1


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        pytest.param({"group": None}, "spec.group", id="no-group"),
        pytest.param({"names": {"plural": "databases"}}, "spec.names.kind", id="no-kind"),
        pytest.param({"names": {"kind": "Database"}}, "spec.names.plural", id="no-plural"),
        pytest.param({"names": None}, "spec.names.kind", id="no-names"),
        pytest.param({"versions": []}, "spec.versions", id="no-versions"),
        pytest.param({"versions": [{"served": True}]}, "spec.versions", id="a-version-without-a-name"),
        pytest.param({"versions": "v1"}, "spec.versions", id="versions-that-are-no-list"),
    ],
)
def test_a_given_definition_that_cannot_be_read(tmp_path: Path, changes: dict[str, Any], path: str) -> None:
    project = Project(write_files(tmp_path, {**FILES, **given(**changes)}))
    with pytest.raises(CatalogError) as caught:
        project.catalog()
    [problem] = caught.value.problems
    assert (problem.path, bool(problem.fix)) == (path, True)


def test_what_a_stack_brings_itself_is_not_installed_for_it(tmp_path: Path) -> None:
    crd = crds.permissive_crd("gadgets.example.org/v1", "Gadget", namespaced=False, managed=False)
    gadget = {"apiVersion": "gadgets.example.org/v1", "kind": "Gadget", "metadata": {"name": "one"}}
    files = {"stacks/dev/resources/g.yaml": yaml.safe_dump_all([crd, gadget]), "stacks/dev/claims/.keep": ""}
    write_files(tmp_path, {"components/.keep": "", **files})
    assert "gadgets.gadgets.example.org" not in {c["metadata"]["name"] for c in crds_needed(tmp_path)}


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param({"apiVersion": "storage.example.org/v1", "kind": "Bucket", "name": "old"}, id="object"),
        pytest.param({"type": "postgresql:Database", "id": "old", "template": "database"}, id="native"),
    ],
)
def test_a_claim_may_name_an_existing_resource(reference: dict[str, str]) -> None:
    crd = definitions.claim_crd("database.example.org/v1alpha1", "Database")
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found = schema["properties"]["spec"]["properties"]["resourceRef"]
    assert list(schemas.check(reference, found, document=None)) == []
    assert list(schemas.check({**reference, "nmae": "x"}, found, document=None))
