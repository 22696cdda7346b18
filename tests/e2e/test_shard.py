"""A deployed stack that is cut in two: nothing is replaced or deleted, and each part goes its own way."""

from __future__ import annotations

import pytest
import yaml

from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import RESOURCE_GROUP, RULE, SERVER, Rig

pytestmark = pytest.mark.e2e

SUBNET = ("network.azure.crossplane.io", "v1alpha3", "Subnet")


@pytest.fixture
def deployed(rig: Rig) -> Rig:
    """Claims in two namespaces that all refer to one given subnet."""
    klass = private_mysql("mysql")
    rule = klass["spec"]["resources"][2]["base"]["spec"]
    rule["properties"] = {"virtualNetworkSubnetIdSelector": {"matchLabels": {"net": rig.name}}}
    rig.write("components/mysql/class.yaml", klass)
    subnet = {
        "apiVersion": "network.azure.crossplane.io/v1alpha3",
        "kind": "Subnet",
        "metadata": {"name": f"{rig.name}-net", "labels": {"net": rig.name}},
        "spec": {"properties": {"addressPrefix": "10.3.0.0/24"}, "reclaimPolicy": "Delete"},
    }
    rig.write("stacks/dev/resources/network.yaml", subnet)
    for team in ("a", "b"):
        rig.namespace(f"{rig.name}-{team}")
    rig.write("stacks/dev/claims/all.yaml", [claim(f"{rig.name}-{t}", name=n, klass="mysql") for t, n in NAMES])
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    return rig


NAMES = [("a", "one"), ("a", "two"), ("b", "three")]


def live(rig: Rig) -> dict[str, tuple[str, str]]:
    """Uid and owner of all that the claims have, by kind and name."""
    found = [
        o for kind in (RESOURCE_GROUP, SERVER, RULE) for t in "ab" for o in rig.live(kind, namespace=f"{rig.name}-{t}")
    ]
    return {
        f"{o['kind']}/{o['metadata']['name']}": (
            o["metadata"]["uid"],
            o["metadata"]["annotations"]["claimsmith.io/owner"],
        )
        for o in found
    }


def secrets(rig: Rig) -> dict[str, dict[str, str]]:
    return {name: rig.secret_values(f"{rig.name}-{team}", name) for team, name in NAMES}


def test_a_stack_is_cut_in_two(deployed: Rig) -> None:
    rig = deployed
    a, b = f"dev-{rig.name}-a", f"dev-{rig.name}-b"
    before, kept = live(rig), secrets(rig)
    assert len(before) == 9
    shown = rig.ok(rig.claimsmith("shard", "dev", "--by", "namespace")).text
    assert "nothing was changed" in shown
    assert rig.steps("dev") == {}

    done = rig.ok(rig.claimsmith("shard", "dev", "--by", "namespace", "--yes")).text
    assert f"pulumi up --stack dev; pulumi up --stack {a}; pulumi up --stack {b}" in done
    assert rig.steps("dev") == {}
    for stack in ("dev", a, b):
        rig.ok(rig.up(stack))
        assert rig.steps(stack) == {}
    assert live(rig) == before
    assert secrets(rig) == kept

    changed = claim(f"{rig.name}-a", name="one", klass="mysql", storageGB=30)
    same = claim(f"{rig.name}-a", name="two", klass="mysql")
    rig.write(f"stacks/{a}/claims/all.yaml", [changed, same])
    steps = rig.steps(a)
    assert {n: s["op"] for n, s in steps.items()} == {
        f"{rig.name}-a/one": "update",
        f"{rig.name}-a/one/my-sql-server": "update",
    }
    rig.ok(rig.up(a))
    assert live(rig) == before

    new = claim(f"{rig.name}-b", name="four", klass="mysql")
    documents = list(yaml.safe_load_all((rig.root / f"stacks/{b}/claims/all.yaml").read_text()))
    rig.write(f"stacks/{b}/claims/all.yaml", [*documents, new])
    rig.ok(rig.claimsmith("bind", b))
    rig.ok(rig.up(b))
    fresh = {k: v for k, v in live(rig).items() if k not in before}
    assert len(fresh) == 3
    assert all(owner.startswith(f"{rig.name}/{b}/") for _, owner in fresh.values())
    assert "nothing to recover" in rig.ok(rig.claimsmith("recover", "dev")).text

    rig.ok(rig.destroy(b))
    assert live(rig).keys() == {k for k in before if f"/{rig.name}-a-" in k}
    assert len(rig.live(SUBNET)) >= 1
