"""A patch's policy: whether its source must be there, and how its value meets what is there already."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from claimsmith.base.merge import MergePolicy
from claimsmith.base.model import Model


class Policy(Model):
    """`policy` of a patch."""

    from_field_path: str = Field(default="Optional", pattern="^(Optional|Required)$")
    to_field_path: str = "Replace"

    @field_validator("to_field_path")
    @classmethod
    def _known(cls, value: Any) -> Any:
        try:
            MergePolicy.from_text(value)
        except ValueError as error:
            raise ValueError(f"{error}; fix: use one of: {', '.join(p.value for p in MergePolicy)}") from error
        return value

    def merge_policy(self) -> MergePolicy:
        """How the value is merged."""
        return MergePolicy.from_text(self.to_field_path)

    @property
    def required(self) -> bool:
        """Whether a missing source is an error."""
        return self.from_field_path == "Required"
