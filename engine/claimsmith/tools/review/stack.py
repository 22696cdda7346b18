"""The review of one environment: its files on both sides, planned and compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from claimsmith.base.documents import Document
from claimsmith.base.errors import EngineError
from claimsmith.compose import external_names
from claimsmith.compose.plan import Plan
from claimsmith.platform import settings
from claimsmith.project.git import ignored
from claimsmith.project.project import Project
from claimsmith.project.settings import outside_plugins
from claimsmith.tools.review import Snapshot, StackReview, compare, snapshot, stack_review, warnings_of
from claimsmith.tools.review.changes import Level, ReviewWarning
from claimsmith.tools.review.settings import config_changes
from claimsmith.tools.review.warnings import in_order


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The review of an environment, and whether the same files give the same review on any machine at any time."""

    review: StackReview
    repeatable: bool = False


def review_stack(
    before: Project, after: Project, stack: str, *, preview: bool = False, strict: bool = False
) -> StackReview:
    """One environment. A snapshot that cannot be read is reported; the other environments go on."""
    return reviewed(before, after, stack, preview=preview, strict=strict).review


def reviewed(before: Project, after: Project, stack: str, *, preview: bool = False, strict: bool = False) -> Reviewed:
    """One environment, as `review_stack` has it."""
    read: list[Snapshot] = []
    both = [("base", before), ("working tree", after)]
    same = files_of(before, stack) == files_of(after, stack)
    for word, project in both[1:] if same else both:
        try:
            plugins = outside_plugins(after.root)
            read.append(snapshot.read_snapshot(_named(project, after), stack, strict=strict, plugins=plugins))
        except EngineError as error:
            return Reviewed(StackReview(stack, problems=error.problems, unread=word))
    comparison = compare(read[0], read[-1])
    found = stack_review(comparison)
    gone = () if after.has_stack(stack) else (_stack_gone(stack),)
    # A stack that is new has nothing deployed yet that its settings could change.
    existed = before.has_stack(stack)
    configured = config_changes(_committed(before, stack), _committed(after, stack)) if existed else ()
    found = replace(found, warnings=(*gone, *in_order([*configured, *warnings_of(comparison)])))
    if not preview or gone:
        return Reviewed(found, all(_is_repeatable(side.plan) for side in read))
    from claimsmith.tools.review import preview as previews

    return Reviewed(replace(found, preview=previews.preview(after, comparison)))


def _is_repeatable(plan: Plan) -> bool:
    """Whether a plan comes from the files of its own stack and the platform alone.

    Templates and pipelines may read a clock or ask a program, native resources are read by what is installed here, and
    a chosen external name is compared with those of other stacks.
    """
    if plan.workloads or plan.targets or plan.sinks or any(n.chosen for n in external_names.names(plan)):
        return False
    return not any(
        claim.piped or claim.binding.klass.steps or any(t.opaque or t.native for t in claim.binding.klass.templates)
        for claim in plan.walk()
    )


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


def _stack_gone(stack: str) -> ReviewWarning:
    what = f"stacks/{stack} was removed from the files: no run of the engine deletes its resources"
    fix = f"from the base, run: pulumi destroy --stack {stack}; then remove it"
    return ReviewWarning("stack-removed", Level.danger, what, fix=fix)
