"""A class of pets, and claims for it: they need no server and no cluster, only the random provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PETS = 8
HEAD = {"apiVersion": "infrastructure.crossplane.io/v1alpha1", "kind": "CompositeResourceClass"}
CLAIM = {"apiVersion": "example.org/v1alpha1", "kind": "Pets"}


def pets_class(lengths: Sequence[int] = (2,) * PETS) -> dict[str, Any]:
    """The class: a pet for each of the lengths, which say how many words its name has."""
    resources = [
        {"name": f"pet-{n}", "base": {"type": "random:RandomPet", "properties": {"length": length}}}
        for n, length in enumerate(lengths)
    ]
    return {**HEAD, "metadata": {"name": "pets"}, "spec": {"claim": CLAIM, "resources": resources}}


def pets(name: str = "mine") -> dict[str, Any]:
    """A claim for it."""
    metadata = {"namespace": "default", "name": name}
    return {**CLAIM, "metadata": metadata, "spec": {"classRef": {**HEAD, "name": "pets"}}}
