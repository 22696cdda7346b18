"""What the plan of a stack depends on, as a digest: equal digests are equal plans, and so equal reviews and findings.

That is this program with its libraries, the project's settings and tables, the stack's own files, the SDKs of native
resources, and those of the platform's folders that the stack can use. A folder of the platform can be left out only if
it holds nothing but plain classes, each for a kind of claim that no definition composes: then a stack whose files name
neither such a kind nor such a class cannot meet it. Every doubt counts the folder in, or gives no digest at all.

Some plans depend on more than that, such as the files of other stacks or a program: `is_repeatable` finds them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path

from claimsmith import __version__
from claimsmith.base.errors import EngineError
from claimsmith.compose import external_names
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.dialects.common.klass import Class, Step
from claimsmith.dialects.composite_classes.reading import KINDS
from claimsmith.dialects.crossplane.composition import function_of
from claimsmith.functions.registry import BUILT_IN
from claimsmith.platform.catalog import Catalog, kind_of
from claimsmith.platform.settings import FILE as SETTINGS
from claimsmith.project import functions, sdks
from claimsmith.project.load import load
from claimsmith.project.project import Project

SUFFIXES = (".yaml", ".yml", ".py")
PURE = frozenset(BUILT_IN) - {"function-kcl", "function-python"}
"""The built-in functions whose results come from their input alone; the others run programs."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
_WORD = re.compile(rb"[A-Za-z0-9_-]+")
_SPELLED_OTHERWISE = (b"\\", b"!")
"""With an escape or a tag, YAML can spell a name in a way that a search in its text does not find."""


@lru_cache(maxsize=1)
def program() -> str:
    """A digest of this program: its own code and data, its libraries, and Python."""
    package = Path(__file__).parents[1]
    own = {p.relative_to(package).as_posix(): _hash(p.read_bytes()) for p in _package_files(package)}
    return _digest([__version__, sys.version, _libraries(), own])


def _libraries() -> dict[str, str | None]:
    """The versions of all libraries that this program may use; None for optional ones that are not installed."""
    names = {_REQUIREMENT.match(line) for line in metadata.requires("claimsmith") or ()}
    return {name[0]: _version(name[0]) for name in names if name}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _package_files(package: Path) -> list[Path]:
    """All files of the program; what Python compiled of them is left out."""
    return sorted(p for p in package.rglob("*") if p.suffix != ".pyc" and p.is_file())


@dataclass(frozen=True)
class Inputs:
    """The files of a project, read once for all its stacks."""

    project: Project
    _doubtful: list[Path] = field(default_factory=list)
    """What no digest covers: links, since what they lead to may change without them; files that cannot be read; folders
    and other things in the place of files."""

    def of(self, stack: str) -> str | None:
        """The digest of what a stack's plan depends on; None if that is unknown."""
        files = self._stack_files(stack)
        if self._doubtful or self.project.pending or self.project.left_out or self._common is None:
            return None
        parts = [self._common, {name: self._folders[name] for name in self._used(files.values())}]
        return _digest([*parts, {path: _hash(content) for path, content in files.items()}])

    def read(self) -> Inputs:
        """This, with what all stacks share read now, and not only when it is needed first."""
        if self._folders and self._common:
            _ = self._separable
        return self

    def _stack_files(self, stack: str) -> dict[str, bytes]:
        stacks = self.project.root / "stacks"
        return self._read([stacks / f"Pulumi.{stack}.yaml"], stacks / stack)

    def _used(self, texts: Iterable[bytes]) -> list[str]:
        """The folders of the platform that a stack with these files may use."""
        whole = b"\n".join(texts)
        if any(mark in whole for mark in _SPELLED_OTHERWISE):
            return list(self._folders)
        words = _words_of(whole)
        return [
            name
            for name in self._folders
            if name not in self._separable or any(pieces <= words for pieces in self._separable[name])
        ]

    @cached_property
    def _platform(self) -> dict[str, bytes]:
        return self._read([], self.project.components)

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
        files = self._read([root / name for name in ("Pulumi.yaml", SETTINGS, functions.FILE)])
        if self._catalog is None or "Pulumi.yaml" not in files:
            return None
        packages = _native_packages(self._catalog)
        return _digest(
            [
                {path: _hash(content) for path, content in files.items()},
                # A folder of a function takes the place of a built-in one of its name.
                sorted(p.relative_to(root).as_posix() for p in (root / functions.FOLDER).rglob("*")),
                {package: sdks.fingerprint(package) for package in packages},
            ]
        )

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

    def _read(self, files: Iterable[Path], folder: Path | None = None) -> dict[str, bytes]:
        """The contents of files, and of those below a folder, by their paths in the project."""
        found: dict[str, bytes] = {}
        for file in sorted([*files, *(self._below(folder) if folder else ())]):
            content = self._content(file)
            if content is not None:
                found[file.relative_to(self.project.root).as_posix()] = content
        return found

    def _content(self, file: Path) -> bytes | None:
        """What a file holds; None where there is none, or where no digest can tell."""
        try:
            if stat.S_ISREG(file.lstat().st_mode):
                return file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            pass
        self._doubtful.append(file)
        return None

    def _below(self, path: Path) -> Iterator[Path]:
        if not path.is_dir() or path.is_symlink():
            yield path
            return
        for folder, folders, files in os.walk(path, onerror=self._unreadable):
            here = Path(folder)
            yield from (here / name for name in folders if name.endswith(SUFFIXES) or (here / name).is_symlink())
            yield from (here / name for name in files if name.endswith(SUFFIXES))

    def _unreadable(self, error: OSError) -> None:
        self._doubtful.append(Path(error.filename))


def digest_of(sides: Sequence[Inputs], stack: str, *others: object) -> str | None:
    """The digest of what is said of a stack: of each side, of this program, and of what else it depends on."""
    found = [inputs.of(stack) for inputs in sides]
    return None if None in found else _digest([program(), stack, *found, *others])


def is_repeatable(plan: Plan) -> bool:
    """Whether a plan comes from what `Inputs` counts alone: the same files give it on any machine at any time.

    A program of the project may read a clock. An external name that a claim chose is compared with those of other
    stacks, and applications are scheduled on what other files publish.
    """
    if plan.workloads or plan.targets or plan.sinks or any(n.chosen for n in external_names.names(plan)):
        return False
    return all(_is_computed(claim) for claim in plan.walk())


def _is_computed(claim: PlannedClaim) -> bool:
    """Whether no program beside this one has a part in the resources of a claim."""
    # What a pipeline composes names packages that no class does.
    foreign = claim.piped is not None and any(child.template.native for child in claim.children)
    return not foreign and all(map(_is_pure, claim.binding.klass.steps))


def _is_pure(step: Step) -> bool:
    return not step.declared and function_of(step.function, step.input) in PURE


def _native_packages(catalog: Catalog) -> list[str]:
    """The providers of the native resources that classes compose."""
    classes = (*catalog.classes.values(), *catalog.crossplane.compositions.values())
    return sorted({str(t.base.get("type")).partition(":")[0] for c in classes for t in c.templates if t.native})


def _is_plain(klass: Class, catalog: Catalog) -> bool:
    """Whether only claims that name its kind can get a class, and its children are no claims again."""
    defined = catalog.defined(klass.serves) or catalog.crossplane.defined(klass.serves)
    simple = not klass.steps and not any(t.composite for t in klass.templates)
    return simple and not defined


def _folder(path: str) -> str:
    """The folder of the platform that a file is in; empty for one beside the folders."""
    _, name, *below = path.split("/")
    return name if below else ""


# Both sides of a review ask for the same text, one after the other.
@lru_cache(maxsize=1)
def _words_of(text: bytes) -> frozenset[bytes]:
    return frozenset(_WORD.findall(text))


def _words(name: str) -> frozenset[bytes]:
    return frozenset(_WORD.findall(name.encode()))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(value: object) -> str:
    return _hash(json.dumps(value, sort_keys=True).encode())
