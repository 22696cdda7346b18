"""The settings of a project and its stacks: Pulumi.yaml, stacks/Pulumi.<stack>.yaml and claimsmith.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import LoadError, Problem, Source
from claimsmith.base.values import object_at
from claimsmith.platform.settings import FILE
from claimsmith.project.load import load
from claimsmith.project.writing import repository_of

STRICT = "strict"
"""The setting by which a stack refuses claims with fields that nothing reads."""


def project_name(root: Path) -> str:
    """The project's name, from Pulumi.yaml."""
    documents = load([root / "Pulumi.yaml"], root=root)
    name = documents[0].data.get("name") if documents else None
    if not isinstance(name, str):
        raise LoadError(Problem("Pulumi.yaml has no name", Source("Pulumi.yaml"), "name", "add name: your-project"))
    return name


def stack_configs(root: Path, stack: str) -> list[Document]:
    """The files of the engine that configure a stack, its own first; one that is missing configures nothing."""
    paths = [root / "stacks" / f"Pulumi.{stack}.yaml", root / "Pulumi.yaml"]
    try:
        return [d for path in paths if path.is_file() for d in load([path], root=root)[:1]]
    except LoadError as error:
        # Settings may be secrets, and what is wrong with YAML is reported by quoting some of it.
        raise LoadError(*(replace(p, what="not valid YAML") for p in error.problems)) from None


def stack_setting(root: Path, stack: str, name: str) -> str | None:
    """A setting of ours, as text: the stack's own, else the one for all stacks; None where there is neither."""
    key = f"claimsmith:{name}"
    configs = [object_at(document.data, "config") for document in stack_configs(root, stack)]
    value = next((config[key] for config in configs if key in config), None)
    # In Pulumi.yaml an entry may be an object with more than a value.
    value = value.get("value") if isinstance(value, dict) else value
    return value if isinstance(value, str) or value is None else str(value).lower()


def missing_plugins(root: Path) -> list[Problem]:
    """A problem for each plugin of a provider that is not at the path that Pulumi.yaml names."""
    found = []
    for document, index, name, path in _listed_plugins(root):
        if not (root / path).exists():
            what = f"the plugin of the provider {name!r} is not at {path!r}"
            fix = "put it there: what was created with it cannot be changed or destroyed without it"
            found.append(document.problem(what, f"plugins.providers[{index}].path", fix))
    return found


def outside_plugins(root: Path) -> dict[str, Path]:
    """The programs of the plugins that Pulumi.yaml names, by provider, without those that the repository holds itself.

    A deployment runs these too. Other commands also read branches of strangers, and run no program of theirs.
    """
    repository = repository_of(root)
    found: dict[str, Path] = {}
    for _, _, name, path in _listed_plugins(root):
        folder = (root / path).resolve()
        program = (folder / f"pulumi-resource-{name}" if folder.is_dir() else folder).resolve()
        if program.is_file() and not any(p.is_relative_to(repository) for p in (folder, program)):
            found.setdefault(str(name), program)
    return found


def _listed_plugins(root: Path) -> Iterator[tuple[Document, int, Any, str]]:
    """Each plugin of a provider in Pulumi.yaml: its file, its place in the list, its name and its path."""
    for document in load([root / "Pulumi.yaml"], root=root)[:1]:
        listed = object_at(document.data, "plugins").get("providers")
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            path = entry.get("path") if isinstance(entry, dict) else None
            if isinstance(path, str):
                yield document, index, entry.get("name"), path


def is_set(root: Path, stack: str, name: str) -> bool:
    """Whether a setting of ours is there, for the stack or for all stacks, whatever it holds: it may be a secret."""
    return found_setting(root, stack, name) is not None


def found_setting(root: Path, stack: str, name: str) -> tuple[Document, fieldpath.Path, Any] | None:
    """A setting of ours as it is written: its file, its place there and its value; None where there is none."""
    key = f"claimsmith:{name}"
    for document in stack_configs(root, stack):
        config = object_at(document.data, "config")
        if key not in config:
            continue
        value, path = config[key], ("config", key)
        if document.file == "Pulumi.yaml" and isinstance(value, dict) and "value" in value:
            return document, (*path, "value"), value["value"]
        return document, path, value
    return None


def platform_settings(root: Path) -> Document | None:
    """The document of claimsmith.yaml: what files below claims/ may contain. None where there is none."""
    path = root / FILE
    if not path.exists():
        return None
    documents = load([path], root=root)
    if len(documents) != 1:
        # An empty one would permit more than none of its entries does.
        fix = "join the documents into one" if documents else "remove the file, or write its entries"
        where = documents[1].source_of() if documents else Source(FILE)
        raise LoadError(Problem(f"{FILE} holds one document", where, fix=fix))
    return documents[0]
