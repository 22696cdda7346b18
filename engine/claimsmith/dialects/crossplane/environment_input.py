"""The input of the function that reads environments: which `EnvironmentConfig`s there are to be merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from claimsmith.base.choice import known_word
from claimsmith.dialects.crossplane.patch_input import Lenient, Need


class Reference(Lenient):
    """An object by its name."""

    name: str


class Label(Lenient):
    """A label to select by, with its value or the field that has it."""

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


class Selector(Lenient):
    """Objects by their labels, sorted and counted."""

    match_labels: tuple[Label, ...] = Field((), strict=False)
    min_match: int | None = Field(None, ge=0)
    max_match: int | None = Field(None, ge=0)
    sort_by_field_path: str | None = None


class _ConfigSelector(Selector):
    mode: Literal["Single", "Multiple"] = "Single"


_SOURCES = ("Reference", "Selector")


class Source(Lenient):
    """What is named or selected."""

    type: Annotated[str, BeforeValidator(known_word("source", *_SOURCES))] = "Reference"
    ref: Reference | None = None
    selector: Selector | None = None

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """What a source of its type names or selects."""
        field = {"Reference": "ref", "Selector": "selector"}.get(str(data.get("type", "Reference")))
        if field and field not in data:
            yield field, f"the source has no {field}", f"add {field}:"


class _Source(Source):
    selector: _ConfigSelector | None = None


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
