"""Golden cases: a folder below tests/golden with platform.yaml and claim.yaml, and what they become.

Beside them stands what is expected: plan.yaml and component.py, or error.txt. A case is found by being a folder.
`references.yaml` extends the reference table. Rewrite what is expected with: pytest --update-golden
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from claimsmith import generate, render
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import BindingError
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.compose.references import Table
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project import sdks
from claimsmith.tools.generate import format_source
from tests.support.paths import ROOT
from tests.support.samples import expanded, table

FOLDER = ROOT / "tests" / "golden"


@dataclass(frozen=True)
class Case:
    """One folder."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_refused(self) -> bool:
        """Whether the platform's own documents are refused, before any claim is looked at."""
        error = self.folder / "error.txt"
        return error.exists() and error.read_text(encoding="utf-8").startswith("CatalogError")

    @cached_property
    def catalog(self) -> Catalog:
        return read_catalog(self._read("platform.yaml"), self._read("claim.yaml"))

    @cached_property
    def table(self) -> Table:
        more = self.folder / "references.yaml"
        return table(*(self._read(more.name) if more.exists() else ()))

    def plan(self) -> Plan:
        """The plan of claims that were never bound before; one that cannot be bound is an error here."""
        found = expanded(self.catalog, project="golden")
        if found.unbound:
            raise BindingError(*(u.problem for u in found.unbound))
        return build_plan(found, project="golden", stack="dev", table=self.table)

    def rendered(self) -> str:
        return render.render(self.plan())

    def generated(self) -> str:
        """The component's source before the formatter."""
        classes = list(self.catalog.classes.values())
        claims = generate.claim_types(self.catalog)
        source = f"components/{self.name}/class.yaml"
        return generate.generate(classes, self.table, source=source, claims=claims, sdks=sdks.index_of)

    def component(self) -> str:
        return format_source(self.generated())

    def _read(self, name: str) -> list[Document]:
        return read_documents((self.folder / name).read_text(encoding="utf-8"), file=name)


CASES = [Case(folder) for folder in sorted(FOLDER.iterdir()) if folder.is_dir()]
GOOD = [case for case in CASES if not (case.folder / "error.txt").exists()]
BAD = [case for case in CASES if (case.folder / "error.txt").exists()]


def each(cases: list[Case]) -> list[object]:
    """The cases as rows of a table, named after their folders."""
    return [pytest.param(case, id=case.name) for case in cases]
