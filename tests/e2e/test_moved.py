"""Templates that were renamed, retyped, split and joined, on the real engine: a rollout and its way back."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from lightkube.resources.core_v1 import ConfigMap

from claimsmith.kubernetes.crds import merge_crds, permissive_crd
from tests.e2e.databases import GROUP, KIND, DatabaseRig, database_class
from tests.e2e.rig import Ran, Rig

pytestmark = pytest.mark.e2e

MOVED = {"apiVersion": "claimsmith.io/v1alpha1", "kind": "Moved", "class": "v2", "from": "v1"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def klass(name: str, kind: dict[str, str], *resources: dict[str, Any]) -> dict[str, Any]:
    """A class; claims select the first of two by its label."""
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": name, "labels": {"current": str(name == "v1").lower()}},
        "spec": {"claim": kind, "resources": list(resources)},
    }


def of(base: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """Templates with the same base."""
    return [{"name": name, "base": base} for name in names]


def named(klass: dict[str, Any], **names: str) -> list[dict[str, Any]]:
    """The templates of a class, some of them under other names, which their siblings use too."""
    text = yaml.safe_dump(klass["spec"]["resources"])
    for old, new in names.items():
        text = text.replace(f"${{{old}.", f"${{{new}.")
    resources: list[dict[str, Any]] = yaml.safe_load(text)
    for resource in resources:
        resource["name"] = names.get(resource["name"], resource["name"])
        for detail in resource.get("connectionDetails", ()):
            if "fromResource" in detail:
                detail["fromResource"] = names.get(detail["fromResource"], detail["fromResource"])
    return resources


def rolled(rig: Rig, *words: str) -> dict[str, Any]:
    """Move all claims and deploy that; what the review reported of it before. A second run changes nothing."""
    rig.ok(rig.claimsmith("rollout", "v1", "--to", "v2", "--allow-destructive", *words))
    ran = rig.claimsmith("review", "--output", "json")
    assert ran.code == 11, ran.text
    rig.ok(rig.up("dev"))
    rig.ok(rig.up("dev", "--expect-no-changes"))
    committed(rig)
    found: dict[str, Any] = json.loads(ran.out)
    return found


def committed(rig: Rig) -> Ran:
    who = "-c user.name=t -c user.email=t@example.org -c commit.gpgsign=false"
    return rig.ok(rig.shell(f"git init --quiet . && git add --all . && git {who} commit --quiet --message state"))


def stays(review: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """By the template that an object has now: the one that it had, and its name."""
    [stack] = review["stacks"]
    [claim] = stack["claims"]
    return {s["part"]: (s["was"], s["name"]) for s in claim["stays"]}


def test_objects_of_moved_templates_stay(rig: Rig) -> None:
    """Seen as the cluster sees them: an object that stays has the same uid."""
    group, old, new = f"{rig.name}.example.org", "v1alpha1", "v1"
    bucket = {"apiVersion": f"{group}/{old}", "kind": "Bucket", "spec": {"size": 1}}
    rule = {"apiVersion": f"{group}/v1", "kind": "Rule", "spec": {"size": 1}}
    log = {**rule, "kind": "Log", "spec": {"reclaimPolicy": "Retain"}}
    versions = [permissive_crd(f"{group}/{v}", "Bucket", namespaced=False, managed=True) for v in (old, new)]
    others = [permissive_crd(f"{group}/v1", k, namespaced=False, managed=True) for k in ("Rule", "Log")]
    kind = {"apiVersion": f"{group}/v1", "kind": "Store"}
    pairs = (*of(rule, "ra", "rb"), *of(log, "la", "lb"))
    first = klass("v1", kind, *of(bucket, "bucket"), *of(CONFIG_MAP, "settings", "same"), *pairs)
    second = klass(
        "v2",
        kind,
        *of({**bucket, "apiVersion": f"{group}/{new}"}, "store"),
        *of(CONFIG_MAP, "reader", "writer", "same"),
        *of({**rule, "spec": {"size": 2}}, "rule"),
        *of(log, "log"),
    )
    moved = [
        {"renamed": {"from": "bucket", "to": "store"}},
        {"retyped": {"template": "store", "from": f"{group}/{old}"}},
        {"split": {"from": "settings", "into": ["reader", "writer"], "keeps": "writer"}},
        {"joined": {"from": ["ra", "rb"], "to": "rule", "keeps": "ra", "then": "delete"}},
        {"joined": {"from": ["la", "lb"], "to": "log", "keeps": "la", "then": "retain"}},
    ]
    rig.namespace(rig.name)
    rig.write("components/crds.yaml", [*merge_crds(versions), *others])
    rig.write("components/v1/class.yaml", first)
    rig.write("components/v2/class.yaml", second)
    rig.write("components/v2/moved.yaml", {**MOVED, "moved": moved})
    selector = {"classSelector": {"matchLabels": {"current": "true"}}}
    claim = {**kind, "metadata": {"name": "one", "namespace": rig.name}, "spec": selector}
    rig.write("stacks/dev/claims/one.yaml", claim)
    rig.write(".gitignore", ".claimsmith/\n")
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    committed(rig)

    def live() -> dict[str, str]:
        """The uid of each object, by its name."""
        objects = [o["metadata"] for k in ("Bucket", "Rule", "Log") for o in rig.live((group, "v1", k))]
        maps = rig.client.list(ConfigMap, namespace="default")
        own = [m.metadata for m in maps if m.metadata.name.startswith(f"{rig.name}-one")]
        return {m["name"]: m["uid"] for m in (*objects, *(m.to_dict() for m in own))}

    def state() -> dict[str, str]:
        """The name of each object, by its template."""
        found = ((r["urn"].rpartition("/")[2], r["outputs"]) for r in rig.state("dev") if r["type"].startswith("kuber"))
        return {template: outputs["metadata"]["name"] for template, outputs in found}

    before, names = live(), state()
    assert len(before) == len(names) == 7
    review = rolled(rig)
    there = stays(review)
    kept = {"store": "bucket", "writer": "settings", "same": "same", "rule": "ra", "log": "la"}
    assert there == {now: (was, names[was]) for now, was in kept.items()}
    assert state() == {now: names[was] for now, was in kept.items()} | {"reader": state()["reader"]}
    after = live()
    gone, reader = names["rb"], state()["reader"]
    assert after == {n: uid for n, uid in before.items() if n != gone} | {reader: after[reader]}
    assert rig.one((group, "v1", "Rule"))["spec"]["size"] == 2
    # The way back: the retained one is taken over again, and the deleted one is created anew.
    back = stays(rolled(rig, "--back"))
    assert back == {was: (now, names[was]) for now, was in kept.items()}
    assert state() == names
    again = live()
    assert {n: uid for n, uid in again.items() if n != gone} == {n: uid for n, uid in before.items() if n != gone}
    assert again[gone] != before[gone]


def test_native_resources_of_moved_templates_stay(database_rig: DatabaseRig) -> None:
    """A database keeps its oid, and passwords and random names what the state has of them."""
    rig = database_rig
    kind = {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND}
    plain = klass("plain", kind, *database_class()["spec"]["resources"])
    pet = {"type": "random:RandomPet"}
    first = klass("v1", kind, *named(plain), *of(pet, "pet", "a", "b"))
    renamed = {"password": "secret", "role": "owner", "database": "store"}
    second = klass("v2", kind, *named(plain, **renamed), *of(pet, "reader", "writer", "joined"))
    moved: list[dict[str, Any]] = [
        *({"renamed": {"from": old, "to": new}} for old, new in renamed.items()),
        {"split": {"from": "pet", "into": ["reader", "writer"], "keeps": "writer"}},
        {"joined": {"from": ["a", "b"], "to": "joined", "keeps": "a", "then": "delete"}},
    ]
    rig.write("components/v1/class.yaml", first)
    rig.write("components/v2/class.yaml", second)
    rig.write("components/v2/moved.yaml", {**MOVED, "moved": moved})
    name = rig.named()
    selector = {"classSelector": {"matchLabels": {"current": "true"}}}
    claim = {**kind, "metadata": {"name": name, "namespace": "default"}, "spec": selector}
    rig.write("stacks/dev/claims/one.yaml", claim)
    rig.write(".gitignore", ".claimsmith/\n")
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    committed(rig)

    def ids() -> dict[str, str]:
        """The id of each resource, by its template."""
        found = (r for r in rig.state("dev") if r["type"].startswith(("random:", "postgresql:")))
        return {r["urn"].rpartition("-")[2]: r["id"] for r in found}

    before = ids()
    there = (rig.oid(name), rig.role(name), rig.connection(name))
    kept = {"secret": "password", "owner": "role", "store": "database", "writer": "pet", "joined": "a"}
    review = stays(rolled(rig))
    assert {now: was for now, (was, _) in review.items()} == kept
    after = ids()
    assert {k: v for k, v in after.items() if k != "reader"} == {now: before[was] for now, was in kept.items()}
    assert (rig.oid(name), rig.role(name), rig.connection(name)) == there
    rolled(rig, "--back")
    again = ids()
    assert {k: v for k, v in again.items() if k != "b"} == {k: v for k, v in before.items() if k != "b"}
    assert set(again) == set(before)
    assert (rig.oid(name), rig.role(name), rig.connection(name)) == there
    assert rig.login(name, "select 1").out.strip() == "1"


@pytest.mark.parametrize("retained", [True, False], ids=["retained", "not-retained-and-lost"])
def test_what_no_alias_reaches_is_retained_and_imported(database_rig: DatabaseRig, retained: bool) -> None:
    """Two templates that are not declared as one: the first leaves its role, the second takes it over by its id."""
    rig = database_rig
    kind = {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND}
    role = {"type": "postgresql:Role", "properties": {"login": False}, "options": {"retainOnDelete": retained}}
    patches = [{"fromClaimFieldPath": "metadata.name", "toResourceFieldPath": "properties.name"}]
    for name, template in (("v1", "old"), ("v2", "new")):
        rig.write(
            f"components/{name}/class.yaml", klass(name, kind, {"name": template, "base": role, "patches": patches})
        )
    name = rig.named()
    metadata: dict[str, Any] = {"name": name, "namespace": "default"}
    claim = {**kind, "metadata": metadata, "spec": {"classSelector": {"matchLabels": {"current": "true"}}}}
    rig.write("stacks/dev/claims/one.yaml", claim)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    before = rig.role(name)
    refused = rig.claimsmith("rollout", "v1", "--to", "v2")
    assert refused.code == (0 if retained else 11)
    if not retained:
        rig.ok(rig.claimsmith("rollout", "v1", "--to", "v2", "--allow-destructive"))
    metadata["annotations"] = {"claimsmith.io/import": f"new={name}"}
    rig.write("stacks/dev/claims/one.yaml", claim)
    rig.ok(rig.up("dev"))
    assert rig.role(name) == (before if retained else "")
    if retained:
        rig.ok(rig.up("dev", "--expect-no-changes"))
    assert [r["urn"].rpartition("-")[2] for r in rig.state("dev") if r["type"].startswith("postgresql:")] == ["new"]
