"""scripts/import_graph.py: the graph of the engine's folders, and its cycles."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from itertools import pairwise
from types import ModuleType

import pytest

from tests.support.paths import ROOT

SCRIPT = ROOT / "scripts" / "import_graph.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("import_graph", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_engine_has_no_cycle_of_folders() -> None:
    done = subprocess.run([sys.executable, SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "golang: base (" in done.stdout


def test_a_cycle_is_named_in_the_order_of_imports(script: ModuleType) -> None:
    circle = script.cycle({("a", "b"): 2, ("b", "c"): 1, ("c", "a"): 1, ("c", "base"): 9})
    assert len(circle) == 4
    assert set(pairwise(circle)) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_formats(script: ModuleType) -> None:
    edges = {("cli", "tools"): 2, ("cli", "base"): 1, ("tools", "base"): 3}
    assert script.as_text(edges) == "cli: base (1), tools (2)\ntools: base (3)"
    assert script.as_mermaid(edges).splitlines() == ["flowchart TD", "  cli --> tools", "  tools --> base"]


def test_the_architecture_page_shows_the_graph() -> None:
    printed = subprocess.run(
        [sys.executable, SCRIPT, "--format", "mermaid"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    page = (ROOT / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
    assert page.partition("<!-- graph: scripts/import_graph.py -->\n\n```mermaid\n")[2].partition("```")[0] == printed
