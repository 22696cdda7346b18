"""What Crossplane makes of the same files: names in bases, the direct parent, reserved labels, unknown fields."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from claimsmith import generate, render
from claimsmith.base.documents import Document
from claimsmith.base.errors import BindingError, ComposeError, EngineError
from claimsmith.base.labels import OWNER, PARENT_UID
from claimsmith.base.names import ClaimKey
from claimsmith.compose.drafts import claim_data
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.deploy import Context
from claimsmith.dialects.common.klass import Class
from claimsmith.platform import bindings_file
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.status import ClaimStatus
from tests.support import samples
from tests.support.mocked import registered

API = "apiextensions.crossplane.io/v1"
GROUP = "acme.example.org"
THING: dict[str, Any] = {"apiVersion": "cloud.example.org/v1", "kind": "Thing", "spec": {}}
SPEC = {
    "type": "object",
    "properties": {
        "size": {"type": "string"},
        "nested": {"type": "object", "properties": {"known": {"type": "string"}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"known": {"type": "string"}}}},
        "count": {"type": "integer", "default": 1},
    },
}


def definition(kind: str, **more: Any) -> dict[str, Any]:
    served = {
        "name": "v1",
        "served": True,
        "referenceable": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
    }
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": API,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "names": {"kind": kind, "plural": plural}, "versions": [served], **more},
    }


def composition(kind: str, *resources: dict[str, Any], mode: str = "Resources") -> dict[str, Any]:
    step = {
        "step": "compose",
        "functionRef": {"name": "function-patch-and-transform"},
        "input": {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": list(resources)},
    }
    made = {"Resources": {"resources": list(resources)}, "Pipeline": {"mode": "Pipeline", "pipeline": [step]}}[mode]
    reference = {"compositeTypeRef": {"apiVersion": f"{GROUP}/v1", "kind": kind}}
    return {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": f"{kind.lower()}s"},
        "spec": {**reference, **made},
    }


def composite(kind: str, name: str = "mine", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name, **metadata}, "spec": {}}


def field(source: str, to: str, **more: Any) -> dict[str, Any]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": source, "toFieldPath": to, **more}


def part(name: str, *patches: dict[str, Any], metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A template that makes a nested composite."""
    base = {"apiVersion": f"{GROUP}/v1", "kind": "XPart", "metadata": metadata or {}, "spec": spec}
    return {"name": name, "base": base, "patches": list(patches)}


def catalog_of(platform: list[dict[str, Any]], *claims: dict[str, Any]) -> Catalog:
    return read_catalog([Document(d, "platform.yaml") for d in platform], [Document(c, "claim.yaml") for c in claims])


def plan_of(platform: list[dict[str, Any]], *claims: dict[str, Any]) -> Plan:
    found = samples.expanded(catalog_of(platform, *claims))
    assert not found.unbound
    return build_plan(found, project="p", stack="dev", table=samples.table())


def nested_platform(*parts: dict[str, Any], mode: str = "Resources", children: tuple[dict[str, Any], ...] = ()) -> Any:
    """Composites of the kind XWhole, made of composites of the kind XPart."""
    made = children or ({"name": "thing", "base": THING},)
    return [
        definition("XWhole"),
        definition("XPart"),
        composition("XWhole", *parts, mode=mode),
        composition("XPart", *made),
    ]


def component_of(klass: Class) -> Any:
    made = ModuleType(f"component_{klass.name}")
    sys.modules[made.__name__] = made
    source = generate.generate([klass], samples.table(), source="platform.yaml")
    exec(compile(source, made.__name__, "exec"), made.__dict__)
    return getattr(made, generate.class_name(klass))


def component_says(plan: Plan) -> dict[str, dict[str, Any]]:
    """What the generated components register for a plan's claims, by name."""
    made = {c.address: (component_of(c.binding.klass), claim_data(c.binding)) for c in plan.walk()}

    def build(context: Context) -> None:
        for claim in plan.claims:
            component, data = made[claim.address]
            component(claim.component_name, data, context=context)

    return by_name([r.inputs for r in registered(plan, build, made)])


def render_says(plan: Plan) -> dict[str, dict[str, Any]]:
    return by_name([d for claim in plan.claims for d in render.documents(claim)])


def by_name(documents: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The documents without what is for the engine only."""
    found = {}
    for document in documents:
        metadata = document["metadata"]
        kept = {k: v for k, v in metadata["annotations"].items() if not k.startswith("pulumi.com/") and k != OWNER}
        found[metadata["name"]] = {**document, "metadata": {**metadata, "annotations": kept}}
    return found


# A name in a base


@pytest.mark.parametrize(
    ("mode", "patches", "want"),
    [
        pytest.param("Resources", [], False, id="resources-ignored"),
        pytest.param("Resources", [field("metadata.name", "metadata.name")], "mine", id="resources-patched"),
        pytest.param("Resources", [field("spec.size", "metadata.name")], False, id="resources-patch-without-source"),
        pytest.param("Pipeline", [], "fixed", id="pipeline-kept"),
    ],
)
def test_a_name_in_a_base(mode: str, patches: list[dict[str, Any]], want: str | bool) -> None:
    base = {**THING, "metadata": {"name": "fixed", "labels": {"a": "b"}}}
    thing = {"name": "thing", "base": base, "patches": patches}
    [claim] = plan_of([definition("XWhole"), composition("XWhole", thing, mode=mode)], composite("XWhole")).claims
    [child] = claim.children
    assert child.name == (want or claim.identity.name_of("thing"))
    assert child.document["metadata"]["labels"]["a"] == "b"


@pytest.mark.parametrize(
    ("mode", "patches", "want"),
    [
        pytest.param("Resources", [], ["spec.resources[0].base.metadata.name"], id="ignored"),
        pytest.param("Resources", [field("metadata.name", "metadata.name")], [], id="patched-anyway"),
        pytest.param("Pipeline", [], [], id="kept"),
    ],
)
def test_an_ignored_name_is_reported(mode: str, patches: list[dict[str, Any]], want: list[str]) -> None:
    thing = {"name": "thing", "base": {**THING, "metadata": {"name": "fixed"}}, "patches": patches}
    catalog = catalog_of([definition("XWhole"), composition("XWhole", thing, mode=mode)])
    assert [w.path for w in catalog.warnings] == want


def test_two_parents_of_one_template_have_their_own_nested_composites() -> None:
    platform = nested_platform(part("part", metadata={"name": "fixed"}))
    plan = plan_of(platform, composite("XWhole", "one"), composite("XWhole", "two"))
    addresses = [c.address for c in plan.walk()]
    assert len(addresses) == len(set(addresses)) == 4


def test_two_parents_of_one_nested_composite_are_refused() -> None:
    platform = nested_platform(part("part", metadata={"name": "fixed"}), mode="Pipeline")
    with pytest.raises(ComposeError) as caught:
        plan_of(platform, composite("XWhole", "one"), composite("XWhole", "two"))
    [problem] = caught.value.problems
    assert f"XWhole.{GROUP}/two, child 'part', and XWhole.{GROUP}/one, child 'part'" in problem.what
    assert f"XPart.{GROUP}/fixed" in problem.what


def test_a_nested_composite_that_a_file_also_asks_for_is_refused() -> None:
    platform = nested_platform(part("part", metadata={"name": "fixed"}), mode="Pipeline")
    with pytest.raises(ComposeError) as caught:
        plan_of(platform, composite("XPart", "fixed"), composite("XWhole", "one"))
    assert f"both compose XPart.{GROUP}/fixed" in caught.value.problems[0].what


# Records that are broken


ROW = {
    "claim": f"XPart.{GROUP}/fixed",
    "uid": "u-1",
    "class": "Composition.apiextensions.crossplane.io/xparts",
    "reason": "any of its kind",
    "digest": f"sha256:{'0' * 64}",
}


def bindings(*rows: dict[str, Any]) -> str:
    return yaml.safe_dump({"apiVersion": "claimsmith.io/v1alpha1", "kind": "Bindings", "bindings": list(rows)})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    platform = nested_platform(part("part", metadata={"name": "fixed"}), mode="Pipeline")
    files = {
        "components/whole/composition.yaml": yaml.safe_dump_all(platform),
        "stacks/dev/claims/one.yaml": yaml.safe_dump(composite("XWhole", "one")),
    }
    return Project(samples.write_files(tmp_path, files))


def test_bind_writes_nothing_that_it_would_refuse(project: Project) -> None:
    bind(project, "dev")
    before = project.bindings_path("dev").read_text()
    samples.write_files(project.root, {"stacks/dev/claims/two.yaml": yaml.safe_dump(composite("XWhole", "two"))})
    with pytest.raises(ComposeError):
        bind(project, "dev")
    assert project.bindings_path("dev").read_text() == before


def test_records_of_one_claim_twice_are_never_written(project: Project) -> None:
    bind(project, "dev")
    [first, *_] = project.records("dev")
    with pytest.raises(BindingError, match="bound twice"):
        bindings_file.write([first, first], stack="dev")


def test_a_claim_that_is_bound_twice_names_the_command_that_mends_it() -> None:
    with pytest.raises(BindingError) as caught:
        bindings_file.read(bindings(ROW, ROW), file="stacks/dev/bindings.yaml")
    assert caught.value.problems[0].fix == f"run: claimsmith bind dev --forget {ROW['claim']}"


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([ROW, ROW], id="twice"),
        pytest.param([ROW, {**ROW, "uid": "u-2"}], id="twice-and-different"),
        pytest.param([{**ROW, "digest": "none"}, ROW], id="one-of-them-broken"),
        pytest.param([{"claim": ROW["claim"]}], id="broken"),
    ],
)
@pytest.mark.parametrize(
    ("claims", "want"),
    [
        pytest.param([], [], id="gone"),
        pytest.param([composite("XWhole", "one")], [ROW["claim"], f"XWhole.{GROUP}/one"], id="still-there"),
    ],
)
def test_a_broken_record_is_removed_by_a_command(
    project: Project, rows: list[dict[str, Any]], claims: list[dict[str, Any]], want: list[str]
) -> None:
    bind(project, "dev")
    sound = yaml.safe_load(project.bindings_path("dev").read_text())["bindings"]
    [kept] = [row for row in sound if row["claim"].startswith("XWhole")]
    own = {row["claim"]: row for row in sound}[ROW["claim"]]
    same = ("uid", "class", "digest")
    broken = [{**row, **{k: own[k] for k in row if k in same and row[k] == ROW[k]}} for row in rows]
    project.bindings_path("dev").write_text(bindings(*broken, kept))
    (project.root / "stacks/dev/claims/one.yaml").write_text(yaml.safe_dump_all(claims))
    with pytest.raises(EngineError) as caught:
        bind(project, "dev")
    assert f"claimsmith bind dev --forget {ROW['claim']}" in caught.value.problems[0].fix
    bind(project, "dev", forget=[ROW["claim"]])
    assert [str(r.claim) for r in project.records("dev")] == want


def test_a_sound_record_that_is_forgotten_keeps_the_uid_of_a_claim_that_is_there(project: Project) -> None:
    bind(project, "dev")
    before = project.records("dev")
    bind(project, "dev", forget=[ROW["claim"]])
    assert project.records("dev") == before


# The direct parent


SELECTING = (
    {"name": "thing", "base": THING},
    {
        "name": "user",
        "base": {**THING, "kind": "User", "spec": {"forProvider": {"thingIdSelector": {"matchControllerRef": True}}}},
    },
)


def selected_by(plan: Plan) -> list[tuple[dict[str, str], list[str]]]:
    """Each selector that is left to a controller, with the names of all things that it matches."""
    children = [c for claim in plan.walk() for c in claim.children]
    things = [c for c in children if c.template.kind == "Thing"]
    selectors = [
        c.document["spec"]["forProvider"]["thingIdSelector"]["matchLabels"]
        for c in children
        if c.template.name == "user"
    ]
    return [(s, [t.name for t in things if s.items() <= t.document["metadata"]["labels"].items()]) for s in selectors]


def test_a_selector_among_siblings_matches_the_direct_parent_only() -> None:
    platform = nested_platform(part("left"), part("right"), *SELECTING, children=SELECTING)
    plan = plan_of(platform, composite("XWhole"))
    found = selected_by(plan)
    assert [len(names) for _, names in found] == [1, 1, 1]
    assert len({name for _, names in found for name in names}) == 3


def test_the_label_of_the_parent_is_the_root_s_as_before_and_its_own_beside_it() -> None:
    plan = plan_of(nested_platform(part("left"), children=SELECTING), composite("XWhole"))
    [whole] = plan.claims
    [left] = whole.nested
    for child in left.children:
        assert child.document["metadata"]["labels"] == {"crossplane.io/composite": "mine", PARENT_UID: left.binding.uid}


def test_a_nested_composite_carries_no_label_of_ours() -> None:
    """A patch may copy all its labels somewhere else, as Crossplane's own."""
    plan = plan_of(nested_platform(part("left")), composite("XWhole"))
    assert list(nested(plan).binding.claim.data["metadata"]["labels"]) == ["crossplane.io/composite"]


def nested(plan: Plan) -> PlannedClaim:
    [whole] = plan.claims
    [inner] = whole.nested
    return inner


# Labels and annotations of claims


GIVEN = {
    "team": "shop",
    "example.org/team": "shop",
    "app.kubernetes.io/name": "shop",
    "kubectl.kubernetes.io/last-applied-configuration": "x",
    "kubernetes.io/x": "y",
    "policy.k8s.io/x": "y",
    "k8s.io/x": "y",
    "cluster.x-k8s.io/cluster-name": "y",
    "mykubernetes.io/x": "y",
    "k8s.io.example.org/x": "kept",
}
PASSED_ON = {"team": "shop", "example.org/team": "shop", "k8s.io.example.org/x": "kept"}


@pytest.mark.parametrize("word", ["labels", "annotations"])
def test_what_is_reserved_for_kubernetes_is_not_passed_on(word: str) -> None:
    claimed = definition("XPart", claimNames={"kind": "Part", "plural": "parts"})
    thing = {"name": "thing", "base": THING, "patches": [field(f"metadata.{word}", f"metadata.{word}")]}
    claim = composite("Part", namespace="shop", **{word: GIVEN})
    plan = plan_of([claimed, composition("XPart", thing)], claim)
    inner = nested(plan)
    for document in (inner.binding.claim.data, inner.children[0].document):
        assert {k: v for k, v in document["metadata"][word].items() if k in GIVEN} == PASSED_ON
    assert component_says(plan) == render_says(plan)


# Fields that a nested composite's schema does not know


@pytest.mark.parametrize(
    ("mode", "patches"),
    [
        pytest.param("Resources", [], id="resources"),
        pytest.param("Pipeline", [], id="pipeline"),
        pytest.param("Resources", [field("metadata.name", "metadata.namespace")], id="patched"),
    ],
)
def test_a_nested_composite_of_a_cluster_is_in_no_namespace(mode: str, patches: list[dict[str, Any]]) -> None:
    """An API server takes the namespace away, so that Crossplane composes it."""
    left = part("left", *patches, metadata={"namespace": "elsewhere"})
    plan = plan_of(nested_platform(left, mode=mode), composite("XWhole"))
    assert "namespace" not in nested(plan).binding.claim.data["metadata"]
    [warning] = plan.warnings
    assert (warning.path, warning.where is not None) == ("metadata.namespace", True)
    assert "XPart is in no namespace: it is left out, as in Crossplane" in warning.what
    assert component_says(plan) == render_says(plan)


@pytest.mark.parametrize(
    ("spec", "unknown", "kept"),
    [
        pytest.param({"colour": "red"}, ["spec.colour"], {"count": 1}, id="top"),
        pytest.param(
            {"nested": {"known": "a", "other": "b"}},
            ["spec.nested.other"],
            {"nested": {"known": "a"}, "count": 1},
            id="nested",
        ),
        pytest.param(
            {"list": [{"known": "a"}, {"other": "b"}]},
            ["spec.list[1].other"],
            {"list": [{"known": "a"}, {}], "count": 1},
            id="in-a-list",
        ),
        pytest.param({"size": "big"}, [], {"size": "big", "count": 1}, id="none"),
    ],
)
def test_unknown_fields_of_a_nested_composite_are_pruned(spec: Any, unknown: list[str], kept: Any) -> None:
    copy = {"name": "thing", "base": THING, "patches": [field("spec", "spec.all")]}
    platform = nested_platform(part("left", **spec), children=(copy,))
    plan = plan_of(platform, composite("XWhole"))
    assert nested(plan).binding.claim.data["spec"] == kept
    assert [w.path for w in plan.warnings] == unknown
    assert all(f"XWhole.{GROUP}/mine, child 'left': " in w.what for w in plan.warnings)
    assert component_says(plan) == render_says(plan)


def test_a_patched_field_that_is_unknown_is_pruned() -> None:
    platform = nested_platform(part("left", field("metadata.name", "spec.colour")))
    plan = plan_of(platform, composite("XWhole"))
    assert [w.path for w in plan.warnings] == ["spec.colour"]
    assert nested(plan).binding.claim.data["spec"] == {"count": 1}


# Connection details of a nested composite


DETAILS = [
    {"type": "FromValue", "name": "driver", "value": "pg"},
    {"type": "FromFieldPath", "name": "host", "fromFieldPath": "status.host"},
    {"type": "FromFieldPath", "name": "absent", "fromFieldPath": "status.absent"},
]


@pytest.mark.parametrize(
    ("inner", "outer", "want"),
    [
        pytest.param([], DETAILS, ["driver", "host"], id="without-a-secret-of-its-own"),
        pytest.param(
            DETAILS[:1],
            [*DETAILS, {"type": "FromConnectionSecretKey", "name": "kind", "fromConnectionSecretKey": "driver"}],
            ["driver", "host", "kind"],
            id="beside-its-secret",
        ),
        pytest.param(
            DETAILS[:1],
            [{"type": "FromConnectionSecretKey", "name": "kind", "fromConnectionSecretKey": "absent"}],
            [],
            id="a-key-that-it-left-out",
        ),
    ],
)
def test_details_of_a_nested_composite(inner: list[Any], outer: list[Any], want: list[str]) -> None:
    tells = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.host", "toFieldPath": "status.host"}
    thing = {"name": "thing", "base": THING, "patches": [tells], "connectionDetails": inner}
    platform = nested_platform({**part("part"), "connectionDetails": outer}, children=(thing,))
    asked = {"writeConnectionSecretToRef": {"namespace": "shop", "name": "whole"}}
    plan = plan_of(platform, {**composite("XWhole"), "spec": asked})
    secret = component_says(plan)["whole"]
    # A Secret without any detail has no data: the API server would drop an empty object.
    assert sorted(secret["data"]["value"] if "data" in secret else []) == want


# Kinds that no controller makes ready


@pytest.mark.parametrize(
    ("kind", "managed"),
    [
        pytest.param("ProviderConfig", False, id="provider-config"),
        pytest.param("ClusterProviderConfig", False, id="cluster-provider-config"),
        pytest.param("ProviderConfigUsage", False, id="provider-config-usage"),
        pytest.param("ClusterProviderConfigUsage", False, id="cluster-provider-config-usage"),
        pytest.param("StoreConfig", False, id="store-config"),
        pytest.param("Object", True, id="managed"),
    ],
)
def test_provider_configs_are_not_waited_for(kind: str, managed: bool) -> None:
    base = {"apiVersion": "kubernetes.crossplane.io/v1alpha1", "kind": kind, "spec": {}}
    plan = plan_of([definition("XWhole"), composition("XWhole", {"name": "a", "base": base})], composite("XWhole"))
    [child] = plan.claims[0].children
    assert (child.template.managed, bool(child.options.wait_for)) == (managed, managed)


# What `status` shows


def test_children_of_nested_composites_are_shown_below_them() -> None:
    leaf = {"apiVersion": "v1", "kind": "Thing", "name": "thing"}
    inner = {"apiVersion": "v1", "kind": "XPart", "name": "part", "resources": [leaf, leaf]}
    shown = ClaimStatus(ClaimKey.parse("XWhole.x.org/mine"), {"resources": [inner, leaf]})
    children = [(child.depth, child.kind, child.name) for child in shown.children]
    assert children == [(1, "XPart", "part"), (2, "Thing", "thing"), (2, "Thing", "thing"), (1, "Thing", "thing")]
