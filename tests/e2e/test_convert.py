"""The examples of documents 000 to 003, converted to Crossplane and deployed on the real engine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from claimsmith.project.project import Project
from claimsmith.tools.convert import files
from tests.e2e.document_examples import DOCUMENTS, EXAMPLES, delete_given
from tests.e2e.rig import Rig

pytestmark = pytest.mark.e2e

PLACES = {"platform": "components/x", "claims": "stacks/dev/claims", "resources": "stacks/dev/resources"}


def convert(document: str, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a document's example into a project, in Crossplane's words."""
    older = rig.root / "older"
    for file, place in PLACES.items():
        source = DOCUMENTS / document / f"{file}.yaml"
        target = (rig.root if file == "resources" else older) / place
        target.mkdir(parents=True, exist_ok=True)
        if source.is_file():
            shutil.copy(source, target)
    monkeypatch.chdir(older)
    files.write(files.of_files([Path("components"), Path("stacks")]), rig.root)


@pytest.mark.parametrize(("document", "kinds", "secrets"), EXAMPLES)
def test_converted_examples_are_deployed(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, document: str, kinds: list[str], secrets: dict[str, set[str]]
) -> None:
    convert(document, rig, monkeypatch)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    plan = Project(rig.root).plan("dev")
    children = [child for claim in plan.walk() for child in claim.children]
    assert sorted(c.template.kind for c in children) == kinds
    for child in children:
        group, version = child.template.api_version.split("/")
        assert child.name in {o["metadata"]["name"] for o in rig.live((group, version, child.template.kind))}
    for name, keys in secrets.items():
        assert rig.secret_values("default", name).keys() == keys
    rig.ok(rig.destroy("dev"))
    delete_given(rig, plan)
