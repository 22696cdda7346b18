"""Claims for existing native resources on Pulumi's mocks: they are read with the real SDKs, and never registered."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from claimsmith.base.errors import EngineError
from claimsmith.compose.drafts import claim_data as data_of
from claimsmith.deploy import Context
from claimsmith.deploy.component import Composite
from claimsmith.deploy.native_static import reading_component
from tests.support.native_plans import native_class
from tests.support.samples import claim_data, class_ref, planned
from tests.support.sdks import large

Data = dict[str, Any]
INSTANCE = {
    "name": "instance",
    "base": {"type": "gcp:sql:DatabaseInstance", "properties": {"databaseVersion": "POSTGRES_15"}},
    "connectionDetails": [
        {"name": "address", "fromFieldPath": "outputs.ipAddresses[0].ipAddress"},
        {"name": "tier", "fromFieldPath": "outputs.settings.tier"},
    ],
}
PET = {
    "name": "pet",
    "base": {"type": "random:RandomPet", "metadata": {"labels": {"use": "app"}}},
    "connectionDetails": [
        {"name": "name", "fromFieldPath": "outputs.id"},
        {"name": "prefix", "fromFieldPath": "outputs.prefix"},
        {"name": "scheme", "value": "pets"},
        {"name": "host", "fromConfig": "shop:host"},
    ],
}


@dataclass
class Existing(mocks.Mocks):
    """Providers with resources that exist."""

    outputs: Data
    read: list[tuple[str, str, str]] = field(default_factory=list)
    """Type, name and id of what was read."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"nothing is called here: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        assert not args.custom or args.resource_id, f"{args.typ} would be created"
        if args.resource_id:
            self.read.append((args.typ, args.name, args.resource_id))
        return args.resource_id or args.name, self.outputs


def deployed(resource: Data, outputs: Data, id_: str = "fifi", **metadata: Any) -> tuple[Existing, list[Any]]:
    """What was read, and phase, resources and details of the claim: the value of each, or None while it is unknown."""
    reference = {"type": resource["base"]["type"], "id": id_}
    data = claim_data("orders", classRef=class_ref("native"), resourceRef=reference)
    data["metadata"] |= metadata
    [claim] = planned([native_class(resource)], [data]).claims
    providers = Existing(outputs)
    mocks.set_mocks(providers, project="shop", stack="dev", preview=False)
    pulumi.runtime.config.set_all_config({"shop:host": "localhost"}, [])
    seen: list[Any] = []

    def build() -> Any:
        component: Composite = reading_component(claim)(
            claim.component_name, data_of(claim.binding), context=Context(project="shop", stack="dev")
        )

        async def see() -> None:
            for output in (component.phase, component.resources, component.details):
                assert output is not None
                seen.append(await output.future() if await output.is_known() else None)
            assert component.details is not None
            seen.append(await component.details.is_secret())

        return pulumi.Output.from_input(see())

    try:
        pulumi.runtime.test(build)()
    finally:
        pulumi.runtime.config.set_all_config({})
        gc.collect()
    return providers, seen


def test_it_is_read_and_its_outputs_feed_the_details() -> None:
    providers, (phase, resources, details, secret) = deployed(PET, {"prefix": "big", "length": 2})
    token = "random:index/randomPet:RandomPet"
    assert providers.read == [(token, "default-orders-pet", "fifi")]
    assert (phase, resources) == ("Bound", [{"type": token, "name": "default-orders-pet"}])
    assert sorted(details) == ["host", "name", "prefix", "scheme"]
    assert (details["prefix"], secret) == ("Ymln", True)


def test_nothing_is_published_of_what_could_not_be_read() -> None:
    # The engine reports an error, goes on with others, and answers without any output.
    _, (phase, resources, details, _) = deployed(PET, {})
    assert (phase, resources, details) == (None, None, None)


def test_a_protected_claim_protects_nothing_that_it_does_not_own() -> None:
    annotations = {"claimsmith.io/protect": "true"}
    _, (phase, *_) = deployed(PET, {"prefix": "big"}, annotations=annotations)
    assert phase == "Bound"


@pytest.mark.parametrize(
    ("resource", "outputs"),
    [
        large(
            INSTANCE,
            {"ipAddresses": [{"ipAddress": "10.0.0.7", "type": "PRIVATE"}], "settings": {"tier": "db-f1-micro"}},
            package="gcp",
            id="gcp",
        )
    ],
)
def test_outputs_within_others_are_found(resource: Data, outputs: Data) -> None:
    _, (_, _, details, _) = deployed(resource, outputs)
    assert details == {"address": "MTAuMC4wLjc=", "tier": "ZGItZjEtbWljcm8="}


def test_an_output_that_the_sdk_lacks_is_refused_with_claim_and_child() -> None:
    bad = {**PET, "connectionDetails": [{"name": "x", "fromFieldPath": "outputs.prefx"}]}
    with pytest.raises((EngineError, pulumi.RunError), match=r"default/orders, child 'pet'.*has no output 'prefx'"):
        deployed(bad, {"prefix": "big"})
