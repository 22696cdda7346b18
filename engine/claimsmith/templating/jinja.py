"""The jinja2 engine: jinja2's own sandbox, with a list of what may be used, and a count of what is done.

Nothing is loaded, nothing but the fields of the data is read, no value but plain data exists, and what is not defined is
an error. Null, lists and objects are not printed: `tojson` writes them as YAML can read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import TracebackType
from typing import Any

from jinja2 import StrictUndefined, Template, UndefinedError, nodes, pass_context
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.exceptions import TemplateSyntaxError
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from claimsmith import fieldpath
from claimsmith.compose import inputs
from claimsmith.errors import Problem, Source
from claimsmith.templating import jinja_functions, jinja_nodes, limits
from claimsmith.templating.problems import Finding, TemplateError, raised_at, refusal, suggestion

_BUDGET = "!budget"


def render(text: str, data: Mapping[str, Any], *, file: str) -> str:
    """The text that the template makes of the data."""
    with raised_at():
        template = _compiled(text, file)
        variables = limits.plain(data)
    output = limits.Output()
    try:
        context = template.new_context({**variables, _BUDGET: limits.Budget()})
        for part in template.root_render_func(context):
            output.write(part)
    except Exception as error:  # jinja2 runs Python: whatever it raises is the template's doing
        raise _explained(error, template, file, [*variables]) from error
    return str(output)


def check(text: str, *, file: str) -> list[Finding]:
    """What is wrong in the template, before any data exists."""
    try:
        with raised_at():
            _compiled(text, file)
    except TemplateError as error:
        return [Finding(p.what, p.where, p.path, p.fix) for p in error.problems]
    return []


def fields_read(text: str) -> list[str]:
    """The paths of the data that the template reads, in order; what a loop reads of its items is the list's path."""
    with raised_at():
        tree = _parsed(text, "template")
    own = jinja_nodes.names_set(tree)
    inner: set[int] = set()
    paths: dict[str, None] = {}
    for node, _ in jinja_nodes.walk(tree):
        path = _path(node, inner)
        if path and path[0] not in own and id(node) not in inner:
            paths[fieldpath.to_text(path)] = None
    return [*paths]


def _path(node: nodes.Node, inner: set[int]) -> tuple[str, ...]:
    """The path that a chain of fields reads; its parts are noted, so that they are not taken for chains of their own."""
    match node:
        case nodes.Name(name=name, ctx="load"):
            return (name,)
        case nodes.Call(node=nodes.Getattr(node=target) as method):  # a method is no field
            inner.add(id(method))
            return _path(target, inner) if False else ()
        case nodes.Getattr(node=target, attr=key):
            pass
        case nodes.Getitem(node=target, arg=nodes.Const(value=str() as key)):
            pass
        case _:
            return ()
    path = _path(target, inner)
    if path:
        inner.add(id(target))
    return (*path, key) if path else ()


# Compiling


@lru_cache(maxsize=256)
def _compiled(text: str, file: str) -> Template:
    tree = _parsed(text, file)
    try:
        code = _ENVIRONMENT.compile(jinja_nodes.counted(tree).set_environment(_ENVIRONMENT))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = f"the template cannot be compiled: {error}"
        raise refusal(what, "nest loops and expressions less deeply", Source(file)) from error
    return Template.from_code(_ENVIRONMENT, code, {"range": _RANGE})


def _parsed(text: str, file: str) -> nodes.Template:
    limits.refuse_long(text)
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        what = error.message or "the template cannot be read"
        raise refusal(what[:1].lower() + what[1:], "mend the jinja2 syntax", Source(file, error.lineno)) from error
    except ValueError as error:
        raise refusal(f"the template cannot be read: {error}", "mend the jinja2 syntax", Source(file)) from error
    found = jinja_nodes.problems(tree, file)
    if found:
        raise TemplateError(*found)
    return tree


# What the compiled template calls


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


_RANGE = _Callable("range", _range)


class _MissingError(UndefinedError):
    """A name or field that is not there."""

    def __init__(self, name: str | None, owner: Any) -> None:
        super().__init__(f"{name!r} is not defined")
        self.name = name
        self.owner = owner


class _Missing(StrictUndefined):
    """The value of what is not there: an error as soon as it is used."""

    __slots__ = ()

    def __init__(self, hint: str | None = None, obj: Any = missing, name: str | None = None, exc: Any = None) -> None:
        def explain(message: str) -> UndefinedError:
            return _MissingError(name, obj) if name is not None else UndefinedError(message)

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
        _spend(__context, *__obj.receiver, *args, *kwargs.values())
        return _checked(__context, __obj.function(*__obj.receiver, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator."""
        _budget(context).spend(limits.width(left) + limits.width(right))
        return jinja_functions.operate(operator, left, right)


def _budget(context: Context) -> limits.Budget:
    budget: limits.Budget = context.parent[_BUDGET]
    return budget


def _spend(context: Context, *values: Any) -> None:
    for value in values:
        _budget(context).spend(limits.size(value))


def _checked(context: Context, value: Any) -> Any:
    """A value that was made, as plain data, if it is not too large; a missing one stays so for `default`."""
    if isinstance(value, Undefined):
        return value
    if not isinstance(value, str | int | float | dict | list | tuple | None):
        value = [*islice(value, limits.MAX_SIZE)]
    _spend(context, value)
    return jinja_functions.plain(value)


@pass_context
def _loop(context: Context, value: Any, weight: int) -> list[Any]:
    items = [*_checked(context, value)]
    for _ in items:
        _budget(context).spend(64 * weight)
    return items


@pass_context
def _concat(context: Context, values: list[Any]) -> str:
    text = "".join(str(value) for value in values)
    _budget(context).spend(limits.fits(len(text)))
    return text


@pass_context
def _weighed(context: Context, value: Any) -> Any:
    _spend(context, value)
    return value


@pass_context
def _printed(context: Context, value: Any) -> Any:
    """The value as it is written out."""
    if value is None or isinstance(value, dict | list | tuple | LoopContext | _Callable):
        raise refusal(f"{inputs.kind_of(value)} cannot be printed", "give a default, read a field of it, or use tojson")
    text = str(value)
    _budget(context).spend(len(text))
    return text


def _counted(name: str, function: Callable[..., Any], *, is_filter: bool) -> Callable[..., Any]:
    """A filter or test of jinja2's that counts what it is given and what it makes."""
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
    environment = _Environment(undefined=_Missing, finalize=_printed, autoescape=False, optimized=False, cache_size=0)
    environment.filters = {n: _counted(n, f, is_filter=True) for n, f in jinja_functions.FILTERS.items()}
    environment.filters |= {"!loop": _loop, "!concat": _concat, "!value": _value, "!weighed": _weighed}
    environment.tests = {n: _counted(n, f, is_filter=False) for n, f in jinja_functions.TESTS.items()}
    environment.globals.clear()
    return environment


@pass_context
def _value(context: Context, value: Any) -> Any:
    return _checked(context, value)


_ENVIRONMENT = _environment()


# Errors


def _explained(error: Exception, template: Template, file: str, names: list[str]) -> TemplateError:
    where = Source(file, _line(error.__traceback__, template))
    match error:
        case TemplateError():
            return TemplateError(*(Problem(p.what, p.where or where, p.path, p.fix) for p in error.problems))
        case _MissingError(name=str() as name, owner=owner):
            known = names if owner is missing else [*owner] if isinstance(owner, dict) else []
            known = [n for n in known if not n.startswith("!")]
            fix = suggestion(name, known, otherwise="read fields of the data, or give a default: | default(…)")
            inside = "" if owner is missing else f" in {inputs.kind_of(owner)}"
            return refusal(f"{name!r} is not defined{inside}", fix, where)
        case RecursionError() | MemoryError():
            return refusal("nested too deeply, or too large", "make the template flatter", where)
        case JinjaError():
            return refusal(f"the template failed: {error.message}", "see the line above", where)
        case _:
            return refusal(f"the template failed: {error}", "give values of the right kind", where)


def _line(trace: TracebackType | None, template: Template) -> int:
    line = 1
    while trace:
        if trace.tb_frame.f_code is template.root_render_func.__code__:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
