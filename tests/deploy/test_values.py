"""The functions of generated components: a field that is not set is left out, a null is a value."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import ComposeError
from claimsmith.deploy import default, field, multiply, require, unless, values, write
from tests.support.mocked import Recorder

SPEC: dict[str, Any] = {"size": 2, "null": None, "place": {"zone": "a"}, "a.b": 1}


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("size", 2, id="there"),
        pytest.param("null", None, id="null-is-a-value"),
        pytest.param("absent", ABSENT, id="not-set"),
        pytest.param("place.zone", "a", id="deep"),
        pytest.param("[a.b]", 1, id="name-with-a-dot"),
        pytest.param("[c.d]", ABSENT, id="name-with-a-dot-not-set"),
    ],
)
def test_field(path: str, want: Any) -> None:
    assert field(SPEC, path) == want


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("size", {"a": 2}, id="there"),
        pytest.param("null", {"a": None}, id="null-is-a-value"),
        pytest.param("absent", {"a": 5}, id="not-set"),
    ],
)
def test_default(path: str, want: Any) -> None:
    assert {"a": default(field(SPEC, path), 5)} == want


def test_what_is_not_set_is_left_out() -> None:
    document = {"a": field(SPEC, "absent"), "b": {"c": multiply(2, field(SPEC, "absent"))}, "d": field(SPEC, "null")}
    write(document, "e.f", field(SPEC, "absent"))
    assert values.pruned(document) == {"d": None}
    assert unless(field(SPEC, "absent"), 1) == 1
    assert unless(field(SPEC, "null"), 1) is ABSENT


def test_what_is_required_is_refused_without_it() -> None:
    assert require(field(SPEC, "null"), "spec.null") is None
    with pytest.raises(ComposeError, match=r"the claim has no spec\.absent"):
        require(field(SPEC, "absent"), "spec.absent")


def test_outputs_mean_the_same() -> None:
    seen: list[Any] = []

    def program() -> None:
        spec = {"place": pulumi.Output.from_input({"zone": "a", "null": None}), "size": pulumi.Output.from_input(2)}
        paths = ("place.zone", "place.null", "place.absent", "size", "absent")
        for path in paths:
            pulumi.Output.from_input(default(field(spec, path), "usual")).apply(seen.append)

    mocks.set_mocks(Recorder(), preview=False)
    pulumi.runtime.test(program)()
    assert sorted(map(str, seen)) == ["2", "None", "a", "usual", "usual"]


def unknown() -> pulumi.Output[Any]:
    async def of(value: Any) -> Any:
        return value

    return pulumi.Output(set(), of(None), of(False))


@pytest.mark.parametrize(
    ("secret", "is_known", "condition", "want"),
    [
        pytest.param(False, True, "known", (3, True, False), id="all-known"),
        pytest.param(True, True, "known", (3, True, True), id="a-secret-makes-a-secret"),
        pytest.param(False, True, "secret", (3, True, False), id="a-secret-condition-does-not"),
        pytest.param(False, False, "known", (None, False, False), id="one-unknown"),
        pytest.param(False, True, "unknown", (None, False, False), id="a-condition-unknown"),
    ],
)
def test_once_known(secret: bool, is_known: bool, condition: str, want: tuple[Any, bool, bool]) -> None:
    seen: list[Any] = []

    def program() -> pulumi.Output[Any]:
        one = pulumi.Output.secret(1) if secret else pulumi.Output.from_input(1)
        other = pulumi.Output.from_input(2) if is_known else unknown()
        conditions = {"known": pulumi.Output.from_input, "secret": pulumi.Output.secret, "unknown": lambda _: unknown()}
        found = values.once_known([one, other], lambda a, b: a + b, conditions=[conditions[condition]("")])

        async def look() -> None:
            seen.append((await found.future(), await found.is_known(), await found.is_secret()))

        return pulumi.Output.from_input(look())

    mocks.set_mocks(Recorder(), preview=False)
    pulumi.runtime.test(program)()
    assert seen == [want]
