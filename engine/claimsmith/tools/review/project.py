"""The review of a project: a git revision and the working tree, each read once, compared environment by environment."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from claimsmith.base.errors import EngineError, LoadError, Problem, suggest
from claimsmith.base.names import ClassKey
from claimsmith.base.printable import counted
from claimsmith.platform.binding import Record
from claimsmith.project.git import Revision, checked_out
from claimsmith.project.project import Project
from claimsmith.tools.many import Tick
from claimsmith.tools.review import Review, StackReview
from claimsmith.tools.review.changes import ROLLOUT, CodeChange, Level, ReviewWarning
from claimsmith.tools.review.many import review_stacks
from claimsmith.tools.review.settings import permission_changes
from claimsmith.tools.review.stack import review_stack

_AROUND = 1
_DIGEST = re.compile(r"(?<=sha256:)[0-9a-f]{64}")


def code_changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[CodeChange, ...]:
    """What changed in the generated components, file by file."""
    files = sorted({*old, *new})
    return tuple(_change(file, old.get(file), new.get(file)) for file in files if old.get(file) != new.get(file))


def _change(file: str, old: str | None, new: str | None) -> CodeChange:
    whole = _lines(old or "", new or "")
    added = sum(line.startswith("+") for line in whole)
    removed = sum(line.startswith("-") for line in whole)
    word = "added" if old is None else "removed" if new is None else "changed"
    # A digest changes with its class, and means nothing to a reader.
    body = _lines(_DIGEST.sub("", old or ""), _DIGEST.sub("", new or "")) if word == "changed" else []
    return CodeChange(file, word, added, removed, tuple(body))


def _lines(old: str, new: str) -> list[str]:
    return list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=_AROUND))[2:]


def review(
    project: Project,
    base: str,
    *,
    stacks: Sequence[str] = (),
    preview: bool = False,
    strict: bool = False,
    link: str = "",
    cache: bool = False,
    processes: int = 1,
    tick: Tick | None = None,
) -> Review:
    """What the change between a revision and the working tree does, in some environments or all.

    `link` is the address where the page of the review is published; for `cache` and `processes` see `each_of`.
    """
    with checked_out(project.root, base) as revision:
        before = Project(revision.root)
        selected = _selected_stacks(before, project, stacks)
        if preview:
            reviewed = _previewed(before, project, selected, strict=strict, tick=tick)
        else:
            reviewed = review_stacks(
                before, project, selected, strict=strict, cache=cache, processes=processes, tick=tick
            )
        return Review(
            project=project.name,
            base=base,
            commit=revision.commit,
            stacks=tuple(reviewed),
            code=code_changes(components(before), components(project)),
            warnings=(
                *_renamed(revision, before, project),
                *permission_changes(before.settings_document, project.settings_document),
                *_rollouts(before, project, reviewed),
            ),
            link=link,
        )


def _previewed(
    before: Project, after: Project, stacks: Sequence[str], *, strict: bool, tick: Tick | None
) -> list[StackReview]:
    """The reviews with what the engine says, one after the other: the engine uses all cores itself."""
    found = []
    for done, stack in enumerate(stacks):
        if tick:
            tick(done, stack)
        found.append(review_stack(before, after, stack, preview=True, strict=strict))
    if tick:
        tick(len(stacks), "")
    return found


def components(project: Project) -> dict[str, str]:
    """The generated components by their paths."""
    there = project.components.rglob("component.py") if project.components.is_dir() else ()
    found = sorted({*there, *(p for p in project.pending if p.name == "component.py")})
    return {p.relative_to(project.root).as_posix(): (project.content(p) or b"").decode() for p in found}


def _selected_stacks(before: Project, after: Project, stacks: Sequence[str]) -> list[str]:
    stacks_of_both = sorted({*before.stacks(), *after.stacks()})
    for stack in stacks:
        if stack not in stacks_of_both:
            raise LoadError(
                Problem(
                    f"there is no stack {stack!r}, neither in the base nor in the working tree",
                    fix=suggest(stack, stacks_of_both),
                )
            )
    return list(dict.fromkeys(stacks)) or stacks_of_both


def _renamed(revision: Revision, before: Project, after: Project) -> tuple[ReviewWarning, ...]:
    if not (revision.root / "Pulumi.yaml").is_file():
        return ()
    try:
        old = before.name
    except EngineError:
        return ()
    if old == after.name:
        return ()
    why = "the engine looks up its state by that name, and would find none"
    what = f"the project is renamed from {old} to {after.name}: {why}"
    fix = "rename the stacks with it (pulumi stack rename ORGANIZATION/NEW/STACK), or put the name back"
    return (ReviewWarning("project-renamed", Level.danger, what, fix=fix),)


def _rollouts(before: Project, after: Project, reviewed: Sequence[StackReview]) -> list[ReviewWarning]:
    """How many claims of a class a wave of a rollout moves, and how many were on it; one note for each class."""
    moves = Counter(
        (str(old.klass), str(new.klass))
        for stack in reviewed
        if any(w.rule == "binding-moves" for w in stack.warnings)
        for old, new in _pairs(before.records(stack.stack), after.records(stack.stack))
        if old.klass != new.klass and (_rolled(new, old.klass) or _rolled(old, new.klass))
    )
    if not moves:
        return []
    present = [s.stack for s in reviewed if before.has_stack(s.stack)]
    served = Counter(str(r.klass) for stack in present for r in before.records(stack) if not r.released)
    return [
        ReviewWarning("rollout", Level.note, wave_text(number, served[old], _name(old), _name(new)))
        for (old, new), number in sorted(moves.items())
    ]


def wave_text(number: int, total: int, source: str, target: str) -> str:
    """A wave of a rollout in one sentence."""
    verb = "moves" if number == 1 else "move"
    return f"{number} of {counted(total, 'claim')} {verb} now, from {source} to {target}"


def _pairs(before: Sequence[Record], after: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    """The records of claims that are bound on both sides."""
    new = {record.claim: record for record in after}
    return ((record, new[record.claim]) for record in before if record.claim in new)


def _rolled(record: Record, source: ClassKey) -> bool:
    """Whether a rollout moved a claim from a class."""
    return record.reason.startswith(f"{ROLLOUT} {source.name}; ")


def _name(klass: str) -> str:
    return klass.rpartition("/")[2]
