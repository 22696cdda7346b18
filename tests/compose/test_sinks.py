"""Native sinks of connection details in a plan: what they are composed of, and that no value of a detail is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import render
from claimsmith.base.values import Ref
from claimsmith.compose.plan import Plan
from claimsmith.compose.provider_names import unknown_providers, used_providers
from claimsmith.project.project import Project
from tests.support import no_cluster_files as files
from tests.support.samples import write_files

SETTING = f"{files.CONFIG}  claimsmith:connections: {{sink: true}}\n"
SINK = {"components/connection-sink/class.yaml": files.SINK, "stacks/Pulumi.dev.yaml": SETTING}


def planned(root: Path, **changes: str) -> Plan:
    return Project(write_files(root, {**files.FILES, **SINK, **changes})).plan("dev", unrecorded_ok=True)


def test_each_claim_with_details_has_one(tmp_path: Path) -> None:
    other = files.CLAIM.replace("orders", "billing")
    plan = planned(tmp_path, **{"stacks/dev/claims/billing.yaml": other})
    assert list(plan.sinks) == [claim.address for claim in plan.claims]
    sink = plan.sinks[files.ADDRESS]
    assert sink.binding.uid == next(c.binding.uid for c in plan.claims if c.address == files.ADDRESS)
    place, content = (child.document for child in sink.children)
    assert place["properties"] == {"length": 1, "prefix": "orders"}
    assert content["properties"]["keepers"] == {"password": Ref(files.ADDRESS, ("connection-details", "password"))}


def test_it_is_rendered_after_its_claim(tmp_path: Path) -> None:
    text = render.render(planned(tmp_path))
    claim, sink = yaml.safe_load_all(text)
    assert sorted(claim["resources"]) == ["default-orders-database", "default-orders-password", "default-orders-role"]
    assert sink["resources"]["default-orders-content"]["properties"] == {
        "byteLength": 4,
        "prefix": "${default-orders-place.id}",
        "keepers": {"password": f"<{files.ADDRESS}:connection-details.password>"},
    }
    assert "# ConnectionDetails.claimsmith.io/default/orders, served by " in text


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"stacks/Pulumi.dev.yaml": files.CONFIG}, id="not-asked-for"),
        pytest.param(
            {"stacks/Pulumi.dev.yaml": SETTING.replace("{sink: true}", "{secure: v1:x}")}, id="secret-setting"
        ),
        pytest.param({"components/connection-sink/class.yaml": ""}, id="no-class"),
        pytest.param(
            {"components/second/class.yaml": files.SINK.replace("name: connection-sink", "name: second")},
            id="two-classes",
        ),
        pytest.param(
            {"components/postgresql/class.yaml": files.CLASS[: files.CLASS.index("    connectionDetails:")]},
            id="no-details",
        ),
    ],
)
def test_none(changes: dict[str, str], tmp_path: Path) -> None:
    assert planned(tmp_path, **changes).sinks == {}


def test_its_providers_are_those_of_the_stack(tmp_path: Path) -> None:
    named = files.SINK.replace("properties: {length: 1}", "properties: {length: 1}, options: {provider: vault}")
    plan = planned(tmp_path, **{"components/connection-sink/class.yaml": named})
    assert used_providers(plan) == {"main", "vault"}
    problems: list[Any] = list(unknown_providers(plan, {"main": "postgresql"}))
    assert ["'vault'" in problem.what for problem in problems] == [True]
