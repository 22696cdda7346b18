"""A template's document with its patches written in: a tree of literals and expressions.

A patch that writes one field becomes an expression in the place of that field. A patch that a literal cannot express
(wildcards, merges, lists that grow) becomes a statement after the literal, in the order of the patches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.merge import MergePolicy
from claimsmith.base.values import copied, has
from claimsmith.dialects.common.klass import Patch, Side, Template
from claimsmith.generate.expression import Expression, Reader, claim_reader, either, literal, value_of


@dataclass(frozen=True, slots=True)
class Statement:
    """A patch that is applied after the document is written down."""

    path: str
    value: Expression
    policy: MergePolicy
    wildcards: bool = True

    def code(self, document: str) -> str:
        """The statement as Python, for a document of that name."""
        policy = "" if self.policy is MergePolicy.Replace else f", policy=MergePolicy.{self.policy.name}"
        plain = "" if self.wildcards or not fieldpath.has_wildcard(self.path) else ", wildcards=False"
        return f"write({document}, {self.path!r}, {self.value.code}{policy}{plain})"

    @property
    def uses(self) -> frozenset[str]:
        """The names that it needs."""
        return self.value.uses | {"write"} | ({"MergePolicy"} if self.policy is not MergePolicy.Replace else set())


@dataclass(slots=True)
class Tree:
    """A child's document, to be written as Python."""

    document: dict[str, Any]
    statements: list[Statement] = field(default_factory=list)


def grow(
    template: Template,
    shared: dict[tuple[str, str], Expression],
    reader: Reader = claim_reader,
    base: Mapping[str, Any] | None = None,
) -> Tree:
    """The template's tree. `shared` holds, by template and place of the patch, values that are computed once.

    `base` is the template's, with expressions in it.
    """
    tree = Tree(copied(dict(template.base if base is None else base)))
    patches = [p for p in template.patches if p.target is Side.resource]
    for index, patch in enumerate(patches):
        if patch.fill and has(tree.document, patch.to):
            continue
        value = shared.get((template.name, patch.at)) or value_of(patch, reader)
        opened = _written_into(patch, patches[index + 1 :])
        if opened or _follows(tree.statements, patch) or not _inlined(tree.document, patch, value):
            tree.statements.append(Statement(patch.to.removeprefix("."), value, patch.policy, patch.wildcards))
    return tree


def _follows(statements: Sequence[Statement], patch: Patch) -> bool:
    """Whether a statement writes to the same place: patches apply in their order there, and the literal comes first."""
    path = fieldpath.parse(patch.to)
    return any(fieldpath.overlap(fieldpath.parse(s.path), path) for s in statements)


def outward(patch: Patch, reader: Reader) -> Expression | None:
    """The statement of a patch to the composite's status or the environment; None for any other field."""
    path = fieldpath.parse(patch.to)
    document = "self.environment"
    if patch.target is Side.claim:
        if path[:1] != ("status",) or len(path) == 1:
            return None
        path, document = path[1:], "self.status"
    written = Statement(fieldpath.to_text(path), value_of(patch, reader), patch.policy, patch.wildcards)
    return Expression(written.code(document), written.uses)


def _written_into(patch: Patch, later: Sequence[Patch]) -> bool:
    """Whether a later patch writes inside this one's value: that must be a copy, or the claim itself would change."""
    path = fieldpath.parse(patch.to)
    return any(path == (inner := fieldpath.parse(p.to))[: len(path)] and inner != path for p in later)


def _inlined(document: dict[str, Any], patch: Patch, value: Expression) -> bool:
    """Put the value into its place in the document, if a literal can express it."""
    if patch.policy is not MergePolicy.Replace or fieldpath.has_wildcard(patch.to):
        return False
    path = fieldpath.parse(patch.to)
    if not path or not _reachable(document, path, value):
        return False
    here: Any = document
    for step in path[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[int(step)]
    last = path[-1]
    known = here.get(last, _NOTHING) if isinstance(here, dict) else here[int(last)]
    here[last] = value if known is _NOTHING else either(value, literal(known))
    return True


_NOTHING = object()


def _reachable(document: dict[str, Any], path: fieldpath.Path, value: Expression) -> bool:
    """Whether each step is a mapping that has the key or may get it, or a list that has the index.

    A mapping that is empty in the base takes only a value that is always set: a component leaves out a mapping that
    holds nothing but fields that are not set, and this one must stay.
    """
    here: Any = document
    for depth, step in enumerate(path):
        match here, step:
            case dict(), str():
                if not here and value.may_be_absent:
                    return False
                if step not in here:
                    return all(isinstance(s, str) for s in path[depth:])
                here = here[step]
            case list(), int() if step < len(here):
                here = here[step]
            case _:
                return False
    return True
