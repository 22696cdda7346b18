"""A project on disk: the plan of each of its stacks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from claimsmith.base.errors import BindingError, Collector, ComposeError, EngineError, LoadError, Problem, Refused
from claimsmith.base.names import ClaimKey
from claimsmith.compose import clusters, external_names, released, scheduling
from claimsmith.compose.drafts import Expansion
from claimsmith.compose.expand import expand
from claimsmith.compose.native_types import native_types
from claimsmith.compose.piped import Live
from claimsmith.compose.plan import GivenResource, Plan, given_resource
from claimsmith.compose.planning import build_plan
from claimsmith.compose.scheduling import Schedule
from claimsmith.compose.sinks import with_sinks
from claimsmith.kubernetes import crds
from claimsmith.platform import binding, crd_set
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.unread import Unread, unread_fields
from claimsmith.project import sdks, settings
from claimsmith.project.connection_settings import wants_sink
from claimsmith.project.files import FilesWithProblems, ProjectFiles, taken_by


@dataclass(frozen=True)
class Project(ProjectFiles):
    """A project, and the plans of its stacks."""

    def expand(
        self,
        stack: str,
        *,
        rebind: frozenset[ClaimKey] = frozenset(),
        repick: frozenset[ClaimKey] = frozenset(),
        accept: Collection[str] = (),
        live: Live | None = None,
        refused: Refused | None = None,
    ) -> tuple[Catalog, Expansion]:
        """Every claim of a stack with its class, recorded or selected now, and its children.

        Changed classes of the names in `accept` serve their claims as they are now. `refused` takes all problems, where
        the rest is to be expanded all the same.
        """
        self.check_stack(stack)
        noted = FilesWithProblems(refused) if refused else None
        catalog = self.catalog(stack, refused=noted)
        recorded = binding.accepted(self._recorded(stack, refused), catalog, accept)
        records = [replace(r, picks={}) if r.claim in repick else r for r in recorded]
        scopes = self.scopes(catalog)
        expansion = expand(
            catalog,
            records,
            project=self.name,
            stack=stack,
            scopes=scopes,
            rebind=rebind,
            types=native_types(sdks.index_of),
            live=live,
            # A deployment runs the project's code anyway; other commands also read branches of strangers.
            declared=self.declared_functions(programs=live is not None),
            refused=refused,
        )
        return catalog, replace(expansion, complete=expansion.complete and not (noted and noted.files))

    def schedule(
        self,
        stack: str,
        catalog: Catalog,
        expansion: Expansion,
        *,
        rebind: frozenset[ClaimKey] = frozenset(),
        refused: Refused | None = None,
    ) -> Schedule:
        """Every application of a stack with its target, recorded or selected now."""
        with taken_by(refused):
            records = self.records(stack)
            return scheduling.schedule(catalog, expansion, records, project=self.name, stack=stack, rebind=rebind)
        return Schedule()

    def unread(self, stack: str, catalog: Catalog, *, strict: bool = False) -> Unread:
        """The fields of a stack's claims that nothing reads; the stack's config may make this `strict`."""
        return unread_fields(catalog, strict=strict or self.setting(stack, settings.STRICT) == "true")

    def plan(
        self,
        stack: str,
        *,
        unrecorded_ok: bool = False,
        strict: bool = False,
        cluster: bool | None = None,
        live: Live | None = None,
        refused: Refused | None = None,
    ) -> Plan:
        """The plan of a stack. A binding that is not recorded is refused, or warned about.

        Fields that nothing reads are kept with the plan: whoever deploys it refuses some of them. `cluster` is whether
        the stack's config names a cluster; by default, that is read from the files. `live` is what exists in the
        cluster, for the pipelines of compositions. `refused` takes the problems of all steps, each with the part of the
        stack that it concerns left out, so that one mistake does not hide another.
        """
        catalog, expansion = self.expand(stack, live=live, refused=refused)
        schedule = self.schedule(stack, catalog, expansion, refused=refused)
        missing = binding.unrecorded(expansion.bindings(), stack) + scheduling.unrecorded(schedule.placements, stack)
        if missing and not unrecorded_ok:
            raise BindingError(*missing)
        plan = self.planned(
            stack,
            catalog,
            expansion,
            schedule,
            warnings=[*catalog.warnings, *missing],
            cluster=cluster,
            refused=refused,
        )
        taken = Collector()
        taken.problems += self.taken_names(plan)
        taken.raise_as(ComposeError, refused)
        left = released.released(catalog, self._recorded(stack, refused), project=self.name, stack=stack)
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
        refused: Refused | None = None,
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
            refused=refused,
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
