"""The older dialects in Crossplane's words: what becomes what, and what cannot be said or is said differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from claimsmith.base.documents import read_documents
from claimsmith.base.names import ClaimKey, ClassKey, GroupKind
from claimsmith.dialects.common.bindable import read_bindable
from claimsmith.dialects.definitions import crds
from claimsmith.kubernetes import schema
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import read_catalog
from claimsmith.project.project import Project
from claimsmith.tools.convert import Conversion, Stack, convert
from tests.support.aggregate_documents import AGGREGATED, aggregate, parsed
from tests.support.converted import Platform
from tests.support.paths import ROOT
from tests.support.platform_files import AGGREGATE, DEFINITIONS, REDIS, SITE, STORE
from tests.support.samples import BUCKET, CLAIM_API, claim_data, class_data, class_ref, documents_of, patch

TABLES = Project(ROOT)
EXTERNAL = "metadata.annotations[crossplane.io/external-name]"
REDIS_CLAIM = "cache.crossplane.io/v1alpha1"
SECRET_NAME = "spec.writeConnectionSecretToRef.name"
DETAILS = [
    {"fromConnectionSecretKey": key}
    for key in (
        *("username", "password", "endpoint", "port"),
        *("clusterCA", "clientCert", "clientKey", "token", "kubeconfig"),
    )
]


def converted(
    platform: Sequence[dict[str, Any]], *claims: dict[str, Any], records: Sequence[Record] = ()
) -> Conversion:
    """What documents become."""
    catalog = read_catalog(
        documents_of(*platform), documents_of(*claims, file="claims.yaml"), bindable=TABLES.bindable()
    )
    return convert(catalog, TABLES.table(), [Stack(catalog, records)])


def bucket(*patches: dict[str, Any], spec: Any = None, **metadata: Any) -> dict[str, Any]:
    """A resource of a class: one bucket."""
    base = {**BUCKET, **({"metadata": metadata} if metadata else {}), **({"spec": spec} if spec else {})}
    return {"base": base, "patches": list(patches)}


def definition_in(found: Conversion, kind: str) -> dict[str, Any]:
    [one] = [
        c.document
        for c in found.platform
        if c.document["kind"] == "CompositeResourceDefinition" and c.document["spec"]["names"]["kind"] == kind
    ]
    return one


def composition_in(found: Conversion, name: str = "plain") -> dict[str, Any]:
    [one] = [
        c.document
        for c in found.platform
        if c.document["kind"] == "Composition" and c.document["metadata"]["name"] == name
    ]
    return one


def resource_in(found: Conversion, index: int = 0, name: str = "plain") -> dict[str, Any]:
    entry: dict[str, Any] = composition_in(found, name)["spec"]["pipeline"][-1]["input"]["resources"][index]
    return entry


def claim_in(found: Conversion) -> dict[str, Any]:
    [one] = found.claims
    return one.document


# Patches: each row is a patch of document 001, and what it is in the function's input.


INHERITED = {"type": "FromCompositeFieldPath", "fromFieldPath": EXTERNAL, "toFieldPath": EXTERNAL}


def written(origin: str, to: str = "spec.a", **more: Any) -> dict[str, Any]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": origin, "toFieldPath": to, **more}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(patch("spec.size", "spec.a"), written("spec.size"), id="field-of-the-spec"),
        pytest.param(patch(".spec.size", ".spec.a"), written("spec.size"), id="leading-dot-goes"),
        pytest.param(patch("metadata.name", "spec.a"), written("spec.claimRef.name"), id="name-of-the-claim"),
        pytest.param(patch("metadata.namespace", "spec.a"), written("spec.claimRef.namespace"), id="its-namespace"),
        pytest.param(patch("metadata.uid", "spec.a"), written("metadata.uid"), id="uid-is-the-composites"),
        pytest.param(patch("kind", "spec.a"), written("spec.claimRef.kind"), id="its-kind"),
        pytest.param(
            patch("metadata.labels[x.org/a]", "spec.a"), written("metadata.labels[x.org/a]"), id="labels-are-passed-on"
        ),
        pytest.param(patch("spec.classRef.name", "spec.a"), written("spec.compositionRef.name"), id="class-name"),
        pytest.param(
            patch("spec.classSelector.matchLabels.env", "spec.a"),
            written("spec.compositionSelector.matchLabels.env"),
            id="selector-label",
        ),
        pytest.param(
            patch("spec.size", "spec.a", {"type": "math", "math": {"multiply": 2}}),
            written("spec.size", transforms=[{"type": "math", "math": {"type": "Multiply", "multiply": 2}}]),
            id="types-are-written-out",
        ),
        pytest.param(
            patch("spec.size", "spec.a", policy={"fromFieldPath": "Required", "toFieldPath": "AppendArray"}),
            written("spec.size", policy={"fromFieldPath": "Required", "toFieldPath": "ForceMergeObjectsAppendArrays"}),
            id="policies",
        ),
    ],
)
def test_patches(given: dict[str, Any], want: dict[str, Any]) -> None:
    found = converted([class_data("plain", bucket(given))])
    assert resource_in(found)["patches"] == [want, INHERITED]
    assert found.unsupported == ()


@pytest.mark.parametrize(
    "origin",
    [
        pytest.param("spec", id="whole-spec"),
        pytest.param("metadata", id="whole-metadata"),
        pytest.param("metadata.labels", id="all-labels"),
        pytest.param("metadata.generation", id="other-metadata"),
        pytest.param("status.phase", id="status"),
        pytest.param("spec.writeConnectionSecretToRef.name", id="secret-of-the-claim"),
        pytest.param("spec.resourceRef.name", id="resource-of-the-claim"),
        pytest.param("spec.claimRef.name", id="field-that-is-taken"),
    ],
)
def test_patches_that_cannot_be_said(origin: str) -> None:
    found = converted([class_data("plain", bucket(patch(origin, "spec.a")))])
    [problem] = found.unsupported
    assert (problem.path, bool(problem.fix)) == ("spec.resources[0].patches[0]", True)
    assert problem.where is not None
    assert (problem.where.file, problem.where.line > 1) == ("platform.yaml", True)
    assert resource_in(found)["patches"] == [INHERITED]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        pytest.param(patch("metadata.uid", "spec.a"), "uid of the composite", id="uid"),
        pytest.param(patch("spec.a", "metadata.name"), "names are generated", id="name-has-no-effect"),
        pytest.param(
            patch("spec.a", "spec.a", {"type": "string", "string": {"fmt": "%03d%%"}}), "floats", id="whole-number"
        ),
        pytest.param(
            patch("spec.a", "spec.a", {"type": "string", "string": {"type": "Join", "join": {"separator": ", "}}}),
            "several characters",
            id="long-separator",
        ),
    ],
)
def test_patches_that_differ(given: dict[str, Any], word: str) -> None:
    found = converted([class_data("plain", bucket(given))])
    [problem] = found.differs
    assert word in problem.what
    assert problem.path.startswith("spec.resources[0].patches[0]")
    assert found.unsupported == ()


@pytest.mark.parametrize(
    "transform",
    [
        pytest.param({"type": "string", "string": {"fmt": "100%%d %s"}}, id="escaped-percent"),
        pytest.param({"type": "string", "string": {"type": "Join", "join": {"separator": ","}}}, id="short-separator"),
    ],
)
def test_transforms_that_do_not_differ(transform: dict[str, Any]) -> None:
    found = converted([class_data("plain", bucket(patch("spec.a", "spec.a", transform)))])
    assert (found.differs, found.unsupported) == ((), ())


# What a child has beside its patches.


def test_a_secret_that_is_named_after_its_resource_is_named_after_composite_and_template() -> None:
    spec = {"writeConnectionSecretToRef": {"namespace": "system"}}
    entry = resource_in(converted([class_data("plain", bucket(patch("spec.secret", SECRET_NAME), spec=spec))]))
    default = {"type": "string", "string": {"type": "Format", "fmt": "%s-bucket"}}
    assert entry["patches"] == [
        written("metadata.uid", SECRET_NAME, transforms=[default]),
        written("spec.secret", SECRET_NAME),
        INHERITED,
    ]
    assert [d["name"] for d in entry["connectionDetails"]] == [d["fromConnectionSecretKey"] for d in DETAILS]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(patch("metadata.uid", SECRET_NAME), id="uid"),
        pytest.param(patch("spec.secret", SECRET_NAME, policy={"fromFieldPath": "Required"}), id="required"),
    ],
)
def test_a_secret_that_a_patch_names_in_any_case(given: dict[str, Any]) -> None:
    spec = {"writeConnectionSecretToRef": {"namespace": "system"}}
    entry = resource_in(converted([class_data("plain", bucket(given, spec=spec))]))
    assert [p["toFieldPath"] for p in entry["patches"]] == [SECRET_NAME, EXTERNAL]


def test_a_secret_whose_namespace_a_patch_changes_is_named_as_ever() -> None:
    spec = {"writeConnectionSecretToRef": {"namespace": "system"}}
    given = patch("spec.place", "spec.writeConnectionSecretToRef.namespace")
    entry = resource_in(converted([class_data("plain", bucket(given, spec=spec))]))
    assert [p["toFieldPath"] for p in entry["patches"]] == [SECRET_NAME, given["toResourceFieldPath"], EXTERNAL]


@pytest.mark.parametrize(
    ("spec", "to"),
    [
        pytest.param({}, "spec.writeConnectionSecretToRef.namespace", id="namespace"),
        pytest.param({"writeConnectionSecretToRef": {"namespace": "n"}}, "spec.writeConnectionSecretToRef", id="place"),
    ],
)
def test_a_secret_whose_place_a_patch_gives_has_no_name(spec: dict[str, Any], to: str) -> None:
    found = converted([class_data("plain", bucket(patch("spec.place", to), spec=spec))])
    assert [p.path for p in found.unsupported] == ["spec.resources[0].patches[0]"]


@pytest.mark.parametrize(
    ("annotations", "want", "format_"),
    [
        pytest.param({}, {}, None, id="none"),
        pytest.param({"crossplane.io/external-name-suffix": "-a"}, {}, "%s-a", id="suffix"),
        pytest.param({"crossplane.io/external-name-prefix": "5%-"}, {}, "5%%-%s", id="prefix-with-a-percent"),
        pytest.param(
            {"crossplane.io/external-name": "own", "crossplane.io/external-name-suffix": "-a"},
            {"crossplane.io/external-name": "own-a"},
            "%s-a",
            id="own-name",
        ),
        pytest.param({"x.org/other": "kept"}, {"x.org/other": "kept"}, None, id="others-stay"),
    ],
)
def test_external_names(annotations: dict[str, str], want: dict[str, str], format_: str | None) -> None:
    entry = resource_in(converted([class_data("plain", bucket(annotations=annotations, labels={"a": "b"}))]))
    [last] = entry["patches"]
    assert entry["base"]["metadata"].get("annotations", {}) == want
    assert [t["string"]["fmt"] for t in last.get("transforms", [])] == [f for f in [format_] if f]


SUFFIX = "metadata.annotations[crossplane.io/external-name-suffix]"
PREFIX = "metadata.annotations[crossplane.io/external-name-prefix]"
UPPER = {"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(
            [patch("spec.a", SUFFIX)], [("spec.a", "own%s"), (EXTERNAL, "%s-s"), (None, "%s%s")], id="patched-suffix"
        ),
        pytest.param(
            [patch("spec.a", PREFIX)],
            [("spec.a", "%sown-s"), (EXTERNAL, "%s-s"), (None, "%s%s-s")],
            id="patched-prefix",
        ),
        pytest.param([patch("spec.a", EXTERNAL)], [("spec.a", "%s-s"), (EXTERNAL, "%s-s")], id="patched-name"),
    ],
)
def test_an_own_external_name(given: list[dict[str, Any]], want: list[tuple[str | None, str]]) -> None:
    annotations = {"crossplane.io/external-name": "own", "crossplane.io/external-name-suffix": "-s"}
    entry = resource_in(converted([class_data("plain", bucket(*given, annotations=annotations))]))
    assert [(p.get("fromFieldPath"), _format(p)) for p in entry["patches"]] == want


def _format(given: dict[str, Any]) -> str:
    return str(given["transforms"][-1]["string"]["fmt"] if "transforms" in given else given["combine"]["string"]["fmt"])


@pytest.mark.parametrize(
    ("given", "places"),
    [
        pytest.param([patch("spec.a", SUFFIX, UPPER)], [0], id="through-a-transform"),
        pytest.param([patch("spec.a", SUFFIX), patch("spec.b", PREFIX)], [0, 1], id="both"),
        pytest.param([patch("spec.a", SUFFIX), patch("spec.b", SUFFIX)], [0, 1], id="twice"),
        pytest.param([patch("spec.a", SUFFIX, policy={"toFieldPath": "MergeObjects"})], [0], id="merged"),
    ],
)
def test_external_names_that_cannot_be_said(given: list[dict[str, Any]], places: list[int]) -> None:
    found = converted([class_data("plain", bucket(*given))])
    assert [p.path for p in found.unsupported] == [f"spec.resources[0].patches[{i}]" for i in places]
    assert resource_in(found)["patches"] == [INHERITED]


def test_a_patched_suffix_beside_a_patched_name_cannot_be_said() -> None:
    found = converted([class_data("plain", bucket(patch("spec.a", SUFFIX), patch("spec.b", EXTERNAL)))])
    assert [p.path for p in found.unsupported] == ["spec.resources[0].patches[0]"]


GROUP = {"apiVersion": "azure.crossplane.io/v1alpha3", "kind": "ResourceGroup", "spec": {}}


def server(**selector: Any) -> dict[str, Any]:
    spec = {"forProvider": {"resourceGroupNameSelector": selector}}
    return {"base": {"apiVersion": "database.azure.crossplane.io/v1beta1", "kind": "MySQLServer", "spec": spec}}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param({"matchComposite": True}, {"matchControllerRef": True}, id="composite"),
        pytest.param({"matchAggregate": True}, {"matchControllerRef": True}, id="aggregate"),
        pytest.param({"matchControllerRef": True}, {"matchControllerRef": True}, id="crossplane"),
        pytest.param(
            {"matchComposite": False, "matchLabels": {"a": "b"}}, {"matchLabels": {"a": "b"}}, id="labels-of-any"
        ),
        pytest.param(
            {"matchAggregate": True, "matchClassRef": {"name": "x"}},
            {"matchControllerRef": True},
            id="class-where-there-is-one-of-the-kind",
        ),
    ],
)
def test_selectors(given: dict[str, Any], want: dict[str, Any]) -> None:
    entry = resource_in(converted([class_data("plain", server(**given), {"base": GROUP})]))
    assert entry["base"]["spec"]["forProvider"]["resourceGroupNameSelector"] == want


def test_a_class_among_several_siblings_becomes_a_label() -> None:
    found = converted(aggregate(matchAggregate=True, matchClassRef={"name": "two"}))
    entries = composition_in(found, "all")["spec"]["pipeline"][0]["input"]["resources"]
    labels = {e["name"]: e["base"].get("metadata", {}).get("labels") for e in entries}
    selector = entries[-1]["base"]["spec"]["forProvider"]["resourceGroupNameSelector"]
    assert labels == {
        "resource-group-one": None,
        "resource-group-two": {"claimsmith.io/class": "two"},
        "my-sql-server": None,
    }
    assert selector == {"matchControllerRef": True, "matchLabels": {"claimsmith.io/class": "two"}}


def test_a_field_that_the_class_says_is_not_patched() -> None:
    platform = aggregate(matchAggregate=True)
    said = converted(platform)
    platform[-1]["specTemplate"]["forProvider"].pop("version")
    left_open = converted(platform)
    origins = [
        [p["fromFieldPath"] for p in resource_in(found, -1, "all").get("patches", [])] for found in (said, left_open)
    ]
    assert origins == [[EXTERNAL], ["spec.engineVersion", EXTERNAL]]


# What cannot be said, beside patches: each row is a platform, claims, and the place of the one thing.


def annotated(**annotations: str) -> dict[str, Any]:
    words = {f"resourceclass.crossplane.io/{k.replace('_', '-')}": v for k, v in annotations.items()}
    return class_data("plain", annotations=words)


def retained() -> list[dict[str, Any]]:
    return [{**AGGREGATED, "specTemplate": {"reclaimPolicy": "Retain"}}, *aggregate(matchAggregate=True)[1:]]


def defined(**spec: Any) -> list[dict[str, Any]]:
    """The definitions and compositions of the sample platform, with more said of the first."""
    first, *others = parsed(DEFINITIONS, STORE, SITE)
    return [{**first, "spec": {**first["spec"], **spec}}, *others]


def store(**infrastructure: Any) -> dict[str, Any]:
    place = {"writeConnectionSecretToRef": {"namespace": "system", "name": "s"}}
    return {
        "apiVersion": "data.example.org/v1alpha1",
        "kind": "Store",
        "metadata": {"name": "own"},
        "spec": {"storageGB": 5, "infrastructure": {**place, **infrastructure}},
    }


def composed(**changes: Any) -> list[dict[str, Any]]:
    """The same definitions, with a composition of which one resource is changed."""
    [composition] = parsed(STORE)
    composition["spec"]["to"][0] |= changes
    return [*parsed(DEFINITIONS, SITE), composition]


def with_field(name: str) -> list[dict[str, Any]]:
    """The same definitions, of which the first has one more field."""
    first, *others = defined()
    first["spec"]["crdSpecTemplate"]["validation"]["openAPIV3Schema"]["properties"][name] = {"type": "string"}
    return [first, *others]


def text(inline: str, engine: str = "go-sprig") -> dict[str, Any]:
    head = "apiVersion: storage.example.org/v1\nkind: Bucket\n"
    return {"template": {"engine": engine, "source": {"type": "inline", "inline": head + inline}}}


TEXT_AT = "spec.resources[0].template.source.inline"
STATIC = {"apiVersion": "cache.gcp.crossplane.io/v1beta1", "kind": "CloudMemorystoreInstance", "name": "old"}


@pytest.mark.parametrize(
    ("platform", "claims", "path"),
    [
        pytest.param(
            [annotated(weight="3")], [], "metadata.annotations[resourceclass.crossplane.io/weight]", id="weight"
        ),
        pytest.param(
            [
                annotated(is_default_class="true"),
                {
                    **annotated(is_default_class="true"),
                    "kind": "CompositeResourceClass",
                    "metadata": {**annotated(is_default_class="true")["metadata"], "name": "other"},
                },
            ],
            [],
            "metadata.annotations[resourceclass.crossplane.io/is-default-class]",
            id="second-default",
        ),
        pytest.param(retained(), [], "specTemplate.reclaimPolicy", id="composite-that-is-kept"),
        pytest.param(
            defined(serviceAccountRef={"namespace": "n", "name": "a"}),
            [],
            "spec.serviceAccountRef",
            id="service-account",
        ),
        pytest.param(
            defined(defaultComposition={"name": "nowhere"}), [], "spec.defaultComposition", id="default-that-is-nowhere"
        ),
        pytest.param(
            defined(),
            [store(reclaimPolicy="Retain", compositionRef={"name": "azure-store"})],
            "spec.infrastructure.reclaimPolicy",
            id="policy-of-all-that-is-composed",
        ),
        pytest.param(
            defined(),
            [store(compositionSelector={"matchExpressions": [{"key": "cloud", "operator": "Exists"}]})],
            "spec.infrastructure.compositionSelector",
            id="expressions-of-an-instance",
        ),
        pytest.param(
            parsed(REDIS),
            [
                {
                    "apiVersion": REDIS_CLAIM,
                    "kind": "RedisCluster",
                    "metadata": {"name": "held"},
                    "spec": {"resourceRef": STATIC},
                }
            ],
            "spec.resourceRef",
            id="resource-that-exists",
        ),
        pytest.param([class_data()], [claim_data(kind="Other")], "kind", id="claim-that-nothing-defines"),
        pytest.param([class_data()], [claim_data()], "spec", id="claim-that-chooses-nothing"),
        pytest.param(
            [class_data()],
            [claim_data(classRef=class_ref("plain"), compositionUpdatePolicy="Manual")],
            "spec.compositionUpdatePolicy",
            id="field-of-a-claim-that-is-taken",
        ),
        pytest.param(
            [class_data("plain", server(matchClassRef={"name": "x"}))],
            [],
            "spec.resources[0].base.spec.forProvider.resourceGroupNameSelector",
            id="class-outside-the-composite",
        ),
        pytest.param([class_data("plain", text("", engine="jinja2"))], [], "spec.resources[0].template", id="jinja2"),
        pytest.param(
            [class_data("plain", text("a: {{ .metadata.generation }}\n"))], [], TEXT_AT, id="text-reads-metadata"
        ),
        pytest.param(
            [class_data("plain", text("metadata: {labels: {a: b}}\n"))], [], TEXT_AT, id="text-metadata-on-a-line"
        ),
        pytest.param([class_data("plain", text("metadata:\n  name: x\n"))], [], TEXT_AT, id="text-names-its-resource"),
        pytest.param(
            [class_data("plain", text("metadata:\n    name: x\n"))],
            [],
            TEXT_AT,
            id="text-names-its-resource-further-in",
        ),
        pytest.param(
            [class_data("plain", text("spec:\n  aSelector: {matchComposite: true, matchClassRef: {name: x}}\n"))],
            [],
            TEXT_AT,
            id="text-selects-by-class",
        ),
        pytest.param([parsed(STORE)[0]], [], "spec", id="composition-without-its-definition"),
        pytest.param(
            composed(patches=[{"fromFieldPath": "spec[", "toFieldPath": "spec.a"}]),
            [],
            "spec.to[0].patches[0]",
            id="path-that-nobody-can-read",
        ),
        pytest.param(
            composed(patches=[{"fromFieldPath": "spec.storageGB", "toFieldPath": "metadata"}]),
            [],
            "spec.to[0].patches[0]",
            id="patch-of-all-metadata",
        ),
        pytest.param(
            composed(patches=[{"fromFieldPath": "spec.infrastructure.reclaimPolicy", "toFieldPath": "spec.a"}]),
            [],
            "spec.to[0].patches[0]",
            id="patch-that-reads-what-was-injected",
        ),
        pytest.param(
            composed(
                base={"apiVersion": "web.example.org/v1alpha1", "kind": "Site", "spec": {"size": 1}},
                patches=[{"fromFieldPath": "spec.storageGB", "toFieldPath": "spec.infrastructure.reclaimPolicy"}],
            ),
            [],
            "spec.to[0].patches[0]",
            id="patch-that-writes-what-was-injected",
        ),
        pytest.param(
            composed(base={"apiVersion": "workload.crossplane.io/v1alpha1", "kind": "KubernetesApplication"}),
            [],
            "spec.to[0]",
            id="application-for-another-cluster",
        ),
        pytest.param(with_field("resourceRefs"), [], "spec.crdSpecTemplate", id="field-of-a-kind-that-is-taken"),
        pytest.param(
            [class_data("plain", text("metadata:\n  {{ if .spec.a }}\n  labels: {a: b}\n  {{ end }}\n"))],
            [],
            TEXT_AT,
            id="text-decides-about-metadata",
        ),
        pytest.param(
            [class_data("plain", text("metadata:\n  annotations:\n    crossplane.io/external-name-suffix: -a\n"))],
            [],
            TEXT_AT,
            id="text-with-a-suffix",
        ),
    ],
)
def test_what_cannot_be_said(platform: list[dict[str, Any]], claims: list[dict[str, Any]], path: str) -> None:
    heavy = "metadata.annotations[resourceclass.crossplane.io/weight]"
    found = converted(platform, *claims)
    problems = [p for p in found.unsupported if p.path != heavy or path == heavy]
    assert [p.path for p in problems] == [path]
    assert all(p.where and p.fix for p in problems)


# Definitions


def test_a_claims_kind_stays_and_its_composite_is_new() -> None:
    found = definition_in(converted([class_data("plain", bucket(patch("spec.size", "spec.a")))]), "XDatabase")
    assert found["metadata"]["name"] == "xdatabases.database.example.org"
    assert found["spec"]["claimNames"]["kind"] == "Database"
    assert found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] == {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"size": {"x-kubernetes-preserve-unknown-fields": True}},
    }


@pytest.mark.parametrize(
    ("patches", "want"),
    [
        pytest.param([("math", {"math": {"multiply": 2}})], {"type": "number"}, id="multiplied"),
        pytest.param([("map", {"map": {"a": "b"}})], {"type": "string"}, id="looked-up"),
        pytest.param(
            [("map", {"map": {"a": "b"}}), ("math", {"math": {"multiply": 2}})],
            {"x-kubernetes-preserve-unknown-fields": True},
            id="both",
        ),
        pytest.param([("string", {"string": {"fmt": "%s"}})], {"x-kubernetes-preserve-unknown-fields": True}, id="any"),
    ],
)
def test_a_schema_that_patches_tell(patches: list[tuple[str, dict[str, Any]]], want: dict[str, Any]) -> None:
    given = [patch("spec.size", f"spec.a{i}", {"type": t, **more}) for i, (t, more) in enumerate(patches)]
    found = definition_in(converted([class_data("plain", bucket(*given))]), "XDatabase")
    spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["properties"] == {"size": want}


def test_the_schema_of_a_claims_own_definition_is_kept_without_what_claims_had() -> None:
    own = {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}, "required": ["size"]}
    crd = crds.claim_crd(CLAIM_API, "Database", schema=own)
    crd["spec"]["names"]["plural"] = "databasi"
    crd["metadata"]["name"] = "databasi.database.example.org"
    found = converted([crd, class_data()])
    made = definition_in(found, "XDatabase")
    assert made["metadata"]["name"] == "xdatabasi.database.example.org"
    spec = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert (spec["properties"], spec["required"]) == (own["properties"], ["size"])
    assert [p.path for p in found.differs] == ["kind"]


def test_defined_infrastructure_is_the_composite_and_its_requirement_the_claim() -> None:
    found = definition_in(converted(defined()), "Store")
    assert found["apiVersion"] == "apiextensions.crossplane.io/v1"
    assert found["metadata"]["name"] == "stores.data.example.org"
    assert found["spec"]["claimNames"]["kind"] == "StoreRequirement"
    assert found["spec"]["connectionSecretKeys"] == ["username", "address"]


def test_default_and_forced_compositions() -> None:
    reference = {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "Composition", "name": "azure-store"}
    found = converted(defined(forceComposition=reference))
    assert definition_in(found, "Store")["spec"]["enforcedCompositionRef"] == {"name": "azure-store"}
    assert definition_in(found, "Site")["spec"]["defaultCompositionRef"] == {"name": "site"}


def test_a_default_class_is_the_default_composition() -> None:
    found = converted([annotated(is_default_class="true")])
    assert definition_in(found, "XDatabase")["spec"]["defaultCompositionRef"] == {"name": "plain"}
    assert "annotations" not in composition_in(found)["metadata"]


def test_columns_of_what_was_injected_move_too() -> None:
    column = {"name": "C", "type": "string", "JSONPath": ".spec.infrastructure.compositionRef.name"}
    first, *others = defined()
    first["spec"]["crdSpecTemplate"]["additionalPrinterColumns"] = [column]
    made = definition_in(converted([first, *others]), "Store")
    assert made["spec"]["versions"][0]["additionalPrinterColumns"] == [
        {"name": "C", "type": "string", "jsonPath": ".spec.compositionRef.name"}
    ]


def test_fields_of_the_table_of_which_one_is_within_another() -> None:
    table = """\
bindable:
  Cache.example.org:
    direct:
      Store.example.org:
        fields:
        - {from: spec.a, to: spec.a}
        - {from: spec.b, to: spec.a.b}
"""
    klass = {
        "apiVersion": "example.org/v1",
        "kind": "StoreClass",
        "metadata": {"name": "plain"},
        "specTemplate": {"c": 1},
    }
    bindable = read_bindable(read_documents(table, file="bindable.yaml"))
    found = convert(read_catalog(documents_of(klass), bindable=bindable), TABLES.table())
    assert [p.path for p in found.unsupported] == ["specTemplate.a.b"]
    assert [p["toFieldPath"] for p in resource_in(found)["patches"]] == ["spec.a", EXTERNAL]


def test_an_application_is_a_composite_in_a_namespace() -> None:
    application = {
        **parsed(DEFINITIONS)[0],
        "kind": "ApplicationDefinition",
    }
    application["spec"] = {k: v for k, v in application["spec"].items() if k != "connectionDetails"}
    [composed] = parsed(STORE)
    composed["spec"]["to"][0] = {"base": {"apiVersion": "v1", "kind": "ConfigMap"}, "patches": []}
    instance = store(compositionRef=[{"name": "azure-store"}])
    chosen = {"compositionRef": [{"name": "azure-store"}]}
    instance["spec"] = {"storageGB": 5, "application": chosen}
    found = converted([application, composed], instance)
    made = definition_in(found, "Store")
    assert (made["apiVersion"], made["spec"]["scope"]) == ("apiextensions.crossplane.io/v2", "Namespaced")
    assert claim_in(found)["spec"] == {"storageGB": 5, "crossplane": {"compositionRef": {"name": "azure-store"}}}
    assert resource_in(found, name="azure-store")["readinessChecks"] == [{"type": "None"}]


@pytest.mark.parametrize(
    "platform",
    [
        pytest.param([class_data("plain", bucket(patch("spec.a", "spec.a")))], id="told-by-patches"),
        pytest.param(defined(), id="defined"),
        pytest.param(parsed(REDIS, AGGREGATE), id="table"),
    ],
)
def test_definitions_have_sound_schemas(platform: list[dict[str, Any]]) -> None:
    found = [c.document for c in converted(platform).platform if c.document["kind"] == "CompositeResourceDefinition"]
    schemas = [v["schema"]["openAPIV3Schema"] for d in found for v in d["spec"]["versions"]]
    assert [schema.check_schema(s, document=None) for s in schemas] == [[] for _ in schemas]
    assert schemas


def test_a_claim_in_another_version_is_served_in_it_too() -> None:
    claim = {**claim_data(classRef=class_ref("plain")), "apiVersion": "database.example.org/v1beta1"}
    found = converted([class_data()], claim)
    versions = definition_in(found, "XDatabase")["spec"]["versions"]
    assert [(v["name"], v["referenceable"]) for v in versions] == [("v1alpha1", True), ("v1beta1", False)]
    assert claim_in(found)["apiVersion"] == "database.example.org/v1beta1"


def test_a_class_that_speaks_of_another_version_is_told() -> None:
    other = class_data("other")
    other["spec"]["claim"]["apiVersion"] = "database.example.org/v1beta1"
    found = converted([class_data("a"), class_data("b"), other])
    assert [p.path for p in found.differs] == ["spec.claim.apiVersion"]
    assert composition_in(found, "other")["spec"]["compositeTypeRef"]["apiVersion"] == CLAIM_API


def test_a_composites_kind_that_is_taken() -> None:
    found = converted([class_data(kind="Database"), class_data("other", kind="XDatabase")])
    kinds = [
        (c.document["spec"]["claimNames"]["kind"], c.document["spec"]["names"]["kind"])
        for c in found.platform
        if "claimNames" in c.document["spec"]
    ]
    assert kinds == [("Database", "CompositeDatabase"), ("XDatabase", "XXDatabase")]


# Compositions


@pytest.mark.parametrize(
    ("platform", "want"),
    [
        pytest.param([class_data("a"), class_data("b")], ["a", "b"], id="own-names"),
        pytest.param(
            [
                class_data("a"),
                {
                    **class_data("a"),
                    "kind": "ResourceClass",
                    "spec": {"claim": {"apiVersion": CLAIM_API, "kind": "Database"}, "resource": {"base": BUCKET}},
                },
            ],
            ["a-composite-resource-class", "a-resource-class"],
            id="two-kinds-of-class",
        ),
        pytest.param([class_data("a"), *parsed(REDIS)], ["a", "cheap", "fast"], id="dialects-together"),
    ],
)
def test_names(platform: list[dict[str, Any]], want: list[str]) -> None:
    found = converted(platform)
    names = [c.document["metadata"]["name"] for c in found.platform if c.document["kind"] == "Composition"]
    assert sorted(names) == want


def test_a_class_that_serves_two_kinds_becomes_two_compositions() -> None:
    rds = {
        "apiVersion": "database.aws.crossplane.io/v1beta1",
        "kind": "RDSInstanceClass",
        "metadata": {"name": "small"},
        "specTemplate": {"forProvider": {}},
    }
    found = converted([rds])
    made = {
        c.document["metadata"]["name"]: c.document["spec"]["compositeTypeRef"]["kind"]
        for c in found.platform
        if c.document["kind"] == "Composition"
    }
    assert made == {
        "small-my-sql-instance": "XMySQLInstance",
        "small-postgre-sql-instance": "XPostgreSQLInstance",
    }


def test_what_a_composition_says_of_itself() -> None:
    annotations = {"claimsmith.io/description": "small", "resourceclass.crossplane.io/is-default-class": "true"}
    made = composition_in(converted([class_data("plain", labels={"env": "dev"}, annotations=annotations)]))
    assert made["metadata"] == {
        "name": "plain",
        "labels": {"env": "dev"},
        "annotations": {"claimsmith.io/description": "small"},
    }
    assert made["spec"]["compositeTypeRef"] == {"apiVersion": CLAIM_API, "kind": "XDatabase"}
    assert [s["functionRef"]["name"] for s in made["spec"]["pipeline"]] == ["function-patch-and-transform"]


def test_the_secret_of_an_aggregate_keeps_its_namespace() -> None:
    platform = [{**AGGREGATED, "specTemplate": {"writeConnectionSecretsToNamespace": "system"}}]
    found = converted([*platform, *aggregate(matchAggregate=True)[1:]])
    assert composition_in(found, "all")["spec"]["writeConnectionSecretsToNamespace"] == "system"


def test_a_composite_within_a_composite_is_chosen_in_crossplane_words() -> None:
    entry = resource_in(converted(defined()), 1, "site")
    assert entry["base"]["spec"] == {
        "engineVersion": "5.7",
        "compositionSelector": {"matchLabels": {"cloud": "azure"}},
        "writeConnectionSecretToRef": {"namespace": "crossplane-system", "name": "store"},
    }


def test_connection_details_of_a_contract() -> None:
    entry = resource_in(converted(defined()), name="azure-store")
    assert entry["connectionDetails"] == [
        {"type": "FromConnectionSecretKey", "name": "username", "fromConnectionSecretKey": "username"},
        {"type": "FromConnectionSecretKey", "name": "address", "fromConnectionSecretKey": "endpoint"},
    ]


@pytest.mark.parametrize(
    ("api_version", "kind", "want"),
    [
        pytest.param("cache.gcp.crossplane.io/v1beta1", "CloudMemorystoreInstance", 3, id="cache"),
        pytest.param("database.azure.crossplane.io/v1beta1", "MySQLServer", 4, id="database"),
        pytest.param("container.gcp.crossplane.io/v1beta1", "GKECluster", 7, id="cluster"),
        pytest.param("storage.example.org/v1", "Bucket", 9, id="unknown"),
    ],
)
def test_keys_that_are_listed(api_version: str, kind: str, want: int) -> None:
    base = {"apiVersion": api_version, "kind": kind, "spec": {"writeConnectionSecretToRef": {"namespace": "n"}}}
    found = converted([class_data("plain", {"base": base})])
    assert len(resource_in(found)["connectionDetails"]) == want
    assert [p.path for p in found.differs] == ["spec.resources[0]"]


def test_a_secrets_prefix_is_in_the_details_names() -> None:
    annotations = {"aggregation.crossplane.io/connection-secret-prefix": "db-"}
    spec = {"writeConnectionSecretToRef": {"namespace": "system", "name": "x"}}
    entry = resource_in(converted([class_data("plain", bucket(spec=spec, annotations=annotations))]))
    assert entry["connectionDetails"][0] == {
        "type": "FromConnectionSecretKey",
        "name": "db-username",
        "fromConnectionSecretKey": "username",
    }
    assert "metadata" not in entry["base"]


# Opaque templates


@pytest.mark.parametrize(
    ("inline", "want"),
    [
        pytest.param("spec: {a: {{ .spec.a }}}\n", "spec: {a: {{ .spec.a }}}", id="field"),
        pytest.param('spec: {a: "{{ spec.a }}"}\n', 'spec: {a: "{{ .spec.a }}"}', id="field-without-a-dot"),
        pytest.param("spec: {a: {{ .metadata.name }}}\n", "spec: {a: {{ .spec.claimRef.name }}}", id="claims-name"),
        pytest.param(
            "spec: {a: {{ $.metadata.namespace }}}\n",
            "spec: {a: {{ $.observed.composite.resource.spec.claimRef.namespace }}}",
            id="root",
        ),
        pytest.param(
            "spec: {a: {{ range .spec.a }}{{ .metadata.name }}{{ end }}{{ .metadata.name }}}\n",
            "spec: {a: {{ range .spec.a }}{{ .metadata.name }}{{ end }}{{ .spec.claimRef.name }}}",
            id="name-of-an-item",
        ),
        pytest.param(
            "spec: {a: {{ with .spec.a }}{{ .metadata.name }}{{ else }}{{ .metadata.name }}{{ end }}}\n",
            "spec: {a: {{ with .spec.a }}{{ .metadata.name }}{{ else }}{{ .spec.claimRef.name }}{{ end }}}",
            id="name-or-else",
        ),
        pytest.param(
            "spec: {a: {{ with .spec.a }}{{ $.spec.b }}{{ spec.b }}{{ end }}}\n",
            "spec: {a: {{ with .spec.a }}{{ $.observed.composite.resource.spec.b }}"
            "{{ $.observed.composite.resource.spec.b }}{{ end }}}",
            id="root-within",
        ),
        pytest.param(
            "spec: {a: {{ if .spec.a }}{{ $x := .spec }}{{ $x.metadata.name }}{{ end }}}\n",
            "spec: {a: {{ if .spec.a }}{{ $x := .spec }}{{ $x.metadata.name }}{{ end }}}",
            id="name-of-a-variable",
        ),
        pytest.param("spec: {a: {{ .metadata.labels.x }}}\n", "spec: {a: {{ .metadata.labels.x }}}", id="label"),
        pytest.param(
            "spec:\n  xSelector:\n    matchComposite: true\n",
            "spec:\n  xSelector:\n    matchControllerRef: true",
            id="selector",
        ),
        pytest.param('spec: {a: "{{ "spec.a" }}"}\n', 'spec: {a: "{{ "spec.a" }}"}', id="text-in-quotes"),
    ],
)
def test_texts(inline: str, want: str) -> None:
    steps = composition_in(converted([class_data("plain", text(inline))]))["spec"]["pipeline"]
    made = steps[0]["input"]["inline"]["template"]
    head = (
        "---\n{{- with .observed.composite.resource }}\napiVersion: storage.example.org/v1\nkind: Bucket\nmetadata:\n"
        '  annotations:\n    gotemplating.fn.crossplane.io/composition-resource-name: "bucket"\n'
    )
    assert made == f"{head}{want}\n{{{{- end }}}}\n"
    assert [s["functionRef"]["name"] for s in steps] == ["function-go-templating", "function-patch-and-transform"]


@pytest.mark.parametrize(
    ("inline", "want"),
    [
        pytest.param(
            "metadata:\n    labels:\n        a: b\n", "metadata:\n    annotations:\n        {}    labels:", id="labels"
        ),
        pytest.param(
            "metadata:\n  annotations:\n    a: b\n", "metadata:\n  annotations:\n    {}    a: b", id="annotations"
        ),
    ],
)
def test_the_name_among_a_texts_own_metadata(inline: str, want: str) -> None:
    steps = composition_in(converted([class_data("plain", text(inline))]))["spec"]["pipeline"]
    line = 'gotemplating.fn.crossplane.io/composition-resource-name: "bucket"\n'
    assert want.format(line) in steps[0]["input"]["inline"]["template"]


@pytest.mark.parametrize(
    ("place", "want"),
    [
        pytest.param("{{ .spec.secret }}", [], id="named"),
        pytest.param("", [SECRET_NAME], id="not-named"),
    ],
)
def test_a_texts_secret(place: str, want: list[str]) -> None:
    named = f"    name: {place}\n" if place else ""
    inline = f"spec:\n  writeConnectionSecretsToRef:\n    namespace: system\n{named}  other: 1\n"
    entry = resource_in(converted([class_data("plain", text(inline))]))
    assert [p["toFieldPath"] for p in entry["patches"]] == [*want, EXTERNAL]
    assert len(entry["connectionDetails"]) == len(DETAILS)
    assert "base" not in entry


# Claims


TWO = [class_data("a", labels={"env": "dev"}), class_data("b", labels={"env": "dev"})]
DEV = {"matchLabels": {"env": "dev"}}
SQL = ClaimKey(GroupKind("database.example.org", "Database"), "default", "sql")


def recorded(name: str) -> Record:
    key = ClassKey(GroupKind("infrastructure.crossplane.io", "CompositeResourceClass"), name)
    return Record(SQL, "uid", key, "chosen", "digest")


@pytest.mark.parametrize(
    ("platform", "records", "spec", "want"),
    [
        pytest.param(TWO, [], {"classRef": class_ref("b")}, {"compositionRef": {"name": "b"}}, id="reference"),
        pytest.param(TWO[:1], [], {"classSelector": DEV}, {"compositionSelector": DEV}, id="selector"),
        pytest.param(
            TWO,
            [],
            {"classSelector": DEV},
            {"compositionSelector": DEV, "compositionRef": {"name": "a"}},
            id="one-of-several-is-named",
        ),
        pytest.param(
            TWO,
            [recorded("b")],
            {"classSelector": DEV},
            {"compositionSelector": DEV, "compositionRef": {"name": "b"}},
            id="the-recorded-one",
        ),
        pytest.param(
            TWO[:1],
            [],
            {"classSelector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]}},
            {"compositionRef": {"name": "a"}},
            id="expressions-are-followed",
        ),
        pytest.param([annotated(is_default_class="true")], [], {}, {}, id="default"),
        pytest.param(
            TWO[:1],
            [],
            {"classSelector": DEV, "size": 3, "writeConnectionSecretToRef": {"name": "s"}},
            {"size": 3, "compositionSelector": DEV, "writeConnectionSecretToRef": {"name": "s"}},
            id="own-fields-and-secret",
        ),
    ],
)
def test_claims(
    platform: list[dict[str, Any]], records: list[Record], spec: dict[str, Any], want: dict[str, Any]
) -> None:
    found = converted(platform, claim_data(**spec), records=records)
    assert claim_in(found) == {**claim_data(), "spec": want}
    assert found.unsupported == ()


def test_a_requirement_is_a_claim_and_defaults_are_left_to_the_definition() -> None:
    wish = {
        "apiVersion": "data.example.org/v1alpha1",
        "kind": "StoreRequirement",
        "metadata": {"namespace": "team", "name": "wish"},
        "spec": {
            "infrastructure": {
                "compositionRef": [{"name": "azure-store"}],
                "writeConnectionSecretToRef": {"name": "wish"},
            }
        },
    }
    platform = defined()
    schema_ = platform[0]["spec"]["crdSpecTemplate"]["validation"]["openAPIV3Schema"]
    schema_["properties"]["storageGB"]["default"] = 3
    assert claim_in(converted(platform, wish))["spec"] == {
        "compositionRef": {"name": "azure-store"},
        "writeConnectionSecretToRef": {"name": "wish"},
    }


def test_what_is_crossplane_already_is_left_alone() -> None:
    first = converted([class_data()], claim_data(classRef=class_ref("plain")))
    again = converted([c.document for c in first.platform], *(c.document for c in first.claims))
    assert (again.platform, again.claims, again.unsupported, again.differs) == ((), (), (), ())


def test_a_class_of_native_resources_stays_as_it_is() -> None:
    pet = {"name": "pet", "base": {"type": "random:RandomPet"}}
    found = converted([class_data("pets", pet), class_data("buckets")], claim_data("a", classRef=class_ref("buckets")))
    assert [c.document["metadata"]["name"] for c in found.platform if c.document["kind"] == "Composition"] == [
        "buckets"
    ]
    [problem] = found.unsupported
    assert "composes resources of Pulumi providers" in problem.what
    assert converted([class_data("pets", pet)], claim_data("a", classRef=class_ref("pets"))).unsupported


def test_the_same_again() -> None:
    platform = [*parsed(REDIS, AGGREGATE), *defined(), class_data()]
    assert converted(platform) == converted(platform)
    assert len(Platform.of(converted(platform)).compositions) == 6
