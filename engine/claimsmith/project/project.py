"""A project on disk: its files as a catalog, and the plan of each of its stacks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import BindingError, ComposeError, EngineError, LoadError, Problem
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.compose import clusters, external_names, released, scheduling
from claimsmith.compose.expand import Expansion, expand
from claimsmith.compose.native_types import native_types
from claimsmith.compose.piped import Live
from claimsmith.compose.plan import GivenResource, Plan, given_resource
from claimsmith.compose.planning import build_plan
from claimsmith.compose.reference_table import kinds_of, read_table
from claimsmith.compose.references import Table
from claimsmith.compose.scheduling import Schedule
from claimsmith.compose.sinks import with_sinks
from claimsmith.dialects.common.bindable import Bindable, read_bindable
from claimsmith.kubernetes import crds
from claimsmith.kubernetes.scope import Scopes, scopes_of_crds
from claimsmith.platform import binding, bindings_file, crd_set
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog, offered, read_catalog
from claimsmith.platform.permissions import permitted
from claimsmith.platform.settings import Settings
from claimsmith.platform.settings import read as read_settings
from claimsmith.platform.unread import Unread, unread_fields
from claimsmith.project import functions, sdks, settings
from claimsmith.project.connection_settings import wants_sink
from claimsmith.project.layout import Layout
from claimsmith.project.load import load, read_text
from claimsmith.project.named_providers import NamedProvider, providers_in_files
from claimsmith.project.review_table import KindTable, read_kind_table
from claimsmith.project.writing import write_atomically


@dataclass(frozen=True)
class Project(Layout):
    """A project's root and what can be read below it."""

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

    def catalog(self, stack: str | None = None) -> Catalog:
        """The platform's classes, with the claims of a stack where one is named."""
        platform = load(self.platform_files(), root=self.root)
        folder = self.root / "stacks" / stack / "claims" if stack else None
        claims = load([folder], root=self.root) if folder and folder.is_dir() else []
        given = self.given_documents(stack) if stack else []
        catalog = read_catalog(platform, claims, bindable=self.bindable(), managed=self._managed(), resources=given)
        if stack is None:
            return catalog
        catalog = permitted(catalog, claims, self.settings, stack)
        return offered(replace(catalog, uids_from=self.uids_from(stack)), stack)

    def given_documents(self, stack: str) -> list[Document]:
        """The resources that a stack's files provide."""
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
        return read_text(path, root=self.root) if path.exists() else None, path.relative_to(self.root).as_posix()

    def expand(
        self,
        stack: str,
        *,
        rebind: frozenset[ClaimKey] = frozenset(),
        repick: frozenset[ClaimKey] = frozenset(),
        live: Live | None = None,
    ) -> tuple[Catalog, Expansion]:
        """Every claim of a stack with its class, recorded or selected now, and its children."""
        self.check_stack(stack)
        catalog = self.catalog(stack)
        records = [replace(r, picks={}) if r.claim in repick else r for r in self.records(stack)]
        scopes = self.scopes(catalog)
        return catalog, expand(
            catalog,
            records,
            project=self.name,
            stack=stack,
            scopes=scopes,
            rebind=rebind,
            types=native_types(sdks.index_of),
            live=live,
            # A deployment runs the project's code anyway; other commands also read branches of strangers.
            declared=functions.of_project(self.root, self.settings.functions, programs=live is not None),
        )

    def schedule(
        self, stack: str, catalog: Catalog, expansion: Expansion, *, rebind: frozenset[ClaimKey] = frozenset()
    ) -> Schedule:
        """Every application of a stack with its target, recorded or selected now."""
        records = self.records(stack)
        return scheduling.schedule(catalog, expansion, records, project=self.name, stack=stack, rebind=rebind)

    def unread(self, stack: str, catalog: Catalog, *, strict: bool = False) -> Unread:
        """The fields of a stack's claims that nothing reads; the stack's config may make this `strict`."""
        return unread_fields(catalog, strict=strict or self.setting(stack, settings.STRICT) == "true")

    def names_cluster(self, stack: str) -> bool:
        """Whether the stack's config names a cluster, or asks for records in one."""
        return settings.is_set(self.root, stack, "kubeconfig") or self.setting(stack, "records") == "true"

    def plan(
        self,
        stack: str,
        *,
        unrecorded_ok: bool = False,
        strict: bool = False,
        cluster: bool | None = None,
        live: Live | None = None,
    ) -> Plan:
        """The plan of a stack. A binding that is not recorded is refused, or warned about.

        Fields that nothing reads are kept with the plan: whoever deploys it refuses some of them. `cluster` is whether
        the stack's config names a cluster; by default, that is read from the files. `live` is what exists in the
        cluster, for the pipelines of compositions.
        """
        catalog, expansion = self.expand(stack, live=live)
        schedule = self.schedule(stack, catalog, expansion)
        missing = binding.unrecorded(expansion.bindings(), stack) + scheduling.unrecorded(schedule.placements, stack)
        if missing and not unrecorded_ok:
            raise BindingError(*missing)
        plan = self.planned(
            stack, catalog, expansion, schedule, warnings=[*catalog.warnings, *missing], cluster=cluster
        )
        if taken := self.taken_names(plan):
            raise ComposeError(*taken)
        left = released.released(catalog, self.records(stack), project=self.name, stack=stack)
        return replace(plan, released=tuple(left), unread=self.unread(stack, catalog, strict=strict))

    def planned(
        self,
        stack: str,
        catalog: Catalog,
        expansion: Expansion,
        schedule: Schedule,
        *,
        warnings: Sequence[Problem] = (),
        cluster: bool | None = None,
    ) -> Plan:
        """The plan of what a stack's claims and applications were expanded to."""
        plan = build_plan(
            expansion,
            project=self.name,
            stack=stack,
            table=self.table(),
            given=self.given(catalog),
            warnings=warnings,
            schedule=schedule,
            scopes=self.scopes(catalog),
        )
        plan = clusters.settled(plan, cluster=self.names_cluster(stack) if cluster is None else cluster)
        if not wants_sink(self.root, stack):
            return plan
        return with_sinks(plan, catalog, self.table(), native_types(sdks.index_of))

    def taken_names(self, plan: Plan) -> list[Problem]:
        """Names outside the stack that claims of a plan set, and that belong to other claims of this project."""
        mine = external_names.names(plan)
        chosen = any(name.chosen for name in mine)
        others = [n for stack in self._neighbours(plan.stack) for n in self._names_in(stack)] if chosen else []
        natives = external_names.physical_names(plan, native_types(sdks.index_of).name)
        return list(external_names.taken([*mine, *natives], others))

    def _neighbours(self, stack: str) -> list[str]:
        """The other stacks that are deployed to the same cluster, by their config."""
        place = [self.setting(stack, name) for name in ("kubeconfig", "context")]
        return [
            s for s in self.stacks() if s != stack and [self.setting(s, n) for n in ("kubeconfig", "context")] == place
        ]

    def _names_in(self, stack: str) -> list[external_names.Named]:
        """The external names in another stack; one that cannot be planned is reported when it is deployed itself.

        A class that changed since its claims were bound hides no names: they are composed by its current text.
        """
        for anew in (False, True):
            with suppress(EngineError):
                rebind = frozenset(r.claim for r in self.records(stack)) if anew else frozenset()
                catalog, expansion = self.expand(stack, rebind=rebind)
                return external_names.names(self.planned(stack, catalog, expansion, Schedule()))
        return []

    def given(self, catalog: Catalog) -> list[GivenResource]:
        """The resources that a stack's files provide, for its plan."""
        scopes, managed = self.scopes(catalog), catalog.managed
        return [
            given_resource(k, d.data, namespaced=scopes.namespaced(k.group_kind), managed=k.group_kind in managed)
            for k, d in catalog.resources.items()
        ]

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


def find_root(start: Path | None = None) -> Path:
    """The nearest folder, from here upwards, that holds a Pulumi.yaml."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "Pulumi.yaml").is_file():
            return folder
    what = "this is no claimsmith project: no Pulumi.yaml here or above"
    raise LoadError(Problem(what, fix="change into the project's folder, or use --project FOLDER"))


def crds_needed(root: Path, stack: str | None = None) -> list[dict[str, Any]]:
    """The CRDs of a platform's kinds, of what its classes compose and of what a stack, or each stack, provides.

    Permissive ones where the project has none.
    """
    project = Project(root)
    stacks: list[str | None] = [stack] if stack else [None, *project.stacks()]
    return crds.merge_crds([crd for name in stacks for crd in crd_set.needed_crds(project.catalog(name))])
