"""The stacks of a run: by name, all, by label, or those that a change affects; and the review of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from claimsmith.base.errors import LoadError, Problem
from claimsmith.project.git import checked_out
from claimsmith.project.project import Project
from claimsmith.tools.fleet import links
from claimsmith.tools.fleet.links import Needs
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.many import review_stacks
from claimsmith.tools.review.stack import StackFiles, same_files


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which stacks a command names."""

    names: Sequence[str] = ()
    all: bool = False
    affected: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    base: str | None = None
    """The git revision that the review compares with."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The stacks of a run, in the order of their names, with what each of them needs among the others."""

    needs: Needs
    reviews: Mapping[str, StackReview] = field(default_factory=dict)
    """What the review says of each, where a base is named; stacks without any change have none."""
    removed: tuple[StackReview, ...] = ()
    """The affected stacks that are gone from the files."""
    unreadable: Mapping[str, Problem] = field(default_factory=dict)
    """Those whose place in the order is not known, because files cannot be read: no run may begin with them."""


def select(
    project: Project, wanted: Wanted, *, cache: bool = False, processes: int = 1, keep_unreadable: bool = False
) -> Selection:
    """The stacks that a command names, with their needs and reviews; for `cache` and `processes` see `each_of`.

    A stack whose files cannot be read is refused with all others; with `keep_unreadable` alone, also if nobody can know
    whether it has the labels.
    """
    if wanted.names and (wanted.all or wanted.affected):
        other = "--all" if wanted.all else "--affected"
        raise LoadError(Problem(f"stacks are named, and {other} is set too", fix="use one of them"))
    if not (wanted.names or wanted.all or wanted.affected or wanted.labels):
        raise LoadError(Problem("no stack is named", fix="name stacks, or use --all, --affected or --label KEY=VALUE"))
    for name in wanted.names:
        project.check_stack(name)
    stacks = list(dict.fromkeys(wanted.names)) or project.stacks()
    unreadable: links.Unreadable | None = {} if keep_unreadable else None
    stacks = [s for s in stacks if _labelled(project, s, wanted.labels, unreadable)] if wanted.labels else stacks
    needed = links.needs(project, project.stacks(), unreadable=unreadable)
    reviews, removed = _reviewed(project, wanted, stacks, cache=cache, processes=processes)
    if wanted.affected:
        stacks = [s for s in stacks if s in reviews]
    return Selection(links.within(needed, stacks), reviews, removed, links.unknown(needed, stacks, unreadable or {}))


def _labelled(project: Project, stack: str, wanted: Mapping[str, str], unreadable: links.Unreadable | None) -> bool:
    with links.kept(unreadable, stack):
        labels = links.labels(project, stack)
        return all(labels.get(key) == value for key, value in wanted.items())
    return True


def _reviewed(
    project: Project, wanted: Wanted, stacks: Sequence[str], *, cache: bool, processes: int
) -> tuple[dict[str, StackReview], tuple[StackReview, ...]]:
    """The reviews of the stacks that a change affects, and of those that it removes."""
    base = wanted.base or ("HEAD" if wanted.affected else None)
    if base is None:
        return {}, ()
    with checked_out(project.root, base) as revision:
        before = Project(revision.root)
        present, base_stacks = set(project.stacks()), before.stacks()
        known = set(base_stacks)
        # The same files are the same plan: nothing of it is read.
        sides = StackFiles(before), StackFiles(project)
        changed = [s for s in stacks if s not in known or not same_files(*sides, s)]
        gone = [s for s in base_stacks if s not in present] if wanted.affected and not wanted.labels else []
        found = review_stacks(before, project, [*changed, *gone], cache=cache, processes=processes)
    reviews = {review.stack: review for review in found[: len(changed)]}
    removed = tuple(found[len(changed) :])
    affected = {s: r for s, r in reviews.items() if r.changes or r.destructive or r.problems or r.refusals}
    return affected, removed
