"""No false alarms on 135 public compositions: alone nothing is judged, with their definitions only what is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.base.errors import Collector, EngineError, ModelError
from claimsmith.dialects.crossplane import documents as crossplane_documents
from claimsmith.platform.catalog import Catalog
from claimsmith.project import sdks
from claimsmith.project.load import load
from claimsmith.tools.validate import choices, crossplane, fields, references
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules
from tests.support.paths import ROOT
from tests.support.samples import table

CASES = ROOT.parent / "shared" / "conformance" / "render"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared conformance data is not beside this repository")

TRUE_ERRORS = {
    # The definition has tableSpec, not tableIndex.
    "awslabs-crossplane-on-eks-head-example.app.awsblueprints.io": ["patch-writes-unknown-field"] * 2,
    # A required patch from spec.parameters.size; the definition has storageGB only.
    "crossplane-crossplane-v1.10.0-example-2": ["patch-reads-unknown-field"],
    "crossplane-crossplane-v1.5.0-example-2": ["patch-reads-unknown-field"],
}
"""Each was looked at: an API server would drop the field, or refuse every composite."""


UNREADABLE = {
    "awslabs-crossplane-on-eks-head-microservices.upbound.awsblueprints.io",
    "crossplane-crossplane-head-nop.sqlinstances.example.org",
    "crossplane-docs-head-my-composition",
    "crossplane-docs-head-my-composition-2",
    "crossplane-docs-head-test.example.org",
}
"""Cut for a page of documentation, or with a field that the function refuses too."""


def findings(*files: Path) -> Findings:
    problems = Collector()
    read, _ = crossplane_documents.read(load([f for f in files if f.exists()], root=CASES), problems, [])
    problems.raise_as(ModelError)
    catalog = Catalog(crossplane=read)
    rules = Rules(catalog, table(), sdks.index_of)
    found = Findings()
    for part in (
        choices.check_choices(catalog),
        crossplane.check_crossplane(catalog, rules),
        fields.check_classes(catalog, rules),
        references.check_references(catalog, rules, []),
    ):
        found.add(part)
    return found


def cases() -> list[Path]:
    return sorted(p for p in CASES.iterdir() if p.is_dir()) if CASES.is_dir() else []


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in cases()])
def test_public_compositions(case: Path) -> None:
    try:
        alone, defined = findings(case / "composition.yaml"), findings(case / "composition.yaml", case / "xrd.yaml")
    except EngineError:
        assert case.name in UNREADABLE
        return
    assert case.name not in UNREADABLE
    assert alone.errors == []
    assert {p.rule for p in alone.warnings} <= {"undefined-kind", "patch-set-unused"}
    assert [p.rule for p in defined.errors] == TRUE_ERRORS.get(case.name, [])
