"""The shape of a generated component: what its syntax tree may hold, whatever the class's YAML says."""

from __future__ import annotations

import ast

MODULES = frozenset({"enum", "typing", "pulumi", "claimsmith.deploy"})
METHODS = frozenset(
    {"child", "composite", "templated", "select", "observed", "start_environment", "publish_connection"}
)
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
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                assert [n.name for n in names] == ["pulumi"], f"imports {[n.name for n in names]}"
            case ast.ImportFrom(module=module):
                assert module in MODULES, f"imports {module}"
            case ast.Call(func=ast.Name(id=name)):
                assert name in imported | _BUILT_IN, f"calls {name}"
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                _refuse_call(name, value)
            case ast.Attribute(attr=name):
                assert not name.startswith("__") or name == "__init__", f"reads {name}"
            case ast.FunctionDef(name=name):
                assert name == "__init__", f"defines {name}"
            case ast.Expr(value=value):
                assert isinstance(value, ast.Call | ast.Constant), f"a statement that is {ast.unparse(value)}"
            case _:
                assert isinstance(node, (*_DATA, *_STATEMENTS)), f"holds {type(node).__name__}"
    assert not classes & imported, "a class hides what is imported"


def _refuse_call(name: str, value: ast.expr) -> None:
    match value:
        case ast.Name(id="self"):
            assert name in METHODS, f"calls self.{name}"
        case ast.Call(func=ast.Name(id="super")):
            assert name == "__init__", f"calls super().{name}"
        case _:
            raise AssertionError(f"calls {name} of {ast.unparse(value)}")
