"""The review of a project: a git revision and the working tree, each read once, compared environment by environment."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from claimsmith.base.documents import Document
from claimsmith.base.errors import EngineError, LoadError, Problem, suggest
from claimsmith.platform import settings
from claimsmith.project.git import Revision, checked_out, ignored
from claimsmith.project.project import Project
from claimsmith.project.settings import outside_plugins
from claimsmith.tools.review import Review, Snapshot, StackReview, compare, snapshot, stack_review, warnings_of
from claimsmith.tools.review.changes import ROLLOUT, Change, ClaimChange, CodeChange, Level, ReviewWarning
from claimsmith.tools.review.settings import config_changes, permission_changes
from claimsmith.tools.review.warnings import in_order

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


Tick = Callable[[int, str], None]


def review(
    project: Project,
    base: str,
    *,
    stacks: Sequence[str] = (),
    preview: bool = False,
    strict: bool = False,
    link: str = "",
    tick: Tick | None = None,
) -> Review:
    """What the change between a revision and the working tree does, in some environments or all.

    `link` is the address where the page of the review is published.
    """
    move = tick or (lambda _done, _word: None)
    with checked_out(project.root, base) as revision:
        before = Project(revision.root)
        selected = _selected_stacks(before, project, stacks)
        reviewed = []
        for done, stack in enumerate(selected):
            move(done, stack)
            reviewed.append(review_stack(before, project, stack, preview=preview, strict=strict))
        move(len(selected), "")
        return Review(
            project=project.name,
            base=base,
            commit=revision.commit,
            stacks=tuple(reviewed),
            code=code_changes(components(before), components(project)),
            warnings=(
                *_renamed(revision, before, project),
                *permission_changes(before.settings_document, project.settings_document),
                *_rollouts(before, reviewed),
            ),
            link=link,
        )


def review_stack(
    before: Project, after: Project, stack: str, *, preview: bool = False, strict: bool = False
) -> StackReview:
    """One environment. A snapshot that cannot be read is reported; the other environments go on."""
    read: list[Snapshot] = []
    both = [("base", before), ("working tree", after)]
    same = files_of(before, stack) == files_of(after, stack)
    for word, project in both[1:] if same else both:
        try:
            plugins = outside_plugins(after.root)
            read.append(snapshot.read_snapshot(_named(project, after), stack, strict=strict, plugins=plugins))
        except EngineError as error:
            return StackReview(stack, problems=error.problems, unread=word)
    comparison = compare(read[0], read[-1])
    reviewed_stack = stack_review(comparison)
    gone = () if stack in after.stacks() else (_stack_gone(stack),)
    # A stack that is new has nothing deployed yet that its settings could change.
    configured = config_changes(before.configs(stack), _committed(after, stack)) if stack in before.stacks() else ()
    reviewed_stack = replace(reviewed_stack, warnings=(*gone, *in_order([*configured, *warnings_of(comparison)])))
    if not preview or gone:
        return reviewed_stack
    from claimsmith.tools.review import preview as previews

    return replace(reviewed_stack, preview=previews.preview(after, comparison))


def _committed(project: Project, stack: str) -> list[Document]:
    """The files that configure a stack, without those of this machine alone, which no pull request changes."""
    configs = project.configs(stack)
    own = ignored(project.root, [document.file for document in configs])
    return [document for document in configs if document.file not in own]


def files_of(project: Project, stack: str) -> dict[str, bytes]:
    """The files that the plan of an environment depends on, by path. If they are the same, so is the plan."""
    root = project.root
    folders = (project.components, root / "stacks" / stack)
    single = [root / "Pulumi.yaml", root / settings.FILE, root / "stacks" / f"Pulumi.{stack}.yaml"]
    below = (p for folder in folders for p in folder.rglob("*") if p.suffix in {".yaml", ".yml", ".py"})
    found = (p for p in (*single, *below) if p.is_symlink() or p.is_file())
    files = {p.relative_to(root).as_posix(): _content(p) for p in found}
    return {path: content for path, content in files.items() if content}


def _content(path: Path) -> bytes:
    """The content of a file, without the salt that the engine writes there: it differs by machine."""
    if path.is_symlink():
        return os.fsencode(path.readlink())
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"encryptionsalt: "))


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


def _named(project: Project, after: Project) -> Project:
    """A base in which the project was not there yet is one that has nothing."""
    if (project.root / "Pulumi.yaml").is_file():
        return project
    return _Nothing(project.root, after.name)


class _Nothing(Project):
    """A project before its first file."""

    def __init__(self, root: Path, name: str) -> None:
        super().__init__(root)
        self.__dict__["name"] = name


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


def _rollouts(before: Project, reviewed: Sequence[StackReview]) -> list[ReviewWarning]:
    """How many claims of a class a wave of a rollout moves, and how many were on it; one note for each class."""
    moves = Counter(
        (c.class_before, c.class_after)
        for stack in reviewed
        for c in stack.claims
        if c.change is Change.rebound and _rolled(before, stack.stack, c)
    )
    if not moves:
        return []
    present = [s.stack for s in reviewed if s.stack in before.stacks()]
    served = Counter(str(r.klass) for stack in present for r in before.records(stack) if not r.released)
    return [
        ReviewWarning(
            "rollout", Level.note, f"{number} of {served[old]} claims move now, from {_name(old)} to {_name(new)}"
        )
        for (old, new), number in sorted(moves.items())
    ]


def _rolled(before: Project, stack: str, claim: ClaimChange) -> bool:
    """Whether a rollout moved a claim, or returned it."""
    if claim.reason.startswith(f"{ROLLOUT} {_name(claim.class_before)}; "):
        return True
    old = next((r for r in before.records(stack) if str(r.claim) == claim.claim), None)
    return bool(old and old.reason.startswith(f"{ROLLOUT} {_name(claim.class_after)}; "))


def _name(klass: str) -> str:
    return klass.rpartition("/")[2]


def _stack_gone(stack: str) -> ReviewWarning:
    what = f"stacks/{stack} was removed from the files: no run of the engine deletes its resources"
    fix = f"from the base, run: pulumi destroy --stack {stack}; then remove it"
    return ReviewWarning("stack-removed", Level.danger, what, fix=fix)
