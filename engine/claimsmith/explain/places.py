"""Where in a stack a story stands, and how to look things up from there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from claimsmith import fieldpath, urns
from claimsmith.absent import ABSENT
from claimsmith.compose.patches import Outcome
from claimsmith.documents import Document
from claimsmith.errors import EngineError
from claimsmith.expand import Draft
from claimsmith.explain.facts import Facts
from claimsmith.models.klass import Template
from claimsmith.plan import PlannedClaim
from claimsmith.values import inside


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a stack a story stands."""

    facts: Facts
    draft: Draft
    planned: PlannedClaim | None
    types: tuple[str, ...]
    """The engine's types of the components it is nested in, and of its own."""
    name: str
    """The name of its component."""

    def urn(self, document: dict[str, Any] | None = None, word: str = "", *, patch: bool = False) -> str:
        """The URN of the component, or of something that it makes."""
        own = (urns.resource_type(document) + ("Patch" if patch else ""),) if document else ()
        name = f"{self.name}/{word}" if word else self.name
        return urns.urn(self.facts.project, self.facts.stack, (*self.types, *own), name)

    def outcomes_of(self, template: Template) -> Sequence[Outcome]:
        """What became of the patches of a composite's template."""
        return next((d.outcomes for d in self.draft.nested if d.template == template.name), ())


def document_of(here: Place, template: Template) -> Document:
    """The document that a template stands in."""
    return template.document or here.draft.binding.klass.document


def said(document: dict[str, Any], path: str | fieldpath.Path) -> Any:
    """What a document says at a path, ABSENT where it says nothing."""
    try:
        return fieldpath.get(document, path)
    except EngineError:
        return ABSENT


def read_from(data: dict[str, Any], path: str) -> Any:
    """What a side says at a path, though something on the way is known only later; ABSENT where it says nothing."""
    value = said(data, path)
    if value is not ABSENT:
        return value
    with suppress(EngineError):
        found = inside(data, fieldpath.parse(path))
        return ABSENT if found is None else found
    return ABSENT
