"""Native children in explanations: their options, what they take from siblings, and where each property is from."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.cli.app import app
from claimsmith.tools.explain import Explanation
from claimsmith.tools.explain.children import ExplainedChild
from claimsmith.tools.explain.project import explanations, trace
from claimsmith.tools.explain.text import explanation_text, trace_text
from tests.support import json_schemas
from tests.support.native_plans import CONFIG_MAP, DATABASE, PASSWORD, ROLE, native, native_project
from tests.support.samples import claim_data, class_ref

URN = "urn:pulumi:dev::shop::claimsmith:database.example.org:Database"


def explained(root: Path) -> Explanation:
    [found] = explanations(native_project(root), "dev", "orders")
    return found


def child(root: Path, name: str) -> ExplainedChild:
    return next(c for c in explained(root).children if c.template == name)


def test_a_native_child_has_a_type_and_its_own_urn(tmp_path: Path) -> None:
    role = child(tmp_path, "role")
    assert (role.kind, role.type, role.api_version) == ("Role", "postgresql:index/role:Role", "")
    assert role.urn == f"{URN}$postgresql:index/role:Role::default-orders-role"


def test_the_text_names_type_options_and_siblings(tmp_path: Path) -> None:
    text = explanation_text(explained(tmp_path))
    assert "role: Role default-orders-role (postgresql:index/role:Role)" in text
    assert "reference: properties.password ${password.result}: known once password exists" in text
    assert "reference: properties.owner ${role.name}: known once role exists" in text
    assert "options: deleted with the claim; provider main" in text
    assert "applied: spec.connections 5 → properties.connectionLimit 5" in text


def test_connection_details_are_listed_without_a_secret(tmp_path: Path) -> None:
    text = explanation_text(explained(tmp_path))
    assert "connection details: in the stack's output" in text
    assert "from database (Database): database (its outputs.name), host (the stack's setting postgresql:host)" in text
    assert "from role (Role): username (its outputs.name)" in text


def test_a_selector_is_found_at_its_own_line(tmp_path: Path) -> None:
    project = native_project(tmp_path)
    [reference] = child(tmp_path, "database").references
    line = (project.root / "components/native/class.yaml").read_text().splitlines()[reference.where.line - 1]
    assert "matchComposite" in line or "ownerSelector" in line


OPTIONS = {
    "additionalSecretOutputs": ["id"],
    "customTimeouts": {"create": "20m"},
    "deleteBeforeReplace": True,
    "dependsOn": ["password"],
    "ignoreChanges": ["prefix"],
    "import": "x",
    "protect": True,
    "replaceOnChanges": ["length"],
    "retainOnDelete": True,
}


def test_every_option_is_named(tmp_path: Path) -> None:
    [found] = explanations(native_project(tmp_path, PASSWORD, native("pet", options=OPTIONS)), "dev", "orders")
    assert found.children[1].options == (
        "kept when the claim ends",
        "protected: the engine refuses to delete it",
        "takes over the existing x",
        "after password",
        "changes ignored: prefix",
        "replaced on a change of length",
        "secret: id",
        "up to 20m to create",
        "deleted before it is replaced",
    )


@pytest.mark.parametrize(
    ("child", "path", "steps"),
    [
        pytest.param("role", "properties.login", [("base", "written in the class")], id="a-literal"),
        pytest.param("role", "properties.name", [("patch", "applied")], id="a-patch"),
        pytest.param(
            "role",
            "properties.password",
            [("base", "written in the class"), ("reference", "${password.result}: known once password exists")],
            id="an-output-of-a-sibling",
        ),
        pytest.param(
            "database",
            "properties.owner",
            [("base", "written in the class"), ("reference", "${role.name}: known once role exists")],
            id="a-selector",
        ),
        pytest.param(
            "role",
            "type",
            [("base", "written in the class"), ("identity", "the type's full name for the engine")],
            id="the-type",
        ),
        pytest.param(
            "role",
            "metadata.name",
            [("identity", "the names of the claim's namespace, the claim and the template")],
            id="the-name",
        ),
        pytest.param("role", "options.provider", [("base", "written in the class")], id="an-option"),
    ],
)
def test_where_a_field_is_from(child: str, path: str, steps: list[tuple[str, str]], tmp_path: Path) -> None:
    found = trace(native_project(tmp_path), "dev", "orders", child=child, field=path)
    assert [(s.by, s.what) for s in found.steps] == steps
    assert trace_text(found)


def test_what_a_claim_takes_over_is_explained(tmp_path: Path) -> None:
    claim = claim_data("orders", classRef=class_ref("native"))
    claim["metadata"]["annotations"] = {"claimsmith.io/import": "database=orders"}
    project = native_project(tmp_path, claims=[claim])
    found = trace(project, "dev", "orders", child="database", field="options.import")
    assert [(s.by, s.what, s.value) for s in found.steps] == [("identity", "taken over for the claim", "orders")]


def test_outputs_of_native_siblings_in_a_kubernetes_object(tmp_path: Path) -> None:
    config = {"name": "config", "base": {**CONFIG_MAP, "data": {"password": "p=${password.result}"}}}
    found = trace(native_project(tmp_path, PASSWORD, config), "dev", "orders", child="config", field="data.password")
    assert [s.by for s in found.steps] == ["base", "reference"]


def test_the_command_prints_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(native_project(tmp_path, PASSWORD, ROLE, DATABASE).root)
    result = CliRunner().invoke(app, ["explain", "dev", "orders", "--output", "json"])
    assert result.exit_code == 0, result.output
    [claim] = json_schemas.answer(["explain"], result.stdout)["claims"]
    assert [c["type"] for c in claim["children"]] == [
        "random:index/randomPassword:RandomPassword",
        "postgresql:index/role:Role",
        "postgresql:index/database:Database",
    ]


def test_an_existing_resource_is_read_and_stays(tmp_path: Path) -> None:
    data = claim_data("orders", classRef=class_ref("native"), resourceRef={"type": "postgresql:Database", "id": "old"})
    project = native_project(tmp_path, claims=[data])
    [found] = explanations(project, "dev", "orders")
    text = explanation_text(found)
    assert "reads the existing old, which stays as it is when the claim ends; provider main" in text
    assert "from database (Database): database (its outputs.name), host (the stack's setting postgresql:host)" in text
    traced = trace_text(trace(project, "dev", "orders", child="database", field="get.id"))
    assert "the existing resource that the claim names" in traced
    assert "stacks/dev/claims/claims.yaml:" in traced
