"""A claimsmith project on disk: where its classes, claims and bindings are, and the plan that they make.

Pulumi.yaml                       the project's name
components/<name>/*.yaml          the platform's classes; components/references.yaml extends the reference table
stacks/<stack>/claims/*.yaml      the claims of an environment
stacks/<stack>/bindings.yaml      which class serves each claim
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from claimsmith import binding, bindings_file, crds
from claimsmith.binding import Binding, Record, Unbound
from claimsmith.catalog import Catalog, read_catalog
from claimsmith.documents import read_documents
from claimsmith.errors import BindingError, LoadError, Problem, Source, nearest
from claimsmith.load import load, read_text
from claimsmith.models.klass import Class
from claimsmith.models.objects import ClaimKey
from claimsmith.models.reference_table import read_table
from claimsmith.plan import Plan, build_plan
from claimsmith.reference import Table

PRIVATE = ".claimsmith"
"""The git-ignored folder: local state, local control plane, passphrase."""


@dataclass(frozen=True)
class Project:
    """A project's root and what can be read below it."""

    root: Path

    @cached_property
    def name(self) -> str:
        """The project's name, from Pulumi.yaml."""
        documents = load([self.root / "Pulumi.yaml"], root=self.root)
        name = documents[0].data.get("name") if documents else None
        if not isinstance(name, str):
            raise LoadError(Problem("Pulumi.yaml has no name", Source("Pulumi.yaml"), "name", "add name: your-project"))
        return name

    @property
    def components(self) -> Path:
        """The platform's folder."""
        return self.root / "components"

    @property
    def private(self) -> Path:
        """The git-ignored folder for local state."""
        return self.root / PRIVATE

    def stacks(self) -> list[str]:
        """The environments: every folder below stacks/ that holds claims."""
        return sorted(p.parent.name for p in (self.root / "stacks").glob("*/claims") if p.is_dir())

    def check_stack(self, stack: str) -> None:
        """Refuse a stack that is not there."""
        known = self.stacks()
        if stack not in known:
            close = nearest(stack, known)
            fix = (
                f"did you mean {close!r}?"
                if close
                else f"use one of: {', '.join(known) or 'none yet'}; or make stacks/{stack}/claims/"
            )
            raise LoadError(Problem(f"there is no stack {stack!r}", fix=fix))

    def catalog(self, stack: str | None = None) -> Catalog:
        """The platform's classes, with the claims of a stack where one is named."""
        platform = load(self._platform_files(), root=self.root)
        claims = load([self.root / "stacks" / stack / "claims"], root=self.root) if stack else []
        return read_catalog(platform, claims)

    def table(self) -> Table:
        """What a selector may select."""
        built_in = resources.files("claimsmith").joinpath("data/references.yaml").read_text(encoding="utf-8")
        documents = read_documents(built_in, file="claimsmith/data/references.yaml")
        own = self.components / "references.yaml"
        return read_table([*documents, *(load([own], root=self.root) if own.exists() else [])])

    def bindings_path(self, stack: str) -> Path:
        """Where a stack's bindings are recorded."""
        return self.root / "stacks" / stack / "bindings.yaml"

    def records(self, stack: str) -> list[Record]:
        """The recorded bindings of a stack."""
        path = self.bindings_path(stack)
        if not path.exists():
            return []
        return bindings_file.read(read_text(path, root=self.root), file=path.relative_to(self.root).as_posix())

    def bind(self, stack: str, *, rebind: frozenset[ClaimKey] = frozenset()) -> tuple[list[Binding], list[Unbound]]:
        """Every claim of a stack with its class, recorded or chosen now."""
        self.check_stack(stack)
        return binding.bind(self.catalog(stack), self.records(stack), project=self.name, stack=stack, rebind=rebind)

    def plan(self, stack: str, *, unrecorded_ok: bool = False) -> Plan:
        """The plan of a stack. A binding that is not recorded is refused, or warned about."""
        self.check_stack(stack)
        catalog = self.catalog(stack)
        bound, unbound = binding.bind(catalog, self.records(stack), project=self.name, stack=stack)
        missing = binding.unrecorded(bound, stack)
        if missing and not unrecorded_ok:
            raise BindingError(*missing)
        warnings = [*catalog.warnings, *missing]
        return build_plan(bound, project=self.name, stack=stack, table=self.table(), unbound=unbound, warnings=warnings)

    def component_path(self, klass: Class) -> Path:
        """Where the component of a class stands: beside the class's YAML."""
        return (self.root / klass.document.file).parent / "component.py"

    def _platform_files(self) -> list[Path]:
        if not self.components.is_dir():
            return []
        found = (p for p in sorted(self.components.rglob("*")) if p.suffix in {".yaml", ".yml"})
        return [p for p in found if p != self.components / "references.yaml"]


def find_root(start: Path | None = None) -> Path:
    """The nearest folder, from here upwards, that holds a Pulumi.yaml."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "Pulumi.yaml").is_file():
            return folder
    raise LoadError(
        Problem(
            "this is no claimsmith project: no Pulumi.yaml here or above",
            fix="change into the project's folder, or give --project FOLDER",
        )
    )


def crds_needed(root: Path, stack: str | None = None) -> list[dict[str, Any]]:
    """The CRDs of what a stack's classes make: those the platform gives, permissive ones for the rest."""
    project = Project(root)
    catalog = project.catalog(stack)
    made = {(t.api_version, t.kind): None for k in catalog.classes.values() for t in k.templates}
    permissive = [crds.permissive_crd(api, kind, namespaced=False, managed=True) for api, kind in made]
    return crds.merge_crds([*permissive, *(d.data for d in catalog.crds)])


def write_atomically(path: Path, text: str, *, mode: int | None = None) -> bool:
    """Write a whole file or nothing; a file that already says so is left alone. Tells whether it was written."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return True


def write_all(files: Iterable[tuple[Path, str]]) -> list[Path]:
    """Write several files; gives those that changed."""
    return [path for path, text in files if write_atomically(path, text)]
