"""One meaning of a class: what its generated component registers is what the offline render says."""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pulumi
import pytest
from pulumi.runtime import rpc

from claimsmith import generate
from claimsmith.base.documents import read_documents
from claimsmith.base.labels import OWNER
from claimsmith.base.values import mapped, refs, shown
from claimsmith.compose.drafts import Child, claim_data
from claimsmith.compose.options import WAIT_FOR, waiting
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.deploy import Context
from claimsmith.deploy.values import secrets_hidden
from claimsmith.dialects.common.klass import Class
from claimsmith.platform import binding
from claimsmith.platform.catalog import read_catalog
from claimsmith.project.project import Project
from claimsmith.project.sdks import index_of
from claimsmith.providers.index import import_name_of
from claimsmith.providers.tokens import component_type, resource_type
from claimsmith.tools.generate import component_texts
from tests.support import native_documents, samples
from tests.support.golden_cases import GOOD
from tests.support.mocked import Registered, registered
from tests.support.paths import ROOT
from tests.support.rendered import by_name, rendered


@dataclass(frozen=True)
class Example:
    """A plan, and the source of the components that its classes become."""

    plan: Plan
    sources: dict[str, str]

    def component(self, klass: Class) -> Any:
        return getattr(module(self.sources[klass.name]), generate.class_name(klass))


def module(source: str) -> ModuleType:
    made = ModuleType(f"component_{abs(hash(source))}")
    sys.modules[made.__name__] = made
    exec(compile(source, made.__name__, "exec"), made.__dict__)
    return made


def golden_examples() -> Iterator[object]:
    for case in GOOD:
        sources = dict.fromkeys((k.name for k in case.catalog.classes.values()), case.generated())
        yield pytest.param(Example(case.plan(), sources), id=f"golden-{case.name}")


def stack_examples() -> Iterator[object]:
    project = Project(ROOT)
    for stack in project.stacks():
        yield pytest.param(of_stack(project, stack), id=f"stack-{stack}")


def of_stack(project: Project, stack: str) -> Example:
    plan = project.plan(stack, unrecorded_ok=True)
    texts = component_texts(project)
    return Example(plan, {c.binding.klass.name: texts[project.component_path(c.binding.klass)] for c in plan.walk()})


EXAMPLES = [*golden_examples(), *stack_examples()]


def sdk_examples() -> Iterator[object]:
    """Classes on large SDKs, each where its SDK is installed."""
    for package, text in native_documents.CLASSES.items():
        installed = importlib.util.find_spec(import_name_of(package)) is not None
        missing = pytest.mark.skipif(not installed, reason=f"the SDK of {package} is not installed")
        yield pytest.param(package, text, id=package, marks=[missing, pytest.mark.sdks])


def sdk_example(text: str) -> Example:
    classes = read_documents(text, file="class.yaml")
    claims = native_documents.CLAIMS.replace("CLASS", classes[0].data["metadata"]["name"])
    catalog = read_catalog(classes, read_documents(claims, file="claim.yaml"))
    [klass] = catalog.classes.values()
    plan = build_plan(samples.expanded(catalog), project="shop", stack="dev", table=samples.table())
    return Example(plan, {klass.name: generate.generate([klass], samples.table(), source="", sdks=index_of)})


def made(example: Example, change: Any = lambda data: data, of: str = "kubernetes:") -> list[Registered]:
    def build(context: Context) -> None:
        for claim in example.plan.claims:
            data = change(copy.deepcopy(claim_data(claim.binding)))
            example.component(claim.binding.klass)(claim.component_name, data, context=context)

    inner = {c.address: (example.component(c.binding.klass), claim_data(c.binding)) for c in example.plan.walk()}
    return registered(example.plan, build, inner, of=of)


def resources_of(claim: PlannedClaim, found: list[Registered]) -> dict[str, Registered]:
    prefix = f"{claim.component_name}/"
    return {n: r for r in found if r.name.startswith(prefix) and "/" not in (n := r.name.removeprefix(prefix))}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_component_registers_what_render_says(example: Example) -> None:
    assert by_name([r.inputs for r in made(example)]) == rendered(example.plan)


def test_the_component_follows_the_recorded_pick() -> None:
    """Whichever network is recorded, the component refers to that one, as the plan does."""
    catalog = samples.catalog_of(samples.SHARED, samples.sharing("a", "b", "c"))
    sources = dict.fromkeys(
        ("net", "sub"), generate.generate(list(catalog.classes.values()), samples.table(), source="")
    )
    bindings = samples.expanded(catalog).bindings()
    [sub] = [b.claim.key for b in bindings if b.claim.key.name == "sub"]
    picked = set()
    for name in ("a", "b", "c"):
        wanted = f"Database.database.example.org/default/{name}/network"
        records = binding.to_records(bindings, [], {sub: {"subnetwork spec.forProvider.networkRef": wanted}})
        example = Example(samples.planned(samples.SHARED, samples.sharing("a", "b", "c"), records), sources)
        found = made(example)
        assert by_name([r.inputs for r in found]) == rendered(example.plan)
        [subnetwork] = [r.inputs for r in found if r.inputs["kind"] == "Subnetwork"]
        picked.add(subnetwork["spec"]["forProvider"]["networkRef"]["name"].rpartition("-")[0])
    assert picked == {"default-a", "default-b", "default-c"}


def test_the_component_follows_a_copied_selector_of_a_sibling() -> None:
    """A class is not converted with what its claims copy into it: no golden case, since those are."""
    patch = samples.patch("spec.sibling", "spec.forProvider.networkSelector")
    subnetwork = {**samples.SUBNETWORK, "spec": {"forProvider": {"region": "eu"}}}
    klass = samples.class_data("net", {"base": samples.NETWORK}, {"base": subnetwork, "patches": [patch]})
    claim = samples.claim_data("a", classRef=samples.class_ref("net"), sibling={"matchComposite": True})
    source = generate.generate([samples.one_class(klass)], samples.table(), source="")
    example = Example(samples.planned([klass], [claim]), {"net": source})
    found = rendered(example.plan)
    assert by_name([r.inputs for r in made(example)]) == found
    [name] = [name for kind, name in found if kind == "Network"]
    [made_of] = [d["spec"]["forProvider"] for (kind, _), d in found.items() if kind == "Subnetwork"]
    assert made_of == {"region": "eu", "networkRef": {"name": name}}


RULES = [{"name": "first"}, {"name": "second", "ttl": 2}]
STATEMENTS = [
    pytest.param(
        {"rules": RULES},
        [samples.patch("spec.none", "spec.rules[0].ttl"), samples.patch("spec.ttl", "spec.rules[*].ttl")],
        {"rules": [{"name": "first"}, {"name": "second", "ttl": 9}]},
        id="wildcard",
    ),
    pytest.param(
        {"rules": {"a": {"b": 1}, "c": {"ttl": 2}}},
        [samples.patch("spec.none", "spec.rules.a.ttl"), samples.patch("spec.ttl", "spec.rules[*].ttl")],
        {"rules": {"a": {"b": 1}, "c": {"ttl": 9}}},
        id="wildcard-over-an-object",
    ),
    pytest.param(
        {"labels": {"tier": "gold"}},
        [
            samples.patch("spec.none", "spec.labels.team"),
            samples.patch("spec.labels", "spec.labels", policy={"toFieldPath": "MergeObjects"}),
        ],
        {"labels": {"tier": "gold", "team": "shop"}},
        id="merged",
    ),
    pytest.param(
        {"labels": {"tier": "gold"}},
        [
            samples.patch("spec.none", "spec.labels.team"),
            samples.patch("spec.labels", "spec.labels", policy={"toFieldPath": "MergeObjectsAppendArrays"}),
        ],
        {"labels": {"tier": "gold", "team": "shop"}},
        id="merged-and-appended",
    ),
    pytest.param(
        {"rules": RULES},
        [
            samples.patch("spec.none", "spec.rules[0].ttl"),
            samples.patch("spec.rules", "spec.rules", policy={"toFieldPath": "AppendArray"}),
        ],
        {"rules": [*RULES, {"name": "third"}]},
        id="appended",
    ),
    pytest.param(
        {"rules": [{"labels": {"tier": "gold"}}, {"labels": {"team": "own"}}]},
        [samples.patch("spec.labels", "spec.rules[*].labels", policy={"toFieldPath": "MergeObjects"})],
        {"rules": [{"labels": {"tier": "gold", "team": "shop"}}, {"labels": {"team": "own"}}]},
        id="merged-at-each-place",
    ),
    pytest.param(
        {"rules": {"a": {"list": [1]}, "b": {"list": []}}},
        [samples.patch("spec.rules", "spec.rules[*].list", policy={"toFieldPath": "AppendArray"})],
        {"rules": {"a": {"list": [1, {"name": "third"}]}, "b": {"list": [{"name": "third"}]}}},
        id="appended-at-each-place",
    ),
    pytest.param(
        {"a": 1},
        [samples.patch("spec.none", "spec.list.a"), samples.patch("spec.ttl", "spec.list[1]")],
        {"a": 1, "list": [None, 9]},
        id="a-list-where-an-object-would-be",
    ),
]


@pytest.mark.parametrize(("base", "patches", "want"), STATEMENTS)
def test_patches_after_the_literal(base: Any, patches: list[Any], want: Any) -> None:
    """The literal of a component names fields that are not set; no wildcard may find them, nor a merge keep them."""
    bucket = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "spec": base}
    klass = samples.class_data("c", {"base": bucket, "patches": patches})
    spec = {"ttl": 9, "labels": {"team": "shop"}, "rules": [{"name": "third"}]}
    claim = samples.claim_data("a", classRef=samples.class_ref("c"), **spec)
    source = generate.generate([samples.one_class(klass)], samples.table(), source="")
    example = Example(samples.planned([klass], [claim]), {"c": source})
    found = by_name([r.inputs for r in made(example)])
    assert found == rendered(example.plan)
    [document] = found.values()
    assert {k: v for k, v in document["spec"].items() if k in want} == want


def test_a_component_without_a_plan_picks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = samples.catalog_of(samples.SHARED, samples.sharing("a", "b", "c"))
    source = generate.generate(list(catalog.classes.values()), samples.table(), source="")
    example = Example(
        samples.planned(samples.SHARED, samples.sharing("a", "b", "c")), dict.fromkeys(("net", "sub"), source)
    )
    monkeypatch.setattr(Plan, "picks", {})
    assert by_name([r.inputs for r in made(example)]) == rendered(example.plan)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_claims_spec_and_its_class_are_the_components_inputs(example: Example) -> None:
    found = {(r.type, r.name): r.inputs for r in made(example, of="claimsmith:")}
    for claim in example.plan.claims:
        bound = claim.binding
        inputs = found[component_type(bound.claim.key.group_kind), claim.component_name]
        assert inputs == {"class": str(bound.klass.key), "spec": claim_data(bound)["spec"]}
    assert len(found) == len(list(example.plan.walk()))


def as_secrets(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "spec": {k: pulumi.Output.secret(v) if k == "size" else v for k, v in data["spec"].items()}}


def hidden(value: Any) -> dict[str, Any]:
    """A secret as the engine is sent it."""
    return {rpc._special_sig_key: rpc._special_secret_sig, "value": value}


def test_what_is_secret_in_a_claim_stays_so() -> None:
    classes = [samples.class_data("small")]
    plan = samples.planned(classes, [samples.claim_data(size=1, place="eu", classRef=samples.class_ref("small"))])
    source = generate.generate([samples.one_class(classes[0])], samples.table(), source="")
    example = Example(plan, {"small": source})
    [component] = made(example, as_secrets, of="claimsmith:")
    # Reading what was sent makes a secret of the whole that a secret is part of.
    assert component.inputs["spec"] == hidden({"size": 1, "place": "eu", "classRef": samples.class_ref("small")})
    assert component.inputs["class"] == str(plan.claims[0].binding.klass.key)


def test_the_data_of_a_secret_that_a_claim_writes_out_is_hidden() -> None:
    secret = {"kind": "Secret", "stringData": {"password": "hunter2"}, "data": {"key": "a2V5"}}
    spec = {"templates": [{"spec": {"template": secret}}], "data": "seen"}
    shown = secrets_hidden(spec)
    template = shown["templates"][0]["spec"]["template"]
    assert [isinstance(template[k], pulumi.Output) for k in ("stringData", "data", "kind")] == [True, True, False]
    assert shown["data"] == "seen"


def told_options(resource: Registered) -> dict[str, Any]:
    """The options of a resource that the engine gets beside its document."""
    return {
        "retain": resource.retain,
        "protect": resource.protect,
        "ignore": resource.ignore_changes,
        "timeouts": resource.timeouts,
        "aliases": set(resource.aliases),
        "waits": resource.inputs["metadata"]["annotations"].get(WAIT_FOR),
    }


def planned_options(claim: PlannedClaim, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the plan says of each child of a claim, by the child's name for the engine."""
    for child in (c for c in claim.children if not c.template.native):
        options = child.options
        yield (
            f"{name}/{child.template.name}",
            {
                "retain": options.retain,
                "protect": options.protect,
                "ignore": options.ignore_changes,
                "timeouts": (options.timeout,) * 3,
                "aliases": planned_aliases(child, name),
                "waits": waiting(options).get(WAIT_FOR),
            },
        )
    for inner in claim.nested:
        yield from planned_options(inner, f"{name}/{inner.template}")


def planned_aliases(child: Child, parent: str) -> set[tuple[str, str]]:
    """All that the engine may know a child as: by its name before, by its apiVersion before, by both."""
    before, version = child.template.previous_name, child.options.previous_api_version
    names = {"", *([f"{parent}/{before}"] if before else [])}
    types = {"", *([resource_type({"apiVersion": version, "kind": child.template.kind})] if version else [])}
    known = {
        (f"{parent}/{k.name}", resource_type({"apiVersion": k.type, "kind": child.template.kind}) if k.type else "")
        for k in child.template.known_as
    }
    return {(name, type_) for name in names for type_ in types} - {("", "")} | known


@pytest.mark.parametrize("example", EXAMPLES)
def test_options_are_those_of_the_plan(example: Example) -> None:
    """Retention, protection, ignored fields, timeouts, aliases and what is waited for, nested composites included."""
    options = {r.name: told_options(r) for r in made(example)}
    planned = dict(pair for claim in example.plan.claims for pair in planned_options(claim, claim.component_name))
    assert {name: options[name] for name in planned} == planned


@pytest.mark.parametrize("example", EXAMPLES)
def test_children_are_named_after_their_templates_and_owned(example: Example) -> None:
    found = made(example)
    for claim in example.plan.claims:
        resources = resources_of(claim, found)
        secrets = ["connection", "composite-connection"][: len(claim.connections)]
        objects = {c.template.name for c in claim.children if not c.template.native}
        assert set(resources) == objects | set(secrets)
        owners = {r.inputs["metadata"]["annotations"][OWNER] for r in resources.values()}
        assert owners == ({claim.identity.owner} if resources else set())


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_claim_is_not_changed(example: Example) -> None:
    given: list[dict[str, Any]] = []
    made(example, lambda data: given.append(data) or data)
    assert given == [claim_data(c.binding) for c in example.plan.claims]


def as_outputs(data: dict[str, Any]) -> dict[str, Any]:
    """The claim as a program writes it that knows its fields only once something exists."""
    kept = ("classRef", "classSelector", "writeConnectionSecretToRef", "application", "infrastructure", "provider")
    spec = {k: v if k in kept else pulumi.Output.from_input(v) for k, v in data["spec"].items()}
    return {**data, "spec": spec}


# What needs a value while the program runs (a merge, a path below a field, a selector, the whole spec, a loop) cannot
# take an Output.
AT_ONCE = (
    *("statements", "odd-names", "required", "opaque-templates", "copied-selectors", "crossplane-selectors"),
    "loops",
)
BY_HAND = [e for e in EXAMPLES if e.id not in {f"golden-{name}" for name in AT_ONCE}]


@pytest.mark.parametrize("example", [e for e in BY_HAND if e.id != "golden-external-names"])
def test_fields_that_are_outputs_give_the_same(example: Example) -> None:
    assert by_name([r.inputs for r in made(example, as_outputs)]) == rendered(example.plan)


@pytest.mark.parametrize("example", [e for e in BY_HAND if e.id == "golden-external-names"])
def test_external_names_that_are_outputs_give_the_same(example: Example) -> None:
    assert by_name([r.inputs for r in made(example, as_outputs)]) == rendered(example.plan)


# Native children: property by property, and option by option.


NATIVE = [e for e in EXAMPLES if any(c.template.native for p in e.values[0].plan.walk() for c in p.children)]


def natives_of(plan: Plan) -> list[tuple[str, Child]]:
    """The native children of a plan, each with the name of its component."""

    def below(claim: PlannedClaim, name: str) -> Iterator[tuple[str, Child]]:
        yield from ((name, child) for child in claim.children if child.template.native)
        for inner in claim.nested:
            yield from below(inner, f"{name}/{inner.template}")

    return [pair for claim in plan.claims for pair in below(claim, claim.component_name)]


def natives_made(example: Example, change: Any = lambda data: data) -> dict[str, Registered]:
    others = ("kubernetes:", "claimsmith:", "pulumi:")
    found = [r for r in made(example, change, of="") if not r.type.startswith(others)]
    assert len({r.name for r in found}) == len(found)
    return {r.name: r for r in found}


def revealed(value: Any) -> Any:
    """What was sent to the engine, secrets in plain text: whether they are secret is tested on its own."""
    match value:
        case {rpc._special_sig_key: rpc._special_secret_sig, "value": inner}:
            return revealed(inner)
        case dict():
            return {k: revealed(v) for k, v in value.items()}
        case list():
            return [revealed(v) for v in value]
        case _:
            return value


def planned_properties(child: Child) -> Any:
    """The properties as the plan has them; a null is one that is not set."""
    properties = child.document["properties"]
    return {k: v for k, v in mapped(properties, shown).items() if v is not None}


@pytest.mark.parametrize(("package", "text"), list(sdk_examples()))
def test_native_children_of_large_sdks_are_those_of_the_plan(package: str, text: str) -> None:
    example = sdk_example(text)
    types = {child.document["type"].partition(":")[0] for _, child in natives_of(example.plan)}
    assert types == {package}
    test_native_children_are_registered_with_the_planned_properties(example)
    test_native_children_have_the_planned_options(example)


@pytest.mark.sdks
@pytest.mark.parametrize("stack", ["aws", "azure", "google"])
def test_examples_of_clouds_register_what_is_planned(stack: str) -> None:
    for package in ("aws", "azure-native", "gcp"):
        if importlib.util.find_spec(import_name_of(package)) is None:
            pytest.skip(f"the SDK of {package} is not installed")
    example = of_stack(Project(ROOT / "examples" / "clouds"), stack)
    test_native_children_are_registered_with_the_planned_properties(example)
    test_native_children_have_the_planned_options(example)


@pytest.mark.parametrize("example", NATIVE)
def test_native_children_are_registered_with_the_planned_properties(example: Example) -> None:
    found = natives_made(example)
    planned = natives_of(example.plan)
    assert sorted(found) == sorted(child.name for _, child in planned)
    for _, child in planned:
        assert (found[child.name].type, revealed(found[child.name].inputs)) == (
            child.document["type"],
            planned_properties(child),
        )


@pytest.mark.parametrize("example", NATIVE)
def test_native_children_are_the_same_for_fields_that_are_outputs(example: Example) -> None:
    plain = {name: revealed(r.inputs) for name, r in natives_made(example).items()}
    assert {name: revealed(r.inputs) for name, r in natives_made(example, as_outputs).items()} == plain


@pytest.mark.parametrize("example", NATIVE)
def test_native_children_have_the_planned_options(example: Example) -> None:
    found = natives_made(example)
    for component, child in natives_of(example.plan):
        options = native_options(found[child.name])
        planned = planned_native_options(child)
        assert options.pop("parent").rpartition("::")[2] == component
        # The SDK adds those that it knows to be secret.
        assert set(planned.pop("additionalSecretOutputs", ())) <= set(options.pop("additionalSecretOutputs", ()))
        assert options == planned


def native_options(resource: Registered) -> dict[str, Any]:
    timeouts = dict(zip(("create", "update", "delete"), resource.timeouts, strict=True))
    options = {
        "aliases": sorted(f"{name} {type_}".strip() for name, type_ in resource.aliases if name),
        "customTimeouts": {k: v for k, v in timeouts.items() if v},
        "ignoreChanges": list(resource.ignore_changes),
        "protect": resource.protect,
        "retainOnDelete": resource.retain,
        **{k: v for k, v in resource.more.items() if k != "dependsOn"},
    }
    return {k: v for k, v in options.items() if v}


def planned_native_options(child: Child) -> dict[str, Any]:
    options = {k: v for k, v in child.document.get("options", {}).items() if k != "dependsOn"}
    listed = (f"{a['name']} {a['type']}" if isinstance(a, dict) else a for a in options.get("aliases", ()))
    return {**options, "aliases": sorted(listed)} if options.get("aliases") else options


@pytest.mark.parametrize("example", NATIVE)
def test_native_children_come_after_the_siblings_that_they_read(example: Example) -> None:
    found = natives_made(example)
    names = {c.address: c.name for _, c in natives_of(example.plan)}
    for _, child in natives_of(example.plan):
        read = {names[r.resource] for r in refs(child.document) if r.resource in names}
        assert read <= set(found[child.name].more.get("dependsOn", ()))


# What only some examples have


def example(name: str) -> Example:
    return next(e.values[0] for e in EXAMPLES if e.id == name)


def test_a_template_that_was_renamed_keeps_its_resource() -> None:
    found = {r.name: r.aliases for r in made(example("golden-options"))}
    assert found["default/kept/store"] == (("default/kept/bucket", ""),)
    assert found["default/kept/config-map"] == ()


def test_what_moved_keeps_its_resource_in_both_directions() -> None:
    found = {r.name: set(r.aliases) for r in made(example("golden-moved"))}
    old, new = (f"kubernetes:storage.example.org/{version}:Bucket" for version in ("v1alpha1", "v1"))
    assert found == {
        "default/before/bucket": {("default/before/store", new)},
        "default/before/settings": {("default/before/writer-settings", "")},
        "default/after/store": {("default/after/bucket", ""), ("default/after/bucket", old)},
        "default/after/reader-settings": set(),
        "default/after/writer-settings": {("default/after/settings", "")},
    }


def test_a_retained_resource_says_so() -> None:
    found = {r.name: (r.retain, r.timeouts[0]) for r in made(example("golden-options"))}
    assert found == {"default/kept/store": (True, "1h30m"), "default/kept/config-map": (False, "30m")}


def test_protection_of_the_class_and_of_the_claim_reaches_the_engine() -> None:
    found = {r.name: r.protect for r in made(example("golden-protected"))}
    assert found == {
        "default/by-class/store": True,
        "default/by-claim/bucket": True,
        "default/not-at-all/bucket": False,
    }


def test_the_secret_holds_the_keys_of_the_children_as_a_secret() -> None:
    found = {r.name: r.inputs for r in made(example("golden-private-mysql-corrected"))}
    [claim] = example("golden-private-mysql-corrected").plan.claims
    data = found["default/sql/connection"]["data"]
    assert data[rpc._special_sig_key] == rpc._special_secret_sig
    assert list(data["value"]) == [f"key-of-crossplane-system-{claim.binding.uid}"]


def test_types_are_the_engines_and_do_not_name_the_class() -> None:
    types = {r.name: r.type for r in made(example("golden-options"))}
    assert types["default/kept/store"] == "kubernetes:storage.example.org/v1:Bucket"
    assert types["default/kept/config-map"] == "kubernetes:core/v1:ConfigMap"


def test_committed_components_are_those_that_are_compared(root: Path) -> None:
    project = Project(root)
    texts = component_texts(project)
    assert {p: p.read_text(encoding="utf-8") for p in texts} == texts
