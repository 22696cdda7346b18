"""Takes system calls away from a child process: other processes, connections of any kind, and its own limits.

Landlock is about files and TCP. This filter (seccomp, Linux 3.17 and later) keeps the process from starting others,
from UDP and unix sockets, and from undoing these restrictions. A call that is taken away fails
with EPERM, as if the user had no right to it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_PDEATHSIG = 1
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_EPERM, _ENOSYS = 1, 38
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_CLONE_THREAD = 0x00010000
_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
"""Numbers from here on are those of another interface of x86_64, which nothing needs."""


class _Machine(NamedTuple):
    """The numbers of system calls on one kind of machine."""

    audit: int
    seccomp: int
    clone: int
    clone3: int
    prctl: int
    prlimit: int
    signals: tuple[int, ...]
    """kill and tgkill: allowed for the process itself."""
    refused: tuple[int, ...]


# fmt: off
_MACHINES: Final = {
    "x86_64": _Machine(
        0xC000003E, 317, 56, 435, 157, 302, (62, 234),
        (
            57, 58, 59, 322,  # fork vfork execve execveat
            41, 42, 425,  # socket connect io_uring_setup
            101, 129, 200, 297, 310, 311, 424, 434, 438,  # ptrace, signals and memory of others
            141, 144, 160, 227, 164,  # priorities, limits, clocks
            155, 161, 165, 166, 167, 169, 170, 175, 176, 246, 272, 308, 313, 321, 323,  # the system as a whole
            248, 249, 250, 298,  # keys, counters
        ),
    ),
    "aarch64": _Machine(
        0xC00000B7, 277, 220, 435, 167, 261, (129, 131),
        (
            221, 281,  # execve execveat
            198, 203, 425,  # socket connect io_uring_setup
            117, 130, 138, 240, 270, 271, 424, 434, 438,  # ptrace, signals and memory of others
            140, 119, 164, 112, 170,  # priorities, limits, clocks
            41, 51, 40, 39, 224, 142, 161, 105, 106, 104, 97, 268, 273, 280, 282,  # the system as a whole
            217, 218, 219, 241,  # keys, counters
        ),
    ),
}
# fmt: on


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction)))


Step = tuple[int, int, int, int]


def refuse() -> bool:
    """Take the calls away from this process, for good; False where the system cannot."""
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        return False
    steps = list(_filter(machine, os.getpid()))
    listed = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), ctypes.cast(listed, ctypes.POINTER(_Instruction)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    arguments = (ctypes.c_uint(_SET_MODE_FILTER), ctypes.c_uint(_ALL_THREADS), ctypes.byref(program))
    return bool(libc.syscall(machine.seccomp, *arguments) == 0)


def _filter(machine: _Machine, own: int) -> Iterator[Step]:
    """The program that the kernel runs for each call."""
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield from _unless(_EQUALS, machine.audit, _EPERM)
    yield _LOAD, 0, 0, _NUMBER
    if machine is _MACHINES["x86_64"]:
        yield _AT_LEAST, 0, 1, _X32
        yield _RETURN, 0, 0, _FAIL | _EPERM
    for number in machine.refused:
        yield from _refused(number, _EPERM)
    yield from _refused(machine.clone3, _ENOSYS)  # the C library then uses clone, whose flags a filter can see
    yield from _checked(machine.clone, 0, _HAS_BITS, _CLONE_THREAD)
    for number in machine.signals:
        yield from _checked(number, 0, _EQUALS, own)
    yield from _pdeathsig(machine.prctl)
    yield from _new_limits(machine.prlimit)
    yield _RETURN, 0, 0, _ALLOW


def _refused(number: int, error: int) -> Iterator[Step]:
    yield _EQUALS, 0, 1, number
    yield _RETURN, 0, 0, _FAIL | error


def _unless(test: int, value: int, error: int) -> Iterator[Step]:
    yield test, 1, 0, value
    yield _RETURN, 0, 0, _FAIL | error


def _checked(number: int, argument: int, test: int, value: int) -> Iterator[Step]:
    """Allow a call only if the low word of an argument passes a test."""
    yield _EQUALS, 0, 4, number
    yield _LOAD, 0, 0, _ARGUMENTS + 8 * argument
    yield from _unless(test, value, _EPERM)
    yield _RETURN, 0, 0, _ALLOW


def _pdeathsig(prctl: int) -> Iterator[Step]:
    """The process ends with its parent, whatever it wants."""
    yield _EQUALS, 0, 4, prctl
    yield _LOAD, 0, 0, _ARGUMENTS
    yield from _refused(_PR_SET_PDEATHSIG, _EPERM)
    yield _RETURN, 0, 0, _ALLOW


def _new_limits(prlimit: int) -> Iterator[Step]:
    """Limits can be read, not set: the new ones, the third argument, must be a null pointer."""
    yield _EQUALS, 0, 7, prlimit
    for word in (0, 4):
        yield _LOAD, 0, 0, _ARGUMENTS + 16 + word
        yield from _unless(_EQUALS, 0, _EPERM)
    yield _RETURN, 0, 0, _ALLOW
