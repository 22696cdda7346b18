"""What all models share: frozen, snake_case in Python and camelCase in YAML, unknown fields refused."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

JSON = Any
"""A value as JSON knows it: None, bool, int, float, str, list, dict; or a `Ref`, known only once something exists."""


class Model(BaseModel):
    """A part of a document. Give it camelCase; read it in snake_case."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        strict=True,
        # Most runs read few of the kinds: pydantic builds a model only when it is first used.
        defer_build=True,
    )
