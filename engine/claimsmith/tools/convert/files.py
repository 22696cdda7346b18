"""Conversion of files: a project or single files in, Crossplane files out. Nothing is overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import GenerateError, LoadError, Problem, Source
from claimsmith.base.grouping import grouped
from claimsmith.compose.reference_table import kinds_of
from claimsmith.platform.catalog import read_catalog
from claimsmith.project.layout import TABLES
from claimsmith.project.load import load
from claimsmith.project.project import Project, find_root
from claimsmith.project.writing import output_path, write_atomically
from claimsmith.render import yaml_text
from claimsmith.tools.convert import Conversion, Converted, Stack, convert, kinds

_NOT_DOCUMENTS = (*TABLES, "bindings.yaml")


@dataclass(frozen=True, slots=True)
class Result:
    """The converted documents by file, and the problems to report."""

    conversion: Conversion
    left: tuple[Document, ...] = ()
    """Documents that are neither class nor claim: they are left unchanged."""

    def documents(self) -> list[Converted]:
        """All documents: the platform's first."""
        return [*self.conversion.platform, *self.conversion.claims]

    def files(self) -> dict[PurePosixPath, str]:
        """The texts of the files, each named as the file that it is converted from."""
        found = grouped(self.documents(), lambda converted: _below(converted.file))
        return {path: "---\n".join(_text(c.document) for c in listed) for path, listed in found.items()}

    def text(self) -> str:
        """All documents as one YAML stream."""
        return "".join(f"---\n{_text(c.document)}" for c in self.documents())

    def warnings(self) -> list[Problem]:
        """What Crossplane expresses differently, and what is left unchanged."""
        fix = "nothing; or pass the files of the classes that serve it too"
        what = "{} is no class, definition or claim, and left unchanged"
        left = [Problem(what.format(d.data.get("kind")), d.source_of(), "", fix) for d in self.left]
        return [*self.conversion.differs, *left]

    def to_dict(self) -> dict[str, Any]:
        """The result for a machine to read."""
        return {
            "documents": [{"file": c.file, "document": c.document} for c in self.documents()],
            "unsupported": [p.to_dict() for p in self.conversion.unsupported],
            "differs": [p.to_dict() for p in self.warnings()],
        }


def of_project(project: Project) -> Result:
    """A project's classes and definitions, and the claims of all its stacks."""
    stacks = [Stack(project.catalog(name), project.records(name)) for name in project.stacks()]
    workloads = [stack.catalog.workloads for stack in stacks]
    left = [target.document for w in workloads for target in w.targets.values()]
    left += [application.document for w in workloads for application in w.applications.values()]
    return Result(convert(project.catalog(), project.table(), stacks), tuple(left))


def of_files(paths: Sequence[Path]) -> Result:
    """The classes, definitions and claims that files hold; pass files that belong together in one call."""
    here = Path.cwd()
    documents = [d for d in load(paths, root=here) if PurePosixPath(d.file).name not in _NOT_DOCUMENTS]
    tables = Project(_root(here))
    bindable, managed = tables.bindable(), kinds_of(tables.table())
    platform = [d for d in documents if kinds.is_platform(d, bindable)]
    others = [d for d in documents if d not in platform]
    known = kinds.claimed_kinds(read_catalog(platform, bindable=bindable, managed=managed))
    claims, left = kinds.claims_among(others, known)
    catalog = read_catalog(platform, claims, bindable=bindable, managed=managed)
    return Result(convert(catalog, tables.table()), tuple(left))


def write(result: Result, folder: Path) -> list[tuple[str, str]]:
    """Write the files below a folder, all or none, and return for each whether it is new."""
    root = _root(Path.cwd())
    texts = {output_path(folder / path, root=root): text for path, text in result.files().items()}
    problems = [
        Problem("the file exists with other content", Source(path.as_posix()), "", "remove it first")
        for path, text in texts.items()
        if path.exists() and not (path.is_file() and path.read_bytes() == text.encode())
    ]
    if problems:
        raise GenerateError(*problems)
    return [(path.as_posix(), "new" if write_atomically(path, text) else "none") for path, text in texts.items()]


def _text(document: dict[str, Any]) -> str:
    return yaml_text(document, blocks=True)


def _root(here: Path) -> Path:
    """The project around a folder, for its tables; the folder itself where there is none."""
    try:
        return find_root(here)
    except LoadError:
        return here


def _below(file: str) -> PurePosixPath:
    """A file's place below another folder; what is outside of this one goes there by its name alone."""
    path = PurePosixPath(file)
    return PurePosixPath(path.name) if path.is_absolute() or ".." in path.parts else path
