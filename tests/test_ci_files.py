"""The workflow and the script that docs/ci offers: they can be read, say the same, and the offline part runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.review_files import CLASS, SQL, base, changed, put, write

SCRIPT = ROOT / "docs" / "ci" / "pipeline.sh"
# Everything is a text to this loader: `on` stays a key.
WORKFLOW: dict[str, Any] = yaml.load((ROOT / "docs" / "ci" / "github.yaml").read_text("utf-8"), Loader=yaml.BaseLoader)


def steps(job: str) -> list[dict[str, Any]]:
    return list(WORKFLOW["jobs"][job]["steps"])


def test_the_workflow_reviews_requests_and_deploys_merges() -> None:
    assert set(WORKFLOW["on"]) == {"pull_request", "push"}
    conditions = {name: job["if"] for name, job in WORKFLOW["jobs"].items()}
    assert "pull_request" in conditions["review"]
    assert "pull_request" in conditions["preview"]
    assert conditions["deploy"] == "github.event_name == 'push'"
    assert WORKFLOW["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("job", ["review", "preview"])
def test_the_base_is_fetched(job: str) -> None:
    checkout = next(s for s in steps(job) if s.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["fetch-depth"] == "0"


@pytest.mark.parametrize("job", list(WORKFLOW["jobs"]))
def test_the_workflow_calls_the_script(job: str) -> None:
    runs = "\n".join(s.get("run", "") for s in steps(job))
    assert re.findall(r"pipeline\.sh (\w+)", runs) == [job]


@pytest.mark.parametrize("job", list(WORKFLOW["jobs"]))
def test_nothing_of_a_request_is_pasted_into_a_command(job: str) -> None:
    assert not [s["run"] for s in steps(job) if "${{" in s.get("run", "")]


@pytest.mark.parametrize("job", ["preview", "deploy"])
def test_one_run_at_a_time_for_each_environment(job: str) -> None:
    settings = WORKFLOW["jobs"][job]
    assert settings["strategy"]["matrix"]["stack"] == ["dev", "prod"]
    assert settings["concurrency"]["group"] == "claims-${{ matrix.stack }}"
    assert settings["environment"] == "${{ matrix.stack }}"


def test_shell_parts_can_be_read() -> None:
    parts = [SCRIPT.read_text("utf-8"), *(s["run"] for job in WORKFLOW["jobs"] for s in steps(job) if "run" in s)]
    for part in parts:
        subprocess.run(["bash", "-n"], input=part, text=True, check=True)


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A bound and generated project with a base, and `claimsmith` on the way to be found."""
    root = write(tmp_path / "project", {**base(), "stacks/Pulumi.dev.yaml": {"config": {}}})
    command = tmp_path / "bin" / "claimsmith"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m claimsmith.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    for words in (["bind", "dev"], ["generate"]):
        subprocess.run([command, *words], cwd=root, check=True, capture_output=True)
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "base")
    return root


def run(project: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    path = f"{project.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **settings}
    return subprocess.run([SCRIPT, *words], cwd=project, env=environment, capture_output=True, text=True)


def files(project: Path) -> set[str]:
    return {p.name for p in (project / "review").glob("*")}


@pytest.mark.parametrize(
    ("change", "settings", "code", "said"),
    [
        pytest.param(None, {}, 0, "nothing changes", id="nothing"),
        pytest.param(put(SQL, "spec/size", 20), {}, 0, "there are changes", id="changes"),
        pytest.param(
            put(SQL, "spec/writeConnectionSecretToRef/name", "x"), {}, 0, "deleted or made anew", id="destructive"
        ),
        pytest.param(
            put(SQL, "spec/writeConnectionSecretToRef/name", "x"),
            {"REFUSE_DESTRUCTIVE": "true"},
            11,
            "deleted or made anew",
            id="destructive-refused",
        ),
    ],
)
def test_the_offline_part_runs(project: Path, change: Any, settings: dict[str, str], code: int, said: str) -> None:
    if change:
        write(project, {SQL: changed(change)[SQL]})
    ran = run(project, "review", "main", **settings)
    assert ran.returncode == code, ran.stderr
    assert said in ran.stdout
    assert files(project) == {"review.md", "review.html", "review.json"}
    assert (project / "review" / "review.md").read_text("utf-8").startswith("<!-- claimsmith review -->")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param(CLASS, "a: [", id="what-cannot-be-read"),
        pytest.param(
            CLASS, changed(put(CLASS, "spec/resources/0/base/spec/location", "x"))[CLASS], id="a-stale-component"
        ),
    ],
)
def test_the_offline_part_refuses(project: Path, file: str, content: Any) -> None:
    write(project, {file: content})
    ran = run(project, "review", "main")
    assert ran.returncode == 1
    assert "fix:" in ran.stderr


@pytest.mark.parametrize("words", [(), ("review",), ("preview", "main"), ("destroy", "dev")], ids=" ".join)
def test_other_words_are_a_usage_error(project: Path, words: tuple[str, ...]) -> None:
    ran = run(project, *words)
    assert ran.returncode == 2
    assert "pipeline.sh review BASE" in ran.stderr
