"""What another stack gives is known by its name, once that stack has it."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from claimsmith.deploy.other_stacks import Elsewhere


def named(outputs: Any) -> str:
    return Elsewhere("Subnet.g/net", "prod", None)._named(outputs)  # the reference itself is not asked here


def test_the_name_is_that_of_the_other_stack() -> None:
    assert named({"Subnet.g/net": "net"}) == "net"


@pytest.mark.parametrize("outputs", [None, {}, {"Subnet.g/other": "other"}], ids=["no-output", "empty", "another"])
def test_what_the_other_stack_does_not_give_yet_is_told(outputs: Any) -> None:
    with pytest.raises(pulumi.RunError) as caught:
        named(outputs)
    assert "the stack 'prod' does not provide Subnet.g/net yet" in str(caught.value)
    assert "run first: pulumi up --stack prod" in str(caught.value)
