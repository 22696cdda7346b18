"""Which function runs a step."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError
from claimsmith.dialects.common.klass import Step
from claimsmith.dialects.crossplane.composition import FUNCTIONS
from claimsmith.functions import registry
from claimsmith.functions.protocol import Request, Response
from claimsmith.functions.registry import Place


def place(name: str, **given: Any) -> Place:
    return Place(Step("s", name, given, at="spec.pipeline[0].input"), Document({}, "c.yaml"))


def test_every_function_that_is_recognised_is_built_in() -> None:
    assert registry.BUILT_IN.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("name", sorted(registry.BUILT_IN))
def test_built_in_functions_can_be_bound(name: str) -> None:
    module = import_module(f"claimsmith.functions.{registry.BUILT_IN[name]}")
    assert module.__doc__
    assert callable(registry.function_for(place(f"acme-{name}")))


def test_the_name_wins_over_the_group_of_the_input() -> None:
    found = registry.function_for(place("function-auto-ready", apiVersion="pt.fn.crossplane.io/v1beta1"))
    assert found.__module__ == "claimsmith.functions.auto_ready"


def test_a_declared_function_wins() -> None:
    def own(request: Request) -> Response:
        return Response.to(request)

    assert registry.function_for(place("function-auto-ready"), {"function-auto-ready": lambda _: own}) is own


def test_others_are_refused() -> None:
    with pytest.raises(ComposeError) as caught:
        registry.function_for(place("function-unheard-of"))
    assert "function-unheard-of" in caught.value.problems[0].what
