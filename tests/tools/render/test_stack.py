"""`claimsmith render STACK`: what a stack deploys, whole or one claim of it."""

from __future__ import annotations

import pytest
import yaml

from claimsmith.base.errors import LoadError
from claimsmith.project.project import Project
from claimsmith.tools.render.stack import rendered, rendered_documents
from tests.support.paths import ROOT

PROJECT = Project(ROOT)
CLAIM = "MySQLInstance.database.example.org/default/sql"


@pytest.mark.parametrize("stack", PROJECT.stacks())
def test_text_and_documents_say_the_same(stack: str) -> None:
    text = "---\n".join(rendered(PROJECT, stack))
    listed = [d for d in yaml.safe_load_all(text) if d]
    assert listed == rendered_documents(PROJECT, stack)
    assert listed


def test_one_claim_is_rendered_as_it_is_with_all_others() -> None:
    [alone] = rendered(PROJECT, "dev", CLAIM)
    assert alone in "".join(rendered(PROJECT, "dev"))
    kinds = [d["kind"] for d in rendered_documents(PROJECT, "dev", CLAIM)]
    assert {"ResourceGroup", "MySQLServer", "MySQLServerVirtualNetworkRule"} <= set(kinds)


@pytest.mark.parametrize(
    ("claim", "fix"),
    [
        pytest.param(CLAIM.replace("sql", "sqll"), f"did you mean {CLAIM!r}?", id="a-slip"),
        pytest.param("x", "use one of: ", id="something-else"),
    ],
)
def test_a_claim_that_is_not_there(claim: str, fix: str) -> None:
    with pytest.raises(LoadError) as caught:
        list(rendered(PROJECT, "dev", claim))
    [problem] = caught.value.problems
    assert claim in problem.what
    assert problem.fix.startswith(fix)
