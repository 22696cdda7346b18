"""Values, transforms and options as text, and explanations as plain data for a machine to read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from pydantic.alias_generators import to_camel

from claimsmith.base import transform as models
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import Problem
from claimsmith.base.names import GET, ChildAddress, ClaimKey, ClassKey, GroupKind
from claimsmith.base.transform import Transform
from claimsmith.base.values import Interpolation, Mix, Ref, mapped
from claimsmith.base.values import shown as shown_value
from claimsmith.compose.options import Options
from claimsmith.dialects.common.selector import Expression, Selector

_SHOWN = 4
_WIDE = 100


def shown(value: Any) -> str:
    """A value for a person to read, not longer than a line; a value of deploy time as its origin."""
    if value is ABSENT:
        return "nothing"
    text = whole(value)
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def whole(value: Any) -> str:
    """The same without a limit."""
    return json.dumps(mapped(value, _leaf), ensure_ascii=False)


def transform_text(transform: Transform) -> str:
    """What a transform does."""
    match transform:
        case models.MapTransform(map=pairs):
            return f"map {_pairs(pairs.items())}"
        case models.MatchTransform(match=match):
            patterns = [(_pattern(p), p.result) for p in match.patterns]
            rest = "the value itself" if match.fallback_to == "Input" else shown(match.fallback_value)
            return f"match {_pairs(patterns)}; else {rest}"
        case models.MathTransform(math=math):
            return _math(math)
        case models.StringTransform(string=string):
            return _string(string)
        case models.ConvertTransform(convert=convert):
            how = f", read as {convert.format}" if convert.format != "none" else ""
            return f"convert to {convert.to_type}{how}"
        case _:
            assert_never(transform)


def options_text(options: Options) -> list[str]:
    """How a child is deployed."""
    words = ["kept when the claim ends" if options.retain else "deleted with the claim"]
    if options.wait_for:
        waits = ", ".join(w.removeprefix("condition=") for w in options.wait_for)
        words.append(f"waited for until {waits}, up to {options.timeout}")
    else:
        words.append("not waited for")
    if options.protect:
        words.append("protected: the engine refuses to delete it")
    if options.ignore_changes:
        words.append(f"left to its controller: {', '.join(options.ignore_changes)}")
    return words


def native_options_text(document: Mapping[str, Any]) -> list[str]:
    """How a native child is deployed."""
    options: Mapping[str, Any] = document.get("options", {})
    words = ["kept when the claim ends" if options.get("retainOnDelete") else "deleted with the claim"]
    if existing := document.get(GET):
        words = [f"reads the existing {existing['id']}, which stays as it is when the claim ends"]
    if options.get("protect"):
        words.append("protected: the engine refuses to delete it")
    listed = {
        "provider": "provider {}",
        "import": "takes over the existing {}",
        "dependsOn": "after {}",
        "ignoreChanges": "changes ignored: {}",
        "replaceOnChanges": "replaced on a change of {}",
        "aliases": "also known as {}",
        "additionalSecretOutputs": "secret: {}",
    }
    for key, text in listed.items():
        if options.get(key):
            words.append(text.format(_listed(options[key])))
    timeouts = options.get("customTimeouts") or {}
    words += [f"up to {', '.join(f'{limit} to {word}' for word, limit in timeouts.items())}"] if timeouts else []
    words += ["deleted before it is replaced"] if options.get("deleteBeforeReplace") else []
    return words


def _listed(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return ", ".join(map(_named, values))


def _named(value: Any) -> str:
    """A sibling by its template, an alias by its name and type, all else as it is."""
    match value:
        case Ref(resource=ChildAddress(template=template)):
            return template
        case {"name": name, "type": type_}:
            return f"{name} of {type_}"
        case _:
            return str(value)


def mismatch(selector: Selector, labels: Mapping[str, str]) -> str:
    """Why labels do not fulfil a selector; empty where they do."""
    reasons = [
        f"{key} is {labels[key]!r}, not {wanted!r}" if key in labels else f"no label {key}"
        for key, wanted in selector.match_labels.items()
        if labels.get(key) != wanted
    ]
    reasons += [_unfulfilled(e, labels) for e in selector.match_expressions if not e.matches(labels)]
    return "; ".join(reasons)


def _leaf(value: Any) -> Any:
    text = shown_value(value)
    return text if isinstance(text, str | int | float | bool | None) else str(text)


def _pairs(pairs: Iterable[tuple[str, Any]]) -> str:
    listed = [f"{key} → {shown(value)}" for key, value in pairs]
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def _pattern(pattern: models.LiteralPattern | models.RegexpPattern) -> str:
    return f"/{pattern.regexp}/" if isinstance(pattern, models.RegexpPattern) else pattern.literal


def _math(math: models.MathMultiply | models.MathClampMin | models.MathClampMax) -> str:
    match math:
        case models.MathMultiply(multiply=factor):
            return f"times {factor}"
        case models.MathClampMin(clamp_min=bound):
            return f"at least {bound}"
        case models.MathClampMax(clamp_max=bound):
            return f"at most {bound}"
        case _:
            assert_never(math)


def _string(string: Any) -> str:
    match string:
        case models.StringFormat(fmt=fmt):
            return f"format {fmt!r}"
        case models.StringConvert(convert=how):
            return f"text {how}"
        case models.StringTrimPrefix(trim=text):
            return f"without the prefix {text!r}"
        case models.StringTrimSuffix(trim=text):
            return f"without the suffix {text!r}"
        case models.StringRegexp(regexp=options):
            group = f", group {options.group}" if options.group else ""
            return f"what /{options.match}/ finds{group}"
        case models.StringJoin(join=options):
            return f"joined with {options.separator!r}"
        case models.StringReplace(replace=options):
            return f"{options.search!r} replaced by {options.replace!r}"
        case _:
            raise AssertionError(f"unknown string transform {string!r}")


def _unfulfilled(expression: Expression, labels: Mapping[str, str]) -> str:
    key, has = expression.key, labels.get(expression.key)
    match expression.operator:
        case "In":
            known = f"{key} is {has!r}" if has is not None else f"no label {key}"
            return f"{known}, not one of {', '.join(expression.values)}"
        case "NotIn":
            return f"{key} is {has!r}"
        case "Exists":
            return f"no label {key}"
        case _:
            return f"there is a label {key}"


def plain(value: Any) -> Any:
    """Any part of an explanation as JSON data."""
    match value:
        case Problem():
            return value.to_dict()
        case ClaimKey() | ClassKey() | GroupKind() | Ref() | Mix() | Interpolation():
            return str(value)
        case _ if value is ABSENT:
            return None
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = {"klass": "class"}
            fields = [f.name for f in dataclasses.fields(value)]
            return {names.get(n) or to_camel(n): plain(getattr(value, n)) for n in fields}
        case Mapping():
            return {str(k): plain(v) for k, v in value.items()}
        case tuple() | list():
            return [plain(v) for v in value]
        case _:
            return value
