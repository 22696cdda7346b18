"""A project as one archive: the same files give the same bytes, whose digest is its version.

In it is what git tracks or does not ignore, and the settings of the stacks, ignored or not. Never in it are the private
folder, `.git`, environments of Python, and what holds credentials of this machine: kubeconfigs, passphrases and keys.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from claimsmith.base.errors import DeployError, LoadError, Problem
from claimsmith.project import git
from claimsmith.project.encryption import PASSPHRASE
from claimsmith.project.layout import PRIVATE
from claimsmith.project.load import leads_out
from claimsmith.project.project import Project

MOST = 256 * 1024 * 1024
"""The largest archive. A project of claims has a few MiB: more is a build's output that git should ignore."""
_FOLDERS = frozenset({PRIVATE, ".git", ".venv", "venv", "__pycache__", "node_modules", ".terraform"})
_NAMES = frozenset({PASSPHRASE, "kubeconfig", ".netrc", ".pgpass", ".env", "id_rsa", "id_ed25519", "id_ecdsa"})
_SUFFIXES = frozenset({".key", ".p12", ".pfx", ".kubeconfig", ".pyc", ".partial"})
_DOCUMENTS = frozenset({".yaml", ".yml", ".json", ".conf", ".config", ""})


@dataclass(frozen=True, slots=True)
class Archive:
    """The files of a project."""

    digest: str
    content: bytes


def pack(project: Project) -> Archive:
    """The archive of a project as it is on disk now."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(_files(project)):
            _add(archive, project.root, path)
            if output.tell() > MOST:
                what = f"the files of the project have more than {MOST // 1024 // 1024} MiB, which is no project alone"
                raise LoadError(Problem(f"{what}; the last was {path}", fix="let .gitignore name what is built"))
    content = output.getvalue()
    return Archive(_digest(content), content)


def checked(archive: Archive) -> Archive:
    """The archive, if it came whole."""
    if _digest(archive.content) != archive.digest:
        raise _refused("it is not what was sent: its digest differs")
    return archive


def unpack(archive: Archive, folder: Path) -> None:
    """Write the files into an empty folder; nothing of a broken or hostile archive leads out of it."""
    checked(archive)
    if not hasattr(tarfile, "data_filter"):
        raise DeployError(Problem("this Python cannot unpack archives safely", fix="install Python 3.11.4 or newer"))
    try:
        with tarfile.open(fileobj=io.BytesIO(archive.content), mode="r:") as files:
            for member in files:
                if not (member.isfile() or member.issym()):
                    raise _refused(f"{member.name!r} is neither a file nor a link")
                if PurePosixPath(member.name).is_absolute() or ".." in PurePosixPath(member.name).parts:
                    raise _refused(f"{member.name!r} leads out of the project")
                files.extract(member, folder, filter="data")
    except (tarfile.TarError, OSError, ValueError) as error:
        raise _refused(str(error)) from None


def _files(project: Project) -> set[str]:
    """The paths of all files that belong into the archive."""
    root = project.root
    listed = git.present(root)
    found = _below(root, root) if listed is None else listed
    settings = (p.relative_to(root).as_posix() for p in (root / "stacks").glob("Pulumi.*.yaml"))
    return {path for path in (*_entered(root, found), *settings) if _belongs(root, path)}


def _entered(root: Path, paths: Iterable[str]) -> Iterator[str]:
    """The paths, with the files of a folder instead of it: git lists a submodule so."""
    for path in paths:
        place = root / path
        if place.is_dir() and not place.is_symlink():
            yield from _below(root, place)
        else:
            yield path


def _below(root: Path, folder: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in _FOLDERS and name not in links)
        yield from (Path(parent, name).relative_to(root).as_posix() for name in (*files, *links))


def _belongs(root: Path, path: str) -> bool:
    """Whether a path is a file that may be sent to another machine."""
    pure, place = PurePosixPath(path), root / path
    if _FOLDERS & set(pure.parts) or pure.name in _NAMES or pure.suffix in _SUFFIXES:
        return False
    return place.is_symlink() or (place.is_file() and not _holds_credentials(place))


def _holds_credentials(path: Path) -> bool:
    """Whether a file is a private key or a kubeconfig, whatever it is called."""
    if path.suffix in {".pem", ""} and b"PRIVATE KEY-----" in path.read_bytes():
        return True
    if path.suffix not in _DOCUMENTS or b"current-context" not in (content := path.read_bytes()):
        return False
    try:
        data = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError):
        return False
    return isinstance(data, dict) and data.get("kind") == "Config" and "users" in data


def _add(archive: tarfile.TarFile, root: Path, path: str) -> None:
    place = root / path
    if strange := leads_out(place, root=root):
        raise LoadError(strange)
    info = tarfile.TarInfo(path)
    if place.is_symlink():
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(place)
        archive.addfile(info)
        return
    content = place.read_bytes()
    info.size, info.mode = len(content), 0o755 if os.access(place, os.X_OK) else 0o644
    archive.addfile(info, io.BytesIO(content))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _refused(why: str) -> DeployError:
    return DeployError(Problem(f"the archive of the project is refused: {why}", fix="run it again"))
