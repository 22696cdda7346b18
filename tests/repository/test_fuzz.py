"""A short part of `make fuzz`, always with the same inputs, and what the watch says of inputs that misbehave."""

from __future__ import annotations

import ast
from pathlib import Path

import hypothesis
import pytest

from claimsmith.base.errors import EngineError
from tests.fuzz.bytes_to_input import transforms_of
from tests.fuzz.safe_code import refuse_foreign
from tests.fuzz.strategies import STRATEGIES
from tests.fuzz.targets import TARGETS
from tests.fuzz.watch import Watch, tally
from tests.support.paths import ROOT


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_our_own_errors(name: str) -> None:
    target = TARGETS[name]
    outcomes: list[bool] = []

    @hypothesis.seed(7)
    @hypothesis.settings(max_examples=150, database=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(STRATEGIES[name])
    def run(case: object) -> None:
        try:
            target(case)
        except EngineError:
            outcomes.append(False)
        else:
            outcomes.append(True)

    run()
    assert {*outcomes} == {True, False}, "the inputs are all refused, or all taken"


@pytest.mark.parametrize(
    ("data", "want"),
    [
        pytest.param(b"", 0, id="nothing"),
        pytest.param(b"\x00\x00%d", 0, id="a-value-and-no-transform"),
        pytest.param(b"\x02\x00%d\x005", 0, id="a-kind-of-value"),
        pytest.param(b"\x05\x01\x02\x005\x00%d", 2, id="two-transforms"),
    ],
)
def test_bytes_become_transforms(data: bytes, want: int) -> None:
    assert len(transforms_of(data).transforms) == want


def refuse(case: str) -> None:
    raise EngineError(case)


def stumble(case: str) -> None:
    raise KeyError(case)


def accept(case: str) -> None:
    del case


@pytest.mark.parametrize(
    ("target", "refused", "finds"),
    [
        pytest.param(accept, 0, 0, id="taken"),
        pytest.param(refuse, 2, 0, id="refused-with-a-reason"),
        pytest.param(stumble, 0, 1, id="an-exception-is-kept-once-for-its-place"),
    ],
)
def test_what_the_watch_notes(tmp_path: Path, target, refused: int, finds: int) -> None:
    watch = Watch("t", tmp_path)
    for case in ("longer", "é"):
        watch.run(target, case)
    watch.run(accept, "last")
    noted = tally("t", tmp_path)
    assert (noted.inputs, noted.refused, noted.last) == (3, refused, b"last")
    assert len(list((tmp_path / "finds").iterdir())) == finds


def test_the_shortest_find_is_kept(tmp_path: Path) -> None:
    watch = Watch("t", tmp_path)
    for case in ("a-long-one", "x", "a-long-one"):
        watch.run(stumble, case)
    [find] = (tmp_path / "finds").iterdir()
    assert find.read_text().splitlines()[1] == "x"


@pytest.mark.parametrize(
    "path",
    sorted([*ROOT.glob("components/*/component.py"), *ROOT.glob("tests/golden/*/component.py")]),
    ids=lambda p: p.parent.name,
)
def test_components_have_the_usual_shape(path: Path) -> None:
    refuse_foreign(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import os", id="import"),
        pytest.param("from os import system", id="import-from"),
        pytest.param("import pulumi, os", id="import-beside"),
        pytest.param("print(1)", id="call"),
        pytest.param("self.run('x')", id="other-method"),
        pytest.param("x = ''.__class__", id="dunder"),
        pytest.param("spec.pop('x')", id="method-of-the-spec"),
        pytest.param("'x'.format(1)", id="method-of-a-text"),
        pytest.param("x = lambda: 1", id="lambda"),
        pytest.param("x = [y for y in 'z']", id="comprehension"),
        pytest.param("x = f'{1}'", id="f-string"),
        pytest.param("if 1: pass", id="if"),
        pytest.param("if print(1): pass", id="if-of-a-call"),
        pytest.param("if self.holds('x'): pass\nelse: pass", id="else"),
        pytest.param("for x in range(3): pass", id="loop"),
        pytest.param("for x in self.each('y'): x.run()", id="method-of-an-element"),
        pytest.param("for os.path in self.each('y'): pass", id="loop-that-writes-elsewhere"),
        pytest.param("self.child(*spec)", id="spread"),
        pytest.param("def run(): pass", id="function"),
        pytest.param("x[0]", id="expression"),
        pytest.param("from claimsmith.deploy import read\nclass read: pass", id="class-that-hides-an-import"),
    ],
)
def test_another_shape_is_refused(code: str) -> None:
    with pytest.raises(AssertionError):
        refuse_foreign(ast.parse(code))
