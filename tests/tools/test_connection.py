"""`claimsmith connection`: the details of one claim, or why there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import DeployError, EngineError
from claimsmith.base.names import ClaimKey
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.tools.connection import details_of
from tests.support import no_cluster_files as files
from tests.support.samples import write_files

OTHER = "Store.storage.example.org/default/files"
SECRET = {"namespace": "default", "name": "files-secret", "keys": ["a"]}
OUTPUTS: dict[str, Any] = {
    "claims": {files.ADDRESS: {"class": "X.g/small"}, OTHER: {"class": "X.g/bucket", "connectionSecret": SECRET}},
    "connections": {files.ADDRESS: {"password": "s3cret", "host": "db"}},
}


@pytest.mark.parametrize("name", [files.ADDRESS, "PostgreSQLDatabase/default/orders", "default/orders", "orders"])
def test_details_of(name: str) -> None:
    assert details_of(OUTPUTS, name, stack="dev") == {"password": "s3cret", "host": "db"}


@pytest.mark.parametrize(
    ("outputs", "claim", "what", "fix"),
    [
        pytest.param(OUTPUTS, "odrers", "no claim 'odrers'", "did you mean 'orders'?", id="misspelt"),
        pytest.param(OUTPUTS, "new", "is not deployed yet", "pulumi up --stack dev", id="not-deployed"),
        pytest.param({}, "new", "is not deployed yet", "pulumi up --stack dev", id="nothing-is-deployed"),
        pytest.param(
            OUTPUTS, "files", "are in the Secret default/files-secret", "kubectl get secret", id="in-a-cluster"
        ),
        pytest.param(
            {"claims": {files.ADDRESS: {"class": "X.g/small"}}},
            "orders",
            "has no connection details",
            "small",
            id="none",
        ),
        pytest.param(
            {**OUTPUTS, "connections": {files.ADDRESS: "[secret]"}},
            "orders",
            "does not show",
            "--show-secrets",
            id="masked",
        ),
    ],
)
def test_refusals(outputs: dict[str, Any], claim: str, what: str, fix: str) -> None:
    known = [ClaimKey.parse("Store.storage.example.org/default/new")]
    with pytest.raises(EngineError) as refused:
        details_of(outputs, claim, stack="dev", known=known)
    (problem,) = refused.value.problems
    assert what in problem.what
    assert fix in problem.fix


def state(name: str, outputs: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """The state of a run that failed: a stack without outputs, and a component as the engine keeps it."""
    stack = {"urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "type": "pulumi:pulumi:Stack"}
    kind = "claimsmith:database.example.org:PostgreSQLDatabase"
    component = {"urn": f"urn:pulumi:dev::shop::{kind}::{name}", "type": kind, "parent": stack["urn"], **more}
    return {"deployment": {"resources": [stack, component | ({} if outputs is None else {"outputs": outputs})]}}


BOUND = {"phase": "Bound", "resources": [], "connectionKeys": ["password"]}


@pytest.mark.parametrize(
    ("kept", "what", "fix"),
    [
        pytest.param(state("default/orders", BOUND), "failed before it exported", "run it again", id="healthy"),
        pytest.param(state("default/orders", {}), "deployed in part", "run it again", id="no-outputs"),
        pytest.param(state("default/orders", None), "deployed in part", "run it again", id="interrupted"),
        pytest.param(state("default/orders", BOUND, delete=True), "not deployed yet", "run first", id="to-be-deleted"),
        pytest.param(state("default/other", BOUND), "not deployed yet", "run first", id="another-claim"),
        pytest.param({"deployment": {}}, "not deployed yet", "run first", id="empty-state"),
    ],
)
def test_a_run_that_failed_exported_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, kept: dict[str, Any], what: str, fix: str
) -> None:
    monkeypatch.setattr(workspace, "stack_outputs", lambda *_, **__: {})
    monkeypatch.setattr(workspace, "export_state", lambda *_: kept)
    done = CliRunner().invoke(app, ["connection", "dev", "orders"])
    text = " ".join(done.output.split())
    assert done.exit_code == 1
    assert what in text
    assert f"{fix}: pulumi up --stack dev" in text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(workspace, "stack_outputs", lambda *_, show_secrets: OUTPUTS if show_secrets else {})
    monkeypatch.chdir(write_files(tmp_path, files.FILES))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        pytest.param([], "export HOST=db\nexport PASSWORD=s3cret\n", id="variables"),
        pytest.param(["--output", "json"], '{\n  "host": "db",\n  "password": "s3cret"\n}\n', id="json"),
        pytest.param(["--output", "yaml"], "host: db\npassword: s3cret\n", id="yaml"),
        pytest.param(["--format", "yaml"], "host: db\npassword: s3cret\n", id="the-older-flag"),
    ],
)
def test_printed(project: Path, arguments: list[str], want: str) -> None:
    done = CliRunner().invoke(app, ["connection", "dev", "orders", *arguments])
    assert (done.exit_code, done.stdout) == (0, want)


@pytest.mark.parametrize(
    ("name", "arguments", "want"),
    [
        pytest.param("out.json", [], '{\n  "host": "db",\n  "password": "s3cret"\n}\n', id="json"),
        pytest.param("out.yml", [], "host: db\npassword: s3cret\n", id="yaml"),
        pytest.param("out", [], "export HOST=db\nexport PASSWORD=s3cret\n", id="no-ending"),
        pytest.param("out.json", ["--output", "yaml"], "host: db\npassword: s3cret\n", id="the-flag-wins"),
    ],
)
def test_a_file_is_written_by_its_ending(project: Path, name: str, arguments: list[str], want: str) -> None:
    done = CliRunner().invoke(app, ["connection", "dev", "orders", "-o", name, *arguments])
    assert (done.exit_code, done.stdout) == (0, "")
    assert (project / name).read_text() == want


def test_a_file_is_for_one_user_alone(project: Path) -> None:
    path = project / "out.env"
    path.write_text("before")
    path.chmod(0o644)
    done = CliRunner().invoke(app, ["connection", "dev", "orders", "-o", str(path)])
    assert (done.exit_code, done.stdout) == (0, "")
    assert path.read_text() == "export HOST=db\nexport PASSWORD=s3cret\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "s3cret" not in done.output


def test_a_uri_that_cannot_be_made(project: Path) -> None:
    done = CliRunner().invoke(app, ["connection", "dev", "orders", "--output", "uri"])
    assert done.exit_code == 1
    assert "scheme, username, database are missing" in done.output
    assert "s3cret" not in done.output


@pytest.mark.parametrize(
    ("output", "fix"),
    [
        pytest.param("error: incorrect passphrase", "PULUMI_CONFIG_PASSPHRASE", id="a-wrong-passphrase"),
        pytest.param("error: no stack named 'dev' found", "pulumi up --stack dev", id="no-stack"),
    ],
)
def test_a_stack_that_cannot_be_read(output: str, fix: str) -> None:
    refused = workspace.unreadable("dev", output)
    assert isinstance(refused, DeployError)
    assert fix in refused.problems[0].fix
