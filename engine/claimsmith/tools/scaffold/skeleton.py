"""A new project: the files that stand in the package, and those that claimsmith makes of them.

It is built in a folder of its own and put in place whole: whoever interrupts it finds what was there before.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from claimsmith.base.errors import LoadError, Problem
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.generate import generate
from claimsmith.tools.render.stack import rendered
from claimsmith.tools.scaffold import first_commit, origin, starts
from claimsmith.tools.scaffold.starts import Start

STACK = "dev"
_DOTTED = {"gitignore": ".gitignore", "github": ".github"}
"""Names that begin with a dot, as they stand in the package."""
_HARMLESS = {".git"}
"""What a folder may hold and be empty all the same."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class NewProject:
    """A project that was created: the paths of its files, and its repository in words."""

    files: list[str]
    repository: str


def init(folder: Path, name: str | None = None, start: Start | None = None, *, git: bool = True) -> NewProject:
    """Create a project in a folder that is empty or not there yet, with a repository of its own unless it is in one."""
    folder = Path(os.path.abspath(folder))
    start = start or starts.find(starts.DEFAULT)
    _refuse_full(folder)
    name = _checked(name) if name else _name_of(folder)
    try:
        with _built_aside(folder) as aside:
            for path, text in _files(name, start):
                target = aside / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            _derive(Project(aside))
            files = sorted(p.relative_to(aside).as_posix() for p in aside.rglob("*") if p.is_file())
            return NewProject(files, first_commit.create(aside, near=folder, name=name) if git else "")
    except OSError as error:
        fix = "name a folder that you may write to"
        raise LoadError(Problem(f"{folder} cannot be written: {error.strerror}", fix=fix)) from error


def _files(name: str, start: Start) -> Iterator[tuple[PurePosixPath, str]]:
    """The packaged files with the project's name in them, and those of its start."""
    source_of = origin.installed()
    requirements = [_reach(source_of), source_of.requirement, *start.requirements]
    words = {
        "@NAME@": name,
        "@REQUIREMENTS@": "\n".join(requirements),
        "@UP@": _fragment(start, "up.mk"),
        "@CONFIG@": _fragment(start, "config.yaml"),
        "@DEPLOYS@": start.deploys_to,
    }
    for folder in (resources.files("claimsmith.tools.scaffold") / "project", start.folder / "files"):
        for path, source in _below(folder, PurePosixPath()):
            text = source.read_text(encoding="utf-8")
            for word, value in words.items():
                text = text.replace(word, value)
            yield path, f"{text.rstrip()}\n"


def _fragment(start: Start, name: str) -> str:
    return (start.folder / name).read_text(encoding="utf-8").rstrip()


def _reach(source: origin.Origin) -> str:
    """For whom the requirement holds, as a comment beside it."""
    if source.local:
        return "# The claimsmith of this machine. For colleagues and CI name a version, a repository or an address."
    return "# The claimsmith that created this project."


def _below(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name == "__pycache__":
            continue
        inner = path / _DOTTED.get(entry.name, entry.name)
        if entry.is_dir():
            yield from _below(entry, inner)
        else:
            yield inner, entry


def _derive(project: Project) -> None:
    """Write what claimsmith makes of the files: components, bindings, and what the stack makes."""
    generate(project)
    bind(project, STACK)
    golden = project.root / "tests" / "golden" / f"{STACK}.yaml"
    golden.parent.mkdir(parents=True)
    golden.write_text("".join(rendered(project, STACK)), encoding="utf-8")


@contextmanager
def _built_aside(folder: Path) -> Iterator[Path]:
    """A folder to build in, whose content is put in place at the end; after a failure nothing of it is left.

    Beside a folder that is not there yet, which is then renamed; within one that is, since that may be where its user
    stands.
    """
    there = folder.is_dir()
    parents = [p for p in folder.parents if not p.exists()]
    aside = (folder if there else folder.parent) / f".claimsmith-init.{os.getpid()}"
    moved: list[Path] = []
    try:
        aside.mkdir(parents=True)
        yield aside
        if there:
            for entry in sorted(aside.iterdir()):
                moved.append(folder / entry.name)
                entry.rename(folder / entry.name)
            aside.rmdir()
        else:
            aside.rename(folder)
    except BaseException:
        for path in (*moved, aside):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.exists():
                path.unlink()
        for parent in parents:
            if parent.is_dir():
                parent.rmdir()
        raise


def _refuse_full(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise LoadError(Problem(f"{folder} is no folder", fix="name a folder that is empty or not there yet"))
    found = sorted(p.name for p in folder.iterdir() if p.name not in _HARMLESS) if folder.is_dir() else []
    if found:
        more = " and more" if len(found) > 3 else ""
        what = f"{folder} is not empty: it holds {', '.join(found[:3])}{more}"
        raise LoadError(Problem(what, fix="name a folder that is empty or not there yet"))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        fix = "use letters, digits, dots, dashes and underscores, a hundred at most"
        raise LoadError(Problem(f"{name!r} is no name for a project", fix=fix))
    return name


def _name_of(folder: Path) -> str:
    """The folder's name, as far as the engine takes it."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.name).strip("-.")[:100] or "platform"
