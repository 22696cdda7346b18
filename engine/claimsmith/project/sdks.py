"""The SDKs of providers in the environment that claimsmith runs in: found on the import path, never imported."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from claimsmith.base.errors import ProviderError
from claimsmith.providers.index import Index, import_name_of, missing

_MARK = "pulumi-plugin.json"


def index_of(package: str, search_path: Sequence[str] | None = None) -> Index:
    """What the installed SDK of a provider declares; an error with the command that installs it if there is none."""
    return _index_of(package, tuple(sys.path if search_path is None else search_path))


def installed(search_path: Sequence[str] | None = None) -> list[str]:
    """The providers whose SDKs are installed."""
    roots = (root for folder in _folders(search_path) for root in sorted(folder.glob(f"*/{_MARK}")))
    return sorted({name for root in roots if (name := _package(root))})


def fingerprint(package: str, search_path: Sequence[str] | None = None) -> list[object] | None:
    """What identifies an installed SDK: its folder, and size and times of its files. None without one.

    A version alone is not enough: an SDK that was generated on this machine keeps its version.
    """
    root = _root(package, tuple(sys.path if search_path is None else search_path))
    if root is None:
        return None
    found: dict[str, list[int]] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".py") or name == _MARK:
                path = os.path.join(folder, name)
                info = os.stat(path)
                found[os.path.relpath(path, root)] = [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
    return [str(root), found]


# A process asks for the same few SDKs again and again, and none is installed while it runs.
@lru_cache(maxsize=64)
def _index_of(package: str, search_path: tuple[str, ...]) -> Index:
    root = _root(package, search_path)
    if root is None:
        raise ProviderError(missing(package))
    return Index(package, lambda path: _read(root, path), import_name=root.name)


def _root(package: str, search_path: tuple[str, ...]) -> Path | None:
    """The folder of an SDK: by the name that Pulumi's have, else by the provider that it says it is for."""
    folders = list(_folders(search_path))
    usual = (folder / import_name_of(package) for folder in folders)
    named = next((root for root in usual if _is_file(root / "__init__.py")), None)
    marks = (mark for folder in folders for mark in sorted(folder.glob(f"*/{_MARK}")))
    return named or next((mark.parent for mark in marks if _package(mark) == package), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for a file
        return False


def _folders(search_path: Sequence[str] | None) -> Iterator[Path]:
    folders = (Path(entry) for entry in (sys.path if search_path is None else search_path) if entry)
    return (folder for folder in folders if folder.is_dir())


def _package(mark: Path) -> str:
    try:
        return str(json.loads(mark.read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _read(root: Path, path: str) -> str | None:
    try:
        return (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
