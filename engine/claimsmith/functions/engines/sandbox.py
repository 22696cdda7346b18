"""What a child process may do: limits of memory, processor time and files, and no more files than it needs.

The limits are the kernel's. Landlock (Linux 5.13 and later) takes away files and, from 6.7 on, network connections; it
needs no privileges, and nothing that the process does later gives them back.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock: the same numbers on every architecture of Linux."""
_READ = 0b1101
"""Execute, read a file, list a folder."""
_RIGHTS_BY_VERSION = ((1, 13), (2, 14), (3, 15), (5, 16))
"""How many rights on files each version of Landlock knows."""
_NETWORK_SINCE = 4
_SCOPES_SINCE = 6
_PATH_BENEATH = 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process once the thread that started it is gone, even by SIGKILL."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the call above
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none can hide from `end_descendants`."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """Kill all processes below this one. They are stopped first: one that forks faster than it is killed would stay."""
    stopped: set[int] = set()
    while new := _descendants(os.getpid()) - stopped:
        for pid in new:
            with suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        stopped |= new
    for pid in stopped:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> set[int]:
    """The processes below one, as far as the system shows them; those that ended already are left out."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{int(entry)}/stat", encoding="utf-8", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(entry))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def limit(*, megabytes: int, processor_seconds: int, writable: bool = False) -> None:
    """Bound memory and processor time; without `writable` no file can grow either."""
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_CPU, processor_seconds)
    if megabytes:
        _bound(resource.RLIMIT_AS, megabytes << 20)
    if not writable:
        _bound(resource.RLIMIT_FSIZE, 0)


def _bound(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    kept = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (kept, kept))


def confine(readable: Iterable[str]) -> bool:
    """Leave this process only the files below `readable`, to read, and no network; False where the kernel cannot."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rights = next(count for since, count in reversed(_RIGHTS_BY_VERSION) if version >= since)
    rules = _Ruleset(
        (1 << rights) - 1, 0b11 if version >= _NETWORK_SINCE else 0, 0b11 if version >= _SCOPES_SINCE else 0
    )
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for folder in readable:
            _allow(libc, ruleset, folder)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            return False
        return bool(libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, folder: str) -> None:
    try:
        parent = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = _READ if os.path.isdir(folder) else _READ & ~0b1000
        rule = _PathBeneath(rights, parent)
        libc.syscall(_ADD_RULE, ruleset, ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(parent)
