"""The input of the function that reads environments: which `EnvironmentConfig`s there are to be merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from claimsmith.base.choice import known_word
from claimsmith.dialects.crossplane.patch_input import Lenient, Need


class _Reference(Lenient):
    name: str


class _Label(Lenient):
    key: str
    type: Literal["FromCompositeFieldPath", "Value"] = "FromCompositeFieldPath"
    value_from_field_path: str | None = None
    value: str | None = None
    from_field_path_policy: Literal["Optional", "Required"] = "Required"

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """The label's value, or where it is read."""
        field = "value" if data.get("type") == "Value" else "valueFromFieldPath"
        if field not in data:
            yield field, f"the label has no {field}", f"add {field}:"


class _Selector(Lenient):
    match_labels: tuple[_Label, ...] = Field((), strict=False)
    mode: Literal["Single", "Multiple"] = "Single"
    min_match: int | None = None
    max_match: int | None = None
    sort_by_field_path: str | None = None


_SOURCES = ("Reference", "Selector")


class _Source(Lenient):
    type: Annotated[str, BeforeValidator(known_word("source of an environment", *_SOURCES))] = "Reference"
    ref: _Reference | None = None
    selector: _Selector | None = None

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """What a source of its type names or selects."""
        field = {"Reference": "ref", "Selector": "selector"}.get(str(data.get("type", "Reference")))
        if field and field not in data:
            yield field, f"the source has no {field}", f"add {field}:"


class _PlacedSource(_Source):
    to_field_path: str | None = None


class _Policy(Lenient):
    resolution: Literal["Optional", "Required"] = "Required"
    resolve: Literal["Always", "IfNotPresent"] = "Always"


class EnvironmentSources(Lenient):
    """What is merged, and over what."""

    default_data: dict[str, Any] = Field(default_factory=dict)
    environment_configs: tuple[_Source, ...] = Field((), strict=False)
    policy: _Policy = Field(default_factory=_Policy)


class _FunctionSources(EnvironmentSources):
    """As in the field of a composition, with a place in the environment for each source."""

    environment_configs: tuple[_PlacedSource, ...] = Field((), strict=False)


class EnvironmentInput(Lenient):
    """The whole input."""

    api_version: str = ""
    kind: str = ""
    metadata: Any = None
    spec: _FunctionSources = Field(default_factory=lambda: _FunctionSources(environment_configs=()))
