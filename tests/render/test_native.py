"""Native children in a rendered plan: a Pulumi YAML program, in which no text of a claim is an interpolation."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from claimsmith import render
from claimsmith.base.values import Interpolation
from claimsmith.dialects.common.interpolations import interpolation
from tests.support.native_plans import CONFIG_MAP, PASSWORD, ROLE, native_plan
from tests.support.native_plans import native as resource
from tests.support.samples import patch


def rendered(*resources: dict[str, Any], **spec: Any) -> list[Any]:
    return list(yaml.safe_load_all(render.render(native_plan(*resources, **spec))))


def properties(*resources: dict[str, Any], name: str, **spec: Any) -> Any:
    [program] = [d for d in rendered(*resources, **spec) if "resources" in d]
    return program["resources"][f"default-orders-{name}"]["properties"]


def test_native_children_are_one_program() -> None:
    assert rendered(connections=5) == [
        {
            "resources": {
                "default-orders-password": {
                    "type": "random:index/randomPassword:RandomPassword",
                    "properties": {"length": 24},
                },
                "default-orders-role": {
                    "type": "postgresql:index/role:Role",
                    "properties": {"login": True, "password": "${default-orders-password.result}", "name": "orders"},
                    "options": {"provider": "${main}"},
                },
                "default-orders-database": {
                    "type": "postgresql:index/database:Database",
                    "properties": {"owner": "${default-orders-role.name}", "name": "orders", "connectionLimit": 5},
                    "options": {"provider": "${main}"},
                },
            }
        }
    ]


def test_it_stands_among_kubernetes_objects() -> None:
    config = {"name": "config", "base": {**CONFIG_MAP, "data": {"x": "${password.result}"}}}
    program, found = rendered(config, PASSWORD)
    assert list(program["resources"]) == ["default-orders-password"]
    assert found["data"] == {"x": "<Database.database.example.org/default/orders/password:outputs.result>"}


def test_several_parts_are_one_text() -> None:
    pet = resource("pet", properties={"prefix": "a$${b}-${password.result}/${password.id}$$"})
    found = properties(PASSWORD, pet, name="pet")["prefix"]
    assert found == "a$${b}-${default-orders-password.result}/${default-orders-password.id}$$"


def test_dependencies_and_options() -> None:
    pet = resource("pet", options={"dependsOn": ["password"], "import": "${x}", "ignoreChanges": ["a"]})
    [program] = rendered(PASSWORD, pet)
    assert program["resources"]["default-orders-pet"]["options"] == {
        "dependsOn": ["${default-orders-password}"],
        "ignoreChanges": ["a"],
        "import": "$${x}",
    }


@pytest.mark.parametrize("text", ["${password.result}", "$${x}", "$$", "${", "$", "a$", "{}", "$$${", "\u2028${a.b}"])
def test_a_text_of_a_claim_is_read_again_as_that_text(text: str) -> None:
    role = {**ROLE, "patches": [patch("spec.x", "properties.name")]}
    written = properties(PASSWORD, role, name="role", x=text)["name"]
    read = interpolation(written)
    assert not isinstance(read, Interpolation)
    assert read == text


def test_a_secret_lists_the_names_of_its_keys() -> None:
    text = render.render(native_plan(writeConnectionSecretToRef={"name": "s"}))
    assert "# its data: database, host, username, password\n" in text


def test_the_documents_are_those_of_the_text() -> None:
    plan = native_plan(connections=5, writeConnectionSecretToRef={"name": "s"})
    assert list(yaml.safe_load_all(render.render(plan))) == [d for c in plan.claims for d in render.documents(c)]
    assert render.render(plan) == render.render(native_plan(connections=5, writeConnectionSecretToRef={"name": "s"}))


def test_an_existing_resource_is_got_as_in_pulumi_yaml() -> None:
    [program] = rendered(connections=5, resourceRef={"type": "postgresql:Database", "id": "a ${role.name}"})
    assert program == {
        "resources": {
            "default-orders-database": {
                "type": "postgresql:index/database:Database",
                "get": {"id": "a $${role.name}"},
                "options": {"provider": "${main}"},
            }
        }
    }
