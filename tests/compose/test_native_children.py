"""Native children of a plan: names, options, tags, values of siblings, and Kubernetes objects beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import BindingError, ComposeError, EngineError
from claimsmith.base.values import Mix, Ref, refs
from claimsmith.compose.expand import expand
from claimsmith.compose.native_children import NativeTypes, TagProperty, native_tags, tagged
from claimsmith.compose.plan import PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.kubernetes.scope import Scopes
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from tests.support import crossplane_documents as crossplane
from tests.support import platform_documents as definitions
from tests.support.native_plans import (
    CONFIG_MAP,
    DATABASE,
    PASSWORD,
    POSTGRESQL,
    ROLE,
    document_of,
    native,
    native_claim,
    native_class,
    native_plan,
    native_project,
)
from tests.support.samples import catalog_of, claim_data, class_ref, patch, planned, table

CLAIM = "Database.database.example.org/default/orders"


def test_a_claim_of_native_resources() -> None:
    claim = native_claim(connections=5)
    assert [c.template.name for c in claim.children] == ["password", "role", "database"]
    assert document_of(claim, "database") == {
        "type": "postgresql:index/database:Database",
        "metadata": {"name": "default-orders-database"},
        "properties": {"owner": Ref(f"{CLAIM}/role", ("outputs", "name")), "name": "orders", "connectionLimit": 5},
        "options": {"provider": "main"},
    }
    assert document_of(claim, "role")["properties"]["password"] == Ref(f"{CLAIM}/password", ("outputs", "result"))


def test_they_come_after_what_they_read_in_whatever_order_they_are_listed() -> None:
    claim = native_claim(DATABASE, ROLE, PASSWORD)
    assert [c.template.name for c in claim.children] == ["password", "role", "database"]


def test_they_have_nothing_of_kubernetes() -> None:
    for child in native_claim().children:
        assert not {"apiVersion", "kind", "spec"} & child.document.keys()
        assert child.document["metadata"].keys() == {"name"}
        assert (child.options.wait_for, child.options.timeout) == ((), "")


def test_labels_of_a_template_stay() -> None:
    pet = native("pet", metadata={"labels": {"use": "app"}})
    pet["patches"] = [patch("spec.tier", "metadata.labels.tier")]
    assert document_of(native_claim(pet, tier="gold"), "pet")["metadata"]["labels"] == {"use": "app", "tier": "gold"}


# Values of siblings


def pet_properties(*others: dict[str, Any], **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = document_of(native_claim(*others, native("pet", properties=properties)), "pet")[
        "properties"
    ]
    return found


def test_parts_are_joined_once_they_are_known() -> None:
    found = pet_properties(PASSWORD, prefix="a-${password.result}-${password.id}$${x}")["prefix"]
    assert isinstance(found, Mix)
    assert found.sources == (
        "a-",
        Ref(f"{CLAIM}/password", ("outputs", "result")),
        "-",
        Ref(f"{CLAIM}/password", ("outputs", "id")),
        "${x}",
    )
    assert found.known is None
    assert found.text == f"a-<{CLAIM}/password:outputs.result>-<{CLAIM}/password:outputs.id>${{x}}"


def test_a_name_of_a_kubernetes_object_is_known() -> None:
    config = {"name": "config", "base": CONFIG_MAP}
    found = pet_properties(config, prefix="${config.metadata.name}", keepers={"a": "x/${config.metadata.name}"})
    name = document_of(native_claim(config), "config")["metadata"]["name"]
    assert found["prefix"] == Ref(f"{CLAIM}/config", ("metadata", "name"), known=name)
    assert found["keepers"]["a"].known == f"x/{name}"


def test_a_kubernetes_object_gets_outputs_of_native_siblings() -> None:
    config = {"name": "config", "base": {**CONFIG_MAP, "data": {"url": "p:${password.result}", "sh": "${HOME}"}}}
    claim = native_claim(config, PASSWORD)
    assert [c.template.name for c in claim.children] == ["password", "config"]
    data = document_of(claim, "config")["data"]
    assert data["sh"] == "${HOME}"
    assert [ref.path for ref in refs(data["url"])] == [("outputs", "result")]


def test_values_run_through_native_and_kubernetes_children_in_one_claim() -> None:
    cluster = {
        "name": "cluster",
        "base": {"apiVersion": "a.org/v1", "kind": "Cluster", "spec": {"token": "${password.result}"}},
    }
    pet = native("pet", properties={"prefix": "${cluster.status.endpoint}"})
    claim = native_claim(pet, cluster, PASSWORD)
    assert [c.template.name for c in claim.children] == ["password", "cluster", "pet"]
    awaiting = next(c for c in claim.children if c.template.name == "cluster")
    assert awaiting.options.wait_for == ("condition=Ready", "jsonpath={$['status']['endpoint']}")
    assert document_of(claim, "pet")["properties"]["prefix"] == Ref(f"{CLAIM}/cluster", ("status", "endpoint"))


def test_a_circle_through_both_is_refused_by_name() -> None:
    config = {"name": "config", "base": {**CONFIG_MAP, "data": {"x": "${pet.id}"}}}
    with pytest.raises(EngineError) as caught:
        native_claim(config, native("pet", properties={"prefix": "${config.metadata.name}"}))
    assert "config needs pet (data.x); pet needs config (properties.prefix)" in str(caught.value)


HOSTILE = ["${password.result}", "$${password.result}", "x${role.name}y", "$$", "${"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_value_of_a_claim_is_never_an_interpolation(text: str) -> None:
    role = {**ROLE, "patches": [patch("spec.x", "properties.name"), patch("spec.more", "properties.more")]}
    found = document_of(native_claim(PASSWORD, role, x=text, more={"a": [text]}), "role")["properties"]
    assert (found["name"], found["more"]) == (text, {"a": [text]})


def test_a_transform_of_the_class_makes_no_interpolation_of_a_claims_value() -> None:
    transform = {"type": "string", "string": {"fmt": "${%s}"}}
    role = {**ROLE, "patches": [patch("spec.x", "properties.name", transform)]}
    claim = native_claim(PASSWORD, role, x="password.result")
    assert document_of(claim, "role")["properties"]["name"] == "${password.result}"


# Options


@pytest.mark.parametrize(
    ("base", "want"),
    [
        pytest.param({"options": {"protect": True}}, {"protect": True}, id="protected"),
        pytest.param({"options": {"protect": False}}, None, id="not-protected-is-the-default"),
        pytest.param({"options": {"retainOnDelete": True}}, {"retainOnDelete": True}, id="retained"),
        pytest.param(
            {"options": {"dependsOn": ["password"]}},
            {"dependsOn": [Ref(f"{CLAIM}/password", ())]},
            id="after-a-sibling",
        ),
    ],
)
def test_options(base: dict[str, Any], want: Any) -> None:
    claim = native_claim(PASSWORD, native("pet", **base))
    child = next(c for c in claim.children if c.template.name == "pet")
    assert child.document.get("options") == want
    assert child.options.retain is bool((want or {}).get("retainOnDelete"))
    assert child.options.protect is bool((want or {}).get("protect"))


def test_a_renamed_template_keeps_its_resource() -> None:
    renamed = {**native("pet"), "previousName": "animal"}
    assert document_of(native_claim(renamed), "pet") == {
        "type": "random:index/randomPet:RandomPet",
        "metadata": {"name": "default-orders-pet"},
        "properties": {},
        "options": {"aliases": ["default-orders-animal"]},
    }


def test_a_protected_claim_protects_its_native_children() -> None:
    claim = native_claim(PASSWORD, metadata={"annotations": {"claimsmith.io/protect": "true"}})
    assert document_of(claim, "password")["options"] == {"protect": True}


def test_a_claim_chooses_the_provider_where_the_class_lets_it() -> None:
    pet = {**native("pet", options={"provider": "main"}), "patches": [patch("spec.server", "options.provider")]}
    assert document_of(native_claim(pet, server="other"), "pet")["options"] == {"provider": "other"}
    assert document_of(native_claim(pet), "pet")["options"] == {"provider": "main"}


def importing(text: str) -> PlannedClaim:
    return native_claim(metadata={"annotations": {"claimsmith.io/import": text}})


def test_existing_resources_are_taken_over_by_id() -> None:
    claim = importing("database=orders, role = shop=admin")
    found = {c.template.name: c.document.get("options", {}).get("import") for c in claim.children}
    assert found == {"password": None, "role": "shop=admin", "database": "orders"}


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param("database", "<template>=<id>", id="no-id"),
        pytest.param("databse=orders", "'database'", id="misspelt-template"),
        pytest.param("database=", "<template>=<id>", id="empty-id"),
    ],
)
def test_imports_that_are_refused(text: str, fix: str) -> None:
    with pytest.raises(ComposeError) as caught:
        importing(text)
    problem = caught.value.problems[0]
    assert (problem.path, fix in problem.fix) == ("metadata.annotations[claimsmith.io/import]", True)
    assert problem.where is not None
    assert problem.where.file == "claims.yaml"


# Names


def test_two_resources_of_one_name_are_refused() -> None:
    one = [native_class(native("c"), name="one"), native_class(native("b-c"), name="two")]
    claims = [claim_data("a-b", classRef=class_ref("one")), claim_data("a", classRef=class_ref("two"))]
    with pytest.raises(ComposeError) as caught:
        planned(one, claims)
    [problem] = caught.value.problems
    assert "would both be the native resource 'default-a-b-c'" in problem.what
    assert problem.fix


def test_claims_of_different_kinds_may_have_one_name() -> None:
    classes = [native_class(native("pet"), name="one"), native_class(native("pet"), name="two")]
    classes[1]["spec"]["claim"]["kind"] = "Queue"
    claims = [claim_data("a", classRef=class_ref("one")), claim_data("a", kind="Queue", classRef=class_ref("two"))]
    assert [c.name for p in planned(classes, claims).claims for c in p.children] == ["default-a-pet"] * 2


# Tags and physical names


def known(tags: TagProperty = "", name: str = "") -> NativeTypes:
    return NativeTypes(tags=lambda _: tags, name=lambda _: name)


def typed(types: NativeTypes, resource: dict[str, Any], metadata: Any = None, **annotations: str) -> dict[str, Any]:
    claim = claim_data("orders", classRef=class_ref("native"))
    claim["metadata"] |= metadata or {}
    catalog = catalog_of([native_class(resource, annotations=annotations)], [claim])
    found = expand(catalog, [], project="shop", stack="dev", scopes=Scopes({}), types=types)
    [planned_claim] = build_plan(found, project="shop", stack="dev", table=table()).claims
    properties: dict[str, Any] = planned_claim.children[0].document["properties"]
    return properties


def test_tags_name_the_claim_where_the_type_has_them() -> None:
    found = typed(known("tags"), native("pet", properties={"tags": {"team": "a", "claimsmith-name": "mine"}}))["tags"]
    uid = found["claimsmith-uid"]
    assert found == {
        "claimsmith-namespace": "default",
        "claimsmith-name": "mine",
        "claimsmith-uid": uid,
        "claimsmith-owner": f"shop/dev/{uid}",
        "team": "a",
    }


def test_labels_have_no_upper_case_and_no_slash() -> None:
    found = typed(known("labels"), native("pet"))["labels"]
    assert found["claimsmith-owner"] == f"shop_dev_{found['claimsmith-uid']}"


@pytest.mark.parametrize(
    ("resource", "annotations"),
    [
        pytest.param(
            native("pet", metadata={"annotations": {"claimsmith.io/tags": "false"}}), {}, id="by-the-template"
        ),
        pytest.param(native("pet"), {"claimsmith.io/tags": "false"}, id="by-the-class"),
    ],
)
def test_a_class_may_leave_tags_out(resource: dict[str, Any], annotations: dict[str, str]) -> None:
    assert typed(known("tags"), resource, **annotations) == {}


def test_tags_that_are_a_list_stay_as_they_are() -> None:
    listed = [{"key": "a"}]
    assert typed(known("tags"), native("pet", properties={"tags": listed})) == {"tags": listed}


def test_without_knowledge_there_are_no_tags() -> None:
    identity = native_claim().identity
    assert native_tags(identity, "") == {}
    assert tagged({"a": 1}, identity, "") == {"a": 1}


@pytest.mark.parametrize(
    ("metadata", "resource", "want"),
    [
        pytest.param(
            {"annotations": {"crossplane.io/external-name": "shop"}},
            native("pet"),
            {"bucket": "shop"},
            id="the-claims",
        ),
        pytest.param(
            {"annotations": {"crossplane.io/external-name": "shop"}},
            {
                **native("pet", properties={"bucket": "other"}),
                "patches": [patch("metadata.name", "properties.bucket")],
            },
            {"bucket": "shop"},
            id="before-a-patch",
        ),
        pytest.param(
            {"annotations": {"crossplane.io/external-name": "shop"}},
            native("pet", properties={"bucket": "other"}),
            {"bucket": "other"},
            id="fixed-by-the-class",
        ),
        pytest.param(
            {},
            native("pet", metadata={"annotations": {"crossplane.io/external-name": "x"}}),
            {"bucket": "x"},
            id="the-classs",
        ),
        pytest.param({}, native("pet"), {}, id="none"),
    ],
)
def test_external_names(metadata: Any, resource: dict[str, Any], want: dict[str, Any]) -> None:
    assert typed(known(name="bucket"), resource, metadata) == want


# Connection details


def test_details_are_known_by_name_and_never_by_value() -> None:
    claim = native_claim(writeConnectionSecretToRef={"name": "s"})
    assert [(s.child, s.key_names, s.reads_secret) for s in claim.sources] == [
        ("database", ["database", "host"], False),
        ("role", ["username"], False),
        ("password", ["password"], False),
    ]
    assert claim.connection is not None
    assert claim.connection.sources == claim.sources


def test_a_claim_has_details_without_a_secret() -> None:
    claim = native_claim()
    assert claim.connections == ()
    assert sorted(name for s in claim.sources for name in s.key_names) == ["database", "host", "password", "username"]


def test_details_of_both_sorts() -> None:
    server = {
        "name": "server",
        "base": {
            "apiVersion": "a.org/v1",
            "kind": "Server",
            "spec": {"writeConnectionSecretToRef": {"namespace": "x", "name": "s"}},
        },
        "connectionDetails": [
            {"name": "endpoint", "fromConnectionSecretKey": "host"},
            {"name": "password", "fromResource": "password", "fromFieldPath": "outputs.result"},
        ],
    }
    sources = native_claim(PASSWORD, server).sources
    assert [(s.child, s.keys, [d.name for d in s.own]) for s in sources] == [
        ("server", (("endpoint", "host"),), []),
        ("password", (), ["password"]),
    ]


# Other dialects


def xr(*listed: dict[str, Any], mode: str, xr_spec: dict[str, Any] | None = None) -> PlannedClaim:
    """The plan of a composite with these resources, written in one of the two modes."""
    made = (
        crossplane.composition(resources=list(listed))
        if mode == "Resources"
        else crossplane.piped(crossplane.step(**crossplane.resources(*listed)))
    )
    definition = crossplane.definition()
    properties = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["spec"]["properties"] |= {"prefix": {"type": "string"}}
    properties["status"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    claim = {**crossplane.XR, "metadata": {"name": "my"}, "spec": xr_spec or {}}
    [found] = planned([definition, made], [claim]).claims
    return found


FLOW = [
    {
        "name": "pet",
        "base": {"type": "random:RandomPet", "properties": {"prefix": "${secret.result}-x"}},
        "patches": [
            {"type": "ToCompositeFieldPath", "fromFieldPath": "outputs.id", "toFieldPath": "status.pet"},
            {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.size", "toFieldPath": "properties.length"},
        ],
    },
    {
        "name": "config",
        "base": {**CONFIG_MAP, "metadata": {"namespace": "default"}},
        "patches": [
            {
                "type": "FromCompositeFieldPath",
                "fromFieldPath": "status.pet",
                "toFieldPath": "data.pet",
                "transforms": [{"type": "string", "string": {"fmt": "pet-%s"}}],
            },
            {
                "type": "CombineFromComposite",
                "combine": {
                    "strategy": "string",
                    "variables": [{"fromFieldPath": "status.pet"}, {"fromFieldPath": "spec.size"}],
                    "string": {"fmt": "%s/%d"},
                },
                "toFieldPath": "data.both",
            },
        ],
    },
    {
        "name": "secret",
        "base": {"type": "random:RandomPassword", "properties": {"length": 8}},
        "connectionDetails": [
            {"type": "FromFieldPath", "name": "secret", "fromFieldPath": "outputs.result"},
            {"type": "FromFieldPath", "name": "pet", "fromFieldPath": "outputs.id", "fromResource": "pet"},
            {"type": "FromConfig", "name": "host", "fromConfig": "postgresql:host"},
        ],
    },
]


@pytest.mark.parametrize("mode", ["Resources", "Pipeline"])
def test_a_crossplane_composition_in_both_modes(mode: str) -> None:
    claim = xr(*FLOW, mode=mode, xr_spec={"size": 3})
    assert [c.template.name for c in claim.children] == ["secret", "pet", "config"]
    address = claim.children[1].address
    assert document_of(claim, "pet")["metadata"] == {"name": "my-pet"}
    assert document_of(claim, "pet")["properties"]["length"] == 3
    data = document_of(claim, "config")["data"]
    assert (data["pet"].resource, data["pet"].path, len(data["pet"].transforms)) == (address, ("outputs", "id"), 1)
    assert [ref.path for ref in refs(data["both"])] == [("outputs", "id")]
    assert claim.status == {"pet": Ref(address, ("outputs", "id"))}
    assert [n for s in claim.sources for n in s.key_names] == ["secret", "host", "pet"]


def test_a_later_step_patches_a_native_resource() -> None:
    later = {"name": "pet", "patches": [{"fromFieldPath": "spec.size", "toFieldPath": "properties.length"}]}
    pet = {"name": "pet", "base": {"type": "random:RandomPet"}}
    steps = [
        crossplane.step(**crossplane.resources(pet)),
        crossplane.step(name="more", **crossplane.resources(later)),
    ]
    claim = {**crossplane.XR, "metadata": {"name": "my"}, "spec": {}}
    [found] = planned([crossplane.definition(), crossplane.piped(*steps)], [claim]).claims
    assert document_of(found, "pet")["properties"] == {"length": 5}


@pytest.mark.parametrize(
    ("resource", "path", "fix"),
    [
        pytest.param(
            {"patches": [{"type": "ToCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "status.x"}]},
            "patches[0]",
            "outputs",
            id="a-status-of-a-native-resource",
        ),
        pytest.param(
            {"patches": [{"fromFieldPath": "spec.size", "toFieldPath": "spec.length"}]},
            "patches[0]",
            "below properties",
            id="a-spec",
        ),
        pytest.param(
            {"readinessChecks": [{"type": "NonEmpty", "fieldPath": "outputs.id"}]},
            "readinessChecks",
            "remove",
            id="checks",
        ),
        pytest.param(
            {"connectionDetails": [{"type": "FromConnectionSecretKey", "name": "a", "fromConnectionSecretKey": "a"}]},
            "connectionDetails[0]",
            "outputs",
            id="a-secret",
        ),
        pytest.param(
            {"base": {"type": "random:RandomPet", "properties": {"prefix": "${pett.id}"}}},
            "properties.prefix",
            "none: the class has one resource",
            id="a-stranger",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["Resources", "Pipeline"])
def test_what_a_composition_cannot_have(mode: str, resource: dict[str, Any], path: str, fix: str) -> None:
    with pytest.raises(EngineError) as caught:
        xr({"name": "pet", "base": {"type": "random:RandomPet"}, **resource}, mode=mode)
    problem = caught.value.problems[0]
    assert (path in problem.path, fix in problem.fix) == (True, True), problem


def test_a_composition_of_the_definitions_format() -> None:
    pet = {
        "base": {"type": "random:RandomPet", "options": {"retainOnDelete": False}},
        "patches": [{"fromFieldPath": "spec.region", "toFieldPath": "properties.prefix"}],
        "connectionDetails": [{"name": "password", "fromFieldPath": "outputs.id"}],
    }
    documents = [
        definitions.definition("Place", connectionDetails=["password"]),
        definitions.composition("a", "Place", pet),
    ]
    policy = {
        "reclaimPolicy": "Retain",
        "compositionRef": definitions.named("a"),
        "writeConnectionSecretToRef": {"namespace": "default", "name": "s"},
    }
    claim = definitions.instance("Place", region="eu", infrastructure=policy)
    [found] = planned(documents, [claim]).claims
    assert document_of(found, "random-pet") == {
        "type": "random:index/randomPet:RandomPet",
        "metadata": {"name": "one-random-pet"},
        "properties": {"prefix": "eu"},
        "options": {"retainOnDelete": True},
    }
    assert [s.key_names for s in found.sources] == [["password"]]


def test_native_children_of_a_nested_composite() -> None:
    inner = crossplane.composition(resources=FLOW)
    inner_definition = crossplane.definition()
    schema = inner_definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    schema["status"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    outer_definition = crossplane.definition()
    outer_definition["metadata"]["name"] = "xshops.example.org"
    outer_definition["spec"]["names"] = {"kind": "XShop", "plural": "xshops"}
    outer = crossplane.composition(
        resources=[
            {"name": "tag", "base": {"type": "random:RandomPet", "properties": {"prefix": "${bucket.status.pet}"}}},
            {"name": "bucket", "base": {"apiVersion": "example.org/v1", "kind": "XBucket"}},
        ]
    )
    outer["metadata"]["name"] = "shops"
    outer["spec"]["compositeTypeRef"]["kind"] = "XShop"
    claim = {"apiVersion": "example.org/v1", "kind": "XShop", "metadata": {"name": "my"}, "spec": {}}
    [found] = planned([inner_definition, inner, outer_definition, outer], [claim]).claims
    [nested] = found.nested
    pet = next(c for c in nested.children if c.template.name == "pet")
    assert pet.name == f"{nested.identity.name}-pet"
    assert document_of(found, "tag")["properties"]["prefix"] == Ref(pet.address, ("outputs", "id"))


def test_a_bound_claim_stays_bound_until_its_class_changes(tmp_path: Path) -> None:
    project = native_project(tmp_path)
    bind(project, "dev")
    assert Project(project.root).plan("dev").claims
    file = project.root / "components/native/class.yaml"
    file.write_text(file.read_text().replace("${password.result}", "x-${password.result}"))
    with pytest.raises(BindingError, match="changed"):
        Project(project.root).plan("dev")


def test_retained_resources_of_a_claim_that_is_gone_are_remembered(tmp_path: Path) -> None:
    kept = native("pet", options={"retainOnDelete": True})
    project = native_project(tmp_path, kept, PASSWORD)
    bind(project, "dev")
    (project.root / "stacks/dev/claims/claims.yaml").write_text("")
    bind(Project(project.root), "dev")
    [left] = Project(project.root).plan("dev").released
    assert left.resources == ({"type": "random:index/randomPet:RandomPet", "name": "default-orders-pet"},)


def test_all_is_the_same_again() -> None:
    assert native_plan(*POSTGRESQL, connections=5).claims == native_plan(*POSTGRESQL, connections=5).claims
