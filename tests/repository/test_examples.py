"""The example platforms: their files are current, and their classes can stand beside those of this repository."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.cli.app import app
from claimsmith.project import sdks
from claimsmith.project.project import Project
from tests.support.paths import ROOT
from tests.support.samples import cloned

CLOUDS = ROOT / "examples" / "clouds"
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command, and what it prints."""
NEEDED = ("aws", "azure-native", "gcp", "random")

pytestmark = [
    pytest.mark.sdks,
    pytest.mark.skipif(
        any(package not in sdks.installed() for package in NEEDED),
        reason="not all SDKs of the example are installed: make test-sdks installs them",
    ),
]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["generate", "--check"], id="components-are-current"),
        pytest.param(["validate", "--strict"], id="valid"),
        *(pytest.param(["bind", stack, "--check"], id=f"bound-{stack}") for stack in Project(CLOUDS).stacks()),
    ],
)
def test_files_are_as_they_should_be(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CLOUDS)
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 0, ran.output


def test_the_guide_walks_from_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands print what it shows, up to the deployment; the class is completed as the example has it."""
    guide = (ROOT / "docs" / "guides" / "native.md").read_text(encoding="utf-8")
    walk = guide[guide.index("## A bucket on AWS") : guide.index("**5.**")]
    monkeypatch.chdir(tmp_path)
    ran = []
    for command, shown in SHELL.findall("".join(CONSOLE.findall(walk))):
        match command.split():
            case ["claimsmith", "init", folder, "&&", "cd", entered]:
                assert (CliRunner().invoke(app, ["init", folder, "--no-git"]).exit_code, folder) == (0, entered)
                monkeypatch.chdir(tmp_path / folder)
            case ["pip", "install", name]:
                assert name.removeprefix("pulumi-") in sdks.installed()
            case ["claimsmith", *words]:
                if words[0] == "generate":
                    shutil.copy(CLOUDS / "components/bucket/class.yaml", "components/bucket/class.yaml")
                done = CliRunner().invoke(app, words)
                assert (done.exit_code, done.stdout) == (0, shown), done.output
                ran.append(words[0])
            case other:
                pytest.fail(f"the walk has a command that is not run: {other}")
    assert ran == ["new", "generate", "new", "new", "validate"]
    [planned] = Project(Path()).plan("aws").claims
    [example] = Project(CLOUDS).plan("aws").claims
    assert [child.document["type"] for child in planned.children] == [c.document["type"] for c in example.children]
    assert "pulumi-aws" in Path("requirements.txt").read_text(encoding="utf-8")


def test_its_requirements_are_its_providers() -> None:
    lines = (CLOUDS / "requirements.txt").read_text(encoding="utf-8").split()
    assert sorted(line.partition(">=")[0] for line in lines) == sorted(f"pulumi-{package}" for package in NEEDED)


def test_one_claim_can_be_served_by_either_sort_of_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = cloned(tmp_path)
    for folder in (CLOUDS / "components").iterdir():
        shutil.copytree(folder, root / "components" / folder.name)
    monkeypatch.chdir(root)
    bound = (root / "stacks" / "dev" / "bindings.yaml").read_text(encoding="utf-8")
    assert CliRunner().invoke(app, ["bind", "dev"]).exit_code == 0
    assert (root / "stacks" / "dev" / "bindings.yaml").read_text(encoding="utf-8") == bound

    file = root / "stacks" / "dev" / "claims" / "sql.yaml"
    claim = yaml.safe_load(file.read_text(encoding="utf-8"))
    claim["spec"]["classSelector"] = {"matchLabels": {"cloud": "azure", "children": "native"}}
    file.write_text(yaml.safe_dump(claim), encoding="utf-8")
    ran = CliRunner().invoke(app, ["bind", "dev", "--rebind", "MySQLInstance.database.example.org/default/sql"])
    assert ran.exit_code == 0, ran.output
    [planned] = Project(root).plan("dev").claims
    assert planned.binding.klass.name == "private-mysql-native"
    assert {child.document["type"].partition(":")[0] for child in planned.children} == {"azure-native", "random"}
