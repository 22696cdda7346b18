"""The environment of a composite: `EnvironmentConfig`s that are named or selected, merged in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, FieldPathError, NotFound, Problem, suggest
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.common.klass import Side

KIND = "EnvironmentConfig"
API_VERSION = "apiextensions.crossplane.io/v1beta1"
_GIVE = "give its file: below components/ or stacks/STACK/resources/, or with --extra where files are rendered"


def gathered(
    sources: Iterable[Mapping[str, Any]],
    composite: Mapping[str, Any],
    given: Sequence[Mapping[str, Any]],
    *,
    optional: bool = False,
) -> dict[str, Any]:
    """The data of all that the sources name or select, later ones over earlier ones."""
    configs = [d for d in given if d.get("kind") == KIND]
    found: dict[str, Any] = {}
    for source in sources:
        for config in _configs(source, composite, configs, optional=optional):
            merge_into(found, _data(config, str(source.get("toFieldPath") or "")))
    return found


def _data(config: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The data of a config, at a path of the environment. Only a config without a path needs data."""
    if path:
        placed: dict[str, Any] = {}
        fieldpath.put(placed, fieldpath.parse(path), copied(config.get("data")))
        return placed
    if "data" not in config:
        name = object_at(config, "metadata").get("name")
        raise ComposeError(Problem(f"the {KIND} {name!r} has no data", path="environmentConfigs", fix="add data to it"))
    return object_at(config, "data")


def wanted(source: Mapping[str, Any], composite: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    """The name, or else the labels, of the configs that a source is for; None where it selects by nothing."""
    if source.get("type") != "Selector":
        return str(object_at(source, "ref").get("name", "")), {}
    labels = _labels(object_at(source, "selector").get("matchLabels") or (), composite)
    return ("", labels) if labels else None


def started(
    sources: Mapping[str, Any], sides: Mapping[Side, Mapping[str, Any]], given: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The environment that a step starts with: its defaults, what was there over them, what it gathers over that."""
    optional = object_at(sources, "policy").get("resolution") == "Optional"
    found: dict[str, Any] = copied(dict(object_at(sources, "defaultData")))
    listed = sources.get("environmentConfigs") or ()
    merge_into(found, sides[Side.environment])
    merge_into(found, gathered(listed, sides[Side.claim], given, optional=optional))
    return found


def merge_into(target: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Put data over data: objects are merged, everything else is replaced."""
    for key, value in data.items():
        there = target.get(key)
        if isinstance(there, dict) and isinstance(value, Mapping):
            merge_into(there, value)
        else:
            target[key] = copied(value)


def _configs(
    source: Mapping[str, Any], composite: Mapping[str, Any], configs: Sequence[Mapping[str, Any]], *, optional: bool
) -> list[Mapping[str, Any]]:
    if source.get("type") == "Selector":
        return _selected(object_at(source, "selector"), composite, configs)
    by_name = {str(object_at(c, "metadata").get("name")): c for c in configs}
    name = str(object_at(source, "ref").get("name", ""))
    if name in by_name:
        return [by_name[name]]
    if optional:
        return []
    fix = suggest(name, by_name, _GIVE)
    raise ComposeError(Problem(f"there is no {KIND} {name!r}", path="environmentConfigs", fix=fix))


def _selected(
    selector: Mapping[str, Any], composite: Mapping[str, Any], configs: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    labels = _labels(selector.get("matchLabels") or (), composite)
    if not labels:
        return []
    matching = [c for c in configs if labels.items() <= object_at(object_at(c, "metadata"), "labels").items()]
    if (selector.get("mode") or "Single") == "Single":
        if len(matching) != 1:
            what = f"{len(matching)} {KIND}s match {labels}, where one is wanted"
            fix = f"fix the labels, or use mode: Multiple; or {_GIVE}"
            raise ComposeError(Problem(what, path="environmentConfigs", fix=fix))
        return matching
    least, most = selector.get("minMatch"), selector.get("maxMatch")
    if isinstance(least, int) and len(matching) < least:
        what = f"{len(matching)} {KIND}s match {labels}, where at least {least} are wanted"
        raise ComposeError(Problem(what, path="environmentConfigs", fix=_GIVE))
    path = str(selector.get("sortByFieldPath") or "metadata.name")
    ordered = sorted_by(matching, path)
    return ordered[:most] if isinstance(most, int) else ordered


def _labels(matches: Iterable[Mapping[str, Any]], composite: Mapping[str, Any]) -> dict[str, str]:
    """The labels to select by, without optional ones that have no value."""
    labels: dict[str, str] = {}
    for match in matches:
        key = str(match.get("key", ""))
        if (match.get("type") or "FromCompositeFieldPath") == "Value":
            labels[key] = str(match.get("value", ""))
            continue
        try:
            labels[key] = _text(composite, str(match.get("valueFromFieldPath", "")))
        except FieldPathError:
            if match.get("fromFieldPathPolicy") != "Optional":
                raise
    return labels


def _text(composite: Mapping[str, Any], path: str) -> str:
    value = fieldpath.get(composite, path)
    if not isinstance(value, str):
        fix = "use a field that holds text, or set fromFieldPathPolicy: Optional"
        raise FieldPathError(Problem(f"{path} selects by label and is not text", path=path, fix=fix))
    return value


def sorted_by(documents: Sequence[Mapping[str, Any]], path: str) -> list[Mapping[str, Any]]:
    """By a field, all text or all numbers; a missing one counts as the zero of its type."""
    values = [_value(d, path) for d in documents]
    kinds = {_kind(v) for v in values if v is not None}
    if len(kinds) > 1 or (len(documents) > 1 and not kinds <= {str, float}):
        what = f"cannot sort by {path}: its values are not all text or all numbers"
        raise ComposeError(Problem(what, path="sortByFieldPath", fix="sort by another field, or make its values alike"))
    if len(documents) < 2:
        return list(documents)
    zero: Any = "" if str in kinds else 0
    order = sorted(range(len(documents)), key=lambda i: zero if values[i] is None else values[i])
    return [documents[i] for i in order]


def _kind(value: Any) -> type:
    """The type that the protocol of functions has: every number is a float there."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _value(document: Mapping[str, Any], path: str) -> Any:
    try:
        return fieldpath.get(document, path)
    except NotFound:
        return None
