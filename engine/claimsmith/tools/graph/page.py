"""A graph as an HTML page that needs nothing else: pictures first, then the same in words.

No script, and nothing from outside: the page's own policy forbids both. On a narrow window pictures keep their size and
scroll by themselves, the words below need no scrolling.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from claimsmith.base.grouping import grouped
from claimsmith.tools.graph import style
from claimsmith.tools.graph.model import Edge, Graph, Node
from claimsmith.tools.graph.svg import FOLD_ABOVE, summary, svg_parts
from claimsmith.tools.graph.text import escape

OPEN = 24
"""Up to how many things the words below are unfolded from the start."""
_KINDS = {"class": "class", "claim": "claim", "field": "field", "resource": "resource", "secret": "connection Secret"}
_EDGES = {
    "makes": "serves",
    "gives": "gives a value to",
    "refers": "refers to",
    "secret": "gives connection details to",
}
_PARTS = (
    ("claim", "Claims"),
    ("field", "Fields"),
    ("resource", "Resources"),
    ("secret", "Secrets"),
    ("class", "Classes"),
)

_STROKE = (
    '<svg width="26" height="10" aria-hidden="true"><path class="line" d="M0 5H20"/>'
    '<path class="head" d="M26 5L20 1.5L20 8.5z"/></svg>'
)
_RULES = """
:root{color-scheme:light dark;--page:#fbfcfe;--panel:#fff}
@media (prefers-color-scheme: dark){:root{--page:#0f141b;--panel:#151a22}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--cs-ink);line-height:1.5;-webkit-text-size-adjust:100%}
main{max-width:104rem;margin:0 auto;padding:1.75rem clamp(1rem,3vw,2.5rem) 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:.8rem;margin:2.25rem 0 .6rem;color:var(--cs-soft);text-transform:uppercase;letter-spacing:.06em}
header p{margin:.3rem 0 0;color:var(--cs-soft)}
a{color:inherit;text-decoration-color:var(--cs-line);text-underline-offset:2px}
a:hover{text-decoration-color:currentColor}
.legend{display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;margin:1rem 0 0;padding:0;list-style:none;font-size:.85rem}
.legend li{display:flex;align-items:center;gap:.45rem;color:var(--cs-soft)}
.pictures{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.25rem -.75rem 0}
figure{margin:0;max-width:100%;overflow-x:auto;border-radius:12px}
figure:focus-visible{outline:2px solid var(--cs-updated)}
figure>svg{display:block;max-width:100%;height:auto}
.words{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,27rem),1fr));align-items:start}
details{border:1px solid var(--cs-edge);border-radius:10px;background:var(--panel);scroll-margin:1rem;font-size:.92rem}
details:target{border-color:var(--cs-claim);box-shadow:0 0 0 1px var(--cs-claim)}
summary{cursor:pointer;padding:.6rem .8rem;overflow-wrap:anywhere;list-style:none;display:flex;gap:.55rem}
summary::-webkit-details-marker{display:none}
summary::after{content:"›";margin-left:auto;color:var(--cs-soft);line-height:1.3}
details[open]>summary::after{transform:rotate(90deg)}
summary:focus-visible{outline:2px solid var(--cs-updated);border-radius:10px}
.signs{position:absolute;width:0;height:0}
.i{flex:none;width:14px;height:14px;margin-top:.28em}
b{font-weight:600}
small,.to,code{color:var(--cs-soft);font-size:.88em}
ul{list-style:none;margin:0;padding:0}
details>ul{padding:0 .8rem .7rem 2.15rem}
li{overflow-wrap:anywhere}
details li{padding:.12rem 0}
.row{display:flex;gap:.55rem}
li>ul{padding-left:.45rem;margin-left:.4rem;border-left:1px solid var(--cs-edge)}
.to{display:block}
code,small{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media print{details{break-inside:avoid}figure>svg{min-width:0}}
"""


def page(graph: Graph, *, title: str, lead: str = "", fold_above: int = FOLD_ABOVE) -> str:
    """The graph as a page. Each node links to its description on the page."""
    anchors = anchors_of(graph)
    linked = replace(graph, nodes=tuple(replace(n, href=f"#{anchors[graph.above(n.id)[-1]]}") for n in graph.nodes))
    pictures = "".join(f'<figure tabindex="0">{p}</figure>\n' for p in svg_parts(linked, fold_above=fold_above))
    counted = " · ".join(filter(None, [lead, summary(graph)]))
    rules = f"{style.css()}{_RULES}"
    digest = base64.b64encode(hashlib.sha256(rules.encode()).digest()).decode()
    # Nothing but this one style sheet: no script, no request, no style that a name injects.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{rules}</style>\n</head>\n"
    )
    body = [
        f'<body class="cs-graph"><main>\n<header><h1>{escape(title)}</h1>\n<p>{escape(counted)}</p></header>',
        _signs(),
        _legend(graph),
        f'<div class="pictures">\n{pictures}</div>',
        *_description(graph, anchors),
        "</main></body>\n</html>\n",
    ]
    return head + "\n".join(body)


def anchors_of(graph: Graph) -> dict[str, str]:
    """The anchor of each outermost node's description."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for node in graph.within(None):
        plain = name = re.sub(r"[^a-z0-9]+", "-", node.id.lower()).strip("-") or "node"
        number = 2
        while name in taken:
            name, number = f"{plain}-{number}", number + 1
        taken.add(name)
        found[node.id] = name
    return found


def _legend(graph: Graph) -> str:
    kinds = [k for k in _KINDS if any(n.kind == k for n in graph.nodes)]
    edges = [k for k in _EDGES if any(e.kind == k and _is_shown(graph, e) for e in graph.edges)]
    things = [f'<li class="{k}">{_sign(k)}{_KINDS[k]}</li>' for k in kinds]
    lines = [f'<li class="{k}">{_STROKE}{_EDGES[k]}</li>' for k in edges]
    return f'<ul class="legend">{"".join(things + lines)}</ul>'


def _signs() -> str:
    """The signs, once: each place that shows one refers to it."""
    symbols = (f'<symbol id="sign-{k}" viewBox="0 0 14 14"><path d="{p}"/></symbol>' for k, p in style.SIGNS.items())
    return f'<svg class="signs" aria-hidden="true">{"".join(symbols)}</svg>'


def _sign(kind: str) -> str:
    return f'<svg class="i sign" aria-hidden="true"><use href="#sign-{kind}"/></svg>'


def _description(graph: Graph, anchors: Mapping[str, str]) -> Iterator[str]:
    outermost = graph.within(None)
    unfolded = " open" if len(outermost) <= OPEN else ""
    outgoing = grouped((e for e in graph.edges if _is_shown(graph, e)), lambda edge: edge.source)
    for kind, heading in _PARTS:
        nodes = [n for n in outermost if n.kind == kind]
        if nodes:
            yield f'<h2>{heading}</h2>\n<div class="words">'
        for node in nodes:
            yield f'<details id="{anchors[node.id]}" class="{node.kind}"{unfolded}><summary>{_sign(node.kind)}'
            yield f"<span><b>{escape(node.title)}</b> <small>{escape(node.subtitle)}</small>{_state(node)}</span>"
            yield "</summary><ul>"
            yield from (f"<li><code>{escape(line)}</code></li>" for line in node.note.split("\n") if line)
            yield from (f"<li>{_edge(graph, e, anchors)}</li>" for e in outgoing.get(node.id, ()))
            yield from _items(graph, node, outgoing, anchors)
            yield "</ul></details>"
        if nodes:
            yield "</div>"


def _items(graph: Graph, node: Node, outgoing: Mapping[str, list[Edge]], anchors: Mapping[str, str]) -> Iterator[str]:
    """What is within a node, each with where its edges lead."""
    for part in graph.within(node.id):
        edges = "".join(_edge(graph, e, anchors) for e in outgoing.get(part.id, ()))
        yield f'<li class="{part.kind}"><div class="row">{_sign(part.kind)}'
        yield f"<span>{escape(part.title)} <small>{escape(part.subtitle)}</small>{_state(part)}{edges}</span></div>"
        if graph.within(part.id):
            yield "<ul>"
            yield from _items(graph, part, outgoing, anchors)
            yield "</ul>"
        yield "</li>"


def _is_shown(graph: Graph, edge: Edge) -> bool:
    """Whether an edge shows more than nesting."""
    return edge.source not in graph.above(edge.target)


def _edge(graph: Graph, edge: Edge, anchors: Mapping[str, str]) -> str:
    """Where an edge leads: a link if it is described elsewhere on the page."""
    target, outer = graph.by_id[edge.target], graph.above(edge.target)[-1]
    name = escape(" ".join(filter(None, (target.title, target.subtitle))))
    if outer != graph.above(edge.source)[-1]:
        place = f" in {escape(graph.by_id[outer].title)}" if outer != edge.target else ""
        name = f'<a href="#{anchors[outer]}">{name}{place}</a>'
    if edge.kind == "makes" and edge.label:
        return f'<span class="to">{escape(edge.label)} {name}</span>'
    label = f" ({escape(edge.label)})" if edge.label else ""
    return f'<span class="to">{_EDGES[edge.kind]} {name}{label}</span>'


def _state(node: Node) -> str:
    return f" <i>{node.state}</i>" if node.state != "same" else ""
