"""A command starts fast because it imports what it needs and nothing else. Nothing here is timed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from benchmarks import workload
from typer.testing import CliRunner

from claimsmith.cli.app import app
from claimsmith.cli.outline import outline

HEAVY = (
    "cel_expr_python",
    "grpc",
    "httpx",
    "httpx2",
    "jinja2",
    "kcl_lib",
    "lightkube",
    "msgspec",
    "pulumi",
    "re2",
    "rich",
    "typer",
)
"""Packages that rendering one composite with patch-and-transform does not import."""
FOLDERS = {"base", "cli", "compose", "dialects", "functions", "golang", "patching", "project", "render", "tools"}
"""The folders of the package that it imports something of."""
MODULES = 70
"""The most modules of the package that it imports, of about 400. One that is needed on the way may raise it."""

CODE = """
import sys
from claimsmith.cli import main
try:
    main()
except SystemExit:
    pass
print("imported:", *sys.modules)
"""


def imported(*words: str) -> list[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    *_, last = done.stdout.splitlines()
    assert last.startswith("imported:"), done.stderr
    return last.split()[1:]


@pytest.fixture(scope="module")
def rendering(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    composite, composition = workload.write_composite(tmp_path_factory.mktemp("files"))
    return imported("render", str(composite), str(composition))


def test_rendering_a_composite_imports_no_heavy_package(rendering: list[str]) -> None:
    assert [module for module in rendering if module in HEAVY] == []


def test_rendering_a_composite_imports_the_folders_on_its_way_alone(rendering: list[str]) -> None:
    own = [module for module in rendering if module.startswith("claimsmith.")]
    assert {module.split(".")[1] for module in own} == FOLDERS
    assert [m for m in own if m.startswith("claimsmith.compose.")] == ["claimsmith.compose.identity"]
    assert len(own) <= MODULES


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["render", "xr.yaml", "composition.yaml"], id="rendered"),
        pytest.param(["render", "xr.yaml", "composition.yaml", "xr.yaml"], id="functions-that-lack-a-step"),
        pytest.param(["render", "xr.yaml", "no-such-file.yaml"], id="no-such-composition"),
        pytest.param(["render", "composition.yaml", "xr.yaml"], id="no-composition"),
        pytest.param(["render", "xr.yaml", "broken.yaml"], id="no-yaml"),
        pytest.param(["render", "xr.yaml"], id="missing-argument"),
        pytest.param(["render", "xr.yaml", ""], id="empty-argument"),
        pytest.param(["render", "no-such-file.yaml", "composition.yaml"], id="no-such-composite"),
    ],
)
def test_files_alone_are_rendered_as_the_parsed_command_does(words: list[str], tmp_path: Path) -> None:
    workload.write_composite(tmp_path)
    (tmp_path / "broken.yaml").write_text("a: [", encoding="utf-8")
    code = ("from claimsmith.cli import main; main()", "from claimsmith.cli import app; app.main()")
    direct, parsed = (
        subprocess.run([sys.executable, "-c", c, *words], capture_output=True, text=True, cwd=tmp_path) for c in code
    )
    assert (direct.returncode, direct.stdout, direct.stderr) == (parsed.returncode, parsed.stdout, parsed.stderr)


def test_the_help_imports_the_command_line_alone() -> None:
    own = [module for module in imported("--help") if module.startswith("claimsmith.")]
    assert {module.split(".")[1] for module in own} == {"base", "cli"}


# Parameters: only those of the command that runs, and options only where one is used.


def names(parameters: list[str]) -> list[str]:
    short = typer.main.get_command(outline(app, parameters))
    command = short.commands["render"]  # type: ignore[attr-defined]  # an app with several commands
    return [parameter.name for parameter in command.params]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["render", "xr.yaml"], ["stack", "claim", "functions"], id="arguments-alone"),
        pytest.param(["validate", "dev"], [], id="another-command"),
        pytest.param([], [], id="no-command"),
    ],
)
def test_what_nobody_uses_is_not_prepared(words: list[str], expected: list[str]) -> None:
    assert names(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["render", "dev", "--output", "json"], id="option"),
        pytest.param(["render", "xr.yaml", "-oobserved.yaml"], id="short"),
        pytest.param(["-C", "elsewhere", "render", "dev"], id="before-the-command"),
        pytest.param(["render", "--help"], id="help"),
    ],
)
def test_an_option_brings_all_options(words: list[str]) -> None:
    whole = typer.main.get_command(app).commands["render"]  # type: ignore[attr-defined]  # as above
    assert names(words) == [parameter.name for parameter in whole.params]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="nothing"),
        pytest.param(["--help"], id="help"),
        pytest.param(["no-such-command"], id="unknown-command"),
        pytest.param(["rendr"], id="mistyped-command"),
        pytest.param(["render"], id="missing-argument"),
        pytest.param(["render", "dev", "a", "b", "c"], id="too-many-arguments"),
        pytest.param(["render", "--help"], id="help-of-a-command"),
        pytest.param(["render", "dev", "--no-such-option"], id="unknown-option"),
        pytest.param(["new"], id="group"),
        pytest.param(["new", "class", "--help"], id="command-of-a-group"),
        pytest.param(["new", "--help"], id="help-of-a-group"),
        pytest.param(["validate", "dev"], id="runs"),
        pytest.param(["bind", "dev"], id="runs-with-defaults"),
        pytest.param(["--version"], id="version"),
    ],
)
def test_the_command_line_is_the_same(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    short, whole = (
        CliRunner().invoke(command, words, prog_name="claimsmith") for command in (outline(app, words), app)
    )
    assert (short.exit_code, short.output) == (whole.exit_code, whole.output)
