"""Native children of a plan: their documents, with names, options, tags, and values of siblings.

A native child is a resource of a Pulumi provider. Its document has the engine's type in the place of apiVersion and
kind, and the engine's name; Kubernetes labels, annotations and namespaces it has none. What a provider's types take
beside that (which property is the tags, which one is the physical name) is looked up: by default nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, Problem, suggest
from claimsmith.base.labels import EXTERNAL_NAME, IMPORT, TAGS
from claimsmith.base.names import GET
from claimsmith.base.values import (
    Interpolation,
    Mix,
    Ref,
    SiblingOutput,
    is_later,
    known,
    mapped,
    object_at,
    shown,
    value_at,
)
from claimsmith.compose.options import RECLAIM, Options
from claimsmith.dialects.common.dialect import Identity, label_value
from claimsmith.dialects.common.klass import Class, KnownAs, Side, Template
from claimsmith.dialects.common.native import OPTIONS, OUTPUTS, PROPERTIES
from claimsmith.providers import tokens

TagProperty = Literal["tags", "labels", ""]
"""The property of a type that takes tags: `labels` take lower case only; empty where it has none."""
_NOT_IN_LABEL = re.compile(r"[^a-z0-9_-]")


def _no_tags(token: str) -> TagProperty:
    del token
    return ""


def _unnamed(token: str) -> str:
    del token
    return ""


@dataclass(frozen=True, slots=True)
class NativeTypes:
    """What is known of the providers' types, by their full tokens."""

    tags: Callable[[str], TagProperty] = _no_tags
    """The property that takes tags as a map of texts."""
    name: Callable[[str], str] = _unnamed
    """The property that is the physical name; empty where it is unknown."""


UNKNOWN = NativeTypes()


def native_document(
    document: Mapping[str, Any],
    template: Template,
    identity: Identity,
    klass: Class,
    value_of: Callable[[SiblingOutput], Any],
    depended: Callable[[str], Ref | None],
    types: NativeTypes = UNKNOWN,
) -> tuple[dict[str, Any], Options]:
    """The document of a native child and the engine's options; `document` is the template's patched base.

    `value_of` gives a field of a sibling, `depended` the sibling after which it is created, if that is a resource.
    """
    token = tokens.resource_type(document)
    labels = object_at(object_at(document, "metadata"), "labels")
    name = tokens.child_name(identity.namespace, identity.name, template.name)
    head = {"type": token, "metadata": {"name": name, **({"labels": dict(labels)} if labels else {})}}
    if template.existing_id:
        given = dict(object_at(document, OPTIONS))
        read = {GET: {"id": template.existing_id}, PROPERTIES: {}, **({OPTIONS: given} if given else {})}
        return {**head, **read}, Options(wait_for=(), timeout="")
    properties = mapped(dict(object_at(document, PROPERTIES)), lambda leaf: resolved(leaf, value_of))
    properties = _named(properties, template, identity, types.name(token))
    if is_tagged(template, klass):
        properties = tagged(properties, identity, types.tags(token))
    settings, options = _options(object_at(document, OPTIONS), template, identity, depended)
    return {**head, PROPERTIES: properties, **({OPTIONS: settings} if settings else {})}, options


def resolved(value: Any, value_of: Callable[[SiblingOutput], Any]) -> Any:
    """A value with what its interpolation stands for: one field of a sibling as it is, several parts as a text."""
    if not isinstance(value, Interpolation):
        return value
    if len(value.parts) == 1 and isinstance(value.parts[0], SiblingOutput):
        return value_of(value.parts[0])
    parts = [value_of(part) if isinstance(part, SiblingOutput) else part for part in value.parts]
    how = repr(str(value))
    certain = [known(part) if is_later(part) else part for part in parts]
    if all(isinstance(part, str) for part in certain):
        text = "".join(certain)
        return Mix(tuple(parts), how, known=text, joined=True) if any(map(is_later, parts)) else text
    return Mix(tuple(parts), how, text="".join(str(shown(part)) for part in parts), joined=True)


def sibling_value(output: SiblingOutput, address: str, *, native: bool, document: dict[str, Any]) -> Ref:
    """A field of a sibling that is a resource: an output of a native one, a field of a Kubernetes object."""
    if native:
        return Ref(address, (OUTPUTS, *output.path))
    return Ref(address, output.path, known=known(value_at(document, output.path)))


# Tags


def is_tagged(template: Template, klass: Class) -> bool:
    """Whether the children of a template carry tags that name their claim."""
    own = object_at(object_at(template.base, "metadata"), "annotations")
    return "false" not in (own.get(TAGS), klass.annotations.get(TAGS))


def native_tags(identity: Identity, where: TagProperty) -> dict[str, str]:
    """The tags by which the resources of a claim are found in a cloud.

    The keys have no slash, which Azure refuses, and labels of Google Cloud take lower case letters, digits, `_` and
    `-` only, at most 63.
    """
    values = {
        "claimsmith-namespace": identity.namespace,
        "claimsmith-name": identity.name,
        "claimsmith-uid": identity.uid,
        "claimsmith-owner": identity.owner,
    }
    given = {key: value for key, value in values.items() if value and where}
    if where == "labels":
        return {key: label_value(_NOT_IN_LABEL.sub("_", value.lower())) for key, value in given.items()}
    return given


def tagged(properties: dict[str, Any], identity: Identity, where: TagProperty) -> dict[str, Any]:
    """The properties with tags that name the claim; those of the class win, and a list is left as it is."""
    if not where or not isinstance(properties.get(where, {}), dict):
        return properties
    return {**properties, where: {**native_tags(identity, where), **properties.get(where, {})}}


def _named(properties: dict[str, Any], template: Template, identity: Identity, name: str) -> dict[str, Any]:
    """The properties with the external name of the claim, else of the template, as the physical name."""
    inherited = identity.external_name if identity.dialect.passes_external_name else None
    given = inherited or object_at(object_at(template.base, "metadata"), "annotations").get(EXTERNAL_NAME)
    return {**properties, name: given} if given and name and is_named_outside(template, name) else properties


def is_named_outside(template: Template, name: str) -> bool:
    """Whether an external name sets this property of a template's children.

    Not where the base sets it and no patch does: the `root` of a server, say, is the platform's choice for every claim.
    """
    patched = (p.to for p in template.patches if p.target is Side.resource)
    fixed = name in object_at(template.base, PROPERTIES)
    return not fixed or any(fieldpath.parse_or_root(to) == (PROPERTIES, name) for to in patched)


# Options


def imports_of(identity: Identity, klass: Class) -> dict[str, str]:
    """The ids of existing resources that a claim's native children take over, by template."""
    text = str(identity.given_annotations.get(IMPORT, ""))
    natives = [t.name for t in klass.templates if t.native]
    found: dict[str, str] = {}
    for entry in (part.strip() for part in text.split(",") if part.strip()):
        template, equals, id_ = entry.partition("=")
        path = f"metadata.annotations[{IMPORT}]"
        if not equals or not id_.strip():
            what = f"{entry!r} in {IMPORT} names no id"
            raise ComposeError(Problem(what, path=path, fix="write <template>=<id>, like database=orders"))
        if template.strip() not in natives:
            what = f"{IMPORT} names {template.strip()!r}, which is no native resource of the class"
            raise ComposeError(Problem(what, path=path, fix=suggest(template.strip(), natives)))
        found[template.strip()] = id_.strip()
    return found


def _options(
    given: Mapping[str, Any], template: Template, identity: Identity, depended: Callable[[str], Ref | None]
) -> tuple[dict[str, Any], Options]:
    """The options in their YAML form, with what claim and class ask for, and those that every child has."""
    settings = dict(given)
    retain = bool(settings.get("retainOnDelete"))
    if identity.reclaim_policy is not None:
        retain = RECLAIM.get(identity.reclaim_policy, False)
    protect = bool(settings.get("protect")) or identity.protect
    for key, wanted in (("protect", protect), ("retainOnDelete", retain)):
        settings.pop(key, None)
        if wanted:
            settings[key] = True
    before = [*([KnownAs(template.previous_name)] if template.previous_name else []), *template.known_as]
    if before:
        names = [(tokens.child_name(identity.namespace, identity.name, k.name), k.type) for k in before]
        aliases = [{"name": name, "type": type_} if type_ else name for name, type_ in names]
        settings["aliases"] = [*settings.get("aliases", ()), *aliases]
    if "dependsOn" in settings:
        siblings = [ref for name in settings.pop("dependsOn") if (ref := depended(name))]
        settings |= {"dependsOn": siblings} if siblings else {}
    ignored = tuple(settings.get("ignoreChanges", ()))
    options = Options(retain=retain, wait_for=(), ignore_changes=ignored, timeout="", protect=protect)
    return {key: settings[key] for key in sorted(settings)}, options
