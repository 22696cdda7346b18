"""The stack's program: from the plan to registered components. `stacks/__main__.py` calls `run`."""

from __future__ import annotations

import gc
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pulumi

from claimsmith import workspace
from claimsmith.checks import component_problems
from claimsmith.cluster import Cluster
from claimsmith.edge import failures, preflight
from claimsmith.edge.component import Composite
from claimsmith.edge.deployment import Deployment, kubernetes_provider
from claimsmith.edge.elsewhere import export_given
from claimsmith.edge.foreign import credentials_of, refuse_foreign_objects
from claimsmith.edge.members import Members, find_members
from claimsmith.edge.presence import refuse_missing
from claimsmith.edge.released import ReleasedComposite
from claimsmith.edge.static import refuse_held, static_component
from claimsmith.edge.temporary import tidy
from claimsmith.edge.workloads import application_data, component_of, deploy_workloads
from claimsmith.errors import EngineError, GenerateError, Problem
from claimsmith.expand import claim_data
from claimsmith.generate import class_name
from claimsmith.models.klass import Class
from claimsmith.plan import GivenResource, Plan, PlannedClaim, target_of, target_of_given
from claimsmith.project import Project, find_root
from claimsmith.reference import Table


def run(start: Path | None = None) -> None:
    """Deploy the stack that the engine is asked for. The user's mistakes end the run with their text, no traceback."""
    # What is loaded by now stays: the collector need not look through it again and again.
    gc.freeze()
    try:
        project = Project(find_root(start))
        settings = pulumi.Config("claimsmith")
        stack = pulumi.get_stack()
        plan = project.plan(stack, unrecorded_ok=settings.get("bind") == "auto")
        components = _components(project, plan)
        cluster = workspace.stack_cluster(project, settings.get("kubeconfig"), settings.get("context"))
        tidy(stack, cluster)
        identity = cluster.identity()
        preflight.refuse_another_cluster(project, stack, identity, keep=not pulumi.runtime.is_dry_run())
        refuse_missing(plan, cluster)
        preflight.refuse_foreign_secrets(plan, cluster)
        preflight.refuse_foreign_given(plan, cluster)
        refuse_held(plan, cluster)
        refuse_foreign_objects(plan, cluster)
        static = any(c.binding.klass.static for c in plan.claims)
        members = find_members(plan, project.catalog(stack), cluster) if static else Members()
        deploy(
            plan,
            components,
            cluster,
            identifier=settings.get("cluster") or identity,
            table=project.table(),
            records=bool(settings.get_bool("records")),
            members=members,
        )
    except EngineError as error:
        raise pulumi.RunError("\n".join(str(p) for p in error.problems)) from error


def deploy(
    plan: Plan,
    components: dict[str, type[Composite]],
    cluster: Cluster,
    *,
    identifier: str,
    table: Table,
    records: bool = False,
    members: Members | None = None,
) -> None:
    """Register every claim's component, and export what the claims became."""
    bound = members or Members()
    for problem in (*plan.warnings, *bound.said, *(u.problem for u in plan.unbound if not u.mistake)):
        pulumi.log.warn(str(problem))
    deployment = Deployment(
        project=plan.project,
        stack=plan.stack,
        provider=kubernetes_provider(cluster, identifier),
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
    )
    Deployment.begin(deployment)
    for resource in sorted(plan.resources, key=_rank):
        deployment.give(resource)
    deployment.problems.extend(u.problem for u in plan.unbound if u.mistake)
    made: dict[str, Composite] = {}
    for c in plan.claims:
        made[c.address] = components[c.address](c.component_name, claim_data(c.binding))
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


def _components(project: Project, plan: Plan) -> dict[str, type[Composite]]:
    """The component of each claim, by its address; one that serves many is loaded once."""
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
    """The generated component of a class; one that is missing or stale is refused."""
    problems = component_problems(project, klass)
    if problems:
        raise GenerateError(*problems)
    path = project.component_path(klass)
    name = f"claimsmith_components.{path.parent.relative_to(project.root).as_posix()}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec, "a .py file can be imported"
        assert spec.loader, "a .py file has a loader"
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    component: type[Composite] = getattr(sys.modules[name], class_name(klass))
    return component


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
