"""Rows of docs/internals/features.md that no module's own tests prove: several steps together, from files to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import render
from claimsmith.base.errors import BindingError, CatalogError, ComposeError, EngineError
from claimsmith.base.labels import OWNER
from claimsmith.base.names import GroupKind
from claimsmith.compose.cluster_records import records_of
from claimsmith.compose.plan import PlannedClaim
from claimsmith.deploy import static
from claimsmith.deploy.members import Members, find_members
from claimsmith.kubernetes.client import Cluster
from claimsmith.kubernetes.crds import permissive_crd
from claimsmith.platform import binding, bindings_file, selection
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from tests.support.platform_documents import (
    API,
    CONFIG,
    DETAIL,
    GROUP,
    MEMORYSTORE,
    REDIS_API,
    SERVER,
    Data,
    composition,
    definition,
    instance,
    named,
    plan_of,
    project,
    published,
    redis,
    redis_class,
    requirement,
)
from tests.support.samples import class_data, class_ref, patch, write_files


def refused(kind: type[EngineError], root: Path, platform: list[Data], claims: list[Data], **more: Any) -> str:
    """The text of the refusal, every problem of which names a way out."""
    with pytest.raises(kind) as caught:
        plan_of(root, platform, claims, **more)
    assert all(p.fix for p in caught.value.problems)
    return str(caught.value)


def made(claim: PlannedClaim) -> dict[str, Data]:
    return {c.template.name: render.plain(c.document) for c in claim.children}


def held(name: str, kind: str = "CloudMemorystoreInstance", api_version: str = MEMORYSTORE) -> Data:
    return {"resourceRef": {"apiVersion": api_version, "kind": kind, "name": name}}


# 000: classes of one kind, static resources


def test_a_nonsensical_resource_ref_provisions_nothing_and_the_rest_goes_on(tmp_path: Path) -> None:
    wrong = redis("wrong", **held("db", "CloudSQLInstance", "database.gcp.crossplane.io/v1beta1"))
    plan = plan_of(tmp_path, [redis_class("only")], [wrong, redis("right", classSelector={})])
    assert [c.binding.claim.key.name for c in plan.claims] == ["right"]
    [unbound] = plan.unbound
    assert (unbound.mistake, unbound.problem.path) == (True, "spec.resourceRef")
    assert "CloudMemorystoreInstance.cache.gcp.crossplane.io" in unbound.problem.fix


def test_two_claims_for_one_resource_are_refused(tmp_path: Path) -> None:
    claims = [redis("one", **held("old")), redis("two", **held("old"))]
    assert "both claim" in refused(ComposeError, tmp_path, [redis_class("only")], claims)


class Live(Cluster):
    """A cluster that holds one object, whatever it is asked for."""

    def __init__(self, found: Data | None) -> None:
        super().__init__("")
        self.found = found

    def read(self, *_: Any, **__: Any) -> Data | None:
        return self.found


def live(spec: Data, **annotations: str) -> Data:
    return {"metadata": {"name": "old", "annotations": annotations}, "spec": spec}


HOLDER = {"apiVersion": REDIS_API, "kind": "RedisCluster", "namespace": "team", "name": "cache"}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(None, "which does not exist", id="missing"),
        pytest.param(live({"claimRef": {**HOLDER, "name": "other"}}), "RedisCluster team/other holds", id="of-a-claim"),
        pytest.param(live({"claimRef": {**HOLDER, "uid": "x"}}), "of another stack holds", id="of-another-stack"),
        pytest.param(live({"compositeRef": {"name": "c"}}), "is part of a composite", id="of-a-composite"),
        pytest.param(live({"aggregateRef": {"name": "a"}}), "is part of a composite", id="of-an-aggregate"),
        pytest.param(live({}, **{OWNER: "shop/dev/uid"}), "was created for another claim", id="made-for-a-claim"),
    ],
)
def test_what_is_not_free_is_not_claimed(tmp_path: Path, found: Data | None, words: str) -> None:
    plan = plan_of(tmp_path, [redis_class("only")], [redis(**held("old"))])
    with pytest.raises(BindingError) as caught:
        static.refuse_held(plan, Live(found))
    [problem] = caught.value.problems
    assert words in problem.what
    assert (problem.path, bool(problem.fix)) == ("spec.resourceRef", True)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(live({}), id="free"),
        pytest.param(live({"claimRef": HOLDER}), id="held-by-this-claim"),
        pytest.param(live({}, **{OWNER: "shop/dev/given"}), id="given"),
    ],
)
def test_what_is_free_is_claimed(tmp_path: Path, found: Data) -> None:
    plan = plan_of(tmp_path, [redis_class("only")], [redis(**held("old"))])
    static.refuse_held(plan, Live(found))
    [claim] = plan.claims
    assert (claim.children, claim.binding.reason) == ((), "resourceRef")


def test_where_claim_and_class_differ_the_class_stands_with_a_warning(tmp_path: Path) -> None:
    klass = redis_class("old", {"redisVersion": "REDIS_3_2"})
    plan = plan_of(tmp_path, [klass], [redis(engineVersion="4.0", classSelector={})])
    assert made(plan.claims[0])["cloud-memorystore-instance"]["spec"]["forProvider"]["redisVersion"] == "REDIS_3_2"
    [warning] = [w for w in plan.warnings if w.path == "spec.engineVersion"]
    assert "has no effect" in warning.what
    assert warning.fix


def test_environments_are_told_apart_by_label(tmp_path: Path) -> None:
    """Environments share the platform's classes, and so their default: claims of each select by its label."""
    classes = [redis_class(e, labels={"environment": e}) for e in ("dev", "prod")]
    claims = [redis(e, classSelector={"matchLabels": {"environment": e}}) for e in ("dev", "prod")]
    plan = plan_of(tmp_path, classes, claims)
    assert {c.binding.claim.key.name: c.binding.klass.name for c in plan.claims} == {"dev": "dev", "prod": "prod"}


def test_given_resources_have_their_scope(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "credentials"}}
    subnet = {"apiVersion": "network.azure.crossplane.io/v1alpha3", "kind": "Subnet", "metadata": {"name": "private"}}
    plan = plan_of(tmp_path, [], [], [secret, subnet])
    assert [r.document["metadata"].get("namespace") for r in plan.resources] == ["default", None]
    assert [r.options.retain for r in plan.resources] == [False, True]


def test_a_given_managed_resource_in_a_namespace_is_refused(tmp_path: Path) -> None:
    subnet = {
        "apiVersion": "network.azure.crossplane.io/v1alpha3",
        "kind": "Subnet",
        "metadata": {"name": "private", "namespace": "team"},
    }
    assert "at cluster scope" in refused(CatalogError, tmp_path, [], [], resources=[subnet])


def test_a_given_resource_carries_the_reference_of_its_claim(tmp_path: Path) -> None:
    given = {"apiVersion": MEMORYSTORE, "kind": "CloudMemorystoreInstance", "metadata": {"name": "old"}, "spec": {}}
    plan = plan_of(tmp_path, [redis_class("only")], [redis(**held("old"))], [given])
    assert plan.resources[0].document["spec"]["claimRef"]["name"] == "cache"


# 001: classes of one and several resources


def test_all_dialects_are_one_list_of_candidates(tmp_path: Path) -> None:
    ours = class_data("ours", labels={"tier": "x"})
    ours["spec"]["claim"] = {"apiVersion": REDIS_API, "kind": "RedisCluster"}
    aggregate = {
        "apiVersion": "aggregation.crossplane.io/v1alpha1",
        "kind": "AggregateResourceClass",
        "metadata": {"name": "together", "labels": {"tier": "x"}},
        "aggregationRule": {"classSelector": {"matchLabels": {"tier": "x"}}},
    }
    found = project(tmp_path, [ours, aggregate, redis_class("plain", labels={"tier": "x"})], [redis(classSelector={})])
    [claim] = found.catalog("dev").claims.values()
    choice = selection.choose(claim, found.catalog("dev"))
    assert isinstance(choice, selection.Choice)
    assert sorted(key.group_kind.kind for key in choice.candidates) == [
        "AggregateResourceClass",
        "CloudMemorystoreInstanceClass",
        "CompositeResourceClass",
    ]


def bad_template(name: str) -> Data:
    text = "apiVersion: azure.crossplane.io/v1alpha3\nkind: ResourceGroup\nspec:\n  location: {{ .spec.nowhere }}\n"
    source = {"type": "inline", "inline": text}
    return class_data(name, {"template": {"engine": "go-sprig", "source": source}})


def database(name: str, klass: str) -> Data:
    return {
        "apiVersion": "database.example.org/v1alpha1",
        "kind": "Database",
        "metadata": {"namespace": "default", "name": name},
        "spec": {"classRef": class_ref(klass)},
    }


def test_a_bad_template_fails_its_claim_only(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [bad_template("bad"), class_data("good")], [database("a", "bad"), database("b", "good")])
    assert [c.binding.claim.key.name for c in plan.claims] == ["b"]
    [unbound] = plan.unbound
    assert (unbound.claim.key.name, unbound.mistake) == ("a", True)
    assert "nowhere" in unbound.problem.what


def test_a_retained_resource_says_so_in_each_word(tmp_path: Path) -> None:
    bases = [{"base": {**GROUP, "spec": {"reclaimPolicy": p}}} for p in ("Delete", "Retain", "Release")]
    plan = plan_of(tmp_path, [class_data("x", *bases)], [database("a", "x")])
    assert [c.options.retain for c in plan.claims[0].children] == [False, True, True]


@pytest.mark.parametrize(
    ("composite", "kind", "word"),
    [
        pytest.param("CompositeResourceClass", "CompositeResource", "resources", id="composite"),
        pytest.param("AggregateResourceClass", "AggregateResource", "aggregatedResources", id="aggregate"),
    ],
)
def test_records_of_a_claim_and_its_composite(tmp_path: Path, composite: str, kind: str, word: str) -> None:
    ours = class_data("ours")
    ours["spec"]["claim"] = {"apiVersion": REDIS_API, "kind": "RedisCluster"}
    aggregate = {
        "apiVersion": "aggregation.crossplane.io/v1alpha1",
        "kind": "AggregateResourceClass",
        "metadata": {"name": "ours"},
        "aggregationRule": {"classSelector": {"matchLabels": {"tier": "x"}}},
        "specTemplate": {"writeConnectionSecretsToNamespace": "crossplane-system"},
    }
    group = ours["apiVersion"] if composite == "CompositeResourceClass" else aggregate["apiVersion"]
    wish = redis(classRef={"apiVersion": group, "kind": composite, "name": "ours"})
    plan = plan_of(tmp_path, [ours, aggregate, redis_class("plain", labels={"tier": "x"})], [wish])
    [claim] = plan.claims
    reference = {"apiVersion": "a/v1", "kind": "Thing", "name": "thing"}
    records = dict(records_of(claim.identity, wish, [reference], claim.connections))
    assert records["composite"]["kind"] == kind
    assert records["composite"]["status"] == {word: [{**reference, "bindingPhase": "Bound"}], "bindingPhase": "Bound"}
    assert records["composite"]["spec"]["claimRef"] == {**HOLDER}
    assert records["composite"]["metadata"]["annotations"]["rediscluster.cache.crossplane.io/v1alpha1"] == "bindable"
    assert records["claim"]["spec"]["resourceRef"]["name"] == records["composite"]["metadata"]["name"]
    assert records["claim"]["status"]["bindingPhase"] == "Bound"


# 002: definitions, compositions, publications


@pytest.mark.parametrize(
    ("word", "wish", "want"),
    [
        pytest.param({"forceComposition": named("b")}, {"compositionRef": {"name": "a"}}, "b", id="force-over-all"),
        pytest.param(
            {"defaultComposition": named("b")},
            {"compositionRef": {"name": "a"}, "compositionSelector": {"matchLabels": {"tier": "b"}}},
            "a",
            id="reference-over-selector",
        ),
        pytest.param({}, {"compositionRef": [{"name": "a"}]}, "a", id="a-list-of-one"),
        pytest.param(
            {"defaultComposition": named("a")},
            {"compositionSelector": {"matchLabels": {"tier": "b"}}},
            "b",
            id="selector-over-default",
        ),
        pytest.param({"defaultComposition": named("b")}, {}, "b", id="default-where-both-are-omitted"),
        pytest.param(
            {"defaultComposition": named("b")},
            {"compositionSelector": {"matchLabels": {"tier": "none"}}},
            None,
            id="selector-of-nothing-leaves-it-uncomposed",
        ),
        pytest.param({}, {"compositionRef": {"name": "other"}}, None, id="of-another-kind"),
        pytest.param({}, {}, None, id="nothing-chosen"),
    ],
)
def test_choice_of_a_composition(tmp_path: Path, word: Data, wish: Data, want: str | None) -> None:
    platform = [
        definition("Place", **word),
        definition("Town"),
        composition("a", "Place", {"base": GROUP}, tier="a"),
        composition("b", "Place", {"base": GROUP}, tier="b"),
        composition("other", "Town", {"base": GROUP}),
    ]
    plan = plan_of(tmp_path, platform, [instance("Place", infrastructure=wish)])
    assert [c.binding.klass.name for c in plan.claims] == ([want] if want else [])
    assert len(plan.unbound) == (0 if want else 1)


def test_a_composition_of_its_own_names_and_paths(tmp_path: Path) -> None:
    patches = [
        {"fromFieldPath": "metadata.labels[example.org/team]", "toFieldPath": "metadata.labels[example.org/team]"},
        {
            "fromFieldPath": "spec.size",
            "toFieldPath": "spec.tags.size",
            "transforms": [{"math": {"multiply": 2}}, {"string": {"fmt": "%d GB"}}],
        },
    ]
    platform = [definition("Place"), composition("a", "Place", {"base": GROUP, "patches": patches})]
    wish = instance("Place", size=4, infrastructure={"compositionRef": {"name": "a"}})
    wish["metadata"]["labels"] = {"example.org/team": "blue"}
    [claim] = plan_of(tmp_path, platform, [wish]).claims
    group = made(claim)["resource-group"]
    assert group["metadata"]["name"].startswith("one-")
    assert group["metadata"]["labels"] == {"example.org/team": "blue", "crossplane.io/composite": "one"}
    assert group["spec"]["tags"]["size"] == "8 GB"


def test_a_bound_composition_is_immutable(tmp_path: Path) -> None:
    platform = [definition("Place"), composition("a", "Place", {"base": GROUP})]
    wish = instance("Place", infrastructure={"compositionRef": {"name": "a"}})
    found = project(tmp_path, platform, [wish])
    records = binding.to_records(found.expand("dev")[1].bindings(), [])
    changed = [definition("Place"), composition("a", "Place", {"base": {**GROUP, "spec": {"location": "East US"}}})]
    found = project(tmp_path, changed, [wish])
    found.bindings_path("dev").write_text(bindings_file.write(records, stack="dev"))
    with pytest.raises(BindingError) as caught:
        found.plan("dev")
    assert "has changed since" in str(caught.value)
    assert "claimsmith accept a;" in str(caught.value)


@pytest.mark.parametrize(
    ("word", "base", "words"),
    [
        pytest.param("Application", GROUP, "lives at cluster scope", id="an-application-at-cluster-scope"),
        pytest.param("Infrastructure", CONFIG, "lives in namespaces", id="infrastructure-in-a-namespace"),
        pytest.param(
            "Infrastructure",
            {"apiVersion": "who.example.org/v1", "kind": "Knows"},
            "it is not known whether",
            id="a-scope-that-nobody-knows",
        ),
    ],
)
def test_children_are_where_their_parent_needs_them(tmp_path: Path, word: str, base: Data, words: str) -> None:
    platform = [definition("Place", word=word), composition("a", "Place", {"base": base})]
    namespace = "team" if word == "Application" else ""
    chosen: Data = {word.lower(): {"compositionRef": {"name": "a"}}}
    wish = instance("Place", namespace=namespace, **chosen)
    assert words in refused(ComposeError, tmp_path, platform, [wish])


def test_an_application_composes_in_its_namespace(tmp_path: Path) -> None:
    base = {**CONFIG, "metadata": {"namespace": "elsewhere"}}
    platform = [definition("Place", word="Application"), composition("a", "Place", {"base": base})]
    wish = instance("Place", namespace="team", application={"compositionRef": {"name": "a"}})
    plan = plan_of(tmp_path, platform, [wish])
    assert plan.claims[0].children[0].document["metadata"]["namespace"] == "team"


def test_the_scope_of_a_kind_is_told_by_its_crd(tmp_path: Path) -> None:
    crd = permissive_crd("who.example.org/v1", "Knows", namespaced=False, managed=False)
    base = {"apiVersion": "who.example.org/v1", "kind": "Knows"}
    platform = [crd, definition("Place"), composition("a", "Place", {"base": base})]
    plan = plan_of(tmp_path, platform, [instance("Place", infrastructure={"compositionRef": {"name": "a"}})])
    assert [c.template.kind for c in plan.claims[0].children] == ["Knows"]


SECRET = {"writeConnectionSecretToRef": {"namespace": "crossplane-system", "name": "one"}}


@pytest.mark.parametrize(
    ("to", "words"),
    [
        pytest.param([{"base": SERVER}], "delivers no connection detail 'password'", id="missing"),
        pytest.param(
            [{"base": SERVER, "connectionDetails": [DETAIL, {"name": "password", "fromConnectionSecretKey": "x"}]}],
            "'password' 2 times",
            id="twice",
        ),
        pytest.param(
            [{"base": SERVER, "connectionDetails": [DETAIL, {"fromConnectionSecretKey": "port"}]}],
            "which Place.acme.example.org does not promise",
            id="not-promised",
        ),
    ],
)
def test_promises_that_a_composition_breaks(tmp_path: Path, to: list[Data], words: str) -> None:
    platform = [definition("Place", connectionDetails=["password"]), composition("a", "Place", *to)]
    assert words in refused(CatalogError, tmp_path, platform, [])


def test_a_requirement_becomes_a_composite_and_what_it_is_composed_of(tmp_path: Path) -> None:
    wish = requirement(compositionSelector={"matchLabels": {"tier": "b"}})
    [claim] = plan_of(tmp_path, published(), [wish]).claims
    [composite] = claim.nested
    injected = composite.binding.claim.data["spec"]["infrastructure"]
    assert injected["requirementRef"]["name"] == "one"
    assert injected["compositionSelector"] == {"matchLabels": {"tier": "b"}}
    assert composite.connection is not None
    assert claim.connection is not None
    [source] = claim.connection.sources
    assert (source.namespace, source.name) == (composite.connection.namespace, composite.connection.name)
    assert (source.keys, source.prefix) == (None, "")
    assert (claim.connection.namespace, claim.connection.name) == ("team", "mine")


def test_only_declared_details_reach_the_secret(tmp_path: Path) -> None:
    [claim] = plan_of(tmp_path, published(), [requirement(compositionRef={"name": "a"})]).claims
    [composite] = claim.nested
    assert composite.connection is not None
    [source] = composite.connection.sources
    assert source.taken({"password": "p", "port": "1"}) == {"password": "p"}


def test_an_update_of_a_requirement_reaches_what_is_composed(tmp_path: Path) -> None:
    sizes = []
    for size in (7, 9):
        [claim] = plan_of(tmp_path, published(), [requirement(size, compositionRef={"name": "a"})]).claims
        sizes.append(made(claim.nested[0])["my-sql-server"]["spec"]["forProvider"]["storageMB"])
    assert sizes == [7, 9]


def test_one_resource_is_required_once(tmp_path: Path) -> None:
    reference = {"apiVersion": "acme.example.org/v1alpha1", "kind": "Place", "name": "old"}
    first, second = requirement(resourceRef=reference), requirement(resourceRef=reference)
    second["metadata"]["name"] = "two"
    second["spec"]["infrastructure"]["writeConnectionSecretToRef"]["name"] = "other"
    assert "both claim" in refused(ComposeError, tmp_path, published(), [first, second])


def test_siblings_are_found_by_their_controller(tmp_path: Path) -> None:
    [claim] = plan_of(tmp_path, published(), [requirement(compositionRef={"name": "a"})]).claims
    children = made(claim.nested[0])
    group = children["resource-group"]["metadata"]["name"]
    assert children["my-sql-server"]["spec"]["forProvider"]["resourceGroupNameRef"] == {"name": group}


def test_a_composite_of_composites_and_its_secret(tmp_path: Path) -> None:
    inner = {
        "apiVersion": "acme.example.org/v1alpha1",
        "kind": "Place",
        "spec": {"infrastructure": {"compositionRef": {"name": "a"}, **SECRET}},
    }
    platform = [
        *published(),
        definition("Town", connectionDetails=["token"]),
        composition(
            "town",
            "Town",
            {"base": inner, "connectionDetails": [{"name": "token", "fromConnectionSecretKey": "password"}]},
        ),
    ]
    wish = instance(
        "Town",
        infrastructure={
            "compositionRef": {"name": "town"},
            "writeConnectionSecretToRef": {"namespace": "crossplane-system", "name": "town"},
        },
    )
    [town] = plan_of(tmp_path, platform, [wish]).claims
    [place] = town.nested
    assert [c.template.kind for c in place.children] == ["ResourceGroup", "MySQLServer"]
    assert town.connection is not None
    [source] = town.connection.sources
    assert (source.kind, source.keys) == ("Place", (("token", "password"),))


def test_a_circle_of_compositions_is_named(tmp_path: Path) -> None:
    def of(kind: str, other: str) -> Data:
        base = {
            "apiVersion": "acme.example.org/v1alpha1",
            "kind": other,
            "spec": {"infrastructure": {"compositionRef": {"name": other.lower()}}},
        }
        return composition(kind.lower(), kind, {"base": base})

    platform = [definition("Place"), definition("Town"), of("Place", "Town"), of("Town", "Place")]
    wish = instance("Place", infrastructure={"compositionRef": {"name": "place"}})
    text = refused(ComposeError, tmp_path, platform, [wish])
    assert "Place.acme.example.org → Town.acme.example.org → Place.acme.example.org" in text


def test_one_kind_in_two_groups_is_two_kinds(tmp_path: Path) -> None:
    platform = [
        definition("Place"),
        definition("Place", group="other.example.org"),
        composition("a", "Place", {"base": GROUP}),
        composition("b", "Place", {"base": SERVER | {"spec": {}}}, group="other.example.org"),
    ]
    claims = [
        instance("Place", infrastructure={"compositionRef": {"name": "a"}}),
        instance("Place", group="other.example.org", infrastructure={"compositionRef": {"name": "b"}}),
    ]
    plan = plan_of(tmp_path, platform, claims)
    assert [[c.template.kind for c in claim.children] for claim in plan.claims] == [["ResourceGroup"], ["MySQLServer"]]


def test_external_names_go_by_patch_from_a_composite(tmp_path: Path) -> None:
    key = "crossplane.io/external-name"
    path = f"metadata.annotations[{key}]"
    wish = requirement(compositionRef={"name": "a"})
    wish["metadata"]["annotations"] = {key: "mine"}
    by_patch = published()
    by_patch[2]["spec"]["to"][0]["patches"] = [{"fromFieldPath": path, "toFieldPath": path}]
    [claim] = plan_of(tmp_path, by_patch, [wish]).claims
    [composite] = claim.nested
    assert composite.identity.external_name == "mine"
    children = made(composite)
    assert children["resource-group"]["metadata"]["annotations"] == {key: "mine"}
    assert "annotations" not in children["my-sql-server"]["metadata"]


def test_an_instance_s_policy_rules_all_that_it_composes(tmp_path: Path) -> None:
    platform = [definition("Place"), composition("a", "Place", {"base": GROUP})]
    wish = instance("Place", infrastructure={"compositionRef": {"name": "a"}, "reclaimPolicy": "Retain"})
    [claim] = plan_of(tmp_path, platform, [wish]).claims
    assert [c.options.retain for c in claim.children] == [True]


def test_records_of_instances_and_requirements(tmp_path: Path) -> None:
    wish = requirement(compositionRef={"name": "a"})
    [claim] = plan_of(tmp_path, published(), [wish]).claims
    [composite] = claim.nested
    reference = {"apiVersion": "a/v1", "kind": "Thing", "name": "thing"}
    [(_, required)] = records_of(claim.identity, wish, [reference], claim.connections)
    assert required["spec"]["infrastructure"]["resourceRef"] == reference
    [(_, made_)] = records_of(
        composite.identity, composite.binding.claim.data, [reference, reference], composite.connections
    )
    injected = made_["spec"]["infrastructure"]
    assert (injected["composedRefs"], injected["compositionRef"]) == ([reference, reference], {"name": "a"})
    assert injected["requirementRef"]["name"] == "one"


# 003: aggregates


def aggregate(*members: Data, **annotations: str) -> list[Data]:
    return [
        {
            "apiVersion": "aggregation.crossplane.io/v1alpha1",
            "kind": "AggregateResourceClass",
            "metadata": {"name": "together", "annotations": annotations},
            "aggregationRule": {"classSelector": {"matchLabels": {"to": "together"}}},
            "specTemplate": {"writeConnectionSecretsToNamespace": "crossplane-system", "reclaimPolicy": "Retain"},
        },
        *members,
    ]


def member(kind: str, api_version: str, spec: Data, name: str = "m", **annotations: str) -> Data:
    return {
        "apiVersion": api_version,
        "kind": f"{kind}Class",
        "metadata": {"name": name, "labels": {"to": "together"}, "annotations": annotations},
        "specTemplate": spec,
    }


def mysql(**annotations: str) -> Data:
    return {
        "apiVersion": "database.crossplane.io/v1alpha1",
        "kind": "MySQLInstance",
        "metadata": {"namespace": "team", "name": "sql", "annotations": annotations},
        "spec": {
            "classRef": {
                "apiVersion": "aggregation.crossplane.io/v1alpha1",
                "kind": "AggregateResourceClass",
                "name": "together",
            },
            "writeConnectionSecretToRef": {"name": "sql"},
        },
    }


def members(**annotations: str) -> list[Data]:
    azure = "database.azure.crossplane.io/v1beta1"
    spec = {"writeConnectionSecretsToNamespace": "crossplane-system", "reclaimPolicy": "Delete"}
    return aggregate(
        member("MySQLServer", azure, {"forProvider": {}, **spec}, **annotations),
        member("ResourceGroup", "azure.crossplane.io/v1alpha3", {"location": "West US", **spec}, **annotations),
    )


def test_members_of_an_aggregate(tmp_path: Path) -> None:
    [claim] = plan_of(tmp_path, members(), [mysql()]).claims
    children = made(claim)
    assert [c["spec"]["classRef"]["kind"] for c in children.values()] == ["ResourceGroupClass", "MySQLServerClass"]
    assert {c["spec"]["aggregateRef"]["name"] for c in children.values()} == {claim.identity.composite_name}
    assert not any("claimRef" in c["spec"] for c in children.values())
    assert [c.options.retain for c in claim.children] == [False, False]


def test_the_secret_of_an_aggregate_is_the_union_of_its_members(tmp_path: Path) -> None:
    prefix = {"aggregation.crossplane.io/connection-secret-prefix": "p-"}
    [claim] = plan_of(tmp_path, members(**prefix), [mysql()]).claims
    own, wanted = claim.connections
    assert (own.namespace, own.name) == ("crossplane-system", claim.identity.composite_name)
    assert (wanted.namespace, wanted.name) == ("team", "sql")
    assert own.sources == wanted.sources
    assert [s.taken({"k": "v"}) for s in own.sources] == [{"p-k": "v"}, {"p-k": "v"}]
    for child in made(claim).values():
        assert child["metadata"]["annotations"] == prefix


@pytest.mark.parametrize(
    ("claimed", "want"),
    [
        pytest.param({}, None, id="no-name-no-suffix"),
        pytest.param({"crossplane.io/external-name": "db"}, "a-db-z", id="joined"),
    ],
)
def test_external_names_of_members(tmp_path: Path, claimed: dict[str, str], want: str | None) -> None:
    ends = {"crossplane.io/external-name-prefix": "a-", "crossplane.io/external-name-suffix": "-z"}
    [claim] = plan_of(tmp_path, members(**ends), [mysql(**claimed)]).claims
    for child in made(claim).values():
        assert child["metadata"].get("annotations", {}).get("crossplane.io/external-name") == want
        assert not ends.keys() & child["metadata"].get("annotations", {}).keys()


def test_a_claim_and_a_member_do_not_write_one_secret(tmp_path: Path) -> None:
    wish = mysql()
    wish["metadata"]["namespace"] = "crossplane-system"
    [claim] = plan_of(tmp_path, members(), [wish]).claims
    wish["spec"]["writeConnectionSecretToRef"]["name"] = claim.children[0].name
    assert "would both write Secret" in refused(ComposeError, tmp_path, members(), [wish])


# 001 and 003: static composites


class Full(Cluster):
    """A cluster with these objects."""

    def __init__(self, *objects: Data) -> None:
        super().__init__("")
        self.objects = objects

    def read(self, _: str, kind: str, name: str, __: str | None = None) -> Data | None:
        found = [o for o in self.objects if (o["kind"], o["metadata"]["name"]) == (kind, name)]
        return found[0] if found else None

    def list(self, kind: GroupKind, _: Any = None) -> list[Data]:
        return [o for o in self.objects if GroupKind.of(o) == kind]


def whole(kind: str, selector: Data | None, name: str = "whole") -> Data:
    group = "aggregation" if kind == "AggregateResource" else "core"
    spec: Data = {} if selector is None else {"resourceSelector": selector}
    metadata = {"name": name, "annotations": {"mysqlinstance.database.crossplane.io/v1alpha1": "bindable"}}
    rule = {"aggregationRule": spec} if group == "aggregation" else spec
    return {"apiVersion": f"{group}.crossplane.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": rule}


def part(kind: str, name: str, annotations: Data | None = None, **spec: Any) -> Data:
    api = {"ResourceGroup": GROUP["apiVersion"], "MySQLServer": SERVER["apiVersion"]}.get(kind, "x.example.org/v1")
    metadata = {"name": name, "labels": {"of": "a"}, "annotations": annotations or {}}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


def wanting(composite: Data, name: str = "sql", *, secret: bool = False) -> Data:
    reference = {
        "apiVersion": composite["apiVersion"],
        "kind": composite["kind"],
        "name": composite["metadata"]["name"],
    }
    spec = {"resourceRef": reference, **({"writeConnectionSecretToRef": {"name": name}} if secret else {})}
    metadata = {"namespace": "team", "name": name}
    return {
        "apiVersion": "database.crossplane.io/v1alpha1",
        "kind": "MySQLInstance",
        "metadata": metadata,
        "spec": spec,
    }


BY_LABEL: Data = {"matchLabels": {"of": "a"}}
BOTH = [pytest.param(kind, id=kind) for kind in ("AggregateResource", "CompositeResource")]


def bound(root: Path, claims: list[Data], *objects: Data, given: Sequence[Data] = ()) -> Members:
    found = project(root, members(), claims, given)
    plan = found.plan("dev", unrecorded_ok=True)
    cluster = Full(*objects)
    static.refuse_held(plan, cluster)
    return find_members(plan, found.catalog("dev"), cluster)


def names(found: Members) -> list[list[str]]:
    return [[m.key.name for m in several] for several in found.of.values()]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param(BY_LABEL, ["group", "db"], id="labels"),
        pytest.param({}, ["group", "other", "db"], id="empty-selects-all"),
        pytest.param(
            {"matchExpressions": [{"key": "of", "operator": "NotIn", "values": ["b"]}]},
            ["group", "db"],
            id="expressions",
        ),
    ],
)
def test_members_of_a_static_composite(tmp_path: Path, kind: str, selector: Data, want: list[str]) -> None:
    other = part("ResourceGroup", "other")
    other["metadata"]["labels"] = {"of": "b"}
    it = whole(kind, selector)
    parts = [part("MySQLServer", "db"), part("ResourceGroup", "group"), part("Unrelated", "x"), other]
    assert names(bound(tmp_path, [wanting(it)], it, *parts)) == [want]
    assert names(bound(tmp_path, [wanting(it)], it, *parts[1:], given=parts[:1])) == [want]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("more", "holder"),
    [
        pytest.param({"claimRef": {"kind": "A", "namespace": "n", "name": "b"}}, "A n/b", id="of-a-claim"),
        pytest.param({"compositeRef": {"kind": "A", "name": "b"}}, "A b", id="of-a-composite"),
        pytest.param({"aggregateRef": {"kind": "A", "name": "b"}}, "A b", id="of-an-aggregate"),
        pytest.param({"annotations": {OWNER: "shop/dev/uid"}}, "what shop/dev/uid created", id="made-for-a-claim"),
    ],
)
def test_a_member_of_another_is_left_out_and_said(tmp_path: Path, kind: str, more: Data, holder: str) -> None:
    it = whole(kind, BY_LABEL)
    found = bound(tmp_path, [wanting(it)], it, part("MySQLServer", "db"), part("ResourceGroup", "group", **more))
    assert names(found) == [["db"]]
    [said] = found.warnings
    assert f"belongs to {holder}; it is left out" in said.what
    assert said.fix
    with pytest.raises(BindingError, match=f"belongs to {holder}"):
        bound(tmp_path, [wanting(it)], it, part("MySQLServer", "db", **more))


def test_a_member_belongs_to_the_first_that_matches(tmp_path: Path) -> None:
    first, second = whole("AggregateResource", BY_LABEL), whole("AggregateResource", {}, "second")
    own = part("MySQLServer", "own")
    own["metadata"]["labels"] = {}
    claims = [wanting(first, "a"), wanting(second, "b")]
    found = bound(tmp_path, claims, first, second, part("MySQLServer", "db"), own)
    assert names(found) == [["db"], ["own"]]
    [said] = found.warnings
    assert "belongs to AggregateResource.aggregation.crossplane.io/whole" in said.what
    # What is bound already stays where it is.
    held = part("MySQLServer", "db", aggregateRef={"kind": "AggregateResource", "name": "whole"})
    assert names(bound(tmp_path, claims, first, second, held, own)) == [["db"], ["own"]]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("selector", "parts", "words"),
    [
        pytest.param(BY_LABEL, [], "none of whose members can serve", id="no-member"),
        pytest.param(None, [part("MySQLServer", "db")], "it selects nothing", id="no-selector"),
        pytest.param(BY_LABEL, [part("ResourceGroup", "g")], "none of whose members can serve", id="none-direct"),
        pytest.param({"matchLabel": {}}, [], "cannot be read", id="unreadable"),
        pytest.param(BY_LABEL, [part("MySQLServer", "db")], "asks for a Secret, but no member", id="no-secret"),
        pytest.param(
            BY_LABEL,
            [part("MySQLServer", "db", writeConnectionSecretToRef={"name": "db"})],
            "has no place for its connection secret",
            id="half-a-secret",
        ),
    ],
)
def test_a_static_composite_that_cannot_serve_is_refused(
    tmp_path: Path, kind: str, selector: Data | None, parts: list[Data], words: str
) -> None:
    it = whole(kind, selector)
    with pytest.raises(EngineError) as caught:
        bound(tmp_path, [wanting(it, secret=True)], it, *parts)
    [problem] = caught.value.problems
    assert words in problem.what
    assert problem.where
    assert problem.fix


def test_a_composite_that_names_other_kinds_is_not_claimed(tmp_path: Path) -> None:
    it = whole("CompositeResource", BY_LABEL)
    several = {"mysqlinstance.database.crossplane.io/v1alpha1": "bindable", "other.example.org/v1": "bindable"}
    it["metadata"]["annotations"] = several
    assert names(bound(tmp_path, [wanting(it)], it, part("MySQLServer", "db"))) == [["db"]]
    it["metadata"]["annotations"] = {"other.example.org/v1": "bindable"}
    for objects, given in (([it], []), ([], [it])):
        with pytest.raises(BindingError, match="does not permit MySQLInstance"):
            bound(tmp_path, [wanting(it)], *objects, given=given)


# Pulumi


def test_a_template_that_was_renamed_keeps_its_name_for_the_engine(tmp_path: Path) -> None:
    klass = class_data(
        "x", {"name": "new", "previousName": "old", "base": GROUP, "patches": [patch("spec.a", "spec.a")]}
    )
    [claim] = plan_of(tmp_path, [klass], [database("a", "x")]).claims
    assert claim.children[0].template.previous_name == "old"
    assert claim.children[0].name == claim.identity.name_of("old"), "and its name in the cluster"


@pytest.mark.parametrize("where", ["claim", "class"])
def test_protection_is_asked_for_by_claim_or_class(tmp_path: Path, where: str) -> None:
    annotations: Data = {"annotations": {"claimsmith.io/protect": "true"}}
    wish = database("a", "x")
    wish["metadata"].update(annotations if where == "claim" else {})
    klass = class_data("x", **(annotations if where == "class" else {}))
    [claim] = plan_of(tmp_path, [klass], [wish]).claims
    assert [c.options.protect for c in claim.children] == [True]


def test_each_environment_has_its_own_default_class(tmp_path: Path) -> None:
    default = "resourceclass.crossplane.io/is-default-class"
    classes = [
        redis_class(name, annotations={default: "true", "claimsmith.io/stacks": stacks})
        for name, stacks in (("small", "dev, test"), ("large", "prod"))
    ]
    files = {f"stacks/{s}/claims/c.yaml": yaml.safe_dump(redis()) for s in ("dev", "test", "prod")}
    found = Project(write_files(tmp_path, {"components/x/class.yaml": yaml.safe_dump_all(classes), **files}))
    served = {s: found.plan(s, unrecorded_ok=True).claims[0].binding.klass.name for s in ("dev", "test", "prod")}
    assert served == {"dev": "small", "test": "small", "prod": "large"}


@pytest.mark.parametrize(
    "platform",
    [
        pytest.param(class_data("x", namespace="team"), id="composite-class"),
        pytest.param(
            {**class_data("x", namespace="team"), "kind": "ResourceClass"}
            | {"spec": {"claim": {"apiVersion": "a.b/v1", "kind": "C"}, "resource": {"base": GROUP}}},
            id="resource-class",
        ),
        pytest.param(
            {
                "apiVersion": API,
                "kind": "Composition",
                "metadata": {"name": "x", "namespace": "team"},
                "spec": {"from": {"apiVersion": "a.b/v1", "kind": "C"}, "to": [{"base": GROUP}]},
            },
            id="composition",
        ),
    ],
)
def test_a_class_in_a_namespace_is_refused(tmp_path: Path, platform: Data) -> None:
    assert "has no namespace" in refused(CatalogError, tmp_path, [platform], [])


def test_a_given_secret_and_a_claims_do_not_share_a_place(tmp_path: Path) -> None:
    claim = database("a", "x")
    claim["spec"]["writeConnectionSecretToRef"] = {"name": "sql"}
    namespace = claim["metadata"].get("namespace", "default")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "sql", "namespace": namespace}}
    keyed = class_data("x", {"base": {**GROUP, "spec": {"writeConnectionSecretToRef": {"namespace": "system"}}}})
    text = refused(ComposeError, tmp_path, [keyed], [claim], resources=[secret])
    assert "would both write Secret" in text


def test_a_released_claim_keeps_its_record_until_it_is_forgotten(tmp_path: Path) -> None:
    kept = class_data("x", {"base": {**GROUP, "spec": {"reclaimPolicy": "Retain"}}})
    found = project(tmp_path, [kept], [database("a", "x")])
    first = bind(found, "dev")
    assert [r.change for r in first.rows] == ["bound"]
    before = found.records("dev")[0]
    (tmp_path / "stacks" / "dev" / "claims" / "claims.yaml").write_text("")
    assert [r.change for r in bind(found, "dev").rows] == ["released"]
    [left] = found.plan("dev").released
    assert left.identity.uid == before.uid
    assert [r["kind"] for r in left.resources] == ["ResourceGroup"]
    assert [r.change for r in bind(found, "dev", forget=[str(before.claim)]).rows] == ["removed"]
    assert found.records("dev") == []
