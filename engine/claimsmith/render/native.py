"""Native children as a Pulumi YAML program: resources by their names, outputs of siblings as `${name.output}`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from claimsmith.base import fieldpath
from claimsmith.base.labels import RESOURCE_NAME
from claimsmith.base.names import GET, is_native
from claimsmith.base.values import Interpolation, Mix, Ref, escaped, mapped, object_at, shown

if TYPE_CHECKING:
    from claimsmith.compose.drafts import Child
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
    if "aliases" in options:
        options["aliases"] = [
            a if isinstance(a, dict) or a.startswith("urn:") else {"name": a} for a in options["aliases"]
        ]
    body = {"properties": properties} if properties else {}
    if existing := document.get(GET):
        body = {GET: mapped(dict(existing), lambda leaf: _leaf(leaf, named))}
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


def gathered(documents: Sequence[Mapping[str, Any]], composite: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The documents of a rendered composite, its native resources as one program in the place of the first.

    These are composed for one composite, outside of any plan: siblings are known by their templates.
    """
    owner = object_at(composite, "metadata")
    place = str(owner.get("namespace") or ""), str(owner.get("name") or "")
    natives = {template_of(d): d for d in documents if is_native(d)}
    body = _composed(natives, *place) if natives else {}
    found: list[dict[str, Any]] = []
    for document in documents:
        if not is_native(document):
            found.append(mapped(dict(document), lambda leaf: shown(_resolved(leaf, natives))))
        elif body and document is next(iter(natives.values())):
            found.append({"resources": body})
    return found


def _composed(natives: Mapping[str, Mapping[str, Any]], namespace: str, name: str) -> dict[str, Any]:
    """Native resources by their names for the engine."""
    from claimsmith.providers import tokens

    named = {template: tokens.child_name(namespace, name, template) for template in natives}
    return {
        named[template]: resource(
            {
                "type": tokens.resource_type(document),
                "properties": mapped(dict(object_at(document, "properties")), lambda leaf: _resolved(leaf, natives)),
                "options": _options(object_at(document, "options")),
            },
            named,
        )
        for template, document in natives.items()
    }


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    after = [Ref(name, ()) for name in options.get("dependsOn", ())]
    return {**options, **({"dependsOn": after} if after else {})}


def template_of(document: Mapping[str, Any]) -> str:
    """The template that a composed resource is of."""
    return str(object_at(object_at(document, "metadata"), "annotations").get(RESOURCE_NAME, ""))


def _resolved(value: Any, natives: Collection[str]) -> Any:
    """A value with what its interpolation stands for."""
    if not isinstance(value, Interpolation):
        return value
    from claimsmith.compose.native_children import resolved, sibling_value

    return resolved(
        value, lambda output: sibling_value(output, output.template, native=output.template in natives, document={})
    )
