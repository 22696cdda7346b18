"""Pictures of what a stack makes: a graph of claims, classes, resources and Secrets, as SVG.

Data in, text out: the same graph gives the same bytes. A picture needs no script, no font and nothing from outside, and
follows the reader's light or dark setting.
"""

from claimsmith.tools.graph.model import Edge, Graph, Node
from claimsmith.tools.graph.page import page
from claimsmith.tools.graph.svg import style, summary, svg, svg_parts

__all__ = ["Edge", "Graph", "Node", "page", "style", "summary", "svg", "svg_parts"]
