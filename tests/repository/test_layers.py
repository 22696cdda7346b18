"""The tree is the architecture: folders import one way, the core is pure, one folder knows pulumi."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.parsed import parsed
from tests.support.paths import ROOT

PACKAGE = ROOT / "engine" / "claimsmith"
TESTS = ROOT / "tests"
NESTED = ("dialects", "tools")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
[LAYERS] = [contract["layers"] for contract in SETTINGS["contracts"] if contract["id"] == "layers"]
PURE = [
    "base", "golang", "kubernetes", "providers", "templating", "dialects", "platform", "patching", "functions",
    "compose", "render", "generate", "tools/explain", "tools/graph", "tools/convert",
]  # fmt: skip
IMPURE = {
    "base/posix.py", "base/user_folders.py", "kubernetes/client.py", "kubernetes/connection.py",
    "tools/convert/files.py", "functions/worker.py", "functions/grpc_caller.py",
}  # fmt: skip
"""What touches the system although it stands among what does not: locks, the cluster, files, child processes."""
CHILDREN = "functions/engines/"
"""What runs in child processes of the functions, where it is confined."""
OUTSIDE = {
    "pulumi", "pulumi_kubernetes", "typer", "click", "rich", "os", "io", "pathlib", "shutil", "tempfile", "glob",
    "subprocess", "socket", "ssl", "urllib", "http", "httpx", "httpx2", "requests", "lightkube", "grpc", "asyncio",
    "threading", "multiprocessing", "random", "secrets", "time", "datetime", "sys", "logging",
}  # fmt: skip
COMPUTING = {"urllib.parse", "datetime"}
"""Parts of outside modules that only compute."""


def pure_files() -> list[object]:
    found = (path for folder in PURE for path in sorted((PACKAGE / folder).rglob("*.py")))
    names = ((path, path.relative_to(PACKAGE).as_posix()) for path in found)
    return [pytest.param(path, id=name) for path, name in names if name not in IMPURE and not name.startswith(CHILDREN)]


def imports(path: Path, *, members: bool = False) -> set[str]:
    """The modules that a file imports, wherever in it; with `members` also what it takes out of each."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Import(names=names):
                found |= {n.name for n in names}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found |= {module, *(f"{module}.{n.name}" for n in names if members)}
    return found


def folders() -> list[str]:
    """The folders of the package, the dialects and the tools each for itself."""
    found = sorted(p.parent.relative_to(PACKAGE) for p in PACKAGE.glob("*/__init__.py"))
    inner = sorted(p.parent.relative_to(PACKAGE) for name in NESTED for p in PACKAGE.glob(f"{name}/*/__init__.py"))
    return [p.as_posix() for p in (*found, *inner) if p.as_posix() not in {"dialects", "edge"}]


@pytest.mark.parametrize("folder", folders())
def test_the_tests_of_a_folder_stand_under_its_path(folder: str) -> None:
    modules = sorted((TESTS / folder).glob("test_*.py"))
    assert any("def test_" in module.read_text(encoding="utf-8") for module in modules)


def test_no_test_module_imports_another() -> None:
    """What they share stands in tests/support: a test may be moved, split and run alone."""
    importing = {
        f"{path.relative_to(TESTS)} imports {name}"
        for path in TESTS.rglob("*.py")
        for name in imports(path, members=True)
        if any(part.startswith("test_") for part in name.split(".")) and name.startswith("tests.")
    }
    assert importing == set()


def test_the_contracts_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_every_folder_has_its_layer() -> None:
    folders = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    modules = {p.stem for p in PACKAGE.glob("*.py")} - {"__init__"}
    assert sorted(LAYERS) == sorted(folders | modules)


def test_the_architecture_page_shows_the_same_list() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = page.partition("```text\nengine/claimsmith/\n")[2].partition("```")[0]
    assert re.findall(r"^  (\w+)/ ", tree, flags=re.M) == [layer for layer in reversed(LAYERS) if layer != "edge"]


@pytest.mark.parametrize("path", pure_files())
def test_the_core_is_pure(path: Path) -> None:
    names = imports(path) - COMPUTING
    if {name for name in imports(path, members=True) if name.startswith("pathlib.")} == {"pathlib.PurePosixPath"}:
        names -= {"pathlib"}  # a path as text, which touches no file
    assert {name.partition(".")[0] for name in names} & OUTSIDE == set()


@pytest.mark.parametrize("path", pure_files())
def test_the_core_opens_nothing(path: Path) -> None:
    calls = [n.func for n in ast.walk(parsed(path)) if isinstance(n, ast.Call)]
    names = {f.id for f in calls if isinstance(f, ast.Name)}
    assert names & {"open", "print", "input", "eval", "exec", "__import__"} == set()
    attributes = {f.attr for f in calls if isinstance(f, ast.Attribute)}
    assert attributes & {"now", "utcnow", "today", "urandom"} == set()
