"""Objects as `kubectl get -o yaml` gives them: read as if nobody had added anything, alone or as a list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith import render
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError
from claimsmith.cli.app import app
from claimsmith.compose.planning import build_plan
from claimsmith.dialects.common.bindable import read_bindable
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project.load import load
from tests.support import samples
from tests.support.golden_cases import FOLDER, GOOD, Case, each
from tests.support.paths import ROOT

CLUSTER: dict[str, Any] = {
    "creationTimestamp": "2024-01-01T00:00:00Z",
    "generation": 3,
    "resourceVersion": "4711",
    "selfLink": "/apis/example.org/v1/things/thing",
    "managedFields": [{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {}}}],
    "finalizers": ["composite.apiextensions.crossplane.io"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Thing", "name": "thing", "uid": "1"}],
    "generateName": "thing-",
}
"""What an API server and controllers add to the metadata of every object, or of some."""
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
STATUS = {"conditions": [{"type": "Ready", "status": "True", "reason": "Available"}]}


def exported(data: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An object as the cluster gives it; a document that is no object of a cluster has no metadata, and stays."""
    if "metadata" not in data:
        return data
    metadata = data["metadata"]
    annotations = {**(metadata.get("annotations") or {}), APPLIED: json.dumps(data)}
    return {**data, "metadata": {**metadata, **CLUSTER, "annotations": annotations, **more}, "status": STATUS}


def as_list(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several objects as kubectl prints them."""
    return [{"apiVersion": "v1", "items": documents, "kind": "List", "metadata": {"resourceVersion": ""}}]


def made(tmp_path: Path, platform: list[dict[str, Any]], claims: list[dict[str, Any]], case: Case) -> str:
    """What a stack makes of documents that are read from files."""
    for name, documents in (("platform", platform), ("claims", claims)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")
    read = [load([tmp_path / f"{name}.yaml"], root=tmp_path) for name in ("platform", "claims")]
    found = samples.expanded(read_catalog(*read), project="golden")
    return render.render(build_plan(found, project="golden", stack="dev", table=case.table))


def data_of(case: Case, name: str) -> list[dict[str, Any]]:
    return [d.data for d in read_documents((FOLDER / case.name / name).read_text(encoding="utf-8"), file=name)]


@pytest.mark.parametrize("case", each(GOOD))
def test_exported_objects_make_the_same(tmp_path: Path, case: Case) -> None:
    platform = [exported(d, uid="42") for d in data_of(case, "platform.yaml")]
    claims = [exported(d) for d in data_of(case, "claim.yaml")]
    assert made(tmp_path, platform, claims, case) == case.rendered()
    assert made(tmp_path, as_list(platform), as_list(claims), case) == case.rendered()


def catalog_of(folder: Path, change: Any) -> Catalog:
    table = (ROOT / "engine" / "claimsmith" / "data" / "bindable.yaml").read_text(encoding="utf-8")
    parts = [
        [Document(change(d.data), d.file) for d in read_documents((folder / name).read_text("utf-8"), file=name)]
        for name in ("platform.yaml", "claims.yaml")
    ]
    return read_catalog(*parts, bindable=read_bindable(read_documents(table, file="bindable.yaml")))


DOCUMENTS = sorted((ROOT / "tests" / "documents").iterdir())


@pytest.mark.parametrize("folder", [pytest.param(f, id=f.name) for f in DOCUMENTS])
def test_every_dialect_reads_exported_objects(folder: Path) -> None:
    """The design documents' classes, definitions and claims."""
    plain, read = catalog_of(folder, lambda data: data), catalog_of(folder, exported)
    assert {k: c.digest() for k, c in read.classes.items()} == {k: c.digest() for k, c in plain.classes.items()}
    assert {k: c.data for k, c in read.claims.items()} == {k: c.data for k, c in plain.claims.items()}


def test_a_field_that_nobody_adds_is_still_refused() -> None:
    klass = samples.class_data(creationTimestap="2024-01-01T00:00:00Z")
    with pytest.raises(EngineError) as caught:
        samples.catalog_of([klass])
    assert caught.value.problems[0].path == "metadata.creationTimestap"


def test_a_composites_own_uid_counts() -> None:
    """The names of what it is composed of are derived from it: a composite that moves here keeps them."""
    [case] = [c for c in GOOD if c.name == "crossplane-selectors"]
    [claim] = data_of(case, "claim.yaml")
    documents = [samples.documents_of(*data_of(case, "platform.yaml")), samples.documents_of(exported(claim, uid="7"))]
    [binding] = samples.expanded(read_catalog(*documents)).bindings()
    assert binding.uid == "7"


# Lists


LIST = """\
# All of them.
apiVersion: v1
kind: List
items:
- apiVersion: infrastructure.crossplane.io/v1alpha1
  kind: CompositeResourceClass
  metadata: {name: a}
  spec: {claim: {apiVersion: example.org/v1, kind: A}, resources: []}
- apiVersion: infrastructure.crossplane.io/v1alpha1
  kind: CompositeResourceClass
  metadata:
    name: b
    nam: c
  spec: {claim: {apiVersion: example.org/v1, kind: B}, resources: [{base: {}}]}
"""


def test_an_item_of_a_list_knows_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text(LIST, encoding="utf-8")
    first, second = load([tmp_path / "list.yaml"], root=tmp_path)
    assert (first.data["metadata"], str(first.source_of())) == ({"name": "a"}, "list.yaml:5:3")
    assert str(second.source_of("metadata.nam")) == "list.yaml:13:5"
    with pytest.raises(EngineError) as caught:
        read_catalog([first, second])
    assert {str(p.where) for p in caught.value.problems} >= {"list.yaml:8:56", "list.yaml:13:5"}


@pytest.mark.parametrize(
    ("items", "count"),
    [
        pytest.param("[]", 0, id="empty"),
        pytest.param("null", 0, id="null"),
        pytest.param("[{apiVersion: v1, kind: List, items: [{kind: A}, {kind: B}]}, {kind: C}]", 3, id="nested"),
    ],
)
def test_lists(tmp_path: Path, items: str, count: int) -> None:
    (tmp_path / "list.yaml").write_text(f"apiVersion: v1\nkind: List\nitems: {items}\n", encoding="utf-8")
    assert len(load([tmp_path / "list.yaml"], root=tmp_path)) == count


@pytest.mark.parametrize("items", ["3", "[3]", "{a: b}"])
def test_lists_refused(tmp_path: Path, items: str) -> None:
    (tmp_path / "list.yaml").write_text(f"apiVersion: v1\nkind: List\nitems: {items}\n", encoding="utf-8")
    with pytest.raises(EngineError) as caught:
        load([tmp_path / "list.yaml"], root=tmp_path)
    assert caught.value.problems[0].path.startswith("items")
    assert caught.value.problems[0].fix


# Files of a composite and its composition


def test_render_of_exported_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [case] = [c for c in GOOD if c.name == "crossplane-database"]
    platform = {d["kind"]: d for d in data_of(case, "platform.yaml")}
    [claim] = data_of(case, "claim.yaml")
    printed = []
    for change in (lambda d: d, exported, lambda d: as_list([exported(d)])[0]):
        files = {
            "claim": claim,
            "composition": platform["Composition"],
            "xrd": platform["CompositeResourceDefinition"],
            "extra": platform["EnvironmentConfig"],
        }
        for name, data in files.items():
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(change(data)), encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        words = ["claim.yaml", "composition.yaml", "--xrd", "xrd.yaml", "--extra", "extra.yaml"]
        ran = CliRunner().invoke(app, ["render", *words])
        assert ran.exit_code == 0, ran.output
        printed.append(ran.stdout)
    assert printed[0] == printed[1] == printed[2]


def test_convert_takes_exported_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is converted is what somebody wrote."""
    folder = ROOT / "tests" / "documents" / "001"
    documents = [
        d.data
        for name in ("platform.yaml", "claims.yaml")
        for d in read_documents((folder / name).read_text(encoding="utf-8"), file=name)
    ]
    monkeypatch.chdir(tmp_path)
    printed = []
    for given in (documents, as_list([exported(d) for d in documents])):
        (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(given, sort_keys=False), encoding="utf-8")
        ran = CliRunner().invoke(app, ["convert", "all.yaml"])
        printed.append(ran.stdout)
    assert printed[0].count("kind: Composition\n")
    assert printed[0] == printed[1]
