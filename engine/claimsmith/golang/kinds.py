"""Values of Go that JSON does not tell apart, for templates that can ask for a value's type.

An integer of a document is an `int64`, an integer of a template an `int`: they compare as numbers, but are no equals
inside of a list. A struct is an object with fields and methods that prints as its text.
"""

from __future__ import annotations

from typing import Any


class Int(int):
    """An integer of Go's type `int`; every other integer is an `int64`."""

    __slots__ = ()


class Struct(dict[str, Any]):
    """A struct, by what templates can read of it: its fields and methods."""

    __slots__ = ("kind", "text", "type_name", "written")

    def __init__(
        self, fields: dict[str, Any], *, type_name: str, text: str, written: Any, kind: str = "struct"
    ) -> None:
        super().__init__(fields)
        self.type_name = type_name
        self.kind = kind
        self.text = text
        """The value by `%v`."""
        self.written = written
        """The value as JSON has it."""


def basic(value: Any) -> type:
    """The type by which Go's templates compare: that of integers is one."""
    return int if isinstance(value, Int) else type(value)
