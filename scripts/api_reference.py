"""Writes docs/reference/api.md from the docstrings and signatures of `claimsmith.deploy`.

scripts/api_reference.py            write the page
scripts/api_reference.py --check    fail if the page is not what would be written
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, is_typeddict

import pulumi

from claimsmith import deploy

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "api.md"
HEAD = """\
# API reference

<!-- generated: scripts/api_reference.py -->
What generated components and your own Pulumi programs import from `claimsmith.deploy`. All other modules of claimsmith
may change in any release. [Generated components](../guides/components.md) shows these names in use.
"""


def page() -> str:
    """The whole page."""
    names = {name: getattr(deploy, name) for name in deploy.__all__}
    components = {n: o for n, o in names.items() if isinstance(o, type) and issubclass(o, pulumi.Resource)}
    specs = {n: o for n, o in names.items() if is_typeddict(o)}
    functions = {n: o for n, o in names.items() if inspect.isroutine(o)}
    others = {n: o for n, o in names.items() if n not in components | specs | functions}
    parts = {
        name: found
        for module in dict.fromkeys(spec.__module__ for spec in specs.values())
        for name, found in vars(sys.modules[module]).items()
        if is_typeddict(found) and name not in specs
    }
    sections = [
        ("Components", "Generated components extend these classes.", components),
        ("Context and identity", "What components share, and what they serve.", others),
        (
            "Functions on values",
            "Each takes plain values and Pulumi Outputs, and returns an Output if it gets one. `Value` is any value of "
            "YAML. A function that gets `ABSENT` returns `ABSENT`, unless it says otherwise.",
            functions,
        ),
        ("Types of claims", "The specs of generated components extend these types.", specs),
        ("Types within these", "The fields of the types above use these types.", parts),
    ]
    text = [HEAD]
    for title, intro, objects in sections:
        text += [f"## {title}\n", f"{textwrap.fill(intro, 120)}\n", *(described(n, o) for n, o in objects.items())]
    return "\n".join(text)


def described(name: str, found: Any) -> str:
    """A name with its signature, its docstring and its parts."""
    if not isinstance(found, type) and not inspect.isroutine(found):
        return f"### `{name}`\n\n{docstring(type(found))}\n"
    node = source(found)
    if isinstance(node, ast.FunctionDef) or not isinstance(found, type):
        assert isinstance(node, ast.FunctionDef)
        return f"### `{name}`\n\n```python\n{signature(node, name)}\n```\n\n{docstring(found)}\n"
    if issubclass(found, enum.Enum):
        return f"### `{name}`\n\n{docstring(found)}\n\nOne of: {', '.join(f'`{m.name}`' for m in found)}.\n"
    lines = [f"### `{name}`\n"]
    constructor = [n for n in functions_of(node) if n.name == "__init__"]
    bases = [base.__name__ for base in found.__bases__ if base.__name__ in deploy.__all__]
    lines += [f"Extends `{base}`.\n" for base in bases]
    lines += [f"```python\n{signature(init, name, method=True)}\n```\n" for init in constructor]
    lines += [f"{docstring(found)}\n", *fields(node)]
    # Of other classes only the constructor is for programs.
    if issubclass(found, pulumi.Resource) or is_dataclass(found):
        for method in methods_of(found):
            if not method.name.startswith("_"):
                kind = "property" if is_property(method) else ""
                shown = method.name if kind else signature(method, method.name, method=True)
                lines += [f"#### `{name}.{method.name}`\n", f"```python\n{shown}\n```\n"]
                lines += [f"{inspect.cleandoc(ast.get_docstring(method) or '')}\n"]
    return "\n".join(lines)


def source(found: Any) -> ast.ClassDef | ast.FunctionDef:
    """The syntax tree of a class or of the function behind its decorators."""
    node = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(found)))).body[0]
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    return node


def methods_of(found: type) -> Iterator[ast.FunctionDef]:
    """The methods that a class has beyond its documented bases: also those of bases that are only a part of it."""
    for part in found.__mro__:
        if part is not found and part.__name__ in deploy.__all__:
            return
        if part is found or part.__module__.startswith(deploy.__name__):
            node = source(part)
            assert isinstance(node, ast.ClassDef)
            yield from functions_of(node)


def functions_of(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The methods of a class; one with overloads counts once."""
    return (inner for inner in node.body if isinstance(inner, ast.FunctionDef) and not is_overload(inner))


def is_overload(node: ast.FunctionDef) -> bool:
    """Whether this is only a signature of a function that follows."""
    return any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)


def is_property(node: ast.FunctionDef) -> bool:
    """Whether a method is read like a field."""
    return any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)


def signature(node: ast.FunctionDef, name: str, *, method: bool = False) -> str:
    """A signature as it is written in the code, one parameter a line if it is long."""
    arguments = node.args
    if method:
        # `self` may stand before the slash that ends positional-only parameters.
        (arguments.posonlyargs or arguments.args).pop(0)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    parts = [exported(part) for part in parameters(arguments)]
    line = f"{name}({', '.join(parts)}){exported(returns)}"
    if len(line) <= 110:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){exported(returns)}"


def exported(text: str) -> str:
    """A type as programs know it: by the name under which `claimsmith.deploy` exports it, without quotes."""
    for name in deploy.__all__:
        inner = getattr(getattr(deploy, name), "__name__", name)
        text = re.sub(rf"\b{inner}\b", name, text) if inner[0].isupper() else text
    return re.sub(r"(-> |: )'([^']*)'", r"\1\2", text)


def parameters(arguments: ast.arguments) -> Iterator[str]:
    """Each parameter as text, with the signs between them."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for index, (argument, default) in enumerate(zip(positional, defaults, strict=True), start=1):
        yield parameter(argument, default)
        if index == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield parameter(argument, default)
    if arguments.kwarg:
        yield f"**{ast.unparse(arguments.kwarg)}"


def parameter(argument: ast.arg, default: ast.expr | None) -> str:
    """A parameter with its type and default."""
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def fields(node: ast.ClassDef) -> Iterator[str]:
    """The annotated fields of a class as a table, each with the text below it; those for type checkers too."""
    rows = []
    body = [inner for part in node.body for inner in (part.body if isinstance(part, ast.If) else [part])]
    for index, inner in enumerate(body):
        match inner:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if not name.startswith("_"):
                match body[index + 1 : index + 2]:
                    case [ast.Expr(value=ast.Constant(value=str(text)))]:
                        description = " ".join(text.split())
                    case _:
                        description = ""
                rows.append(
                    f"| `{name}` | `{ast.unparse(annotation)}` | {description} |".replace(" | None", " or None")
                )
    if rows:
        yield "| field | type | |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n"


def docstring(found: Any) -> str:
    """The docstring of an object."""
    return inspect.cleandoc(inspect.getdoc(found) or "")


def main() -> int:
    """Write the page, or with `--check` compare it."""
    text = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print("docs/reference/api.md is not current; run: .venv/bin/python scripts/api_reference.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
