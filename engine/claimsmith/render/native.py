"""Native children as a Pulumi YAML program: resources by their names, outputs of siblings as `${name.output}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.values import Interpolation, Mix, Ref, escaped, mapped, shown
from claimsmith.compose.expand import Child
from claimsmith.compose.plan import PlannedClaim


def names(root: PlannedClaim) -> dict[str, str]:
    """The names of a claim's native children for the engine, by their addresses, those of its composites too."""
    return {c.address: c.name for claim in root.walk() for c in claim.children if c.template.native}


def program(children: Sequence[Child], named: Mapping[str, str]) -> dict[str, Any]:
    """Native children as one program, in the order of their creation."""
    return {"resources": {child.name: resource(child.document, named) for child in children}}


def resource(document: Mapping[str, Any], named: Mapping[str, str]) -> dict[str, Any]:
    """A native child as Pulumi YAML has it."""
    properties = mapped(document["properties"], lambda leaf: _leaf(leaf, named))
    options = mapped(dict(document.get("options", {})), lambda leaf: _leaf(leaf, named))
    if isinstance(options.get("provider"), str):
        options["provider"] = f"${{{options['provider']}}}"
    body = {"properties": properties} if properties else {}
    return {"type": document["type"], **body, **({"options": options} if options else {})}


def _leaf(value: Any, named: Mapping[str, str]) -> Any:
    """A value as Pulumi YAML writes it: a text of a claim or class is never an interpolation."""
    match value:
        case str():
            return escaped(value)
        case Ref(transforms=()) if value.resource in named:
            return f"${{{fieldpath.to_text((named[value.resource], *value.path[1:]))}}}"
        case Mix(joined=True) if value.known is None:
            return "".join(str(_leaf(source, named)) for source in value.sources)
        case Ref() | Mix():
            found = shown(value)
            return escaped(found) if isinstance(found, str) else found
        case Interpolation():
            return str(value)
        case _:
            return value
