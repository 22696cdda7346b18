"""function-cel-filter: a desired resource is kept only if the CEL expressions of its filters are true."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import cel_view, inputs
from claimsmith.functions.protocol import Function, Request, Response, State
from claimsmith.functions.registry import Place


class _Filter(Lenient):
    name: str
    expression: str


class _Filters(inputs.FunctionInput):
    filters: tuple[_Filter, ...] = Field((), strict=False)


def bind(place: Place) -> Function:
    """The function for one step."""
    filters = inputs.read(_Filters, place).filters
    patterns = [inputs.pattern(place, f"^{f.name}$", f"filters[{i}].name") for i, f in enumerate(filters)]

    def run(request: Request) -> Response:
        values = cel_view.values(request)
        refused = [
            pattern
            for index, (each, pattern) in enumerate(zip(filters, patterns, strict=True))
            if not inputs.is_true(place, each.expression, values, f"filters[{index}].expression")
        ]
        desired = request.desired
        kept = {n: r for n, r in desired.resources.items() if not any(p.search(n) for p in refused)}
        return replace(Response.to(request), desired=State(desired.composite, kept))

    return run
