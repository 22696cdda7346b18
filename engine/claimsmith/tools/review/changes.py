"""A review as data: for each environment its claims, their children and fields, and the warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from claimsmith.base.errors import Problem, Source


class Op(StrEnum):
    """What happens to a resource."""

    created = "created"
    updated = "updated"
    replaced = "replaced"
    deleted = "deleted"
    retained = "retained"
    settings = "settings"
    """Only how the engine treats it changes: kept or deleted, waited for, protected."""
    read = "read"
    """It exists, and is only read: the engine neither changes nor deletes it."""
    same = "same"


DESTRUCTIVE = (Op.deleted, Op.replaced)
UNKNOWN = "replacement-unknown"
"""The warning of a change that may replace a resource, or not."""
ROLLOUT = "rollout from"
"""How the reason of a binding begins that a rollout wrote."""
CHANGING = ("adopts", "setting-changed")
"""Warnings of what changes though no object's own document does."""


class Change(StrEnum):
    """What happens to a claim."""

    added = "added"
    removed = "removed"
    rebound = "rebound"
    changed = "changed"


@dataclass(frozen=True, slots=True)
class Cause:
    """What sets a field now, or what no longer does."""

    by: str
    """`base`, `template`, `table`, `patch`, `identity`, `reference`, `option` or `source`."""
    what: str
    where: Source | None = None
    was: str = ""
    """The same in the base, where that reads otherwise."""
    claim: str = ""
    """The claim's field that changed, as text; empty if the claim is unchanged."""
    claim_where: Source | None = None
    whose: str = "claim"
    """Whose field that is: the claim's, or the environment's."""
    gone: bool = False
    """Whether it stands in the base only."""

    @property
    def claim_path(self) -> str:
        """The path of the claim's field."""
        return self.claim.partition(": ")[0]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a JSON text, before and after."""

    path: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field, before and after. ABSENT where it was not there, or is no longer."""

    path: str
    old: Any
    new: Any
    cause: Cause | None = None
    replaces: bool = False
    """Whether the engine replaces the object because of this field."""
    secret: bool = False
    """Whether the values are hidden."""
    immutable: bool = False
    """Whether the provider refuses the change."""
    parts: tuple[Part, ...] = ()
    """If both values are JSON texts: what differs in them."""

    @property
    def dangerous(self) -> bool:
        """Whether the change of this field replaces the object, or is refused."""
        return self.replaces or self.immutable


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """One resource: a claim's child or Secret, or something that the stack gives."""

    part: str
    """The template that composes it, within its composites; or its name or address in the engine."""
    api_version: str
    kind: str
    namespace: str
    name: str
    op: Op
    urn: str
    fields: tuple[FieldChange, ...] = ()
    settings: tuple[FieldChange, ...] = ()
    why: str = ""
    where: Source | None = None
    holds_data: bool = False
    cluster: str = ""
    """The target cluster; empty for the stack's own."""
    address: str = ""
    refers: tuple[str, ...] = ()
    """The addresses of what it refers to."""

    @property
    def place(self) -> str:
        """Its namespace, where it has one, and name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Kept:
    """A resource that stays as it is."""

    part: str
    kind: str
    name: str
    address: str
    refers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stay:
    """An object that stays while its claim gets another class, or its template another name or type."""

    part: str
    was: str
    """The template that composed it."""
    kind: str
    type: str
    """The apiVersion, or the type of a native resource."""
    type_before: str
    namespace: str
    name: str
    """In the cluster; of a native resource, for the engine."""
    op: Op
    """`same`, `settings` or `updated`."""
    urn: str
    urn_before: str
    sure: bool = True
    """False for a native resource that its provider may replace for what changes in it."""

    @property
    def moved(self) -> bool:
        """Whether another template composed it, or the engine knew it under another type."""
        return (self.part, self.type) != (self.was, self.type_before)

    @property
    def place(self) -> str:
        """Its namespace, where it has one, and name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Level(StrEnum):
    """How loud a warning is, the loudest first."""

    danger = "danger"
    warning = "warning"
    note = "note"


@dataclass(frozen=True, slots=True)
class ReviewWarning:
    """One risk of the change."""

    rule: str
    level: Level
    what: str
    claim: str = ""
    part: str = ""
    where: Source | None = None
    fix: str = ""
    subject: str = ""
    """The words of `what` that name this one resource or claim: warnings that differ in them alone are folded."""


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """One claim, or application, that does not stay as it was."""

    claim: str
    short: str
    change: Change
    class_before: str = ""
    class_after: str = ""
    reason: str = ""
    where: Source | None = None
    urn: str = ""
    resources: tuple[ResourceChange, ...] = ()
    kept: tuple[Kept, ...] = ()
    """Its resources that stay as they are."""
    stays: tuple[Stay, ...] = ()
    """If its class, or the URN of a resource, is another one: all objects that live on, changed or not."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the engine's preview differs from the comparison of files, and why."""

    urn: str
    ours: str
    engine: str
    why: str


@dataclass(frozen=True, slots=True)
class Previewed:
    """The result of the engine's preview."""

    ops: dict[str, int]
    agreeing: int
    differences: tuple[Difference, ...] = ()
    beside: tuple[str, ...] = ()
    """What it would change beside the plan's resources: records, providers, components."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class StackReview:
    """One environment."""

    stack: str
    claims: tuple[ClaimChange, ...] = ()
    given: tuple[ResourceChange, ...] = ()
    """What the stack gives by itself."""
    warnings: tuple[ReviewWarning, ...] = ()
    unchanged: int = 0
    """How many claims stay as they are."""
    refusals: tuple[Problem, ...] = ()
    """Why the working tree is refused: `preview` and `up` would refuse it, or it does not keep what it declares to."""
    problems: tuple[Problem, ...] = ()
    """Why one of the sides could not be read."""
    unread: str = ""
    """Which side that is: `base` or `working tree`."""
    preview: Previewed | None = None

    def resources(self) -> Iterator[ResourceChange]:
        """Every resource that does not stay as it was."""
        yield from self.given
        for claim in self.claims:
            yield from claim.resources

    def counts(self) -> dict[str, int]:
        """How many resources there are of each operation."""
        found = Counter(r.op for r in self.resources())
        return {op.value: found[op] for op in Op if found[op]}

    @property
    def stays(self) -> int:
        """How many objects stay though the class of their claim, or their template, is another one."""
        return sum(len(claim.stays) for claim in self.claims)

    @property
    def dangers(self) -> tuple[ReviewWarning, ...]:
        """The warnings of the highest level."""
        return tuple(w for w in self.warnings if w.level is Level.danger)

    def endangered(self) -> frozenset[tuple[str, str]]:
        """The resources that a danger is about, each as its claim and its part; a whole claim has an empty part."""
        return frozenset((w.claim, w.part) for w in self.dangers)

    @property
    def destructive(self) -> bool:
        """Whether something is deleted or replaced."""
        loud = any(w.level is Level.danger for w in self.warnings)
        engine = bool(self.preview and any(self.preview.ops.get(op.value) for op in DESTRUCTIVE))
        return loud or engine or any(r.op in DESTRUCTIVE for r in self.resources())

    @property
    def changes(self) -> bool:
        """Whether anything changes."""
        changed = self.claims or self.given or any(w.rule in CHANGING for w in self.warnings)
        return bool(changed or (self.preview and self.preview.ops))


@dataclass(frozen=True, slots=True)
class CodeChange:
    """One generated component."""

    file: str
    change: str
    """`added`, `removed` or `changed`."""
    added: int
    removed: int
    diff: tuple[str, ...]
    """The lines that differ, with a little of what stands around them. Most formats show the first of them."""


@dataclass(frozen=True, slots=True)
class Review:
    """The change between a revision and the working tree."""

    project: str
    base: str
    """The revision as it was named."""
    commit: str
    stacks: tuple[StackReview, ...] = ()
    code: tuple[CodeChange, ...] = ()
    warnings: tuple[ReviewWarning, ...] = ()
    """Those of the whole project."""
    link: str = ""
    """The address of the page of this review, if it is published."""

    @property
    def failed(self) -> bool:
        """Whether a side of some environment could not be read, or the working tree would be refused."""
        unseen = any(s.preview and s.preview.problems for s in self.stacks)
        return unseen or any(s.problems or s.refusals for s in self.stacks)

    @property
    def destructive(self) -> bool:
        """Whether something is deleted or replaced anywhere."""
        loud = any(w.level is Level.danger for w in self.warnings)
        return loud or any(s.destructive for s in self.stacks)

    @property
    def changes(self) -> bool:
        """Whether anything changes anywhere."""
        return bool(self.warnings) or any(s.changes for s in self.stacks) or bool(self.code)
