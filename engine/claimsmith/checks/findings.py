"""What a check finds: what must be mended, and what should be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from claimsmith.checks.rules import named
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

    def tell(self, rule: str, problem: Problem, *, never: bool) -> None:
        """Keep one problem: an error where it can never work, a warning where it may."""
        (self.errors if never else self.warnings).extend(named(rule, [problem]))

    def wrong(self, rule: str, problems: Iterable[Problem]) -> None:
        """Keep what must be mended."""
        self.errors += named(rule, problems)

    def odd(self, rule: str, problems: Iterable[Problem]) -> None:
        """Keep what should be looked at."""
        self.warnings += named(rule, problems)
