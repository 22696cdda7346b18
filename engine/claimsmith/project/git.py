"""A project as it was at a git revision: its YAML, functions and generated components, read into a folder of their own.

Nothing in the user's tree, index or references is touched: objects are read from git's store.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from claimsmith.base.errors import EngineError, LoadError, Problem
from claimsmith.base.printable import one_line
from claimsmith.platform import settings
from claimsmith.project import functions

WANTED = ("components", "stacks", functions.FOLDER)
_FILES_OF_ROOT = ("Pulumi.yaml", settings.FILE, functions.FILE)
_SUFFIXES = (".yaml", ".yml", ".py")
_LINK = "120000"
_FILES = ("100644", "100755", _LINK)


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision, and the folder that it was read into."""

    name: str
    commit: str
    root: Path


@contextmanager
def checked_out(root: Path, name: str) -> Iterator[Revision]:
    """The project at a revision, in a folder that is removed at the end of the block."""
    try:
        commit = _commit(root, name)
        prefix = _git(root, "rev-parse", "--show-prefix").decode().strip()
    except _GitError as error:
        raise LoadError(Problem(f"git cannot read this repository: {error}", fix="see: git status")) from error
    with TemporaryDirectory(prefix="claimsmith-review-") as folder:
        target = Path(folder)
        _read_into(target, root, _entries(root, commit, prefix))
        _link_programs(target, root)
        yield Revision(name, commit, target)


def ignored(root: Path, files: Iterable[str]) -> set[str]:
    """Those of the files, by their paths below a folder, that git leaves out of every commit."""
    names = b"".join(os.fsencode(file) + b"\0" for file in files)
    try:
        listed = _git(root, "check-ignore", "-z", "--stdin", stdin=names)
    except (_GitError, LoadError):
        # It ends with an error where none is ignored, too.
        return set()
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


def present(root: Path) -> list[str] | None:
    """The paths below a folder that git tracks, or would with `git add --all`; None where there is no repository."""
    try:
        listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    except (_GitError, LoadError):
        return None
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _commit(root: Path, name: str) -> str:
    if not _git(root, "rev-parse", "--is-inside-work-tree").strip():
        raise LoadError(Problem(f"{root} is not in a git repository", fix="run it in one"))
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except _GitError:
        shallow = _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
        fix = (
            "fetch it first (git fetch --unshallow; in a workflow: fetch-depth: 0)" if shallow else "see: git branch -a"
        )
        raise LoadError(Problem(f"there is no revision {name!r} in this repository", fix=fix)) from None


def _entries(root: Path, commit: str, prefix: str) -> Iterator[tuple[str, str, PurePosixPath]]:
    """Mode, object and path of each file that matters, its path as the project has it."""
    tree = f"{commit}:{prefix.rstrip('/')}" if prefix else commit
    try:
        listed = _git(root, "ls-tree", "-r", "-z", "--full-tree", tree)
    except _GitError:
        # The project's folder was not there yet.
        return
    for line in listed.split(b"\0"):
        head, _, name = line.partition(b"\t")
        path = PurePosixPath(os.fsdecode(name))
        wanted = path.parts[:1] in [(w,) for w in WANTED] or str(path) in _FILES_OF_ROOT
        # A function may read any file of its folder.
        if head and wanted and (path.suffix in _SUFFIXES or path.parts[0] == functions.FOLDER):
            mode, _, blob = head.decode().split()
            if mode in _FILES and ".." not in path.parts:
                yield mode, blob, path


def _read_into(target: Path, root: Path, entries: Iterator[tuple[str, str, PurePosixPath]]) -> None:
    listed = list(entries)
    if not listed:
        return
    output = _git(root, "cat-file", "--batch", stdin="".join(f"{blob}\n" for _, blob, _ in listed).encode())
    at = 0
    for mode, _, path in listed:
        end = output.index(b"\n", at)
        head = output[at:end].split()
        if head[1:] == [b"missing"]:
            fix = "fetch it: this clone has only a part of the repository"
            raise LoadError(Problem(f"{path} of the base is not in this repository", fix=fix))
        size = int(head[2])
        content = output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if mode == _LINK:
            # One that leads out of the project is refused when it is read.
            file.symlink_to(os.fsdecode(content))
        else:
            file.write_bytes(content)


def _link_programs(target: Path, root: Path) -> None:
    """Let programs that functions need, such as an interpreter, be those of the working tree: git seldom has them."""
    try:
        programs = functions.programs_of(target)
    except EngineError:
        # What cannot be read is reported with each stack.
        return
    for first in {path.parts[0] for path in programs if path.parts and ".." not in path.parts}:
        place = target / first
        if first not in WANTED and not place.exists() and not place.is_symlink() and (root / first).exists():
            place.symlink_to((root / first).absolute())


class _GitError(Exception):
    """What git printed."""


def _git(root: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    git = shutil.which("git")
    if git is None:
        raise LoadError(Problem("git is not installed, and the base of a review is read from it", fix="install git"))
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    done = subprocess.run([git, *arguments], cwd=root, env=environment, input=stdin, capture_output=True)
    if done.returncode == 0:
        return done.stdout
    message = one_line(done.stderr.decode(errors="replace"))
    if "not a git repository" in message:
        fix = "create one (git init, and commit), or run it in one"
        raise LoadError(Problem("the project is in no git repository, so it has no base to compare with", fix=fix))
    if "dubious ownership" in message:
        fix = f"git config --global --add safe.directory {root}"
        raise LoadError(Problem("git does not trust this repository: somebody else owns it", fix=fix))
    raise _GitError(message)
