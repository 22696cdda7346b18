"""A review as one HTML page that needs nothing else: no script, no font, no request; light and dark."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from claimsmith import drawing
from claimsmith.printable import visible
from claimsmith.review import groups as grouping
from claimsmith.review import text
from claimsmith.review.changes import Review, StackReview, Warned
from claimsmith.review.groups import Group
from claimsmith.review.picture import picture

_STYLED = re.compile(r' style="[^"]*"')
"""A style of the picture's own, which the page's policy would not let through."""
OPEN = 12
"""So many groups of an environment are unfolded from the start."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """An environment with what the page says of it."""

    stack: StackReview
    groups: list[Group]
    pictures: list[Markup]
    anchors: dict[str, str] = field(default_factory=dict)
    """The place in the page of each claim."""


def page(review: Review) -> str:
    """The whole page. What comes from files is escaped; the style sheet is the only one that a browser may apply."""
    style = Markup(_template("review.css.j2").render() + drawing.style())
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _template("review.html.j2").render(
        review=review,
        stacks=[_shown(s) for s in review.stacks],
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        style=style,
        verdict=text.verdict(review),
        open=OPEN,
    )


def _shown(stack: StackReview) -> _Shown:
    found = grouping.groups(stack.claims)
    anchors = {c.claim: f"claim-{stack.stack}-{index}" for index, group in enumerate(found) for c in group.claims}
    graph = picture(stack, found, lambda group: f"#{anchors[group.sample.claim]}")
    # Made by us, of escaped parts.
    drawn = [Markup(_STYLED.sub(" ", part, count=1)) for part in drawing.svg_parts(graph)] if graph.nodes else []
    return _Shown(stack, found, drawn, anchors)


def _claim_of(warned: Warned, shown: _Shown) -> str:
    """The place of the claim that a warning is about; empty where there is none."""
    return shown.anchors.get(warned.claim, "")


def _printable(value: Any) -> Any:
    """What the template prints of a value, before it is escaped; what is markup already is ours."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@lru_cache(maxsize=4)
def _template(name: str) -> jinja2.Template:
    source = resources.files("claimsmith").joinpath(f"templates/{name}").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.globals |= {
        "summary": text.summary,
        "cause_words": text.cause_words,
        "signs": text.SIGNS,
        "pair": grouping.pair,
        "values": grouping.values,
        "class_words": grouping.class_words,
        "same_words": grouping.same_words,
        "same_warnings": grouping.same_warnings,
        "claim_of": _claim_of,
    }
    return environment.from_string(source)
