"""Applications in other clusters: their objects, created with the credentials of the target's cluster.

The credentials are read once the cluster is ready, so a cluster that is created in this run can be used in it. Each
cluster has one provider, whichever target points to it. Its identity is the cluster's kind and name, never its address:
a changed endpoint or token changes the provider in place, and replaces no workload.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi

from claimsmith.base.errors import Problem
from claimsmith.base.labels import OWNER, SECRET_TYPE
from claimsmith.compose import cluster_records
from claimsmith.compose.options import FIELD_MANAGER, field_manager, options_of
from claimsmith.compose.plan import Plan
from claimsmith.compose.workload_plan import PlannedResource, PlannedWorkload, Propagated
from claimsmith.compose.workload_targets import Published, TargetCluster
from claimsmith.deploy.component import Composite
from claimsmith.deploy.context import Context
from claimsmith.deploy.kubernetes_object import KubernetesObject, engine_document, resource_options
from claimsmith.deploy.preflight import target_owner
from claimsmith.deploy.provider import ClusterProvider
from claimsmith.deploy.secrets import secret_when_there
from claimsmith.deploy.served import ClaimKind
from claimsmith.deploy.values import evaluate
from claimsmith.dialects.workloads.reading import API_VERSION, APPLICATION
from claimsmith.kubernetes import kubeconfig

SECRET_FIELDS = ("data", "stringData")


class Workload(Composite):
    """A scheduled application. Its objects are registered after all claims, since they may need any of them."""

    CLAIM = ClaimKind(API_VERSION, APPLICATION.kind)
    PLANNED: PlannedWorkload

    def _begin(self) -> None:
        self._deployed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.phase = pulumi.Output.from_input(self._deployed)
        self._context.workloads.append(self)

    def _inputs(self, args: Any) -> dict[str, Any]:
        return {**super()._inputs(args), "class": str(self.PLANNED.placement.target_key)}

    def _complete(self) -> None:
        """Do nothing yet: `register` registers the objects and the outputs."""

    def register(self) -> None:
        """Register the objects in the target cluster, each after its namespace, its kind and its Secrets."""
        objects: dict[str, KubernetesObject] = {}
        waiting = list(self.PLANNED.resources)
        while waiting:
            # No cycle is possible: a namespace needs nothing, and a definition needs a namespace at most.
            ready = next(r for r in waiting if all(n in objects for n in r.needs))
            waiting.remove(ready)
            objects[ready.name] = self._object(ready, [objects[n] for n in ready.needs])
        if self._context.records:
            self._record_objects(list(objects.values()))
        deployed = [o.ready for o in objects.values()]
        self._deployed.set_result(pulumi.Output.all(*deployed).apply(lambda _: "Deployed"))
        self.tree = [_reference(r) for r in self.PLANNED.resources]
        self.resources = pulumi.Output.all(*deployed).apply(lambda _: self.tree)
        self.connection_keys = pulumi.Output.from_input([])
        self.register_outputs({"phase": self.phase, "resources": self.resources})

    def summary(self) -> pulumi.Output[dict[str, Any]]:
        """Its part of the stack's outputs. It never fails: the other applications are reported all the same.

        The cluster's credentials are part of it by reference only.
        """
        placement = self.PLANNED.placement
        cluster = placement.target.cluster
        namespace, name, _ = self._context.credentials[cluster.identity]
        summary = {
            "class": str(placement.target_key),
            "reason": placement.reason,
            "uid": placement.uid,
            "cluster": cluster.identity,
            "resources": [_reference(r) for r in self.PLANNED.resources],
            "secrets": [f"{s.namespace}/{s.name}" for s in self.PLANNED.secrets],
            "connectionSecret": {"namespace": namespace, "name": name, "keys": []},
        }
        phase: pulumi.Output[str] = pulumi.Output.from_input(self._settled())
        return phase.apply(lambda known: {**summary, "phase": known})

    async def _settled(self) -> str:
        """The phase at the end of the run. An error fails the run where it happens; here it is only reported."""
        try:
            return await self.phase.future() or "Pending"
        except Exception:
            return "Failed"

    def _object(self, planned: PlannedResource, siblings: list[KubernetesObject]) -> KubernetesObject:
        cluster = self.PLANNED.placement.target.cluster
        options = options_of(planned.document, managed=False, identity=self.claim)
        document = engine_document(planned.document, options, self.claim)
        hidden = [k for k in SECRET_FIELDS if k in document] if document["kind"] == "Secret" else []
        document |= {k: pulumi.Output.secret(document[k]) for k in hidden}
        copies = [propagate(self._context, cluster, s, siblings) for s in planned.secrets]
        opts = pulumi.ResourceOptions.merge(
            resource_options(options, parent=self, provider=provider_of(self._context, cluster)),
            pulumi.ResourceOptions(
                depends_on=[*siblings, *copies],
                # Two targets may lead to one cluster: the new object must not be deleted with the old one.
                delete_before_replace=True,
                additional_secret_outputs=hidden or None,
            ),
        )
        return KubernetesObject(f"{self._name}/{planned.name}", document, opts)

    def _record_objects(self, objects: list[KubernetesObject]) -> None:
        place = self._context.credentials[self.PLANNED.placement.target.cluster.identity]
        for word, document in cluster_records.workload_records(self.claim, self.PLANNED, place[:2]):
            _write_record(self._context, f"{self._name}/{word}", document, parent=self, depends_on=objects)


def component_of(planned: PlannedWorkload) -> type[Workload]:
    """The component of a scheduled application."""
    application = planned.placement.application
    claim = ClaimKind(application.api_version, application.key.group_kind.kind)
    return type("Workload", (Workload,), {"CLAIM": claim, "PLANNED": planned})


def application_data(planned: PlannedWorkload) -> dict[str, Any]:
    """The application as its component takes it."""
    placement = planned.placement
    data, key = placement.application.data, placement.application.key
    return {**data, "metadata": {**data["metadata"], "namespace": key.namespace, "uid": placement.uid}}


def deploy_workloads(context: Context, plan: Plan) -> dict[str, Workload]:
    """Register all applications of the plan, after everything that they may need."""
    for planned in plan.workloads:
        if not planned.placement.composed:
            name = planned.placement.application.key.place
            component_of(planned)(name, application_data(planned), context=context)
    for workload in context.workloads:
        workload.register()
    if context.records:
        for target in plan.targets:
            record_target(context, target)
    return {w.PLANNED.address: w for w in context.workloads}


def record_target(context: Context, target: Published) -> None:
    """Write the record of a target."""
    owner = target_owner(context.project, context.stack)
    _write_record(context, f"target/{target.target.key.place}", cluster_records.target_record(target, owner))


def _write_record(
    context: Context, name: str, document: dict[str, Any], parent: Any = None, depends_on: Any = ()
) -> None:
    document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(context.project, context.stack)
    needs = [*depends_on, *context.needs(document)]
    KubernetesObject(name, document, pulumi.ResourceOptions(parent=parent, provider=context.provider, depends_on=needs))


def provider_of(context: Context, cluster: TargetCluster) -> pulumi.ProviderResource:
    """The one provider for a cluster, whichever target points to it."""
    name = f"cluster/{cluster.identity}"
    if name not in context.target_providers:
        context.target_providers[name] = ClusterProvider(
            name,
            kubeconfig=_kubeconfig(context, cluster),
            identity=cluster.identity,
            taken=context.taken.get(cluster.identity),
        )
    return context.target_providers[name]


def propagate(
    context: Context, cluster: TargetCluster, secret: Propagated, after: list[KubernetesObject]
) -> pulumi.Resource:
    """The copy of a Secret in a target cluster. It is the stack's: several applications may ask for it."""
    name = f"{cluster.identity}/{secret.namespace}/{secret.name}"
    if name not in context.propagated:
        bare = copy_document(context.project, context.stack, cluster, secret)
        context.propagated[name] = KubernetesObject(
            name,
            {**bare, **_copied(context, secret)},
            pulumi.ResourceOptions(
                provider=provider_of(context, cluster),
                depends_on=after,
                additional_secret_outputs=list(SECRET_FIELDS),
                delete_before_replace=True,
            ),
        )
    return context.propagated[name]


def copy_document(project: str, stack: str, cluster: TargetCluster, secret: Propagated) -> dict[str, Any]:
    """The copy of a Secret without its data.

    Its owner names the cluster: if one cluster is published under two names, the copy of one is not taken for that of
    the other, and deleted with it.
    """
    annotations = {OWNER: f"{project}/{stack}/{cluster.identity}", FIELD_MANAGER: field_manager(project, stack)}
    metadata = {"name": secret.name, "namespace": secret.namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def _copied(context: Context, secret: Propagated) -> dict[str, Any]:
    """The data and the type of a Secret: of a claim of this run, or else read from the cluster."""
    place = (secret.source.namespace, secret.source.name)
    if place in context.connections:
        return {"data": context.connections[place], "type": SECRET_TYPE}
    ready = context.resource(secret.made_by).ready if secret.made_by else pulumi.Output.from_input("")
    what = f"the Secret {secret.source.place}, which is to be copied to {secret.namespace} of a target, is missing"
    problem = Problem(what, fix="create it, or remove it from the application's secrets")

    async def read(_: str) -> dict[str, Any]:
        return await secret_when_there(context, *place, problem, wait=bool(secret.made_by))

    whole: pulumi.Output[dict[str, Any]] = pulumi.Output.secret(ready.apply(read))
    kind = pulumi.Output.unsecret(whole.apply(lambda found: found.get("type", "Opaque")))
    return {"data": whole.apply(lambda found: found.get("data") or {}), "type": kind}


def _kubeconfig(context: Context, cluster: TargetCluster) -> pulumi.Output[str]:
    """The kubeconfig of a cluster, as a secret Output that is known once the cluster is ready."""
    namespace, name, key = context.credentials[cluster.identity]
    shown = f"the Secret {namespace}/{name} of {cluster.identity}"
    problem = Problem(f"{shown} is missing", fix="let it be written again; until then nothing changes in that cluster")

    async def read(_: str) -> dict[str, str]:
        found = await secret_when_there(context, namespace, name, problem, wait=bool(cluster.address))
        return dict(found.get("data") or {})

    def kubeconfig_of(data: dict[str, str]) -> str:
        return str(evaluate(kubeconfig.from_secret, data, key=key, shown=shown))

    # The Secret of an existing cluster may be that of a claim of this run.
    details = context.connections.get((namespace, name))
    if details is None:
        ready = context.resource(cluster.address).ready if cluster.address else pulumi.Output.from_input("")
        details = ready.apply(read)
    return pulumi.Output.secret(details.apply(kubeconfig_of))


def _reference(resource: PlannedResource) -> dict[str, str]:
    """One object in the outputs, under the name of its `KubernetesApplicationResource`."""
    return {"resource": resource.name, **cluster_records.reference(resource.document)}
