"""Go templates as Crossplane's function-go-templating runs them: all of the language, and Go's own rules.

A missing field is null and prints `<no value>`, templates may be named and included, and there are more functions than
our own templates have. The limits are the same, and so is the rest of the sandbox: no file, clock, environment or
network. What Go would draw at random is derived from a seed, and reported. What a claim contains stays a value in the
output (`claimed.py`), which Go does not care about.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError, Source
from claimsmith.base.values import walk
from claimsmith.golang import yaml as goyaml
from claimsmith.templating import claimed, functions, goeval, golex, goparse, goread, limits
from claimsmith.templating.functions import composition, dates, derived, remaining, sprig
from claimsmith.templating.functions.registry import Function
from claimsmith.templating.goeval import Rules
from claimsmith.templating.insertions import Inserted, places_of_marks, refuse_strays, unmarked
from claimsmith.templating.problems import Place, TemplateError, raised_at
from claimsmith.templating.readings import Reading, Register, Scalar, scalars

MISSING = ("default", "invalid", "zero", "error")
"""The values of Go's option `missingkey`."""
OF_OTHERS = ("observed", "desired")
"""The data that a claim's author can have a say in; context and environment are the platform's."""
_FIELD = "field: "
"""What stands before a value when it is read by itself."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a template makes, and where it asked for random values."""

    text: str
    inserted: tuple[Inserted, ...] = ()
    """Where texts of others are in it."""
    derived: tuple[tuple[str, Source], ...] = ()
    """Function and place of each value that was derived instead of drawn."""
    parts: Sequence[tuple[int, int, bool]] = field(default=(), repr=False)
    """Where each part begins: in the text, and in the template; and whether it is text of the template itself."""
    template: Place = field(default=Place("", ""), repr=False)
    readings: Sequence[Reading] = field(default=(), repr=False)
    """The fields of observed resources that are printed, by the numbers in `inserted`."""

    def origin(self, where: Source) -> Source:
        """The place in the template that wrote a place of the text."""
        lines = self.text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: where.line - 1]) + where.column - 1
        begin, pos, literal = self.parts[max(bisect_right(self.parts, offset, key=lambda mark: mark[0]) - 1, 0)]
        return self.template.at(pos + offset - begin if literal else pos)


@cache
def table() -> Mapping[str, Function]:
    """All functions of such templates; `mustX` is the same as `X`, which refuses bad input too."""
    known = dict(functions.FUNCTIONS)
    for family in (remaining.FAMILY, sprig.FAMILY, dates.FAMILY, derived.FAMILY, composition.FAMILY):
        known |= family.functions
    return {**{f"must{name[0].upper()}{name[1:]}": f for name, f in known.items()}, **known}


def render(
    text: str,
    data: Mapping[str, Any],
    *,
    file: str,
    seed: str = "",
    missing: str = "default",
    delimiters: tuple[str, str] = golex.DELIMITERS,
) -> Rendering:
    """The text that a template makes of the data, which stays as it is."""
    with raised_at():
        tree = goparse.parse(text, file, whole=True, delimiters=delimiters)
        found = goread.unusable(tree, table())
        if found:
            raise TemplateError(*found)
        calls = goread.called(tree, derived.FAMILY.functions)
        seen = limits.plain(data)
        seen |= {key: claimed.texts_of(seen[key]) for key in OF_OTHERS if key in seen}
        register = Register(seen)
        output = goeval.execute(tree, seen, Rules(table(), missing, seed, calls, register))
    drawn = tuple((_word(text, pos), tree.place.at(pos)) for pos in calls)
    written = str(output)
    removed = places_of_marks(written)
    parts = [(begin - bisect_left(removed, begin), pos, literal) for begin, pos, literal in output.begins]
    final, inserted = unmarked(written)
    return Rendering(final, tuple(inserted), drawn, parts, tree.place, tuple(register.found))


def documents(rendering: Rendering, *, file: str) -> list[Document]:
    """The documents of the output, read as Kubernetes reads YAML; the last of a repeated key counts."""
    with raised_at():
        refuse_strays(rendering.text, list(rendering.inserted), file)
        return _documents(rendering.text, file)


def _documents(text: str, file: str) -> list[Document]:
    return read_documents(text, file=file, repeated=True, plain=goyaml.of_kubernetes)


def followed(rendering: Rendering) -> list[dict[fieldpath.Path, Scalar]]:
    """The scalars of each document that are nothing but a field of an observed resource, by their paths.

    To find them, the output is read once more with a word in the place of each such field.
    """
    places = {(i.start, i.end): rendering.readings[i.number] for i in rendering.inserted if i.number is not None}
    text, words = scalars(rendering.text, places)
    try:
        written = _documents(text, "") if words else []
    except EngineError:
        return []
    return [{p: words[v] for p, v in walk(d.data) if isinstance(v, str) and v in words} for d in written]


def filled(scalar: Scalar, document: Any) -> Any:
    """What a template writes in the place of a scalar, once its resource is observed as this document."""
    text = scalar.reading.text(document)
    quotes = scalar.quotes
    start = len(_FIELD) + len(quotes)
    output = f"{_FIELD}{quotes}{text}{quotes}\n"
    with raised_at():
        refuse_strays(output, [Inserted(start, start + len(text))], scalar.reading.resource)
        return _documents(output, scalar.reading.resource)[0].data[_FIELD[:-2]]


def _word(text: str, pos: int) -> str:
    end = pos
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[pos:end]
