"""What stacks need and are labelled with, read from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.tools.fleet import links
from tests.support.fleet_files import fleet


@pytest.mark.parametrize(
    ("files", "want"),
    [
        pytest.param({}, {"a": (), "b": (), "c": ()}, id="nothing"),
        pytest.param({"given_by": {"b": "a"}}, {"a": (), "b": ("a",), "c": ()}, id="a-resource-of-another-stack"),
        pytest.param({"after": {"c": ["a", "b"]}}, {"a": (), "b": (), "c": ("a", "b")}, id="a-setting"),
        pytest.param({"after": {"c": '["a"]'}}, {"a": (), "b": (), "c": ("a",)}, id="as-pulumi-config-keeps-it"),
        pytest.param(
            {"given_by": {"b": "a"}, "after": {"b": ["a", "c"]}}, {"a": (), "b": ("a", "c"), "c": ()}, id="both"
        ),
    ],
)
def test_needs(tmp_path: Path, files: dict[str, Any], want: links.Needs) -> None:
    assert links.needs(fleet(tmp_path, ("a", "b", "c"), **files), ("a", "b", "c")) == want


@pytest.mark.parametrize(
    ("files", "what"),
    [
        pytest.param({"given_by": {"b": "aa"}}, "needs the stack 'aa', which is not there", id="unknown"),
        pytest.param({"after": {"b": ["bb"]}}, "stacks/Pulumi.b.yaml:2:", id="unknown-in-a-setting"),
        pytest.param({"after": {"b": ["b"]}}, "'b' needs itself", id="itself"),
        pytest.param({"after": {"b": ["a"], "a": ["b"]}}, "circle: ", id="a-circle"),
        pytest.param({"after": {"b": "a"}}, "claimsmith:after is not a list of stacks", id="a-text"),
        pytest.param({"after": {"b": [1]}}, "claimsmith:after: [network]", id="a-number"),
    ],
)
def test_refused_needs(tmp_path: Path, files: dict[str, Any], what: str) -> None:
    with pytest.raises(EngineError) as error:
        links.needs(fleet(tmp_path, ("a", "b"), **files), ("a", "b"))
    assert what in str(error.value)
    assert "fix:" in str(error.value)


def test_needs_among_some_go_through_the_others() -> None:
    needed: links.Needs = {"a": (), "b": ("a",), "c": ("b",), "d": ()}
    assert links.within(needed, ["a", "c", "d"]) == {"a": (), "c": ("a",), "d": ()}
    assert links.turned(needed) == {"a": ("b",), "b": ("c",), "c": (), "d": ()}


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(None, {}, id="none"),
        pytest.param(
            {"team": "shop", "tier": 1, "public": True}, {"team": "shop", "tier": "1", "public": "true"}, id="all"
        ),
        pytest.param('{"team": "shop"}', {"team": "shop"}, id="as-pulumi-config-keeps-it"),
    ],
)
def test_labels(tmp_path: Path, value: Any, want: dict[str, str]) -> None:
    made = fleet(tmp_path, ("a",), labels={} if value is None else {"a": value})
    assert links.labels(made, "a") == want


@pytest.mark.parametrize("value", ["shop", ["shop"], {"team": ["shop"]}], ids=["text", "list", "nested"])
def test_refused_labels(tmp_path: Path, value: Any) -> None:
    with pytest.raises(EngineError, match="claimsmith:labels is not an object of texts"):
        links.labels(fleet(tmp_path, ("a",), labels={"a": value}), "a")
