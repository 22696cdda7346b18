"""Shell completion, asked as shells ask for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
import typer

from claimsmith.cli import completion
from tests.support.refusal_files import FILES, KEY, ROW, bindings
from tests.support.samples import write_files

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    more = "stacks/prod/claims/d.yaml"
    text = str(FILES["stacks/dev/claims/c.yaml"]).replace("name: sql\nspec", "name: other\nspec")
    return write_files(tmp_path, {**FILES, **bindings(ROW), more: text, "stacks/odd/claims/x.yaml": "a: ["})


def completed(shell: str, folder: Path, line: str, code: str = "") -> list[str]:
    """What a shell would offer after a line, or what a program prints that completes in its own process."""
    words = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    command = [sys.executable, *(["-c", code] if code else ["-m", "claimsmith.cli"])]
    environment = {**os.environ, "_CLAIMSMITH_COMPLETE": f"complete_{shell}", **words}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    found = done.stdout.replace("_arguments '*: :((", "").replace("))'", "").split("\n")
    return [text.strip('"').split("\t")[0].split('":"')[0] for text in found if text not in ("", "_files")]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("claimsmith explain ", ["dev", "odd", "prod"], id="stacks"),
        pytest.param("claimsmith drift d", ["dev"], id="a-stack-that-was-begun"),
        pytest.param("claimsmith validate dev p", ["prod"], id="another-stack"),
        pytest.param("claimsmith local up --stack pr", ["prod"], id="a-stack-of-an-option"),
        pytest.param("claimsmith explain dev Data", [KEY], id="claims"),
        pytest.param("claimsmith render prod Data", [KEY.replace("sql", "other")], id="claims-of-another-stack"),
        pytest.param("claimsmith bind dev --rebind Data", [KEY], id="claims-of-an-option"),
        pytest.param("claimsmith explain dev s", ["sql"], id="names-of-claims"),
        pytest.param("claimsmith bind dev --rebind s", ["sql"], id="names-of-claims-of-an-option"),
        pytest.param("claimsmith explain odd ", [], id="what-cannot-be-read"),
        pytest.param("claimsmith classes Da", ["Database.database.example.org"], id="kinds"),
        pytest.param("claimsmith graph d", ["dev"], id="a-stack-to-draw"),
        pytest.param("claimsmith graph dev --claim s", ["sql"], id="a-claim-to-draw"),
        pytest.param("claimsmith graph --class s", ["small"], id="a-class-to-draw"),
        pytest.param("claimsmith connection dev s", ["sql"], id="a-claim-to-connect-to"),
        pytest.param("claimsmith review --stack p", ["prod"], id="a-stack-to-review"),
        pytest.param("claimsmith rollout s", ["small"], id="a-class-to-move-from"),
        pytest.param("claimsmith rollout small --to s", ["small"], id="a-class-to-move-to"),
        pytest.param("claimsmith new claim --class s", ["small"], id="a-class-of-a-new-claim"),
        pytest.param("claimsmith explain dev sql --field spec.l", ["spec.location"], id="fields"),
        pytest.param("claimsmith validate --output g", ["github"], id="formats"),
        pytest.param("claimsmith dri", ["drift"], id="commands"),
    ],
)
def test_completion(project: Path, shell: str, line: str, expected: list[str]) -> None:
    assert completed(shell, project, line) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("postg", ["postgresql:"], id="providers"),
        pytest.param("postgresql:Data", ["postgresql:Database"], id="types"),
        pytest.param("kubernetes:batch", ["kubernetes:batch/v1:", "kubernetes:batch/v1beta1:"], id="modules"),
        pytest.param(
            "kubernetes:batch/v1:Cron",
            ["kubernetes:batch/v1:CronJob", "kubernetes:batch/v1:CronJobList", "kubernetes:batch/v1:CronJobPatch"],
            id="types-of-a-module",
        ),
        pytest.param("nowhere:", [], id="missing-sdk"),
    ],
)
def test_types_of_providers_are_offered(written: str, expected: list[str]) -> None:
    """Asked directly: shells differ in what they make of a colon."""
    found = completion.made_types(typer.Context(click.Command("new")), written)
    assert [token for token in found if "v2alpha1" not in token] == expected


def test_outside_a_project_nothing_is_offered(tmp_path: Path) -> None:
    assert completed("bash", tmp_path, "claimsmith explain ") == []


def test_in_the_folder_that_is_named(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert completed("bash", elsewhere, f"claimsmith -C {project} explain d") == ["dev"]


def test_nothing_heavy_is_read_for_it(project: Path) -> None:
    code = """
import sys
from claimsmith.cli.app import main
try:
    main()
except SystemExit:
    print([m for m in ("pulumi", "lightkube", "claimsmith.project", "claimsmith.models") if m in sys.modules])
"""
    assert completed("bash", project, "claimsmith explain dev Data", code)[-1] == "[]"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_the_shell(project: Path, shell: str) -> None:
    environment = {**os.environ, "_CLAIMSMITH_COMPLETE": f"source_{shell}"}
    command = [sys.executable, "-m", "claimsmith.cli"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert "_CLAIMSMITH_COMPLETE" in done.stdout
