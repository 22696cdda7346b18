"""Where a stack can be cut, and what its files become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import ComposeError, DeployError, LoadError, ToolchainError
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools.shard import cut
from claimsmith.tools.shard import stack as sharding
from tests.support.native_plans import native_plan
from tests.support.samples import NETWORK, SHARED, claim_data, class_ref, contents, write_files

GIVEN = {**NETWORK, "metadata": {"name": "old", "labels": {"shared": "yes"}}}
KIND = "Database.database.example.org"


def claim(name: str, namespace: str, klass: str, team: str = "") -> dict[str, Any]:
    made = claim_data(name, namespace=namespace, classRef=class_ref(klass))
    made["metadata"] |= {"labels": {"team": team}} if team else {}
    return made


def project(root: Path, claims: list[dict[str, Any]], *, given: bool = False, stacks: tuple[str, ...] = ()) -> Project:
    files: dict[str, str | bytes] = {
        "Pulumi.yaml": "name: test\n",
        "components/x/class.yaml": yaml.safe_dump_all(SHARED),
        "stacks/Pulumi.dev.yaml": "encryptionsalt: v1:x\nconfig:\n  a:b: c\n  a:s: {main: {x: [{secure: v1:y}]}}\n",
        "stacks/dev/claims/claims.yaml": yaml.safe_dump_all(claims),
        "stacks/dev/resources/given.yaml": yaml.safe_dump_all([GIVEN] if given else []),
        **{f"stacks/{s}/claims/.keep": "" for s in stacks},
    }
    write_files(root, files)
    ran = CliRunner().invoke(app, ["-C", str(root), "bind", "dev"])
    assert ran.exit_code == 0, ran.output
    return Project(root)


def found(made: Project, key: cut.Key) -> dict[str, list[str]]:
    """The claims of each stack after the cut, by their places."""
    result = cut.cut(made.plan("dev"), key)
    parts = {p.stack: [c.binding.claim.key.place for c in p.claims] for p in result.parts}
    return {**parts, "dev": [c.binding.claim.key.place for c, _ in result.stays]}


NETS = [claim("n1", "a", "net", "red"), claim("n2", "a", "net", "blue"), claim("n3", "b", "net", "red")]


@pytest.mark.parametrize(
    ("claims", "key", "want"),
    [
        pytest.param(NETS, cut.by_namespace, {"dev-a": ["a/n1", "a/n2"], "dev-b": ["b/n3"], "dev": []}, id="namespace"),
        pytest.param(
            [*NETS, claim("n4", "a", "net")],
            cut.by_label("team"),
            {"dev-blue": ["a/n2"], "dev-red": ["a/n1", "b/n3"], "dev": ["a/n4"]},
            id="label-and-one-without",
        ),
        pytest.param(
            [claim("sub", "a", "sub"), claim("net", "b", "net"), claim("alone", "b", "sub")],
            cut.by_namespace,
            {"dev-b": ["b/net", "a/sub", "b/alone"], "dev": []},
            id="a-reference-keeps-together-and-most-decide",
        ),
        pytest.param(
            [claim("sub", "a", "sub", "x"), claim("net", "b", "net")],
            cut.by_label("team"),
            {"dev-x": ["b/net", "a/sub"], "dev": []},
            id="what-says-nothing-follows",
        ),
    ],
)
def test_cut(tmp_path: Path, claims: list[dict[str, Any]], key: cut.Key, want: dict[str, list[str]]) -> None:
    assert found(project(tmp_path, claims), key) == want


def test_a_claim_for_an_existing_native_resource_stays() -> None:
    existing = {"type": "postgresql:Database", "id": "old"}
    [claim] = (plan := native_plan(resourceRef=existing)).claims
    reason = "it claims postgresql:index/database:Database old, which is there already"
    assert cut.cut(plan, cut.by_namespace).stays == ((claim, reason),)


def test_who_goes_with_others_is_told(tmp_path: Path) -> None:
    made = project(tmp_path, [claim("sub", "a", "sub"), claim("net", "b", "net"), claim("more", "b", "sub")])
    result = cut.cut(made.plan("dev"), cut.by_namespace)
    assert [(c.address, other) for c, other in result.joined] == [(f"{KIND}/a/sub", f"{KIND}/b/net")]


@pytest.mark.usefixtures("undeployed")
def test_what_is_given_stays_and_is_referred_to(tmp_path: Path) -> None:
    made = project(tmp_path, [claim("one", "a", "sub"), claim("two", "b", "sub")], given=True)
    result = sharding.look(made, "dev", cut.by_namespace)
    assert [(p.stack, p.shared) for p in result.cut.parts] == [
        ("dev-a", ("Network.compute.gcp.crossplane.io/old",)),
        ("dev-b", ("Network.compute.gcp.crossplane.io/old",)),
    ]
    shared = yaml.safe_load(result.files["stacks/dev-a/resources/shared.yaml"])
    assert shared["metadata"]["annotations"] == {"claimsmith.io/given-by": "dev"}


@pytest.mark.usefixtures("undeployed")
def test_the_data_of_the_environment_goes_along(tmp_path: Path) -> None:
    made = project(tmp_path, NETS)
    environment = {
        "apiVersion": "apiextensions.crossplane.io/v1beta1",
        "kind": "EnvironmentConfig",
        "metadata": {"name": "here"},
        "data": {"region": "eu"},
    }
    write_files(tmp_path, {"Pulumi.yaml": "name: test\n", "stacks/dev/resources/env.yaml": yaml.safe_dump(environment)})
    files = sharding.look(made, "dev", cut.by_namespace).files
    assert [yaml.safe_load(files[f"stacks/{s}/resources/environments.yaml"]) for s in ("dev-a", "dev-b")] == [
        environment
    ] * 2


@pytest.mark.usefixtures("undeployed")
def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    made = project(tmp_path, NETS, stacks=("dev-a",))
    with pytest.raises(ComposeError) as caught:
        sharding.look(made, "dev", cut.by_namespace)
    assert "there is a stack 'dev-a' already" in caught.value.problems[0].what
    assert caught.value.problems[0].fix


@pytest.mark.parametrize("team", ["../../x", "a/b", "a b", "ü"])
def test_what_cannot_name_a_stack_is_refused(tmp_path: Path, team: str) -> None:
    made = project(tmp_path, NETS)
    with pytest.raises(ComposeError) as caught:
        cut.cut(made.plan("dev"), lambda _: team)
    assert "cannot be the name of a stack" in caught.value.problems[0].what
    assert caught.value.problems[0].fix


@pytest.fixture
def undeployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "_moves", lambda *_: {})


@pytest.mark.usefixtures("undeployed")
def test_files_are_cut_and_nothing_is_lost(tmp_path: Path) -> None:
    made = project(tmp_path, [*NETS, claim("sub", "b", "sub")], given=True)
    before = {r.claim: r for r in made.records("dev")}
    documents = {c: made.plan("dev").claims for c in before}
    shown = contents(tmp_path)
    result = sharding.look(made, "dev", cut.by_namespace)
    assert contents(tmp_path) == shown, "looking changes nothing"
    assert result.notes == (
        "copy the secret setting: pulumi config cp a:s --stack dev --dest dev-a",
        "copy the secret setting: pulumi config cp a:s --stack dev --dest dev-b",
    )
    sharding.shard(made, "dev", cut.by_namespace)

    after = Project(tmp_path)
    assert after.stacks() == ["dev", "dev-a", "dev-b"]
    assert after.records("dev") == []
    assert (tmp_path / "stacks/Pulumi.dev-a.yaml").read_text() == "config:\n  a:b: c\n"
    moved = {r.claim: r for s in ("dev-a", "dev-b") for r in after.records(s)}
    assert {(r.uid, r.klass, r.digest, str(r.picks), r.stack) for r in moved.values()} == {
        (r.uid, r.klass, r.digest, str(r.picks), "dev") for r in before.values()
    }
    owners = {c.identity.owner for s in ("dev-a", "dev-b") for c in after.plan(s).claims}
    assert owners == {c.identity.owner for c in documents[next(iter(documents))]}
    for stack in ("dev", "dev-a", "dev-b"):
        ran = CliRunner().invoke(app, ["-C", str(tmp_path), "bind", stack, "--check"])
        assert ran.exit_code == 0, ran.output


@pytest.mark.usefixtures("undeployed")
@pytest.mark.parametrize(
    ("claims", "key"),
    [
        pytest.param(NETS, cut.by_namespace, id="to-two-stacks"),
        pytest.param([NETS[0], claim("n4", "a", "net")], cut.by_label("team"), id="one-stays"),
    ],
)
def test_the_items_of_a_list_are_not_torn_apart(tmp_path: Path, claims: list[dict[str, Any]], key: cut.Key) -> None:
    made = project(tmp_path, claims)
    [file] = (tmp_path / "stacks/dev/claims").iterdir()
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": claims}), encoding="utf-8")
    with pytest.raises(LoadError) as caught:
        sharding.look(made, "dev", key)
    assert "in one document" in caught.value.problems[0].what
    assert caught.value.problems[0].fix


@pytest.mark.usefixtures("undeployed")
def test_a_cut_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, stopped = project(tmp_path / "whole", NETS), project(tmp_path / "stopped", NETS)
    sharding.shard(whole, "dev", cut.by_namespace)
    monkeypatch.setattr(sharding, "_remember_cluster", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sharding.shard(stopped, "dev", cut.by_namespace)
    monkeypatch.undo()
    monkeypatch.setattr(sharding, "_moves", lambda *_: {})
    sharding.shard(stopped, "dev", cut.by_namespace)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


@pytest.mark.usefixtures("undeployed")
def test_claims_that_come_later_join_their_part(tmp_path: Path) -> None:
    made = project(tmp_path, NETS)
    sharding.shard(made, "dev", cut.by_namespace)
    write_files(tmp_path, {"stacks/dev/claims/claims.yaml": yaml.safe_dump(claim("late", "a", "net"))})
    assert CliRunner().invoke(app, ["-C", str(tmp_path), "bind", "dev"]).exit_code == 0
    sharding.shard(Project(tmp_path), "dev", cut.by_namespace)
    assert [c.address for c in Project(tmp_path).plan("dev-a").claims] == [
        f"{KIND}/a/n1",
        f"{KIND}/a/n2",
        f"{KIND}/a/late",
    ]


def exported(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    def export(*_: object) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(workspace, "export_state", export)


def test_a_stack_that_was_never_made_has_no_state_to_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exported(monkeypatch, workspace.unreadable("dev", "error: no stack named 'dev' found"))
    assert sharding.look(project(tmp_path, NETS), "dev", cut.by_namespace).moves == {}


def test_what_the_state_holds_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urns = [f"urn:pulumi:dev::test::claimsmith:database.example.org:Database::{place}" for place in ("a/n1", "b/n3")]
    exported(monkeypatch, {"deployment": {"resources": [{"urn": urn} for urn in urns]}})
    moves = sharding.look(project(tmp_path, NETS), "dev", cut.by_namespace).moves
    assert moves == {"dev-a": (urns[0],), "dev-b": (urns[1],)}


PENDING = {"deployment": {"pending_operations": [{"type": "creating", "resource": {"urn": "u"}}]}}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(workspace.unreadable("dev", "error: incorrect passphrase"), DeployError, id="unreadable-state"),
        pytest.param(PENDING, DeployError, id="interrupted-run"),
        pytest.param(ToolchainError("no engine"), ToolchainError, id="no-engine"),
    ],
)
def test_a_state_that_cannot_be_moved_is_no_reason_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, error: type[Exception]
) -> None:
    made = project(tmp_path, NETS)
    before = contents(tmp_path)
    exported(monkeypatch, answer)
    with pytest.raises(error):
        sharding.shard(made, "dev", cut.by_namespace)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("a: 1\n", [(1, "a: 1\n")], id="one"),
        pytest.param("# head\na: 1\n---\n# two\nb: 2\n", [(1, "# head\na: 1\n"), (4, "# two\nb: 2\n")], id="comments"),
        pytest.param("---\na: 1\n---\n---\nb: 2\n", [(2, "a: 1\n"), (5, "b: 2\n")], id="leading-and-empty"),
        pytest.param("a: |\n  ---x\n--- # b\nb: 2", [(1, "a: |\n  ---x\n"), (4, "b: 2")], id="within-text"),
    ],
)
def test_documents_as_they_are_written(text: str, want: list[tuple[int, str]]) -> None:
    assert sharding._documents(text) == want
