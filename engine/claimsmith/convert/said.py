"""What a conversion says besides its documents: what could not be said, and what is said differently."""

from __future__ import annotations

from dataclasses import dataclass, field

from claimsmith import fieldpath
from claimsmith.documents import Document
from claimsmith.errors import Problem


@dataclass(slots=True)
class Said:
    """The problems of a conversion, each once."""

    unsaid: dict[Problem, None] = field(default_factory=dict)
    """What today's dialect has no words for: it is not in the documents."""
    differs: dict[Problem, None] = field(default_factory=dict)
    """What today's dialect says in another way, with a difference that somebody may notice."""

    def leave_out(self, document: Document, path: fieldpath.Path | str, what: str, fix: str) -> None:
        """Note what cannot be said."""
        _add(self.unsaid, document, path, what, fix)

    def differ(self, document: Document, path: fieldpath.Path | str, what: str, fix: str) -> None:
        """Note what is said differently."""
        _add(self.differs, document, path, what, fix)


def _add(problems: dict[Problem, None], document: Document, path: fieldpath.Path | str, what: str, fix: str) -> None:
    shown = path if isinstance(path, str) else fieldpath.to_text(path)
    problems[Problem(what, document.source_of(path), shown, fix)] = None
