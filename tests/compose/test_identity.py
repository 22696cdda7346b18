from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from claimsmith.base.errors import ComposeError, EngineError
from claimsmith.base.labels import (
    CONTROLLER_OWNED,
    EXTERNAL_NAME,
    EXTERNAL_NAME_PREFIX,
    EXTERNAL_NAME_SUFFIX,
    PREVIOUS_API_VERSION,
    TIMEOUT,
)
from claimsmith.base.merge import MergePolicy
from claimsmith.base.names import GroupKind
from claimsmith.base.transform import parse_transform
from claimsmith.base.values import has
from claimsmith.compose.identity import dress
from claimsmith.compose.options import DEFAULT_TIMEOUT, options_of, with_live_values
from claimsmith.dialects.aggregates.dialect import AGGREGATES
from claimsmith.dialects.common.dialect import Dialect, Identity, label_value
from claimsmith.dialects.common.klass import Patch, Side
from claimsmith.dialects.composite_classes.dialect import COMPOSITE_CLASSES
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES
from claimsmith.patching import patches

UID = "34ff9ee9-eab7-5191-9eaa-ca25fd1d1291"
IDENTITY = Identity(
    project="shop",
    stack="dev",
    api_version="database.example.org/v1alpha1",
    kind="Database",
    namespace="default",
    name="sql",
    uid=UID,
    external_name=None,
    class_ref={"apiVersion": "infrastructure.crossplane.io/v1alpha1", "kind": "ResourceClass", "name": "small"},
    dialect=COMPOSITE_CLASSES,
)


# Names


def name_of(namespace: str, name: str, uid: str, template: str) -> str:
    return replace(IDENTITY, namespace=namespace, name=name, uid=uid).name_of(template)


def test_names_are_pinned() -> None:
    assert (IDENTITY.name_of("bucket"), IDENTITY.composite_name) == ("default-sql-44g6v", "default-sql-5t8zc")


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        pytest.param("default", "sql", id="short"),
        pytest.param("n" * 63, "x" * 253, id="very-long"),
        pytest.param("n" * 28, "a" * 27 + "-b" * 20, id="cut-at-a-dash"),
        pytest.param("n" * 28, "a" * 28 + ".b", id="cut-at-a-dot"),
    ],
)
def test_names_are_kubernetes_names_of_at_most_63(namespace: str, name: str) -> None:
    made = name_of(namespace, name, UID, "t")
    assert len(made) <= 63
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?-[a-z0-9]{5}", made)
    assert "--" not in made[-7:]
    assert made == name_of(namespace, name, UID, "t")


def test_names_are_distinct_for_each_template_and_uid() -> None:
    made = [name_of("a", "b", uid, f"t{i}") for uid in ("1", "2") for i in range(500)]
    assert len(set(made)) == len(made)


def test_long_names_that_are_cut_alike_stay_distinct() -> None:
    long = "x" * 100
    assert name_of("n", long, "uid-1", "t") != name_of("n", f"{long}y", "uid-2", "t")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        pytest.param("sql", True, id="short"),
        pytest.param("x" * 63, True, id="just-fits"),
        pytest.param("x" * 64, False, id="too-long"),
        pytest.param("a-" * 40, False, id="cut-at-a-dash"),
        pytest.param("a." * 40, False, id="cut-at-a-dot"),
    ],
)
def test_label_value(text: str, same: bool) -> None:
    value = label_value(text)
    assert (value == text) is same
    assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", value)
    assert not re.search(r"[-._]{2}", value)


def test_long_label_values_stay_distinct() -> None:
    assert label_value("x" * 80 + "1") != label_value("x" * 80 + "2")


# Dressing


def dressed(dialect: Dialect = COMPOSITE_CLASSES, external: str | None = None, **document: Any) -> dict[str, Any]:
    data = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", **document}
    return dress(data, "bucket", replace(IDENTITY, dialect=dialect, external_name=external))


def test_a_child_of_a_composite() -> None:
    made = dressed(spec={"x": 1}, data={"k": "v"})
    assert list(made) == ["apiVersion", "kind", "metadata", "spec", "data"]
    assert made["metadata"] == {
        "name": "default-sql-44g6v",
        "labels": {
            "resourceclaim.crossplane.io/namespace": "default",
            "resourceclaim.crossplane.io/name": "sql",
            "resourceclaim.crossplane.io/uid": UID,
        },
    }
    assert made["spec"]["compositeRef"]["name"] == IDENTITY.composite_name
    assert made["spec"]["x"] == 1


def test_a_child_of_a_claim() -> None:
    spec = dressed(RESOURCE_CLASSES)["spec"]
    assert spec == {"claimRef": IDENTITY.claim_reference(), "classRef": dict(IDENTITY.class_ref)}


@pytest.mark.parametrize(
    "dialect",
    [
        pytest.param(COMPOSITE_CLASSES, id="composite"),
        pytest.param(RESOURCE_CLASSES, id="claim"),
        pytest.param(AGGREGATES, id="aggregate"),
    ],
)
@pytest.mark.parametrize(
    ("api_version", "built_in"),
    [
        pytest.param("v1", True, id="core"),
        pytest.param("apps/v1", True, id="group-without-a-dot"),
        pytest.param("rbac.authorization.k8s.io/v1", True, id="group-of-kubernetes"),
        pytest.param("storage.example.org/v1", False, id="a-providers-group"),
        pytest.param("cluster.x-k8s.io/v1beta1", False, id="group-of-an-operator"),
    ],
)
@pytest.mark.parametrize("own", [{"data": {"k": "v"}}, {"spec": {"replicas": 1}}], ids=["no-spec", "spec"])
def test_kinds_of_kubernetes_have_labels_and_no_reference(
    dialect: Dialect, api_version: str, built_in: bool, own: dict[str, Any]
) -> None:
    made = dressed(dialect, apiVersion=api_version, **own)
    assert ({k: v for k, v in made.items() if k not in ("apiVersion", "kind", "metadata")} == own) is built_in
    assert made["metadata"]["labels"]["resourceclaim.crossplane.io/uid"] == UID
    kind = GroupKind.of(made)
    assert dialect.is_managed(kind, managed=(), seen=()) is not built_in
    assert dialect.is_managed(kind, managed={kind}, seen=())


def test_own_labels_are_kept_but_do_not_hide_whose_it_is() -> None:
    labels = dressed(metadata={"labels": {"a": "b", "resourceclaim.crossplane.io/name": "other"}})["metadata"]["labels"]
    assert (labels["a"], labels["resourceclaim.crossplane.io/name"]) == ("b", "sql")


def test_what_is_dressed_is_not_changed() -> None:
    document = {"apiVersion": "a/v1", "kind": "B", "metadata": {"labels": {"a": "b"}}, "spec": {"x": {"y": 1}}}
    dress(document, "bucket", IDENTITY)
    assert document == {"apiVersion": "a/v1", "kind": "B", "metadata": {"labels": {"a": "b"}}, "spec": {"x": {"y": 1}}}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(
            {"namespace": "system"}, {"namespace": "system", "name": "default-sql-44g6v"}, id="named-after-it"
        ),
        pytest.param({"namespace": "system", "name": "x"}, {"namespace": "system", "name": "x"}, id="named"),
        pytest.param({"name": "x"}, {"name": "x"}, id="without-namespace"),
    ],
)
def test_connection_secret(given: dict[str, str], want: dict[str, str]) -> None:
    assert dressed(spec={"writeConnectionSecretToRef": given})["spec"]["writeConnectionSecretToRef"] == want


@pytest.mark.parametrize(
    ("claimed", "annotations", "want"),
    [
        pytest.param(None, {}, None, id="none"),
        pytest.param("db", {}, {EXTERNAL_NAME: "db"}, id="the-claims"),
        pytest.param(None, {EXTERNAL_NAME: "base"}, {EXTERNAL_NAME: "base"}, id="the-bases"),
        pytest.param("db", {EXTERNAL_NAME: "base"}, {EXTERNAL_NAME: "db"}, id="the-claims-over-the-bases"),
        pytest.param("db", {EXTERNAL_NAME_SUFFIX: "-a"}, {EXTERNAL_NAME: "db-a"}, id="suffix"),
        pytest.param("db", {EXTERNAL_NAME_PREFIX: "x-"}, {EXTERNAL_NAME: "x-db"}, id="prefix"),
        pytest.param(
            "db", {EXTERNAL_NAME_PREFIX: "x-", EXTERNAL_NAME_SUFFIX: "-a"}, {EXTERNAL_NAME: "x-db-a"}, id="both"
        ),
        pytest.param(None, {EXTERNAL_NAME_SUFFIX: "-a"}, None, id="nothing-to-join"),
        pytest.param(
            None, {EXTERNAL_NAME: "base", EXTERNAL_NAME_SUFFIX: "-a"}, {EXTERNAL_NAME: "base-a"}, id="the-bases-joined"
        ),
        pytest.param("db", {"other": "x"}, {"other": "x", EXTERNAL_NAME: "db"}, id="others-stay"),
    ],
)
def test_external_name(claimed: str | None, annotations: dict[str, str], want: dict[str, str] | None) -> None:
    made = dressed(external=claimed, metadata={"annotations": annotations})
    assert made["metadata"].get("annotations") == want


# Options

ALWAYS = f'metadata.annotations["{EXTERNAL_NAME}"]'


def document(policy: Any = "Delete", **annotations: Any) -> dict[str, Any]:
    return {"metadata": {"annotations": annotations}, "spec": {"reclaimPolicy": policy}}


@pytest.mark.parametrize(
    ("policy", "retain"),
    [
        pytest.param("Delete", False, id="delete"),
        pytest.param("Retain", True, id="retain"),
        pytest.param("Release", True, id="release-is-the-documents-word-for-retain"),
    ],
)
def test_reclaim_policy(policy: str, retain: bool) -> None:
    assert options_of(document(policy)).retain is retain


@pytest.mark.parametrize("empty", [{}, {"metadata": None, "spec": None}, {"metadata": {"annotations": None}}])
def test_a_document_that_says_nothing(empty: dict[str, Any]) -> None:
    options = options_of(empty)
    assert (options.retain, options.timeout, options.ignore_changes) == (False, DEFAULT_TIMEOUT, (ALWAYS,))


@pytest.mark.parametrize("timeout", ["90s", "20m", "1h30m", "1h"])
def test_timeout(timeout: str) -> None:
    assert options_of(document(**{TIMEOUT: timeout})).timeout == timeout


@pytest.mark.parametrize("managed", [True, False])
def test_the_api_version_before(managed: bool) -> None:
    known = options_of(document(**{PREVIOUS_API_VERSION: "example.org/v1alpha1"}), managed=managed)
    assert known.previous_api_version == "example.org/v1alpha1"


@pytest.mark.parametrize("text", ["v1 alpha", "Example/V1", 5])
def test_an_api_version_before_that_is_none(text: Any) -> None:
    with pytest.raises(ComposeError, match="is not an apiVersion"):
        options_of(document(**{PREVIOUS_API_VERSION: text}))


@pytest.mark.parametrize(
    ("owned", "want"),
    [
        pytest.param("spec.a", ("spec.a",), id="one"),
        pytest.param("spec.a, spec.b[0] ,", ("spec.a", "spec.b[0]"), id="several"),
        pytest.param("", (), id="none"),
    ],
)
def test_controller_owned_fields(owned: str, want: tuple[str, ...]) -> None:
    assert options_of(document(**{CONTROLLER_OWNED: owned})).ignore_changes == (ALWAYS, *want)


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(document("delete"), "spec.reclaimPolicy", id="lower-case-policy"),
        pytest.param(document("Keep"), "spec.reclaimPolicy", id="unknown-policy"),
        pytest.param(document(["Delete"]), "spec.reclaimPolicy", id="policy-that-is-a-list"),
        pytest.param(document(None), "spec.reclaimPolicy", id="policy-that-is-null"),
        pytest.param(document(**{TIMEOUT: "soon"}), f"metadata.annotations[{TIMEOUT}]", id="word"),
        pytest.param(document(**{TIMEOUT: "30"}), f"metadata.annotations[{TIMEOUT}]", id="no-unit"),
        pytest.param(document(**{TIMEOUT: "30m\n"}), f"metadata.annotations[{TIMEOUT}]", id="newline"),
        pytest.param(document(**{TIMEOUT: 30}), f"metadata.annotations[{TIMEOUT}]", id="number"),
        pytest.param(document(**{TIMEOUT: "0s"}), f"metadata.annotations[{TIMEOUT}]", id="nothing"),
        pytest.param(
            document(**{CONTROLLER_OWNED: "spec.a[, spec.b"}),
            f"metadata.annotations[{CONTROLLER_OWNED}]",
            id="bad-path",
        ),
    ],
)
def test_refused_options(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ComposeError) as caught:
        options_of(data)
    [problem] = caught.value.problems
    assert problem.path == path
    assert problem.fix


def test_live_values_come_only_where_asked_for_and_there() -> None:
    ours = {"spec": {"a": 1, "b": 2, "c": 3}}
    live = {"spec": {"a": 10, "b": 20}}
    assert with_live_values(ours, live, ["spec.a", "spec.c"]) == {"spec": {"a": 10, "b": 2, "c": 3}}
    assert ours == {"spec": {"a": 1, "b": 2, "c": 3}}


@pytest.mark.parametrize(
    ("path", "want"),
    [("spec.a", True), ("spec.a.b", False), ("spec.b", False), ("spec.null", True)],
    ids=["there", "below-a-number", "not-there", "null"],
)
def test_has(path: str, want: bool) -> None:
    assert has({"spec": {"a": 1, "null": None}}, path) is want


# Patches

CLAIM = {"metadata": {"name": "sql"}, "spec": {"size": 10, "tags": ["a", "b"], "none": None, "deep": {"x": 1}}}


def applied(target: dict[str, Any], *reads: str, to: str, **options: Any) -> tuple[dict[str, Any], bool]:
    found = patches.apply(Patch(reads, to, **options), {Side.claim: CLAIM, Side.resource: target})
    return target, found.applied


TIMES = (parse_transform({"type": "math", "math": {"multiply": 1024}}),)


@pytest.mark.parametrize(
    ("reads", "to", "options", "target", "want"),
    [
        pytest.param(("spec.size",), "spec.x", {}, {}, {"spec": {"x": 10}}, id="makes-the-way"),
        pytest.param((".spec.size",), "spec.x", {}, {}, {"spec": {"x": 10}}, id="leading-dot"),
        pytest.param(("spec.size",), "x", {}, {"x": 1}, {"x": 10}, id="replaces"),
        pytest.param(("spec.none",), "x", {}, {"x": 1}, {"x": None}, id="null-is-a-value"),
        pytest.param(("spec.size",), "x", {"transforms": TIMES}, {}, {"x": 10240}, id="transforms"),
        pytest.param(("metadata.name", "spec.size"), "x", {"combine": "%s-%d"}, {}, {"x": "sql-10"}, id="combines"),
        pytest.param(("spec.size",), "l[1]", {}, {"l": [1]}, {"l": [1, 10]}, id="lengthens-a-list"),
        pytest.param(
            ("spec.size",), "l[*].x", {}, {"l": [{"x": 1}, {"x": 2}]}, {"l": [{"x": 10}, {"x": 10}]}, id="each"
        ),
        pytest.param(
            ("spec.tags",),
            "l",
            {"policy": MergePolicy.from_text("AppendArray")},
            {"l": ["z"]},
            {"l": ["z", "a", "b"]},
            id="appends",
        ),
        pytest.param(
            ("spec.tags",),
            "l",
            {"policy": MergePolicy.from_text("AppendArray")},
            {},
            {"l": ["a", "b"]},
            id="appends-to-none",
        ),
    ],
)
def test_apply(reads: tuple[str, ...], to: str, options: dict[str, Any], target: Any, want: Any) -> None:
    assert applied(target, *reads, to=to, **options) == (want, True)


@pytest.mark.parametrize(
    ("reads", "combine"),
    [
        pytest.param(("spec.missing",), None, id="no-such-field"),
        pytest.param(("spec.none.below",), None, id="below-null"),
        pytest.param(("spec.size", "spec.missing"), "%d-%d", id="one-of-two"),
        pytest.param(("spec.tags[9]",), None, id="no-such-element"),
    ],
)
def test_an_optional_patch_without_its_source_changes_nothing(reads: tuple[str, ...], combine: str | None) -> None:
    assert applied({"x": 1}, *reads, to="x", combine=combine) == ({"x": 1}, False)


def test_a_patch_shares_nothing_with_the_claim() -> None:
    target, _ = applied({}, "spec.deep", to="x")
    target["x"]["x"] = 2
    assert CLAIM["spec"]["deep"] == {"x": 1}


@pytest.mark.parametrize(
    ("reads", "options", "path"),
    [
        pytest.param(("spec.missing",), {"required": True}, "spec.missing", id="required"),
        pytest.param(("spec.size", "spec.gone"), {"required": True, "combine": "%d%d"}, "spec.gone", id="one-of-two"),
        pytest.param(("spec.size.below",), {}, "", id="below-a-number"),
        pytest.param(("spec.deep",), {"transforms": TIMES}, "", id="transform-that-cannot-take-it"),
        pytest.param(("spec.size",), {"to": "l[*].x"}, "l[*].x", id="wildcard-over-nothing"),
        pytest.param(("spec.size",), {"to": "text.below"}, "", id="target-below-a-text"),
    ],
)
def test_refused_patches(reads: tuple[str, ...], options: dict[str, Any], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        applied({"text": "t", "l": []}, *reads, **{"to": "x", **options})
    problem = caught.value.problems[0]
    assert problem.path == path
    assert problem.fix
