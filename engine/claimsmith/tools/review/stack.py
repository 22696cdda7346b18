"""The review of one environment: its files on both sides, planned and compared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from claimsmith.base.documents import Document
from claimsmith.base.errors import EngineError
from claimsmith.platform import settings
from claimsmith.project import functions
from claimsmith.project.git import ignored
from claimsmith.project.project import Project
from claimsmith.project.settings import outside_plugins
from claimsmith.project.stack_inputs import is_repeatable
from claimsmith.tools.review import Snapshot, StackReview, compare, snapshot, stack_review, warnings_of
from claimsmith.tools.review.changes import Level, ReviewWarning
from claimsmith.tools.review.settings import config_changes
from claimsmith.tools.review.warnings import in_order

_CACHED = "__pycache__"
_SUFFIXES = {".yaml", ".yml", ".py"}
_SALT = b"encryptionsalt: "


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The review of an environment, and whether the same files give the same review on any machine at any time."""

    review: StackReview
    repeatable: bool = False


def review_stack(
    before: Project,
    after: Project,
    stack: str,
    *,
    preview: bool = False,
    strict: bool = False,
    plugins: Mapping[str, Path] | None = None,
) -> StackReview:
    """One environment. A snapshot that cannot be read is reported; the other environments go on.

    `plugins` are programs of providers, for a working tree in a folder from which the paths of Pulumi.yaml lead
    elsewhere.
    """
    return reviewed(before, after, stack, preview=preview, strict=strict, plugins=plugins).review


def reviewed(
    before: Project,
    after: Project,
    stack: str,
    *,
    preview: bool = False,
    strict: bool = False,
    plugins: Mapping[str, Path] | None = None,
) -> Reviewed:
    """One environment, as `review_stack` has it."""
    read: list[Snapshot] = []
    both = [("base", before), ("working tree", after)]
    same = same_files(StackFiles(before), StackFiles(after), stack)
    for word, project in both[1:] if same else both:
        try:
            programs = outside_plugins(after.root) if plugins is None else plugins
            read.append(snapshot.read_snapshot(_named(project, after), stack, strict=strict, plugins=programs))
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
        return Reviewed(found, all(is_repeatable(side.plan) for side in read))
    from claimsmith.tools.review import preview as previews

    return Reviewed(replace(found, preview=previews.preview(after, comparison)))


def _committed(project: Project, stack: str) -> list[Document]:
    """The files that configure a stack, without those of this machine alone, which no pull request changes."""
    configs = project.configs(stack)
    own = ignored(project.root, [document.file for document in configs])
    return [document for document in configs if document.file not in own]


@dataclass(frozen=True)
class StackFiles:
    """The files that the plans of a project's stacks depend on, by path; those that all stacks share are read once.

    If they are the same, so is the plan.
    """

    project: Project

    def of(self, stack: str) -> dict[str, bytes]:
        """The files of one stack."""
        return {**self.shared, **self.own(stack)}

    @cached_property
    def shared(self) -> dict[str, bytes]:
        """The settings of the project, its platform and its functions."""
        root = self.project.root
        own = [root / name for name in ("Pulumi.yaml", settings.FILE, functions.FILE)]
        # A function may read any file of its folder.
        code = [p for p in (root / functions.FOLDER).rglob("*") if _CACHED not in p.parts]
        return self._contents([*own, *code], self.project.components)

    def own(self, stack: str) -> dict[str, bytes]:
        """What a stack has for itself."""
        stacks = self.project.root / "stacks"
        return self._contents([stacks / f"Pulumi.{stack}.yaml"], stacks / stack)

    def _contents(self, files: Sequence[Path], folder: Path) -> dict[str, bytes]:
        below = (p for p in folder.rglob("*") if p.suffix in _SUFFIXES)
        # A folder with the name of a file may stand where one is read: bindings.yaml.
        found = (p for p in (*files, *below) if p.is_symlink() or p.is_file() or (p.suffix in _SUFFIXES and p.is_dir()))
        contents = {p.relative_to(self.project.root).as_posix(): _content(p) for p in found}
        return {path: content for path, content in contents.items() if content}


def files_of(project: Project, stack: str) -> dict[str, bytes]:
    """The files that the plan of an environment depends on, by path."""
    return StackFiles(project).of(stack)


def same_files(one: StackFiles, other: StackFiles, stack: str) -> bool:
    """Whether an environment has the same files on both sides."""
    return one.shared == other.shared and one.own(stack) == other.own(stack)


def _content(path: Path) -> bytes:
    """The content of a file, without the salt that the engine writes there: it differs by machine."""
    if path.is_symlink():
        return os.fsencode(path.readlink())
    if path.is_dir():
        return b"/"
    content = path.read_bytes()
    if _SALT not in content:
        return content
    return b"".join(line for line in content.splitlines(keepends=True) if not line.startswith(_SALT))


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
