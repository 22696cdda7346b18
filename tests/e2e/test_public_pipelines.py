"""Public compositions with functions: claim to connection Secret, a killed run, a changed claim, a removed claim.

All are claims of one stack: a run of thirteen claims takes little longer than a run of one.
"""

from __future__ import annotations

from collections import Counter

import pytest

from claimsmith.kubernetes.crds import merge_crds
from claimsmith.lab import install_crds
from tests.e2e.faults import Run, left_in
from tests.e2e.public_compositions import CASES, SHARED
from tests.e2e.rig import Rig, eventually

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the shared conformance data is not beside this repository"),
]
NETWORK = ("ec2.aws.m.upbound.io", "v1beta1", "VPC")


def prepare(rig: Rig) -> None:
    for namespace in (rig.name, "upbound-system"):
        rig.namespace(namespace)
    for case in CASES:
        rig.write(f"components/{case.name}/composition.yaml", case.platform())
        if found := case.resources(rig.name):
            rig.write(f"stacks/dev/resources/{case.name}.yaml", found)
    claim(rig)
    install_crds(rig.kubeconfig, merge_crds([crd for case in CASES for crd in case.crds()]))
    rig.prepare("dev")


def claim(rig: Rig, *, changed: bool = False) -> None:
    for case in CASES:
        rig.write(f"stacks/dev/claims/{case.name}.yaml", case.claim(rig.name, changed=changed))


def owned(rig: Rig) -> Counter[str]:
    """The kinds of the live objects that claims of this stack own."""
    kinds = {(*version.rpartition("/")[::2], kind) for case in CASES for version, kind in case.kinds()}
    head = f"{rig.name}/dev/"
    return Counter(
        kind[2]
        for kind in kinds
        for o in rig.live(kind)
        if (o["metadata"].get("annotations") or {}).get("claimsmith.io/owner", "").startswith(head)
    )


def test_public_compositions(rig: Rig) -> None:
    prepare(rig)
    # The template of `keys` asks only whether anything exists: after a part of a run it makes `<no value>` of the rest,
    # here as in a cluster. It is claimed after the kill.
    rig.remove("stacks/dev/claims/keys.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    run = Run(rig, "dev")
    eventually(lambda: rig.live(NETWORK) or run.process.poll() is not None)
    assert run.kill("engine"), run.text
    run.ended()
    rig.ok(rig.claimsmith("recover", "dev", "--yes"))

    claim(rig)
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    for _ in range(2):
        rig.ok(rig.up("dev"))
    assert rig.steps("dev") == {}, "nothing is left to do"
    for case in CASES:
        name, keys = case.secret
        if name:
            values = rig.secret_values(rig.name, name)
            assert values.keys() == keys, case.name
            assert all(values.values()), case.name
    password = rig.secret_values(rig.name, "myapp-aurora-mysql-connection")["password"]
    whole = owned(rig)
    assert whole["NopResource"] == 3
    assert whole["Subnet"] == 4 + 6 + 2 + 2

    claim(rig, changed=True)
    steps = rig.steps("dev")
    affected = {n for case in CASES for n in case.affected}
    children = {n: known for n in steps for known in affected if n.endswith(f"/{known}")}
    assert set(children.values()) == affected
    # A component is changed with its claim.
    assert all(n in children or any(child.startswith(f"{n}/") for child in children) for n in steps), steps
    rig.ok(rig.up("dev"))
    assert rig.settled("dev") == {}
    assert rig.secret_values(rig.name, "myapp-aurora-mysql-connection")["password"] == password
    assert owned(rig)["Subnet"] == whole["Subnet"] - 3

    for case in CASES:
        rig.remove(f"stacks/dev/claims/{case.name}.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    assert eventually(lambda: owned(rig) == Counter() or None), owned(rig)
    assert [c.name for c in CASES if c.secret[0] and rig.secret(rig.name, c.secret[0])] == []
    assert left_in(rig.root) == []
