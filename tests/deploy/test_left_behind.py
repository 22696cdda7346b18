"""What a destroyed stack left behind on purpose: the next stack reports it, and takes it over if configured to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from claimsmith.base.errors import DeployError, Problem
from claimsmith.base.labels import OWNER
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.compose.plan import Plan, given_resource
from claimsmith.deploy import preflight
from claimsmith.deploy.left_behind import LeftBehind, named_stacks
from tests.support.samples import planned

SUBNET = {"apiVersion": "network.example.org/v1", "kind": "Subnet", "metadata": {"name": "private"}}
KEY = ObjectKey(GroupKind("network.example.org", "Subnet"), "", "private")
OTHER = ObjectKey(GroupKind("network.example.org", "Subnet"), "", "other")


class Cluster:
    """A cluster with one subnet."""

    def __init__(self, owner: str, controller: str = "") -> None:
        references = [{"kind": controller, "name": "x", "controller": True}] if controller else []
        self.found = {**SUBNET, "metadata": {"name": "private", "annotations": {OWNER: owner}}}
        self.found["metadata"]["ownerReferences"] = references

    def find(self, _version: str, kind: str, wanted: Collection[tuple[str, str]]) -> dict[Any, Any]:
        return {place: self.found for place in wanted if (kind, *place) == ("Subnet", "", "private")}


def showcase() -> Plan:
    provided = given_resource(KEY, SUBNET, namespaced=False, managed=True)
    return replace(planned([], [], stack="showcase"), resources=(provided,))


def states(stacks: dict[str, list[ObjectKey] | str]) -> Any:
    def read(stack: str) -> list[ObjectKey]:
        state = stacks.get(stack, "error: no stack named 'dev' found")
        if isinstance(state, str):
            raise DeployError(Problem(f"the state of {stack} cannot be read: {state}"))
        return state

    return read


def refused(plan: Plan, cluster: Cluster, left: LeftBehind) -> Problem:
    with pytest.raises(DeployError) as caught:
        preflight.refuse_foreign(plan, cluster, {}, records=False, left=left)  # type: ignore[arg-type]
    [problem] = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("state", "story", "fix"),
    [
        pytest.param({"dev": []}, "the stack dev was destroyed and left it behind", "take over", id="destroyed"),
        pytest.param(
            {},
            "there is no state of the stack dev here: it was removed, or is deployed from elsewhere",
            "if dev is gone, take over",
            id="not-in-this-backend",
        ),
        pytest.param({"dev": [OTHER]}, "the stack dev no longer manages it", "take over", id="still-there-without-it"),
    ],
)
def test_what_a_stack_left_behind_is_named_with_the_command_that_takes_it(
    state: dict[str, Any], story: str, fix: str
) -> None:
    plan = showcase()
    problem = refused(plan, Cluster(f"{plan.project}/dev/given"), LeftBehind(plan.project, "showcase", states(state)))
    assert problem.what.endswith(f"belongs to {plan.project}/dev/given: {story}")
    assert problem.fix.startswith(f"{fix} what dev left behind: ")
    assert "pulumi up --stack showcase --config claimsmith:takeover=dev" in problem.fix


@pytest.mark.parametrize(
    ("owner", "state", "controller"),
    [
        pytest.param("{project}/dev/given", {"dev": [KEY]}, "", id="the-stack-still-has-it"),
        pytest.param("{project}/dev/given", {"dev": "the passphrase is wrong"}, "", id="its-state-cannot-be-read"),
        pytest.param("elsewhere/dev/given", {"dev": []}, "", id="another-project"),
        pytest.param("{project}/dev/given", {"dev": []}, "XNetwork", id="a-controller-has-it"),
        pytest.param("", {"dev": []}, "", id="nobody"),
    ],
)
def test_what_somebody_has_is_never_taken(owner: str, state: dict[str, Any], controller: str) -> None:
    plan = showcase()
    left = LeftBehind(plan.project, "showcase", states(state), frozenset({"dev"}))
    problem = refused(plan, Cluster(owner.format(project=plan.project), controller), left)
    assert "left" not in problem.what
    assert "takeover" not in problem.fix


def test_a_stack_takes_over_what_it_is_configured_to() -> None:
    plan = showcase()
    left = LeftBehind(plan.project, "showcase", states({"dev": []}), named_stacks("prod, dev"))
    taken = preflight.refuse_foreign(plan, Cluster(f"{plan.project}/dev/given"), {}, records=False, left=left)  # type: ignore[arg-type]
    assert taken == {KEY: "private"}


def test_the_state_of_a_stack_is_read_once() -> None:
    asked: list[str] = []
    left = LeftBehind("shop", "showcase", lambda stack: asked.append(stack) or [])  # type: ignore[func-returns-value]
    assert [left.by("shop/dev/given", key) for key in (KEY, OTHER)] == ["dev", "dev"]
    assert asked == ["dev"]


@pytest.mark.parametrize(
    ("setting", "want"),
    [
        pytest.param(None, frozenset(), id="none"),
        pytest.param("", frozenset(), id="empty"),
        pytest.param("dev", frozenset({"dev"}), id="one"),
        pytest.param("dev, test", frozenset({"dev", "test"}), id="two"),
    ],
)
def test_the_setting_names_stacks(setting: str | None, want: frozenset[str]) -> None:
    assert named_stacks(setting) == want
