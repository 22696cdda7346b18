"""A parsed Go template and its data in, text out.

A field that is not there is an error, as with Go's `missingkey=error`, but for one place: the last field of a chain may
be missing where it is the condition of `if` or `with`, or goes straight into a function that accepts that (`default`,
`empty`, `coalesce`, `hasKey`, `and`, …). It is null there. Null is never printed: Go would write `<no value>`.

`Rules` make it run as Go does by itself: a missing field is null, and so is every field of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Source, suggest
from claimsmith.golang import inputs
from claimsmith.golang.kinds import Int, Struct
from claimsmith.templating import claimed, functions, goast, insertions, limits, readings
from claimsmith.templating.functions.builtins import text_of, truth
from claimsmith.templating.functions.registry import Function
from claimsmith.templating.goparse import Tree
from claimsmith.templating.problems import Place, raised_at, refusal

_NOTHING: Any = object()
"""No value was passed on by a pipeline, as distinct from null."""


class _Jumped(Exception):
    """`break` or `continue`, on its way out of the blocks of a loop's body."""

    def __init__(self, keyword: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword


@dataclass(frozen=True, slots=True)
class Rules:
    """How a template runs that is written for Go's own rules, not for ours."""

    functions: Mapping[str, Function]
    missing: str = "default"
    """What a missing key is, as Go's option `missingkey` has it: default (or invalid), zero, error."""
    seed: str = ""
    """What values that Go would draw at random are derived from."""
    derived: Mapping[int, int] = field(default_factory=dict)
    """The calls of such functions: the number of each in the text, by its position."""
    register: readings.Register = field(default_factory=lambda: readings.Register(None))
    """The fields of observed resources that are printed."""


def execute(tree: Tree, data: dict[str, Any], rules: Rules | None = None) -> limits.Output:
    """The text that the template makes of the data, which it may change; and where each part of it comes from."""
    run = _Run(tree.place, [("$", data)], rules=rules, named=tree.named)
    with raised_at():
        run.block(tree.block, data)
    return run.output


@dataclass
class _Run:
    """One rendering."""

    place: Place
    scope: list[tuple[str, Any]]
    budget: limits.Budget = field(default_factory=limits.Budget)
    output: limits.Output = field(default_factory=limits.Output)
    rules: Rules | None = None
    named: Mapping[str, goast.Block] = field(default_factory=dict)
    drawn: dict[int, int] = field(default_factory=dict)
    """How often each call of a derived value was evaluated, by its number in the text."""

    def at(self, pos: int) -> Source:
        return self.place.at(pos)

    # Blocks

    def block(self, nodes: goast.Block, dot: Any) -> None:
        for node in nodes:
            match node:
                case goast.Text(pos, text):
                    self.write(pos, text, literal=True)
                case goast.Action(pos, pipe):
                    value = self.pipe(pipe, dot)
                    if not pipe.variables:
                        self.print(pos, pipe, value)
                case goast.Branch():
                    self.branch(node, dot)
                case goast.Range():
                    self.loop(node, dot)
                case goast.Jump(_, keyword):
                    raise _Jumped(keyword)
                case goast.Invocation(pos, name, pipe):
                    self.invoke(pos, name, None if pipe is None else self.pipe(pipe, dot))

    def invoke(self, pos: int, name: str, data: Any) -> None:
        """Write a named template, which sees its data and no variables from outside."""
        if name not in self.named:
            raise refusal(f"there is no template {name!r}", suggest(name, sorted(self.named)), self.at(pos))
        with raised_at(self.place, pos):
            self.budget.spend()
        outer, self.scope = self.scope, [("$", data)]
        try:
            self.block(self.named[name], data)
        finally:
            self.scope = outer

    def include(self, pos: int, name: str, data: Any) -> str:
        """The text of a named template as a value."""
        outer, self.output = self.output, limits.Output()
        try:
            self.invoke(pos, name, data)
            return claimed.included(str(self.output))
        finally:
            self.output = outer

    def write(self, pos: int, text: str, *, literal: bool = False) -> None:
        with raised_at(self.place, pos):
            self.budget.spend(len(text))
            self.output.begins.append((self.output.size, pos, literal))
            self.output.write(text)

    def print(self, pos: int, pipe: goast.Pipe, value: Any) -> None:
        if self.rules and isinstance(value, readings.Seen):
            with raised_at(self.place, pos):
                self.budget.spend(limits.size(value.value))
            self.write(pos, self.rules.register.printed(value))
            return
        if value is None and self.rules:
            value = "<no value>"
        if value is None:
            shown = self.place.text[pipe.pos : pipe.pos + 60].split("}}")[0].strip(" -\n")
            fix = f"give a default: {{{{ {shown} | default … }}}}, or test it with if"
            raise refusal("a null cannot be printed", fix, self.at(pos))
        if not isinstance(value, str):
            with raised_at(self.place, pos):
                self.budget.spend(limits.size(value))
        if self.rules:
            text = claimed.printed(value, text_of)
        else:
            text = insertions.marked(value if isinstance(value, str) else text_of(value))
        self.write(pos, text)

    def branch(self, node: goast.Branch, dot: Any) -> None:
        outer = len(self.scope)
        for pipe, body in node.branches:
            value = self.pipe(pipe, dot, lenient=True)
            if truth(readings.plain(value)):
                self.block(body, value if node.keyword == "with" else dot)
                break
        else:
            self.block(node.otherwise, dot)
        del self.scope[outer:]

    def loop(self, node: goast.Range, dot: Any) -> None:
        outer = len(self.scope)
        value = readings.plain(self.pipe(node.pipe, dot))
        del self.scope[outer:]
        empty = True
        for key, item in self.items(node, value):
            empty = False
            with raised_at(self.place, node.pos):
                self.budget.spend()
            self.bind(node.pipe, (key, item)[2 - max(len(node.pipe.variables), 1) :])
            try:
                self.block(node.body, item)
            except _Jumped as jump:
                if jump.keyword == "break":
                    break
            finally:
                del self.scope[outer:]
        if empty:
            self.block(node.otherwise, dot)
        del self.scope[outer:]

    def items(self, node: goast.Range, value: Any) -> Iterable[tuple[Any, Any]]:
        match value:
            case None:
                return ()
            case list():
                return ((self.number(index), item) for index, item in enumerate([*value]))
            case dict():
                return [(key, value[key]) for key in sorted(value)]
            case int() if not isinstance(value, bool):
                if len(node.pipe.variables) > 1:
                    raise refusal("a number gives one variable", "declare one variable", self.at(node.pos))
                return ((index, type(value)(index)) for index in range(value))
            case _:
                what = f"cannot range over {inputs.kind_of(value)}"
                raise refusal(what, "give a list, an object or an integer", self.at(node.pos))

    def number(self, index: int) -> int:
        """A number that Go counts."""
        return Int(index) if self.rules else index

    def bind(self, pipe: goast.Pipe, values: tuple[Any, ...]) -> None:
        for name, value in zip(pipe.variables, values, strict=False):
            if pipe.assigns:
                self.assign(name, value)
            else:
                self.scope.append((name, value))

    def assign(self, name: str, value: Any) -> None:
        index = max(i for i, (known, _) in enumerate(self.scope) if known == name)
        self.scope[index] = (name, value)

    # Pipelines

    def pipe(self, pipe: goast.Pipe, dot: Any, *, lenient: bool = False) -> Any:
        """The value of a pipeline, bound to its variables. The last command may be lenient, others where it helps."""
        value = _NOTHING
        for index, command in enumerate(pipe.commands):
            last = index == len(pipe.commands) - 1
            eased = lenient if last else _eases(pipe.commands[index + 1].operands[0])
            value = self.command(command, dot, value, lenient=eased)
        self.bind(pipe, (value,))
        return value

    def command(self, command: goast.Command, dot: Any, final: Any, *, lenient: bool) -> Any:
        head, *arguments = command.operands
        if isinstance(head, goast.Identifier):
            return self.call(head, arguments, dot, final)
        if self.rules and (arguments or final is not _NOTHING):
            method = self.operand(head, dot, lenient=False)
            if isinstance(method, Function):
                return self.method(method, head, arguments, dot, final)
        if arguments or final is not _NOTHING:
            fix = "start with a function, or put a | between them"
            raise refusal("a value that is no function cannot take arguments", fix, self.at(command.pos))
        if isinstance(head, goast.Nil):
            raise refusal("nil alone is no value", "leave the action out", self.at(command.pos))
        return self.operand(head, dot, lenient=lenient)

    def call(self, name: goast.Identifier, arguments: list[goast.Operand], dot: Any, final: Any) -> Any:
        with raised_at(self.place, name.pos):
            function = functions.find(name.name, self.rules.functions if self.rules else None)
            function.check_count(len(arguments) + (final is not _NOTHING))
        if name.name in ("and", "or"):
            return self.shortcut(name.name, arguments, dot, final)
        values = [self.operand(argument, dot, lenient=function.lenient) for argument in arguments]
        values += [] if final is _NOTHING else [final]
        with raised_at(self.place, name.pos):
            if self.rules is None:
                return self.result(function, values)
            if name.name == "include":
                accepted = function.accept(values)
                self.budget.spend(function.cost(accepted))
                return self.include(name.pos, *accepted)
            seed = (self.seed(name.pos),) if name.pos in self.rules.derived else ()
            return self.rules.register.called(function, values, lambda given: self.result(function, given, seed))

    def method(
        self, method: Function, head: goast.Operand, arguments: list[goast.Operand], dot: Any, final: Any
    ) -> Any:
        """The result of a method of a struct."""
        values = [readings.plain(self.operand(argument, dot, lenient=False)) for argument in arguments]
        values += [] if final is _NOTHING else [readings.plain(final)]
        with raised_at(self.place, head.pos):
            return self.result(method, values)

    def result(self, function: Function, values: Sequence[Any], seed: tuple[bytes, ...] = ()) -> Any:
        """The result of a function, which is paid for."""
        accepted = function.accept(values, exact=self.rules is not None)
        self.budget.spend(function.cost(accepted))
        result = claimed.called(function, accepted, seed) if self.rules else function.call(*accepted)
        self.budget.spend(limits.fits(limits.width(result)))
        return result

    def seed(self, pos: int) -> bytes:
        """What one derived value comes from: the same for the same claim, place and repetition."""
        assert self.rules is not None  # only such templates have derived values
        number = self.rules.derived[pos]
        self.drawn[number] = self.drawn.get(number, 0) + 1
        return hashlib.sha256(f"{self.rules.seed}/{number}/{self.drawn[number]}".encode()).digest()

    def shortcut(self, name: str, arguments: list[goast.Operand], dot: Any, final: Any) -> Any:
        """`and` and `or`, which stop at the first value that decides."""
        value = None
        for argument in arguments:
            value = self.operand(argument, dot, lenient=True)
            if truth(readings.plain(value)) == (name == "or"):
                return value
        return value if final is _NOTHING else final

    def operand(self, operand: goast.Operand, dot: Any, *, lenient: bool) -> Any:
        with raised_at(self.place, operand.pos):
            self.budget.spend()
        match operand:
            case goast.Dot():
                return dot
            case goast.Nil():
                return None
            case goast.Literal(_, value):
                return Int(value) if self.rules and type(value) is int else value
            case goast.Field(pos, names):
                return self.walk(pos, dot, names, lenient=lenient)
            case goast.Variable(pos, name, names):
                start = next(value for known, value in reversed(self.scope) if known == name)
                return self.walk(pos, start, names, lenient=lenient)
            case goast.Chain(pos, inner, names):
                start = self.operand(inner, dot, lenient=False)
                return self.walk(pos, start, names, lenient=lenient)
            case goast.Identifier():
                return self.call(operand, [], dot, _NOTHING)
            case goast.Pipe():
                outer = len(self.scope)
                value = self.pipe(operand, dot, lenient=lenient)
                del self.scope[outer:]
                return value

    def walk(self, pos: int, value: Any, names: tuple[str, ...], *, lenient: bool) -> Any:
        """The value at a chain of fields."""
        if not self.rules or not names:
            return self.reach(pos, value, names, lenient=lenient)
        found = self.reach(pos, readings.plain(value), names, lenient=lenient)
        return self.rules.register.below(value, names, found)

    def reach(self, pos: int, value: Any, names: tuple[str, ...], *, lenient: bool) -> Any:
        """The same for a value of which it does not matter where it is from."""
        if self.rules and self.rules.missing != "error" and value is None:
            return None
        for index, name in enumerate(names):
            shown = fieldpath.to_text(names[: index + 1])
            if not isinstance(value, dict):
                before = f"what is before .{name}" if index == 0 else f".{fieldpath.to_text(names[:index])}"
                fix = f'test it with if first, or use dig "{name}" … with a default'
                what = f"cannot read .{shown}: {before} is {inputs.kind_of(value)}, not an object"
                raise refusal(what, fix, self.at(pos))
            if name in value:
                value = value[name]
            elif isinstance(value, Struct):
                fix = suggest(name, sorted(value))
                raise refusal(f"a {value.type_name} has no field or method {name} here", fix, self.at(pos))
            elif self.rules and self.rules.missing == "zero":
                value = None
            elif self.rules.missing != "error" if self.rules else lenient and index == len(names) - 1:
                return None
            else:
                otherwise = "" if value else "there are no fields here; give a default: {{ default … }}"
                fix = suggest(name, sorted(value), otherwise)
                raise refusal(f".{shown} is not there: no field {name!r}", fix, self.at(pos))
        return value


def _eases(operand: goast.Operand) -> bool:
    """Whether what is piped into this may be missing."""
    function = functions.FUNCTIONS.get(operand.name) if isinstance(operand, goast.Identifier) else None
    return function is not None and function.lenient
