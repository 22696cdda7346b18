"""function-kro: what a graph desires, and when."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import kro
from claimsmith.functions.protocol import Ready, Resource, Response, SchemaSelector, Selector
from tests.support.function_calls import XR, call


def thing(id_: str, spec: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    template = {"apiVersion": "v1", "kind": "Thing", "metadata": more.pop("metadata", {}), "spec": spec or {}}
    return {"id": id_, "template": template, **more}


def there(**status: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}, "status": status}


def run(*resources: dict[str, Any], status: dict[str, Any] | None = None, **more: Any) -> Response:
    head = {"apiVersion": "kro.fn.crossplane.io/v1alpha1", "kind": "ResourceGraph"}
    data = {**head, "resources": list(resources), **({"status": status} if status else {})}
    return call(kro, "function-kro", data, **more)


def specs(response: Response) -> dict[str, Any]:
    return {name: r.document["spec"] for name, r in response.desired.resources.items()}


VPC = thing("vpc", {"region": "${schema.spec.region}"})
SUBNET = thing("subnet", {"vpcId": "${vpc.status.id}"})


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ({"a": "${schema.spec.region}"}, {"a": "eu"}),
        ({"a": "x-${schema.spec.region}-${schema.metadata.name}"}, {"a": "x-eu-net"}),
        ({"a": "${schema.spec.count}"}, {"a": 2}),
        ({"a": ["${schema.spec.count + 1}"]}, {"a": [3]}),
        ({"a": "${schema.spec.count > 5 ? 1 : omit()}", "b": 1}, {"b": 1}),
        ({"a": ["${omit()}", "x"]}, {"a": ["x"]}),
        ({"a": "${{'b': omit(), 'c': 1}}"}, {"a": {"c": 1}}),
    ],
)
def test_values(spec: dict[str, Any], value: dict[str, Any]) -> None:
    assert specs(run(thing("a", spec))) == {"a": value}


@pytest.mark.parametrize(
    ("observed", "made"),
    [
        ({}, {"vpc": {"region": "eu"}}),
        ({"vpc": there()}, {"vpc": {"region": "eu"}}),
        ({"vpc": there(id="v-1")}, {"vpc": {"region": "eu"}, "subnet": {"vpcId": "v-1"}}),
    ],
    ids=["absent", "no id yet", "there"],
)
def test_a_resource_waits_for_what_it_needs(observed: dict[str, Any], made: dict[str, Any]) -> None:
    assert specs(run(VPC, SUBNET, observed=observed)) == made


def test_what_follows_later_is_reported_as_a_remark() -> None:
    [waits] = run(VPC, SUBNET).results
    assert waits.remark
    assert waits.message == "'subnet' follows once 'vpc' exists, and has all that it reads"
    assert run(VPC, SUBNET, observed={"vpc": there(id="v-1")}).results == ()


READY = ["${vpc.status.?state.orValue('') == 'up'}"]


@pytest.mark.parametrize(
    ("observed", "ready", "names"),
    [
        ({}, Ready.false, ["vpc"]),
        ({"vpc": there(id="v-1", state="down")}, Ready.false, ["vpc"]),
        ({"vpc": there(id="v-1", state="up")}, Ready.true, ["vpc", "subnet"]),
    ],
)
def test_readiness(observed: dict[str, Any], ready: Ready, names: list[str]) -> None:
    response = run({**VPC, "readyWhen": READY}, SUBNET, observed=observed)
    assert response.desired.resources["vpc"].ready is ready
    assert list(response.desired.resources) == names


def test_without_conditions_readiness_is_left_to_others() -> None:
    assert run(VPC).desired.resources["vpc"].ready is Ready.unspecified


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("${schema.spec.count == 2}", ["vpc", "subnet"]),
        ("${schema.spec.count == 3}", []),
        ("${schema.spec.?absent.orValue(true)}", ["vpc", "subnet"]),
    ],
)
def test_what_needs_a_resource_that_is_left_out_is_left_out(condition: str, names: list[str]) -> None:
    response = run({**VPC, "includeWhen": [condition]}, SUBNET, observed={"vpc": there(id="v-1")})
    assert list(response.desired.resources) == names


def test_a_condition_on_another_resource_waits_for_it() -> None:
    second = thing("second", includeWhen=["${vpc.status.state == 'up'}"])
    assert list(run(VPC, second).desired.resources) == ["vpc"]
    assert list(run(VPC, second, observed={"vpc": there(state="up")}).desired.resources) == ["vpc", "second"]


ZONES = thing(
    "zones",
    {"zone": "${zone}"},
    metadata={"name": "${schema.metadata.name + '-' + zone}"},
    forEach=[{"zone": "${schema.spec.zones}"}],
)


def test_collections() -> None:
    response = run(ZONES)
    assert specs(response) == {"zones-net-a": {"zone": "a"}, "zones-net-b": {"zone": "b"}}
    labels = [r.document["metadata"]["labels"] for r in response.desired.resources.values()]
    assert labels == [{"kro.run/collection-index": "0"}, {"kro.run/collection-index": "1"}]


def test_every_combination_of_loops() -> None:
    loops = [{"a": "${['x', 'y']}"}, {"b": "${[1, 2]}"}]
    made = run(thing("all", {"v": "${b}"}, metadata={"name": "${a + string(b)}"}, forEach=loops)).desired.resources
    assert list(made) == ["all-x1", "all-x2", "all-y1", "all-y2"]


def test_an_empty_collection_is_nothing() -> None:
    composite = {**XR, "spec": {"zones": []}}
    user = thing("user", {"n": "${size(zones)}"})
    assert list(run(ZONES, user, composite=composite).desired.resources) == []


def item(zone: str, index: int, id_: str) -> dict[str, Any]:
    metadata = {"name": f"net-{zone}", "labels": {"kro.run/collection-index": str(index)}}
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "status": {"id": id_}}


def test_a_collection_in_the_order_of_its_items() -> None:
    status = {"ids": "${zones.map(z, z.status.id)}", "first": "${zones[0].status.id}"}
    observed = {"zones-net-b": item("b", 1, "2"), "zones-net-a": item("a", 0, "1")}
    response = run(ZONES, status=status, observed=observed)
    assert response.desired.composite.document["status"] == {"ids": ["1", "2"], "first": "1"}


def test_the_status_has_what_is_there() -> None:
    status = {"vpc": {"id": "${vpc.status.id}"}, "subnet": "${subnet.status.id}"}
    response = run(VPC, SUBNET, status=status, observed={"vpc": there(id="v-1")})
    assert response.desired.composite.document == {
        "apiVersion": "example.org/v1",
        "kind": "XNetwork",
        "status": {"vpc": {"id": "v-1"}},
    }


def test_external_resources() -> None:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${schema.spec.region}-config"}}
    labels = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"selector": {"matchLabels": {"a": "b"}}}}
    resources = [
        {"id": "config", "externalRef": reference},
        {"id": "all", "externalRef": labels},
        thing("user", {"color": "${config.data.color}", "n": "${size(all)}"}),
    ]
    first = run(*resources)
    assert first.requirements.resources == {
        "config": Selector("v1", "ConfigMap", name="eu-config"),
        "all": Selector("v1", "ConfigMap", labels={"a": "b"}),
    }
    assert first.desired.resources == {}
    found = {"config": [Resource({"data": {"color": "red"}})], "all": [Resource({}), Resource({})]}
    second = run(*resources, required_resources=found)
    assert specs(second) == {"user": {"color": "red", "n": 2}}
    assert second.requirements == first.requirements


def test_schemas_are_required_and_used_for_checks() -> None:
    assert run(VPC).requirements.schemas == {
        "example.org/v1, Kind=XNetwork": SchemaSelector("example.org/v1", "XNetwork"),
        "/v1, Kind=Thing": SchemaSelector("v1", "Thing"),
    }
    schema = {"properties": {"status": {"properties": {"vpcId": {"type": "string"}}}}}
    wrong = thing("subnet", {"vpcId": "${vpc.status.vpcid}"})
    with pytest.raises(EngineError) as caught:
        run(VPC, wrong, required_schemas={"/v1, Kind=Thing": schema})
    problem = caught.value.problems[0]
    assert "reads vpc.status.vpcid" in problem.what
    assert problem.fix == "did you mean 'vpcId'?"
    assert problem.path == "spec.pipeline[0].input.resources[1].template.spec.vpcId"


@pytest.mark.parametrize(
    ("resources", "path"),
    [
        ([thing("a", {"x": "${schema.spec.region + 1}"})], "resources[0].template.spec.x"),
        ([thing("a", {"x": "${nonsense(}"})], "resources[0].template.spec.x"),
        ([thing("a", metadata={"name": "same"}, forEach=[{"b": "${[1, 2]}"}])], "resources[0].template.metadata.name"),
        ([thing("a", forEach=[{"b": "${schema.spec.region}"}])], "resources[0].forEach[0].b"),
        ([thing("a", metadata={"name": "${b}"}, forEach=[{"b": "${lists.range(2000)}"}])], "resources[0].forEach"),
        ([thing("a", includeWhen=["${schema.spec.region}"])], "resources[0].includeWhen[0]"),
    ],
    ids=["types", "syntax", "one name twice", "no list", "too many", "no boolean"],
)
def test_refused(resources: list[dict[str, Any]], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(*resources)
    problem = caught.value.problems[0]
    assert problem.path.endswith(path)
    assert problem.where
    assert problem.fix


def test_a_condition_that_reads_what_the_composite_does_not_have_is_reported() -> None:
    response = run({**VPC, "includeWhen": ["${schema.spec.absent == 1}"]})
    assert response.desired.resources == {}
    assert [r.where is not None for r in response.results] == [True]


SPEC = {
    "region": {"type": "string"},
    "count": {"type": "integer"},
    "zones": {"type": "array", "items": {"type": "string"}},
}
TYPED = {"example.org/v1, Kind=XNetwork": {"properties": {"spec": {"type": "object", "properties": SPEC}}}}


@pytest.mark.parametrize(
    ("wrong", "twin"),
    [
        pytest.param("schema.spec.count > '5' ? 1 : 2", "schema.spec.count > 5 ? 1 : 2", id="comparison"),
        pytest.param("schema.spec.region.startsWith(5)", "schema.spec.region.startsWith('5')", id="argument"),
        pytest.param("schema.spec.zones.startsWith('a')", "schema.spec.zones[0].startsWith('a')", id="method"),
        pytest.param("schema.spec.zones.map(z, z + 1)", "schema.spec.zones.map(z, z + '1')", id="macro"),
        pytest.param("schema.metadata.labels.a == 1", "schema.metadata.?labels.a == optional.of('1')", id="metadata"),
    ],
)
def test_expressions_fit_the_schemas(wrong: str, twin: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(thing("a", {"x": f"${{{wrong}}}"}), required_schemas=TYPED)
    assert wrong in caught.value.problems[0].what
    assert caught.value.problems[0].path.endswith("resources[0].template.spec.x")
    assert caught.value.problems[0].fix
    assert list(run(thing("a", {"x": f"${{{twin}}}"}), required_schemas=TYPED).desired.resources) == ["a"]
