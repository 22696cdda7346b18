"""The stack's program: from the plan to registered components. `stacks/__main__.py` calls `run`."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
from pulumi.runtime import settings

from claimsmith.base.errors import DeployError, EngineError, GenerateError, ModelError, Problem, in_order
from claimsmith.compose.candidates import candidate_of
from claimsmith.compose.clusters import needs_cluster
from claimsmith.compose.drafts import claim_data
from claimsmith.compose.plan import GivenResource, Plan, PlannedClaim, candidate_of_given
from claimsmith.compose.provider_names import unknown_providers, used_providers
from claimsmith.compose.references import Table
from claimsmith.compose.sinks import has_natives
from claimsmith.deploy import connection_outputs, deployed, failures, preflight
from claimsmith.deploy.component import Composite
from claimsmith.deploy.connection_sink import sink_class, sink_of
from claimsmith.deploy.context import Context, cluster_provider
from claimsmith.deploy.deployed import Reading
from claimsmith.deploy.left_behind import SETTING, LeftBehind, named_stacks
from claimsmith.deploy.members import Members, find_members
from claimsmith.deploy.named_providers import configured, registered
from claimsmith.deploy.native_static import reading_component
from claimsmith.deploy.other_stacks import export_provided
from claimsmith.deploy.pipelines import LiveObjects, needs_state, unseen_parts
from claimsmith.deploy.presence import refuse_missing
from claimsmith.deploy.provider import Taken
from claimsmith.deploy.released import ReleasedComposite
from claimsmith.deploy.static import refuse_held, static_component
from claimsmith.deploy.takeovers import conflicts_ahead
from claimsmith.deploy.target_clusters import credentials_of, refuse_foreign_objects
from claimsmith.deploy.temporary import tidy
from claimsmith.deploy.values import once_known
from claimsmith.deploy.workloads import application_data, component_of, deploy_workloads
from claimsmith.dialects.common.klass import Class
from claimsmith.kubernetes.client import Cluster
from claimsmith.project import functions, workspace
from claimsmith.project.checkpoint import HeldObject
from claimsmith.project.components import component_problems, order_problems
from claimsmith.project.connection_settings import CONNECTIONS, ConnectionSettings, read_connection_settings
from claimsmith.project.layout import Layout
from claimsmith.project.named_providers import NamedProvider
from claimsmith.project.project import Project, find_root
from claimsmith.project.settings import STRICT


def run(start: Path | None = None) -> None:
    """Deploy the stack that the engine runs. Errors of the user end the run with their message, without a traceback."""
    settle()
    try:
        project = Project(find_root(start))
        settings = pulumi.Config("claimsmith")
        stack = pulumi.get_stack()
        reading = deployed.Reading(project.root, _full_name(stack))
        strict = settings.get(STRICT) == "true"
        records = bool(settings.get_bool("records"))
        named = records or bool(settings.get("kubeconfig"))
        live = LiveObjects(
            lambda: workspace.stack_cluster(project, settings.get("kubeconfig"), settings.get("context"))
        )
        try:
            plan = project.plan(
                stack, unrecorded_ok=settings.get("bind") == "auto", strict=strict, cluster=named, live=live
            )
        finally:
            # All pipelines have run. The engine may take long, and needs none of their functions.
            functions.stop()
        if plan.unread.errors:
            raise ModelError(*plan.unread.errors)
        components = components_of(project, plan)
        if needs_cluster(plan, records=records):
            surroundings = _surroundings(project, plan, live.cluster, settings, reading, records=records)
        else:
            surroundings = Surroundings()
        providers = _providers(project, plan)
        settle()
        deploy(
            plan,
            components,
            surroundings,
            table=project.table(),
            records=records,
            providers=Providers(
                registered(providers, used_providers(plan)),
                {f"{p.name}:{key}": value for p in providers.values() for key, value in p.config.items()},
            ),
            connections=_connections(project, stack, settings),
            unseen=unseen_parts(plan, reading.result()) if needs_state(plan) else {},
        )
    except EngineError as error:
        raise pulumi.RunError(str(error)) from error


def settle() -> None:
    """Keep everything that there is now, modules or a plan: the garbage collector need not look through it again."""
    gc.freeze()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The cluster of a stack, and what was found there before the engine runs; none where the stack has no cluster."""

    cluster: Cluster | None = None
    identifier: str = ""
    members: Members = field(default_factory=Members)
    taken: Mapping[str, Taken] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Providers:
    """The providers of the stack's config, and their settings as `name:setting`."""

    resources: Mapping[str, pulumi.ProviderResource]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Connections:
    """Where connection details go beside the stack's output."""

    layout: Layout
    settings: ConnectionSettings
    sink: type[Composite] | None = None
    """The component of the native sink."""


def _connections(project: Project, stack: str, settings: pulumi.Config) -> Connections:
    """Where the stack's config wants connection details, with the component of the sink."""
    wanted = read_connection_settings(_structured(settings, CONNECTIONS))
    if not wanted.sink:
        return Connections(project, wanted)
    klass = sink_class(project.catalog(stack))
    if problems := component_problems(project, [klass]):
        raise GenerateError(*problems)
    return Connections(project, wanted, load_component(project, klass))


def _providers(project: Project, plan: Plan) -> dict[str, NamedProvider]:
    """The providers of the stack's config; a child that names another is refused."""
    providers = configured(project.root, plan.stack)
    packages = {name: provider.package for name, provider in providers.items()}
    if problems := list(unknown_providers(plan, packages)):
        raise DeployError(*in_order(problems))
    return providers


def _structured(settings: pulumi.Config, name: str) -> Any:
    """A setting that is an object, as the engine has it; None where there is none."""
    return pulumi.runtime.config.get_config(settings.full_key(name))


def _surroundings(
    project: Project, plan: Plan, cluster: Cluster, settings: pulumi.Config, reading: Reading, *, records: bool
) -> Surroundings:
    """The stack's cluster, once no object there blocks the plan."""
    tidy(plan.stack, cluster)
    identity = cluster.identity()
    preflight.refuse_another_cluster(project, plan.stack, identity, keep=not pulumi.runtime.is_dry_run())
    refuse_missing(plan, cluster)
    left = LeftBehind(
        plan.project,
        plan.stack,
        lambda stack: [o.key for o in deployed.read(project.root, _full_name(stack)).objects],
        named_stacks(settings.get(SETTING)),
    )
    taken = _refuse_foreign(plan, cluster, reading, left, records=records)
    for problem in conflicts_ahead(plan, cluster):
        pulumi.log.warn(str(problem))
    static = any(c.binding.klass.static for c in plan.claims)
    members = find_members(plan, project.catalog(plan.stack), cluster) if static else Members()
    return Surroundings(cluster, settings.get("cluster") or identity, members, taken)


def _full_name(stack: str) -> str:
    """The whole name of a stack of this project: with its organization and project."""
    return f"{pulumi.get_organization()}/{pulumi.get_project()}/{stack}"


def _refuse_foreign(
    plan: Plan, cluster: Cluster, reading: Reading, left: LeftBehind, *, records: bool
) -> dict[str, Taken]:
    """Refuse objects that somebody else owns; returns those to take over, by cluster, "" for the stack's own."""
    try:
        held = reading.result()
    except EngineError as error:
        # Nothing is lost: the provider refuses what would have been taken over, or merges into it before 4.29.
        pulumi.log.warn(str(error.problems[0]))
        held = None
    targets = {w.placement.target.cluster.identity for w in plan.workloads}
    known = held.within("", targets) if held else None
    own = preflight.refuse_foreign(plan, cluster, known, records=records, left=left)
    refuse_held(plan, cluster)
    return {**refuse_foreign_objects(plan, cluster, held), "": own}


def deploy(
    plan: Plan,
    components: dict[str, type[Composite]],
    surroundings: Surroundings,
    *,
    table: Table,
    records: bool = False,
    providers: Providers | None = None,
    connections: Connections | None = None,
    unseen: Mapping[str, Sequence[HeldObject]] | None = None,
) -> None:
    """Register every claim's component, and export a summary of each claim."""
    unbound = (u.problem for u in plan.unbound if not u.mistake)
    for problem in (*plan.warnings, *plan.unread.warnings, *surroundings.members.warnings, *unbound):
        pulumi.log.warn(str(problem))
    context = _context(plan, components, surroundings, table=table, records=records, providers=providers, unseen=unseen)
    for resource in sorted(plan.resources, key=_rank):
        context.provide(resource)
    context.problems.extend(u.problem for u in plan.unbound if u.mistake)
    registered_components: dict[str, Composite] = {}
    # Not in a function of its own: the SDK (3.272) reports all frames of the stack with each resource.
    for c in plan.claims:
        component = components[c.address](c.component_name, claim_data(c.binding), context=context)
        registered_components[c.address] = component
        context.add_claim(c.address, component)
    workloads = {address: w.summary() for address, w in deploy_workloads(context, plan).items()}
    for left in plan.released if records else ():
        ReleasedComposite(left, context)
    failures.watch(context, plan)
    summary = {c.address: _summary(c, registered_components[c.address]) for c in plan.claims}
    pulumi.export("claims", summary)
    export_provided(plan)
    if workloads:
        pulumi.export("workloads", workloads)
    details = connection_outputs.details_by_claim(plan.claims, registered_components)
    sinks = _sinks(context, plan, registered_components, details, connections.sink if connections else None)
    connection_outputs.export(details)
    # Not part of the exports: these are written, then the run fails.
    done: list[pulumi.Output[Any]] = [*summary.values(), *workloads.values(), *(sink.phase for sink in sinks)]
    if connections:
        done += connection_outputs.write_files(context, connections.layout, plan, connections.settings.file, details)
    _end: pulumi.Output[None] = once_known(done, lambda *_: True).apply(lambda _: fail_on(context.problems))


def _context(
    plan: Plan,
    components: Mapping[str, type[Composite]],
    surroundings: Surroundings,
    *,
    table: Table,
    records: bool,
    providers: Providers | None,
    unseen: Mapping[str, Sequence[HeldObject]] | None,
) -> Context:
    """What the components of a plan share."""
    cluster, taken = surroundings.cluster, surroundings.taken
    return Context(
        project=plan.project,
        stack=plan.stack,
        provider=cluster_provider(cluster, surroundings.identifier, taken=taken.get("")) if cluster else None,
        cluster=cluster,
        identifier=surroundings.identifier,
        targets=[
            *(candidate_of(child, claim.identity) for claim in plan.walk() for child in claim.children),
            *(candidate_of_given(resource) for resource in plan.resources),
        ],
        composites={
            **{c.address: (components[c.address], claim_data(c.binding)) for c in plan.walk()},
            **{w.address: (component_of(w), application_data(w)) for w in plan.workloads if w.placement.composed},
        },
        records=records,
        table=table,
        credentials=credentials_of(plan, cluster) if cluster else {},
        members=surroundings.members.of,
        picks=plan.picks,
        moved={c.binding.uid: c.binding.stack for c in plan.walk() if c.binding.stack},
        environments=plan.environments,
        taken=taken,
        providers=providers.resources if providers else None,
        provider_settings=providers.settings if providers else None,
        piped={c.address: c.piped for c in plan.walk() if c.piped},
        unseen=unseen,
    )


def _sinks(
    context: Context,
    plan: Plan,
    components: Mapping[str, Composite],
    details: Mapping[str, connection_outputs.Details],
    sink: type[Composite] | None,
) -> list[Composite]:
    """The native sink of each claim that has details."""
    claims = [claim for claim in plan.claims if sink and claim.address in details]
    return [sink_of(sink, c, components[c.address], details[c.address], context) for c in claims if sink]


def components_of(project: Project, plan: Plan) -> dict[str, type[Composite]]:
    """The component of each claim, by its address. One that serves many claims is loaded once.

    One that is missing, or that `generate` would write differently, is refused: what runs is what was reviewed.
    """
    classes = {id(c.binding.klass): c.binding.klass for c in plan.walk() if c.binding.klass.generated}
    if problems := component_problems(project, classes.values()) or order_problems(project, plan):
        raise GenerateError(*problems)
    loaded: dict[int, type[Composite]] = {}
    found: dict[str, type[Composite]] = {}
    for claim in plan.walk():
        klass = claim.binding.klass
        if klass.static:
            found[claim.address] = static_component(claim)
            continue
        if not klass.generated:
            found[claim.address] = reading_component(claim)
            continue
        if id(klass) not in loaded:
            loaded[id(klass)] = load_component(project, klass)
        found[claim.address] = loaded[id(klass)]
    return found


def load_component(project: Project, klass: Class) -> type[Composite]:
    """The generated component of a class."""
    path = project.component_path(klass)
    name = f"claimsmith_components.{path.parent.relative_to(project.root).as_posix()}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec, "a .py file can be imported"
        assert spec.loader, "a .py file has a loader"
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    wanted = (klass.reference(), klass.serves)
    found = (c for c in vars(sys.modules[name]).values() if isinstance(c, type) and issubclass(c, Composite))
    return next(c for c in found if (c.CLASS.reference(), c.CLAIM.group_kind) == wanted)


def _rank(resource: GivenResource) -> int:
    """Definitions first, then namespaces, then what lives in them."""
    order = ("CustomResourceDefinition", "Namespace")
    kind = str(resource.document["kind"])
    return order.index(kind) if kind in order else len(order)


def _summary(claim: PlannedClaim, component: Composite) -> pulumi.Output[dict[str, Any]]:
    published = claim.published
    secret = {"namespace": published.namespace, "name": published.name} if published else None
    following = [name for c in claim.walk() if c.piped for name in c.piped.following]

    def summary(phase: str, resources: list[dict[str, str]], keys: list[str]) -> dict[str, Any]:
        return {
            "class": str(claim.binding.klass.key),
            "reason": claim.binding.reason,
            "uid": claim.binding.uid,
            "phase": phase,
            "resources": resources,
            "connectionSecret": {**secret, "keys": keys} if secret else None,
            **({"connectionKeys": keys} if has_natives(claim) else {}),
            **({"following": following} if following else {}),
        }

    return once_known([component.phase, component.resources, component.connection_keys], summary)


async def fail_on(problems: list[Problem]) -> None:
    """End the run with all problems that were collected, once the engine has everything else, the exports too."""
    if problems:
        # The SDK (3.272) may await outputs before registrations: without this, it would end the program meanwhile.
        if calls := settings._get_rpc_manager().rpcs:
            await asyncio.wait([asyncio.ensure_future(call) for call in calls])
        raise pulumi.RunError("\n".join(str(p) for p in problems))
