"""The providers that native resources name: those of the stack's config, of the right package."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.compose.provider_names import unknown_providers, used_providers
from claimsmith.project.project import Project
from tests.support import no_cluster_files as files
from tests.support.samples import write_files

CLASS, CLAIM = "components/postgresql/class.yaml", "stacks/dev/claims/orders.yaml"
CHOOSING = {CLAIM: f"{files.CLAIM}  server: other\n"}
TWICE = {"stacks/dev/claims/second.yaml": files.CLAIM.replace("orders", "second")}


@pytest.mark.parametrize(
    ("changes", "packages"),
    [
        pytest.param({}, {"main": "postgresql"}, id="there"),
        pytest.param({}, {"main": "postgresql", "unused": "aws"}, id="with-an-unused-one"),
        pytest.param(CHOOSING, {"main": "postgresql", "other": "postgresql"}, id="chosen-by-the-claim"),
    ],
)
def test_known_providers(tmp_path: Path, changes: dict[str, str], packages: dict[str, str]) -> None:
    plan = Project(write_files(tmp_path, {**files.FILES, **changes})).plan("dev", unrecorded_ok=True)
    assert list(unknown_providers(plan, packages)) == []
    assert used_providers(plan) == set(packages) - {"unused"}


@pytest.mark.parametrize(
    ("changes", "packages", "want"),
    [
        pytest.param(
            {},
            {"mian": "postgresql"},
            [(CLASS, 17, "did you mean 'mian'?"), (CLASS, 24, "did you mean 'mian'?")],
            id="misspelt",
        ),
        pytest.param(
            TWICE,
            {"mian": "postgresql"},
            [(CLASS, 17, "did you mean 'mian'?"), (CLASS, 24, "did you mean 'mian'?")],
            id="once-for-all-claims",
        ),
        pytest.param(
            {},
            {},
            [(CLASS, line, "add it to claimsmith:providers in stacks/Pulumi.dev.yaml") for line in (17, 24)],
            id="none-at-all",
        ),
        pytest.param(
            {},
            {"main": "mysql", "pg": "postgresql"},
            [(CLASS, line, "use a provider of postgresql: pg") for line in (17, 24)],
            id="of-another-package",
        ),
        pytest.param(
            CHOOSING,
            {"main": "postgresql"},
            [(CLAIM, 6, "add it to claimsmith:providers in stacks/Pulumi.dev.yaml")],
            id="chosen-by-the-claim",
        ),
    ],
)
def test_unknown_providers(
    tmp_path: Path, changes: dict[str, str], packages: dict[str, str], want: list[tuple[str, int, str]]
) -> None:
    plan = Project(write_files(tmp_path, {**files.FILES, **changes})).plan("dev", unrecorded_ok=True)
    problems = list(unknown_providers(plan, packages))
    assert [(p.where.file, p.where.line, p.fix) for p in problems if p.where] == want
