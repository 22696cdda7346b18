"""A review as one HTML page that needs nothing else: no script, no font, no request; light and dark."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

import jinja2
from markupsafe import Markup

from claimsmith.base.printable import visible
from claimsmith.tools import graph as drawing
from claimsmith.tools.graph import Edge, Graph, Node
from claimsmith.tools.review import groups as grouping
from claimsmith.tools.review import text
from claimsmith.tools.review.changes import Change, ClaimChange, Kept, Op, ResourceChange, Review, StackReview
from claimsmith.tools.review.groups import Group, class_label

State = Literal["same", "created", "updated", "replaced", "deleted", "retained"]

_STATES: dict[Op, State] = {
    Op.created: "created",
    Op.updated: "updated",
    Op.replaced: "replaced",
    Op.deleted: "deleted",
    Op.retained: "retained",
    Op.settings: "updated",
    Op.read: "same",
    Op.same: "same",
}
_CLAIMS: dict[Change, State] = {
    Change.added: "created",
    Change.removed: "deleted",
    Change.rebound: "updated",
    Change.changed: "updated",
}


def picture(stack: StackReview, groups: list[Group], link: Callable[[Group], str]) -> Graph:
    """One node for each group of claims to which the same happens, and one for each thing that the stack gives."""
    nodes: dict[str, Node] = {}
    wanted: list[tuple[str, str]] = []
    for group in groups:
        for node, refers in _claim(group, link(group)):
            # An object that is deleted and created is replaced, also if its URN changes.
            twice = node.id in nodes and node.parent is not None
            nodes[node.id] = replace(node, state="replaced") if twice else node
            wanted += [(node.id, to) for to in refers]
    for resource in stack.given:
        node = Node(resource.address, resource.name, resource.kind, "resource", _STATES[resource.op])
        nodes.setdefault(node.id, node)
    edges = [
        Edge(source, to, kind="secret" if nodes[source].kind == "secret" else "refers")
        for source, to in wanted
        if to in nodes and to != source
    ]
    return Graph(tuple(nodes.values()), tuple(dict.fromkeys(edges)))


def _claim(group: Group, href: str) -> Iterator[tuple[Node, tuple[str, ...]]]:
    claim = group.sample
    more = len(group.claims) - 1
    title = f"{claim.short} and {more} more" if more else claim.short
    state = _CLAIMS[claim.change]
    yield Node(claim.claim, title, class_label(claim), "claim", state, href=href, count=len(group.claims)), ()
    yield from _parts(claim, many=bool(more))


def _parts(claim: ClaimChange, *, many: bool) -> Iterator[tuple[Node, tuple[str, ...]]]:
    parts: tuple[ResourceChange | Kept, ...] = (*claim.resources, *claim.kept)
    for one in parts:
        kind: Literal["secret", "resource"] = "secret" if one.kind == "Secret" else "resource"
        name = one.part if many else one.name
        state = _STATES[one.op] if isinstance(one, ResourceChange) else "same"
        yield Node(one.address, one.kind, name, kind, state, parent=claim.claim), one.refers


_STYLED = re.compile(r' style="[^"]*"')
"""A style of the picture's own, which the page's policy would not let through."""
OPEN = 12
"""So many groups of an environment are unfolded from the start."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """An environment, with what the page shows of it."""

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
    # PlannedResource by us, of escaped parts.
    drawn = [Markup(_STYLED.sub(" ", part, count=1)) for part in drawing.svg_parts(graph)] if graph.nodes else []
    return _Shown(stack, found, drawn, anchors)


def _printable(value: Any) -> Any:
    """What the template prints of a value, before it is escaped; what is markup already is ours."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@lru_cache(maxsize=4)
def _template(name: str) -> jinja2.Template:
    source = resources.files("claimsmith.tools.review").joinpath(f"templates/{name}").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.globals |= {
        "summary": text.summary,
        "cause_lines": text.cause_lines,
        "signs": text.SIGNS,
        "pair": grouping.pair,
        "values": grouping.values,
        "class_label": grouping.class_label,
        "merged_problems": grouping.merged_problems,
        "same_warnings": grouping.same_warnings,
    }
    return environment.from_string(source)
