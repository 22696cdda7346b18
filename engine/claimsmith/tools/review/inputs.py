"""What the review of a stack depends on, as a digest: equal digests are equal reviews.

That is this program, the project's settings and tables, the stack's own files, and those of the platform's folders that
the stack can use. A folder of the platform can be left out only if it holds nothing but plain classes, each for a kind
of claim that no definition composes: then a stack whose files name neither such a kind nor such a class cannot meet it.
Every doubt counts the folder in, or gives no digest at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path

from claimsmith import __version__
from claimsmith.base.errors import EngineError
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.composite_classes.reading import KINDS
from claimsmith.platform.catalog import Catalog, kind_of
from claimsmith.platform.settings import FILE as SETTINGS
from claimsmith.project.load import load
from claimsmith.project.project import Project

SUFFIXES = (".yaml", ".yml", ".py")
_LIBRARIES = ("google-re2", "jinja2", "pydantic", "pyyaml")
"""The libraries that decide what is read and composed."""
_WORD = re.compile(rb"[A-Za-z0-9_-]+")
_SPELLED_OTHERWISE = (b"\\", b"!")
"""With an escape or a tag, YAML can spell a name in a way that a search in its text does not find."""


@lru_cache(maxsize=1)
def program() -> str:
    """A digest of this program: its own code and data, its libraries, and Python."""
    package = Path(__file__).parents[2]
    own = {p.relative_to(package).as_posix(): _hash(p.read_bytes()) for p in _package_files(package)}
    libraries = [metadata.version(name) for name in _LIBRARIES]
    return _digest([__version__, sys.version, libraries, own])


def _package_files(package: Path) -> list[Path]:
    return sorted(
        p for p in package.rglob("*") if p.suffix in {".py", ".yaml", ".json", ".j2", ".jinja"} and p.is_file()
    )


@dataclass(frozen=True)
class Inputs:
    """The files of a project, read once for all its stacks."""

    project: Project
    _linked: list[Path] = field(default_factory=list)
    """Links that were met: what they lead to may change without them."""

    def of(self, stack: str) -> str | None:
        """The digest of what a stack's plan depends on; None where that cannot be told."""
        files = self._stack_files(stack)
        if self._linked or self.project.pending or self.project.left_out or self._common is None:
            return None
        parts = [self._common, {name: self._folders[name] for name in self._used(files.values())}]
        return _digest([*parts, {path: _hash(content) for path, content in files.items()}])

    def _stack_files(self, stack: str) -> dict[str, bytes]:
        stacks = self.project.root / "stacks"
        return self._read([stacks / stack, stacks / f"Pulumi.{stack}.yaml"])

    def _used(self, texts: Iterable[bytes]) -> list[str]:
        """The folders of the platform that a stack with these files may use."""
        whole = b"\n".join(texts)
        if any(mark in whole for mark in _SPELLED_OTHERWISE):
            return list(self._folders)
        words = set(_WORD.findall(whole))
        return [
            name
            for name in self._folders
            if name not in self._separable or any(pieces <= words for pieces in self._separable[name])
        ]

    @cached_property
    def _platform(self) -> dict[str, bytes]:
        return self._read([self.project.components])

    @cached_property
    def _folders(self) -> dict[str, str]:
        """The digest of each folder of the platform; files beside the folders are one more."""
        found: dict[str, dict[str, str]] = {}
        for path, content in self._platform.items():
            found.setdefault(_folder(path), {})[path] = _hash(content)
        return {name: _digest(files) for name, files in found.items()}

    @cached_property
    def _common(self) -> str | None:
        """The digest of what all stacks share; None where the platform cannot be read: then nothing is certain."""
        root = self.project.root
        files = self._read([root / name for name in ("Pulumi.yaml", SETTINGS, "functions.yaml")])
        if self._catalog is None or "Pulumi.yaml" not in files:
            return None
        return _digest({path: _hash(content) for path, content in files.items()})

    @cached_property
    def _catalog(self) -> Catalog | None:
        try:
            return self.project.catalog()
        except EngineError:
            return None

    @cached_property
    def _separable(self) -> dict[str, list[frozenset[bytes]]]:
        """The folders that only stacks meet which name a class or a kind of theirs: the words of these names."""
        catalog = self._catalog
        assert catalog is not None, "asked only once the platform could be read"
        classes: dict[str, list[Class]] = {}
        for klass in catalog.classes.values():
            classes.setdefault(_folder(klass.document.file), []).append(klass)
        times = Counter(klass.name for klass in catalog.classes.values())
        return {
            name: [_words(word) for klass in held for word in (klass.name, klass.serves.kind)]
            for name, held in classes.items()
            if name and all(times[k.name] == 1 and _is_plain(k, catalog) for k in held) and self._holds_classes(name)
        }

    def _holds_classes(self, folder: str) -> bool:
        """Whether all documents of a folder are plain classes."""
        documents = load([self.project.components / folder], root=self.project.root)
        return all(kind_of(document) in KINDS for document in documents)

    def _read(self, paths: Iterable[Path]) -> dict[str, bytes]:
        """The contents of files, and of those below folders, by their paths in the project."""
        found: dict[str, bytes] = {}
        for path in paths:
            for file in sorted(self._below(path)):
                if file.is_symlink():
                    self._linked.append(file)
                elif file.is_file():
                    found[file.relative_to(self.project.root).as_posix()] = file.read_bytes()
        return found

    def _below(self, path: Path) -> Iterator[Path]:
        if not path.is_dir() or path.is_symlink():
            yield path
            return
        for folder, folders, files in os.walk(path):
            here = Path(folder)
            yield from (here / name for name in folders if (here / name).is_symlink())
            yield from (here / name for name in files if name.endswith(SUFFIXES))


def key(before: Inputs, after: Inputs, stack: str, *others: object) -> str | None:
    """The digest of a whole review of a stack: of both sides, of this program, and of what else it depends on."""
    sides = [inputs.of(stack) for inputs in (before, after)]
    return None if None in sides else _digest([program(), stack, *sides, *others])


def _is_plain(klass: Class, catalog: Catalog) -> bool:
    """Whether only claims that name its kind can get a class, and its children are no claims again."""
    defined = catalog.defined(klass.serves) or catalog.crossplane.defined(klass.serves)
    simple = not klass.steps and not any(t.opaque or t.native or t.composite for t in klass.templates)
    return simple and not defined


def _folder(path: str) -> str:
    """The folder of the platform that a file is in; empty for one beside the folders."""
    _, name, *below = path.split("/")
    return name if below else ""


def _words(name: str) -> frozenset[bytes]:
    return frozenset(_WORD.findall(name.encode()))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(value: object) -> str:
    return _hash(json.dumps(value, sort_keys=True).encode())
