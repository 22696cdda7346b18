"""Reading files: paths in, documents out. The only reader of the user's YAML files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import Collector, LoadError, Problem, Refused, Source

MAX_BYTES = 8 * 1024 * 1024


def load(paths: Sequence[Path], *, root: Path, refused: Refused | None = None) -> list[Document]:
    """All documents of the files, and of the YAML files below the folders, in the order of their names.

    `refused` takes the problems of files that cannot be read, where the others are to be read all the same.
    """
    problems = Collector()
    documents: list[Document] = []
    for path in _files(paths, root, problems):
        with problems.catch():
            read = read_documents(read_text(path, root=root), file=shown(path, root))
            documents.extend(item for document in read for item in document.unrolled())
    problems.raise_as(LoadError, refused)
    return documents


def yaml_files(folder: Path, *, root: Path) -> list[Path]:
    """The YAML files below a folder, in the order of their names. A link to another folder is refused, not followed."""
    files: list[Path] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".yaml", ".yml"} and path.is_file():
            files.append(path)
        elif path.is_symlink() and path.is_dir():
            what = "a link to a folder is not followed"
            raise LoadError(Problem(what, Source(shown(path, root)), fix="move the folder here"))
    return files


def _files(paths: Sequence[Path], root: Path, problems: Collector) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            with problems.catch():
                yield from yaml_files(path, root=root)
        elif path.exists():
            yield path
        else:
            problems.add(Problem(f"no such file or folder: {path}", fix="check the path"))


def shown(path: Path, root: Path) -> str:
    """A path as messages name it: from the project's root, where it is below."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def leads_out(path: Path, *, root: Path) -> Problem | None:
    """The problem of a path of the project that leads elsewhere, by a link of its own or of a folder above it."""
    if not path.is_relative_to(root) or path.resolve().is_relative_to(root.resolve()):
        return None
    what = "a link that leads out of the project is not followed"
    return Problem(what, Source(shown(path, root)), fix="copy the file into the project")


def read_text(path: Path, *, root: Path) -> str:
    """The text of a file of the project; what is no text, too large or elsewhere is refused."""
    where = Source(shown(path, root))
    if strange := leads_out(path, root=root):
        raise LoadError(strange)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LoadError(Problem(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", where, fix="split it"))
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(Problem(f"cannot be read: {error}", where, fix="save it as UTF-8 text")) from error
