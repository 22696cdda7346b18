"""Generated components in any Pulumi program: no project, no plan, no bindings; the claim is written in Python."""

from __future__ import annotations

import copy
import gc
import runpy
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
import yaml
from pulumi.runtime import mocks

from claimsmith import generate
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.deploy import Composite, Context
from claimsmith.platform.catalog import read_catalog
from claimsmith.project.sdks import index_of
from tests.support import samples
from tests.support.crossplane_documents import BUCKET, XR, composition, definition, document
from tests.support.golden_cases import GOOD, Case
from tests.support.mocked import (
    MockedCluster,
    Monitor,
    Recorder,
    Registered,
    native_outputs,
    native_providers,
    settings_of,
)
from tests.support.paths import ROOT
from tests.support.rendered import by_name, rendered

Build = Callable[[], Any]


@dataclass
class Live(Recorder):
    """A provider whose controllers have done their work: it reads Secrets, and objects have a status."""

    cluster: MockedCluster | None = None
    keys: dict[str, str] = field(default_factory=dict)
    """What each Secret holds beside what the cluster says."""
    status: dict[str, Any] = field(default_factory=dict)
    """What objects tell of which the cluster says nothing."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, inputs = super().new_resource(args)
        if args.resource_id:
            namespace, _, name = args.resource_id.partition("/")
            return args.resource_id, {**inputs, "data": {**self.keys, **self.cluster.secret_data(namespace, name)}}
        metadata = inputs.get("metadata") or {}
        live = self.cluster.read("", inputs.get("kind", ""), metadata.get("name", "")) or {}
        return id_, {**inputs, "status": live.get("status") or self.status}


def run(build: Build, plan: Plan | None = None, *, of: tuple[str, ...] = ("kubernetes:",)) -> list[Registered]:
    """What a program of one's own registers, of types that begin so."""
    project, stack = "golden", "dev"
    known = plan or Plan(project, stack, ())
    keys = {} if plan else dict.fromkeys(("username", "password", "endpoint"), "dmFsdWU=")
    recorder = Live(
        cluster=MockedCluster(known),
        keys=keys,
        status={} if plan else {"atProvider": {"endpoint": "e"}},
        outputs=native_outputs(known),
    )
    mocks.set_mocks(recorder, project=project, stack=stack, preview=False, monitor=Monitor(recorder))
    pulumi.runtime.config.set_all_config(settings_of(known))
    try:
        pulumi.runtime.test(build)()
    except BaseException:
        # What is left of a failed run complains when it is collected, and that must not be in the middle of a parse.
        gc.collect()
        raise
    return [r for r in recorder.resources if r.type.startswith(of)]


def module(source: str) -> ModuleType:
    made = ModuleType(f"standalone_{abs(hash(source))}")
    sys.modules[made.__name__] = made
    exec(compile(source, made.__name__, "exec"), made.__dict__)
    return made


def platform(folder: str) -> ModuleType:
    """The components of a folder of the example platform."""
    return module((ROOT / "components" / folder / "component.py").read_text(encoding="utf-8"))


# What a claim becomes in a stack of claimsmith, it becomes in any program.


def of_case(case: Case) -> dict[tuple[str, str], type[Composite]]:
    found = module(case.generated())
    classes = list(case.catalog.classes.values())
    names = generate.class_names(classes)
    return {(k.name, k.serves.kind): getattr(found, n) for k, n in zip(classes, names, strict=True)}


def written(case: Case, claim: PlannedClaim) -> dict[str, Any]:
    """The claim as its file has it: without defaults, and without a uid."""
    documents = yaml.safe_load_all((case.folder / "claim.yaml").read_text(encoding="utf-8"))
    key = claim.binding.claim.key
    [found] = [d for d in documents if (d["kind"], d["metadata"]["name"]) == (key.group_kind.kind, key.name)]
    return {**found, "spec": found.get("spec") or {}}


NATIVE = "native-crossplane"
ACROSS = {"shared-network", "odd-names"}
"""One refers to another claim's resources, in an order that only a plan finds; YAML of others reads one oddly."""


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in GOOD if c.name not in ACROSS])
def test_any_program_gets_what_render_says(case: Case) -> None:
    plan = case.plan()
    components = of_case(case)

    def build() -> None:
        context = Context(environments=plan.environments, providers=native_providers(plan))
        for claim in plan.claims:
            klass = claim.binding.klass
            component = components[klass.name, klass.serves.kind]
            component(claim.component_name, written(case, claim), context=context)

    found = [r.inputs for r in run(build, plan) if not r.name.endswith("/details")]
    expected = rendered(plan)
    if case.name == NATIVE:
        # Nobody named the composite's Secret, and a program of one's own may have no cluster to write it to.
        expected = {k: v for k, v in expected.items() if v["kind"] != "Secret"}
        assert len(expected) < len(rendered(plan))
    assert by_name(found) == expected


def test_no_context_is_needed() -> None:
    component = platform("private-mysql-server").PrivateMySQLServer
    spec = {"region": "us-east", "storageGB": 20, "writeConnectionSecretToRef": {"name": "sql"}}
    found = run(lambda: component("sql", {"metadata": {"name": "sql", "namespace": "shop"}, "spec": spec}))
    assert [r.name for r in found if "details" not in r.name] == [
        "sql/resource-group",
        "sql/my-sql-server",
        "sql/my-sql-server-virtual-network-rule",
        "sql/connection",
    ]
    assert found[0].inputs["spec"]["location"] == "East US"


def test_components_of_one_program_find_each_others_resources() -> None:
    catalog = samples.catalog_of(samples.SHARED)
    classes = list(catalog.classes.values())
    names = dict(zip((c.name for c in classes), generate.class_names(classes), strict=True))
    found = module(generate.generate(classes, samples.table(), source=""))

    def build() -> None:
        for name in ("net", "sub"):
            getattr(found, names[name])(name, {"metadata": {"name": name}, "spec": {}})

    [subnetwork] = [r.inputs for r in run(build) if r.inputs["kind"] == "Subnetwork"]
    assert subnetwork["spec"]["forProvider"]["networkRef"]["name"].startswith("default-net-")


def test_a_component_is_complete_once_its_constructor_returns() -> None:
    base: type[Composite] = platform("private-mysql-server").PrivateMySQLServer

    class Extended(base):
        def __init__(self, name: str, args: Any, opts: pulumi.ResourceOptions | None = None) -> None:
            super().__init__(name, args, opts)
            self.child("page", "v1", "ConfigMap", managed=False, data={"index.html": "hello"})

    kinds: list[list[str]] = []

    def build() -> None:
        component = Extended("sql", {"metadata": {"name": "sql", "namespace": "shop"}, "spec": {}})
        component.resources.apply(lambda resources: kinds.append([r["kind"] for r in resources]))

    run(build)
    assert kinds == [["ResourceGroup", "MySQLServer", "MySQLServerVirtualNetworkRule", "ConfigMap"]]


OLD = """
import pulumi
from claimsmith.edge import ABSENT, ClaimKind, ClassRef, Composition, first, read

class Old(Composition):
    CLAIM = ClaimKind("example.org/v1", "XThing")
    CLASS = ClassRef("apiextensions.crossplane.io/v1", "Composition", "old", bound_by="xr")

    def __init__(self, name, args, opts=None, *, context=None):
        super().__init__(name, args, opts, context=context)
        spec = self.spec
        fields = {"data": {"size": first(spec.get("size", ABSENT), "1"), "zone": read(spec, "place.zone")}}
        if "other" in spec:
            fields["data"]["other"] = self.select("page", "spec.ref", "Thing.example.org or ConfigMap", {})
        self.child("page", "v1", "ConfigMap", managed=False, **fields)
        self.publish_connection()
        self.finish()
"""


def test_a_component_that_0_1_generated_still_works() -> None:
    def build() -> None:
        old = module(OLD).Old
        old("x", {"metadata": {"name": "x"}, "spec": {"place": {"zone": "a"}}})
        old("y", {"metadata": {"name": "y"}, "spec": {"size": "2", "other": True}})

    with pytest.warns(DeprecationWarning, match="is deprecated") as warned:
        found = run(build)
    assert [r.inputs["data"] for r in found] == [
        {"size": "1", "zone": "a"},
        {"size": "2", "other": found[0].inputs["metadata"]["name"]},
    ]
    texts = " ".join(str(w.message) for w in warned)
    assert all(new in texts for new in ("CrossplaneComposite", "default", "field", "finish() is deprecated"))


def test_each_run_of_an_engine_has_its_own_default() -> None:
    seen: list[Context] = []
    for _ in range(2):
        run(lambda: seen.extend((Context.default(), Context.default())))
    assert [seen[0] is seen[1], seen[2] is seen[3], seen[0] is seen[2]] == [True, True, False]


def test_the_program_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {"postgres": "postgres", "private-mysql-server": "private_mysql_server"}
    for folder, name in modules.items():
        shutil.copy(ROOT / "components" / folder / "component.py", tmp_path / f"{name}.py")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)

    def build() -> None:
        runpy.run_path(str(ROOT / "tests" / "programs" / "__main__.py"), run_name="__main__")

    found = run(build)
    kinds = {r.inputs["kind"] for r in found if r.name.startswith("ledger/")}
    assert kinds == {"ResourceGroup", "PostgreSQLServer", "ConfigMap", "Secret"}
    assert {"sql/my-sql-server", "sql/connection"} <= {r.name for r in found}
    [server] = [r.inputs for r in found if r.inputs["kind"] == "PostgreSQLServer"]
    assert server["spec"]["forProvider"]["sku"]["tier"] == "GeneralPurpose"


# What a component cannot do there, it refuses in one sentence.

AZURE = {"kind": "EnvironmentConfig", "metadata": {"name": "azure"}, "data": {"location": "westeurope"}}
DATABASE = {"metadata": {"name": "sql", "namespace": "shop"}, "spec": {"region": "us-west"}}
LEDGER = {"metadata": {"name": "ledger", "namespace": "shop"}, "spec": {"size": "small"}}


def required(**infrastructure: Any) -> dict[str, Any]:
    return {**DATABASE, "spec": {**DATABASE["spec"], "infrastructure": infrastructure}}


@pytest.mark.parametrize(
    ("folder", "name", "args", "word"),
    [
        pytest.param("postgres", "PostgresClaim", LEDGER, "Context(environments=", id="environment-not-given"),
        pytest.param(
            "mysql-database",
            "MySQLDatabaseRequirement",
            DATABASE,
            "several components serve",
            id="several-compositions",
        ),
        pytest.param(
            "mysql-database",
            "MySQLDatabaseRequirement",
            required(compositionRef={"name": "on-the-moon"}),
            "no component serves MySQLDatabase.acme.example.org with the composition 'on-the-moon'",
            id="unknown-composition",
        ),
        pytest.param(
            "wordpress",
            None,
            {"metadata": {"name": "blog", "namespace": "shop"}, "spec": {}},
            "Context(serving=",
            id="composite-of-another-folder",
        ),
    ],
)
def test_what_cannot_be_composed_is_refused(folder: str, name: str | None, args: dict[str, Any], word: str) -> None:
    components = platform(folder)
    with pytest.raises(pulumi.RunError) as caught:
        run(lambda: getattr(components, name or first_component(components))("x", copy.deepcopy(args)))
    assert word in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2, "what, and what to do about it"


def first_component(found: ModuleType) -> str:
    kinds = (n for n, v in vars(found).items() if isinstance(v, type) and issubclass(v, Composite))
    return next(n for n in kinds if n not in ("Composite", "CrossplaneComposite"))


@pytest.mark.parametrize(
    ("args", "serving"),
    [
        pytest.param(required(compositionRef={"name": "mysql-on-azure"}), (), id="named-by-the-claim"),
        pytest.param(DATABASE, ("MySQLOnAzure",), id="named-by-the-context"),
    ],
)
def test_a_requirement_makes_its_composite(args: dict[str, Any], serving: tuple[str, ...]) -> None:
    found = platform("mysql-database")

    def build() -> None:
        context = Context(serving=[getattr(found, name) for name in serving])
        found.MySQLDatabaseRequirement("sql", copy.deepcopy(args), context=context)

    kinds = [r.inputs["kind"] for r in run(build)]
    assert kinds[:2] == ["ResourceGroup", "MySQLServer"]


def test_a_claim_of_crossplane_makes_its_composite_with_the_schemas_defaults() -> None:
    found = platform("postgres")

    def build() -> None:
        found.PostgresClaim("ledger", copy.deepcopy(LEDGER), context=Context(environments=[AZURE]))

    [server] = [r.inputs for r in run(build) if r.inputs["kind"] == "PostgreSQLServer"]
    assert server["spec"]["forProvider"]["storageProfile"] == {"storageMB": 20480}
    assert server["spec"]["forProvider"]["location"] == "westeurope"


def test_a_nested_composite_of_cluster_scope_is_in_no_namespace() -> None:
    """As in a stack: an API server takes away the namespace that its template gives it."""
    names = {"kind": "XOuter", "plural": "xouters"}
    outer_kind = {**definition(names=names), "metadata": {"name": "xouters.example.org"}}
    outer = composition(resources=[{"name": "inner", "base": {**XR, "metadata": {"namespace": "elsewhere"}}}])
    reference = {"compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XOuter"}}
    outer = {**outer, "metadata": {"name": "outer"}, "spec": {**outer["spec"], **reference}}
    copied = {"fromFieldPath": "metadata.namespace", "toFieldPath": "spec.namespace"}
    inner = composition(resources=[{"name": "bucket", "base": BUCKET, "patches": [copied]}])
    read = read_catalog([document(d) for d in (outer_kind, definition(), outer, inner)], []).classes.values()
    found = module(generate.generate(list(read), samples.table(), source=""))
    [bucket] = run(lambda: found.Outer("o", {"metadata": {"name": "o"}, "spec": {}}))
    assert bucket.inputs["spec"] == {"region": "eu"}


def test_a_service_account_needs_a_kubeconfig() -> None:
    klass = samples.one_class(samples.class_data("small"))
    source = generate.generate([klass], samples.table(), source="").replace(
        "'small',", "'small', service_account=('shop', 'robot'),"
    )
    component = module(source).Small
    with pytest.raises(pulumi.RunError, match="shop/robot"):
        run(lambda: component("x", {"metadata": {"name": "x"}, "spec": {}}))


class Reachable(MockedCluster):
    """A cluster that tells who it is."""

    def identity(self) -> str:
        return "its-uid"

    def impersonating(self, account: tuple[str, str]) -> str:
        return f"as {'/'.join(account)}"


def test_a_cluster_gives_its_provider_and_acts_as_a_service_account() -> None:
    klass = samples.one_class(samples.class_data("small"))
    source = generate.generate([klass], samples.table(), source="").replace(
        "'small',", "'small', service_account=('shop', 'robot'),"
    )
    component = module(source).Small

    def build() -> None:
        context = Context(cluster=Reachable(Plan("golden", "dev", ())))
        component("x", {"metadata": {"name": "x"}, "spec": {}}, context=context)

    found = {r.name: r for r in run(build, of=("pulumi:providers:kubernetes",))}
    assert sorted(found) == ["cluster", "cluster/shop/robot"]
    assert {r.inputs["clusterIdentifier"] for r in found.values()} == {"its-uid"}


# What a program of one's own gets wrong, and what its values may be


def native_bucket(*, spec: dict[str, Any] | None = None) -> Any:
    """The component of a definition that is composed of native resources only, and publishes a detail."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec or {}}}}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
    patches = [{"fromFieldPath": "spec.parameters.length", "toFieldPath": "properties.length"}]
    detail = {"name": "password", "type": "FromFieldPath", "fromFieldPath": "outputs.result"}
    base = {"type": "random:RandomPassword", "properties": {"length": 8}}
    template = {"name": "password", "base": base, "patches": patches, "connectionDetails": [detail]}
    names = {"kind": "XBucket", "plural": "xbuckets"}
    claimed = {**definition(names=names, versions=[version], claimNames={"kind": "Bucket", "plural": "buckets"})}
    catalog = read_catalog([document(claimed), document(composition(resources=[template]))], [])
    classes, claims = list(catalog.classes.values()), generate.claim_types(catalog)
    return module(generate.generate(classes, samples.table(), source="", claims=claims, sdks=index_of))


LENGTHS = {"parameters": {"type": "object", "properties": {"length": {"type": "integer", "default": 17}}}}


@pytest.mark.parametrize("kind", ["Bucket", "BucketClaim"])
def test_what_is_native_needs_no_cluster(kind: str) -> None:
    """The Secret that a control plane would fill in is written nowhere: nobody asked for it."""
    found = native_bucket()
    made = run(lambda: getattr(found, kind)("one", {"metadata": {"name": "one"}, "spec": {}}), of=("",))
    assert [r.type for r in made if not r.type.startswith("claimsmith:")] == [
        "random:index/randomPassword:RandomPassword"
    ]
    secret = {"writeConnectionSecretToRef": {"name": "asked", "namespace": "shop"}}
    [asked] = run(lambda: getattr(found, kind)("one", {"metadata": {"name": "one"}, "spec": secret}))
    assert asked.inputs["metadata"]["name"] == "asked"


@pytest.mark.parametrize(
    ("given", "length"),
    [
        pytest.param(lambda: {"parameters": {}}, 17, id="plain"),
        pytest.param(lambda: {"parameters": pulumi.Output.from_input({})}, 17, id="an-object-that-is-known-later"),
        pytest.param(lambda: {"parameters": pulumi.Output.from_input({"length": 3})}, 3, id="with-its-own-value"),
        pytest.param(lambda: {"parameters": {"length": pulumi.Output.from_input(None)}}, 17, id="nothing-in-the-end"),
    ],
)
def test_the_schemas_defaults_are_in_outputs_too(given: Callable[[], dict[str, Any]], length: int) -> None:
    found = native_bucket(spec=LENGTHS)
    [made] = run(lambda: found.Bucket("one", {"metadata": {"name": "one"}, "spec": given()}), of=("random:",))
    assert made.inputs["length"] == length


def test_two_components_of_one_claim_are_refused() -> None:
    component = platform("private-mysql-server").PrivateMySQLServer
    same = {"metadata": {"name": "sql", "namespace": "shop"}, "spec": {"storageGB": 20}}

    def twice() -> None:
        for name in ("one", "two"):
            component(name, copy.deepcopy(same))

    with pytest.raises(pulumi.RunError, match=r"two: its ResourceGroup \S+ is created by the component 'one' already"):
        run(twice)


def test_one_claim_may_be_deployed_to_two_clusters() -> None:
    component = platform("private-mysql-server").PrivateMySQLServer
    same = {"metadata": {"name": "sql", "namespace": "shop"}, "spec": {"storageGB": 20}}

    def twice() -> None:
        for name in ("one", "two"):
            opts = pulumi.ResourceOptions(provider=pulumi_kubernetes.Provider(name))
            component(name, copy.deepcopy(same), opts=opts)

    assert len(run(twice, of=("kubernetes:azure", "kubernetes:database"))) == 6


@pytest.mark.parametrize(
    ("args", "word"),
    [
        pytest.param(lambda o: {"metadata": {"name": o}, "spec": {}}, "its metadata.name is an Output", id="name"),
        pytest.param(
            lambda o: {"metadata": {"name": "a", "namespace": o}, "spec": {}},
            "its metadata.namespace is an Output",
            id="namespace",
        ),
        pytest.param(lambda o: {"metadata": {"name": "a"}, "spec": o}, "its spec is an Output", id="spec"),
        pytest.param(lambda _: {"metadata": {}, "spec": {}}, "no metadata.name", id="no-name"),
        pytest.param(lambda _: {"spec": {}}, "no metadata.name", id="no-metadata"),
    ],
)
def test_a_claim_without_a_plain_identity_is_refused(args: Callable[[Any], dict[str, Any]], word: str) -> None:
    component = platform("private-mysql-server").PrivateMySQLServer
    with pytest.raises(pulumi.RunError) as caught:
        run(lambda: component("sql", args(pulumi.Output.from_input("later"))))
    assert word in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2
