"""`claimsmith.yaml`: what the platform team permits in files below `stacks/<stack>/claims/`.

Each entry of `claims` is about one folder below `claims/`. The deepest folder that holds a file decides; a file that no
entry covers may contain nothing. A project without this file has one team: it may use every namespace but the reserved
ones, every kind and class that the platform offers, and none of the special permissions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, Problem
from claimsmith.base.model import Model
from claimsmith.base.parse import parse
from claimsmith.base.regexp import matches

FILE = "claimsmith.yaml"
API_VERSION = "claimsmith.io/v1alpha1"
KIND = "Settings"
RESERVED_NAMESPACES = ("kube-*", "crossplane-system", "upbound-system")
"""System namespaces: a pattern never covers one of them, only its own name does."""


class Permission(StrEnum):
    """What a claim may do only by the settings: each changes who owns an object, or which object is meant."""

    adopt = "adopt"
    """Take over an existing object: `claimsmith.io/adopt`."""
    composites = "composites"
    """Write composites directly, cluster-scoped ones too, with their uid, `claimRef` and `resourceRefs`."""
    existing_resources = "existing-resources"
    """Bind to a resource that exists in the cluster but not in `stacks/<stack>/resources/`: `resourceRef`."""
    external_names = "external-names"
    """Choose the name of a resource outside the cluster: `crossplane.io/external-name`."""
    imports = "import"
    """Take over existing resources of a provider as native children: `claimsmith.io/import`."""


def _folder(value: str) -> str:
    parts = [part for part in value.split("/") if part not in ("", ".")]
    if value.startswith("/") or ".." in parts or any(c in value for c in "*?[]\\"):
        raise ValueError(f"{value!r} is not a folder below claims/; fix: write it like payments or teams/payments")
    return "/".join(parts)


Pattern = Annotated[str, Field(min_length=1, max_length=253)]
Patterns = Annotated[tuple[Pattern, ...], Field(strict=False)]


class _Grant(Model):
    """The permissions of the files of one folder below `claims/`."""

    folder: Annotated[str, AfterValidator(_folder)] = Field(
        description="The folder below stacks/<stack>/claims/; '.' is all of it. The deepest folder that fits decides."
    )
    stacks: Patterns = Field(("*",), description="The stacks that this entry is for; * matches any text.")
    namespaces: Patterns = Field(
        (), description="The namespaces that claims may be in; * matches any text, but no reserved namespace."
    )
    kinds: Patterns = Field(("*",), description="The kinds that may be claimed, as Kind.group; * matches any text.")
    classes: Patterns = Field(("*",), description="The names of classes and compositions that may serve a claim.")
    targets: Patterns = Field(("*",), description="The names of workload targets that applications may be sent to.")
    allow: Annotated[tuple[Annotated[Permission, Field(strict=False)], ...], Field(strict=False)] = Field(
        (), description="Special permissions."
    )


class _Functions(Model):
    """What composition functions may do."""

    scripts: Patterns = Field(
        (),
        description="Functions that may run code of compositions, and folders of functions/ in Python; * is any text.",
    )
    interpreter: str = Field("", description="The Python interpreter for them, below the project; this one if empty.")
    seconds: Annotated[float, Field(gt=0, le=3600, strict=False)] | None = Field(
        None,
        description="The most that one call of a function outside of this process takes, instead of its own limit.",
    )


class _Settings(Model):
    """The permissions that the platform team grants to application teams."""

    api_version: Literal["claimsmith.io/v1alpha1"]
    kind: Literal["Settings"]
    claims: Annotated[tuple[_Grant, ...], Field(strict=False)] = Field(
        (), description="One entry for each folder below stacks/<stack>/claims/."
    )
    functions: _Functions = Field(
        default_factory=lambda: _Functions(scripts=(), interpreter="", seconds=None),
        description="What composition functions may do.",
    )


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions of one file below `claims/`."""

    namespaces: tuple[str, ...] = ("*",)
    kinds: tuple[str, ...] = ("*",)
    classes: tuple[str, ...] = ("*",)
    targets: tuple[str, ...] = ("*",)
    allow: frozenset[Permission] = frozenset()
    entry: str = ""
    """The place of the entry in the settings; empty where the project has none."""

    def may_use_namespace(self, name: str) -> bool:
        """Whether claims may be in a namespace."""
        return covers(name, self.namespaces)


@dataclass(frozen=True, slots=True)
class _Entry:
    folder: tuple[str, ...]
    stacks: tuple[str, ...]
    grant: Grant


@dataclass(frozen=True, slots=True)
class FunctionSettings:
    """What composition functions may do."""

    scripts: tuple[str, ...] = ()
    """Functions that may run code of compositions or of the project."""
    interpreter: str = ""
    """The Python interpreter that runs it, below the project."""
    seconds: float | None = None
    """What one call of a function outside of this process may take; None for the limit of its engine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project. One without the file has `entries` None."""

    entries: tuple[_Entry, ...] | None = None
    functions: FunctionSettings = FunctionSettings()

    def grant(self, stack: str, file: str) -> Grant | None:
        """The permissions of a file, by its path below `claims/`; None where no entry covers it."""
        if self.entries is None:
            return Grant()
        folder = tuple(file.split("/")[:-1])
        covering = [e for e in self.entries if folder[: len(e.folder)] == e.folder and matches(stack, e.stacks)]
        # Of two entries for one folder, the one that names the stack rather than matching it.
        return max(covering, key=lambda e: (len(e.folder), stack in e.stacks)).grant if covering else None


def read(document: Document | None) -> Settings:
    """The settings of a project, from its settings file; None where it has none."""
    if document is None:
        return Settings()
    raw = parse(_Settings, document)
    _refuse_twins(raw, document)
    functions = FunctionSettings(raw.functions.scripts, raw.functions.interpreter, raw.functions.seconds)
    return Settings(tuple(_entry(g, document, i) for i, g in enumerate(raw.claims)), functions)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the settings file, for editors."""
    schema = _Settings.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"claimsmith {KIND}"}


def covers(namespace: str, patterns: Collection[str]) -> bool:
    """Whether one of the patterns is the namespace; one of the system is covered by its own name only."""
    return namespace in patterns if matches(namespace, RESERVED_NAMESPACES) else matches(namespace, patterns)


def _entry(given: _Grant, document: Document, index: int) -> _Entry:
    grant = Grant(
        namespaces=given.namespaces,
        kinds=given.kinds,
        classes=given.classes,
        targets=given.targets,
        allow=frozenset(given.allow),
        entry=str(document.source_of(("claims", index))),
    )
    return _Entry(tuple(part for part in given.folder.split("/") if part), given.stacks, grant)


def _refuse_twins(raw: _Settings, document: Document) -> None:
    """Two entries for one folder and stack would leave it open which of them decides."""
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    for index, grant in enumerate(raw.claims):
        first = seen.setdefault((grant.folder, grant.stacks), index)
        if first != index:
            path = f"claims[{index}].folder"
            what = f"two entries are for the folder {grant.folder or '.'!r} and the same stacks"
            raise CatalogError(Problem(what, document.source_of(path), path, "join them, or name different stacks"))
