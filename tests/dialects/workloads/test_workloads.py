"""Document 004 without an engine: what is read, who is scheduled where, who may publish what, what is made there."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from claimsmith.base.documents import read_documents
from claimsmith.base.errors import BindingError, CatalogError, ComposeError, EngineError, Problem
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.base.values import Ref
from claimsmith.compose import cluster_records, scheduling
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES
from claimsmith.dialects.workloads.reading import API_VERSION, AUTOMATIC
from claimsmith.platform import bindings_file
from claimsmith.platform.binding import Record
from claimsmith.platform.selection import WEIGHT
from claimsmith.render import render
from tests.e2e.workload_examples import (
    GKE,
    application,
    cluster_claim,
    config_map,
    development_class,
    gke_cluster,
    namespace_object,
    provider,
    secret,
    target,
)
from tests.support.workload_stack import Data, Stack

KUBERNETES = "kubernetes.crossplane.io/v1alpha1"
WEB = application("team", "web", "dev", config_map("settings"))
DEV = gke_cluster("dev")


def placed(stack: Stack, *before: Record, **options: Any) -> dict[str, str]:
    """Which application goes to which target."""
    return {p.application.key.place: p.target.target.key.place for p in stack.schedule(*before, **options).placements}


def refused(error: type[EngineError], *arguments: Any) -> Problem:
    with pytest.raises(error) as caught:
        Stack(*arguments).plan()
    [problem] = caught.value.problems
    assert problem.fix
    assert problem.where
    return problem


def changed(document: Data, path: str, value: Any) -> Data:
    """The document with a value at a path of keys and numbers."""
    result = copy.deepcopy(document)
    *steps, last = path.split(".")
    node: Any = result
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
    node[last] = value
    return result


# Scheduling


@pytest.mark.parametrize(
    ("app", "targets", "want"),
    [
        pytest.param(WEB, [target("team", "dev", "dev")], "team/dev", id="by-labels"),
        pytest.param(
            changed(WEB, "spec.targetRef", {"name": "b"}),
            [target("team", "dev", "dev"), target("team", "b", "dev")],
            "team/b",
            id="a-name-wins-over-labels",
        ),
        pytest.param(
            changed(changed(WEB, "spec.targetSelector", {}), "spec.targetRef", None),
            [target("team", "any", "dev")],
            "team/any",
            id="empty-selector-matches-all",
        ),
        pytest.param(
            {
                **WEB,
                "spec": {
                    **{k: v for k, v in WEB["spec"].items() if k != "targetSelector"},
                    "clusterSelector": {"matchLabels": {"env": "dev"}},
                },
            },
            [target("team", "dev", "dev")],
            "team/dev",
            id="older-name-of-the-selector",
        ),
        pytest.param(
            changed(WEB, "spec.targetSelector", {}),
            [changed(target("team", n, "dev"), "metadata.annotations", {WEIGHT: w}) for n, w in ("a1", "b2")],
            "team/b",
            id="the-heaviest",
        ),
        pytest.param(
            WEB,
            [
                {
                    **{k: v for k, v in target("team", "dev", "dev").items() if k != "clusterRef"},
                    "spec": {"clusterRef": target("", "", "dev")["clusterRef"]},
                }
            ],
            "team/dev",
            id="clusterRef-under-spec",
        ),
    ],
)
def test_scheduled(app: Data, targets: list[Data], want: str) -> None:
    assert placed(Stack([app], [DEV, *targets])) == {"team/web": want}


@pytest.mark.parametrize(
    ("app", "targets", "says", "fix"),
    [
        pytest.param(WEB, [], "no target in team matches env=dev", "published in team", id="none-at-all"),
        pytest.param(
            WEB, [target("team", "prod", "dev")], "no target in team", "use one of: prod (env=prod)", id="other-labels"
        ),
        pytest.param(
            WEB, [target("other", "dev", "dev")], "no target in team", "published in team", id="labels-elsewhere"
        ),
        pytest.param(
            changed(WEB, "spec.targetRef", {"name": "dev"}),
            [target("other", "dev", "dev")],
            "there is no target 'dev' in team",
            "that of other is not seen from here",
            id="name-elsewhere",
        ),
        pytest.param(
            changed(WEB, "spec.targetRef", {"name": "deb"}),
            [target("team", "dev", "dev")],
            "there is no target 'deb'",
            "did you mean 'dev'?",
            id="misspelt",
        ),
        pytest.param(
            changed(WEB, "spec.targetSelector", None),
            [target("team", "dev", "dev")],
            "names no target",
            "use one of: dev",
            id="nothing-said",
        ),
    ],
)
def test_unscheduled_is_said_and_the_rest_goes_on(app: Data, targets: list[Data], says: str, fix: str) -> None:
    other = application("third", "web", "ok", config_map("settings"))
    plan = Stack([app, other], [DEV, *targets, target("third", "ok", "dev")]).plan()
    assert [w.address.rpartition("/")[0].rpartition("/")[2] for w in plan.workloads] == ["third"]
    [problem] = plan.warnings
    assert says in problem.what
    assert fix in problem.fix
    assert problem.where.file == "claims.yaml"


def test_an_equal_choice_is_stable() -> None:
    targets = [target("team", n, "dev") for n in ("a", "b", "c", "d")]
    app = changed(WEB, "spec.targetSelector", {})
    found = {placed(Stack([app], [DEV, *order]))["team/web"] for order in (targets, targets[::-1])}
    assert len(found) == 1
    [placement] = Stack([app], [DEV, *targets]).schedule().placements
    assert placement.reason == "targetSelector anything; a stable choice among equals of 4"


# The record


def recorded(claims: list[Data], resources: list[Data]) -> list[Record]:
    return scheduling.to_records(Stack(claims, resources).schedule().placements, [])


def test_the_record_is_kept_in_the_bindings_file() -> None:
    [record] = recorded([WEB], [DEV, target("team", "dev", "dev")])
    assert record.klass == ClassKey.parse("WorkloadTarget.workload.crossplane.io/dev")
    [again] = bindings_file.read(bindings_file.write([record], stack="dev"), file="bindings.yaml")
    assert (again.claim, again.uid, again.klass, again.digest) == (
        record.claim,
        record.uid,
        record.klass,
        record.digest,
    )


def test_a_scheduled_application_stays() -> None:
    before = recorded([WEB], [DEV, target("team", "dev", "dev")])
    heavy = changed(
        target("team", "heavy", "dev"),
        "metadata",
        {"namespace": "team", "name": "heavy", "labels": {"env": "dev"}, "annotations": {WEIGHT: "9"}},
    )
    relabelled = changed(target("team", "dev", "dev"), "metadata.labels", {"env": "other"})
    both = Stack([WEB], [DEV, relabelled, heavy])
    assert placed(both, *before) == {"team/web": "team/dev"}
    key = frozenset({before[0].claim})
    assert placed(both, *before, rebind=key) == {"team/web": "team/heavy"}
    [moved] = scheduling.to_records(both.schedule(*before, rebind=key).placements, before)
    assert (moved.uid, moved.previous) == (before[0].uid, before[0].klass)


@pytest.mark.parametrize(
    ("app", "resources", "says"),
    [
        pytest.param(WEB, [DEV], "which is gone", id="target-gone"),
        pytest.param(
            WEB,
            [DEV, gke_cluster("new"), target("team", "dev", "new")],
            "leads to another cluster",
            id="leads-elsewhere",
        ),
        pytest.param(
            changed(WEB, "spec.targetRef", {"name": "b"}),
            [DEV, target("team", "dev", "dev"), target("team", "b", "dev")],
            "its targetRef now names 'b'",
            id="another-name",
        ),
    ],
)
def test_a_record_that_does_not_hold_is_an_error(app: Data, resources: list[Data], says: str) -> None:
    before = recorded([WEB], [DEV, target("team", "dev", "dev")])
    with pytest.raises(BindingError) as caught:
        Stack([app], resources).schedule(*before)
    [problem] = caught.value.problems
    assert says in problem.what
    assert "--rebind KubernetesApplication.workload.crossplane.io/team/web" in problem.fix


def test_what_is_not_recorded_is_said() -> None:
    placements = Stack([WEB], [DEV, target("team", "dev", "dev")]).schedule().placements
    [problem] = scheduling.unrecorded(placements, "dev")
    assert problem.fix == "run: claimsmith bind dev"


# The cluster behind a target


def reach(claims: list[Data], resources: list[Data], platform: list[Data] | None = None) -> Any:
    [placement] = Stack([*claims, WEB], resources, platform).schedule().placements
    return placement.target.cluster


def test_a_given_cluster() -> None:
    cluster = reach([], [DEV, target("team", "dev", "dev")])
    assert (cluster.identity, cluster.address) == ("GKECluster.compute.gcp.crossplane.io/dev",) * 2
    assert cluster.secret == ("crossplane-system", "dev")
    assert isinstance(cluster.credentials, Ref)


def test_a_cluster_that_is_there_already_tells_its_secret_later() -> None:
    cluster = reach([], [target("team", "dev", "elsewhere")])
    assert (cluster.address, cluster.secret, cluster.credentials) == ("", None, None)


def test_an_existing_cluster_by_its_provider() -> None:
    published = target("team", "dev", "onprem", kind="Provider", api=KUBERNETES)
    cluster = reach([], [provider("onprem", "infra", "creds", key="config"), published])
    assert (cluster.secret, cluster.secret_key) == (("infra", "creds"), "config")
    assert cluster.identity == "Provider.kubernetes.crossplane.io/onprem"
    assert cluster.credentials is None


def test_a_provider_waits_for_a_secret_that_the_stack_gives() -> None:
    published = target("team", "dev", "onprem", kind="Provider", api=KUBERNETES)
    cluster = reach([], [provider("onprem", "infra", "creds"), published, secret("infra", "creds")])
    assert cluster.credentials.resource == "Secret/infra/creds"


def test_a_claimed_cluster_gets_a_target_of_its_own_where_it_asks_for_it() -> None:
    asking = cluster_claim("team", "mine", labels={"env": "dev"}, annotations={AUTOMATIC: "true"})
    stack = Stack([asking, WEB])
    assert placed(stack) == {"team/web": "team/mine"}
    [published] = stack.schedule().targets
    assert published.cluster.claim == ClaimKey.parse("KubernetesCluster.compute.crossplane.io/team/mine")
    assert published.target.labels == {"env": "dev"}
    silent = cluster_claim("team", "mine", labels={"env": "dev"})
    assert placed(Stack([silent, WEB])) == {}


def claimed_name(claims: list[Data]) -> str:
    [draft] = Stack(claims).expansion.drafts
    return draft.children[0].name


def test_a_team_publishes_what_it_has_claimed() -> None:
    mine = cluster_claim("team", "mine")
    own = target("team", "dev", claimed_name([mine]))
    assert reach([mine, own], []).claim.namespace == "team"
    held = {
        **cluster_claim("team", "held"),
        "spec": {"resourceRef": {"apiVersion": GKE, "kind": "GKECluster", "name": "dev"}},
    }
    assert reach([held, target("team", "dev", "dev")], [DEV]).address == "GKECluster.compute.gcp.crossplane.io/dev"


def composite_class(*clusters: str) -> Data:
    spec = {"writeConnectionSecretToRef": {"namespace": "crossplane-system"}}
    base = {"apiVersion": GKE, "kind": "GKECluster", "spec": spec}
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": "several"},
        "spec": {
            "claim": {"apiVersion": "compute.crossplane.io/v1alpha1", "kind": "KubernetesCluster"},
            "resources": [{"name": name, "base": base} for name in clusters],
        },
    }


def composite_claim() -> Data:
    reference = {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "name": "several",
    }
    return {**cluster_claim("team", "mine"), "spec": {"classRef": reference}}


def composite_target(platform: list[Data]) -> Data:
    [draft] = Stack([composite_claim()], [], platform).expansion.drafts
    name = draft.identity.composite_name
    return target("team", "dev", name, kind="CompositeResource", api="core.crossplane.io/v1alpha1")


def test_a_composite_is_a_target_through_its_one_cluster() -> None:
    platform = [composite_class("only")]
    cluster = reach([composite_claim(), composite_target(platform)], [], platform)
    assert cluster.identity.startswith("GKECluster.compute.gcp.crossplane.io/team-mine-")


def aggregate_class() -> list[Data]:
    """A cluster and a node pool, made for one claim together."""
    labels = {"aggregate-to": "several"}
    pool = {
        "apiVersion": GKE,
        "kind": "GKENodePoolClass",
        "metadata": {"name": "pool", "labels": labels},
        "specTemplate": {"forProvider": {}},
    }
    aggregate = {
        "apiVersion": "aggregation.crossplane.io/v1alpha1",
        "kind": "AggregateResourceClass",
        "metadata": {"name": "several"},
        "aggregationRule": {"classSelector": {"matchLabels": labels}},
        "specTemplate": {"writeConnectionSecretsToNamespace": "crossplane-system"},
    }
    return [changed(development_class(), "metadata.labels", labels), pool, aggregate]


def test_an_aggregate_is_a_target_through_its_one_cluster() -> None:
    api, platform = "aggregation.crossplane.io/v1alpha1", aggregate_class()
    reference = {"apiVersion": api, "kind": "AggregateResourceClass", "name": "several"}
    asking = {**cluster_claim("team", "mine"), "spec": {"classRef": reference}}
    [draft] = Stack([asking], [], platform).expansion.drafts
    assert len(draft.children) == 2
    through = target("team", "dev", draft.identity.composite_name, kind="AggregateResource", api=api)
    cluster = reach([asking, through], [], platform)
    assert cluster.identity.startswith("GKECluster.compute.gcp.crossplane.io/team-mine-")
    assert cluster.secret == ("crossplane-system", cluster.key.name)


def cluster_kind(*, published: bool = False) -> list[Data]:
    """A defined kind that is made of one cluster, and its publication where teams may require it."""
    api = "apiextensions.crossplane.io/v1alpha1"
    names = {"kind": "Cluster", "listKind": "ClusterList", "plural": "clusters", "singular": "cluster"}
    validation = {"openAPIV3Schema": {"type": "object", "properties": {}}}
    template = {"group": "acme.example.org", "version": "v1alpha1", "names": names, "validation": validation}
    metadata = {"name": "clusters.acme.example.org"}
    default = {"apiVersion": api, "kind": "Composition", "name": "on-gke"}
    spec = {"writeConnectionSecretToRef": {"namespace": "crossplane-system"}}
    made = {
        "from": {"apiVersion": "acme.example.org/v1alpha1", "kind": "Cluster"},
        "to": [{"base": {"apiVersion": GKE, "kind": "GKECluster", "spec": spec}}],
    }
    publication = {"infrastructureDefinitionReference": metadata}
    return [
        {
            "apiVersion": api,
            "kind": "InfrastructureDefinition",
            "metadata": metadata,
            "spec": {"crdSpecTemplate": template, "defaultComposition": default},
        },
        {"apiVersion": api, "kind": "Composition", "metadata": {"name": "on-gke"}, "spec": made},
        *(
            [{"apiVersion": api, "kind": "InfrastructurePublication", "metadata": metadata, "spec": publication}]
            * published
        ),
    ]


def test_an_instance_of_a_defined_kind_is_a_target_through_its_one_cluster() -> None:
    api = "acme.example.org/v1alpha1"
    instance = {"apiVersion": api, "kind": "Cluster", "metadata": {"name": "shared"}, "spec": {}}
    through = target("team", "dev", "shared", kind="Cluster", api=api)
    cluster = reach([instance], [through], cluster_kind())
    assert cluster.identity.startswith("GKECluster.compute.gcp.crossplane.io/shared-")
    assert "let the platform publish it" in refused(BindingError, [instance, through], [], cluster_kind()).fix


def test_a_required_cluster_is_a_target_of_its_own_namespace() -> None:
    api, platform = "acme.example.org/v1alpha1", cluster_kind(published=True)
    place = {"namespace": "team", "name": "mine"}
    required = {"apiVersion": api, "kind": "ClusterRequirement", "metadata": place, "spec": {}}
    through = target("team", "dev", "mine", kind="ClusterRequirement", api=api)
    assert reach([required, through], [], platform).claim.namespace == "team"
    elsewhere = changed(required, "metadata.namespace", "other")
    assert "none in this stack" in refused(BindingError, [elsewhere, through], [], platform).fix


def test_one_cluster_has_one_identity_whoever_points_to_it() -> None:
    platform = [composite_class("only")]
    through = composite_target(platform)
    direct = target("team", "b", reach([composite_claim(), through], [], platform).key.name)
    found = Stack([composite_claim(), through, direct], [], platform).schedule().targets
    assert len({t.cluster.identity for t in found}) == 1


@pytest.mark.parametrize("members", [pytest.param((), id="none"), pytest.param(("a", "b"), id="several")])
def test_a_composite_without_one_cluster_is_refused(members: tuple[str, ...]) -> None:
    bucket = {"name": "bucket", "base": {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "spec": {}}}
    klass = composite_class(*members)
    klass["spec"]["resources"].append(bucket)
    problem = refused(BindingError, [composite_claim(), composite_target([klass])], [], [klass])
    assert "does not stand for one cluster" in problem.what


# What is refused

OTHERS = cluster_claim("other", "mine")


@pytest.mark.parametrize(
    ("claims", "resources", "path", "fix"),
    [
        pytest.param(
            [target("team", "dev", "dev")], [DEV], "clusterRef", "let the platform publish it", id="given-cluster"
        ),
        pytest.param(
            [target("team", "dev", "elsewhere")], [], "clusterRef", "let the platform publish it", id="existing-cluster"
        ),
        pytest.param(
            [target("team", "x", "onprem", kind="Provider", api=KUBERNETES)],
            [provider("onprem", "infra", "creds")],
            "clusterRef",
            "let the platform publish it",
            id="provider",
        ),
        pytest.param(
            [OTHERS, target("team", "dev", claimed_name([OTHERS]))],
            [],
            "clusterRef",
            "claim a cluster in team",
            id="cluster-of-another-namespace",
        ),
    ],
)
def test_a_team_publishes_nothing_else(claims: list[Data], resources: list[Data], path: str, fix: str) -> None:
    named = [
        changed(c, "clusterRef.name", claimed_name([claims[0]]))
        if c.get("clusterRef", {}).get("name", "").endswith("NAME")
        else c
        for c in claims
    ]
    problem = refused(BindingError, named, resources)
    assert problem.path == path
    assert fix in problem.fix


@pytest.mark.parametrize(
    ("reference", "says", "fix"),
    [
        pytest.param(("v1", "Secret", "x"), "which is no cluster", "name one of: EKSCluster", id="no-cluster"),
        pytest.param(
            ("storage.gcp.crossplane.io/v1alpha3", "Bucket", "x"), "which is no cluster", "GKECluster", id="other-kind"
        ),
        pytest.param(
            ("gcp.crossplane.io/v1alpha3", "Provider", "x"), "is no cluster", "Provider.kubernetes", id="cloud-provider"
        ),
        pytest.param(
            ("wrong.gcp.crossplane.io/v1", "GKECluster", "x"),
            "which is no cluster",
            "did you mean GKECluster.compute",
            id="other-group",
        ),
        pytest.param(
            ("compute.crossplane.io/v1alpha1", "KubernetesCluster", "mine"),
            "which is no cluster but a claim",
            "'kind': 'GKECluster', 'name': 'team-mine-",
            id="a-claim",
        ),
        pytest.param(
            ("core.crossplane.io/v1alpha1", "CompositeResource", "x"),
            "there is no",
            "none in this stack",
            id="no-such-composite",
        ),
    ],
)
def test_a_target_points_to_clusters_only(reference: tuple[str, str, str], says: str, fix: str) -> None:
    api, kind, name = reference
    wrong = target("team", "dev", name, kind=kind, api=api)
    problem = refused(BindingError, [cluster_claim("team", "mine")], [wrong])
    assert says in problem.what
    assert fix in problem.fix
    assert problem.path == "clusterRef"


def test_a_cluster_that_writes_no_secret_is_no_target() -> None:
    silent = {**DEV, "spec": {"forProvider": {}}}
    assert "writes no connection Secret" in refused(BindingError, [], [silent, target("team", "dev", "dev")]).what


@pytest.mark.parametrize(
    ("claims", "resources", "path"),
    [
        pytest.param(
            [changed(WEB, "spec.targetRef", {"name": "dev", "namespace": "other"})], [], "spec.targetRef", id="target"
        ),
        pytest.param(
            [changed(WEB, "spec.targetRef", {"name": "other/dev"})], [], "spec.targetRef.name", id="target-by-path"
        ),
        pytest.param(
            [changed(WEB, "spec.resourceTemplates.0.spec.secrets", [{"name": "sql", "namespace": "other"}])],
            [],
            "spec.resourceTemplates[0].spec.secrets[0]",
            id="secret",
        ),
        pytest.param(
            [changed(WEB, "spec.resourceTemplates.0.spec.secrets", [{"name": "other/sql"}])],
            [],
            "spec.resourceTemplates[0].spec.secrets[0].name",
            id="secret-by-path",
        ),
        pytest.param(
            [changed(WEB, "spec.resourceTemplates.0.metadata.namespace", "other")],
            [],
            "spec.resourceTemplates[0].metadata.namespace",
            id="resource",
        ),
        pytest.param(
            [],
            [changed(target("team", "dev", "dev"), "clusterRef.namespace", "other")],
            "clusterRef.namespace",
            id="cluster",
        ),
        pytest.param([provider("mine", "other", "creds")], [], "kind", id="provider-of-a-team"),
        pytest.param(
            [],
            [changed(provider("mine", "other", "creds"), "metadata.namespace", "team")],
            "metadata.namespace",
            id="provider-in-a-namespace",
        ),
    ],
)
def test_nothing_crosses_namespaces(claims: list[Data], resources: list[Data], path: str) -> None:
    problem = refused(CatalogError, claims, resources)
    assert problem.path == path


@pytest.mark.parametrize(
    ("document", "path"),
    [
        pytest.param({**target("team", "a", "dev"), "clusterRef": None}, "clusterRef", id="target-without-cluster"),
        pytest.param(
            {**target("team", "a", "dev"), "spec": {"clusterRef": target("", "", "b")["clusterRef"]}},
            "clusterRef",
            id="target-with-two",
        ),
        pytest.param(changed(WEB, "spec.resourceTemplates", []), "spec.resourceTemplates", id="no-templates"),
        pytest.param(changed(WEB, "spec.clusterSelector", {}), "spec", id="both-names-of-the-selector"),
        pytest.param(
            changed(WEB, "spec.resourceTemplates.0.spec.template", {"apiVersion": "v1", "kind": "ConfigMap"}),
            "spec.resourceTemplates[0].spec.template.metadata.name",
            id="template-without-name",
        ),
        pytest.param(
            changed(WEB, "spec.resourceTemplates.0.spec.template.kind", None),
            "spec.resourceTemplates[0].spec.template.kind",
            id="template-without-kind",
        ),
        pytest.param(
            changed(
                WEB,
                "spec.resourceTemplates.0.spec.template",
                {"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"name": "x"}, "items": []},
            ),
            "spec.resourceTemplates[0].spec.template",
            id="template-of-a-list",
        ),
        pytest.param(
            changed(WEB, "spec.resourceTemplates", WEB["spec"]["resourceTemplates"] * 2),
            "spec.resourceTemplates[1].spec.template",
            id="two-templates-of-one-name",
        ),
        pytest.param(changed(WEB, "spec.tragetRef", {"name": "x"}), "spec.tragetRef", id="misspelt-field"),
    ],
)
def test_unsound_documents(document: Data, path: str) -> None:
    assert refused(CatalogError, [], [document]).path == path


@pytest.mark.parametrize(
    ("claims", "resources"),
    [
        pytest.param([], [target("team", "dev", "dev"), target("team", "dev", "b")], id="two-targets"),
        pytest.param([target("team", "dev", "b")], [target("team", "dev", "dev")], id="target-of-team-and-platform"),
        pytest.param([WEB, WEB], [], id="two-applications"),
        pytest.param([], [provider("p", "a", "b"), provider("p", "c", "d")], id="two-providers"),
    ],
)
def test_each_name_once(claims: list[Data], resources: list[Data]) -> None:
    assert "occurs twice" in refused(CatalogError, claims, resources).what


def test_an_automatic_target_and_a_written_one_of_its_name() -> None:
    asking = cluster_claim("team", "dev", annotations={AUTOMATIC: "true"})
    assert "occurs twice" in refused(BindingError, [asking], [DEV, target("team", "dev", "dev")]).what


def test_only_a_claim_for_a_cluster_has_a_target() -> None:
    bucket = {"base": {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "spec": {}}}
    klass = composite_class()
    klass["spec"]["resources"] = [bucket]
    asking = changed(composite_claim(), "metadata.annotations", {AUTOMATIC: "true"})
    assert "has 0 clusters" in refused(BindingError, [asking], [], [klass]).what


# What is made in the target cluster

PUBLISHED = [DEV, target("team", "dev", "dev")]


def test_objects_go_where_they_are_written_else_to_the_applications_namespace() -> None:
    app = application("team", "web", "dev", namespace_object("there"), config_map("a", "there"))
    app["spec"]["resourceTemplates"] += application("", "more", "", config_map("b"))["spec"]["resourceTemplates"]
    [planned] = Stack([app], PUBLISHED).plan().workloads
    where = {r.name: r.document["metadata"].get("namespace") for r in planned.resources}
    assert where == {"web-namespace": None, "web-configmap": "there", "more-configmap": "team"}
    needs = {r.name: r.needs for r in planned.resources}
    assert needs == {"web-namespace": (), "web-configmap": ("web-namespace",), "more-configmap": ()}


def test_a_definition_comes_before_its_kind_and_tells_its_scope() -> None:
    names = {"kind": "Gadget", "plural": "gadgets"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.org"},
        "spec": {"group": "example.org", "names": names, "scope": "Cluster", "versions": []},
    }
    gadget = {"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    [planned] = Stack([application("team", "web", "dev", gadget, crd)], PUBLISHED).plan().workloads
    assert planned.resources[0].needs == ("web-customresourcedefinition",)
    assert "namespace" not in planned.resources[0].document["metadata"]


def test_secrets_go_along() -> None:
    app = application("team", "web", "dev", config_map("settings", "there"), secrets=("sql", "mine", "there-already"))
    sql = changed(cluster_claim("team", "c"), "spec.writeConnectionSecretToRef", {"name": "sql"})
    [planned] = Stack([app, sql], [*PUBLISHED, secret("team", "mine", a="b")]).plan().workloads
    assert [(s.namespace, str(s.source), s.made_by) for s in planned.secrets] == [
        ("there", "Secret/team/sql", "KubernetesCluster.compute.crossplane.io/team/c"),
        ("there", "Secret/team/mine", "Secret/team/mine"),
        ("there", "Secret/team/there-already", ""),
    ]
    assert [r.resource for r in planned.needs] == [
        "GKECluster.compute.gcp.crossplane.io/dev",
        "KubernetesCluster.compute.crossplane.io/team/c",
        "Secret/team/mine",
    ]


def test_two_applications_share_the_copy_of_a_secret() -> None:
    apps = [application("team", n, "dev", config_map(n), secrets=("sql",)) for n in ("a", "b")]
    first, second = Stack(apps, PUBLISHED).plan().workloads
    assert first.secrets == second.secrets


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        pytest.param(
            [WEB, changed(WEB, "metadata.name", "web2")],
            "would be one KubernetesApplicationResource",
            id="resource-names",
        ),
        pytest.param(
            [WEB, application("team", "b", "dev", config_map("settings", "team"))],
            "would both write ConfigMap",
            id="objects",
        ),
        pytest.param(
            [application("team", "web", "dev", secret("team", "sql"), config_map("a"), secrets=("sql",))],
            "would both write Secret",
            id="a-copy-and-a-template",
        ),
        pytest.param(
            [application(n, n, "dev", config_map(n, "there"), secrets=("sql",)) for n in ("team", "other")],
            "the copy of Secret/team/sql would both write Secret/there/sql",
            id="copies-of-two-namespaces",
        ),
    ],
)
def test_nothing_is_written_twice(claims: list[Data], says: str) -> None:
    with pytest.raises(ComposeError) as caught:
        Stack(claims, [*PUBLISHED, target("other", "dev", "dev")]).plan()
    assert any(says in p.what for p in caught.value.problems)


@pytest.mark.parametrize(
    ("template", "path"),
    [
        pytest.param({"apiVersion": "x.org/v1", "kind": "Odd", "metadata": {"name": "o"}}, "metadata", id="unknown"),
        pytest.param(
            {**namespace_object("n"), "metadata": {"name": "n", "namespace": "x"}}, "metadata.namespace", id="cluster"
        ),
    ],
)
def test_scope_is_known_not_guessed(template: Data, path: str) -> None:
    problem = refused(ComposeError, [application("team", "web", "dev", template)], PUBLISHED)
    assert problem.path == f"spec.resourceTemplates[0].spec.template.{path}"


def test_a_resource_that_is_authored_alone_is_an_application_of_one() -> None:
    alone = {
        "apiVersion": "workload.crossplane.io/v1alpha1",
        "kind": "KubernetesApplicationResource",
        "metadata": {"namespace": "team", "name": "alone"},
        "spec": {"targetRef": {"name": "dev"}, "template": config_map("settings")},
    }
    [planned] = Stack([alone], PUBLISHED).plan().workloads
    assert planned.address == "KubernetesApplicationResource.workload.crossplane.io/team/alone"
    assert [r.name for r in planned.resources] == ["alone"]


def test_a_selector_that_misses_its_own_resources_is_said() -> None:
    app = changed(WEB, "spec.resourceSelector", {"matchLabels": {"app": "other"}})
    [problem] = Stack([app], PUBLISHED).catalog.warnings
    assert "does not match the labels of 'web-configmap'" in problem.what


def test_rendered_and_recorded() -> None:
    plan = Stack([application("team", "web", "dev", config_map("settings", a="1"), secrets=("sql",))], PUBLISHED).plan()
    shown = render(plan)
    assert "scheduled to WorkloadTarget.workload.crossplane.io/dev (targetSelector env=dev)" in shown
    assert (
        "# in GKECluster.compute.gcp.crossplane.io/dev, with the credentials in Secret crossplane-system/dev" in shown
    )
    assert "# with a copy of Secret/team/sql in team" in shown
    [document] = list(read_documents(shown, file="plan.yaml"))
    assert document.data["kind"] == "KubernetesApplicationResource"
    assert document.data["spec"]["targetRef"] == {"name": "dev"}
    assert "crossplane-system" not in str(document.data), "the credentials' place stands in the status alone"

    record = cluster_records.target_record(plan.targets[0], "shop/dev/target")
    assert record["spec"]["clusterRef"] == {"apiVersion": GKE, "kind": "GKECluster", "name": "dev"}


def test_no_value_of_a_secret_is_rendered_or_recorded() -> None:
    plan = Stack([application("team", "web", "dev", secret("team", "mine", key="hidden-value"))], PUBLISHED).plan()
    identity = Identity(
        "shop", "dev", API_VERSION, "KubernetesApplication", "team", "web", "u", None, {}, RESOURCE_CLASSES
    )
    written = cluster_records.workload_records(identity, plan.workloads[0], ("crossplane-system", "dev"))
    value = secret("", "", key="hidden-value")["data"]["key"]
    assert value not in render(plan) + str(written)
    assert [word for word, _ in written] == ["record", "record/web-secret"]
    for _, document in written:
        assert document["status"]["credentialsSecretRef"] == {"namespace": "crossplane-system", "name": "dev"}
        assert "'key': '<secret>'" in str(document["spec"])


# Composed (002.14)


def definition(kind: str = "ApplicationDefinition") -> Data:
    names = {"kind": "Wordpress", "listKind": "WordpressList", "plural": "wordpresses", "singular": "wordpress"}
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    validation = {"openAPIV3Schema": schema}
    template = {"group": "apps.example.org", "version": "v1alpha1", "names": names, "validation": validation}
    composition = {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "Composition", "name": "remote"}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "wordpresses.apps.example.org"},
        "spec": {"crdSpecTemplate": template, "defaultComposition": composition},
    }


def composition() -> Data:
    base = {k: WEB[k] for k in ("apiVersion", "kind", "spec")}
    to = "spec.resourceTemplates[0].spec.template.data.title"
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "Composition",
        "metadata": {"name": "remote"},
        "spec": {
            "from": {"apiVersion": "apps.example.org/v1alpha1", "kind": "Wordpress"},
            "to": [{"base": base, "patches": [{"fromFieldPath": "spec.title", "toFieldPath": to}]}],
        },
    }


BLOG = {
    "apiVersion": "apps.example.org/v1alpha1",
    "kind": "Wordpress",
    "metadata": {"namespace": "team", "name": "coolblog"},
    "spec": {"title": "Cool"},
}


def test_a_composed_application_is_scheduled_like_an_authored_one() -> None:
    stack = Stack([BLOG], PUBLISHED, [definition(), composition()])
    [planned] = stack.plan().workloads
    assert planned.placement.composed
    assert planned.placement.application.key.namespace == "team"
    assert planned.placement.application.key.name.startswith("coolblog-")
    assert planned.resources[0].document["data"] == {"title": "Cool"}


def test_infrastructure_composes_no_application() -> None:
    blog = {**BLOG, "metadata": {"name": "coolblog"}}
    with pytest.raises(ComposeError) as caught:
        Stack([blog], PUBLISHED, [definition("InfrastructureDefinition"), composition()])
    assert "KubernetesApplication" in str(caught.value)


def test_a_composite_class_composes_no_application() -> None:
    klass = composite_class()
    klass["spec"]["resources"] = [{"base": {k: WEB[k] for k in ("apiVersion", "kind", "spec")}}]
    problem = refused(ComposeError, [composite_claim()], [], [klass])
    assert "lives in a namespace" in problem.what
