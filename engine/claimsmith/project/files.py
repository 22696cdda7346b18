"""What the files of a project hold: settings, tables, the catalog of a stack, and its recorded bindings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Self

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError, Refused
from claimsmith.base.names import GroupKind
from claimsmith.compose.reference_table import kinds_of, read_table
from claimsmith.compose.references import Table
from claimsmith.dialects.common.bindable import Bindable, read_bindable
from claimsmith.kubernetes import crds
from claimsmith.kubernetes.reference_fields import reference_fields
from claimsmith.kubernetes.scope import Scopes, scopes_of_crds
from claimsmith.platform import bindings_file
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import CRD, Catalog, offered, read_catalog
from claimsmith.platform.permissions import permitted
from claimsmith.platform.settings import Settings
from claimsmith.platform.settings import read as read_settings
from claimsmith.project import functions, settings
from claimsmith.project.layout import Layout
from claimsmith.project.load import load, read_text
from claimsmith.project.named_providers import NamedProvider, providers_in_files
from claimsmith.project.review_table import KindTable, read_kind_table
from claimsmith.project.writing import write_atomically

_WORD = re.compile(r"[A-Za-z0-9.-]+")


@dataclass(frozen=True)
class ProjectFiles(Layout):
    """A project's root and what can be read below it."""

    left_out: frozenset[str] = frozenset()
    """The project's own tables that are not to be read: see `readable`."""

    @cached_property
    def name(self) -> str:
        """The project's name, from Pulumi.yaml."""
        return settings.project_name(self.root)

    def configs(self, stack: str) -> list[Document]:
        """The files of the engine that configure a stack, its own first; one that is missing configures nothing."""
        return settings.stack_configs(self.root, stack)

    def setting(self, stack: str, name: str) -> str | None:
        """A setting of ours, as text: the stack's own, else the one for all stacks; None where there is neither."""
        return settings.stack_setting(self.root, stack, name)

    def providers(self, stack: str) -> dict[str, NamedProvider] | None:
        """The providers of native resources in a stack's config files; None where only the engine can read them."""
        return providers_in_files(self.root, stack)

    @cached_property
    def settings_document(self) -> Document | None:
        """The document of claimsmith.yaml; None where there is none."""
        return settings.platform_settings(self.root)

    @cached_property
    def settings(self) -> Settings:
        """What the platform permits to application teams, from claimsmith.yaml."""
        return read_settings(self.settings_document)

    def catalog(self, stack: str | None = None, *, refused: Refused | None = None) -> Catalog:
        """The platform's classes, with the claims of a stack where one is named.

        `refused` takes the problems of files and documents that cannot be read, where the catalog is to hold the rest.
        """
        noted = FilesWithProblems(refused) if refused else None
        platform = load(self.platform_files(), root=self.root, refused=noted)
        folder = self.root / "stacks" / stack / "claims" if stack else None
        claims = load([folder], root=self.root, refused=refused) if folder and folder.is_dir() else []
        given = self.given_documents(stack, refused=refused) if stack else []
        catalog = read_catalog(
            platform,
            claims,
            bindable=self.bindable(),
            managed=self._managed(),
            resources=given,
            functions=self.declared_functions(programs=False),
            refused=noted,
        )
        catalog = replace(catalog, unreadable=self._words(noted.files if noted else ()))
        if stack is None:
            return catalog
        catalog = permitted(catalog, claims, self.settings, stack, refused=refused)
        with taken_by(refused):
            catalog = replace(catalog, uids_from=self.uids_from(stack))
        return offered(catalog, stack)

    def _words(self, files: Collection[str]) -> frozenset[str]:
        """The words in files of the platform."""
        below = [self.root / file for file in files if file.startswith("components/")]
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in below if path.is_file())
        return frozenset(word for text in texts for word in _WORD.findall(text))

    def given_documents(self, stack: str, *, refused: Refused | None = None) -> list[Document]:
        """The resources that a stack's files provide."""
        folder = self.root / "stacks" / stack / "resources"
        return load([folder], root=self.root, refused=refused) if folder.is_dir() else []

    @cached_property
    def _table(self) -> Table:
        """The table, with the rows that the platform's definitions of managed resources add by convention."""
        table = read_table(self._tables("references.yaml"))
        by_rule = reference_fields(d.data for d in self._definitions())
        return {kind: {**by_rule.get(kind, {}), **table.get(kind, {})} for kind in {**by_rule, **table}}

    def _definitions(self) -> list[Document]:
        """The CustomResourceDefinitions in the platform's files; what cannot be read is reported with the catalog."""
        found: list[Document] = []
        for path in self.platform_files():
            with suppress(EngineError):
                if CRD.kind in read_text(path, root=self.root):
                    found += [d for d in load([path], root=self.root) if _is_definition(d)]
        return found

    def table(self) -> Table:
        """What a selector may select."""
        return self._table

    def bindable(self) -> Bindable:
        """Which kinds of claim may be served by which kinds of resource."""
        return read_bindable(self._tables("bindable.yaml"))

    def kinds(self) -> KindTable:
        """Which fields of which kinds cannot be changed in place, and what holds data."""
        return read_kind_table(self._tables("review.yaml"))

    def built_in_kinds(self) -> set[GroupKind]:
        """The kinds that the built-in tables of references and of reviews have."""
        kinds = read_kind_table(_built_in("review.yaml"))
        return kinds_of(read_table(_built_in("references.yaml"))) | {*kinds.replaced, *kinds.immutable}

    def _tables(self, name: str) -> list[Document]:
        """A built-in table, and what the project adds to it."""
        own = self.components / name
        added = load([own], root=self.root) if own.exists() and name not in self.left_out else []
        return [*_built_in(name), *added]

    def readable(self, refused: Refused) -> Self:
        """The project without those of its tables that cannot be read; `refused` takes their problems."""
        broken: set[str] = set()
        for name, read in (
            ("references.yaml", self.table),
            ("bindable.yaml", self.bindable),
            ("review.yaml", self.kinds),
        ):
            try:
                read()
            except EngineError as error:
                refused(error)
                broken.add(name)
        return replace(self, left_out=frozenset(broken)) if broken else self

    def records(self, stack: str) -> list[Record]:
        """The recorded bindings of a stack."""
        text, file = self._bindings(stack)
        return [] if text is None else bindings_file.read(text, file=file, origin=f"{self.name}/{stack}")

    def uids_from(self, stack: str) -> str:
        """The project and stack that the uids of a stack's claims are derived from: those of its first binding."""
        text, file = self._bindings(stack)
        return (bindings_file.origin_of(text, file=file) if text is not None else "") or f"{self.name}/{stack}"

    def repair_records(self, stack: str, claims: Collection[str]) -> None:
        """Remove broken and doubled records of these claims, so that the others can be read again."""
        text, file = self._bindings(stack)
        if text is not None:
            write_atomically(self.root / file, bindings_file.repaired(text, claims, file=file, stack=stack))

    def _bindings(self, stack: str) -> tuple[str | None, str]:
        """The text of a stack's bindings file, None where there is none; and its path in the project."""
        path = self.bindings_path(stack)
        shown = path.relative_to(self.root).as_posix()
        if path in self.pending:
            return self.pending[path], shown
        return read_text(path, root=self.root) if path.exists() else None, shown

    def _recorded(self, stack: str, refused: Refused | None) -> list[Record]:
        """The records of a stack; none, where they are broken and somebody takes their problems."""
        with taken_by(refused):
            return self.records(stack)
        return []

    def declared_functions(self, *, programs: bool) -> functions.Declared:
        """The functions that the project declares; without `programs`, those that run its code refuse to."""
        return functions.of_project(self.root, self.settings.functions, programs=programs)

    def names_cluster(self, stack: str) -> bool:
        """Whether the stack's config names a cluster, or asks for records in one."""
        return settings.is_set(self.root, stack, "kubeconfig") or self.setting(stack, "records") == "true"

    def scopes(self, catalog: Catalog) -> Scopes:
        """Which kinds are namespaced, as far as the project's files declare."""
        managed = dict.fromkeys(self._managed(), False)
        defined = {d.group_kind: d.namespaced for d in catalog.definitions.values()}
        required = {d.requirement: True for d in catalog.definitions.values() if d.requirement}
        defined |= {x.kind: x.namespaced for x in catalog.crossplane.xrds.values()}
        required |= {x.claim: True for x in catalog.crossplane.xrds.values() if x.claim}
        return Scopes({**managed, **scopes_of_crds(d.data for d in catalog.crds), **defined, **required})

    def _managed(self) -> set[GroupKind]:
        """The kinds of managed resources that the tables know."""
        return kinds_of(self.table())


def _is_definition(document: Document) -> bool:
    if GroupKind.of(document.data) != CRD:
        return False
    with suppress(EngineError):
        crds.refuse_unsound(document)
        return True
    return False


def _built_in(name: str) -> list[Document]:
    text = resources.files("claimsmith").joinpath(f"data/{name}").read_text(encoding="utf-8")
    return read_documents(text, file=f"claimsmith/data/{name}")


@dataclass(slots=True)
class FilesWithProblems:
    """Takes errors in the place of another, and remembers the files that they are about."""

    refused: Refused
    files: set[str] = field(default_factory=set)

    def __call__(self, error: EngineError) -> None:
        """Take an error."""
        self.files |= {problem.where.file for problem in error.problems if problem.where}
        self.refused(error)


@contextmanager
def taken_by(refused: Refused | None) -> Iterator[None]:
    """Let somebody take an error that is raised inside; without anybody it goes on."""
    try:
        yield
    except EngineError as error:
        if refused is None:
            raise
        refused(error)
