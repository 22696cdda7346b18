"""Where the files of a project are on disk.

Pulumi.yaml                       the project's name, and settings of all its stacks
stacks/Pulumi.<stack>.yaml        settings of one stack; the engine keeps the salt of its passphrase there
claimsmith.yaml                   what the platform permits in files below claims/
components/<name>/*.yaml          the platform's classes; components/references.yaml extends the reference table,
                                  components/review.yaml what a review must know of kinds
stacks/<stack>/claims/*.yaml      the claims of an environment
stacks/<stack>/resources/*.yaml   resources that the platform provides there: static resources, published clusters
stacks/<stack>/bindings.yaml      which class serves each claim
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from claimsmith.base.errors import LoadError, Problem, Source, suggest
from claimsmith.dialects.common.klass import Class
from claimsmith.project.load import leads_out, yaml_files

TABLES = ("references.yaml", "bindable.yaml", "review.yaml")
_PARTS = ("claims", "resources", "bindings.yaml")
"""What makes a folder below stacks/ an environment."""
PRIVATE = ".claimsmith"
"""The git-ignored folder: local state, local control plane, passphrase."""


@dataclass(frozen=True)
class Layout:
    """A project's root, and where its files are below it."""

    root: Path
    pending: Mapping[Path, str] = field(default_factory=dict, compare=False, repr=False)
    """Files that are to be written: generated components and bindings are read from here first."""

    def content(self, path: Path) -> bytes | None:
        """What a file holds, or will hold; None where there is none."""
        if path in self.pending:
            return self.pending[path].encode()
        return path.read_bytes() if path.is_file() else None

    @property
    def components(self) -> Path:
        """The platform's folder."""
        return self.root / "components"

    @property
    def private(self) -> Path:
        """The git-ignored folder for local state."""
        return self.root / PRIVATE

    def folder(self) -> str:
        """The project's folder within its repository, as the beginning of a path; empty at its root, or without one."""
        for parent in (self.root, *self.root.parents):
            if (parent / ".git").exists():
                inner = self.root.relative_to(parent).as_posix()
                return "" if inner == "." else f"{inner}/"
        return ""

    def stacks(self) -> list[str]:
        """The environments: every folder below stacks/ that holds claims, resources or bindings.

        git keeps no empty folders: a stack whose last claim was removed still has its bindings, and what it deployed.
        """
        parts = [p for name in _PARTS for p in (self.root / "stacks").glob(f"*/{name}")]
        return sorted({p.parent.name for p in parts})

    def has_stack(self, stack: str) -> bool:
        """Whether there is an environment of that name, without a look at all others."""
        folder = self.root / "stacks" / stack
        with suppress(OSError):
            # Not a path of several parts, nor the folder above.
            return folder.name == stack != ".." and any((folder / part).exists() for part in _PARTS)
        return False

    def check_stack(self, stack: str) -> None:
        """Refuse a stack that is not there."""
        if not self.has_stack(stack):
            known = self.stacks()
            listed = ", ".join(known) or "none yet"
            fix = suggest(stack, known, f"use one of: {listed}; or create stacks/{stack}/claims/")
            raise LoadError(Problem(f"there is no stack {stack!r}", fix=fix))

    def bindings_path(self, stack: str) -> Path:
        """Where a stack's bindings are recorded."""
        return self.own(self.root / "stacks" / stack / "bindings.yaml")

    def own(self, path: Path) -> Path:
        """The path of a file that is written or run, if nothing in it is a link that leads elsewhere."""
        if strange := leads_out(path, root=self.root):
            raise LoadError(strange)
        if path.is_symlink():
            shown = path.relative_to(self.root).as_posix()
            raise LoadError(Problem("this is a link, where a file is wanted", Source(shown), fix="remove the link"))
        return path

    def component_path(self, klass: Class) -> Path:
        """The path of a class's component: beside the class's YAML."""
        return self.own((self.root / klass.document.file).parent / "component.py")

    def platform_files(self) -> list[Path]:
        """The YAML files of the platform's classes: all below components/ but the tables."""
        if not self.components.is_dir():
            return []
        files = yaml_files(self.components, root=self.root)
        return [p for p in files if p not in {self.components / name for name in TABLES}]
