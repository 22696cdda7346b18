"""The shape of a generated component: what its syntax tree may hold, whatever the class's YAML says."""

from __future__ import annotations

import ast
import re

MODULES = frozenset({"enum", "typing", "pulumi", "claimsmith.deploy"})
METHODS = frozenset(
    {"child", "composite", "templated", "select", "selected", "observed", "start_environment", "publish_connection"}
    | {"child_name", "child_options", "claim_labels", "claim_tags", "config", "external_name", "publish_details"}
    | {"each", "holds", "pipeline"}
)
_SDK = re.compile(r"pulumi_[a-z0-9_]+")
_BUILT_IN = frozenset({"super", "dict"})
_DATA = (
    ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Load, ast.Store, ast.UnaryOp, ast.USub, ast.keyword, ast.arg,
    ast.arguments, ast.Subscript, ast.BinOp, ast.BitOr, ast.alias, ast.Name, ast.Pass,
)  # fmt: skip
_STATEMENTS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Expr)


def refuse_foreign(tree: ast.Module) -> None:
    """Fail where the tree holds anything that no component has: other imports, calls, attributes or statements."""
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    sdks = {a.asname or a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names} - {"pulumi"}
    elements = {ast.unparse(n.target) for n in ast.walk(tree) if isinstance(n, ast.For)}
    composed = {
        ast.unparse(n.targets[0])
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and ast.unparse(n.value).startswith("self.pipeline(")
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                shown = [(n.name, n.asname) for n in names]
                assert len(names) == 1, f"imports {shown}"
                assert shown == [("pulumi", None)] or _is_sdk(names[0]), f"imports {shown}"
            case ast.ImportFrom(module=module):
                assert module in MODULES, f"imports {module}"
            case ast.Call(func=ast.Name(id=name)):
                assert name in imported | _BUILT_IN, f"calls {name}"
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                _refuse_call(name, value, sdks, elements)
            case ast.Attribute(attr=name):
                assert not name.startswith("__") or name == "__init__", f"reads {name}"
            case ast.FunctionDef(name=name):
                assert name == "__init__", f"defines {name}"
            case ast.Expr(value=value):
                assert isinstance(value, ast.Call | ast.Constant), f"a statement that is {ast.unparse(value)}"
            case ast.For(target=ast.Name(), iter=ast.Call(func=func), orelse=[]):
                assert ast.unparse(func) == "self.each", f"a loop over {ast.unparse(node.iter)}"
            case ast.If(test=ast.Call(func=func), orelse=[]):
                assert ast.unparse(func) in ("is_set", "self.holds"), f"a condition that is {ast.unparse(node.test)}"
            case ast.Starred(value=ast.Name(id=name)):
                assert name in composed, f"spreads {name}"
            case _:
                assert isinstance(node, (*_DATA, *_STATEMENTS)), f"holds {type(node).__name__}"
    assert not classes & imported, "a class hides what is imported"


def _is_sdk(alias: ast.alias) -> bool:
    """Whether the SDK of a provider is imported, under the name of its package."""
    return bool(_SDK.fullmatch(alias.name)) and alias.asname == alias.name.removeprefix("pulumi_")


def _refuse_call(name: str, value: ast.expr, sdks: set[str], elements: set[str]) -> None:
    root, *_ = ast.unparse(value).split(".")
    if root in sdks:
        # A resource, or a member of an enum, of a module of that SDK.
        assert name[0].isupper(), f"calls {name} of {ast.unparse(value)}"
        return
    match value:
        case ast.Attribute(attr="Output", value=ast.Name(id="pulumi")):
            assert name == "format", f"calls pulumi.Output.{name}"
        case ast.Name(id="spec"):
            assert name == "get", f"calls spec.{name}"
        case ast.Name(id="self"):
            assert name in METHODS, f"calls self.{name}"
        case ast.Name(id=element) if element in elements:
            assert name == "child", f"calls {name} of an element"
        case ast.Call(func=ast.Name(id="super")):
            assert name == "__init__", f"calls super().{name}"
        case _:
            raise AssertionError(f"calls {name} of {ast.unparse(value)}")
