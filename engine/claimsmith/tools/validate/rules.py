"""The checks by name. A name never changes once it is out: people silence, count and look up findings by it.

`docs/reference/checks.md` has an example of each; `tests/tools/validate/test_rules.py` compares that page with this
table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from claimsmith.base import errors
from claimsmith.base.errors import Collector, EngineError, Problem

Level = Literal["error", "warning", "either"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One check: its name, how loud it is, and what it finds."""

    id: str
    level: Level
    """`either`: an error where it can never work, a warning where it may."""
    what: str


RULES: Final = {
    rule.id: rule
    for rule in (
        # What is read
        Rule("unreadable-file", "error", "A file that is no text, no YAML, or cannot be read."),
        Rule("invalid-document", "error", "A document that is not what its kind says, or that contradicts another."),
        Rule("not-permitted", "error", "A file below claims/ with something that the platform does not permit."),
        Rule("doubtful-document", "warning", "A document that is read, though a part of it does nothing."),
        Rule("empty-stack", "warning", "A folder below stacks/ without claims, resources or bindings."),
        Rule("unknown-table-kind", "warning", "A kind in a table of the project that nothing composes."),
        # Generated code
        Rule("missing-component", "error", "A class without its generated component."),
        Rule("stale-component", "error", "A component that is not what `generate` would write now."),
        # Choices
        Rule("weight-not-a-number", "error", "A weight that is no whole number."),
        Rule("default-as-label", "warning", "The mark of a default class, written as a label."),
        Rule("several-defaults", "warning", "More than one default class for a kind."),
        Rule("missing-composition", "warning", "A definition that names a composition which does not exist."),
        Rule("undefined-kind", "warning", "A composition of a kind that nothing defines."),
        Rule("definition-unsound", "warning", "A schema that an API server would not read as it is written."),
        Rule("incomplete-claim-definition", "error", "A claim's definition that lacks what every claim has."),
        Rule("class-never-selected", "warning", "A class that no selector and no default can ever choose."),
        Rule("connection-key-missing", "warning", "A connection detail that is promised and never delivered."),
        Rule("connection-key-dropped", "warning", "A connection detail that is delivered and never promised."),
        # Bases
        Rule("version-not-served", "error", "A base of a version that its definition does not serve."),
        Rule("base-invalid", "error", "A base with a field or value that its definition does not allow."),
        Rule("unquoted-text", "error", "A number or boolean where text is wanted: quotes are missing."),
        Rule("required-field-unset", "either", "A required field that neither base nor patches set for certain."),
        # Native resources
        Rule("missing-sdk", "error", "A native resource of a provider whose Python SDK is not installed."),
        Rule("unknown-resource-type", "error", "A type that the provider's SDK does not have."),
        Rule("unknown-output", "error", "An output that a resource does not have."),
        Rule("output-type-mismatch", "error", "An output that can never be of the type that its property has."),
        Rule("deprecated-type", "warning", "A type that its provider has deprecated."),
        Rule("deprecated-property", "warning", "A property that its provider has deprecated."),
        # Patches
        Rule("patch-path-unreadable", "error", "A patch with a path that cannot be parsed."),
        Rule("patch-writes-unknown-field", "either", "A patch into a field that does not exist."),
        Rule("patch-reads-unknown-field", "either", "A patch from a field that does not exist."),
        Rule("patch-type-mismatch", "error", "A patch whose value can never be of the type that its field has."),
        Rule("patch-value-impossible", "either", "A patch that gives a value which its field does not allow."),
        Rule("transform-type-mismatch", "error", "A transform that can never take its input."),
        Rule("map-misses-value", "either", "A map without a key for a value that its source may have."),
        Rule("match-misses-value", "either", "A match without a pattern or fallback for a value that may come."),
        Rule("transform-refuses-value", "either", "A transform that refuses a value that its source may have."),
        Rule("patch-set-unused", "warning", "A patch set that no resource names."),
        # Loops and conditions
        Rule("loop-unsound", "error", "A loop or a condition over a field that claims of the kind do not have."),
        Rule(
            "condition-invalid",
            "error",
            "A condition that is no CEL expression, does not fit the claim's schema, or returns no boolean.",
        ),
        # References
        Rule("reference-unknown", "error", "A selector of a field whose target kind is unknown."),
        Rule("reference-never-matches", "either", "A selector that nothing in the platform or stack can fit."),
        Rule("reference-created-later", "error", "A selector that selects a resource which is created after its own."),
        # Claims
        Rule("unbound-claim", "either", "A claim that no class serves."),
        Rule("unrecorded-binding", "warning", "A binding that is not written to bindings.yaml yet."),
        Rule("class-changed", "error", "A class that changed after claims were bound to it."),
        Rule("broken-binding", "error", "A recorded binding that no longer holds."),
        Rule("claim-invalid", "error", "A claim that its kind's definition does not allow."),
        Rule("claim-field-unread", "either", "A field of a claim that nothing reads."),
        Rule("cannot-plan", "error", "A claim from which no resource can be composed."),
        Rule("doubtful-plan", "warning", "A claim with a value that has no effect."),
        Rule("result-invalid", "error", "A resource that its definition would not allow."),
        Rule("plugin-missing", "warning", "A provider's plugin that is not where Pulumi.yaml says it is."),
        Rule("provider-unknown", "error", "A native resource of a provider that the stack's config does not have."),
        Rule("external-name-taken", "error", "A claim that chose the external name of another claim's resource."),
        Rule("shared-external-name", "warning", "Two resources of a kind with one external name."),
        Rule("shared-physical-name", "warning", "Two native resources of a type with one physical name."),
    )
}

_OF_ERRORS: Final[dict[type[EngineError], str]] = {
    errors.LoadError: "unreadable-file",
    errors.ModelError: "invalid-document",
    errors.CatalogError: "invalid-document",
    errors.NotPermitted: "not-permitted",
    errors.BindingError: "broken-binding",
}


def named(rule: str, problems: Iterable[Problem]) -> list[Problem]:
    """The problems under a check's name, where they have none of their own."""
    assert rule in RULES, f"{rule!r} is no check"
    return [p if p.rule else replace(p, rule=rule) for p in problems]


@contextmanager
def caught(found: Collector) -> Iterator[None]:
    """Keep the problems of an error raised inside, under the name of the check that its kind belongs to."""
    try:
        yield
    except EngineError as error:
        keep(found, error)


def keep(found: Collector, error: EngineError) -> None:
    """Keep the problems of an error, under the name of the check that its kind belongs to."""
    found.problems += named(_OF_ERRORS.get(type(error), "cannot-plan"), error.problems)


@dataclass(slots=True)
class Findings:
    """The problems of one family of checks."""

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        """Add what another check found."""
        self.errors += other.errors
        self.warnings += other.warnings

    def report(self, rule: str, problem: Problem, *, never: bool) -> None:
        """Keep one problem: an error where it can never work, a warning where it may."""
        (self.errors if never else self.warnings).extend(named(rule, [problem]))

    def wrong(self, rule: str, problems: Iterable[Problem]) -> None:
        """Keep problems that must be fixed."""
        self.errors += named(rule, problems)

    def odd(self, rule: str, problems: Iterable[Problem]) -> None:
        """Keep problems that should be looked at."""
        self.warnings += named(rule, problems)
