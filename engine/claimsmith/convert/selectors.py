"""Selectors in a base: three words for "made by the same parent" become one, and classes become labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith import fieldpath
from claimsmith.compose.identity import label_value
from claimsmith.convert.said import Said
from claimsmith.documents import Document
from claimsmith.models.klass import Template
from claimsmith.models.objects import GroupKind
from claimsmith.reference import SAME_PARENT, Table

CLASS = "claimsmith.io/class"
"""The label that tells which class made a resource, where a selector must know."""
_TODAYS = "matchControllerRef"


@dataclass(slots=True)
class Selectors:
    """Turns the selectors of one class's templates, and remembers which templates must be told apart by a label."""

    templates: Sequence[Template]
    table: Table
    said: Said
    labelled: set[str] = field(default_factory=set)

    def turned(self, template: Template, document: Document, value: Any, path: fieldpath.Path) -> Any:
        """A part of a base with today's selectors; `path` is its place in the base."""
        match value:
            case list():
                return [self.turned(template, document, item, (*path, i)) for i, item in enumerate(value)]
            case dict():
                return {
                    key: self._selector(template, document, key, item, (*path, key))
                    if _is_selector(key, item)
                    else self.turned(template, document, item, (*path, key))
                    for key, item in value.items()
                }
            case _:
                return value

    def _selector(
        self, template: Template, document: Document, key: str, given: dict[str, Any], path: fieldpath.Path
    ) -> dict[str, Any]:
        siblings = any(given.get(word) is True for word in SAME_PARENT)
        kept = {k: v for k, v in given.items() if k not in (*SAME_PARENT, "matchClassRef")}
        made = {**({_TODAYS: True} if siblings else {}), **kept}
        name = str((given.get("matchClassRef") or {}).get("name", ""))
        if not name:
            return made
        if not siblings:
            what = f"{key} of {template.name!r} selects by class among all resources; there, selectors know labels only"
            at = template.place_of(fieldpath.to_text(path))
            self.said.leave_out(document, at, what, "label what the class makes, and match these labels")
            return made
        targets = self.table.get(template.group_kind, {}).get(key.removesuffix("Selector"), ())
        if len(self._fitting(template, targets)) > 1:
            meant = [t for t in self._fitting(template, targets) if (t.class_ref or {}).get("name") == name]
            self.labelled |= {t.name for t in meant}
            made["matchLabels"] = {**(made.get("matchLabels") or {}), CLASS: label_value(name)}
        return made

    def _fitting(self, template: Template, targets: Sequence[GroupKind]) -> list[Template]:
        return [t for t in self.templates if t.group_kind in targets and t.name != template.name]


def _is_selector(key: str, value: Any) -> bool:
    return (
        key.endswith("Selector")
        and isinstance(value, dict)
        and any(word in value for word in (*SAME_PARENT, "matchClassRef"))
    )
