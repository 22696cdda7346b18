"""Runs the engine with a temporary folder of its own, and removes that folder once the run has ended.

The Kubernetes provider writes the kubeconfig as plain text into the temporary folder and leaves it there (seen in 4.25:
`os.CreateTemp("", "kubeconfig")`). So every run gets a folder below the project's `.claimsmith/tmp`:

    tmp/run-PID-RANDOM        the TMPDIR of one run, locked by the process that removes it in the end
    tmp/run-PID-RANDOM.lock   held by the engine and all that it starts, through a file descriptor that they inherit

The lock is free once the last of them has ended, however it ended. Then the folder may go: a process that waits for the
lock removes it; where that one was killed too, the next run or `claimsmith recover` does. This process becomes the
engine (exec), so that signals and the process id are the engine's own.

It stands alone (no import of claimsmith), because a copy of it is run from the cache; see `engine_wrapper.py`.
"""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

PRIVATE = "CLAIMSMITH_PRIVATE"
"""The variable that names the project's private folder."""
MARK = b"# the engine wrapper of claimsmith"
FOLDER = "tmp"
_LOCK = ".lock"


def main() -> None:
    """Become the engine: `pulumi`, the first on PATH that is not our wrapper."""
    engine = find_engine(os.environ.get("PATH", ""))
    if engine is None:
        print("claimsmith: there is no pulumi on PATH\n  fix: run: claimsmith toolchain install", file=sys.stderr)
        sys.exit(127)
    private = os.environ.get(PRIVATE)
    if private:
        try:
            os.environ["TMPDIR"] = begin(private)
        except OSError as error:
            what = f"claimsmith: this run has no private temporary folder: {error.strerror}"
            print(f"{what}\n  fix: make {private} a folder that only you can write to", file=sys.stderr)
    # What Python ignores, the engine would ignore too.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(engine, [engine, *sys.argv[1:]])


def find_engine(path: str) -> str | None:
    """The first `pulumi` in these folders that is not our wrapper."""
    for folder in path.split(os.pathsep):
        program = os.path.join(folder, "pulumi")
        if folder and os.path.isfile(program) and os.access(program, os.X_OK) and not is_ours(program):
            return os.path.abspath(program)
    return None


def is_ours(path: str | os.PathLike[str]) -> bool:
    """Whether a program is our wrapper."""
    try:
        with open(path, "rb") as file:
            return MARK in file.read(200)
    except OSError:
        return False


def begin(private: str) -> str:
    """A new folder for this process and what it becomes or starts, after those of dead runs are removed."""
    base = _base(private, create=True)
    for name in dead(private):
        remove(private, name)
    while True:
        name = f"run-{os.getpid()}-{os.urandom(4).hex()}"
        lock = os.open(os.path.join(base, name + _LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            break
        # Another run took it for a dead one's, before it was locked.
        os.close(lock)
    folder = os.path.join(base, name)
    os.mkdir(folder, 0o700)
    guard = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(guard, fcntl.LOCK_EX)
    _remove_after(private, name, lock, guard)
    os.close(guard)
    os.set_inheritable(lock, True)
    return folder


def dead(private: str) -> list[str]:
    """The folders of runs that have ended, by name; not those that are being removed."""
    try:
        entries = sorted(os.listdir(_base(private)))
    except OSError:
        return []
    names = dict.fromkeys(e.removesuffix(_LOCK) for e in entries if e.startswith("run-"))
    return [name for name in names if _is_dead(private, name)]


def remove(private: str, name: str) -> bool:
    """Remove a dead run's folder; returns whether it is gone. That of a living one is left alone."""
    with _held(private, name) as held:
        if held:
            _remove_tree(os.path.join(_base(private), name))
            # Last: a folder without a lock is never a living run's.
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(_base(private), name + _LOCK))
        return held


def _is_dead(private: str, name: str) -> bool:
    with _held(private, name) as held, _locked(os.path.join(_base(private), name), os.O_DIRECTORY) as unguarded:
        return held and unguarded


def _held(private: str, name: str, *, wait: bool = False) -> AbstractContextManager[bool]:
    return _locked(os.path.join(_base(private), name + _LOCK), wait=wait)


@contextmanager
def _locked(path: str, flags: int = 0, *, wait: bool = False) -> Iterator[bool]:
    """Hold a lock; true where nobody else does. What is not there is held by nobody."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | flags)
    except FileNotFoundError:
        yield True
        return
    except OSError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)


def _base(private: str, *, create: bool = False) -> str:
    """The folder of all runs' folders: a real one, ours alone. A link could lead anywhere."""
    base = os.path.join(private, FOLDER)
    if create:
        with suppress(FileExistsError):
            os.mkdir(base, 0o700)
    info = os.lstat(base)
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
        raise NotADirectoryError(20, "it is not a folder of this user", base)
    if create and stat.S_IMODE(info.st_mode) != 0o700:
        os.chmod(base, 0o700)
    return base


def _remove_after(private: str, name: str, lock: int, guard: int) -> None:
    """Start a process that waits for the end of the run, then removes its folder; it holds `guard` until its end."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        # Detached twice: no child of the engine, no part of its process group, terminal or working folder.
        os.setsid()
        if os.fork() == 0:
            os.close(lock)
            _let_go(guard)
            with _held(private, name, wait=True):
                pass
            remove(private, name)
    finally:
        os._exit(0)


def _let_go(kept: int) -> None:
    """Keep nothing else open: somebody may wait for its end."""
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.dup2(kept, 3)
    os.closerange(4, 1024)


def _remove_tree(folder: str) -> None:
    # Imported late: it takes longer than all the rest.
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
