"""Classes of one and of several resources: how they are read, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import CatalogError
from claimsmith.base.merge import MergePolicy
from claimsmith.dialects.composite_classes.dialect import COMPOSITE_CLASSES
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES
from tests.support.samples import BUCKET, catalog_of, claim_data, class_data, documents_of, one_claim, one_class, patch

# Classes


def test_a_class_of_one_resource_binds_it_to_the_claim() -> None:
    data = class_data()
    data |= {"kind": "ResourceClass", "spec": {"claim": data["spec"]["claim"], "resource": {"base": BUCKET}}}
    assert one_class(data).dialect is RESOURCE_CLASSES


def test_a_class_of_several_binds_them_to_a_composite() -> None:
    assert one_class(class_data()).dialect is COMPOSITE_CLASSES


@pytest.mark.parametrize(
    ("resources", "want"),
    [
        pytest.param([{}, {}, {}], ["bucket", "bucket-2", "bucket-3"], id="numbered-from-the-second-on"),
        pytest.param([{"name": "a"}, {}, {"name": "b"}], ["a", "bucket", "b"], id="given"),
        pytest.param([{}, {"name": "bucket-2"}, {}], ["bucket", "bucket-2", "bucket-3"], id="given-number-is-kept"),
        pytest.param([{"name": "bucket-2"}, {}, {}], ["bucket-2", "bucket", "bucket-3"], id="given-number-comes-first"),
        pytest.param([{"name": "bucket-7"}, {}, {}], ["bucket-7", "bucket", "bucket-2"], id="given-number-far-off"),
    ],
)
def test_template_names(resources: list[dict[str, Any]], want: list[str]) -> None:
    klass = one_class(class_data("c", *({**r, "base": BUCKET} for r in resources)))
    assert [t.name for t in klass.templates] == want


@pytest.mark.parametrize("word", ["patch", "patches"])
def test_both_words_for_patches_mean_the_same(word: str) -> None:
    klass = one_class(class_data("c", {"base": BUCKET, word: [patch("spec.a", "spec.b")]}))
    [found] = klass.templates[0].patches
    assert (found.reads, found.to, found.at) == (("spec.a",), "spec.b", f"spec.resources[0].{word}[0]")


def test_patch_policies() -> None:
    policy = {"fromFieldPath": "Required", "toFieldPath": "AppendArray"}
    klass = one_class(class_data("c", {"base": BUCKET, "patches": [patch("spec.a", "spec.b", policy=policy)]}))
    [found] = klass.templates[0].patches
    assert (found.required, found.policy) == (True, MergePolicy.from_text("AppendArray"))


def test_one_spelling_of_the_connection_secret() -> None:
    base = {**BUCKET, "spec": {"writeConnectionSecretsToRef": {"namespace": "x"}}}
    klass = one_class(
        class_data("c", {"base": base, "patches": [patch("metadata.uid", "spec.writeConnectionSecretsToRef.name")]})
    )
    assert klass.templates[0].base["spec"] == {"writeConnectionSecretToRef": {"namespace": "x"}}
    assert klass.templates[0].patches[0].to == "spec.writeConnectionSecretToRef.name"


@pytest.mark.parametrize(
    ("metadata", "kept", "ignored"),
    [
        pytest.param(None, None, [], id="nothing"),
        pytest.param({}, None, [], id="empty"),
        pytest.param({"labels": {"a": "b"}}, {"labels": {"a": "b"}}, [], id="labels"),
        pytest.param({"annotations": {"a": "b"}}, {"annotations": {"a": "b"}}, [], id="annotations"),
        pytest.param({"name": "x", "labels": None}, None, ["spec.resources[0].base.metadata.name"], id="name"),
    ],
)
def test_metadata_of_a_base(metadata: Any, kept: Any, ignored: list[str]) -> None:
    catalog = catalog_of([class_data("c", {"base": {**BUCKET, "metadata": metadata}})])
    [klass] = catalog.classes.values()
    assert klass.templates[0].base.get("metadata") == kept
    assert [w.path for w in catalog.warnings] == ignored


def changed(**changes: Any) -> dict[str, Any]:
    return {**BUCKET, "spec": {"forProvider": {"region": "eu", **changes}}}


@pytest.mark.parametrize(
    ("data", "same"),
    [
        pytest.param(class_data("c", labels={"tier": "gold"}), True, id="labels-for-selection-do-not-count"),
        pytest.param(class_data("c", annotations={"a": "b"}), True, id="nor-annotations"),
        pytest.param(dict(reversed(class_data("c").items())), True, id="nor-the-order-of-keys"),
        pytest.param(class_data("c", {"base": BUCKET, "patches": []}), True, id="nor-empty-patches"),
        pytest.param(class_data("d"), False, id="name"),
        pytest.param(class_data("c", kind="Cache"), False, id="claim-kind"),
        pytest.param(class_data("c", {"base": changed(size=1)}), False, id="field"),
        pytest.param(class_data("c", {"base": BUCKET, "name": "other"}), False, id="template-name"),
        pytest.param(class_data("c", {"base": BUCKET, "previousName": "x"}), False, id="previous-name"),
        pytest.param(class_data("c", {"base": BUCKET, "patches": [patch("spec.a", "spec.b")]}), False, id="patch"),
        pytest.param(class_data("c", {"base": BUCKET}, {"base": BUCKET}), False, id="another-child"),
    ],
)
def test_digest(data: dict[str, Any], same: bool) -> None:
    assert (one_class(data).digest() == one_class(class_data("c")).digest()) is same


def test_digest_tells_types_apart() -> None:
    digests = {one_class(class_data("c", {"base": changed(size=s)})).digest() for s in (1, "1", True, 1.5, None)}
    assert len(digests) == 5


def test_digest_tells_transforms_apart() -> None:
    def digest(*transforms: dict[str, Any]) -> str:
        return one_class(
            class_data("c", {"base": BUCKET, "patches": [patch("spec.a", "spec.b", *transforms)]})
        ).digest()

    double, triple = ({"type": "math", "math": {"multiply": n}} for n in (2, 3))
    text = {"type": "convert", "convert": {"toType": "string"}}
    assert len({digest(), digest(double), digest(triple), digest(double, text), digest(text, double)}) == 5


# Claims


def test_a_claim_without_a_namespace_is_in_default() -> None:
    data = claim_data("sql")
    del data["metadata"]["namespace"]
    assert str(one_claim(data).key) == "Database.database.example.org/default/sql"


def test_a_claim_may_say_anything_in_its_spec() -> None:
    assert one_claim(claim_data("sql", anything={"at": ["all"]})).data["spec"] == {"anything": {"at": ["all"]}}


def test_a_claim_with_nothing_in_its_spec() -> None:
    assert one_claim({**claim_data("sql"), "spec": None}).secret_name is None


# Refusals: what and where; the files of test_refusals.py show the lines.


def spoilt(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**data, **changes}


KIND = {"apiVersion": "database.example.org/v1alpha1", "kind": "Database"}


@pytest.mark.parametrize(
    ("data", "path", "word"),
    [
        pytest.param(spoilt(class_data(), spec={"claim": KIND}), "spec.resources", "missing", id="no-resources"),
        pytest.param(
            spoilt(class_data(), spec={"claim": KIND, "resources": []}), "spec.resources", "", id="empty-resources"
        ),
        pytest.param(spoilt(class_data(), state={}), "state", "unknown field", id="unknown-top-level-field"),
        pytest.param(class_data("Upper"), "metadata.name", "Kubernetes name", id="upper-case-name"),
        pytest.param(class_data("line\n"), "metadata.name", "Kubernetes name", id="name-that-ends-in-a-newline"),
        pytest.param(class_data("c", labels={"a": "x" * 64}), "metadata.labels", "label", id="long-label"),
        pytest.param(class_data("c", labels={"a": "b\n"}), "metadata.labels", "label", id="label-with-a-newline"),
        pytest.param(class_data("c", labels={"a": 1}), "metadata.labels.a", "string", id="label-that-is-a-number"),
        pytest.param(
            class_data("c", {"base": BUCKET, "name": "x"}, {"base": BUCKET, "name": "x"}),
            "spec.resources[1].name",
            "two templates",
            id="one-name-twice",
        ),
        pytest.param(
            class_data("c", {"base": {**BUCKET, "kind": None}}), "spec.resources[0]", "no kind", id="base-without-kind"
        ),
        pytest.param(
            class_data("c", {"base": BUCKET, "patches": [patch("spec.a", "spec.b", policy={"toFieldPath": "Mrge"})]}),
            "spec.resources[0].patches[0].policy.toFieldPath",
            "Mrge",
            id="unknown-merge",
        ),
        pytest.param(
            class_data("c", {"base": BUCKET, "patches": [patch("spec.a[", "spec.b")]}),
            "spec.resources[0].patches[0].fromClaimFieldPath",
            "cannot parse",
            id="path-that-cannot-be-parsed",
        ),
        pytest.param(
            class_data("c", {"base": BUCKET, "patches": [patch("spec.a", "spec..b")]}),
            "spec.resources[0].patches[0].toResourceFieldPath",
            "cannot parse",
            id="target-that-cannot-be-parsed",
        ),
        pytest.param(
            class_data("c", kind='X"""\nimport os'), "spec.claim.kind", "kind", id="claim-kind-that-would-be-code"
        ),
        *(
            pytest.param(
                class_data("c", {"base": {**BUCKET, word: False}}),
                f"spec.resources[0].base.{word}",
                "components use this word",
                id=f"field-called-{word}",
            )
            for word in ("class_ref", "managed", "previous_name")
        ),
        pytest.param(
            class_data("c", {"base": {**BUCKET, "metadata": [None]}}),
            "spec.resources[0].base.metadata",
            "metadata must be an object",
            id="metadata-of-a-base-that-is-a-list",
        ),
        pytest.param(
            class_data("c", {"base": {**BUCKET, "metadata": {"labels": [[]]}}}),
            "spec.resources[0].base.metadata.labels",
            "metadata.labels must be an object",
            id="labels-of-a-base-that-are-a-list",
        ),
        pytest.param(class_data("c", kind="My.Kind"), "spec.claim.kind", "kind", id="claim-kind-with-a-dot"),
        pytest.param(
            spoilt(class_data(), spec={"claim": {**KIND, "apiVersion": 'a"b/v1'}, "resources": [{"base": BUCKET}]}),
            "spec.claim.apiVersion",
            "apiVersion",
            id="claim-group-that-would-be-code",
        ),
    ],
)
def test_refused_classes(data: dict[str, Any], path: str, word: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of([data])
    problem = caught.value.problems[0]
    assert problem.path == path
    assert word in problem.what
    assert problem.fix
    assert problem.where.file == "platform.yaml"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(spoilt(claim_data(), metadata={}), "metadata.name", id="no-name"),
        pytest.param(claim_data("sql\n"), "metadata.name", id="name-that-ends-in-a-newline"),
        pytest.param(claim_data(namespace="Upper"), "metadata.namespace", id="upper-case-namespace"),
        pytest.param(claim_data(kind="My/SQL"), "kind", id="kind-with-a-slash"),
        pytest.param(claim_data(writeConnectionSecretToRef={}), "spec.writeConnectionSecretToRef.name", id="no-secret"),
        pytest.param(
            claim_data(writeConnectionSecretToRef={"name": "a", "namespace": "b"}),
            "spec.writeConnectionSecretToRef.namespace",
            id="secret-of-another-namespace",
        ),
        pytest.param(claim_data(classRef={"name": "x"}), "spec.classRef.apiVersion", id="half-a-reference"),
        pytest.param(
            claim_data(resourceRef={"type": "postgresql:Database"}),
            "spec.resourceRef.id",
            id="native-resource-without-an-id",
        ),
        pytest.param(
            claim_data(classSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
            "spec.classSelector.matchExpressions[0]",
            id="in-nothing",
        ),
        pytest.param(
            claim_data(classSelector={"matchLables": {"a": "b"}}), "spec.classSelector.matchLables", id="misspelt"
        ),
    ],
)
def test_refused_claims(data: dict[str, Any], path: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of([], [data])
    problem = caught.value.problems[0]
    assert problem.path == path
    assert problem.fix
    assert problem.where.file == "claims.yaml"


def test_several_problems_of_one_document_are_told_at_once() -> None:
    data = class_data("Upper", {"base": {}, "patchs": []})
    with pytest.raises(CatalogError) as caught:
        catalog_of([data])
    assert {p.path for p in caught.value.problems} >= {"metadata.name", "spec.resources[0].patchs"}


def test_documents_keep_their_lines() -> None:
    first, second = documents_of(class_data("a"), class_data("b"))
    assert first.source_of("metadata.name").line < second.source_of("metadata.name").line


@pytest.mark.parametrize(
    ("base", "to", "ignored"),
    [
        pytest.param(BUCKET, "metadata.name", True, id="name"),
        pytest.param(BUCKET, "metadata.namespace", True, id="namespace-of-a-managed-resource"),
        pytest.param(
            {"apiVersion": "v1", "kind": "ConfigMap"}, "metadata.namespace", False, id="namespace-that-counts"
        ),
        pytest.param(BUCKET, "metadata.labels.name", False, id="a-label"),
    ],
)
def test_a_patch_without_effect_is_a_warning(base: dict[str, Any], to: str, *, ignored: bool) -> None:
    catalog = catalog_of([class_data("c", {"base": base, "patches": [patch("spec.a", to)]})])
    found = [w.what for w in catalog.warnings if "is ignored: names are generated" in w.what]
    assert bool(found) == ignored
