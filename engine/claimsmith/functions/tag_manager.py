"""function-tag-manager: tags added to, kept on and removed from every resource that has tags.

Which kinds have `spec.forProvider.tags` is a table of the AWS and Azure providers' CRDs (`data/taggable-kinds.txt`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from pydantic import Field

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError
from claimsmith.base.names import group_of
from claimsmith.base.values import copied, object_at, value_at
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import inputs
from claimsmith.functions.protocol import Function, Request, Resource, Response, Severity, State
from claimsmith.functions.registry import Place

_IGNORE = "tag-manager.fn.crossplane.io/ignore-resource"
_Type = Literal["FromValue", "FromCompositeFieldPath", "FromEnvironmentFieldPath"]
_Policy = Literal["Replace", "Retain"]
Tags = dict[str, str]


class _Source(Lenient):
    type: _Type | None = None
    from_field_path: str | None = None
    policy: _Policy | None = None

    @property
    def retains(self) -> bool:
        """Whether a tag that is there keeps its value; the policy counts only beside a type."""
        return self.type is not None and self.policy == "Retain"

    def value(self, own: Any, request: Request) -> Any:
        """What the source names: its own value, or a field's."""
        if self.type in (None, "FromValue"):
            return own
        document = (
            request.observed.composite.document if self.type == "FromCompositeFieldPath" else request.environment()
        )
        try:
            return value_at(document, self.from_field_path or "")
        except FieldPathError:
            return None


class _AddTags(_Source):
    tags: dict[str, str] = Field(default_factory=dict)


class _Keys(_Source):
    keys: tuple[str, ...] = Field((), strict=False)


class _ManagedTags(inputs.FunctionInput):
    add_tags: tuple[_AddTags, ...] = Field((), strict=False)
    ignore_tags: tuple[_Keys, ...] = Field((), strict=False)
    remove_tags: tuple[_Keys, ...] = Field((), strict=False)


def bind(place: Place) -> Function:
    """The function for one step."""
    settings = inputs.read(_ManagedTags, place)

    def run(request: Request) -> Response:
        added = _split((each, _tags(each.value(each.tags, request))) for each in settings.add_tags)
        removed = {key for each in settings.remove_tags for key in _keys(each.value(each.keys, request))}
        changed = {
            name: _with_tags(resource, _observed_tags(request, name), added, removed, settings, request)
            if _has_tags(resource.document)
            else resource
            for name, resource in request.desired.resources.items()
        }
        response = replace(Response.to(request), desired=State(request.desired.composite, changed))
        return response.with_result(Severity.normal, "Successfully Processed tags")

    return run


def _with_tags(
    resource: Resource,
    observed: Tags | None,
    added: tuple[Tags, Tags],
    removed: set[str],
    settings: _ManagedTags,
    request: Request,
) -> Resource:
    document: dict[str, Any] = copied(dict(resource.document))
    tags = _tags(value_at(document, "spec.forProvider.tags"))
    before = dict(tags)
    retained, replacing = added
    tags = _filled(tags, retained) | replacing
    if observed is not None:
        kept, forced = _split(
            (each, {k: observed[k] for k in _keys(each.value(each.keys, request)) if k in observed})
            for each in settings.ignore_tags
        )
        tags = _filled(tags, kept) | forced
    remaining = {key: value for key, value in tags.items() if key not in removed}
    if remaining or before or tags:
        fieldpath.put(document, "spec.forProvider.tags", remaining)
    return replace(resource, document=document)


def _split(sources: Iterator[tuple[_Source, Tags]]) -> tuple[Tags, Tags]:
    """Tags that only fill gaps, and tags that replace; of two sources with one key the first counts."""
    retained: Tags = {}
    replacing: Tags = {}
    for source, tags in sources:
        target = retained if source.retains else replacing
        target.update(_filled(target, tags))
    return retained, replacing


def _filled(tags: Tags, more: Tags) -> Tags:
    """The tags with those that are missing; an empty one counts as missing."""
    return tags | {key: value for key, value in more.items() if not tags.get(key)}


def _observed_tags(request: Request, name: str) -> Tags | None:
    existing = request.observed.resources.get(name)
    found = value_at(existing.document, "status.atProvider.tags") if existing else None
    fine = isinstance(found, Mapping) and all(isinstance(value, str | None) for value in found.values())
    return _tags(found) if fine else None


def _tags(value: Any) -> Tags:
    """A map of texts; what is no text is empty, as in the function."""
    found = value if isinstance(value, Mapping) else {}
    return {str(k): v if isinstance(v, str) else "" for k, v in found.items()}


def _keys(value: Any) -> list[str]:
    return [key for key in value if isinstance(key, str)] if isinstance(value, Sequence) else []


def _has_tags(document: Mapping[str, Any]) -> bool:
    metadata = object_at(document, "metadata")
    marks = (object_at(metadata, "annotations").get(_IGNORE), object_at(metadata, "labels").get(_IGNORE))
    mark = next((m for m in marks if isinstance(m, str)), "")
    if mark.lower() == "true":
        return False
    group = group_of(str(document.get("apiVersion", "")))
    return document.get("kind") in taggable().get(group, frozenset())


@lru_cache(maxsize=1)
def taggable() -> Mapping[str, frozenset[str]]:
    """The kinds that have tags, by their groups."""
    text = resources.files("claimsmith").joinpath("data/taggable-kinds.txt").read_text(encoding="utf-8")
    table: dict[str, frozenset[str]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        groups, _, kinds = line.partition(":")
        table |= dict.fromkeys(groups.split(), frozenset(kinds.split()))
    return table
