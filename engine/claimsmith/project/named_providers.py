"""`claimsmith:providers` of a stack's config: the Pulumi providers that classes name, with their own config.

    claimsmith:providers:
      main:
        package: postgresql
        config: {host: db.example.org, password: {secure: v1:…}}

The values may be secrets: no error quotes one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, LoadError, ModelError, Problem, Source, suggest
from claimsmith.project.settings import found_setting

PROVIDERS = "providers"
CONFIG_KEY = f"claimsmith:{PROVIDERS}"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_PACKAGE = re.compile(r"[a-z][a-z0-9-]*")
_FIELDS = ("package", "config")
_FIX = f"write it as {CONFIG_KEY}: {{NAME: {{package: postgresql, config: {{host: …}}}}}}"


@dataclass(frozen=True, slots=True)
class NamedProvider:
    """A provider of the stack's config: its package, and the config that the package takes."""

    name: str
    package: str
    config: Mapping[str, Any]
    """Its values as they are written; one that is a secret is `{secure: …}` in a file, and plain in the engine."""
    where: Source | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the setting is written; nowhere if only the engine knows it."""

    document: Document | None
    path: fieldpath.Path

    def problem(self, what: str, *steps: str, fix: str) -> Problem:
        path = fieldpath.to_text((*self.path, *steps))
        return Problem(what, self.source(*steps), path, fix)

    def source(self, *steps: str) -> Source | None:
        return self.document.source_of((*self.path, *steps)) if self.document else None


def providers_in_files(root: Path, stack: str) -> dict[str, NamedProvider] | None:
    """The providers that a stack's config files name; None where only the engine can tell: all of it is a secret."""
    found = found_setting(root, stack, PROVIDERS)
    if found is None:
        return {}
    document, path, value = found
    return None if is_secret(value) else read_providers(value, document, path)


def read_providers(
    value: Any, document: Document | None = None, path: fieldpath.Path = ("config", CONFIG_KEY)
) -> dict[str, NamedProvider]:
    """The providers in a value of the setting, by name; all mistakes are reported at once, none with a value."""
    place = _Place(document, path)
    problems = Collector()
    providers: dict[str, NamedProvider] = {}
    for name, entry in _entries(value, place).items():
        with problems.catch():
            providers[name] = _provider(name, entry, place)
    problems.raise_as(ModelError)
    return providers


def is_secret(value: Any) -> bool:
    """Whether a value of a config file is one that only the engine can decrypt."""
    return isinstance(value, dict) and set(value) == {"secure"} and isinstance(value["secure"], str)


def in_plain_text(root: Path, stack: str) -> dict[str, Mapping[str, Any]]:
    """The config of each provider without what the files keep as a secret: what may be shown in the state."""
    try:
        providers = providers_in_files(root, stack) or {}
    except (LoadError, ModelError):
        return {}  # The engine's own reading of them reports it.
    return {name: dict(_plain_values(provider.config)) for name, provider in providers.items()}


def _plain_values(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((key, value) for key, value in config.items() if not _holds_secret(value))


def _holds_secret(value: Any) -> bool:
    match value:
        case dict():
            return is_secret(value) or any(map(_holds_secret, value.values()))
        case list():
            return any(map(_holds_secret, value))
        case _:
            return False


def _entries(value: Any, place: _Place) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ModelError(place.problem(f"{CONFIG_KEY} is neither an object nor JSON", fix=_FIX)) from None
    if not isinstance(value, dict):
        raise ModelError(place.problem(f"{CONFIG_KEY} is not an object", fix=_FIX))
    return value


def _provider(name: str, entry: Any, place: _Place) -> NamedProvider:
    if not _NAME.fullmatch(name):
        raise ModelError(
            place.problem(f"{name!r} cannot be the name of a provider", name, fix="use letters, digits and dashes")
        )
    if not isinstance(entry, dict):
        raise ModelError(place.problem(f"the provider {name!r} is not an object", name, fix=_FIX))
    for key in entry:
        if key not in _FIELDS:
            what = f"the provider {name!r} has an unknown field {key!r}"
            raise ModelError(place.problem(what, name, key, fix=suggest(key, _FIELDS)))
    package, config = entry.get("package"), entry.get("config", {})
    if not isinstance(package, str) or not _PACKAGE.fullmatch(package):
        what = f"the provider {name!r} names no package"
        raise ModelError(place.problem(what, name, "package", fix="add one, as in package: postgresql"))
    if (name, package) == ("cluster", "kubernetes"):
        what = "the provider of the stack's own cluster has the name 'cluster' already"
        raise ModelError(place.problem(what, name, fix="choose another name"))
    if not isinstance(config, dict):
        what = f"the config of the provider {name!r} is not an object"
        raise ModelError(place.problem(what, name, "config", fix="write it as config: {host: …}"))
    return NamedProvider(name, package, config, place.source(name))
