"""A claimsmith project on disk: where its classes, claims and bindings are, and the plan that they make.

Pulumi.yaml                       the project's name, and settings of all its stacks
stacks/Pulumi.<stack>.yaml        settings of one stack; the engine keeps the salt of its passphrase there
claimsmith.yaml                   what the platform lets the files below claims/ say
components/<name>/*.yaml          the platform's classes; components/references.yaml extends the reference table,
                                  components/review.yaml what a review knows of kinds
stacks/<stack>/claims/*.yaml      the claims of an environment
stacks/<stack>/resources/*.yaml   what the platform gives there as it is: static resources, published clusters
stacks/<stack>/bindings.yaml      which class serves each claim
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from claimsmith import binding, bindings_file, crd_set, crds, external_names, released, workload
from claimsmith.binding import Record
from claimsmith.catalog import Catalog, offered, read_catalog
from claimsmith.documents import Document, read_documents
from claimsmith.errors import BindingError, ComposeError, EngineError, LoadError, Problem, Source, WriteError, nearest
from claimsmith.expand import Expansion, expand
from claimsmith.load import leads_out, load, read_text, yaml_files
from claimsmith.models import settings
from claimsmith.models.bindable import Bindable, read_bindable
from claimsmith.models.klass import Class
from claimsmith.models.objects import ClaimKey, GroupKind
from claimsmith.models.reference_table import kinds_of, read_table
from claimsmith.models.review_table import KindTable, read_kind_table
from claimsmith.models.settings import Settings
from claimsmith.permissions import permitted
from claimsmith.plan import GivenResource, Plan, build_plan, given_resource
from claimsmith.reference import Table
from claimsmith.scope import Scopes, scopes_of_crds
from claimsmith.unread import Unread, unread_fields
from claimsmith.values import object_at
from claimsmith.workload import Schedule

TABLES = ("references.yaml", "bindable.yaml", "review.yaml")
STRICT = "strict"
"""The setting by which a stack refuses claims with fields that nothing reads."""
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

    def folder(self) -> str:
        """Where the project stands in its repository, as the beginning of a path; empty at its root, or without one."""
        for parent in (self.root, *self.root.parents):
            if (parent / ".git").exists():
                inner = self.root.relative_to(parent).as_posix()
                return "" if inner == "." else f"{inner}/"
        return ""

    def stacks(self) -> list[str]:
        """The environments: every folder below stacks/ that holds claims, resources or bindings.

        git keeps no empty folders: a stack whose last claim was removed still has its bindings, and what it deployed.
        """
        parts = [
            p for name in ("claims", "resources", "bindings.yaml") for p in (self.root / "stacks").glob(f"*/{name}")
        ]
        return sorted({p.parent.name for p in parts})

    def configs(self, stack: str) -> list[Document]:
        """The files of the engine that configure a stack, its own first; one that is missing configures nothing."""
        paths = [self.root / "stacks" / f"Pulumi.{stack}.yaml", self.root / "Pulumi.yaml"]
        try:
            return [d for path in paths if path.is_file() for d in load([path], root=self.root)[:1]]
        except LoadError as error:
            # Settings may be secrets, and what is wrong with YAML is told by quoting some of it.
            raise LoadError(*(replace(p, what="not valid YAML") for p in error.problems)) from None

    def setting(self, stack: str, name: str) -> str | None:
        """A setting of ours, as text: the stack's own, else the one for all stacks; None where there is neither."""
        key = f"claimsmith:{name}"
        value = next((found[key] for d in self.configs(stack) if key in (found := object_at(d.data, "config"))), None)
        # In Pulumi.yaml an entry may be an object that says more than its value.
        value = value.get("value") if isinstance(value, dict) else value
        return value if isinstance(value, str) or value is None else str(value).lower()

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
        folder = self.root / "stacks" / stack / "claims" if stack else None
        claims = load([folder], root=self.root) if folder and folder.is_dir() else []
        given = self.given_documents(stack) if stack else []
        catalog = read_catalog(platform, claims, bindable=self.bindable(), managed=self._managed(), resources=given)
        if stack is None:
            return catalog
        catalog = permitted(catalog, claims, self.settings, stack)
        return offered(replace(catalog, uids_from=self.uids_from(stack)), stack)

    @cached_property
    def settings(self) -> Settings:
        """What the platform lets application teams say, from claimsmith.yaml."""
        return settings.read(self.settings_document)

    @cached_property
    def settings_document(self) -> Document | None:
        """The file that says so; None where there is none."""
        path = self.root / settings.FILE
        if not path.exists():
            return None
        documents = load([path], root=self.root)
        if len(documents) != 1:
            # An empty one would permit more than none of its entries does.
            fix = "join the documents into one" if documents else "remove the file, or write its entries"
            where = documents[1].source_of() if documents else Source(settings.FILE)
            raise LoadError(Problem(f"{settings.FILE} holds one document", where, fix=fix))
        return documents[0]

    def given_documents(self, stack: str) -> list[Document]:
        """What a stack's files give as it is."""
        folder = self.root / "stacks" / stack / "resources"
        return load([folder], root=self.root) if folder.is_dir() else []

    @cached_property
    def _table(self) -> Table:
        return read_table(self._tables("references.yaml"))

    def table(self) -> Table:
        """What a selector may select."""
        return self._table

    def bindable(self) -> Bindable:
        """Which kinds of claim may be served by which kinds of resource."""
        return read_bindable(self._tables("bindable.yaml"))

    def kinds(self) -> KindTable:
        """Which fields of which kinds cannot be changed in place, and what holds data."""
        return read_kind_table(self._tables("review.yaml"))

    def _tables(self, name: str) -> list[Document]:
        """A built-in table, and what the project adds to it."""
        built_in = resources.files("claimsmith").joinpath(f"data/{name}").read_text(encoding="utf-8")
        own = self.components / name
        return [
            *read_documents(built_in, file=f"claimsmith/data/{name}"),
            *(load([own], root=self.root) if own.exists() else []),
        ]

    def bindings_path(self, stack: str) -> Path:
        """Where a stack's bindings are recorded."""
        return self.own(self.root / "stacks" / stack / "bindings.yaml")

    def records(self, stack: str) -> list[Record]:
        """The recorded bindings of a stack."""
        path = self.bindings_path(stack)
        if not path.exists():
            return []
        file = path.relative_to(self.root).as_posix()
        return bindings_file.read(read_text(path, root=self.root), file=file, origin=f"{self.name}/{stack}")

    def uids_from(self, stack: str) -> str:
        """The project and stack that the uids of a stack's claims are derived from: those of its first binding."""
        path = self.bindings_path(stack)
        if not path.exists():
            return f"{self.name}/{stack}"
        file = path.relative_to(self.root).as_posix()
        return bindings_file.origin_of(read_text(path, root=self.root), file=file) or f"{self.name}/{stack}"

    def mend_records(self, stack: str, claims: Collection[str]) -> None:
        """Remove broken and doubled records of these claims, so that the others can be read again."""
        path = self.bindings_path(stack)
        if path.exists():
            text, file = read_text(path, root=self.root), path.relative_to(self.root).as_posix()
            write_atomically(path, bindings_file.mended(text, claims, file=file, stack=stack))

    def expand(
        self, stack: str, *, rebind: frozenset[ClaimKey] = frozenset(), repick: frozenset[ClaimKey] = frozenset()
    ) -> tuple[Catalog, Expansion]:
        """Every claim of a stack with its class, recorded or chosen now, and its children."""
        self.check_stack(stack)
        catalog = self.catalog(stack)
        records = [replace(r, picks={}) if r.claim in repick else r for r in self.records(stack)]
        found = expand(
            catalog,
            records,
            project=self.name,
            stack=stack,
            scopes=self.scopes(catalog),
            rebind=rebind,
        )
        return catalog, found

    def schedule(
        self, stack: str, catalog: Catalog, found: Expansion, *, rebind: frozenset[ClaimKey] = frozenset()
    ) -> Schedule:
        """Every application of a stack with its target, recorded or chosen now."""
        records = self.records(stack)
        return workload.schedule(catalog, found, records, project=self.name, stack=stack, rebind=rebind)

    def unread(self, stack: str, catalog: Catalog, *, strict: bool = False) -> Unread:
        """The fields of a stack's claims that nothing reads; the stack's config may say that this is `strict`."""
        return unread_fields(catalog, strict=strict or self.setting(stack, STRICT) == "true")

    def plan(self, stack: str, *, unrecorded_ok: bool = False, strict: bool = False) -> Plan:
        """The plan of a stack. A binding that is not recorded is refused, or warned about.

        Fields that nothing reads are kept with the plan: whoever deploys it refuses some of them.
        """
        catalog, found = self.expand(stack)
        scheduled = self.schedule(stack, catalog, found)
        missing = [*binding.unrecorded(found.bindings(), stack), *workload.unrecorded(scheduled.placements, stack)]
        if missing and not unrecorded_ok:
            raise BindingError(*missing)
        plan = self.planned(stack, catalog, found, scheduled, warnings=[*catalog.warnings, *missing])
        if taken := self.taken_names(plan):
            raise ComposeError(*taken)
        left = released.released(catalog, self.records(stack), project=self.name, stack=stack)
        return replace(plan, released=tuple(left), unread=self.unread(stack, catalog, strict=strict))

    def planned(
        self, stack: str, catalog: Catalog, found: Expansion, scheduled: Schedule, *, warnings: Sequence[Problem] = ()
    ) -> Plan:
        """The plan of what a stack's claims and applications were expanded to."""
        return build_plan(
            found,
            project=self.name,
            stack=stack,
            table=self.table(),
            given=self.given(catalog),
            warnings=warnings,
            schedule=scheduled,
            scopes=self.scopes(catalog),
        )

    def taken_names(self, plan: Plan) -> list[Problem]:
        """External names that claims of a plan chose, and that belong to other claims of this project."""
        mine = external_names.names(plan)
        if not any(name.chosen for name in mine):
            return []
        others = [n for stack in self._neighbours(plan.stack) for n in self._names_in(stack)]
        return list(external_names.taken(mine, others))

    def _neighbours(self, stack: str) -> list[str]:
        """The other stacks that are deployed to the same cluster, as far as their config says."""
        place = [self.setting(stack, name) for name in ("kubeconfig", "context")]
        return [
            s for s in self.stacks() if s != stack and [self.setting(s, n) for n in ("kubeconfig", "context")] == place
        ]

    def _names_in(self, stack: str) -> list[external_names.Named]:
        """The external names in another stack; one that cannot be planned is reported when it is deployed itself.

        A class that changed since its claims were bound hides no names: they are composed by what it says now.
        """
        for anew in (False, True):
            with suppress(EngineError):
                rebind = frozenset(r.claim for r in self.records(stack)) if anew else frozenset()
                catalog, found = self.expand(stack, rebind=rebind)
                return external_names.names(self.planned(stack, catalog, found, Schedule()))
        return []

    def given(self, catalog: Catalog) -> list[GivenResource]:
        """The resources that a stack's files give as they are."""
        scopes, managed = self.scopes(catalog), catalog.managed
        return [
            given_resource(k, d.data, namespaced=scopes.namespaced(k.group_kind), managed=k.group_kind in managed)
            for k, d in catalog.resources.items()
        ]

    def scopes(self, catalog: Catalog) -> Scopes:
        """Which kinds are namespaced, as far as the project's files say."""
        managed = dict.fromkeys(self._managed(), False)
        defined = {d.group_kind: d.namespaced for d in catalog.definitions.values()}
        required = {d.requirement: True for d in catalog.definitions.values() if d.requirement}
        defined |= {x.kind: x.namespaced for x in catalog.today.xrds.values()}
        required |= {x.claim: True for x in catalog.today.xrds.values() if x.claim}
        return Scopes({**managed, **scopes_of_crds(d.data for d in catalog.crds), **defined, **required})

    def own(self, path: Path) -> Path:
        """The path of a file that is written or run, if nothing in it is a link that leads elsewhere."""
        if strange := leads_out(path, root=self.root):
            raise LoadError(strange)
        if path.is_symlink():
            shown = path.relative_to(self.root).as_posix()
            raise LoadError(Problem("this is a link, where a file is wanted", Source(shown), fix="remove the link"))
        return path

    def component_path(self, klass: Class) -> Path:
        """Where the component of a class stands: beside the class's YAML."""
        return self.own((self.root / klass.document.file).parent / "component.py")

    def _managed(self) -> set[GroupKind]:
        """The kinds of managed resources that the tables know."""
        return kinds_of(self.table())

    def _platform_files(self) -> list[Path]:
        if not self.components.is_dir():
            return []
        found = yaml_files(self.components, root=self.root)
        return [p for p in found if p not in {self.components / name for name in TABLES}]


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
    """The CRDs of a platform's kinds, of what its classes make and of what a stack, or each stack, gives.

    Permissive ones where none is given.
    """
    project = Project(root)
    stacks: list[str | None] = [stack] if stack else [None, *project.stacks()]
    return crds.merge_crds([crd for name in stacks for crd in crd_set.needed_crds(project.catalog(name))])


def output_path(path: Path, *, root: Path) -> Path:
    """Where a command writes what it was asked for, if no link of the repository is in the way.

    The repository's files are other people's: with a link among them they would say where we write. Links elsewhere,
    such as a home folder on another disk, are the user's own.
    """
    repository = next((f for f in (root, *root.parents) if (f / ".git").exists()), root).resolve()
    whole = path.absolute()
    for part in (whole, *whole.parents):
        if part.is_symlink() and part.parent.resolve().is_relative_to(repository):
            what = f"{str(path)!r} is not written: {part.name!r} in it is a link of the repository"
            raise WriteError(Problem(what, fix="remove the link, or write to a folder outside the repository"))
    return path


def write_atomically(path: Path, text: str, *, mode: int | None = None) -> bool:
    """Write a whole file or nothing; a file that already says so is left alone. Tells whether it was written."""
    if path.is_file() and not path.is_symlink() and path.read_bytes() == text.encode():
        return False
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file of its name that is there already is a killed run's, or a link that somebody left for us.
        partial.unlink(missing_ok=True)
        with partial.open("x", encoding="utf-8") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        _forget(partial)
        what = f"{path.name} in {path.parent} cannot be written: {error.strerror}"
        fix = "make room, or see to the rights; what was there before is as it was"
        raise WriteError(Problem(what, fix=fix)) from error
    except BaseException:
        _forget(partial)
        raise
    return True


def _forget(partial: Path) -> None:
    with suppress(OSError):
        partial.unlink(missing_ok=True)
