"""Reading files: paths in, documents out. The only reader of the user's YAML files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from claimsmith.documents import Document, read_documents
from claimsmith.errors import Collector, LoadError, Problem, Source

MAX_BYTES = 8 * 1024 * 1024


def load(paths: Sequence[Path], *, root: Path) -> list[Document]:
    """All documents of the files, and of the YAML files below the folders, in the order of their names."""
    problems = Collector()
    documents: list[Document] = []
    for path in _files(paths, problems):
        with problems.catch():
            documents.extend(read_documents(read_text(path, root=root), file=_shown(path, root)))
    problems.raise_as(LoadError)
    return documents


def _files(paths: Sequence[Path], problems: Collector) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.suffix in {".yaml", ".yml"} and p.is_file())
        elif path.exists():
            yield path
        else:
            problems.add(Problem(f"no such file or folder: {path}", fix="check the path"))


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def read_text(path: Path, *, root: Path) -> str:
    """The text of a file of the project; what is no text, too large or elsewhere is refused."""
    shown = _shown(path, root)
    if not path.resolve().is_relative_to(root.resolve()) and path.is_relative_to(root):
        raise LoadError(
            Problem(
                "a link that leads out of the project is not followed",
                Source(shown),
                fix="copy the file into the project",
            )
        )
    if path.stat().st_size > MAX_BYTES:
        raise LoadError(
            Problem(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", Source(shown), fix="split it")
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(Problem(f"cannot be read: {error}", Source(shown), fix="save it as UTF-8 text")) from error
