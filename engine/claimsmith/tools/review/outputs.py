"""The output formats of a review: JSON, Markdown, HTML and text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from claimsmith.base.json_answers import Answer
from claimsmith.tools.explain.formatting import plain
from claimsmith.tools.review import markdown, page, text
from claimsmith.tools.review.alerts import alerts, banner
from claimsmith.tools.review.changes import Review


def answer(review: Review) -> Answer:
    """The review for a machine to read. docs/guides/review.md documents its fields."""
    whole: dict[str, Any] = plain(review)
    for entry, stack in zip(whole["stacks"], review.stacks, strict=True):
        entry["counts"] = stack.counts()
        entry["destructive"] = stack.destructive
    head = {
        "banner": banner(review),
        "changes": review.changes,
        "destructive": review.destructive,
        "failed": review.failed,
        "alerts": [{**plain(alert), "count": alert.count} for alert in alerts(review)],
    }
    return Answer("review", {**head, **whole})


def _json(review: Review) -> str:
    return answer(review).text()


def _terminal(review: Review) -> str:
    return "".join("".join(part for _, part in line).rstrip() + "\n" for line in text.lines(review))


WRITERS: Mapping[str, Callable[[Review], str]] = {
    "terminal": _terminal,
    "json": _json,
    "markdown": markdown.markdown,
    "html": page.page,
}
