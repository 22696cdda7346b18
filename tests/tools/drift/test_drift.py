from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith import toolchain
from claimsmith.base.absent import ABSENT
from claimsmith.cli.app import app
from claimsmith.cli.queries import _drift_text
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools.drift.changes import MASKED, Drift, drift_of, with_places
from tests.support.refusal_files import FILES
from tests.support.samples import write_files

STACK = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"
CLAIM = "urn:pulumi:dev::p::claimsmith:database.example.org:Database::default/sql"
INNER = (
    "urn:pulumi:dev::p::claimsmith:database.example.org:Database$claimsmith:data.example.org:Store::default/sql/store"
)


def urn_of(parent: str, kind: str, word: str) -> str:
    head, types, name = parent.rsplit("::", 2)
    return f"{head}::{types}${kind}::{name}/{word}" if parent != STACK else f"{head}::{kind}::{word}"


def component(urn: str, parent: str) -> dict[str, Any]:
    return {"op": "refresh", "urn": urn, "oldState": {"urn": urn, "parent": parent}}


def step(
    parent: str, word: str, op: str, old: Any, new: Any = None, *, kind: str = "Group", **more: Any
) -> dict[str, Any]:
    """A step of the engine's preview; `old` and `new` are specs."""
    urn = urn_of(parent, f"kubernetes:azure.example.org/v1:{kind}", word)
    states = {
        key: {
            "custom": True,
            "parent": parent,
            "inputs": {"kind": kind, "metadata": {"name": f"n-{word}"}, **inputs},
            "outputs": {},
        }
        for key, inputs in (("oldState", old), ("newState", new))
        if inputs is not None
    }
    return {"op": op, "urn": urn, "provider": "k", **states, "detailedDiff": None, **more}


def drifted(*steps: dict[str, Any]) -> Drift:
    parts = [component(STACK, ""), component(CLAIM, STACK), component(INNER, CLAIM)]
    return drift_of("dev", {"steps": [*parts, *steps]})


def diff(*paths: str) -> dict[str, Any]:
    return {"detailedDiff": {path: {"kind": "update"} for path in paths}}


MANAGER = {"annotations": {"pulumi.com/patchFieldManager": "claimsmith-p-dev"}}
OWNED = {"annotations": {**MANAGER["annotations"], "claimsmith.io/controller-owned": "spec.a, spec.rules"}}


def taken(op: str, *, metadata: dict[str, Any] | None = None, old: Any, new: Any, **more: Any) -> dict[str, Any]:
    """A step whose field `spec.rules` the simulated cloud has written."""
    inputs = {"metadata": {"name": "n-group", **(metadata or {})}, "spec": {"rules": old}}
    made = step(CLAIM, "group", op, inputs, inputs, **more)
    fields = [{"manager": "cloud", "fieldsV1": {"f:spec": {"f:rules": {}}}}]
    made["newState"]["outputs"] = {"metadata": {"managedFields": fields}, "spec": {"rules": new}}
    return made


RULES, MORE = [{"port": 80}], [{"port": 80, "text": "x"}]


@pytest.mark.parametrize(
    ("steps", "want"),
    [
        pytest.param(
            [taken("refresh", metadata=MANAGER, old=RULES, new=MORE)],
            [("spec.rules", RULES, MORE, "cloud")],
            id="inside-a-list",
        ),
        pytest.param(
            [taken("update", metadata=MANAGER, old=RULES, new=[{"port": 81}], **diff("spec.rules[0].port"))],
            [("spec.rules[0].port", 80, 80, "cloud")],
            id="told-by-the-engine-too",
        ),
        pytest.param([taken("refresh", metadata=MANAGER, old=RULES, new=RULES)], [], id="as-we-wrote-it"),
        pytest.param([taken("refresh", metadata=OWNED, old=RULES, new=MORE)], [], id="handed-over"),
        pytest.param([taken("refresh", old=RULES, new=MORE)], [], id="not-ours-to-write"),
        pytest.param([taken("refresh", metadata=MANAGER, old=["[secret]"], new=["a", "b"])], [], id="a-secret"),
    ],
)
def test_fields_that_somebody_else_writes_now(steps: list[dict[str, Any]], want: list[tuple[Any, ...]]) -> None:
    fields = [f for c in drifted(*steps).claims for r in c.resources for f in r.fields]
    assert [(f.path, f.old, f.new, f.managers) for f in fields] == want


@pytest.mark.parametrize(
    ("steps", "restored", "kept"),
    [
        pytest.param([("refresh", MORE, {})], False, True, id="inside-a-list"),
        pytest.param([("update", [{"port": 81}], diff("spec.rules[0].port"))], True, False, id="seen-by-the-engine"),
    ],
)
def test_only_what_a_refresh_restores_is_said_to_be_restored(
    steps: list[tuple[str, Any, dict[str, Any]]], *, restored: bool, kept: bool
) -> None:
    """The engine reads back only what was sent: an item's added field is no difference to it."""
    drift = drifted(*(taken(op, metadata=MANAGER, old=RULES, new=new, **more) for op, new, more in steps))
    text = _drift_text(drift)
    assert ("--refresh" in text, "no refresh restores spec.rules of Group n-group" in text) == (restored, kept)
    assert "PULUMI_K8S_ENABLE_PATCH_FORCE=true pulumi up --stack dev" in text


SQL = "Database.database.example.org/default/sql"
WEST, NORTH = {"spec": {"location": "West"}}, {"spec": {"location": "North"}}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([step(CLAIM, "group", "refresh", WEST, WEST)], [], id="as-it-was"),
        pytest.param(
            [step(CLAIM, "group", "update", WEST, NORTH, **diff("spec.location"))],
            [(SQL, "group", "changed", [("spec.location", "West", "North")])],
            id="a-field",
        ),
        pytest.param(
            [step(CLAIM, "group", "update", WEST, NORTH)],
            [(SQL, "group", "changed", [("spec.location", "West", "North")])],
            id="told-from-the-documents",
        ),
        pytest.param(
            [step(CLAIM, "group", "update", WEST, {"spec": {}}, **diff("spec.location", "__inputs.spec"))],
            [(SQL, "group", "changed", [("spec.location", "West", ABSENT)])],
            id="a-field-that-is-gone",
        ),
        pytest.param(
            [step(CLAIM, "group", "delete", WEST)],
            [(SQL, "group", "gone", [])],
            id="a-resource-that-is-gone",
        ),
        pytest.param(
            [step(INNER, "server", "delete", WEST)],
            [(SQL, "store/server", "gone", [])],
            id="within-a-composite",
        ),
        pytest.param(
            [step(STACK, "network", "delete", WEST)], [("given as they are", "network", "gone", [])], id="of-no-claim"
        ),
        pytest.param(
            [step(CLAIM, "group", "update", {"metadata": {"name": "g", "annotations": {"a.b/c": "1"}}},
                  {"metadata": {"name": "g", "annotations": {"a.b/c": "2"}}}, **diff('metadata.annotations["a.b/c"]'))],
            [(SQL, "group", "changed", [("metadata.annotations[a.b/c]", "1", "2")])],
            id="a-key-with-dots",
        ),
    ],
)  # fmt: skip
def test_drift_by_claim(steps: list[dict[str, Any]], expected: list[Any]) -> None:
    found = [
        (c.claim, r.child, r.change, [(f.path, f.old, f.new) for f in r.fields])
        for c in drifted(*steps).claims
        for r in c.resources
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param({"data": "[secret]"}, {"data": "[secret]"}, id="masked-by-the-engine"),
        pytest.param({"data": {"password": "[secret]"}}, {"data": {"password": "[secret]"}}, id="each-key-masked"),
        pytest.param({"data": {"password": "old"}}, {"data": {"password": "new"}}, id="not-masked-at-all"),
    ],
)
def test_secrets_are_masked(old: dict[str, Any], new: dict[str, Any]) -> None:
    found = drifted(step(CLAIM, "connection", "update", old, new, kind="Secret", **diff("data.password")))
    [field] = found.claims[0].resources[0].fields
    assert (field.old, field.new) == (MASKED, MASKED)


def test_a_secret_field_of_another_kind_is_masked() -> None:
    old, new = {"spec": {"password": "[secret]"}}, {"spec": {"password": "[secret]"}}
    [field] = drifted(step(CLAIM, "g", "update", old, new, **diff("spec.password"))).claims[0].resources[0].fields
    assert (field.old, field.new) == (MASKED, MASKED)


# The command


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A project, and an engine that prints a fixed answer."""
    monkeypatch.chdir(write_files(tmp_path, FILES))
    monkeypatch.setattr(toolchain, "require", lambda *_: None)
    monkeypatch.setattr(workspace, "environment", lambda *_: {})

    def says(out: str, err: str = "", code: int = 0) -> None:
        done = subprocess.CompletedProcess([], code, out, err)
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)

    return says


PLAIN = {"steps": [component(STACK, ""), component(CLAIM, STACK)]}
GROUP = step(CLAIM, "resource-group", "update", WEST, NORTH, kind="ResourceGroup", **diff("spec.location"))


@pytest.mark.parametrize(
    ("steps", "code", "words"),
    [
        pytest.param([], 0, "no drift: 0 resources of dev", id="none"),
        pytest.param([GROUP], 10, 'spec.location: "West" → "North"  [components/x/class.yaml:18]', id="some"),
    ],
)
def test_exit_codes_and_words(engine: Any, steps: list[Any], code: int, words: str) -> None:
    engine(json.dumps({"steps": [*PLAIN["steps"], *steps]}))
    result = CliRunner().invoke(app, ["drift", "dev"])
    assert (result.exit_code, result.stderr) == (code, "")
    assert words in result.stdout


def test_json(engine: Any) -> None:
    engine(json.dumps({"steps": [*PLAIN["steps"], GROUP]}))
    answer = json.loads(CliRunner().invoke(app, ["drift", "dev", "--output", "json"]).stdout)
    assert (answer["drift"], answer["lookedAt"]) == (True, 1)
    where = answer["claims"][0]["resources"][0]["fields"][0]["where"]
    assert where == {"file": "components/x/class.yaml", "line": 18, "column": 7}


@pytest.mark.parametrize(
    ("out", "err", "words"),
    [
        pytest.param("", "error: no stack named 'dev' found", "no stack named 'dev' found", id="stderr"),
        pytest.param(
            json.dumps({"diagnostics": [{"severity": "error", "message": "unreachable"}]}), "", "unreachable", id="json"
        ),
        pytest.param("broken", "", "broken", id="no-json"),
    ],
)
def test_an_engine_that_cannot_tell(engine: Any, out: str, err: str, words: str) -> None:
    engine(out, err, 255)
    result = CliRunner().invoke(app, ["drift", "dev"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr
    assert "fix: " in result.stderr


def test_drift_is_told_though_the_files_cannot_be_read(engine: Any) -> None:
    Path("components/x/class.yaml").write_text("a: [", encoding="utf-8")
    engine(json.dumps({"steps": [*PLAIN["steps"], GROUP]}))
    result = CliRunner().invoke(app, ["drift", "dev"])
    assert (result.exit_code, '"West" → "North"' in result.stdout) == (10, True)


def test_a_stack_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    assert Project(tmp_path).stacks() == ["dev"]
    assert CliRunner().invoke(app, ["drift", "dve"]).exit_code == 1


def test_native_resources_are_named_by_their_templates() -> None:
    head, types, _ = CLAIM.rsplit("::", 2)
    urn = f"{head}::{types}$postgresql:index/database:Database::default-sql-database"
    # Properties may be called as those of Kubernetes objects are.
    inputs = {"kind": "x", "metadata": "y", "connectionLimit": 20}
    old = {"custom": True, "parent": CLAIM, "id": "sql", "inputs": inputs, "outputs": inputs}
    new = {**old, "inputs": {**inputs, "connectionLimit": 7}}
    step_ = {"op": "update", "urn": urn, "provider": "p", "oldState": old, "newState": new, **diff("connectionLimit")}
    (claim,) = drifted(step_).claims
    (resource,) = claim.resources
    assert (resource.child, resource.kind, resource.name) == ("database", "Database", "sql")
    paths: list[tuple[str, str, str]] = []
    with_places(drifted(step_), lambda *place: paths.append(place))
    assert paths == [("Database.database.example.org/default/sql", "database", "properties.connectionLimit")]
