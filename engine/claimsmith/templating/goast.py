"""The nodes of a parsed Go template. Positions are offsets into its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`: the current value."""

    pos: int


@dataclass(frozen=True, slots=True)
class Nil:
    """`nil`."""

    pos: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, number or boolean."""

    pos: int
    value: Any


@dataclass(frozen=True, slots=True)
class Field:
    """`.a.b`."""

    pos: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x` or `$x.a.b`; the variable `$` is the data."""

    pos: int
    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identifier:
    """The name of a function."""

    pos: int
    name: str


@dataclass(frozen=True, slots=True)
class Chain:
    """`(…).a.b`."""

    pos: int
    operand: Operand
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """An operand, or a function with its arguments."""

    pos: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands, each given the result of the one before as its last argument."""

    pos: int
    commands: tuple[Command, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False


Operand = Dot | Nil | Literal | Field | Variable | Identifier | Chain | Pipe


@dataclass(frozen=True, slots=True)
class Text:
    """Text between actions."""

    pos: int
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """`{{ pipeline }}`."""

    pos: int
    pipe: Pipe


@dataclass(frozen=True, slots=True)
class Branch:
    """`if` or `with`, and its `else if`s: the first branch whose pipeline is true, else the last block."""

    pos: int
    keyword: str
    branches: tuple[tuple[Pipe, Block], ...]
    otherwise: Block


@dataclass(frozen=True, slots=True)
class Range:
    """`range`, and its `else`."""

    pos: int
    pipe: Pipe
    body: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    pos: int
    keyword: str


@dataclass(frozen=True, slots=True)
class Invocation:
    """`template "name" pipeline`: the text of a named template, with the pipeline's value as its data."""

    pos: int
    name: str
    pipe: Pipe | None


Node = Text | Action | Branch | Range | Jump | Invocation
Block = tuple[Node, ...]
