"""Whether a stack needs a cluster, and what becomes of the Secrets that claims ask for where it has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.compose.clusters import kubernetes_children, needs_cluster
from claimsmith.compose.plan import Plan
from claimsmith.project.project import Project
from tests.support import no_cluster_files as files
from tests.support.samples import write_files

CLAIM, STACK = "stacks/dev/claims/orders.yaml", "stacks/Pulumi.dev.yaml"
KUBECONFIG = f'{files.CONFIG}  claimsmith:kubeconfig: "kubeconfig"\n'
SECRET_KUBECONFIG = f"{files.CONFIG}  claimsmith:kubeconfig: {{secure: v1:abc}}\n"
STORE = {"components/store/class.yaml": files.KUBERNETES, "stacks/dev/claims/store.yaml": files.STORE}
NAMESPACE = {"stacks/dev/resources/x.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"}


def plan(folder: Path, changes: dict[str, str]) -> Plan:
    return Project(write_files(folder, {**files.FILES, **changes})).plan("dev", unrecorded_ok=True)


@pytest.mark.parametrize(
    ("changes", "records", "want"),
    [
        pytest.param({}, False, False, id="native-resources-alone"),
        pytest.param({CLAIM: files.ASKING}, False, False, id="a-secret-is-asked-for"),
        pytest.param({CLAIM: files.ASKING, STACK: KUBECONFIG}, False, True, id="a-secret-and-a-kubeconfig"),
        pytest.param(
            {CLAIM: files.ASKING, STACK: SECRET_KUBECONFIG}, False, True, id="a-secret-and-a-secret-kubeconfig"
        ),
        pytest.param({STACK: KUBECONFIG}, False, False, id="a-kubeconfig-and-nothing-for-it"),
        pytest.param({}, True, True, id="records"),
        pytest.param(STORE, False, True, id="another-claim-has-objects"),
        pytest.param(NAMESPACE, False, True, id="a-provided-resource"),
    ],
)
def test_needs_cluster(tmp_path: Path, changes: dict[str, str], records: bool, want: bool) -> None:
    assert needs_cluster(plan(tmp_path, changes), records=records) is want


def test_an_empty_stack_needs_none() -> None:
    assert not needs_cluster(Plan("shop", "dev", ()), records=True)


@pytest.mark.parametrize(
    ("changes", "secrets", "warnings"),
    [
        pytest.param({CLAIM: files.ASKING}, [], 1, id="no-cluster"),
        pytest.param({CLAIM: files.ASKING, STACK: KUBECONFIG}, ["orders-db"], 0, id="a-cluster-by-the-config"),
        pytest.param({CLAIM: files.ASKING, **STORE}, ["orders-db"], 0, id="a-cluster-for-others"),
        pytest.param({}, [], 0, id="nothing-asked-for"),
    ],
)
def test_secrets_are_written_where_there_is_a_cluster(
    tmp_path: Path, changes: dict[str, str], secrets: list[str], warnings: int
) -> None:
    found = plan(tmp_path, changes)
    assert [s.name for c in found.walk() for s in c.connections] == secrets
    reported = [w for w in found.warnings if w.path == "spec.writeConnectionSecretToRef"]
    assert len(reported) == warnings
    assert all(w.fix and w.where and w.where.file == CLAIM for w in reported)


def test_kubernetes_children(tmp_path: Path) -> None:
    found = plan(tmp_path, STORE)
    assert [[c.template.name for c in kubernetes_children(claim)] for claim in found.claims] == [[], ["bucket"]]
