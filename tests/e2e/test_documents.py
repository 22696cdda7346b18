"""The examples of documents 000 to 003 as they are written, on the real engine.

Each folder of tests/documents says on its first line what had to be corrected. Definitions are permissive here, as
nobody gives the providers' own; the corrected examples of the showcase are checked more closely.
"""

from __future__ import annotations

import shutil

import pytest

from claimsmith.project.project import Project
from tests.e2e.document_examples import DOCUMENTS, EXAMPLES, delete_given
from tests.e2e.rig import Rig

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(("document", "kinds", "secrets"), EXAMPLES)
def test_examples_as_they_are_written(rig: Rig, document: str, kinds: list[str], secrets: dict[str, set[str]]) -> None:
    for file, place in (
        ("platform", "components/x"),
        ("claims", "stacks/dev/claims"),
        ("resources", "stacks/dev/resources"),
    ):
        (rig.root / place).mkdir(parents=True, exist_ok=True)
        source = DOCUMENTS / document / f"{file}.yaml"
        if source.is_file():
            shutil.copy(source, rig.root / place)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    plan = Project(rig.root).plan("dev")
    children = [child for claim in plan.walk() for child in claim.children]
    assert sorted(c.template.kind for c in children) == kinds
    for child in children:
        group, version = child.template.api_version.split("/")
        live = rig.live((group, version, child.template.kind))
        assert child.name in {o["metadata"]["name"] for o in live}
    for name, keys in secrets.items():
        assert rig.secret_values("default", name).keys() == keys
    rig.ok(rig.destroy("dev"))
    delete_given(rig, plan)
