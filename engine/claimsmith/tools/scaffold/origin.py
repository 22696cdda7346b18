"""Where the running claimsmith was installed from, as a line for a requirements file.

An installer notes a wheel, folder or repository in the installation's own metadata (PEP 610, `direct_url.json`). Where
there is no such note the package came from an index, and the version is enough. Nothing is asked of the network.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from claimsmith import __version__

PACKAGE = "claimsmith"
EXTRA = "lab"
"""A new project is deployed on its maker's machine first."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What to install to get the same claimsmith again."""

    requirement: str
    local: bool
    """Whether it names a place on this machine, which colleagues and CI do not have."""


def installed() -> Origin:
    """The origin of the running claimsmith; a copy that was never installed counts as its version in an index."""
    try:
        note = metadata.distribution(PACKAGE).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        note = None
    return origin(json.loads(note) if note else None, __version__)


def origin(note: dict[str, Any] | None, version: str) -> Origin:
    """The origin in an installer's note."""
    name = f"{PACKAGE}[{EXTRA}]"
    if note is None:
        return Origin(f"{name} == {version}", local=False)
    url = str(note["url"])
    local = urlsplit(url).scheme == "file"
    if local and (note.get("dir_info") or {}).get("editable"):
        return Origin(f"-e {shlex.quote(f'{_path(url)}[{EXTRA}]')}", local=True)
    return Origin(f"{name} @ {_located(url, note)}", local=local)


def _located(url: str, note: dict[str, Any]) -> str:
    """The address with what belongs to it: the tool and the commit of a repository, the folder within."""
    if vcs := note.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"{url}#subdirectory={note['subdirectory']}" if note.get("subdirectory") else url


def _path(url: str) -> str:
    return url2pathname(urlsplit(url).path)
