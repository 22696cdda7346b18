"""The jinja2 engine: jinja2's own sandbox, with a list of what may be used, and a count of what is done.

Nothing is loaded, nothing but the fields of the data is read, no value but plain data exists, and what is not defined
is an error. Null, lists and objects are not printed: `tojson` writes them as YAML can read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any

from jinja2 import Template, nodes
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.exceptions import TemplateSyntaxError
from jinja2.utils import missing

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, Source, suggest
from claimsmith.golang import inputs
from claimsmith.templating import jinja_nodes, limits
from claimsmith.templating.jinja_environment import BUDGET, ENVIRONMENT, RANGE, MissingError
from claimsmith.templating.problems import Finding, TemplateError, raised_at, refusal


def render(text: str, data: Mapping[str, Any], *, file: str) -> str:
    """The text that the template makes of the data."""
    with raised_at():
        template = _compiled(text, file)
        variables = limits.plain(data)
    output = limits.Output()
    try:
        context = template.new_context({**variables, BUDGET: limits.Budget()})
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
        path = () if id(node) in inner else _path(node, inner)
        if path and path[0] not in own:
            paths[fieldpath.to_text(path)] = None
    return [*paths]


def reads(text: str) -> list[tuple[str, ...]]:
    """All that the template may read, each path with everything below it."""
    with raised_at():
        tree = _parsed(text, "template")
    # A template that uses a name of the data for a variable of its own may mean either by it.
    if jinja_nodes.names_set(tree) & {"apiVersion", "kind", "metadata", "spec", "status"}:
        return [()]
    return [tuple(map(str, fieldpath.parse(path))) for path in fields_read(text)]


def _path(node: nodes.Node, inner: set[int]) -> tuple[str, ...]:
    """The path that a chain of fields reads; its parts are noted, so as not to be taken for chains of their own."""
    match node:
        case nodes.Name(name=name, ctx="load"):
            return (name,)
        case nodes.Call(node=nodes.Getattr(node=target, attr="get") as get, args=[nodes.Const(value=str() as key), *_]):
            inner.add(id(get))
        case nodes.Call(node=nodes.Getattr() as method):  # a method is no field
            inner.add(id(method))
            return ()
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
        tree = jinja_nodes.counted(tree)
        tree.set_environment(ENVIRONMENT)
        code = ENVIRONMENT.compile(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = f"the template cannot be compiled: {error}"
        raise refusal(what, "nest loops and expressions less deeply", Source(file)) from error
    return Template.from_code(ENVIRONMENT, code, {"range": RANGE})


def _parsed(text: str, file: str) -> nodes.Template:
    limits.refuse_long(text)
    try:
        tree = ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        what = error.message or "the template cannot be read"
        raise refusal(what[:1].lower() + what[1:], "fix the jinja2 syntax", Source(file, error.lineno)) from error
    except ValueError as error:
        raise refusal(f"the template cannot be read: {error}", "fix the jinja2 syntax", Source(file)) from error
    found = jinja_nodes.problems(tree, file)
    if found:
        raise TemplateError(*found)
    return tree


# Errors


def _explained(error: Exception, template: Template, file: str, names: list[str]) -> TemplateError:
    where = Source(file, _line(error.__traceback__, template))
    match error:
        case TemplateError():
            return TemplateError(*(Problem(p.what, p.where or where, p.path, p.fix) for p in error.problems))
        case MissingError(name=str() as name, owner=owner):
            known = names if owner is missing else [*owner] if isinstance(owner, dict) else []
            known = [n for n in known if not n.startswith("!")]
            fix = suggest(name, known, "" if known else "read fields of the data, or give a default: | default(…)")
            inside = "" if owner is missing else f" in {inputs.kind_of(owner)}"
            return refusal(f"{name!r} is not defined{inside}", fix, where)
        case RecursionError() | MemoryError():
            return refusal("nested too deeply, or too large", "make the template flatter", where)
        case JinjaError():
            return refusal(f"the template failed: {error.message}", "fix it at this line", where)
        case _:
            return refusal(f"the template failed: {error}", "give values of the right kind", where)


def _line(trace: TracebackType | None, template: Template) -> int:
    line = 1
    while trace:
        if trace.tb_frame.f_code is template.root_render_func.__code__:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
