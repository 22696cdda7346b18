"""The stack's program: from the plan to registered components. `stacks/__main__.py` calls `run`."""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi

from claimsmith import workspace
from claimsmith.checks import component_problems
from claimsmith.cluster import Cluster
from claimsmith.edge import deployed, failures, preflight
from claimsmith.edge.component import Composite
from claimsmith.edge.deployed import Reading
from claimsmith.edge.deployment import Deployment, cluster_provider
from claimsmith.edge.elsewhere import export_given
from claimsmith.edge.foreign import credentials_of, refuse_foreign_objects
from claimsmith.edge.members import Members, find_members
from claimsmith.edge.presence import refuse_missing
from claimsmith.edge.provider import Taken
from claimsmith.edge.released import ReleasedComposite
from claimsmith.edge.static import refuse_held, static_component
from claimsmith.edge.takeovers import conflicts_ahead
from claimsmith.edge.temporary import tidy
from claimsmith.edge.workloads import application_data, component_of, deploy_workloads
from claimsmith.errors import EngineError, GenerateError, ModelError, Problem
from claimsmith.expand import claim_data
from claimsmith.models.klass import Class
from claimsmith.plan import GivenResource, Plan, PlannedClaim, target_of, target_of_given
from claimsmith.project import STRICT, Project, find_root
from claimsmith.reference import Table


def run(start: Path | None = None) -> None:
    """Deploy the stack that the engine is asked for. The user's mistakes end the run with their text, no traceback."""
    # What is loaded by now stays: the collector need not look through it again and again.
    gc.freeze()
    try:
        project = Project(find_root(start))
        settings = pulumi.Config("claimsmith")
        stack = pulumi.get_stack()
        reading = deployed.Reading(project.root, f"{pulumi.get_organization()}/{pulumi.get_project()}/{stack}")
        strict = settings.get(STRICT) == "true"
        plan = project.plan(stack, unrecorded_ok=settings.get("bind") == "auto", strict=strict)
        if plan.unread.errors:
            raise ModelError(*plan.unread.errors)
        components = components_of(project, plan)
        cluster = workspace.stack_cluster(project, settings.get("kubeconfig"), settings.get("context"))
        tidy(stack, cluster)
        identity = cluster.identity()
        preflight.refuse_another_cluster(project, stack, identity, keep=not pulumi.runtime.is_dry_run())
        refuse_missing(plan, cluster)
        records = bool(settings.get_bool("records"))
        taken = _refuse_foreign(plan, cluster, reading, records=records)
        for problem in conflicts_ahead(plan, cluster):
            pulumi.log.warn(str(problem))
        static = any(c.binding.klass.static for c in plan.claims)
        members = find_members(plan, project.catalog(stack), cluster) if static else Members()
        deploy(
            plan,
            components,
            cluster,
            identifier=settings.get("cluster") or identity,
            table=project.table(),
            records=records,
            members=members,
            taken=taken,
        )
    except EngineError as error:
        raise pulumi.RunError("\n".join(str(p) for p in error.problems)) from error


def _refuse_foreign(plan: Plan, cluster: Cluster, reading: Reading, *, records: bool) -> dict[str, Taken]:
    """Refuse what is somebody else's, in any cluster; gives what is ours and taken over, "" for the stack's cluster."""
    try:
        held = reading.result()
    except EngineError as error:
        # Nothing is lost: what would have been taken over is refused by the provider, or merged into by older ones.
        pulumi.log.warn(str(error.problems[0]))
        held = None
    targets = {w.placement.target.cluster.identity for w in plan.workloads}
    own = preflight.refuse_foreign(plan, cluster, held.within("", targets) if held else None, records=records)
    refuse_held(plan, cluster)
    return {**refuse_foreign_objects(plan, cluster, held), "": own}


def deploy(
    plan: Plan,
    components: dict[str, type[Composite]],
    cluster: Cluster,
    *,
    identifier: str,
    table: Table,
    records: bool = False,
    members: Members | None = None,
    taken: Mapping[str, Taken] | None = None,
) -> None:
    """Register every claim's component, and export what the claims became."""
    bound = members or Members()
    unbound = (u.problem for u in plan.unbound if not u.mistake)
    for problem in (*plan.warnings, *plan.unread.warnings, *bound.said, *unbound):
        pulumi.log.warn(str(problem))
    deployment = Deployment(
        project=plan.project,
        stack=plan.stack,
        provider=cluster_provider(cluster, identifier, taken=(taken or {}).get("")),
        cluster=cluster,
        identifier=identifier,
        targets=[
            *(target_of(child, claim.identity) for claim in plan.walk() for child in claim.children),
            *(target_of_given(resource) for resource in plan.resources),
        ],
        composites={
            **{c.address: (components[c.address], claim_data(c.binding)) for c in plan.walk()},
            **{w.address: (component_of(w), application_data(w)) for w in plan.workloads if w.placement.composed},
        },
        records=records,
        table=table,
        credentials=credentials_of(plan, cluster),
        members=bound.of,
        picks=plan.picks,
        moved={c.binding.uid: c.binding.stack for c in plan.walk() if c.binding.stack},
        environments=plan.environments,
        taken=taken,
    )
    for resource in sorted(plan.resources, key=_rank):
        deployment.give(resource)
    deployment.problems.extend(u.problem for u in plan.unbound if u.mistake)
    made: dict[str, Composite] = {}
    for c in plan.claims:
        made[c.address] = components[c.address](c.component_name, claim_data(c.binding), context=deployment)
        deployment.made(c.address, made[c.address])
    workloads = {address: w.summary() for address, w in deploy_workloads(deployment, plan).items()}
    for left in plan.released if records else ():
        ReleasedComposite(left, deployment)
    failures.watch(deployment, plan)
    summary = {address: _summary(plan_of, made[address]) for address, plan_of in _by_address(plan).items()}
    pulumi.export("claims", summary)
    export_given(plan)
    if workloads:
        pulumi.export("workloads", workloads)
    # Not part of the exports: these are written, then the run fails.
    told = [output.apply(lambda _: True) for output in (*summary.values(), *workloads.values())]
    pulumi.Output.all(*told).apply(lambda _: _fail_on(deployment.problems))


def components_of(project: Project, plan: Plan) -> dict[str, type[Composite]]:
    """The component of each claim, by its address; one that serves many is loaded once.

    One that is missing, or is not what would be generated now, is refused: what runs is what a review told.
    """
    classes = {id(c.binding.klass): c.binding.klass for c in plan.walk() if not c.binding.klass.static}
    if problems := component_problems(project, classes.values()):
        raise GenerateError(*problems)
    loaded: dict[int, type[Composite]] = {}
    found: dict[str, type[Composite]] = {}
    for claim in plan.walk():
        klass = claim.binding.klass
        if klass.static:
            found[claim.address] = static_component(claim)
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
        spec.loader.exec_module(module)
    wanted = (klass.reference(), klass.serves)
    found = (c for c in vars(sys.modules[name]).values() if isinstance(c, type) and issubclass(c, Composite))
    return next(c for c in found if (c.CLASS.reference(), c.CLAIM.group_kind) == wanted)


def _rank(resource: GivenResource) -> int:
    """Definitions first, then namespaces, then what lives in them."""
    order = ("CustomResourceDefinition", "Namespace")
    kind = str(resource.document["kind"])
    return order.index(kind) if kind in order else len(order)


def _by_address(plan: Plan) -> dict[str, PlannedClaim]:
    return {c.address: c for c in plan.claims}


def _summary(claim: PlannedClaim, made: Composite) -> pulumi.Output[dict[str, Any]]:
    secret = {"namespace": claim.connection.namespace, "name": claim.connection.name} if claim.connection else None

    def summary(phase: str, resources: list[dict[str, str]], keys: list[str]) -> dict[str, Any]:
        return {
            "class": str(claim.binding.klass.key),
            "reason": claim.binding.reason,
            "uid": claim.binding.uid,
            "phase": phase,
            "resources": resources,
            "connectionSecret": {**secret, "keys": keys} if secret else None,
        }

    # Not by Output.all, which makes Outputs of everything inside a value again.
    return made.phase.apply(
        lambda phase: made.resources.apply(
            lambda resources: made.connection_keys.apply(lambda keys: summary(phase, resources, keys))
        )
    )


def _fail_on(problems: list[Problem]) -> None:
    """End the run with everything that went wrong on the way, once."""
    if problems:
        raise pulumi.RunError("\n".join(str(p) for p in problems))
