"""All files are valid, and each stack composes the resources that were reviewed."""

import difflib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
STACKS = sorted(path.parent.name for path in ROOT.glob("stacks/*/claims"))


def claimsmith(*words: str) -> str:
    command = [sys.executable, "-m", "claimsmith.cli", *words]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_classes_claims_bindings_and_components_are_valid() -> None:
    claimsmith("validate")


@pytest.mark.parametrize("stack", STACKS)
def test_every_binding_is_recorded(stack: str) -> None:
    claimsmith("bind", stack, "--check")


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_composes_what_was_reviewed(stack: str) -> None:
    golden = GOLDEN / f"{stack}.yaml"
    assert golden.is_file(), f"{golden} is missing: run make record, and read it"
    reviewed = golden.read_text(encoding="utf-8").splitlines()
    changes = difflib.unified_diff(reviewed, claimsmith("render", stack).splitlines(), "reviewed", "now", lineterm="")
    assert not list(changes), "run make record, and read the diff"
