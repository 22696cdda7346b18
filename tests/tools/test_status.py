"""`claimsmith status`: children of both sorts, and where the connection details are."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith.base.names import ClaimKey
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.tools.status import ClaimStatus, observed
from tests.support.refusal_files import FILES
from tests.support.samples import write_files

KEY = ClaimKey.parse("Store.storage.example.org/default/files")
BUCKET = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "name": "files-x"}
ROLE = {"type": "postgresql:index/role:Role", "name": "default-files-role"}
SECRET = {"namespace": "default", "name": "s", "keys": ["a", "b"]}


@pytest.mark.parametrize(
    ("details", "want"),
    [
        pytest.param({"connectionSecret": SECRET}, "default/s: a, b", id="a-secret"),
        pytest.param({"connectionSecret": None, "connectionKeys": ["a"]}, "stack output: a", id="the-stacks-output"),
        pytest.param({"connectionSecret": SECRET, "connectionKeys": ["a", "b"]}, "default/s: a, b", id="both"),
        pytest.param({"connectionSecret": None, "connectionKeys": []}, "none", id="none"),
        pytest.param({}, "none", id="of-an-application"),
    ],
)
def test_where_the_details_are(details: dict[str, Any], want: str) -> None:
    assert ClaimStatus(KEY, {"resources": [], **details}).secret == want


def test_children_of_both_sorts() -> None:
    inner = {**BUCKET, "kind": "Composite", "resources": [ROLE]}
    status = ClaimStatus(KEY, {"resources": [BUCKET, ROLE, inner]})
    assert [(c.depth, c.kind, c.name) for c in status.children] == [
        (1, "Bucket", "files-x"),
        (1, "Role", "default-files-role"),
        (1, "Composite", "files-x"),
        (2, "Role", "default-files-role"),
    ]


def condition(kind: str, status: str, **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, "lastTransitionTime": "now", **more}


CREATING = condition("Ready", "False", reason="Creating", message="in progress")


@pytest.mark.parametrize(
    ("live", "state", "waiting"),
    [
        pytest.param([condition("Ready", "True"), condition("Synced", "True")], "Ready", "", id="ready"),
        pytest.param([CREATING], "Not ready", "Ready is False: Creating: in progress", id="not-ready"),
        pytest.param(
            [condition("Ready", "True"), condition("Synced", "False", reason="ReconcileError")],
            "Ready",
            "Synced is False: ReconcileError",
            id="ready-and-not-synced",
        ),
        pytest.param([condition("Available", "True")], "Ready", "", id="a-deployment"),
        pytest.param([condition("Ready", "Unknown")], "Not ready", "Ready is Unknown", id="unknown"),
        pytest.param([], "", "", id="no-conditions"),
        pytest.param(None, "Gone", "", id="gone"),
    ],
)
def test_the_state_of_a_child(live: list[Any] | None, state: str, waiting: str) -> None:
    def read(resource: Any) -> dict[str, Any] | None:
        assert resource["name"] == "files-x"
        return None if live is None else {"status": {"conditions": live}}

    found = observed(ClaimStatus(KEY, {"resources": [BUCKET, ROLE]}), read)
    bucket, role = found.children
    assert (bucket.state, bucket.waiting) == (state, waiting)
    assert (role.state, role.waiting) == ("", "")
    assert "lastTransitionTime" not in str(found.to_dict())


def test_children_below_a_composite_that_is_no_object() -> None:
    inner = {**BUCKET, "kind": "Composite", "name": "above", "resources": [BUCKET]}
    ready = {"status": {"conditions": [condition("Ready", "True")]}}
    found = observed(
        ClaimStatus(KEY, {"resources": [inner]}), lambda resource: ready if resource["name"] == "files-x" else None
    )
    assert [(c.kind, c.state) for c in found.children] == [("Composite", ""), ("Bucket", "Ready")]


@pytest.fixture
def deployed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stack whose last run made a bucket, and no engine to ask."""
    monkeypatch.chdir(write_files(tmp_path, FILES))
    details = {"class": "a/b", "phase": "Bound", "resources": [BUCKET], "connectionSecret": SECRET}
    monkeypatch.setattr(workspace, "stack_outputs", lambda *_: {"claims": {str(KEY): details}})
    monkeypatch.setattr(workspace, "settings_of", lambda *_: {"kubeconfig": "nowhere.yaml"})
    return tmp_path


def test_a_stack_without_claims_has_no_empty_table(deployed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "stack_outputs", lambda *_: {})
    done = CliRunner().invoke(app, ["status", "dev"])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no claim is deployed in dev\n")


def test_a_cluster_that_cannot_be_asked_is_a_warning(deployed: Path) -> None:
    done = CliRunner().invoke(app, ["status", "dev"])
    assert (done.exit_code, "files-x" in done.stdout) == (0, True)
    assert done.stderr.startswith("warning: claimsmith:kubeconfig is neither")


def test_what_is_waited_for_is_printed(deployed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def read(self, *_: str) -> dict[str, Any]:
            return {"status": {"conditions": [CREATING]}}

    monkeypatch.setattr(workspace, "stack_cluster", lambda *_: nullcontext(Busy()))
    done = CliRunner().invoke(app, ["status", "dev"])
    want = "waiting for Bucket files-x of Store default/files: Ready is False: Creating: in progress"
    assert want in done.stdout.splitlines()
    assert "Not ready" in done.stdout


@pytest.mark.parametrize(
    ("following", "lines"),
    [
        pytest.param(
            {"following": ["server", "rule"]},
            ["with the next deployment of Store default/files follow: server, rule"],
            id="some",
        ),
        pytest.param({}, [], id="none"),
    ],
)
def test_what_follows_later_is_printed(
    deployed: Path, monkeypatch: pytest.MonkeyPatch, following: dict[str, Any], lines: list[str]
) -> None:
    details = {"class": "a/b", "phase": "Bound", "resources": [ROLE], "connectionSecret": None, **following}
    monkeypatch.setattr(workspace, "stack_outputs", lambda *_: {"claims": {str(KEY): details}})
    done = CliRunner().invoke(app, ["status", "dev"])
    assert [line for line in done.stdout.splitlines() if "follow" in line] == lines
