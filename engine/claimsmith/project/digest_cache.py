"""Small facts by digests of the files that they come from, kept in the user's cache between runs.

A file is one line with the digest of the rest, then JSON. It is read only where it is a plain file that this user alone
can write, in a folder of the same sort; whatever is wrong with it, it counts as empty and is replaced. It holds digests
and numbers, nothing of the project's files.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from claimsmith.base.errors import WriteError
from claimsmith.base.user_folders import cache_folder
from claimsmith.project.writing import write_atomically

FOLDER = "silent-stacks"
PLACE = "CLAIMSMITH_STACK_CACHE"
"""The environment variable that names another folder, or turns the cache off."""
OFF = "off"
FORMAT = 2
MOST_ENTRIES = 20_000
"""In one file: a thousand stacks at twenty revisions. The ones that were not used for longest go first."""
MOST_FILES = 50
_MOST_BYTES = 4 * 1024 * 1024
_DIGEST = frozenset("0123456789abcdef")
Numbers = tuple[int, ...]


def path_of(root: Path, purpose: str, env: Mapping[str, str] = os.environ) -> Path | None:
    """The file for a purpose and the project in a folder; None where the user wants no cache.

    A system without owners of files has none either: nobody could tell whose a file is.
    """
    own = env.get(PLACE)
    if own == OFF or not hasattr(os, "geteuid"):
        return None
    folder = Path(own).expanduser().absolute() if own else cache_folder(env) / FOLDER
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32]
    return folder / f"{name}-{purpose}.json"


def read(path: Path, count: int) -> dict[str, Numbers]:
    """The entries of a file, those that were used last at the end; none where anything about it is wrong.

    `count` is how many numbers each entry has.
    """
    with suppress(OSError, ValueError, RecursionError):
        if _is_private(path.parent.lstat(), stat.S_ISDIR):
            return _parsed(_bytes(path), count)
    return {}


def write(path: Path, entries: Mapping[str, Numbers]) -> None:
    """Replace the entries of a file; a cache that cannot be written stays as it is."""
    kept = dict(list(entries.items())[-MOST_ENTRIES:])
    body = json.dumps({"format": FORMAT, "entries": kept}, separators=(",", ":"))
    text = f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}"
    with suppress(OSError, WriteError):
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700)
        if _is_private(path.parent.lstat(), stat.S_ISDIR):
            write_atomically(path, text, mode=0o600)
            _prune(path)


def _bytes(path: Path) -> bytes:
    # Opened first and then looked at, so that it is the same file; a pipe would wait for its other end.
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as file:
        info = os.fstat(number)
        if not _is_private(info, stat.S_ISREG) or info.st_size > _MOST_BYTES:
            raise OSError("not a file of this user alone")
        return file.read(_MOST_BYTES + 1)


def _is_private(info: os.stat_result, wanted: Callable[[int], bool]) -> bool:
    return wanted(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o077


def _parsed(content: bytes, count: int) -> dict[str, Numbers]:
    digest, _, body = content.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("it is not whole")
    data = json.loads(body)
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("entries"), dict):
        raise ValueError("another format")
    entries: dict[str, list[int]] = data["entries"]
    if not all(len(k) == 64 and _DIGEST.issuperset(k) and _are_numbers(v, count) for k, v in entries.items()):
        raise ValueError("another form of entries")
    return {digest: tuple(numbers) for digest, numbers in entries.items()}


def _are_numbers(value: object, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(type(v) is int and v >= 0 for v in value)


def _prune(written: Path) -> None:
    """Remove the files of other projects that were not written for longest, where there are too many."""
    files = [p for p in written.parent.glob("*.json") if p != written]
    for path in sorted(files, key=lambda p: p.lstat().st_mtime_ns, reverse=True)[MOST_FILES - 1 :]:
        path.unlink(missing_ok=True)
