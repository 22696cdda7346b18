"""Connection details of Crossplane compositions: extracted from live children, and the Secret composed of them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError, FieldPathError, at
from claimsmith.base.labels import SECRET_TYPE
from claimsmith.base.values import object_at
from claimsmith.dialects.common.klass import Detail, SecretDestination, Side
from claimsmith.golang import json as gojson
from claimsmith.patching import patches

Details = dict[str, bytes]


def extract(
    details: Sequence[Detail], document: Mapping[str, Any], secret: Mapping[str, bytes]
) -> tuple[Details, list[str]]:
    """The details that a resource offers by now, and the names of those that are still missing."""
    found: Details = {}
    missing: list[str] = []
    for detail in details:
        value = _value(detail, document, secret)
        if value is None:
            missing.append(detail.name)
        else:
            found[detail.name] = value
    return found, missing


def _value(detail: Detail, document: Mapping[str, Any], secret: Mapping[str, bytes]) -> bytes | None:
    if detail.value is not None:
        return detail.value.encode()
    if detail.field_path is None:
        return secret.get(detail.key)
    try:
        value = fieldpath.get(document, detail.field_path)
    except FieldPathError:
        return None
    return encoded_value(value)


def encoded_value(value: Any) -> bytes:
    """A value as a connection detail: a text as it is, anything else as JSON."""
    return (value if isinstance(value, str) else gojson.dumps(value)).encode()


def has_own_secret(composite: Mapping[str, Any]) -> bool:
    """Whether details go to a Secret of the composite's own: not for composites with `spec.crossplane`."""
    return "crossplane" not in object_at(composite, "spec")


def secret_destination(composite: Mapping[str, Any], place: SecretDestination) -> tuple[str, str]:
    """Name and namespace of the composed Secret: the composite's wish, else the composition's, else derived."""
    metadata, spec = object_at(composite, "metadata"), object_at(composite, "spec")
    wish = spec.get("writeConnectionSecretToRef", ())
    wish = {} if wish is None else wish
    if isinstance(wish, Mapping) and all(isinstance(wish.get(key) or "", str) for key in ("name", "namespace")):
        name, namespace = wish.get("name") or "", wish.get("namespace") or ""
    elif place.name or place.namespace:
        name, namespace = place.name, place.namespace
    else:
        name, namespace = f"{metadata.get('name', '')}-connection", metadata.get("namespace", "")
    reference = {"apiVersion": "v1", "kind": "SecretReference", "name": name, "namespace": namespace}
    sides = {Side.claim: dict(composite), Side.resource: reference}
    for index, patch in enumerate(place.patches):
        try:
            with at(None, patch.at, prefix=f"cannot apply the patch at index {index} to the secret's place: "):
                patches.transfer(patch, sides)
        except EngineError:
            # As function-patch-and-transform does: an optional copy is skipped on any error, a combination never.
            if patch.required or patch.combine is not None:
                raise
    name = reference["name"] if isinstance(reference["name"], str) else name
    return name, reference["namespace"] if isinstance(reference["namespace"], str) else namespace


def secret(composite: Mapping[str, Any], place: SecretDestination, details: Mapping[str, bytes]) -> dict[str, Any]:
    """The composed Secret."""
    name, namespace = secret_destination(composite, place)
    metadata = {key: text for key, text in (("name", name), ("namespace", namespace)) if text}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        **({"metadata": metadata} if metadata else {}),
        "data": {key: base64.b64encode(details[key]).decode() for key in sorted(details)},
        "type": SECRET_TYPE,
    }
