"""What the dialects' templates share: their names, what of a base's metadata counts, one spelling of a field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimsmith.documents import Document
from claimsmith.errors import ModelError, Problem
from claimsmith.models.metadata import Metadata
from claimsmith.models.objects import kebab

KEPT_METADATA = ("labels", "annotations")
_WORDS = ("class_ref", "managed", "previous_name")
"""What a component says of a child beside its fields: no field may be called so."""


def names_of(document: Document, listed: Sequence[tuple[str, str | None, str]]) -> list[str]:
    """The templates' names, from (place, given name, kind) of each: given, else the kind's, numbered from two on."""
    names: list[str] = []
    for at, given, kind in listed:
        plain = given or kebab(kind)
        if given and given in names:
            what = f"two templates are named {given!r}"
            raise ModelError(Problem(what, document.source_of(f"{at}.name"), f"{at}.name", "give each its own name"))
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names


def cleaned(
    base: dict[str, Any], document: Document, at: str, warnings: list[Problem], *, kept: Sequence[str] = KEPT_METADATA
) -> dict[str, Any]:
    """The base with what counts of its metadata, and one spelling of the connection secret's place."""
    metadata = _object(base, document, at, "metadata")
    for name in kept:
        _object(metadata, document, f"{at}.metadata", name)
    for key in metadata:
        if key not in kept:
            path = f"{at}.metadata.{key}"
            what = f"the base's metadata.{key} is ignored: names are generated"
            warnings.append(Problem(what, document.source_of(path), path, "remove it"))
    for word in _WORDS:
        if word in base:
            path = f"{at}.{word}".removeprefix(".")
            what = f"a field beside spec cannot be called {word}: components use this word"
            raise ModelError(Problem(what, document.source_of(path), path, "let another field hold it"))
    counting = {k: metadata[k] for k in kept if metadata.get(k)}
    rest = {k: v for k, v in base.items() if k not in ("apiVersion", "kind", "metadata", "status")}
    if isinstance(rest.get("spec"), dict):
        rest["spec"] = one_spelling(rest["spec"])
    head = {"apiVersion": base["apiVersion"], "kind": base["kind"]}
    return {**head, **({"metadata": counting} if counting else {}), **rest}


def _object(data: dict[str, Any], document: Document, at: str, key: str) -> dict[str, Any]:
    """The object under a key, empty where there is none; anything else is refused."""
    found = data.get(key) or {}
    if not isinstance(found, dict):
        path = f"{at}.{key}"
        what = f"the base's {path.partition('.base.')[2]} must be an object"
        raise ModelError(Problem(what, document.source_of(path), path, "write fields below it, each with its value"))
    return found


def refuse_namespace(metadata: Metadata, document: Document) -> None:
    """Refuse a class in a namespace: classes are at cluster scope, whoever uses them."""
    if metadata.namespace:
        path = "metadata.namespace"
        what = "a class is at cluster scope and has no namespace"
        raise ModelError(Problem(what, document.source_of(path), path, "remove it"))


def one_spelling(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with `writeConnectionSecretToRef`, which document 001 also writes in the plural."""
    return {"writeConnectionSecretToRef" if k == "writeConnectionSecretsToRef" else k: v for k, v in spec.items()}


def spelt_path(path: str) -> str:
    """A field path with the same spelling."""
    return path.replace("writeConnectionSecretsToRef", "writeConnectionSecretToRef")
