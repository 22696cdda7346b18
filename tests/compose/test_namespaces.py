"""Nothing of an application is outside its namespace: attempts to get there, in every dialect."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.base.errors import EngineError
from claimsmith.compose.plan import Plan
from claimsmith.kubernetes.crds import permissive_crd
from tests.e2e.workload_examples import (
    application,
    cluster_claim,
    config_map,
    development_class,
    own_target,
    provider,
)
from tests.support import platform_documents as build
from tests.support.paths import ROOT
from tests.support.samples import claim_data, class_data, class_ref

Data = dict[str, Any]
Files = tuple[list[Data], list[Data]]

CROSSPLANE = ROOT / "tests" / "golden" / "crossplane-namespaced"
ELSEWHERE = {"namespace": "kube-system", "name": "token"}
KNOWS = permissive_crd("who.example.org/v1", "Knows", namespaced=True, managed=True)
PLAIN = {"apiVersion": "who.example.org/v1", "kind": "Knows", "spec": {}}
SERVER = {
    "apiVersion": "database.azure.crossplane.io/v1beta1",
    "kind": "MySQLServer",
    "spec": {"writeConnectionSecretToRef": {"namespace": "crossplane-system"}},
}


def spec_of(document: Data, **spec: Any) -> Data:
    return {**document, "spec": {**(document.get("spec") or {}), **spec}}


# 000, 001 and 003: claims


def redis(**spec: Any) -> Files:
    return [build.redis_class("only")], [build.redis(classSelector={}, **spec)]


def database(**spec: Any) -> Files:
    return [class_data("c", {"base": SERVER})], [claim_data("mine", classRef=class_ref("c"), **spec)]


def thief(reference: Callable[[Plan], Data], root: Path, files: Files) -> Files:
    """The same claims, and one of another namespace that names what one of them made."""
    platform, claims = files
    found = reference(build.plan_of(root, platform, claims))
    stolen = {"resourceRef": found, "writeConnectionSecretToRef": {"name": "loot"}}
    other = {**copy.deepcopy(claims[0]), "metadata": {"namespace": "other", "name": "thief"}, "spec": stolen}
    return platform, [*claims, other]


def child_of(plan: Plan) -> Data:
    child = plan.claims[0].children[0]
    return {"apiVersion": child.template.api_version, "kind": child.template.kind, "name": child.name}


def composite_of(plan: Plan) -> Data:
    name = plan.claims[0].identity.composite_name
    return {"apiVersion": "core.crossplane.io/v1alpha1", "kind": "CompositeResource", "name": name}


def templated(region: str, engine: str, text: str) -> Files:
    source = {"type": "inline", "inline": f"apiVersion: azure.crossplane.io/v1alpha3\nkind: ResourceGroup\n{text}"}
    made = class_data("t", {"template": {"engine": engine, "source": source}})
    wish = {"writeConnectionSecretToRef": {"name": "loot"}, "region": region}
    return [made], [claim_data("x", classRef=class_ref("t"), **wish)]


# 002: applications and requirements


def app(*to: Data, platform: tuple[Data, ...] = (), **wish: Any) -> Files:
    made = [build.definition("Place", word="Application"), build.composition("a", "Place", *to), KNOWS, *platform]
    wishes = {"compositionRef": {"name": "a"}, **wish}
    return made, [build.instance("Place", namespace="team", region="kube-system", application=wishes)]


def required(**wish: Any) -> Files:
    return build.published(), [build.requirement(compositionRef={"name": "b"}, **wish)]


def kubernetes_application(change: Callable[[Data], None]) -> Data:
    made = application("team", "web", "dev", config_map("settings"))
    made.pop("metadata")
    change(made["spec"])
    return made


STORE = {
    "apiVersion": "acme.example.org/v1alpha1",
    "kind": "StoreRequirement",
    "spec": {"infrastructure": {"compositionRef": {"name": "s"}, "writeConnectionSecretToRef": ELSEWHERE}},
}
STORES = (
    build.definition("Store", connectionDetails=["password"]),
    build.publication("stores.acme.example.org"),
    build.composition("s", "Store", {"base": SERVER, "connectionDetails": [build.DETAIL]}),
)
INNER = (build.definition("Inner", word="Application"), build.composition("i", "Inner", {"base": build.CONFIG}))


# 004: applications in other clusters


def workload(change: Callable[[Data], None]) -> Files:
    web = application("team", "web", "dev", config_map("settings"))
    change(web)
    mine = cluster_claim("team", "mine")
    mine["metadata"].setdefault("labels", {})["env"] = "dev"
    return [development_class()], [mine, web]


def publishing(found: Data) -> Files:
    return [development_class()], [cluster_claim("other", "theirs"), found]


# Crossplane: composites in a namespace


def crossplane(change: Callable[[Data], None] = lambda _: None, **spec: Any) -> Files:
    """The golden case with its composition's input changed, and a label that a patch may read."""
    platform = list(yaml.safe_load_all((CROSSPLANE / "platform.yaml").read_text(encoding="utf-8")))
    claim = yaml.safe_load((CROSSPLANE / "claim.yaml").read_text(encoding="utf-8"))
    change(platform[1]["spec"]["pipeline"][0]["input"])
    metadata = {**claim["metadata"], "labels": {"x": "kube-system"}}
    return platform, [{**claim, "metadata": metadata, "spec": {**claim["spec"], **spec}}]


def first(change: Callable[[Data], None]) -> Callable[[Data], None]:
    return lambda found: change(found["resources"][0])


def crossplane_claim(**spec: Any) -> Files:
    folder = CROSSPLANE.parent / "crossplane-database"
    platform = list(yaml.safe_load_all((folder / "platform.yaml").read_text(encoding="utf-8")))
    return platform, [spec_of(yaml.safe_load((folder / "claim.yaml").read_text(encoding="utf-8")), **spec)]


TO_NAMESPACE = {"fromFieldPath": "metadata.labels.x", "toFieldPath": "metadata.namespace"}
CLUSTER_ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": []}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        # writing a Secret
        pytest.param(redis(writeConnectionSecretToRef=ELSEWHERE), "namespace", id="000-secret"),
        pytest.param(
            redis(writeConnectionSecretToRef={"name": "kube-system/x"}), "Kubernetes name", id="000-secret-path"
        ),
        pytest.param(database(writeConnectionSecretToRef=ELSEWHERE), "namespace", id="001-secret"),
        pytest.param(required(writeConnectionSecretToRef=ELSEWHERE), "namespace", id="002-secret"),
        pytest.param(
            app({"base": build.CONFIG}, writeConnectionSecretToRef=ELSEWHERE),
            "unknown field",
            id="002-application-secret",
        ),
        pytest.param(
            app({"base": spec_of(PLAIN, writeConnectionSecretToRef=ELSEWHERE)}),
            "keeps to its namespace",
            id="002-secret-of-a-child",
        ),
        pytest.param(
            app(
                {
                    "base": spec_of(PLAIN, writeConnectionSecretToRef={"name": "token"}),
                    "patches": [
                        {"fromFieldPath": "spec.region", "toFieldPath": "spec.writeConnectionSecretToRef.namespace"}
                    ],
                }
            ),
            "keeps to its namespace",
            id="002-secret-of-a-child-by-patch",
        ),
        pytest.param(app({"base": STORE}, platform=STORES), "own namespace", id="002-secret-of-a-requirement-inside"),
        pytest.param(crossplane(writeConnectionSecretToRef=ELSEWHERE), "unknown field", id="crossplane-secret"),
        pytest.param(
            crossplane_claim(writeConnectionSecretToRef=ELSEWHERE),
            "unknown field 'namespace'",
            id="crossplane-secret-of-a-claim",
        ),
        pytest.param(
            crossplane(first(lambda r: r["base"]["spec"].update(writeConnectionSecretToRef=ELSEWHERE))),
            "keeps to its namespace",
            id="crossplane-secret-of-a-child",
        ),
        pytest.param(
            crossplane(lambda found: found["writeConnectionSecretToRef"].update(namespace="kube-system")),
            "it is in 'shop' itself",
            id="crossplane-secret-of-the-composition",
        ),
        pytest.param(
            crossplane(
                lambda found: found["writeConnectionSecretToRef"]["patches"].append(
                    {"type": "FromCompositeFieldPath", "fromFieldPath": "metadata.labels.x", "toFieldPath": "namespace"}
                )
            ),
            "it is in 'shop' itself",
            id="crossplane-secret-by-patch",
        ),
        # composing
        pytest.param(app({"base": build.GROUP}), "lives at cluster scope", id="002-cluster-scope"),
        pytest.param(app({"base": CLUSTER_ROLE}), "lives at cluster scope", id="002-cluster-role"),
        pytest.param(
            crossplane(first(lambda r: r.update(base=CLUSTER_ROLE, patches=[], connectionDetails=[]))),
            "lives at cluster scope",
            id="crossplane-cluster-role",
        ),
        pytest.param(
            app({"base": {"apiVersion": "nobody.example.org/v1", "kind": "Knows"}}),
            "not known whether",
            id="002-unknown",
        ),
        # referring
        pytest.param(redis(classRef={**class_ref("only"), "namespace": "other"}), "namespace", id="000-class"),
        pytest.param(database(resourceRef={**class_ref("x"), "namespace": "other"}), "namespace", id="001-resource"),
        pytest.param(
            app({"base": build.CONFIG}, compositionRef={"name": "a", "namespace": "x"}),
            "unknown field",
            id="002-composition",
        ),
        # targeting
        pytest.param(
            workload(lambda web: web["spec"].update(targetRef={"name": "t", "namespace": "other"})),
            "across namespaces",
            id="004-target",
        ),
        pytest.param(
            workload(lambda web: web["spec"].update(targetRef={"name": "other/t"})),
            "Kubernetes name",
            id="004-target-path",
        ),
        pytest.param(
            workload(lambda web: web["spec"]["resourceTemplates"][0]["spec"].update(secrets=[ELSEWHERE])),
            "across namespaces",
            id="004-secret",
        ),
        pytest.param(
            workload(lambda web: web["spec"]["resourceTemplates"][0]["metadata"].update(namespace="other")),
            "cannot be in the namespace",
            id="004-resource",
        ),
        pytest.param(
            publishing(own_target("team", "dev", "other-theirs-x")),
            "would publish",
            id="004-cluster-that-is-there-already",
        ),
        pytest.param(publishing(provider("mine", "other", "creds")), "Provider", id="004-provider-of-a-team"),
        pytest.param(
            app({"base": kubernetes_application(lambda s: s.update(targetRef={"name": "t", "namespace": "other"}))}),
            "across namespaces",
            id="002-target-of-an-application-inside",
        ),
        pytest.param(
            app(
                {
                    "base": kubernetes_application(
                        lambda s: s["resourceTemplates"][0]["spec"].update(secrets=[ELSEWHERE])
                    )
                }
            ),
            "across namespaces",
            id="002-secret-of-an-application-inside",
        ),
    ],
)
def test_refused(tmp_path: Path, files: Files, words: str) -> None:
    with pytest.raises(EngineError, match=words) as caught:
        build.plan_of(tmp_path, *files)
    assert all(p.fix and p.where for p in caught.value.problems)


@pytest.mark.parametrize(
    ("files", "reference"),
    [
        pytest.param(redis(), child_of, id="000-managed-resource"),
        pytest.param(database(), composite_of, id="001-composite"),
    ],
)
def test_what_a_claim_made_is_no_other_s(tmp_path: Path, files: Files, reference: Callable[[Plan], Data]) -> None:
    stolen = thief(reference, tmp_path, files)
    with pytest.raises(EngineError, match="both claim"):
        build.plan_of(tmp_path, *stolen)


def test_a_cluster_of_another_namespace_is_not_published(tmp_path: Path) -> None:
    platform, claims = [development_class()], [cluster_claim("other", "theirs")]
    name = build.plan_of(tmp_path, platform, claims).claims[0].children[0].name
    with pytest.raises(EngineError, match="was created for KubernetesCluster"):
        build.plan_of(tmp_path, platform, [*claims, own_target("team", "dev", name)])


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(app({"base": {**build.CONFIG, "metadata": {"namespace": "kube-system"}}}), id="002-base"),
        pytest.param(
            app(
                {
                    "base": build.CONFIG,
                    "patches": [{"fromFieldPath": "spec.region", "toFieldPath": "metadata.namespace"}],
                }
            ),
            id="002-patch",
        ),
        pytest.param(
            app(
                {
                    "base": {
                        "apiVersion": "acme.example.org/v1alpha1",
                        "kind": "Inner",
                        "metadata": {"namespace": "kube-system"},
                        "spec": {"application": {"compositionRef": {"name": "i"}}},
                    }
                },
                platform=INNER,
            ),
            id="002-application-inside",
        ),
        pytest.param(
            crossplane(first(lambda r: r["base"].update(metadata={"namespace": "kube-system"}))), id="crossplane-base"
        ),
        pytest.param(crossplane(first(lambda r: r["patches"].append(TO_NAMESPACE))), id="crossplane-patch"),
    ],
)
def test_what_an_application_composes_is_in_its_namespace(tmp_path: Path, files: Files) -> None:
    plan = build.plan_of(tmp_path, *files)
    own = files[1][0]["metadata"]["namespace"]
    found = [
        *(c.namespace for p in plan.walk() for c in p.children),
        *(s.namespace for p in plan.walk() for s in p.connections),
    ]
    assert found
    assert set(found) == {own}


@pytest.mark.parametrize(
    "region",
    [
        pytest.param("eu\n  writeConnectionSecretToRef: {namespace: kube-system, name: token}", id="field"),
        pytest.param("eu\n  writeConnectionSecretToRef:\n    namespace: kube-system\n    name: token", id="block"),
        pytest.param(
            "{a: b}\n  writeConnectionSecretToRef: {namespace: kube-system, name: token}", id="object-and-field"
        ),
        pytest.param('eu", writeConnectionSecretToRef: {namespace: kube-system, name: token}, x: "', id="quote"),
        pytest.param("eu, writeConnectionSecretToRef: {namespace: kube-system, name: token}", id="braces"),
    ],
)
@pytest.mark.parametrize(
    ("engine", "text"),
    [
        pytest.param("jinja2", "spec:\n  location: {{ spec.region }}\n", id="jinja2"),
        pytest.param("jinja2", 'spec:\n  location: "{{ spec.region }}"\n', id="jinja2-quoted"),
        pytest.param("jinja2", "spec: {location: {{ spec.region }}}\n", id="jinja2-braces"),
        pytest.param("jinja2", 'spec: {location: "{{ spec.region }}"}\n', id="jinja2-braces-quoted"),
        pytest.param("go-sprig", "spec:\n  location: {{ .spec.region }}\n", id="go"),
        pytest.param("go-sprig", "spec:\n  location: {{ squote .spec.region }}\n", id="go-single-quotes"),
        pytest.param("go-sprig", "spec: {location: {{ .spec.region }}}\n", id="go-braces"),
        pytest.param("go-sprig", "spec:\n  location: {{ toJson .spec.region }}\n", id="go-json"),
    ],
)
def test_a_claim_s_value_names_no_secret_in_a_template_s_output(
    tmp_path: Path, engine: str, text: str, region: str
) -> None:
    """Such a value would have another namespace's Secret copied to the claim's: it stays a value, or is refused."""
    plan = build.plan_of(tmp_path, *templated(region, engine, text))
    assert [s for p in plan.walk() for c in p.connections for s in c.sources] == []
    assert [u for u in plan.unbound if not u.mistake] == []


def test_an_application_refers_to_nothing_of_another_namespace(tmp_path: Path) -> None:
    """A selector sees what is labelled so in its own namespace, and not what is labelled so elsewhere."""
    table = {"references": {"Knows.who.example.org": {"friend": "Knows.who.example.org"}}}
    friend = {**PLAIN, "metadata": {"labels": {"a": "b"}}}
    seeking = spec_of(PLAIN, friendSelector={"matchLabels": {"a": "b"}})
    platform = [
        KNOWS,
        build.definition("Place", word="Application"),
        build.composition("a", "Place", {"base": friend}),
        build.composition("b", "Place", {"base": seeking}),
    ]

    def wish(name: str, namespace: str) -> Data:
        made = build.instance("Place", namespace=namespace, application={"compositionRef": {"name": name}})
        return {**made, "metadata": {"namespace": namespace, "name": f"{namespace}-{name}"}}

    def plan(*claims: Data) -> Plan:
        project = build.project(tmp_path, platform, claims)
        (tmp_path / "components" / "references.yaml").write_text(yaml.safe_dump(table))
        return project.plan("dev", unrecorded_ok=True)

    with pytest.raises(EngineError, match="matches no"):
        plan(wish("b", "team"), wish("a", "other"))
    picked = plan(wish("b", "team"), wish("a", "other"), wish("a", "team")).picks
    assert list(picked.values()) == ["Place.acme.example.org/team/team-a/knows"]
