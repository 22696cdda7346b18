"""What a value can be before there is one: followed from the schema of its source through every transform.

Where a source allows only some values, each of them is put through the transforms themselves; elsewhere only types are
followed. Only what is certain is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never

from claimsmith.base import transform as models
from claimsmith.base.errors import EngineError, Problem, suggest
from claimsmith.base.transform import Transform
from claimsmith.kubernetes.schema import Schema
from claimsmith.kubernetes.schema.checking import type_names
from claimsmith.kubernetes.schema.lookup import INT_OR_STRING
from claimsmith.patching import convert as conversion
from claimsmith.patching import transforms

_MANY = 200
_MISSED: Final = "\0missed"
_NUMBERS: Final = frozenset({"integer", "number"})
_GO: Final = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}
_OURS: Final = {"string": "string", "int": "integer", "int64": "integer", "bool": "boolean", "float64": "number"}


@dataclass(frozen=True, slots=True)
class Possible:
    """The types that a value can be of, and the values, where these are few. None means any."""

    types: frozenset[str] | None = None
    values: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        if self.types is None:
            return "anything"
        return " or ".join(sorted(self.types)) or "nothing"


ANYTHING: Final = Possible()
TEXT: Final = Possible(frozenset({"string"}))


@dataclass(frozen=True, slots=True)
class Loss:
    """Values, or a type, that a transform does not take."""

    rule: str
    index: int
    """Which of the transforms."""
    problem: Problem
    never: bool
    """Whether nothing that may come is taken."""


def of_schema(schema: Schema | None) -> Possible:
    """What a schema allows. A null, which few mean, is left out."""
    if schema is None:
        return ANYTHING
    enum = schema.get("enum")
    if enum:
        return of_values(enum)
    if schema.get(INT_OR_STRING):
        return Possible(frozenset({"integer", "string"}))
    match schema.get("type"):
        case str("number"):
            return Possible(_NUMBERS)
        case str(name):
            return Possible(frozenset({name}))
        case _:
            return ANYTHING


def of_values(values: Iterable[Any]) -> Possible:
    """Exactly these values."""
    kept = tuple(v for v in values if v is not None)
    if not kept:
        return ANYTHING
    return Possible(frozenset(name for v in kept for name in type_names(v)), kept if len(kept) <= _MANY else None)


def follow(steps: Sequence[Transform], possible: Possible) -> tuple[Possible | None, list[Loss]]:
    """What comes out of the transforms, None where nothing can; and what is lost on the way."""
    losses: list[Loss] = []
    here: Possible | None = possible
    for index, step in enumerate(steps):
        if here is None:
            break
        here, lost = _by_values(step, index, here.values) if here.values is not None else _by_types(step, index, here)
        losses += lost
    return here, losses


def _by_values(step: Transform, index: int, values: Sequence[Any]) -> tuple[Possible | None, list[Loss]]:
    given: list[Any] = []
    refused: list[tuple[Any, Problem]] = []
    for value in values:
        try:
            result = transforms.apply(_reporting(step), value)
        except EngineError as error:
            refused.append((value, error.problems[0]))
        else:
            if result == _MISSED:
                refused.append((value, Problem("", fix="add a pattern for it, or a fallbackValue")))
            else:
                given.append(result)
    if not refused:
        return of_values(given), []
    if isinstance(step, models.MapTransform | models.MatchTransform) and not any(isinstance(v, str) for v in values):
        return _by_types(step, index, Possible(of_values(values).types))
    loss = _lost_values(step, index, refused, never=not given)
    return of_values(given) if given else None, [loss]


def _reporting(step: Transform) -> Transform:
    """The transform; a match that would return null if nothing matches reports it instead."""
    if not isinstance(step, models.MatchTransform):
        return step
    match = step.match
    if match.fallback_value is not None or match.fallback_to != "Value":
        return step
    return step.model_copy(update={"match": match.model_copy(update={"fallback_value": _MISSED})})


def _lost_values(step: Transform, index: int, refused: Sequence[tuple[Any, Problem]], *, never: bool) -> Loss:
    listed = ", ".join(repr(v) for v, _ in refused)
    first = refused[0][1]
    match step:
        case models.MapTransform(map=pairs):
            keys = f"the keys are: {', '.join(pairs)}"
            fix = f"add it; {suggest(str(refused[0][0]), pairs, keys)}"
            return Loss("map-misses-value", index, Problem(f"the map has no key for {listed}", fix=fix), never)
        case models.MatchTransform():
            what = f"nothing matches {listed}, and there is no fallback: null would be written"
            return Loss("match-misses-value", index, Problem(what, fix=first.fix), never)
        case _:
            what = f"the {step.type} transform refuses {listed}: {first.what}"
            return Loss("transform-refuses-value", index, Problem(what, fix=first.fix), never)


def _by_types(step: Transform, index: int, possible: Possible) -> tuple[Possible | None, list[Loss]]:
    match step:
        case models.MapTransform(map=pairs):
            return _taking(step, index, possible, {"string"}, lambda _: of_values(pairs.values()))
        case models.MatchTransform(match=match):
            return _taking(step, index, possible, {"string"}, lambda _: _matched(match))
        case models.MathTransform(math=math):
            bounded = isinstance(math, models.MathClampMin | models.MathClampMax)
            more = {"integer"} if bounded else set()
            return _taking(step, index, possible, _NUMBERS, lambda types: Possible(types | more))
        case models.StringTransform(string=models.StringJoin()):
            return _taking(step, index, possible, {"array"}, lambda _: TEXT)
        case models.StringTransform():
            return TEXT, []
        case models.ConvertTransform(convert=convert):
            return _converted(step, index, possible, convert)
        case _:
            assert_never(step)


def _taking(
    step: Transform,
    index: int,
    possible: Possible,
    wanted: Iterable[str],
    result: Callable[[frozenset[str]], Possible],
) -> tuple[Possible | None, list[Loss]]:
    """A transform that takes some types; its result follows from those that it may get."""
    known = frozenset(wanted)
    taken = known if possible.types is None else possible.types & known
    if taken:
        return result(taken), []
    types = " or ".join(sorted(known))
    what = f"the {step.type} transform takes {types}, and gets {possible}"
    return None, [Loss("transform-type-mismatch", index, Problem(what, fix=_fix(known)), never=True)]


def _converted(
    step: Transform, index: int, possible: Possible, convert: models.Convert
) -> tuple[Possible | None, list[Loss]]:
    wanted = frozenset(ours for ours, go in _GO.items() if conversion.is_known(go, convert.to_type, convert.format))
    target = _OURS.get(convert.to_type, convert.to_type)
    return _taking(step, index, possible, wanted, lambda _: Possible(frozenset({target})))


def _matched(match: models.Match) -> Possible:
    results = of_values([*(p.result for p in match.patterns), match.fallback_value])
    if match.fallback_to == "Input":
        return Possible((results.types or frozenset()) | {"string"})
    return results


def _fix(wanted: frozenset[str]) -> str:
    if wanted == {"string"}:
        return "convert it to string first"
    if wanted == _NUMBERS:
        return "convert it to int64 or float64 first"
    return "read another field, or use another transform"
