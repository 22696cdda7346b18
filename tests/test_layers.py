"""Imports point one way: the core knows no files, clock, network, engine or command line; only edge/ knows pulumi."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "engine" / "claimsmith"
CORE = [
    "errors", "fieldpath", "merge", "absent", "values", "regexp", "documents", "models", "catalog", "binding",
    "bindings_file", "compose", "reference", "connection", "plan", "render", "generate", "crds", "scope", "expand",
    "kubeconfig", "targets", "workload", "workload_plan", "records", "schema", "templating", "definitions", "crd_set",
    "urns", "offers", "released", "explain", "drift", "flow", "drawing", "pictures", "review", "convert", "cut",
    "yaml_text", "ownership", "unread", "permissions", "external_names", "printable",
]  # fmt: skip
OUTSIDE = {
    "pulumi", "pulumi_kubernetes", "typer", "click", "rich", "os", "io", "pathlib", "shutil", "tempfile", "glob",
    "subprocess", "socket", "ssl", "urllib", "http", "httpx", "httpx2", "requests", "lightkube", "grpc", "asyncio",
    "threading", "multiprocessing", "random", "secrets", "time", "datetime", "sys", "logging",
}  # fmt: skip
PURE = {"urllib.parse", "datetime"}
"""Parts of outside modules that only compute."""
UPPER = {
    "edge", "cli", "toolchain", "local", "load", "project", "actions", "answers", "checks", "workspace", "cluster",
    "offline", "conversion", "starting", "revision", "sides", "reviews", "previews", "recovery", "sharding",
}  # fmt: skip

# Each core module may import those above it and itself.
ORDER = [
    {"printable"},
    {"errors", "drawing"},
    {"absent", "regexp", "fieldpath"},
    {"merge", "documents", "crds"},
    {"kubeconfig"},
    {"models", "reference", "values", "schema", "templating", "compose", "urns"},
    {"definitions", "connection", "scope", "flow", "ownership", "yaml_text"},
    {"catalog"},
    {"binding", "crd_set", "offers", "permissions"},
    {"bindings_file", "expand", "generate", "released", "convert", "unread"},
    {"targets"},
    {"workload"},
    {"workload_plan"},
    {"plan", "records"},
    {"render", "explain", "pictures", "drift", "cut", "external_names"},
    {"review"},
]


def files(module: str) -> list[Path]:
    path = PACKAGE / module
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def imports(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it; names from claimsmith with their own module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {n.name for n in names}
            case ast.ImportFrom(module="claimsmith", names=names):
                found |= {f"claimsmith.{n.name}" for n in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module)
    return found


def roots(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def own(path: Path) -> set[str]:
    """The parts of claimsmith that a file imports."""
    return {name.split(".")[1] for name in imports(path) if name.startswith("claimsmith.")}


def rows(modules: list[str]) -> list[object]:
    return [pytest.param(f, id=f.relative_to(PACKAGE).as_posix()) for m in modules for f in files(m)]


def test_every_core_module_has_its_place() -> None:
    assert sorted(CORE) == sorted(m for step in ORDER for m in step)
    assert all(f.exists() for m in CORE for f in files(m))


@pytest.mark.parametrize("path", rows(CORE))
def test_the_core_is_pure(path: Path) -> None:
    assert {name.partition(".")[0] for name in imports(path) - PURE} & OUTSIDE == set()


@pytest.mark.parametrize("path", rows(CORE))
def test_the_core_opens_nothing(path: Path) -> None:
    calls = [n.func for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
    names = {f.id for f in calls if isinstance(f, ast.Name)}
    assert names & {"open", "print", "input", "eval", "exec", "__import__"} == set()
    attributes = {f.attr for f in calls if isinstance(f, ast.Attribute)}
    assert attributes & {"now", "utcnow", "today", "urandom"} == set()


@pytest.mark.parametrize("path", rows(CORE))
def test_the_core_knows_nothing_above_it(path: Path) -> None:
    assert own(path) & UPPER == set()


def test_packaged_files_are_read_by_those_with_templates_alone() -> None:
    readers = {m for m in CORE for f in files(m) if "importlib" in roots(f)}
    assert readers == {"generate", "review"}


@pytest.mark.parametrize("module", CORE)
def test_imports_point_one_way(module: str) -> None:
    place = next(i for i, step in enumerate(ORDER) if module in step)
    allowed = {m for step in ORDER[: place + 1] for m in step}
    assert set().union(*(own(f) for f in files(module))) & set(CORE) <= allowed


def test_only_the_edge_imports_pulumi() -> None:
    importers = {p.relative_to(PACKAGE).parts[0] for p in PACKAGE.rglob("*.py") if "pulumi" in roots(p)}
    assert importers == {"edge"}


def test_only_the_command_line_imports_typer() -> None:
    importers = {p.relative_to(PACKAGE).parts[0] for p in PACKAGE.rglob("*.py") if {"typer", "rich"} & roots(p)}
    assert importers == {"cli"}


def test_the_edge_and_the_rest_know_no_command_line() -> None:
    others = [p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in ("cli",)]
    assert [p for p in others if "cli" in own(p)] == []
