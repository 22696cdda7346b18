from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import BindingError, CatalogError, EngineError
from claimsmith.cli.app import app
from claimsmith.project.project import Project
from claimsmith.tools.classes import classes
from tests.support.native_plans import native_project
from tests.support.platform_files import PLATFORM
from tests.support.refusal_files import klass
from tests.support.samples import write_files


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    monkeypatch.chdir(write_files(tmp_path, PLATFORM))
    return Project(tmp_path)


def run(*arguments: str):
    return CliRunner().invoke(app, ["classes", *arguments])


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("Database", [("small", "composite class", "", 0, ["ResourceGroup", "MySQLServer"])], id="001"),
        pytest.param(
            "RedisCluster.cache.crossplane.io",
            [
                ("together", "aggregate class", "", 0, ["CloudMemorystoreInstance"]),
                ("cheap", "class of its kind", "default", 0, ["CloudMemorystoreInstance"]),
                ("fast", "class of its kind", "", 10, ["CloudMemorystoreInstance"]),
            ],
            id="000-and-003",
        ),
        pytest.param("Site", [("site", "composition", "default", 0, ["ResourceGroup", "Store"])], id="002"),
        pytest.param(
            "StoreRequirement",
            [("stores.data.example.org", "publication", "published", 0, ["Store"])],
            id="002-requirement",
        ),
    ],
)
def test_offers(project: Project, kind: str, want: list[tuple[str, str, str, int, list[str]]]) -> None:
    [found] = classes(project, kind)
    rows = [o.to_dict() for o in found.offers]
    offered = [
        (r["name"], r["dialect"], r["default"] or "", r["weight"], o.makes)
        for r, o in zip(rows, found.offers, strict=True)
    ]
    assert offered == want


def test_a_kind_of_several_children_is_counted(tmp_path: Path) -> None:
    base = "  - base:\n      apiVersion: azure.crossplane.io/v1alpha3\n      kind: ResourceGroup\n      spec: {}\n"
    write_files(tmp_path, klass("  resources:\n", f"  resources:\n{base}"))
    [found] = classes(Project(tmp_path), "Database")
    assert found.offers[0].makes == ["2 × ResourceGroup", "MySQLServer"]


def test_a_forced_composition_is_told(project: Project, tmp_path: Path) -> None:
    text = str(PLATFORM["components/definitions/definitions.yaml"]).replace("defaultComposition", "forceComposition")
    write_files(tmp_path, {"components/definitions/definitions.yaml": text})
    [found] = classes(project, "Site")
    assert [o.default for o in found.offers] == ["forced"]


def test_a_defined_kind_that_nothing_composes_is_listed(project: Project, tmp_path: Path) -> None:
    (tmp_path / "components/site/composition.yaml").unlink()
    assert "Site.web.example.org               none yet" in run().stdout


def test_all_kinds_where_none_is_named(project: Project) -> None:
    result = run()
    kinds = [line.split()[0] for line in result.stdout.splitlines()[1:]]
    assert result.exit_code == 0
    assert kinds == sorted(kinds, key=lambda k: k.partition(".")[::-1])
    assert {k.partition(".")[0] for k in kinds} == {"Database", "RedisCluster", "Site", "Store", "StoreRequirement"}


def test_json(project: Project) -> None:
    [kind] = json.loads(run("Database", "--output", "json").stdout)["kinds"]
    [offer] = kind["classes"]
    assert kind["kind"] == "Database.database.example.org"
    assert offer["labels"] == {"tier": "gold"}
    assert offer["makes"][0] == {
        "template": "resource-group",
        "apiVersion": "azure.crossplane.io/v1alpha3",
        "kind": "ResourceGroup",
    }
    assert offer["where"] == {"file": "components/x/class.yaml", "line": 4, "column": 3}


def test_no_claims_are_needed(project: Project, tmp_path: Path) -> None:
    write_files(tmp_path, {"stacks/dev/claims/more.yaml": "not: [a, claim]\n"})
    assert run().exit_code == 0


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        pytest.param("Databse", "did you mean 'Database'?", id="a-slip"),
        pytest.param("Database.database.exmple.org", "did you mean 'Database.database.example.org'?", id="group"),
        pytest.param("Zebra", "the kinds that can be claimed are: ", id="nothing-like-it"),
    ],
)
def test_a_kind_that_nothing_serves(project: Project, kind: str, fix: str) -> None:
    with pytest.raises(CatalogError) as caught:
        classes(project, kind)
    assert caught.value.problems[0].fix.startswith(fix)
    assert run(kind).exit_code == 1


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        pytest.param(
            "labels: {tier: gold}",
            "annotations: {resourceclass.crossplane.io/weight: heavy}",
            BindingError,
            id="weight-that-is-no-number",
        ),
        pytest.param("kind: CompositeResourceClass", "kind: CompositeResorceClass", EngineError, id="unknown-kind"),
    ],
)
def test_broken_classes_are_refused(
    project: Project, tmp_path: Path, old: str, new: str, error: type[EngineError]
) -> None:
    write_files(tmp_path, klass(old, new))
    with pytest.raises(error) as caught:
        classes(project)
    assert caught.value.problems[0].fix


def test_a_class_of_native_resources(tmp_path: Path) -> None:
    [found] = classes(native_project(tmp_path), "Database")
    [offer] = found.offers
    assert offer.makes == ["RandomPassword", "Role", "Database"]
    assert offer.to_dict()["makes"][0] == {
        "template": "password",
        "type": "random:index/randomPassword:RandomPassword",
    }
