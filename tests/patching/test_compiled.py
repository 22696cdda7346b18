"""A compiled template does what its patches do one by one, and leaves the template as it was."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, EngineError
from claimsmith.base.merge import MergePolicy
from claimsmith.dialects.common.klass import Patch, Side, Template
from claimsmith.patching import patches
from claimsmith.patching.compiled import Reader, compiled

NAMES = st.sampled_from(["a", "b", "c"])
SEGMENTS = st.lists(NAMES | st.sampled_from(["*", 0, 1]), min_size=1, max_size=4)
PATHS = SEGMENTS.map(fieldpath.to_text)
READS = st.lists(NAMES, min_size=1, max_size=3).map(fieldpath.to_text)
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(-5, 5)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=9
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
PATCHES = st.builds(
    Patch,
    reads=READS.map(lambda path: (path,)),
    to=PATHS,
    required=st.booleans(),
    policy=st.sampled_from(MergePolicy),
    combine=st.none() | st.just("%v!"),
    fill=st.booleans(),
)


def one_by_one(base: dict[str, Any], listed: list[Patch], claim: dict[str, Any]) -> Any:
    """What the patches do, each applied to a copy that is the document's alone; or what is wrong with them."""
    document, outcomes, problems = copy.deepcopy(base), [], []
    for patch in listed:
        try:
            outcomes.append(patches.apply(patch, {Side.claim: claim, Side.resource: document}))
        except EngineError as error:
            problems += error.problems
    return sorted(set(map(str, problems))) or (document, tuple(outcomes))


def together(template: Template, claim: dict[str, Any]) -> Any:
    try:
        made = compiled(template).make(Reader({Side.claim: claim}), lambda problem, _: problem)
    except ComposeError as error:
        return sorted(map(str, error.problems))
    assert not made.fits or all(-(2**63) <= n < 2**63 for n in integers(made.document))
    return made.document, made.outcomes


def integers(value: Any) -> list[int]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [n for item in inner for n in integers(item)] + ([value] if isinstance(value, int) else [])


@given(OBJECTS, st.lists(PATCHES, max_size=5), st.lists(OBJECTS, min_size=1, max_size=3))
def test_it_does_what_the_patches_do(base: Any, listed: list[Patch], claims: list[Any]) -> None:
    template = Template("t", copy.deepcopy(base), tuple(listed))
    for claim in claims:
        mine, theirs = copy.deepcopy(claim), copy.deepcopy(claim)
        assert repr(together(template, mine)) == repr(one_by_one(base, listed, theirs))
        assert (template.base, mine) == (base, theirs)


@pytest.mark.parametrize(
    ("base", "paths"),
    [
        pytest.param({"a": {"b": 1}}, ["a", "a.b"], id="into-what-was-replaced"),
        pytest.param({}, ["a.b", "a", "a.c"], id="into-what-was-made-and-replaced"),
        pytest.param({"a": {"b": {"c": 1}}}, ["a[*]", "a.b.c"], id="into-what-a-wildcard-replaced"),
        pytest.param({"a": [{"b": 1}]}, ["a[0].b", "a[0].c"], id="into-a-list"),
        pytest.param({"a": None}, ["a.b"], id="into-null"),
    ],
)
def test_patches_that_meet(base: dict[str, Any], paths: list[str]) -> None:
    listed = [Patch(reads=("x",), to=path) for path in paths]
    template = Template("t", copy.deepcopy(base), tuple(listed))
    assert together(template, {"x": "v"}) == one_by_one(base, listed, {"x": "v"})
    assert template.base == base


def test_documents_share_what_no_patch_writes_to() -> None:
    template = Template("t", {"spec": {"same": {"x": 1}, "own": {"y": 1}}}, (Patch(reads=("v",), to="spec.own.y"),))
    one, other = (compiled(template).make(Reader({Side.claim: {"v": v}}), lambda p, _: p).document for v in (2, 3))
    assert one["spec"]["same"] is other["spec"]["same"]
    assert (one["spec"]["own"], other["spec"]["own"]) == ({"y": 2}, {"y": 3})
