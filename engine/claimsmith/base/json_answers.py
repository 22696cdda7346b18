"""The answers of commands in JSON: each is an object that names the version of its format.

docs/reference/json.md lists them, and docs/reference/schemas has a JSON Schema for each. No command writes JSON in
another way, except in formats that others define (SARIF, a matrix for CI runners, credentials for an application).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from claimsmith.base.printable import json_text

FORMATS: Final[Mapping[str, int]] = {
    "accept": 1,
    "backend": 1,
    "backend-move": 1,
    "bind": 1,
    "classes": 1,
    "classes-usage": 1,
    "convert": 1,
    "crds": 1,
    "crds-add": 1,
    "drift": 1,
    "explain": 1,
    "explain-child": 1,
    "explain-field": 1,
    "fleet": 1,
    "generate": 1,
    "local-down": 1,
    "local-status": 1,
    "local-up": 1,
    "local-up-postgresql": 1,
    "problems": 1,
    "recover": 1,
    "render": 1,
    "review": 1,
    "rollout": 1,
    "shard": 1,
    "status": 1,
    "toolchain": 1,
    "validate": 1,
}
"""The version of each answer, by the name of its schema. It grows if a field is removed or changes its meaning."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answers: the name of its format, and its fields in camelCase."""

    name: str
    fields: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The answer for a machine to read: the version of its format first, then its fields in their order."""
        return {"format": FORMATS[self.name], **self.fields}

    def text(self) -> str:
        """The answer as JSON, with a newline at its end."""
        return json_text(self.to_dict(), default=str) + "\n"


def foreign_text(value: Any, *, one_line: bool = False) -> str:
    """JSON in a format that others define, and that has no version of ours; `one_line` for a variable of a shell."""
    return json_text(value, indent=None if one_line else 2) + "\n"
