"""Drift of fields that the functions of a composition set: with the step's line that wrote each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimsmith.project import workspace
from claimsmith.tools.drift.project import drift
from tests.support import piped_project

STACK = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
CLAIM = "urn:pulumi:dev::shop::claimsmith:example.org:Net::my"


def preview(kind: str, child: str, path: str, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    urn = f"urn:pulumi:dev::shop::claimsmith:example.org:Net$kubernetes:ec2.example.org/v1:{kind}::my/{child}"
    states = {
        key: {"custom": True, "parent": CLAIM, "inputs": {"kind": kind, "metadata": {"name": child}, "spec": spec}}
        for key, spec in (("oldState", old), ("newState", new))
    }
    for state in states.values():
        state["outputs"] = state["inputs"]
    parts = [{"op": "refresh", "urn": u, "oldState": {"urn": u, "parent": p}} for u, p in ((STACK, ""), (CLAIM, STACK))]
    changed = {"op": "update", "urn": urn, "provider": "k", **states, "detailedDiff": {path: {"kind": "update"}}}
    return {"steps": [*parts, changed]}


@pytest.mark.parametrize(
    ("kind", "child", "field", "comment"),
    [
        pytest.param("Subnet", "asubnet", "name", "name", id="go-templating"),
        pytest.param("Subnet", "asubnet", "networkId", "id", id="filled-in"),
        pytest.param("Tag", "tag", "region", "tags", id="kcl"),
    ],
)
def test_drift_names_the_line_of_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, child: str, field: str, comment: str
) -> None:
    specs = [{"forProvider": {field: value}} for value in ("a", "b")]
    found = preview(kind, child, f"spec.forProvider.{field}", *specs)
    monkeypatch.setattr(workspace, "refresh_preview", lambda *_: found)
    [claim] = drift(piped_project.project(tmp_path), "dev").claims
    [resource] = claim.resources
    [changed] = resource.fields
    assert (changed.path, changed.old, changed.new) == (f"spec.forProvider.{field}", "a", "b")
    assert changed.where is not None
    assert changed.where.line == piped_project.line_of(comment)
