"""Object metadata, as far as it is read from a user's document."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from claimsmith.base.model import Model

_DNS = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}")
_API_VERSION = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[a-z][a-z0-9]{0,62}")


def is_name(text: str) -> bool:
    """Whether Kubernetes takes a text for a name."""
    return bool(_DNS.fullmatch(text))


def _dns(value: str) -> str:
    if not is_name(value):
        raise ValueError(
            f"{value!r} is not a Kubernetes name; fix: use lower case letters, digits, '-' and '.', at most 253"
        )
    return value


def _labels(value: dict[str, str]) -> dict[str, str]:
    for key, text in value.items():
        if not _LABEL_VALUE.fullmatch(text):
            what = f"the label {key!r} has the value {text!r}, which Kubernetes refuses"
            raise ValueError(f"{what}; fix: at most 63 letters, digits, '-', '_' and '.'")
    return value


def _kind(value: str) -> str:
    if not _KIND.fullmatch(value):
        raise ValueError(f"{value!r} is not a Kubernetes kind; fix: use letters and digits, like MySQLInstance")
    return value


def is_api_version(text: str) -> bool:
    """Whether a text is a group and version, or a version alone."""
    return bool(_API_VERSION.fullmatch(text))


def _api_version(value: str) -> str:
    if not is_api_version(value):
        raise ValueError(f"{value!r} is not an apiVersion; fix: write it like database.example.org/v1alpha1")
    return value


Kind = Annotated[str, AfterValidator(_kind)]
ApiVersion = Annotated[str, AfterValidator(_api_version)]
Name = Annotated[str, AfterValidator(_dns)]
Labels = Annotated[dict[str, str], BeforeValidator(lambda v: v or {}), AfterValidator(_labels)]
Annotations = Annotated[dict[str, str], BeforeValidator(lambda v: v or {})]


class Metadata(Model):
    """Name, namespace, labels and annotations."""

    name: Name
    namespace: Name | None = None
    labels: Labels = Field(default_factory=dict)
    annotations: Annotations = Field(default_factory=dict)
    uid: str | None = None


class Head(Model):
    """What every document of a kind that its reader has checked begins with."""

    api_version: str
    kind: str
    metadata: Metadata


class CheckedHead(Head):
    """The same for a document of any kind."""

    api_version: ApiVersion
    kind: Kind


def or_empty(value: Any) -> Any:
    """An empty mapping for a key with nothing behind it."""
    return {} if value is None else value
