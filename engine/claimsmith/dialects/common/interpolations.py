"""Reads `${sibling.output}` in the texts of a class, as Pulumi YAML writes it.

Only texts of a class are read, and only once: a claim's value that looks like an interpolation stays a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError, ModelError, Problem
from claimsmith.base.values import Interpolation, SiblingOutput

_INTERPOLATION = re.compile(r"\$\$|\$\{([^{}]*)\}")
_IN_TEXT = re.compile(r"(\$?)\$\{([^{}]*)\}")


def interpolation(value: Any) -> Any:
    """A value of a class with its `${sibling.output}` parts taken apart; `$$` is a literal `$`, as in Pulumi YAML."""
    if not isinstance(value, str) or "$" not in value:
        return value
    return _joined(_parts(value))


def _parts(text: str) -> Iterator[str | SiblingOutput]:
    end = 0
    for match in _INTERPOLATION.finditer(text):
        yield _plain(text[end : match.start()])
        end = match.end()
        yield "$" if match[1] is None else _output(match[1])
    yield _plain(text[end:])


def _plain(text: str) -> str:
    if "${" in text:
        raise _unreadable(text[text.index("${") :], "it has no closing brace")
    return text


def _joined(parts: Iterable[str | SiblingOutput]) -> Any:
    """The parts with neighbouring texts as one; a plain text where no part is an output."""
    joined: list[str | SiblingOutput] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    if all(isinstance(part, str) for part in joined):
        return "".join(map(str, joined))
    return Interpolation(tuple(joined))


def _output(text: str) -> SiblingOutput:
    """The output that the inside of `${…}` names."""
    try:
        path = fieldpath.parse(text.strip())
    except FieldPathError as error:
        raise _unreadable(f"${{{text}}}", error.problems[0].what) from error
    if not path or not isinstance(path[0], str):
        raise _unreadable(f"${{{text}}}", "it names no sibling")
    if len(path) == 1:
        raise _unreadable(f"${{{text}}}", f"it does not say which output of {path[0]!r} is meant")
    return SiblingOutput(path[0], path[1:])


def _unreadable(text: str, why: str) -> ModelError:
    fix = "write ${sibling.output}, like ${role.name}; a literal ${ is written $${"
    return ModelError(Problem(f"cannot read the interpolation {text!r}: {why}", fix=fix))


def interpolated_natives(value: Any, natives: Collection[str]) -> Any:
    """A value of a Kubernetes object, an interpolation where it names outputs of native siblings."""
    if not isinstance(value, str) or "${" not in value:
        return value

    def output(text: str) -> SiblingOutput | None:
        path = fieldpath.parse_or_root(text.strip())
        return SiblingOutput(path[0], path[1:]) if len(path) > 1 and path[0] in natives else None  # type: ignore[arg-type]

    parts: list[str | SiblingOutput] = []
    end = 0
    for match in _IN_TEXT.finditer(value):
        found = output(match[2])
        if found is None:
            continue
        # Of `$${role.name}` only the literal stays, as in the properties of a native resource.
        parts += [value[end : match.start()], match[0].removeprefix("$") if match[1] else found]
        end = match.end()
    return _joined([*parts, value[end:]])
