"""Stacks as objects of the Pulumi Kubernetes Operator."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from claimsmith.base.errors import LoadError
from claimsmith.cli.app import app
from claimsmith.tools.fleet.operator import OperatorSource, stack_objects
from tests.support.fleet_files import committed, fleet

REPOSITORY = "https://git.example.org/platform.git"


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["-C", str(root), "operator", "--repository", REPOSITORY, *words])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project in a folder of its repository."""
    fleet(tmp_path / "infra", ("net", "shop_eu"), after={"shop_eu": ["net"]})
    committed(tmp_path)
    return tmp_path / "infra"


def test_each_stack_names_what_it_needs(root: Path) -> None:
    words = (
        "--namespace",
        "ops",
        "--service-account",
        "deployer",
        "--env-secret",
        "PULUMI_CONFIG_PASSPHRASE=state/key",
    )
    ran = run(root, "--all", "--backend", "s3://state", *words)
    assert ran.exit_code == 0, ran.output
    net, shop = yaml.safe_load_all(ran.stdout)
    assert net == {
        "apiVersion": "pulumi.com/v1",
        "kind": "Stack",
        "metadata": {"name": "shop-net", "namespace": "ops"},
        "spec": {
            "stack": "organization/shop/net",
            "backend": "s3://state",
            "projectRepo": REPOSITORY,
            "branch": "main",
            "repoDir": "infra",
            "serviceAccountName": "deployer",
            "envRefs": {
                "PULUMI_CONFIG_PASSPHRASE": {"type": "Secret", "secret": {"name": "state", "key": "key"}},
            },
        },
    }
    assert (shop["metadata"]["name"], shop["spec"]["stack"]) == ("shop-shop-eu", "organization/shop/shop_eu")
    assert shop["spec"]["prerequisites"] == [{"name": "shop-net"}]
    assert "prerequisites" not in yaml.safe_load(run(root, "shop_eu", "--backend", "s3://state").stdout)["spec"]


def test_the_backend_is_that_of_the_project(root: Path) -> None:
    (root / "Pulumi.yaml").write_text("name: shop\nruntime: python\nbackend: {url: 'https://api.example.org'}\n")
    ran = run(root, "net", "--organization", "acme", "--branch", "live")
    spec = yaml.safe_load(ran.stdout)["spec"]
    assert [spec[key] for key in ("stack", "backend", "branch")] == ["acme/shop/net", "https://api.example.org", "live"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        pytest.param(["--all"], "Pulumi.yaml names no backend", id="no-backend"),
        pytest.param(
            ["--all", "--backend", "https://api.example.org"], "add --organization NAME", id="no-organization"
        ),
        pytest.param(["--all", "--backend", "file:///mnt/state"], "--backend s3://BUCKET", id="a-folder"),
        pytest.param(["--all", "--backend", "file://~"], "the backend 'file://~' is on this machine", id="a-home"),
        pytest.param([], "no stack is named", id="no-stack"),
        pytest.param(["--all", "--backend", "s3://s", "--env-secret", "A=b"], "VARIABLE=SECRET/KEY", id="no-key"),
    ],
)
def test_refused(root: Path, words: list[str], what: str) -> None:
    ran = run(root, *words)
    assert ran.exit_code != 0
    assert ran.stdout == ""
    assert what in ran.stderr


def test_a_name_that_services_and_pods_can_have(tmp_path: Path) -> None:
    """The operator names a Service and a StatefulSet after each object: neither may have dots."""
    made = fleet(tmp_path, ("eu.shop_1", "a" * 37))
    objects = stack_objects(made, {"eu.shop_1": (), "a" * 37: ()}, OperatorSource(REPOSITORY, "main", "s3://state"))
    assert [o["metadata"]["name"] for o in objects] == ["shop-eu-shop-1", "shop-" + "a" * 37]
    assert objects[0]["spec"]["stack"] == "organization/shop/eu.shop_1"


def test_a_backend_on_this_machine_is_refused(root: Path) -> None:
    (root / "Pulumi.yaml").write_text("name: shop\nbackend: {url: 'file://./state'}\n")
    assert "is on this machine" in run(root, "--all").stderr


@pytest.mark.parametrize(
    ("stacks", "what"),
    [
        pytest.param(("a_b", "a-b"), "would be one object: 'shop-a-b'", id="the-same-name"),
        pytest.param(("a_b", "a.b"), "would be one object: 'shop-a-b'", id="the-same-name-by-a-dot"),
        pytest.param(("a.",), "cannot be the name of an object", id="no-name"),
        pytest.param(("a" * 38,), "42 of them at most", id="too-long-for-the-operators-pods"),
    ],
)
def test_refused_names(tmp_path: Path, stacks: tuple[str, ...], what: str) -> None:
    made = fleet(tmp_path, stacks)
    with pytest.raises(LoadError, match=what):
        stack_objects(made, dict.fromkeys(stacks, ()), OperatorSource(REPOSITORY, "main", "s3://state"))
