"""No false alarms on 135 public compositions: alone nothing is judged, with their definitions only what is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.catalog import read_catalog
from claimsmith.checks import choices, fields, references, today
from claimsmith.checks.findings import Findings
from claimsmith.checks.known import Rules
from claimsmith.errors import EngineError
from claimsmith.load import load
from tests.samples import table

CASES = Path(__file__).parents[2] / "shared" / "conformance" / "render"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared conformance data is not beside this repository")

TABLE_ARNS = "awslabs-crossplane-on-eks-head-dynamo-"
TRUE_ERRORS = {
    # A patch writes status.tableARN; the definition says tableArn.
    f"{TABLE_ARNS}on-demand-composite.dynamodb.awsblueprints.io": ["patch-writes-unknown-field"],
    f"{TABLE_ARNS}on-demand-partition.dynamodb.awsblueprints.io": ["patch-writes-unknown-field"],
    f"{TABLE_ARNS}provisioned-composite-gsi.dynamodb.awsblueprints.io": ["patch-writes-unknown-field"],
    f"{TABLE_ARNS}provisioned-composite-lsi.dynamodb.awsblueprints.io": ["patch-writes-unknown-field"],
    f"{TABLE_ARNS}provisioned-composite.dynamodb.awsblueprints.io": ["patch-writes-unknown-field"],
    # The definition has tableSpec, not tableIndex.
    "awslabs-crossplane-on-eks-head-example.app.awsblueprints.io": ["patch-writes-unknown-field"] * 2,
    # A required patch from spec.parameters.size; the definition has storageGB only.
    "crossplane-crossplane-v1.10.0-example-2": ["patch-reads-unknown-field"],
    "crossplane-crossplane-v1.5.0-example-2": ["patch-reads-unknown-field"],
    # Its own authors call it invalid: status.evenCoolerField is not in the definition.
    "crossplane-crossplane-v1.14.0-invalid": ["patch-writes-unknown-field"],
    "crossplane-crossplane-v1.14.0-valid-with-warnings": ["patch-writes-unknown-field"],
}
"""Each was looked at: an API server would drop the field, or refuse every composite."""


def findings(*files: Path) -> Findings:
    catalog = read_catalog(load([f for f in files if f.exists()], root=CASES))
    rules = Rules(catalog, table())
    found = Findings()
    for part in (
        choices.check_choices(catalog),
        today.check_today(catalog, rules),
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
        assert (case / "expected_error.txt").exists() or "docs" in case.name or "microservices" in case.name
        return
    assert alone.errors == []
    assert {p.rule for p in alone.warnings} <= {"undefined-kind", "patch-set-unused"}
    assert [p.rule for p in defined.errors] == TRUE_ERRORS.get(case.name, [])
