"""Format strings as Go's fmt has them: `%s`, `%05d`, `%[2]q`, `%v` of anything JSON can hold.

A format never fails in Go: the text itself reports what does not fit, `%!d(string=x)` or `%!s(MISSING)`. So it is
here, but for what is refused: a width or precision beyond all use, a text beyond all use, an integer that Go could not
hold, and `%p`, which prints the address of an array or object.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import strconv, verbs
from claimsmith.golang.verbs import Spec

MAX_WIDTH: Final = 10_000
"""The largest width or precision that we write."""

_GO_MAX_WIDTH = 1_000_000

_FLAGS = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}


def sprintf(fmt: str, *values: Any) -> str:
    """The values put into the format."""
    # Most formats have `%s` only, which Python formats alike.
    if _texts(fmt) == len(values) and all(value.__class__ is str and value.isascii() for value in values):
        return fmt % values
    return _Printer(fmt, values).run()


def default_text(value: Any) -> str:
    """The value by `%v`."""
    return value if isinstance(value, str) else sprintf("%v", value)


@lru_cache(maxsize=1024)
def _texts(fmt: str) -> int:
    """How many texts a format takes, if it takes nothing else; else -1."""
    found = fmt.count("%s")
    return found if found == fmt.count("%") else -1


class _Printer:
    """One pass over a format string."""

    def __init__(self, fmt: str, values: Sequence[Any]) -> None:
        self.fmt = fmt
        self.values = values
        self.position = 0
        self.argument = 0
        self.reordered = False
        self.good_index = True
        self.out: list[str] = []
        self.size = 0

    def run(self) -> str:
        while self.position < len(self.fmt):
            percent = self.fmt.find("%", self.position)
            end = len(self.fmt) if percent < 0 else percent
            self.out.append(self.fmt[self.position : end])
            self.position = end + 1
            if percent >= 0:
                self._directive()
                self.size = strconv.fits(self.size + len(self.out[-1]))
        if not self.reordered and self.argument < len(self.values):
            self.out.append(f"%!(EXTRA {', '.join(map(verbs.typed, self.values[self.argument :]))})")
        return "".join(self.out)

    def _directive(self) -> None:
        spec = Spec()
        self.good_index = True
        while (char := self._peek()) in _FLAGS:
            setattr(spec, _FLAGS[char], True)
            self.position += 1
        indexed = self._width(spec, self._index())
        indexed = self._precision(spec, indexed)
        if not indexed:
            self._index()
        verb = self._peek()
        self.position += 1
        if verb == "":
            self.out.append("%!(NOVERB)")
        elif verb == "%":
            self.out.append("%")
        elif not self.good_index:
            self.out.append(f"%!{verb}(BADINDEX)")
        elif self.argument >= len(self.values):
            self.out.append(f"%!{verb}(MISSING)")
        else:
            if verb in "vw":
                spec.sharp_v, spec.sharp, spec.plus = spec.sharp, False, False
            self.out.append(verbs.text_of(spec, verb, self.values[self.argument]))
            self.argument += 1

    def _peek(self) -> str:
        return self.fmt[self.position : self.position + 1]

    def _number(self) -> int | None:
        start = self.position
        while (char := self._peek()) and char in "0123456789":
            self.position += 1
        digits = self.fmt[start : self.position]
        return _bounded(int(digits[:9])) if digits else None

    def _index(self) -> bool:
        """Read `[n]`, if it is there, and go to that argument."""
        if self._peek() != "[":
            return False
        self.reordered = True
        end = self.fmt.find("]", self.position)
        if end < 0:
            self.good_index = False
            self.position += 1
            return False
        digits = self.fmt[self.position + 1 : end]
        self.position = end + 1
        readable = digits.isascii() and digits.isdigit()
        index = int(digits[:9]) - 1 if readable else -1
        if 0 <= index < len(self.values):
            self.argument = index
        else:
            self.good_index = False
        return readable

    def _star(self, name: str) -> int | None:
        """The argument that a `*` stands for."""
        self.position += 1
        value = self.values[self.argument] if self.argument < len(self.values) else None
        self.argument = min(self.argument + 1, max(len(self.values), self.argument))
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _GO_MAX_WIDTH:
            return _bounded(value)
        self.out.append(f"%!(BAD{name})")
        return None

    def _width(self, spec: Spec, indexed: bool) -> bool:
        if self._peek() == "*":
            spec.width = self._star("WIDTH")
            if spec.width is not None and spec.width < 0:
                spec.width, spec.minus, spec.zero = -spec.width, True, False
            return False
        spec.width = self._number()
        if indexed and spec.width is not None:
            self.good_index = False
        return indexed

    def _precision(self, spec: Spec, indexed: bool) -> bool:
        if self._peek() != "." or self.position + 1 >= len(self.fmt):
            return indexed
        self.position += 1
        if indexed:
            self.good_index = False
        indexed = self._index()
        if self._peek() == "*":
            precision = self._star("PREC")
            if precision is not None and precision < 0:
                self.out.append("%!(BADPREC)")
                precision = None
            spec.precision = precision
            return False
        spec.precision = self._number() or 0
        return indexed


def _bounded(number: int) -> int:
    if abs(number) > MAX_WIDTH:
        what = f"a width or precision of {number} in a format is too large"
        raise TransformError(Problem(what, fix=f"use at most {MAX_WIDTH}"))
    return number
