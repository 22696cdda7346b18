"""The templates that a composition keeps in files: only those of folders beside it, whatever its text asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from claimsmith.base.errors import LoadError, Problem
from claimsmith.functions.registry import Files
from claimsmith.project.load import leads_out, read_text


def template_files(folder: Path) -> Files:
    """Reads the templates of a folder below the one that contains a composition.

    A function finds its templates where its image has them, such as `/templates`: here that is the folder `templates`
    beside the composition.
    """
    return lambda directory: _read(folder, directory)


def _read(folder: Path, directory: str) -> Mapping[str, str]:
    """The texts below the folder, by their paths, in the order of a walk; hidden files are left out."""
    inner = [part for part in PurePosixPath(directory).parts if part != "/"]
    if ".." in inner:
        what = f"the folder of templates {directory!r} leads out of the composition's own folder"
        raise LoadError(Problem(what, fix="name a folder beside the composition"))
    root = folder.joinpath(*inner)
    if not root.is_dir():
        return {}
    if strange := leads_out(root, root=folder):
        raise LoadError(strange)
    found = sorted((p.relative_to(root).parts, p) for p in root.rglob("*") if p.is_file())
    shown = [(parts, path) for parts, path in found if not any(part.startswith(".") for part in parts)]
    return {"/".join(parts): read_text(path, root=folder) for parts, path in shown}
