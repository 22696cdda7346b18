"""Patches, readiness checks and connection details as Crossplane compositions write them, with what each of them needs.

These are the parts of the patch-and-transform function's input. A null counts as left out, as it does there; everything
that the function refuses before it runs is refused here, at the field that is wrong, and all of it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from claimsmith.base.choice import choice, known_word, refusal
from claimsmith.base.merge import MergePolicy
from claimsmith.base.model import Model
from claimsmith.base.parse import NEEDED
from claimsmith.base.transform import Int64, Transform
from claimsmith.dialects.common.policy import Policy

PatchType = Literal[
    "FromCompositeFieldPath",
    "ToCompositeFieldPath",
    "CombineFromComposite",
    "CombineToComposite",
    "FromEnvironmentFieldPath",
    "ToEnvironmentFieldPath",
    "CombineFromEnvironment",
    "CombineToEnvironment",
    "PatchSet",
]
CheckType = Literal["NonEmpty", "MatchString", "MatchInteger", "MatchTrue", "MatchFalse", "MatchCondition", "None"]


Need = tuple[str, str, str]
"""A field that is missing or wrong, what is wrong with it, and the way out."""


class Lenient(Model):
    """A model for which a null is a field that was left out, and which reports all that it needs together."""

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """What the data lacks, beside what the fields themselves report."""
        del data
        return ()

    @model_validator(mode="wrap")
    @classmethod
    def _told_at_once(cls, data: Any, parse: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return parse(data)
        given = {k: v for k, v in data.items() if v is not None}
        needs = list(cls.needs(given))
        try:
            model = parse(given)
        except ValidationError as error:
            raise refusal_of(given, needs, error) from error
        if needs:
            raise refusal_of(given, needs)
        return model


def refusal_of(data: Any, needs: Iterable[Need], error: ValidationError | None = None) -> ValidationError:
    """The needs and an earlier error as one error that is located in the data."""
    found = []
    for field, what, fix in needs:
        absent = isinstance(data, Mapping) and field not in data
        kind = PydanticCustomError(NEEDED if absent else "refused", "{what}; fix: {fix}", {"what": what, "fix": fix})
        found.append(InitErrorDetails(type=kind, loc=(field,), input=data))
    for e in error.errors(include_url=False) if error else ():
        context = {**e.get("ctx", {}), "text": e["msg"]}
        kind = PydanticCustomError(e["type"], "{text}", context)
        found.append(InitErrorDetails(type=kind, loc=e["loc"], input=e["input"]))
    return ValidationError.from_exception_data("input", found)


def _known(what: str, words: Any) -> BeforeValidator:
    return BeforeValidator(known_word(what, *get_args(words)))


def _or_default(default: str) -> BeforeValidator:
    return BeforeValidator(lambda word: word if word != "" else default)


def _text(value: Any) -> Any:
    if value == "":
        raise refusal("there is nothing in it", "write what it is to be, or leave out what it belongs to")
    return value


class MergeOptions(Lenient):
    """The merge options of older compositions."""

    keep_map_values: bool = False
    append_slice: bool = False


class PatchPolicy(Lenient, Policy):
    """`policy` of a patch, with the older spelling of merging."""

    merge_options: MergeOptions | None = None

    def merge_policy(self) -> MergePolicy:
        """How the value is merged."""
        old = self.merge_options
        if old is None:
            return super().merge_policy()
        return MergePolicy.from_options(keep_map_values=old.keep_map_values, append_slice=old.append_slice)


class CombineVariable(Lenient):
    """One of the fields that are combined."""

    from_field_path: Annotated[str, BeforeValidator(_text)]


class StringCombine(Lenient):
    """The fields put into a Go format string."""

    fmt: str


class Combine(Lenient):
    """Several fields combined into one value."""

    strategy: str = ""
    variables: tuple[CombineVariable, ...] = Field((), strict=False)
    string: StringCombine | None = None

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """A strategy, its options, and something to combine."""
        strategy = data.get("strategy", "")
        if strategy == "":
            yield "strategy", "a combine needs a strategy", "add strategy: string"
        elif strategy != "string":
            yield "strategy", f"unknown combine strategy {strategy!r}", "use: string"
        elif "string" not in data:
            yield "string", "the strategy string needs a format", "add string: with fmt:"
        if not data.get("variables"):
            yield "variables", "a combine needs at least one variable", "list the fields to combine"


class PatchInput(Lenient):
    """One patch. Without a type, it copies a field of the composite."""

    type: Annotated[PatchType, _known("patch type", PatchType), _or_default("FromCompositeFieldPath")] = (
        "FromCompositeFieldPath"
    )
    from_field_path: str | None = None
    to_field_path: str | None = None
    combine: Combine | None = None
    patch_set_name: str | None = None
    transforms: tuple[Transform, ...] = Field((), strict=False)
    policy: PatchPolicy = Field(default_factory=PatchPolicy.model_construct)

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """What a patch of its type reads and writes."""
        word = data.get("type") or "FromCompositeFieldPath"
        if word not in get_args(PatchType):
            return
        if word == "PatchSet":
            if not data.get("patchSetName"):
                yield "patchSetName", "a patch of type PatchSet names a patch set", "add patchSetName:"
        elif word.startswith("Combine"):
            if "combine" not in data:
                yield "combine", f"a patch of type {word} combines fields", "add combine:"
            if not data.get("toFieldPath"):
                yield "toFieldPath", f"a patch of type {word} says where its value goes", "add toFieldPath:"
        elif not data.get("fromFieldPath"):
            yield "fromFieldPath", f"a patch of type {word} reads a field", "add fromFieldPath:"


class MatchCondition(Lenient):
    """A condition that must have a status."""

    type: Annotated[str, BeforeValidator(_text)]
    status: Annotated[str, BeforeValidator(_text)]


class ReadinessCheck(Lenient):
    """One thing that must hold of a resource for it to be ready."""

    type: Annotated[CheckType, _known("readiness check type", CheckType)]
    field_path: str | None = None
    match_string: str | None = None
    match_integer: Int64 | None = None
    match_condition: MatchCondition | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_an_idle_condition(cls, data: Any) -> Any:
        """A check of another type does not look at its condition."""
        if isinstance(data, Mapping) and data.get("type") != "MatchCondition":
            return {key: value for key, value in data.items() if key != "matchCondition"}
        return data

    @classmethod
    def needs(cls, data: Mapping[str, Any]) -> Iterable[Need]:
        """What a check of its type compares."""
        word = data.get("type")
        if word not in get_args(CheckType):
            return
        if word in ("MatchString", "MatchInteger", "MatchCondition"):
            field = f"m{word[1:]}"
            if field not in data:
                yield field, f"a check of type {word} needs {field}", f"add {field}:"
        if word not in ("None", "MatchCondition") and "fieldPath" not in data:
            yield "fieldPath", f"a check of type {word} looks at a field", "add fieldPath:"


Name = Annotated[str, BeforeValidator(_text)]


class FromSecretKey(Model):
    """A connection detail that is a key of the resource's Secret."""

    type: Literal["FromConnectionSecretKey"] = "FromConnectionSecretKey"
    name: Name
    from_connection_secret_key: str
    from_resource: str | None = None


class FromField(Model):
    """A connection detail that is a field of the resource."""

    type: Literal["FromFieldPath"] = "FromFieldPath"
    name: Name
    from_field_path: str
    from_resource: str | None = None


class FromConfig(Model):
    """A connection detail that is a setting of the stack."""

    type: Literal["FromConfig"] = "FromConfig"
    name: Name
    from_config: str


class FromValue(Model):
    """A connection detail that is a text."""

    type: Literal["FromValue"] = "FromValue"
    name: Name
    value: str


def _typed(data: Any) -> Any:
    if isinstance(data, Mapping) and not data.get("type"):
        words = "FromConnectionSecretKey, FromFieldPath, FromValue, FromConfig"
        raise refusal_of(data, [("type", "a connection detail needs a type", f"add type: with one of: {words}")])
    return data


ConnectionDetail = Annotated[
    FromSecretKey | FromField | FromValue | FromConfig,
    choice(
        "connection detail",
        None,
        FromConnectionSecretKey=FromSecretKey,
        FromFieldPath=FromField,
        FromValue=FromValue,
        FromConfig=FromConfig,
    ),
    BeforeValidator(_typed),
]
