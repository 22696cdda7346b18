"""Files that are written: where a command may write, and a file whole or not at all."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from claimsmith.base.errors import Problem, WriteError


def output_path(path: Path, *, root: Path) -> Path:
    """The path that a command writes to, if no link of the repository is in it.

    Other people write the repository's files: a link among them would decide where we write. Links elsewhere,
    such as a home folder on another disk, are the user's own.
    """
    repository = repository_of(root)
    whole = path.absolute()
    for part in (whole, *whole.parents):
        if part.is_symlink() and part.parent.resolve().is_relative_to(repository):
            what = f"{str(path)!r} is not written: {part.name!r} in it is a link of the repository"
            raise WriteError(Problem(what, fix="remove the link, or write to a folder outside the repository"))
    return path


def repository_of(root: Path) -> Path:
    """The folder of the repository that a project is part of, whose files other people write; else its own."""
    return next((f for f in (root, *root.parents) if (f / ".git").exists()), root).resolve()


def write_together(files: Mapping[Path, str]) -> list[Path]:
    """Write several files, or none of them: after a failure or an interruption each is as it was.

    All content is on the disk before the first file changes; an interruption then waits until the last one has.
    Returns the files that changed.
    """
    changed = [path for path, text in files.items() if not (path.is_file() and path.read_bytes() == text.encode())]
    partials = {path: path.with_name(f".{path.name}.{os.getpid()}.partial") for path in changed}
    before = {path: path.read_bytes() if path.is_file() else None for path in changed}
    replaced: list[Path] = []
    try:
        for path, partial in partials.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_partial(partial, files[path])
        with _uninterrupted():
            for path, partial in partials.items():
                partial.replace(path)
                replaced.append(path)
    except BaseException as error:
        with _uninterrupted():
            _restore({path: before[path] for path in replaced}, partials.values())
        if not isinstance(error, OSError):
            raise
        what = f"{error.filename or 'a file'} cannot be written: {error.strerror}"
        fix = "free some space, or check the permissions; all files are unchanged"
        raise WriteError(Problem(what, fix=fix)) from error
    return changed


def _restore(before: Mapping[Path, bytes | None], partials: Iterable[Path]) -> None:
    for path, content in before.items():
        with suppress(OSError):
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)
    for partial in partials:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _write_partial(partial: Path, text: str, mode: int | None = None) -> None:
    # A file of that name is left by a killed run, or is a link that somebody placed there for us to follow.
    partial.unlink(missing_ok=True)
    with partial.open("x", encoding="utf-8") as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of the block; only the main thread handles them.

    By handlers and not by a mask: a mask is that of one thread, and any other thread would receive the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    ending = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda sent, _: received.append(sent)) for number in ending}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for sent in received[:1]:
            signal.raise_signal(sent)


def private_folder(path: Path) -> Path:
    """A folder that only this user can read, created where there is none."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        what = f"the folder {path} cannot be created: {error.strerror}"
        raise WriteError(Problem(what, fix="check the permissions, or remove the file of that name")) from error
    return path


def write_atomically(path: Path, text: str, *, mode: int | None = None) -> bool:
    """Write a whole file or nothing; a file with this text and mode stays as it is. Returns whether it was written."""
    same = path.is_file() and not path.is_symlink() and path.read_bytes() == text.encode()
    if same and (mode is None or path.stat().st_mode & 0o777 == mode):
        return False
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_partial(partial, text, mode)
        partial.replace(path)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        what = f"{path.name} in {path.parent} cannot be written: {error.strerror}"
        fix = "free some space, or check the permissions; the file is unchanged"
        raise WriteError(Problem(what, fix=fix)) from error
    return True
