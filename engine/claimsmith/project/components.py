"""Generated components: each exists, and is what `claimsmith generate` would write now."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from claimsmith import generate
from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.grouping import grouped
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.klass import Class
from claimsmith.platform.catalog import Catalog
from claimsmith.project import sdks
from claimsmith.project.project import Project

_FIX = "run: claimsmith generate"


@dataclass(frozen=True)
class Components:
    """The components of a project: one module for each folder of classes."""

    project: Project

    @cached_property
    def _catalog(self) -> Catalog:
        return self.project.catalog()

    @cached_property
    def _claims(self) -> dict[tuple[GroupKind, str], generate.ClaimType]:
        return generate.claim_types(self._catalog)

    @cached_property
    def folders(self) -> dict[Path, list[Class]]:
        """The classes of each module, by the module's path; those that only other stacks are offered count too."""
        return grouped(self._catalog.classes.values(), self.project.component_path)

    def source(self, path: Path) -> str:
        """What the generator writes into a module now, before the formatter."""
        classes = self.folders[path]
        files = ", ".join(sorted({c.document.file for c in classes}))
        return generate.generate(classes, self.project.table(), source=files, claims=self._claims, sdks=sdks.index_of)

    def problems(self, classes: Iterable[Class]) -> list[Problem]:
        """What is wrong with the modules of some classes: missing, stale or edited, each reported once."""
        modules = grouped(classes, self.project.component_path)
        return [problem for path, (first, *_) in modules.items() for problem in self._problems(path, first)]

    def _problems(self, path: Path, klass: Class) -> list[Problem]:
        shown = path.relative_to(self.project.root).as_posix()
        where = klass.document.source_of("metadata.name")
        written = self.project.content(path)
        if written is None:
            what = f"{klass.key} has no component: {shown} is missing"
            return [Problem(what, where, fix=_FIX, rule="missing-component")]
        try:
            source = self.source(path)
        except EngineError as error:
            return list(error.problems)
        if generate.digest_of(written) != generate.digest_of(source.encode()):
            what = f"{shown} is stale: generate would write something else now"
            return [Problem(what, where, fix=_FIX, rule="stale-component")]
        if not _same_code(written, source):
            what = f"{shown} is not what was generated: it was edited by hand"
            return [Problem(what, where, fix=f"change the class instead, then {_FIX}", rule="stale-component")]
        return []


def component_problems(project: Project, classes: Iterable[Class]) -> list[Problem]:
    """What is wrong with the components of some classes of a project."""
    return Components(project).problems(classes)


def _same_code(written: bytes, source: str) -> bool:
    """Whether both are the same Python, however it is laid out: the file went through a formatter."""
    try:
        return ast.dump(ast.parse(written)) == ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return False
