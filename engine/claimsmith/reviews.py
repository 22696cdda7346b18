"""The review of a project: a git revision and the working tree, each read once, compared environment by environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from claimsmith import sides
from claimsmith.errors import EngineError, LoadError, Problem, nearest
from claimsmith.models import settings
from claimsmith.project import Project
from claimsmith.review import Review, Side, StackReview, compare, stack_review, warnings_of
from claimsmith.review.changes import Level, Warned
from claimsmith.review.code import code_changes
from claimsmith.review.configured import config_changes, permission_changes
from claimsmith.review.warnings import in_order
from claimsmith.revision import Revision, checked_out

Tick = Callable[[int, str], None]


def review(
    project: Project,
    base: str,
    *,
    stacks: Sequence[str] = (),
    preview: bool = False,
    strict: bool = False,
    tick: Tick | None = None,
) -> Review:
    """What the change between a revision and the working tree does, in some environments or all."""
    move = tick or (lambda _done, _word: None)
    with checked_out(project.root, base) as revision:
        before = Project(revision.root)
        chosen = _chosen(before, project, stacks)
        reviewed = []
        for done, stack in enumerate(chosen):
            move(done, stack)
            reviewed.append(stack_reviewed(before, project, stack, preview=preview, strict=strict))
        move(len(chosen), "")
        return Review(
            project=project.name,
            base=base,
            commit=revision.commit,
            stacks=tuple(reviewed),
            code=code_changes(components(before), components(project)),
            warnings=(
                *_renamed(revision, before, project),
                *permission_changes(before.settings_document, project.settings_document),
            ),
        )


def stack_reviewed(
    before: Project, after: Project, stack: str, *, preview: bool = False, strict: bool = False
) -> StackReview:
    """One environment. A side that cannot be read is told as such; the other environments go on."""
    read: list[Side] = []
    both = [("base", before), ("working tree", after)]
    same = files_of(before, stack) == files_of(after, stack)
    for word, project in both[1:] if same else both:
        try:
            read.append(sides.read_side(_named(project, after), stack, strict=strict))
        except EngineError as error:
            return StackReview(stack, problems=error.problems, unread=word)
    comparison = compare(read[0], read[-1])
    told = stack_review(comparison)
    gone = () if stack in after.stacks() else (_stack_gone(stack),)
    # A stack that is new has nothing deployed yet that its settings could change.
    configured = config_changes(before.configs(stack), after.configs(stack)) if stack in before.stacks() else ()
    told = replace(told, warnings=(*gone, *in_order([*configured, *warnings_of(comparison)])))
    if not preview or gone:
        return told
    from claimsmith import previews

    return replace(told, preview=previews.preview(after, comparison))


def files_of(project: Project, stack: str) -> dict[str, bytes]:
    """All that the plan of an environment is made of, by path. Where that is the same, so is the plan."""
    root = project.root
    folders = (project.components, root / "stacks" / stack)
    single = [root / "Pulumi.yaml", root / settings.FILE, root / "stacks" / f"Pulumi.{stack}.yaml"]
    below = (p for folder in folders for p in folder.rglob("*") if p.suffix in {".yaml", ".yml", ".py"})
    found = (p for p in (*single, *below) if p.is_symlink() or p.is_file())
    files = {p.relative_to(root).as_posix(): _content(p) for p in found}
    return {path: content for path, content in files.items() if content}


def _content(path: Path) -> bytes:
    """What a file says, but for the salt that the engine writes there: it is this machine's, and changes no plan."""
    if path.is_symlink():
        return os.fsencode(path.readlink())
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"encryptionsalt: "))


def components(project: Project) -> dict[str, str]:
    """The generated components by their paths."""
    found = sorted(project.components.rglob("component.py")) if project.components.is_dir() else []
    return {p.relative_to(project.root).as_posix(): p.read_text(encoding="utf-8") for p in found}


def _chosen(before: Project, after: Project, stacks: Sequence[str]) -> list[str]:
    known = sorted({*before.stacks(), *after.stacks()})
    for stack in stacks:
        if stack not in known:
            close = nearest(stack, known)
            fix = f"did you mean {close!r}?" if close else f"use one of: {', '.join(known) or 'none yet'}"
            raise LoadError(Problem(f"there is no stack {stack!r}, before or now", fix=fix))
    return list(dict.fromkeys(stacks)) or known


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


def _renamed(revision: Revision, before: Project, after: Project) -> tuple[Warned, ...]:
    if not (revision.root / "Pulumi.yaml").is_file():
        return ()
    try:
        old = before.name
    except EngineError:
        return ()
    if old == after.name:
        return ()
    what = (
        f"the project is renamed from {old} to {after.name}: the engine keeps its state by that name, and knows nothing"
    )
    fix = "rename the stacks with it (pulumi stack rename ORGANIZATION/NEW/STACK), or put the name back"
    return (Warned("project-renamed", Level.danger, what, fix=fix),)


def _stack_gone(stack: str) -> Warned:
    what = f"stacks/{stack} is gone from the files: no run of the engine will delete what it deployed"
    fix = f"from the base, run: pulumi destroy --stack {stack}; then remove it"
    return Warned("stack-removed", Level.danger, what, fix=fix)
