"""Every feature has a row in docs/internals/features.md, and every row names tests that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.golden_cases import BAD, GOOD
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "internals" / "features.md"
COUNTS = {"000": 13, "001": 15, "002": 18, "003": 9, "004": 8, "P": 9, "N": 11, "A": 1, "F": 6, "S": 5}
IDS = [f"{group}.{number}" for group, count in COUNTS.items() for number in range(1, count + 1)]
OPEN: set[str] = set()
"""Rows that may be open. Take an id out when its last part is proved; the list is to become empty."""

_ROW = re.compile(r"^\| (\S+) \| (.+) \| (.+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)(?:\[([^\]`]+)\])?`")


@cache
def page() -> dict[str, str]:
    """What proves each row, by its id."""
    return {id_: proof for id_, _, proof in _ROW.findall(PAGE.read_text(encoding="utf-8")) if id_ in IDS}


@cache
def rows_of(file: Path) -> dict[str, set[str]]:
    """The ids of each test function's table, empty where it has none; tables may be constants of the module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {
        node.name: {id_ for decorator in node.decorator_list for id_ in _ids(decorator, constants)}
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def _ids(node: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    for inner in ast.walk(node):
        match inner:
            case ast.keyword(arg="id", value=ast.Constant(value=str(id_))):
                yield id_
            case ast.Name(id=name) if name in constants:
                yield from _ids(constants[name], {k: v for k, v in constants.items() if k != name})


# Golden cases and stacks are found by being folders, and their rows are named after them.
FOLDERS = {
    *(case.name for case in (*GOOD, *BAD)),
    *(f"golden-{case.name}" for case in GOOD),
    *(f"stack-{p.parent.name}" for p in (ROOT / "stacks").glob("*/claims")),
}


def test_every_feature_has_a_row_in_order() -> None:
    assert [id_ for id_, _, _ in _ROW.findall(PAGE.read_text(encoding="utf-8")) if re.match(r"\w+\.\d", id_)] == IDS


@pytest.mark.parametrize("feature", IDS)
def test_a_row_is_proved_or_openly_not(feature: str) -> None:
    proof = page()[feature]
    assert proof.startswith("open: ") == (feature in OPEN), "a row is open here and there, or neither"
    assert _TEST.search(proof) or proof.startswith("open: ")


@pytest.mark.parametrize("feature", IDS)
def test_the_rows_of_a_row_exist(feature: str) -> None:
    for path, name, id_ in _TEST.findall(page()[feature]):
        assert name in rows_of(ROOT / path), f"{path} has no {name}"
        assert not id_ or id_ in rows_of(ROOT / path)[name] | FOLDERS, f"{name} has no row {id_}"
    assert page()[feature].count("::") == len(_TEST.findall(page()[feature])), "a name that cannot be read"
