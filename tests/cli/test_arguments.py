"""Flags that are pairs or durations."""

from __future__ import annotations

import pytest
import typer

from claimsmith.cli import arguments


@pytest.mark.parametrize(
    ("values", "want"),
    [
        pytest.param(None, {}, id="none"),
        pytest.param(["a/b=1", "c=x=y"], {"a/b": "1", "c": "x=y"}, id="the-first-sign-counts"),
        pytest.param(["a=1", "a=2"], {"a": "2"}, id="a-later-one-wins"),
        pytest.param(["a="], {"a": ""}, id="empty"),
    ],
)
def test_pairs(values: list[str] | None, want: dict[str, str]) -> None:
    assert arguments.pairs(values, "--flag") == want


@pytest.mark.parametrize("text", [pytest.param("a", id="no-sign"), pytest.param("=a", id="no-key")])
def test_refused_pairs(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        arguments.pairs([text], "--flag")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(None, None, id="none"),
        pytest.param("90s", 90.0, id="seconds"),
        pytest.param("1m30s", 90.0, id="minutes-and-seconds"),
        pytest.param("500ms", 0.5, id="milliseconds"),
    ],
)
def test_seconds(text: str | None, want: float | None) -> None:
    assert arguments.seconds(text, "--timeout") == want


@pytest.mark.parametrize("text", [pytest.param("", id="empty"), pytest.param("90", id="no-unit")])
def test_refused_seconds(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        arguments.seconds(text, "--timeout")
