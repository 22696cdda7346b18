"""`forEach` and `when` while a program runs: which children a claim gets, from plain values of the claim alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import DeployError, Problem
from claimsmith.base.values import value_at
from claimsmith.compose import unrolling
from claimsmith.deploy.values import is_output
from claimsmith.dialects.common.klass import Loop


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a claim's list, and the key that identifies its children."""

    key: str
    value: Any

    def child(self, template: str) -> str:
        """The name of the child that a template creates for this element."""
        return unrolling.child_name(template, self.key)


def each(claim: Mapping[str, Any], path: str, key: str) -> Iterator[Element]:
    """The elements of a list of the claim; `key` is the field that names the children of each."""
    _refuse_outputs(value_at(claim, path), path)
    return (Element(name, value) for name, value in unrolling.keyed(Loop("", path, key), claim))


def holds(condition: str, claim: Mapping[str, Any], elements: Mapping[str, Any]) -> bool:
    """Whether a CEL expression holds for the claim, and for the elements of the loops around it."""
    _refuse_outputs(dict(claim), "the claim")
    return unrolling.holds(condition, {**claim, **elements})


def is_set(value: Any) -> bool:
    """Whether a field has a value that is neither false, zero nor empty."""
    _refuse_outputs(value, "a condition")
    return bool(value)


def _refuse_outputs(value: Any, what: str) -> None:
    """Refuse a value that is not known yet: the engine must know all resources before it creates the first."""
    if is_output(value):
        problem = f"{what} is an Output, and decides which resources there are"
        raise DeployError(Problem(problem, fix="pass a plain value"))
