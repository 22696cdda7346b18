"""Functions of CEL that are our own: declared once, for the checker and for evaluation.

The engine dispatches functions in Python by the kinds of values, and its declarations of them know neither type
parameters (`list<~T>`) nor types without values of their own (`kubernetes.Quantity`). The checker's configuration
knows both. So an expression is checked by an environment that has only the declarations, and evaluated by another one
that has only the functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]  # it ships no marker of its types

_KINDS = {
    name: getattr(cel.Type, name.upper())
    for name in ("string", "int", "uint", "double", "bool", "bytes", "duration", "timestamp", "list", "map")
} | {"null": cel.Type.NULL}
_ANYTHING = ("dyn", "~T", "~K", "~V")


@dataclass(frozen=True, slots=True)
class Declared:
    """One overload of a function: its types as CEL writes them, and what it does; None where the engine does it."""

    name: str
    returns: str
    takes: tuple[str, ...]
    member: bool
    does: Callable[..., Any] | None

    @property
    def signature(self) -> str:
        """The overload as the checker's configuration has it."""
        name = self.name.replace(".", "\\.")
        target, takes = (f"{self.takes[0]}.", self.takes[1:]) if self.member else ("", self.takes)
        return f"{target}{name}({','.join(takes)})"


def function(name: str, returns: str, *takes: str, does: Callable[..., Any]) -> Declared:
    """A function: `name(…)`."""
    return Declared(name, returns, takes, member=False, does=does)


def declared_only(name: str, returns: str, *takes: str) -> Declared:
    """A function that the engine does, and that the checker's configuration replaces."""
    return Declared(name, returns, takes, member=False, does=None)


def method(name: str, returns: str, *takes: str, does: Callable[..., Any]) -> Declared:
    """A method of its first parameter: `value.name(…)`."""
    return Declared(name, returns, takes, member=True, does=does)


def configuration(extensions: Iterable[str], declared: Iterable[Declared] = (), without: Iterable[str] = ()) -> Any:
    """The configuration of an environment: libraries of the engine, each with a version where one is named, and more.

    `without` are functions of the standard library that are declared anew.
    """
    found = [dict(zip(("name", "version"), each.split("@"), strict=False)) for each in extensions]
    overloads = [
        {
            "name": name,
            "overloads": [{"id": f"{name}_{n}", "signature": d.signature, "return": d.returns} for n, d in all_],
        }
        for name, all_ in _by_name(declared).items()
    ]
    content: dict[str, Any] = {"name": "claimsmith", "extensions": found, "functions": overloads}
    if without:
        content["stdlib"] = {"exclude_functions": [{"name": name} for name in without]}
    return cel.NewEnvConfigFromYaml(json.dumps(content))  # JSON is YAML


def overloads(declared: Iterable[Declared]) -> Any:
    """More overloads of functions that the engine has: its configuration would refuse them as declared twice."""
    return cel.CelExtension(
        "claimsmith",
        [
            cel.FunctionDecl(
                name,
                [
                    cel.Overload(f"claimsmith_{name}_{n}", signature=each.signature, return_type=_KINDS[each.returns])
                    for n, each in all_
                ],
            )
            for name, all_ in _by_name(declared).items()
        ],
    )


def _by_name(declared: Iterable[Declared]) -> dict[str, list[tuple[int, Declared]]]:
    found: dict[str, list[tuple[int, Declared]]] = {}
    for number, each in enumerate(declared):
        found.setdefault(each.name, []).append((number, each))
    return found


def functions(declared: Iterable[Declared]) -> list[Any]:
    """The functions for evaluation: one overload for each combination of kinds."""
    found: dict[tuple[str, bool, tuple[str, ...]], list[Declared]] = {}
    for each in declared:
        for kinds in product(*(_kinds(type_) for type_ in each.takes)):
            found.setdefault((each.name, each.member, kinds), []).append(each)
    overloads: dict[str, list[Any]] = {}
    for (name, _, kinds), all_of in found.items():
        if all_of[0].does:
            overloads.setdefault(name, []).append(_overload(kinds, all_of))
    return [cel.FunctionDecl(name, all_of) for name, all_of in overloads.items()]


def _overload(kinds: tuple[str, ...], declared: list[Declared]) -> Any:
    """What overloads do that differ only in what the engine does not dispatch by, such as the items of a list."""
    first, returns = declared[0], {_kinds(each.returns) for each in declared}
    [kind, *others] = returns.pop()
    return cel.Overload(
        f"claimsmith_{first.name}_{'_'.join(kinds)}_{first.member}",
        return_type=cel.Type.DYN if returns or others else _KINDS[kind],
        parameters=[_KINDS[each] for each in kinds],
        is_member=first.member,
        impl=first.does,
    )


def _kinds(type_: str) -> tuple[str, ...]:
    """The kinds of values that a type has."""
    if type_ in _ANYTHING:
        return tuple(_KINDS)
    head = type_.partition("<")[0]
    return (head if head in _KINDS else "map",)
