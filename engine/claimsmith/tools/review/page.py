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
from claimsmith.tools.review import text, values
from claimsmith.tools.review.alerts import alerts, banner, subject_of
from claimsmith.tools.review.changes import Change, ClaimChange, Kept, Level, Op, ResourceChange, Review, StackReview
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
            nodes[node.id] = (
                replace(node, state="replaced", danger=node.danger or nodes[node.id].danger) if twice else node
            )
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
    danger, count = bool(group.dangers), len(group.claims)
    yield Node(claim.claim, title, class_label(claim), "claim", state, href=href, count=count, danger=danger), ()
    yield from _parts(claim, group.dangers, many=bool(more))


def _parts(claim: ClaimChange, dangers: frozenset[str], *, many: bool) -> Iterator[tuple[Node, tuple[str, ...]]]:
    parts: tuple[ResourceChange | Kept, ...] = (*claim.resources, *claim.kept)
    for one in parts:
        kind: Literal["secret", "resource"] = "secret" if one.kind == "Secret" else "resource"
        name = one.part if many else one.name
        state = _STATES[one.op] if isinstance(one, ResourceChange) else "same"
        danger = isinstance(one, ResourceChange) and one.part in dangers
        yield Node(one.address, one.kind, name, kind, state, parent=claim.claim, danger=danger), one.refers


_LEGEND = {Op.created: "+", Op.updated: "~", Op.replaced: "±", Op.deleted: "−", Op.retained: "="}
"""The marks of the graph."""
_STYLED = re.compile(r' style="[^"]*"')
"""A style of the picture's own, which the page's policy would not let through."""
OPEN = 12
"""So many groups of an environment are unfolded from the start."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """An environment, with what the page shows of it."""

    stack: StackReview
    mark: str
    """The class of all that belongs to it."""
    groups: list[Group]
    pictures: list[Markup]
    anchors: dict[str, str] = field(default_factory=dict)
    """The place in the page of each claim."""


def page(review: Review) -> str:
    """The whole page. What comes from files is escaped; the style sheet is the only one that a browser may apply."""
    stacks = [_shown(stack, f"e{index}") for index, stack in enumerate(review.stacks)]
    kinds = _kinds(review)
    filters = _filters([s.mark for s in stacks], list(kinds.values()))
    style = Markup(_template("review.css.j2").render() + drawing.style() + filters)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _template("review.html.j2").render(
        review=review,
        stacks=stacks,
        marks={s.stack.stack: s.mark for s in stacks},
        anchors={(s.stack.stack, claim): place for s in stacks for claim, place in s.anchors.items()},
        kinds=kinds,
        alerts=alerts(review),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        style=style,
        banner=banner(review),
        open=OPEN,
        lines=text.LINES,
        shown_values=text.VALUES,
        loud=Level.danger,
    )


def _kinds(review: Review) -> dict[str, str]:
    """The kinds of touched claims and resources, each with its class in the page."""
    claims = {c.claim.partition(".")[0] for s in review.stacks for c in s.claims}
    resources = {r.kind for s in review.stacks for r in s.resources()}
    return {kind: f"k{index}" for index, kind in enumerate(sorted(claims | resources))}


def _filters(stacks: list[str], kinds: list[str]) -> str:
    """The rules of the filters. The page has no scripts: what a filter hides is decided by its selected option."""

    def rule(name: str, value: str, hidden: str) -> str:
        return f"body:has(#by-{name} option[value={value}]:checked) {hidden}{{display:none}}"

    return "".join(
        [
            rule("danger", "danger", ".change:not(.endangered)"),
            *(rule("stack", mark, f".of-stack:not(.{mark})") for mark in stacks),
            *(rule("kind", mark, f".change:not(.{mark})") for mark in kinds),
        ]
    )


def _shown(stack: StackReview, mark: str) -> _Shown:
    found = grouping.groups(stack)
    anchors = {c.claim: f"claim-{stack.stack}-{index}" for index, group in enumerate(found) for c in group.claims}
    graph = picture(stack, found, lambda group: f"#{anchors[group.sample.claim]}")
    # Drawn by us, of escaped parts.
    drawn = [Markup(_STYLED.sub(" ", part, count=1)) for part in drawing.svg_parts(graph)] if graph.nodes else []
    return _Shown(stack, mark, found, drawn, anchors)


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
        "risk": text.risk,
        "stay_words": text.stay_words,
        "signs": text.SIGNS,
        "legend": _LEGEND,
        "variants": values.variants,
        "class_label": grouping.class_label,
        "folded_warnings": grouping.folded_warnings,
        "subject_of": subject_of,
    }
    return environment.from_string(source)
