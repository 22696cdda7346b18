"""Claims and Crossplane composites in a stack: read, checked, bound, named, and what they are made of."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from claimsmith import render
from claimsmith.base import values
from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, ComposeError, EngineError, ModelError
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.values import Mix, Ref
from claimsmith.compose.drafts import Draft
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.dialects.common.dialect import composed_name
from claimsmith.dialects.crossplane import xrd
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.platform.selection import Unbound, choose
from tests.support import samples

API = "apiextensions.crossplane.io/v1"
GROUP = "acme.example.org"
BASE: dict[str, Any] = {"apiVersion": "cloud.example.org/v1", "kind": "Thing", "spec": {}}
SCHEMA = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "integer", "default": 1},
        "name": {"type": "string"},
    },
}


def definition(version: str = "v1", **spec: Any) -> dict[str, Any]:
    whole = {"type": "object", "properties": {"spec": SCHEMA}}
    served = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": whole}}
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"xthings.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": "XThing", "plural": "xthings"},
            "claimNames": {"kind": "Thing", "plural": "things"},
            "versions": [served],
            **spec,
        },
    }


def modern(**spec: Any) -> dict[str, Any]:
    made = definition("v2", scope="Namespaced", **spec)
    del made["spec"]["claimNames"]
    return made


def composition(
    name: str = "things", *resources: dict[str, Any], labels: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "spec": {
            "compositeTypeRef": {"apiVersion": f"{GROUP}/v1", "kind": "XThing"},
            "resources": list(resources) or [{"name": "thing", "base": BASE}],
            **spec,
        },
    }


def revision(name: str, number: int, **labels: str) -> dict[str, Any]:
    made = composition(name, labels={"crossplane.io/composition-name": "things", **labels}, revision=number)
    return {**made, "kind": "CompositionRevision"}


def request(kind: str = "Thing", namespace: str = "shop", name: str = "mine", **spec: Any) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    spec = {"size": "small", **spec}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name, **place}, "spec": spec}


def catalog_of(*documents: dict[str, Any], claim: dict[str, Any] | None = None) -> Catalog:
    claims = [Document(claim, "claim.yaml")] if claim else []
    return read_catalog([Document(d, "platform.yaml") for d in documents], claims)


def plan_of(*documents: dict[str, Any], claim: dict[str, Any]) -> Plan:
    found = samples.expanded(catalog_of(*documents, claim=claim))
    assert not found.unbound
    return build_plan(found, project="p", stack="dev", table=samples.table())


def draft_of(*documents: dict[str, Any], claim: dict[str, Any]) -> Draft:
    [draft] = samples.expanded(catalog_of(*documents, claim=claim)).drafts
    return list(draft.walk())[-1]


def field(to: str, source: str, **more: Any) -> dict[str, Any]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": source, "toFieldPath": to, **more}


def to_composite(source: str, to: str) -> dict[str, Any]:
    return {"type": "ToCompositeFieldPath", "fromFieldPath": source, "toFieldPath": to}


# Reading


def test_defaults_are_filled_in() -> None:
    [claim] = catalog_of(definition(), composition(), claim=request()).claims.values()
    assert claim.data["spec"]["count"] == 1


@pytest.mark.parametrize(
    ("claim", "what"),
    [
        pytest.param(request(size="huge"), "'huge' is not one of the values allowed", id="enum"),
        pytest.param(request(cuont=2), "unknown field", id="unknown-field"),
        pytest.param(request(count="two"), "'two' is a string, not an integer", id="type"),
        pytest.param(
            {**request(), "apiVersion": f"{GROUP}/v2"}, "is not defined in 'acme.example.org/v2'", id="version"
        ),
        pytest.param(request("XThing"), "XThing is in no namespace", id="a-composite-in-a-namespace"),
        pytest.param({**request(), "spec": {}}, "size", id="required"),
        pytest.param(request(compositionRef={"nome": "x"}), "unknown field", id="a-reference"),
        pytest.param(request(compositeDeletePolicy="Never"), "'Never' is not one of the values", id="delete-policy"),
    ],
)
def test_refusals(claim: dict[str, Any], what: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of(definition(), composition(), claim=claim)
    assert any(what in p.what for p in caught.value.problems), caught.value.problems


@pytest.mark.parametrize(
    "more",
    [
        {"compositeDeletePolicy": "Foreground"},
        {"compositionUpdatePolicy": "Manual"},
        {"compositionSelector": {"matchLabels": {"a": "b"}}},
        {"writeConnectionSecretToRef": {"name": "x"}},
        {"publishConnectionDetailsTo": {"name": "x"}},
        {"resourceRef": {"name": "x"}},
    ],
    ids=lambda more: next(iter(more)),
)
def test_what_every_claim_may_say(more: dict[str, Any]) -> None:
    assert catalog_of(definition(), composition(), claim=request(**more)).claims


# Binding

CHEAP, DEAR = composition("cheap", labels={"tier": "cheap"}), composition("dear", labels={"tier": "dear"})


@pytest.mark.parametrize(
    ("xrd", "spec", "want", "reason"),
    [
        pytest.param({}, {"compositionRef": {"name": "dear"}}, "dear", "compositionRef", id="reference"),
        pytest.param(
            {},
            {"compositionSelector": {"matchLabels": {"tier": "cheap"}}},
            "cheap",
            "compositionSelector",
            id="selector",
        ),
        pytest.param(
            {"defaultCompositionRef": {"name": "cheap"}}, {}, "cheap", "default of its definition", id="default"
        ),
        pytest.param(
            {"defaultCompositionRef": {"name": "cheap"}},
            {"compositionRef": {"name": "dear"}},
            "dear",
            "compositionRef",
            id="over-the-default",
        ),
        pytest.param(
            {"enforcedCompositionRef": {"name": "dear"}},
            {"compositionRef": {"name": "cheap"}},
            "dear",
            "forced by its definition",
            id="enforced",
        ),
    ],
)
def test_choice(xrd: dict[str, Any], spec: dict[str, Any], want: str, reason: str) -> None:
    claim = request("XThing", "", **spec)
    catalog = catalog_of(definition(**xrd), CHEAP, DEAR, claim=claim)
    [found] = catalog.claims.values()
    chosen = choose(found, catalog)
    assert not isinstance(chosen, Unbound)
    assert chosen.klass.name == want
    assert chosen.reason.startswith(reason)


def test_without_a_wish_any_composition_serves_and_the_choice_is_stable() -> None:
    catalogs = [catalog_of(definition(), *two, claim=request("XThing", "")) for two in ((CHEAP, DEAR), (DEAR, CHEAP))]
    chosen = [choose(next(iter(c.claims.values())), c) for c in catalogs]
    assert not any(isinstance(c, Unbound) for c in chosen)
    assert len({c.klass.name for c in chosen}) == 1  # type: ignore[union-attr]


def test_a_claim_s_wish_reaches_its_composite() -> None:
    draft = draft_of(definition(), CHEAP, DEAR, claim=request(compositionRef={"name": "dear"}))
    assert draft.binding.klass.name == "dear"


REVISIONS = (revision("things-a", 1, channel="old"), revision("things-b", 2, channel="new"), revision("things-c", 3))


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, "things", id="the-composition-itself"),
        pytest.param({"compositionRevisionSelector": {"matchLabels": {"channel": "old"}}}, "things-a", id="by-label"),
        pytest.param({"compositionRevisionSelector": {}}, "things-c", id="the-latest-of-all"),
        pytest.param(
            {"compositionRevisionRef": {"name": "things-b"}, "compositionUpdatePolicy": "Manual"},
            "things-b",
            id="by-name",
        ),
        pytest.param({"compositionRevisionRef": {"name": "things-b"}}, "things", id="automatic-updates-follow"),
        pytest.param({"compositionRevisionSelector": {"matchLabels": {"channel": "none"}}}, None, id="none-fits"),
        pytest.param(
            {"compositionRevisionRef": {"name": "others-a"}, "compositionUpdatePolicy": "Manual"},
            None,
            id="no-such-revision",
        ),
    ],
)
def test_revisions(spec: dict[str, Any], want: str | None) -> None:
    catalog = catalog_of(definition(), composition(), *REVISIONS, claim=request("XThing", "", **spec))
    [claim] = catalog.claims.values()
    chosen = choose(claim, catalog)
    assert (None if isinstance(chosen, Unbound) else chosen.klass.name) == want


# Names, labels, places


def test_composed_names() -> None:
    tail = hashlib.sha256(b"uid-1thing").hexdigest()[:12]
    assert composed_name("mine-", "uid-1", "thing") == f"mine-{tail}"
    assert composed_name("x" * 80, "uid-1", "thing") == f"{'x' * 51}{tail}"


def test_a_claim_s_composite_and_its_children_tell_whose_they_are() -> None:
    draft = draft_of(definition(), composition(), claim=request())
    [child] = draft.children
    name = draft.binding.claim.key.name
    assert name.startswith("mine-")
    assert child.document["metadata"] == {
        "name": composed_name(f"{name}-", draft.binding.uid, "thing"),
        "labels": {
            "crossplane.io/composite": name,
            "crossplane.io/claim-namespace": "shop",
            "crossplane.io/claim-name": "mine",
            "claimsmith.io/parent-uid": draft.binding.uid,
        },
        "annotations": {"crossplane.io/composition-resource-name": "thing"},
    }
    assert draft.binding.claim.data["spec"]["claimRef"]["name"] == "mine"
    assert "writeConnectionSecretToRef" not in draft.binding.claim.data["spec"]


def test_a_composite_without_a_claim() -> None:
    draft = draft_of(definition(), composition(), claim=request("XThing", ""))
    [child] = draft.children
    assert child.document["metadata"]["labels"] == {
        "crossplane.io/composite": "mine",
        "claimsmith.io/parent-uid": draft.binding.uid,
    }


def test_a_name_that_the_composition_gives_is_kept() -> None:
    base = {**BASE, "metadata": {"namespace": "there", "labels": {"a": "b"}}}
    made = {"name": "thing", "base": base, "patches": [field("metadata.name", "spec.name")]}
    claim = {**request("XThing", ""), "spec": {"size": "small", "name": "fixed"}}
    [child] = draft_of(definition(), composition("c", made), claim=claim).children
    assert (child.namespace, child.name, child.document["metadata"]["labels"]["a"]) == ("there", "fixed", "b")


@pytest.mark.parametrize(
    ("patch", "what"),
    [
        pytest.param(
            field(
                "metadata.name",
                "spec.size",
                transforms=[{"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}}],
            ),
            "'SMALL' is not a Kubernetes name",
            id="no-name",
        ),
        pytest.param(field("metadata.name", "status.id"), "is known only later", id="known-only-later"),
    ],
)
def test_names_that_are_refused(patch: dict[str, Any], what: str) -> None:
    other = {"name": "other", "base": BASE, "patches": [to_composite("status.id", "status.id")]}
    made = {"name": "thing", "base": BASE, "patches": [patch]}
    with pytest.raises(ComposeError) as caught:
        draft_of(definition(), composition("c", other, made), claim=request("XThing", ""))
    assert what in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("base", "patch", "what"),
    [
        pytest.param({**BASE, "metadata": ["a"]}, None, "must be an object", id="metadata-is-a-list"),
        pytest.param({**BASE, "metadata": {"labels": "a"}}, None, "must be an object", id="labels-are-a-text"),
        pytest.param({**BASE, "ready": True}, None, "cannot be called ready", id="a-word-of-components"),
        pytest.param(BASE, field("awaits", "spec.size"), "cannot be called awaits", id="patched-into-such-a-word"),
        pytest.param(BASE, field("metadata", "spec.size"), "metadata must be an object", id="patched-metadata"),
        pytest.param(BASE, field("metadata.labels", "spec.size"), "labels must be an object", id="patched-labels"),
    ],
)
def test_bases_that_no_child_can_be_made_of(base: dict[str, Any], patch: dict[str, Any] | None, what: str) -> None:
    made = {"name": "thing", "base": base, "patches": [patch] if patch else []}
    with pytest.raises(EngineError) as caught:
        draft_of(definition(), composition("c", made), claim=request("XThing", ""))
    assert what in caught.value.problems[0].what


def test_what_a_namespaced_composite_composes_is_in_its_namespace() -> None:
    base = {**BASE, "metadata": {"namespace": "elsewhere"}}
    made = composition("c", {"name": "thing", "base": base})
    [child] = draft_of(modern(), made, claim=request("XThing", "shop")).children
    assert child.namespace == "shop"


def test_a_namespaced_composite_composes_nothing_at_cluster_scope() -> None:
    base = {"apiVersion": "v1", "kind": "Namespace"}
    made = composition("c", {"name": "thing", "base": base})
    with pytest.raises(ComposeError) as caught:
        draft_of(modern(), made, claim=request("XThing", "shop"))
    assert "lives at cluster scope" in caught.value.problems[0].what


# Values that are known only later

OTHER = {
    "name": "other",
    "base": BASE,
    "patches": [to_composite("status.id", "status.id"), to_composite("metadata.name", "status.name")],
}


@pytest.mark.parametrize(
    ("patch", "want"),
    [
        pytest.param(field("spec.value", "status.id"), "<{other}:status.id>", id="a-status"),
        pytest.param(field("spec.value", "status.name"), "{name}", id="a-name-is-known"),
        pytest.param(field("spec.value", "status.nothing"), None, id="nobody-tells-it"),
        pytest.param(field("spec.value", "status.id.part"), "<{other}:status.id.part>", id="a-part-of-it"),
        pytest.param(
            {
                "type": "CombineFromComposite",
                "combine": {
                    "variables": [{"fromFieldPath": "status.name"}, {"fromFieldPath": "spec.size"}],
                    "strategy": "string",
                    "string": {"fmt": "%s-%s"},
                },
                "toFieldPath": "spec.value",
            },
            "{name}-small",
            id="a-combination-that-is-known",
        ),
        pytest.param(
            {
                "type": "CombineFromComposite",
                "combine": {
                    "variables": [{"fromFieldPath": "status.id"}, {"fromFieldPath": "spec.size"}],
                    "strategy": "string",
                    "string": {"fmt": "%s-%s"},
                },
                "toFieldPath": "spec.value",
            },
            "<{other}:status.id>-small",
            id="a-combination",
        ),
    ],
)
def test_values_from_another_child(patch: dict[str, Any], want: str | None) -> None:
    made = {"name": "thing", "base": BASE, "patches": [patch]}
    draft = draft_of(definition(), composition("c", made, OTHER), claim=request("XThing", ""))
    by_name = {c.template.name: c for c in draft.children}
    assert next(iter(by_name)) == ("other" if want else "thing")
    shown = render.plain(by_name["thing"].document)["spec"].get("value")
    other = by_name["other"]
    assert shown == (want.format(other=other.address, name=other.name) if want else None)


def test_a_required_status_that_nobody_tells_is_refused() -> None:
    made = {"name": "t", "base": BASE, "patches": [field("spec.v", "status.x", policy={"fromFieldPath": "Required"})]}
    with pytest.raises(ComposeError) as caught:
        draft_of(definition(), composition("c", made), claim=request("XThing", ""))
    assert "the claim has no status.x, which the class requires" in caught.value.problems[0].what


def test_what_a_merge_makes_of_a_later_value_is_later_too() -> None:
    base = {**BASE, "spec": {"value": {"kept": 1}}}
    patch = field("spec.value", "status.id", policy={"toFieldPath": "MergeObjects"})
    made = {"name": "thing", "base": base, "patches": [patch]}
    draft = draft_of(definition(), composition("c", made, OTHER), claim=request("XThing", ""))
    value = draft.children[-1].document["spec"]["value"]
    assert isinstance(value, Mix)
    assert [str(r.path) for r in values.refs(value)] == ["('status', 'id')"]


def test_a_composite_within_a_composite_tells_its_status() -> None:
    inner = definition()
    outer = {
        **definition(),
        "metadata": {"name": f"xpairs.{GROUP}"},
        "spec": {**definition()["spec"], "names": {"kind": "XPair", "plural": "xpairs"}},
    }
    del outer["spec"]["claimNames"], inner["spec"]["claimNames"]
    pair = composition(
        "pair",
        {
            "name": "half",
            "base": {"apiVersion": f"{GROUP}/v1", "kind": "XThing", "spec": {"size": "small"}},
            "patches": [to_composite("status.id", "status.half")],
        },
        {"name": "user", "base": BASE, "patches": [field("spec.value", "status.half")]},
    )
    pair["spec"]["compositeTypeRef"]["kind"] = "XPair"
    plan = plan_of(inner, outer, composition("things", OTHER), pair, claim=request("XPair", ""))
    [claim] = plan.claims
    [user] = claim.children
    value = user.document["spec"]["value"]
    assert isinstance(value, Ref)
    assert value.resource.endswith("/other")
    assert value.path == ("status", "id")


# Connection details


def secret_of(name: str) -> dict[str, Any]:
    return {"type": "FromConnectionSecretKey", "name": name, "fromConnectionSecretKey": name}


PUBLISHING = {
    "name": "thing",
    "base": {**BASE, "spec": {"writeConnectionSecretToRef": {"namespace": "system", "name": "thing"}}},
    "connectionDetails": [secret_of("user"), {"type": "FromValue", "name": "port", "value": "1"}],
}


@pytest.mark.parametrize(
    ("documents", "claim", "want"),
    [
        pytest.param(
            [definition(), composition("c", PUBLISHING)],
            request(writeConnectionSecretToRef={"name": "mine"}),
            [("crossplane-system", "composite"), ("shop", "mine")],
            id="claim-and-composite",
        ),
        pytest.param(
            [definition(), composition("c", PUBLISHING, writeConnectionSecretsToNamespace="there")],
            request(writeConnectionSecretToRef={"name": "mine"}),
            [("there", "composite"), ("shop", "mine")],
            id="where-the-composition-says",
        ),
        pytest.param(
            [definition(), composition("c")],
            request(),
            [],
            id="no-details",
        ),
        pytest.param(
            [
                modern(),
                composition(
                    "c", {**PUBLISHING, "base": {**BASE, "spec": {"writeConnectionSecretToRef": {"name": "x"}}}}
                ),
            ],
            request("XThing", "shop"),
            [("shop", "mine-connection")],
            id="a-composite-without-a-secret-of-its-own",
        ),
        pytest.param([modern(), composition("c")], request("XThing", "shop"), [], id="nothing-to-tell"),
    ],
)
def test_secrets(documents: list[dict[str, Any]], claim: dict[str, Any], want: list[tuple[str, str]]) -> None:
    plan = plan_of(*documents, claim=claim)
    composite = list(plan.walk())[-1].binding.claim.key.name
    found = sorted((c.namespace, c.name) for p in plan.walk() for c in p.connections)
    assert found == sorted((ns, composite if n == "composite" else n) for ns, n in want)


def test_a_definition_that_is_not_named_plural_and_group_is_refused() -> None:
    data = {**definition(), "metadata": {"name": f"things.{GROUP}"}}
    with pytest.raises(ModelError) as caught:
        xrd.read(Document(data, "xrd.yaml"))
    assert [(p.path, p.fix) for p in caught.value.problems] == [("metadata.name", f"name it xthings.{GROUP}")]


def test_the_definition_says_which_details_count() -> None:
    plan = plan_of(definition(connectionSecretKeys=["user"]), composition("c", PUBLISHING), claim=request("XThing", ""))
    assert [c.binding.klass.connection_keys for c in plan.walk()] == [("user",)]


# Definitions for a cluster


def test_the_kinds_are_defined_for_a_cluster() -> None:
    found = {c["spec"]["names"]["kind"]: c for c in crd_set.own_crds(catalog_of(definition(), composition()))}
    scopes = {kind: found[kind]["spec"]["scope"] for kind in ("XThing", "Thing")}
    assert scopes == {"XThing": "Cluster", "Thing": "Namespaced"}
    spec = found["Thing"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert {"size", "count", "compositionRef", "compositeDeletePolicy", "resourceRef"} <= set(spec["properties"])


def test_keys() -> None:
    catalog = catalog_of(definition(), composition(), claim=request())
    assert list(catalog.claims) == [ClaimKey(GroupKind(GROUP, "Thing"), "shop", "mine")]
