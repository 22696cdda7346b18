"""A small project in two states, for the tables of the review: what was, and what is."""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from claimsmith.project.project import Project
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.stack import review_stack
from tests.support.samples import claim_data, class_data, class_ref, patch, write_files

Files = dict[str, Any]
"""Documents by the path of the file that holds them; a list is a file of several."""

AUTO = {"config": {"claimsmith:bind": "auto"}}
CLASS = "components/db/class.yaml"
OTHER = "components/other/class.yaml"
SQL = "stacks/dev/claims/sql.yaml"
GIVEN = "stacks/dev/resources/given.yaml"
KINDS = "components/review.yaml"
CRD = "components/db/crd.yaml"
ADDRESS = "Database.database.example.org/default/sql"

GROUP = {
    "apiVersion": "azure.crossplane.io/v1alpha3",
    "kind": "ResourceGroup",
    "spec": {"location": "West US", "reclaimPolicy": "Delete"},
}
SERVER = {
    "apiVersion": "database.azure.crossplane.io/v1beta1",
    "kind": "MySQLServer",
    "spec": {
        "forProvider": {
            "version": "5.6",
            "sku": {"tier": "Basic", "capacity": 1},
            "rules": ["a", "b"],
            "resourceGroupNameSelector": {"matchComposite": True},
        },
        "writeConnectionSecretToRef": {"namespace": "crossplane-system"},
        "reclaimPolicy": "Delete",
    },
}
TIMES = {"type": "math", "math": {"multiply": 1024}}
PATCHES = [
    patch("spec.size", "spec.forProvider.storageMB", TIMES),
    patch("spec.version", "spec.forProvider.version"),
]


def db(name: str = "db", *, group: Any = GROUP, server: Any = SERVER) -> dict[str, Any]:
    """The class of a database: a group, and a server in it."""
    parts = [{"base": group}] if group else []
    parts += [{"base": server, "patches": PATCHES}] if server else []
    return copy.deepcopy(class_data(name, *parts))


def sql(name: str = "sql", klass: str = "db", **spec: Any) -> dict[str, Any]:
    """A claim for it."""
    wish = {"writeConnectionSecretToRef": {"name": name}}
    return claim_data(name, size=10, version="5.7", classRef=class_ref(klass), **wish, **spec)


def base() -> Files:
    """What was."""
    return {CLASS: db(), OTHER: db("other"), SQL: sql(), "stacks/Pulumi.dev.yaml": AUTO}


def put(file: str, path: str, value: Any) -> Callable[[Files], None]:
    """A change of one field; None takes it away. Parts of the path that are digits are indexes."""

    def change(files: Files) -> None:
        *way, last = [int(s) if s.isdigit() else s for s in path.split("/")]
        here = files[file]
        for step in way:
            here = here[step]
        if value is None:
            del here[last]
        else:
            here[last] = value

    return change


def text_of(content: Any) -> str:
    documents = content if isinstance(content, list) else [content]
    return content if isinstance(content, str) else yaml.safe_dump_all(documents, sort_keys=False)


def write(root: Path, files: Files) -> Path:
    """The project on disk."""
    return write_files(root, {name: text_of(content) for name, content in files.items()})


def git(root: Path, *words: str) -> str:
    """What git prints, as somebody who has no settings of their own."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def committed(root: Path, files: Files) -> Path:
    """A new repository with the project as its first commit."""
    write(root, files)
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "base")
    return root


def reviewed(folder: Path, before: Files, after: Files, stack: str = "dev") -> StackReview:
    """The review of two states of a project."""
    old, new = (Project(write(folder / name, files)) for name, files in (("before", before), ("after", after)))
    return review_stack(old, new, stack)


def changed(*changes: Callable[[Files], None], start: Files | None = None) -> Files:
    """The base, or another start, with some changes."""
    files = copy.deepcopy(start or base())
    for change in changes:
        change(files)
    return files


def set_file(file: str, content: Any) -> Callable[[Files], None]:
    """A file written, or with None removed."""

    def change(files: Files) -> None:
        if content is None:
            del files[file]
        else:
            files[file] = content

    return change
