"""How a template function is declared: its name, the kinds of its arguments, what a call of it costs.

A kind is one of `str int float bool list dict any`; `any...` at the end takes any number of arguments. The value that a
pipeline passes on is the last argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from claimsmith.golang import inputs
from claimsmith.templating import limits
from claimsmith.templating.problems import TemplateError, refusal

Call = Callable[..., Any]
C = TypeVar("C", bound=Call)
Cost = Callable[[Sequence[Any]], int]

_WORDS = {"str": "text", "int": "an integer", "bool": "true or false", "list": "a list", "dict": "an object"}


def shallow(arguments: Sequence[Any]) -> int:
    """The cost of a function that looks at its arguments, not into them."""
    return sum(map(limits.width, arguments))


def deep(arguments: Sequence[Any]) -> int:
    """The cost of a function that walks through all of its arguments."""
    return limits.fits(sum(map(limits.size, arguments)))


def slow(arguments: Sequence[Any]) -> int:
    """The cost of a function that goes through all of its arguments character by character."""
    return 16 * deep(arguments)


def pairwise(arguments: Sequence[Any]) -> int:
    """The cost of a function that compares the items of its arguments with each other."""
    return deep(arguments) * max((len(a) for a in arguments if isinstance(a, list)), default=1)


@dataclass(frozen=True, slots=True)
class Function:
    """One function. A lenient one takes the absence of a last field for null."""

    name: str
    family: str
    kinds: tuple[str, ...]
    call: Call
    cost: Cost = shallow
    lenient: bool = False

    @property
    def variadic(self) -> bool:
        """Whether the last kind stands for any number of arguments."""
        return bool(self.kinds) and self.kinds[-1].endswith("...")

    @property
    def usage(self) -> str:
        """How to write it."""
        return " ".join((self.name, *self.kinds))

    def takes(self, count: int) -> bool:
        """Whether it can be given so many arguments."""
        fixed = len(self.kinds) - self.variadic
        return count >= fixed if self.variadic else count == fixed

    def check_count(self, count: int) -> None:
        """Refuse a wrong number of arguments."""
        if not self.takes(count):
            given = f"{count} argument{'' if count == 1 else 's'}"
            raise refusal(f"{self.name} cannot take {given}", f"write: {self.usage}")

    def accept(self, arguments: Sequence[Any], *, exact: bool = False) -> list[Any]:
        """The arguments, each of its kind; where it is exact, an integer is of Go's type `int`."""
        self.check_count(len(arguments))
        kinds = [*self.kinds]
        if self.variadic:
            last = kinds.pop().removesuffix("...")
            kinds += [last] * (len(arguments) - len(kinds))
        accepted = self._exact if exact else self._accepted
        return [accepted(kind, value) for kind, value in zip(kinds, arguments, strict=True)]

    def _exact(self, kind: str, value: Any) -> Any:
        if kind == "int" and type(value) is int:
            fix = f"convert it with int, or write: {self.usage}"
            raise refusal(f"{self.name} needs an integer of Go's type int, got an int64", fix)
        return self._accepted(kind, value)

    def _accepted(self, kind: str, value: Any) -> Any:
        match kind, value:
            case ("any", _) | ("str", str()) | ("bool", bool()) | ("list", list()) | ("dict", dict()):
                return value
            case ("dict", None):
                return {}
            case ("int", int()) if not isinstance(value, bool):
                return value
            case ("float", int() | float()) if not isinstance(value, bool):
                return float(value)
            case _:
                raise self._refused(kind, value)

    def _refused(self, kind: str, value: Any) -> TemplateError:
        what = f"{self.name} needs {_WORDS.get(kind, 'a number')}, got {inputs.kind_of(value)}"
        convert = {"str": "toString", "int": "int", "float": "float64"}.get(kind)
        fix = f"convert it with {convert}, or write: {self.usage}" if convert else f"write: {self.usage}"
        return refusal(what, fix)


@dataclass(frozen=True, slots=True)
class Family:
    """Functions that belong together."""

    name: str
    functions: dict[str, Function] = field(default_factory=dict)

    def add(self, usage: str, *, cost: Cost = shallow, lenient: bool = False) -> Callable[[C], C]:
        """Declare a function by how it is written: `trimAll str str`."""
        name, *kinds = usage.split()

        def declare(call: C) -> C:
            self.functions[name] = Function(name, self.name, tuple(kinds), call, cost, lenient)
            return call

        return declare
