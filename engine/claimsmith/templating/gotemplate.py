"""The go-sprig engine: Go's text/template and a listed subset of sprig's functions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from claimsmith.templating import goeval, goparse, goread, limits
from claimsmith.templating.goparse import Tree
from claimsmith.templating.problems import Finding, TemplateError, raised_at


def render(text: str, data: Mapping[str, Any], *, file: str) -> str:
    """The text that the template makes of the data."""
    with raised_at():
        return str(goeval.execute(_usable(text, file), limits.plain(data)))


def check(text: str, *, file: str) -> list[Finding]:
    """What is wrong or doubtful in the template, before any data exists."""
    try:
        tree = goparse.parse(text, file)
    except TemplateError as error:
        return [Finding(p.what, p.where, p.path, p.fix) for p in error.problems]
    found = [*tree.warnings, *goread.unusable(tree)]
    return sorted(found, key=lambda finding: (finding.where is None, finding.where))


def fields_read(text: str) -> list[str]:
    """The paths of the data that the template reads."""
    return goread.fields(goparse.parse(text))


def reads(text: str) -> list[tuple[str, ...]]:
    """All that the template may read, each path with everything below it."""
    return goread.reads(goparse.parse(text))


@lru_cache(maxsize=256)
def _usable(text: str, file: str) -> Tree:
    """The template's tree; as in Go, a function that is not there is an error even where it would not be called."""
    tree = goparse.parse(text, file)
    found = goread.unusable(tree)
    if found:
        raise TemplateError(*found)
    return tree
