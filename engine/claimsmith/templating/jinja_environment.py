"""The sandbox that jinja2 templates run in: jinja2's own, narrowed to plain data and listed methods, and counted.

The compiled template calls back here for every field, call, operator, filter, loop and printed value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from jinja2 import StrictUndefined, UndefinedError, pass_context
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from claimsmith.golang import inputs
from claimsmith.templating import insertions, jinja_functions, jinja_nodes, limits
from claimsmith.templating.problems import refusal

BUDGET: Final = "!budget"
"""The variable that holds a rendering's budget; no template can write this name."""


@dataclass(frozen=True, slots=True)
class _Callable:
    """A function or method that a template may call."""

    name: str
    function: Callable[..., Any]
    receiver: tuple[Any, ...] = ()


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    limits.fits(8 * len(numbers))
    return [*numbers]


RANGE: Final = _Callable("range", _range)


class MissingError(UndefinedError):
    """A name or field that is not there."""

    def __init__(self, name: str | None, owner: Any) -> None:
        super().__init__(f"{name!r} is not defined")
        self.name = name
        self.owner = owner


class _Missing(StrictUndefined):
    """The value of what is not there: an error as soon as it is used."""

    __slots__ = ()

    def __init__(self, hint: str | None = None, obj: Any = missing, name: str | None = None, **_: Any) -> None:
        def explain(message: str) -> UndefinedError:
            return MissingError(name, obj) if name is not None else UndefinedError(message)

        super().__init__(hint, obj, name, exc=explain)  # type: ignore[arg-type]  # it is called, and called only


class _Environment(ImmutableSandboxedEnvironment):
    """jinja2's sandbox, narrowed: fields of plain data, listed methods, counted work."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A field of an object, or a method of the list; nothing else, however it is asked for."""
        if isinstance(obj, Undefined):
            return str(obj)  # raises
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        if isinstance(obj, LoopContext) and attribute in jinja_functions.LOOP_FIELDS:
            found = getattr(obj, attribute)
            return _Callable(attribute, found) if callable(found) else found
        methods = jinja_functions.METHODS.get(type(obj), {})
        if attribute in methods:
            return _Callable(attribute, methods[attribute], (obj,))
        return self.undefined(obj=obj, name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """An item of an object, list or text."""
        if isinstance(obj, Undefined):
            return str(obj)  # raises
        if isinstance(obj, dict | list | tuple | str):
            try:
                return obj[argument]
            except (LookupError, TypeError):
                return self.undefined(obj=obj, name=str(argument))
        return self.getattr(obj, str(argument))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """The result of one of our functions or methods."""
        if isinstance(__obj, Undefined):
            return str(__obj)  # raises
        if not isinstance(__obj, _Callable):
            raise refusal(f"{inputs.kind_of(__obj)} cannot be called", "use a filter, or a method such as .get()")
        named = {name: value for name, value in kwargs.items() if not name.startswith("_")}  # _loop_vars is jinja2's
        _spend(__context, *__obj.receiver, *args, *named.values())
        return _checked(__context, __obj.function(*__obj.receiver, *args, **named))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator."""
        _budget(context).spend(limits.width(left) + limits.width(right))
        return jinja_functions.operate(operator, left, right)


def _budget(context: Context) -> limits.Budget:
    budget: limits.Budget = context.parent[BUDGET]
    return budget


def _spend(context: Context, *values: Any) -> None:
    for value in values:
        _budget(context).spend(limits.size(value))


def _checked(context: Context, value: Any) -> Any:
    """A computed value, as plain data, if it is not too large; a missing one stays so for `default`."""
    if isinstance(value, Undefined):
        return value
    if not isinstance(value, str | int | float | dict | list | tuple | None):
        value = [*islice(value, limits.MAX_SIZE)]
    _spend(context, value)
    return jinja_functions.plain(value)


@pass_context
def _loop(context: Context, value: Any, weight: int) -> list[Any]:
    if not isinstance(value, str | list | tuple | dict | Undefined):
        raise refusal(f"cannot loop over {inputs.kind_of(value)}", "loop over a list, an object or range(…)")
    items = [*_checked(context, value)]
    for _ in items:
        _budget(context).spend(64 * weight)
    return items


@pass_context
def _concat(context: Context, values: list[Any]) -> str:
    limits.fits(sum(map(limits.size, values)))
    return "".join(_printed(context, value) for value in values)


@pass_context
def _value(context: Context, value: Any) -> Any:
    return _checked(context, value)


@pass_context
def _slice(context: Context, value: Any, start: Any, stop: Any, step: Any) -> Any:
    if not isinstance(value, str | list | tuple):
        raise refusal(f"{inputs.kind_of(value)} cannot be sliced", "slice a list or a text")
    return _checked(context, value[start:stop:step])


@pass_context
def _weighed(context: Context, value: Any) -> Any:
    _spend(context, value)
    return value


@pass_context
def _inserted(context: Context, value: Any) -> str:
    """The value as the template prints it."""
    return insertions.marked(_printed(context, value))


@pass_context
def _printed(context: Context, value: Any) -> str:
    """The value as it is written out."""
    if value is None or isinstance(value, dict | list | tuple | LoopContext | _Callable):
        raise refusal(f"{inputs.kind_of(value)} cannot be printed", "give a default, read a field of it, or use tojson")
    text = str(value)
    _budget(context).spend(len(text))
    return text


def _counted(name: str, function: Callable[..., Any], *, is_filter: bool) -> Callable[..., Any]:
    """A filter or test of jinja2's that counts its input and its result."""
    wanted = str(getattr(getattr(function, "jinja_pass_arg", None), "name", ""))

    @pass_context
    def counted(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        _spend(context, value, *args, *kwargs.values())
        leading: dict[str, Any] = {
            "context": context,
            "eval_context": EvalContext(context.environment, None),
            "environment": context.environment,
        }
        first = [leading[wanted]] if wanted else []
        if not is_filter:
            return function(*first, value, *args, **kwargs)
        if not isinstance(value, Undefined):
            jinja_functions.guard(name, value, *args, **kwargs)
        return _checked(context, function(*first, value, *args, **kwargs))

    return counted


def _environment() -> _Environment:
    environment = _Environment(undefined=_Missing, finalize=_inserted, autoescape=False, optimized=False, cache_size=0)
    environment.filters = {n: _counted(n, f, is_filter=True) for n, f in jinja_functions.FILTERS.items()}
    environment.filters |= {
        jinja_nodes.LOOP: _loop,
        jinja_nodes.CONCAT: _concat,
        jinja_nodes.VALUE: _value,
        jinja_nodes.SLICE: _slice,
        jinja_nodes.WEIGHED: _weighed,
    }
    environment.tests = {n: _counted(n, f, is_filter=False) for n, f in jinja_functions.TESTS.items()}
    environment.globals.clear()
    return environment


ENVIRONMENT = _environment()
