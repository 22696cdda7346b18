"""Reads classes out of the source of a generated Pulumi SDK, without importing it.

A file of a large SDK has megabytes and thousands of classes, so only the classes that are asked for are parsed: their
text is cut out at the lines that begin a class, and given to `ast`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from claimsmith.providers.resource_types import (
    AnyType,
    EnumOf,
    ListOf,
    MapOf,
    OneOf,
    Property,
    Scalar,
    ScalarKind,
    TypeRef,
)

Named = Callable[[str], TypeRef]
"""What a quoted name in an annotation stands for, in the file that it is written in."""

_SCALARS: dict[str, ScalarKind] = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_WRAPPERS = {"Input", "Output", "Optional", "NotRequired", "Awaitable"}
_IMPORTED = re.compile(r"^from (\.+)(\w*) import (\w+)(?: as (\w+))?$", re.M)
_NEXT = re.compile(r"^(?:class |@|[A-Za-z_])", re.M)
_REGISTERED = re.compile(r'resource_modules="""\n(.*?)"""', re.S)


def registered(text: str) -> str:
    """The JSON list of resource modules in the first file of an SDK; empty if it has none."""
    found = _REGISTERED.search(text)
    return found[1] if found else ""


def has_class(text: str, name: str) -> bool:
    """Whether a file declares a class of that name."""
    return f"\nclass {name}(" in text or f"\nclass {name}:" in text


def class_of(text: str, name: str) -> ast.ClassDef | None:
    """One top-level class of a file, parsed alone."""
    start = max(text.find(f"\nclass {name}("), text.find(f"\nclass {name}:")) + 1
    if not start:
        return None
    for end in _ends(text, start):
        try:
            [node] = ast.parse(text[start:end]).body
        except (SyntaxError, ValueError):  # a line inside of a text that looks like the next class
            continue
        return node if isinstance(node, ast.ClassDef) else None
    return None


def _ends(text: str, start: int) -> Iterator[int]:
    for found in _NEXT.finditer(text, text.find("\n", start) + 1):
        yield found.start()
    yield len(text)


def imported_modules(text: str, folder: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """The modules of the SDK that a file imports, by the names that it gives them."""
    modules = {}
    for dots, below, name, alias in _IMPORTED.findall(text[: text.find("\nclass ")]):
        parent = folder[: len(folder) - len(dots) + 1]
        modules[alias or name] = (*parent, *([below] if below else []), name)
    return modules


def type_of(node: ast.expr | None, named: Named) -> TypeRef:
    """The type that an annotation stands for."""
    match node:
        case ast.Constant(value=str(name)):
            return _quoted(name, named)
        case ast.Subscript(value=base, slice=inner):
            return _subscript(_last(base), inner, named)
        case ast.Name() | ast.Attribute():
            kind = _SCALARS.get(_last(node))
            return Scalar(kind) if kind else AnyType()
        case _:
            return AnyType()


def _quoted(name: str, named: Named) -> TypeRef:
    if re.fullmatch(r"[\w.]+", name):
        return named(name)
    return type_of(ast.parse(name, mode="eval").body, named)


def _subscript(base: str, inner: ast.expr, named: Named) -> TypeRef:
    if base in _WRAPPERS:
        return type_of(inner, named)
    if base in {"Sequence", "List", "list"}:
        return ListOf(type_of(inner, named))
    if base in {"Mapping", "Dict", "dict"}:
        return MapOf(type_of(inner.elts[1], named) if isinstance(inner, ast.Tuple) else AnyType())
    if base == "Union" and isinstance(inner, ast.Tuple):
        return _union([option for option in inner.elts if not _repeats(option)], named)
    return AnyType()


def _repeats(option: ast.expr) -> bool:
    """Whether an option of a union is another form of the one before it: a TypedDict, or the output type."""
    match option:
        case ast.Constant(value=str(name)):
            return name.endswith("ArgsDict") or "outputs." in name
        case _:
            return False


def _union(options: list[ast.expr], named: Named) -> TypeRef:
    flat: dict[TypeRef, None] = {}
    for option in options:
        kind = type_of(option, named)
        flat.update(dict.fromkeys(kind.options if isinstance(kind, OneOf) else (kind,)))
    if AnyType() in flat:
        return AnyType()
    match tuple(flat):
        case (only,):
            return only
        case (Scalar(kind="string"), EnumOf(name=name, values=values)):
            return EnumOf(name, values, open=True)
        case several:
            return OneOf(several)


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class Getter:
    """A property of a class: Pulumi's name, Python's name, its annotation, and what is written about it."""

    name: str
    python: str
    annotation: ast.expr | None
    deprecated: str
    description: str


def getters(node: ast.ClassDef) -> list[Getter]:
    """The properties that a class declares with `pulumi.getter`."""
    functions = [f for f in node.body if isinstance(f, ast.FunctionDef)]
    return [found for f in functions if (found := _getter(f)) is not None]


def _getter(function: ast.FunctionDef) -> Getter | None:
    name, deprecated = None, ""
    for decorator in function.decorator_list:
        match decorator:
            case ast.Attribute(attr="getter"):
                name = function.name
            case ast.Call(
                func=ast.Attribute(attr="getter"), keywords=[ast.keyword(arg="name", value=ast.Constant(value=v))]
            ):
                name = str(v)
            case ast.Call(func=ast.Attribute(attr="deprecated"), args=[ast.Constant(value=message), *_]):
                deprecated = str(message)
    if name is None:
        return None
    return Getter(name, function.name, function.returns, deprecated, docstring(function))


def docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    """What is written about a class or property, without the line breaks of its lines' ends."""
    return inspect.cleandoc(ast.get_docstring(node) or "")


def required_arguments(node: ast.ClassDef) -> frozenset[str]:
    """The arguments of a class's constructor that have no default."""
    for function in node.body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
            return frozenset(argument.arg for argument, default in pairs if default is None)
    return frozenset()


def properties(
    node: ast.ClassDef, named: Named, *, secrets: frozenset[str] = frozenset(), all_required: bool = False
) -> dict[str, Property]:
    """The properties of a class, by their Pulumi names; `secrets` are Pulumi names too."""
    required = required_arguments(node)
    return {
        g.name: Property(
            g.name,
            g.python,
            type_of(g.annotation, named),
            required=all_required or g.python in required,
            deprecated=g.deprecated,
            secret=g.name in secrets,
            description=g.description,
        )
        for g in getters(node)
    }


def class_deprecation(node: ast.ClassDef) -> str:
    """Why a resource class is deprecated; empty if it is not."""
    for statement in node.body:
        match statement:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id="warnings"), attr="warn"), args=[ast.Constant(value=v), *_]
                )
            ):
                return str(v)
    return ""


def bases(node: ast.ClassDef) -> list[str]:
    """The names of the classes that a class inherits from, without their modules."""
    return [_last(base) for base in node.bases]


@dataclass(frozen=True, slots=True)
class Constructor:
    """What the constructor of a resource class shows: its token, its class of arguments, and what is secret."""

    token: str
    arguments: str
    secret_inputs: frozenset[str]
    """Python names."""
    secret_outputs: frozenset[str]
    """Pulumi names."""


def constructor(node: ast.ClassDef) -> Constructor | None:
    """The constructor of a resource class."""
    for function in node.body:
        if isinstance(function, ast.FunctionDef) and function.name == "_internal_init":
            return _constructor(function)
    return None


def _constructor(function: ast.FunctionDef) -> Constructor:
    token, arguments = "", ""
    secret_inputs: set[str] = set()
    secret_outputs: set[str] = set()
    for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
        match call:
            case ast.Call(
                func=ast.Attribute(attr="__init__", value=ast.Call()), args=[ast.Constant(value=str(text)), *_]
            ):
                token = text
            case ast.Call(func=ast.Attribute(attr="__new__", value=ast.Name(id=name))):
                arguments = name
            case ast.Call(func=ast.Attribute(attr="secret"), args=[ast.Name(id=name)]):
                secret_inputs.add(name)
            case ast.Call(func=ast.Attribute(attr="ResourceOptions"), keywords=keywords):
                secret_outputs.update(_secret_outputs(keywords))
    return Constructor(token, arguments, frozenset(secret_inputs), frozenset(secret_outputs))


def _secret_outputs(keywords: list[ast.keyword]) -> Iterator[str]:
    for keyword in keywords:
        if keyword.arg == "additional_secret_outputs" and isinstance(keyword.value, ast.List):
            yield from (str(item.value) for item in keyword.value.elts if isinstance(item, ast.Constant))


def enum_values(node: ast.ClassDef) -> tuple[str | int | float | bool, ...]:
    """The values of an enum."""
    found = []
    for statement in node.body:
        match statement:
            case ast.Assign(value=ast.Constant(value=str() | int() | float() as value)):
                found.append(value)
            case ast.Assign(value=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value))):
                found.append(-value)
    return tuple(found)
