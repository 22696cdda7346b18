"""What a jinja2 template may contain, and how its tree is changed so that everything in it is counted.

A template is parsed by jinja2 itself. `problems` names all that is outside the subset; `counted` then puts hidden
filters (their names cannot be written in a template) around loops, literals, comparisons and the like.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from claimsmith.base.errors import Source, suggest
from claimsmith.templating import jinja_functions, limits
from claimsmith.templating.problems import Finding

LOOP, CONCAT, VALUE, SLICE, WEIGHED = "!loop", "!concat", "!value", "!slice", "!weighed"
"""The hidden filters."""

TOP_FUNCTIONS: Final = ("range",)

_LOADERS = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_OUTSIDE: Final[dict[type[nodes.Node], str]] = {
    nodes.Block: "block",
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "filter blocks",
    nodes.AssignBlock: "set blocks",
    nodes.ScopedEvalContextModifier: "autoescape",
    nodes.NSRef: "namespace",
}
_STATEMENTS = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.With)
_EXPRESSIONS = (
    nodes.Name,
    nodes.Const,
    nodes.Tuple,
    nodes.List,
    nodes.Dict,
    nodes.Pair,
    nodes.Keyword,
    nodes.CondExpr,
    nodes.Filter,
    nodes.Test,
    nodes.Call,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Concat,
    nodes.Compare,
    nodes.Operand,
    nodes.BinExpr,
    nodes.UnaryExpr,
)


def problems(tree: nodes.Template, file: str) -> list[Finding]:
    """All that is outside the subset."""
    found: dict[Finding, None] = {}
    for node, depth in walk(tree):
        where = Source(file, node.lineno or 1)
        if depth > limits.MAX_DEPTH:
            return [Finding("nested too deeply", where, fix="make the template flatter")]
        for what, fix in _complaints(node):
            found[Finding(what, where, fix=fix)] = None
    return [*found]


def walk(tree: nodes.Node) -> Iterator[tuple[nodes.Node, int]]:
    """Every node with its depth, in the order of the text; not deeper than just past the limit."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if depth <= limits.MAX_DEPTH:
            waiting.extend((child, depth + 1) for child in reversed([*node.iter_child_nodes()]))


def _complaints(node: nodes.Node) -> Iterator[tuple[str, str]]:
    match node:
        case nodes.Filter(name=name) if name not in jinja_functions.FILTERS:
            yield _refused_filter(name)
        case nodes.Test(name=name) if name not in jinja_functions.TESTS:
            yield f"the test {name} is outside the subset", suggest(name, jinja_functions.TESTS)
        case nodes.Getattr(attr=attr) if attr.startswith("_"):
            yield f"the attribute {attr!r} cannot be read", "read fields of the data only"
        case nodes.For(recursive=True):
            yield "recursive loops are outside the subset of jinja2", "write the levels out"
        case nodes.Name(name="self" | "super" | "caller" | "varargs" | "kwargs" as name):
            yield f"{name} is outside the subset of jinja2", "read fields of the data only"
        case nodes.Name(name="lipsum" | "cycler" | "joiner" | "namespace" | "dict" as name, ctx="load"):
            yield f"{name} is outside the subset of jinja2", "write a literal, or use loop.cycle and loop.first"
        case _ if isinstance(node, _LOADERS):
            word = type(node).__name__.removeprefix("From").lower()
            yield f"{word} is refused: a template cannot read other templates or files", "write the text out"
        case _ if type(node) in _OUTSIDE:
            yield f"{_OUTSIDE[type(node)]} is outside the subset of jinja2", "write the text where it is used"
        case _ if not isinstance(node, (*_STATEMENTS, *_EXPRESSIONS)):
            yield f"{type(node).__name__.lower()} is outside the subset of jinja2", "write it another way"
    if getattr(node, "dyn_args", None) or getattr(node, "dyn_kwargs", None):
        yield "* and ** arguments are outside the subset of jinja2", "write the arguments out"


_REFUSED_FILTERS: Final = {
    "random": ("the filter random is refused: a template has no randomness", "use first or last"),
    "attr": ("the filter attr is refused: it reads attributes of objects", "write .field, or ['field']"),
}


def _refused_filter(name: str) -> tuple[str, str]:
    fix = suggest(name, jinja_functions.FILTERS)
    return _REFUSED_FILTERS.get(name, (f"the filter {name} is outside the subset of jinja2, or unknown", fix))


def names_set(tree: nodes.Template) -> frozenset[str]:
    """The variables that the template gives values to."""
    found = (node for node, _ in walk(tree) if isinstance(node, nodes.Name) and node.ctx != "load")
    return frozenset(node.name for node in found) | {"loop", *TOP_FUNCTIONS}


# Counting


def counted(tree: nodes.Template) -> nodes.Template:
    """The tree, changed in place so that what it does is counted."""
    changed: nodes.Template = _Counting().visit(tree)
    return changed


def _hidden(name: str, node: nodes.Node, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [*args], [], None, None, lineno=node.lineno)


class _Counting(NodeTransformer):
    """Puts the hidden filters in."""

    def visit_For(self, node: nodes.For) -> nodes.For:
        weight = sum(1 for part in (*node.body, *([node.test] if node.test else [])) for _ in walk(part))
        self.generic_visit(node)
        node.iter = _hidden(LOOP, node.iter, nodes.Const(weight, lineno=node.lineno))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Expr:
        self.generic_visit(node)
        return _hidden(CONCAT, nodes.List(node.nodes, lineno=node.lineno))

    def visit_List(self, node: nodes.List) -> nodes.Expr:
        self.generic_visit(node)
        return _hidden(VALUE, node)

    visit_Dict = visit_List

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:
        self.generic_visit(node)
        return _hidden(VALUE, node) if node.ctx == "load" else node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        nothing = nodes.Const(None, lineno=node.lineno)
        bounds = (node.arg.start, node.arg.stop, node.arg.step)
        return _hidden(SLICE, node.node, *(bound or nothing for bound in bounds))

    def visit_Compare(self, node: nodes.Compare) -> nodes.Compare:
        self.generic_visit(node)
        node.expr = _hidden(WEIGHED, node.expr)
        for operand in node.ops:
            operand.expr = _hidden(WEIGHED, operand.expr)
        return node
