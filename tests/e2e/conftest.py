"""One control plane for each test process, one project for each test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from lightkube import Client
from lightkube.config.kubeconfig import KubeConfig
from lightkube.generic_resource import create_global_resource

from claimsmith import lab, toolchain
from claimsmith.kubernetes.crds import permissive_crd
from claimsmith.lab import postgresql
from tests.e2e.creating_provider import CREATES, MERGES, creating_provider
from tests.e2e.databases import DatabaseRig
from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import UNHURRIED, Rig
from tests.support.paths import ROOT


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Status]:
    toolchain.require(*toolchain.NAMES)
    with lab.running(tmp_path_factory.mktemp("control-plane")) as status:
        yield with_subnet(status)


def with_subnet(status: lab.Status) -> lab.Status:
    """Put in what the documents' examples take as given: the subnet that databases are reached from."""
    subnet = yaml.safe_load((ROOT / "stacks" / "dev" / "resources" / "network.yaml").read_text(encoding="utf-8"))
    crd = permissive_crd(subnet["apiVersion"], subnet["kind"], namespaced=False, managed=True)
    lab.install_crds(status.kubeconfig, [crd])
    client = Client(config=KubeConfig.from_file(status.kubeconfig).get(), trust_env=False, timeout=UNHURRIED)
    client.create(
        create_global_resource("network.azure.crossplane.io", "v1alpha3", "Subnet", "subnets").from_dict(subnet)
    )
    client.close()
    return status


@pytest.fixture
def kubeconfig(control_plane: lab.Status, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The way to the cluster: for tests with the mark `both_ways` once through the stand-in for a newer provider."""
    direct = nullcontext(Path(control_plane.kubeconfig))
    way = getattr(request, "param", MERGES)
    with {MERGES: direct, CREATES: creating_provider(Path(control_plane.kubeconfig), tmp_path)}[way] as path:
        yield path


@pytest.fixture
def new_rig(
    control_plane: lab.Status, kubeconfig: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Rig]]:
    """Makes projects whose names, and so whose objects in the shared cluster, are this test's own."""
    rigs: list[Rig] = []

    def make() -> Rig:
        digest = hashlib.sha256(f"{request.node.nodeid}{len(rigs)}".encode()).hexdigest()[:8]
        rig = Rig(tmp_path / f"project-{len(rigs)}", kubeconfig, f"p{digest}", Path(control_plane.kubeconfig))
        rigs.append(rig)
        return rig

    yield make
    for rig in rigs:
        for stack in sorted(p.name.split(".")[1] for p in (rig.root / "stacks").glob("Pulumi.*.yaml")):
            rig.pulumi("destroy", "--stack", stack, "--yes", "--skip-preview")
        rig.close()


@pytest.fixture
def rig(new_rig: Callable[..., Rig]) -> Rig:
    return new_rig()


@pytest.fixture
def deployed(rig: Rig) -> tuple[Rig, str]:
    """The private MySQL server, up, in a namespace of its own."""
    namespace = rig.name
    rig.namespace(namespace)
    rig.write("components/private-mysql-server/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    return rig, namespace


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgresql.Server]:
    """One server for each test process; no control plane, no kubeconfig."""
    toolchain.require(*toolchain.USES["postgresql"])
    with postgresql.running(tmp_path_factory.mktemp("postgresql")) as server:
        yield server


@pytest.fixture
def database_rig(
    postgresql_server: postgresql.Server, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[DatabaseRig]:
    """A project whose names, and so whose databases on the shared server, are this test's own."""
    digest = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]
    rig = DatabaseRig(tmp_path / "project", tmp_path / "no-kubeconfig", f"p{digest}", server=postgresql_server)
    rig.settings["KUBECONFIG"] = str(tmp_path / "no-kubeconfig")
    yield rig
    rig.drop()
