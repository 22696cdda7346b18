"""The problems that a conversion reports: what Crossplane cannot express, and what it expresses differently."""

from __future__ import annotations

from dataclasses import dataclass, field

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem


@dataclass(slots=True)
class Notes:
    """The problems of a conversion, each once."""

    unsupported: dict[Problem, None] = field(default_factory=dict)
    """What Crossplane cannot express: it is not in the documents."""
    differs: dict[Problem, None] = field(default_factory=dict)
    """What Crossplane expresses differently, with a difference that somebody may notice."""

    def leave_out(self, document: Document, path: fieldpath.Path | str, what: str, fix: str) -> None:
        """Report what Crossplane cannot express."""
        _add(self.unsupported, document, path, what, fix)

    def differ(self, document: Document, path: fieldpath.Path | str, what: str, fix: str) -> None:
        """Report what Crossplane expresses differently."""
        _add(self.differs, document, path, what, fix)


def _add(problems: dict[Problem, None], document: Document, path: fieldpath.Path | str, what: str, fix: str) -> None:
    shown = path if isinstance(path, str) else fieldpath.to_text(path)
    problems[Problem(what, document.source_of(path), shown, fix)] = None
