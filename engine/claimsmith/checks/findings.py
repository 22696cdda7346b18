"""What a check finds: what must be mended, and what should be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

from claimsmith.errors import Problem


@dataclass(slots=True)
class Findings:
    """The problems of one family of checks."""

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        """Take up what another check found."""
        self.errors += other.errors
        self.warnings += other.warnings
