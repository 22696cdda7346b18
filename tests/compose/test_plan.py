from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.base.labels import OWNER
from claimsmith.base.names import ClaimKey
from claimsmith.base.values import Ref, refs
from claimsmith.compose.connections import secret_document
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.platform import binding, selection
from tests.support.golden_cases import GOOD
from tests.support.samples import (
    BUCKET,
    GROUP,
    NETWORK,
    SERVER,
    SHARED,
    SUBNETWORK,
    catalog_of,
    claim_data,
    class_data,
    class_ref,
    documents_of,
    expanded,
    patch,
    planned,
    sharing,
    table,
)

DEFAULT = {"annotations": {selection.IS_DEFAULT: "true"}}


def plan(*resources: dict[str, Any], claims: list[dict[str, Any]] | None = None) -> Plan:
    return planned([class_data("c", *resources, **DEFAULT)], claims or [claim_data("sql")])


def test_children_come_after_what_they_refer_to() -> None:
    [claim] = plan({"base": SERVER}, {"base": GROUP}).claims
    assert [c.template.name for c in claim.children] == ["resource-group", "my-sql-server"]


def test_a_selector_becomes_a_reference_with_the_known_name() -> None:
    [claim] = plan({"base": SERVER}, {"base": GROUP}).claims
    group, server = claim.children
    assert "resourceGroupNameSelector" not in server.document["spec"]
    assert server.document["spec"]["resourceGroupNameRef"] == {
        "name": Ref(group.address, ("metadata", "name"), known=group.name)
    }


def test_an_ambiguous_sibling_is_picked_alike_for_every_claim() -> None:
    groups = [{"base": GROUP, "name": f"g{i}"} for i in range(4)]
    claims = [claim_data(f"c{i}") for i in range(8)]
    made = plan({"base": SERVER}, *groups, claims=claims).claims
    servers = [c for p in made for c in p.children if c.template.name == "my-sql-server"]
    picked = {next(refs(c.document)).resource.rpartition("/")[2] for c in servers}
    assert len(picked) == 1, "a component is generated once for all claims"


def test_siblings_are_never_those_of_another_claim() -> None:
    made = plan({"base": SERVER}, {"base": GROUP}, claims=[claim_data("a"), claim_data("b")]).claims
    assert all(next(refs(p.children[1].document)).resource == p.children[0].address for p in made)


def test_a_claim_whose_class_has_no_details_gets_no_secret() -> None:
    """An empty one would be stored without data, and differ from ours for ever."""
    asking = claim_data(writeConnectionSecretToRef={"name": "s"})
    found = plan({"base": GROUP}, claims=[asking])
    assert found.claims[0].connections == ()
    assert ["none is created" in w.what for w in found.warnings] == [True]
    assert not plan({"base": GROUP}).warnings


def test_the_secret_of_a_claim() -> None:
    [claim] = plan(
        {"base": SERVER}, {"base": GROUP}, claims=[claim_data(writeConnectionSecretToRef={"name": "s"})]
    ).claims
    secret = secret_document(claim.identity, claim.connection)
    assert (secret["metadata"]["namespace"], secret["metadata"]["name"]) == ("default", "s")
    assert secret["metadata"]["annotations"][OWNER] == f"shop/dev/{claim.binding.uid}"
    assert "data" not in secret
    assert [(s.child, s.namespace) for s in claim.connection.sources] == [("my-sql-server", "crossplane-system")]


def test_a_claim_that_asks_for_no_secret() -> None:
    [claim] = plan({"base": GROUP}).claims
    assert (claim.connection, claim.connections) == (None, ())


@pytest.mark.parametrize(
    ("case", "name"),
    [
        pytest.param("crossplane-namespaced", "sessions-access", id="composed-by-the-class"),
        pytest.param("native-crossplane", "photos", id="of-the-control-plane"),
        pytest.param("private-mysql-literal", "sql", id="asked-for"),
    ],
)
def test_the_secret_that_applications_read(case: str, name: str) -> None:
    [found] = [c for c in GOOD if c.name == case]
    [claim, *_] = found.plan().claims
    assert claim.published
    assert claim.published.name == name


def test_an_unbound_claim_stands_beside_the_others() -> None:
    made = plan({"base": GROUP}, claims=[claim_data("a"), claim_data("b", kind="Cache")])
    assert [c.binding.claim.key.name for c in made.claims] == ["a"]
    assert [u.claim.key.name for u in made.unbound] == ["b"]


def test_what_became_of_each_patch_is_told() -> None:
    patches = [patch("spec.size", "spec.size"), patch("spec.gone", "spec.gone")]
    [claim] = plan({"base": BUCKET, "patches": patches}, claims=[claim_data(size=3)]).claims
    assert [o.applied for o in claim.children[0].outcomes] == [True, False]


def test_a_class_is_not_changed_by_planning() -> None:
    catalog = catalog_of([class_data("c", {"base": BUCKET, "patches": [patch("spec.x", "spec.deep.x")]}, **DEFAULT)])
    [klass] = catalog.classes.values()
    before = klass.digest()
    both = catalog_of([], [claim_data("a", x=1), claim_data("b")]).claims
    found = expanded(type(catalog)(catalog.classes, both), project="p", stack="s")
    made = build_plan(found, project="p", stack="s", table=table())
    assert klass.digest() == before
    assert ["deep" in c.children[0].document["spec"] for c in made.claims] == [True, False]


def test_claims_come_after_the_claims_they_refer_to() -> None:
    network = {"apiVersion": "compute.gcp.crossplane.io/v1beta1", "kind": "Network", "metadata": {"labels": {"a": "b"}}}
    subnet = {
        "apiVersion": "compute.gcp.crossplane.io/v1beta1",
        "kind": "Subnetwork",
        "spec": {"networkSelector": {"matchLabels": {"a": "b"}}},
    }
    classes = [class_data("net", {"base": network}), class_data("sub", {"base": subnet})]
    claims = [claim_data("a", classRef=class_ref("sub")), claim_data("z", classRef=class_ref("net"))]
    assert [c.binding.claim.key.name for c in planned(classes, claims).claims] == ["z", "a"]


# Picks

SUB = ClaimKey.parse("Database.database.example.org/default/sub")
REF = "subnetwork spec.forProvider.networkRef"


def network(claim: str) -> str:
    """The address of the network of a claim."""
    return f"Database.database.example.org/default/{claim}/network"


def shared(*networks: str, recorded: str | None = None) -> PlannedClaim:
    """The claim `sub` beside these networks, bound before with this pick; `None` for never bound."""
    records: list[binding.Record] = []
    if recorded is not None:
        first = planned(SHARED, sharing(*networks))
        wanted = {REF: network(recorded)} if recorded else {}
        records = binding.to_records([c.binding for c in first.claims], [], {SUB: wanted})
    made = planned(SHARED, sharing(*networks), records)
    [found] = [c for c in made.claims if c.binding.claim.key == SUB]
    [subnetwork] = found.children
    # The plan's picks are those of its documents.
    assert made.picks == {(subnetwork.address, "spec.forProvider.networkRef"): next(refs(subnetwork.document)).resource}
    assert found.picks == {REF: next(refs(subnetwork.document)).resource}
    warned = [p for p in made.warnings if "run: claimsmith bind dev" in p.fix]
    assert bool(warned) == (recorded is not None and found.picks[REF] != found.binding.picks.get(REF))
    return found


def test_the_stable_choice_of_a_network() -> None:
    assert shared("a", "b", "c").picks == {REF: network("b")}
    assert shared("a", "c").picks == {REF: network("a")}


@pytest.mark.parametrize(
    ("networks", "recorded", "want"),
    [
        pytest.param("b a", "a", "a", id="kept-though-another-is-preferred"),
        pytest.param("a", "a", "a", id="the-only-one"),
        pytest.param("b a", "", "b", id="dropped"),
        pytest.param("b", "a", "b", id="gone"),
        pytest.param("b a", "sub", "b", id="no-such-resource"),
    ],
)
def test_a_recorded_pick_holds_as_long_as_it_fits(networks: str, recorded: str, want: str) -> None:
    assert shared(*networks.split(), recorded=recorded).picks == {REF: network(want)}


def test_a_pick_that_no_longer_matches_is_told_and_made_anew() -> None:
    odd = {**NETWORK, "metadata": {"labels": {"shared": "no"}}}
    classes = [*SHARED, class_data("odd", {"base": odd})]
    claims = [*sharing("b"), claim_data("a", classRef=class_ref("odd"))]
    first = planned(classes, claims)
    records = binding.to_records([c.binding for c in first.claims], [], {SUB: {REF: network("a")}})
    made = planned(classes, claims, records)
    assert set(made.picks.values()) == {network("b")}
    [problem] = made.warnings
    assert network("a") in problem.what
    assert network("b") in problem.what
    assert problem.fix == "run: claimsmith bind dev"
    assert problem.where.file == "claims.yaml"


def test_a_renamed_template_keeps_its_pick() -> None:
    renamed = {"base": SUBNETWORK, "name": "subnet", "previousName": "subnetwork"}
    claims = sharing("b", "a")
    first = planned(SHARED, claims)
    records = binding.to_records([c.binding for c in first.claims], [], {SUB: {REF: network("a")}})
    found = expanded(catalog_of([SHARED[0], class_data("sub", renamed)], claims), records, rebind=[SUB])
    made = build_plan(found, project="shop", stack="dev", table=table())
    assert [c.picks for c in made.claims if c.picks] == [{"subnet spec.forProvider.networkRef": network("a")}]


def test_picks_among_siblings_are_not_recorded() -> None:
    groups = [{"base": GROUP, "name": f"g{i}"} for i in range(4)]
    assert plan({"base": SERVER}, *groups).picks == {}


def test_the_order_of_files_does_not_change_what_is_made() -> None:
    claims = [claim_data(f"c{i}") for i in range(4)]
    forth, back = (plan({"base": SERVER}, {"base": GROUP}, claims=c).claims for c in (claims, claims[::-1]))
    assert {c.address: [x.document for x in c.children] for c in forth} == {
        c.address: [x.document for x in c.children] for c in back
    }


# Refusals

UID_NAMED = patch("metadata.uid", "spec.writeConnectionSecretToRef.name")
TWO_WRITERS = [{"base": SERVER, "name": n, "patches": [UID_NAMED]} for n in "ab"]
IN_A_RING = [
    {"base": {"apiVersion": "x/v1", "kind": k, "spec": {f"{o}Selector": {"matchComposite": True}}}}
    for k, o in (("A", "b"), ("B", "a"))
]
RING_TABLE = {"references": {"A.x": {"b": "B.x"}, "B.x": {"a": "A.x"}}}
SAME_SECRET = [claim_data(n, writeConnectionSecretToRef={"name": "s"}) for n in ("a", "b")]
HUGE = claim_data(size=99999999999999999999999)


@pytest.mark.parametrize(
    ("resources", "claims", "file", "word"),
    [
        pytest.param([{"base": SERVER}], None, "platform.yaml", "matches no", id="selector-matches-nothing"),
        pytest.param(
            [*TWO_WRITERS, {"base": GROUP}], None, "claims.yaml", "both write Secret", id="two-children-one-secret"
        ),
        pytest.param(
            [{"base": GROUP}, {"base": SERVER}],
            SAME_SECRET,
            "claims.yaml",
            "both write Secret",
            id="two-claims-one-secret",
        ),
        pytest.param(
            [{"base": GROUP, "patches": [patch("spec.x", "spec.x", policy={"fromFieldPath": "Required"})]}],
            None,
            "claims.yaml",
            "requires",
            id="required-field-missing",
        ),
        pytest.param(
            [{"base": {**GROUP, "spec": {"reclaimPolicy": "Keep"}}}],
            None,
            "platform.yaml",
            "reclaimPolicy",
            id="policy",
        ),
        pytest.param(
            [{"base": {**SERVER, "spec": {"writeConnectionSecretToRef": {}}}}],
            None,
            "platform.yaml",
            "namespace",
            id="secret-without-namespace",
        ),
        pytest.param(
            [{"base": GROUP, "patches": [patch("spec.size", "spec.size")]}],
            [HUGE],
            "claims.yaml",
            "64 bits",
            id="number-that-no-cluster-can-hold",
        ),
        pytest.param(
            [{"base": {**GROUP, "spec": {"size": 2**63}}}],
            None,
            "platform.yaml",
            "64 bits",
            id="such-a-number-in-a-base",
        ),
    ],
)
def test_refusals(resources: list, claims: list | None, file: str, word: str) -> None:
    with pytest.raises(EngineError) as caught:
        plan(*resources, claims=claims)
    problem = caught.value.problems[0]
    assert problem.where.file == file
    assert word in problem.what
    assert problem.fix


def test_a_circle_of_siblings_is_named() -> None:
    with pytest.raises(EngineError) as caught:
        planned([class_data("c", *IN_A_RING, **DEFAULT)], [claim_data()], table=table(*documents_of(RING_TABLE)))
    [problem] = caught.value.problems
    assert all(word in problem.what for word in ("circle", "spec.bRef.name", "spec.aRef.name"))
    assert problem.where.file == "platform.yaml"


def test_all_problems_of_all_claims_are_told_at_once() -> None:
    required = patch("spec.x", "spec.x", policy={"fromFieldPath": "Required"})
    with pytest.raises(EngineError) as caught:
        plan({"base": GROUP, "patches": [required]}, claims=[claim_data("a"), claim_data("b")])
    assert len(caught.value.problems) == 2


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.mark.parametrize(
    ("base", "patches", "want"),
    [
        pytest.param({**CONFIG_MAP, "metadata": {"namespace": "apps"}}, [], "apps", id="namespaced-kind"),
        pytest.param(CONFIG_MAP, [patch("metadata.namespace", "metadata.namespace")], "default", id="patched"),
        pytest.param(CONFIG_MAP, [], "", id="none"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"namespace": "apps"}}, [], "", id="cluster-scope"
        ),
        pytest.param({**BUCKET, "metadata": {"namespace": "apps"}}, [], "", id="managed"),
    ],
)
def test_the_namespace_of_a_base(base: dict[str, Any], patches: list[dict[str, Any]], want: str) -> None:
    [claim] = planned(
        [class_data("c", {"base": base, "patches": patches})], [claim_data(classRef=class_ref("c"))]
    ).claims
    assert claim.children[0].namespace == want
    assert ("namespace" in claim.children[0].document["metadata"]) == bool(want)


def test_the_namespace_of_a_rendered_object() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: of-{{ .metadata.name }}}\n"
    [claim] = plan({"template": {"engine": "go-sprig", "source": {"type": "inline", "inline": text}}}).claims
    assert claim.children[0].namespace == "of-sql"
