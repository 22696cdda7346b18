"""What the dialects' templates share: their names, what of a base's metadata counts, one spelling of a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError, Problem
from claimsmith.base.names import ClassKey, GroupKind, group_of, is_native, kebab
from claimsmith.dialects.common.dialect import Dialect, is_placed
from claimsmith.dialects.common.klass import Class, Side, Template
from claimsmith.dialects.common.metadata import Head, Metadata

KEPT_METADATA = ("labels", "annotations")
_WORDS = ("awaits", "class_ref", "known_as", "managed", "previous_name", "ready")
"""Arguments of a component's `child()`: no field may have such a name."""


def class_of(
    raw: Head, document: Document, dialect: Dialect, templates: Iterable[Template], *, api_version: str, kind: str
) -> Class:
    """The class that a document describes; apiVersion and kind are those of the claims that it serves."""
    return Class(
        api_version=raw.api_version,
        key=ClassKey(GroupKind.of(document.data), raw.metadata.name),
        serves=GroupKind(group_of(api_version), kind),
        templates=tuple(templates),
        dialect=dialect,
        document=document,
        labels=raw.metadata.labels,
        annotations=raw.metadata.annotations,
        claim_api_version=api_version,
    )


def names_of(document: Document, listed: Sequence[tuple[str, str | None, str]]) -> list[str]:
    """The templates' names, from (place, given name, kind) of each: given, else the kind's, numbered from two on."""
    names: list[str] = []
    for at, given, kind in listed:
        plain = given or kebab(kind)
        if given and given in names:
            what = f"two templates are named {given!r}"
            raise ModelError(document.problem(what, f"{at}.name", "give each its own name"))
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names


def cleaned(
    base: dict[str, Any], document: Document, at: str, warnings: list[Problem], *, placed: bool = False
) -> dict[str, Any]:
    """The base with what counts of its metadata, and one spelling of the connection secret's place.

    `placed` is whether the namespace of a base counts, for kinds of Kubernetes itself that are in namespaces.
    """
    if is_native(base):
        from claimsmith.dialects.common import native

        return native.read_base(base, document, at)
    metadata = checked(base, document, at)
    kept = (*KEPT_METADATA, "namespace") if placed and is_placed(GroupKind.of(base)) else KEPT_METADATA
    for key in metadata:
        if key not in kept:
            what = f"the base's metadata.{key} is ignored: names are generated"
            warnings.append(document.problem(what, f"{at}.metadata.{key}", "remove it"))
    counting = {k: metadata[k] for k in kept if metadata.get(k)}
    rest = {k: v for k, v in base.items() if k not in ("apiVersion", "kind", "metadata", "status")}
    if isinstance(rest.get("spec"), dict):
        rest["spec"] = one_spelling(rest["spec"])
    head = {"apiVersion": base["apiVersion"], "kind": base["kind"]}
    return {**head, **({"metadata": counting} if counting else {}), **rest}


def without_effect(template: Template, document: Document, *, placed: bool = False) -> Iterator[Problem]:
    """A warning for each patch of a name that is generated, or of a namespace that does not count."""
    if template.native:
        return
    ignored = {"name", "generateName", *({"namespace"} if not (placed and is_placed(template.group_kind)) else ())}
    for patch in template.patches:
        head, _, name = patch.to.partition(".")
        if patch.target is Side.resource and head == "metadata" and name in ignored:
            what = f"the patch of {template.name!r} to {patch.to} is ignored: names are generated"
            yield document.problem(what, patch.at, "remove it")


def checked(base: Mapping[str, Any], document: Document, at: str) -> dict[str, Any]:
    """The base's metadata; a base that no component can express is refused."""
    metadata = _object(base, document, at, "metadata")
    for name in KEPT_METADATA:
        _object(metadata, document, f"{at}.metadata", name)
    for word in _WORDS:
        if word in base:
            what = f"a field beside spec cannot be called {word}: components use this word"
            raise ModelError(document.problem(what, f"{at}.{word}".removeprefix("."), "let another field hold it"))
    return metadata


def _object(data: Mapping[str, Any], document: Document, at: str, key: str) -> dict[str, Any]:
    """The object under a key, empty where there is none; anything else is refused."""
    found = data.get(key) or {}
    if not isinstance(found, dict):
        path = f"{at}.{key}"
        what = f"the base's {path.partition('.base.')[2]} must be an object"
        raise ModelError(document.problem(what, path, "write fields below it, each with its value"))
    return found


def refuse_namespace(metadata: Metadata, document: Document) -> None:
    """Refuse a class in a namespace: classes are at cluster scope, whoever uses them."""
    if metadata.namespace:
        what = "a class is at cluster scope and has no namespace"
        raise ModelError(document.problem(what, "metadata.namespace", "remove it"))


def one_spelling(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with `writeConnectionSecretToRef`, which composite classes also write in the plural."""
    return {"writeConnectionSecretToRef" if k == "writeConnectionSecretsToRef" else k: v for k, v in spec.items()}


def spelt_path(path: str) -> str:
    """A field path with the same spelling."""
    return path.replace("writeConnectionSecretsToRef", "writeConnectionSecretToRef")
