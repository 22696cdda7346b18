"""What a Go template shows without data: the functions it cannot use, and the fields that it reads."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from claimsmith.base import fieldpath
from claimsmith.templating import functions, goast
from claimsmith.templating.functions.registry import Function
from claimsmith.templating.goparse import Tree
from claimsmith.templating.problems import Finding, TemplateError, raised_at

Path = tuple[str, ...]
_KEYED = frozenset({"index", "get", "hasKey"})


def unusable(tree: Tree, table: Mapping[str, Function] | None = None) -> list[Finding]:
    """The functions that do not exist, and those with a wrong number of arguments."""
    found: list[Finding] = []
    for pipe in (p for block in tree.blocks() for p in _pipes(block)):
        for index, command in enumerate(pipe.commands):
            calls = [(o, 0) for o in command.operands[1:]]
            calls.insert(0, (command.operands[0], len(command.operands) - 1 + (index > 0)))
            for operand, count in calls:
                if isinstance(operand, goast.Identifier):
                    found += _call_problems(tree, operand, count, table)
    return found


def called(tree: Tree, names: Container[str]) -> dict[int, int]:
    """The calls of these functions: the number of each in the text, by its position."""
    operands = (
        operand
        for block in tree.blocks()
        for pipe in _pipes(block)
        for command in pipe.commands
        for operand in command.operands
    )
    places = sorted(o.pos for o in operands if isinstance(o, goast.Identifier) and o.name in names)
    return {pos: number for number, pos in enumerate(places)}


def _call_problems(
    tree: Tree, name: goast.Identifier, count: int, table: Mapping[str, Function] | None
) -> list[Finding]:
    try:
        with raised_at(tree.place, name.pos):
            functions.find(name.name, table).check_count(count)
    except TemplateError as error:
        return [Finding(p.what, p.where, p.path, p.fix) for p in error.problems]
    return []


def _pipes(block: goast.Block) -> Iterator[goast.Pipe]:
    """All pipelines, those in parentheses too, in the order of the text."""
    for node in block:
        match node:
            case goast.Action(_, pipe):
                yield from _inner(pipe)
            case goast.Invocation(_, _, pipe) if pipe:
                yield from _inner(pipe)
            case goast.Branch(_, _, branches, otherwise):
                for pipe, body in branches:
                    yield from _inner(pipe)
                    yield from _pipes(body)
                yield from _pipes(otherwise)
            case goast.Range(_, pipe, body, otherwise):
                yield from _inner(pipe)
                yield from _pipes(body)
                yield from _pipes(otherwise)
            case _:
                pass


def _inner(operand: goast.Operand) -> Iterator[goast.Pipe]:
    if isinstance(operand, goast.Chain):
        yield from _inner(operand.operand)
    if isinstance(operand, goast.Pipe):
        yield operand
        for command in operand.commands:
            for part in command.operands:
                yield from _inner(part)


# Fields


def fields(tree: Tree) -> list[str]:
    """The paths of the data that are read, each once, in order; what a loop reads of its items is the list's path."""
    reader = _Reader()
    reader.block(tree.block, ())
    return [*dict.fromkeys(fieldpath.to_text(path) for path in reader.paths if path)]


class _Reader:
    """Follows what `.` and each variable stand for: a path of the data, or None for anything else."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.scope: list[tuple[str, Path | None]] = [("$", ())]

    def block(self, block: goast.Block, dot: Path | None) -> None:
        outer = len(self.scope)
        for node in block:
            match node:
                case goast.Action(_, pipe):
                    self.pipe(pipe, dot)
                case goast.Branch(_, keyword, branches, otherwise):
                    inner = len(self.scope)
                    for pipe, body in branches:
                        before = len(self.paths)
                        value = self.pipe(pipe, dot)
                        self.block(body, value if keyword == "with" else dot)
                        self.forget_whole(before, value)
                    self.block(otherwise, dot)
                    del self.scope[inner:]
                case goast.Range(_, pipe, body, otherwise):
                    inner = len(self.scope)
                    self.pipe(pipe, dot)
                    del self.scope[inner:]
                    self.scope.extend((name, None) for name in pipe.variables)
                    self.block(body, None)
                    self.block(otherwise, dot)
                    del self.scope[inner:]
                case _:
                    pass
        del self.scope[outer:]

    def pipe(self, pipe: goast.Pipe, dot: Path | None) -> Path | None:
        value: Path | None = None
        for command in pipe.commands:
            head, *rest = command.operands
            if isinstance(head, goast.Identifier) and head.name in _KEYED and rest:
                value = self.keyed(rest, dot)
            else:
                value = self.operand(head, dot)
                for argument in rest:
                    self.operand(argument, dot)
        value = value if len(pipe.commands) == 1 else None
        self.scope.extend((name, value) for name in pipe.variables)
        if pipe.variables and value is not None:
            self.paths.pop()  # it is read where the variable is
        return value

    def forget_whole(self, index: int, path: Path | None) -> None:
        """Take back that an object was read, where only its fields were."""
        if path is not None and any(p[: len(path)] == path for p in self.paths[index + 1 :]):
            del self.paths[index]

    def keyed(self, arguments: list[goast.Operand], dot: Path | None) -> Path | None:
        """`index .a "b"`, which reads `.a.b`."""
        before = len(self.paths)
        path = self.operand(arguments[0], dot)
        for key in arguments[1:]:
            if path is not None and isinstance(key, goast.Literal) and isinstance(key.value, str):
                path = (*path, key.value)
            else:
                path = None
                self.operand(key, dot)
        if path is not None:
            self.paths[before:] = [path]
        return path

    def operand(self, operand: goast.Operand, dot: Path | None) -> Path | None:
        match operand:
            case goast.Dot():
                return self.read(dot, ())
            case goast.Field(_, names):
                return self.read(dot, names)
            case goast.Variable(_, name, names):
                return self.read(next((p for known, p in reversed(self.scope) if known == name), None), names)
            case goast.Chain(_, inner, names):
                before = len(self.paths)
                start = self.operand(inner, dot)
                if start is not None:
                    del self.paths[before:]
                return self.read(start, names)
            case goast.Pipe():
                outer = len(self.scope)
                value = self.pipe(operand, dot)
                del self.scope[outer:]
                return value
            case _:
                return None

    def read(self, start: Path | None, names: Path) -> Path | None:
        if start is None:
            return None
        path = (*start, *names)
        self.paths.append(path)
        return path


# All that may be read


def reads(tree: Tree) -> list[Path]:
    """The paths of the data that the template reads, each with everything below it; the empty path is all of it.

    There may be more than the template needs, never less: what is put into a variable, or is entered by `with` or
    `range`, counts as read whole, so that it does not matter where the value goes from there.
    """
    found: dict[Path, None] = {}
    for path in _block_reads(tree.block, ()):
        found[path] = None
    return [*found]


def _block_reads(block: goast.Block, dot: Path | None) -> Iterator[Path]:
    for node in block:
        match node:
            case goast.Action(_, pipe):
                yield from _pipe_reads(pipe, dot)
            case goast.Branch(_, keyword, branches, otherwise):
                for pipe, body in branches:
                    yield from _pipe_reads(pipe, dot)
                    yield from _block_reads(body, None if keyword == "with" else dot)
                yield from _block_reads(otherwise, dot)
            case goast.Range(_, pipe, body, otherwise):
                yield from _pipe_reads(pipe, dot)
                yield from _block_reads(body, None)
                yield from _block_reads(otherwise, dot)
            case _:
                pass


def _pipe_reads(pipe: goast.Pipe, dot: Path | None) -> Iterator[Path]:
    for command in pipe.commands:
        head, *rest = command.operands
        keys = [o.value for o in rest[1:] if isinstance(o, goast.Literal) and isinstance(o.value, str)]
        if isinstance(head, goast.Identifier) and head.name in _KEYED and rest and len(keys) == len(rest) - 1:
            yield from _operand_reads(rest[0], dot, tuple(keys))
        else:
            for operand in command.operands:
                yield from _operand_reads(operand, dot)


def _operand_reads(operand: goast.Operand, dot: Path | None, below: Path = ()) -> Iterator[Path]:
    """What an operand reads, where only what is `below` it is wanted."""
    match operand:
        case goast.Dot() if dot is not None:
            yield (*dot, *below)
        case goast.Field(_, names) if dot is not None:
            yield (*dot, *names, *below)
        case goast.Variable(_, "$", names):
            yield (*names, *below)
        case goast.Chain(_, inner, names):
            yield from _operand_reads(inner, dot, (*names, *below))
        case goast.Pipe(_, (goast.Command(_, (single,)),)) if not isinstance(single, goast.Identifier):
            yield from _operand_reads(single, dot, below)
        case goast.Pipe():
            yield from _pipe_reads(operand, dot)
        case _:
            pass
