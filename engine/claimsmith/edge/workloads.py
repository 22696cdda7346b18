"""Applications in other clusters: their objects, made with the credentials of the target's cluster.

These credentials are read once the cluster is there, so a cluster that is made in this run can be used in it. One
provider serves a cluster, whoever points to it; it is known by the cluster's kind and name, never by its address:
a changed endpoint or token changes the provider in place, and no workload.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi

from claimsmith import kubeconfig, records
from claimsmith.compose.identity import OWNER, SECRET_TYPE
from claimsmith.compose.options import FIELD_MANAGER, field_manager, options_of
from claimsmith.edge.component import Composite, engine_document, resource_options
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.edge.preflight import target_owner
from claimsmith.edge.provider import ClusterProvider
from claimsmith.edge.secrets import secret_when_there
from claimsmith.edge.served import ClaimKind
from claimsmith.errors import EngineError, Problem
from claimsmith.models.workload import API_VERSION, APPLICATION
from claimsmith.plan import Plan
from claimsmith.targets import Published, TargetCluster
from claimsmith.workload_plan import PlannedResource, PlannedWorkload, Propagated

SECRET_FIELDS = ("data", "stringData")


class Workload(Composite):
    """A scheduled application. What it is made of is registered when all claims are: it may need any of them."""

    CLAIM = ClaimKind(API_VERSION, APPLICATION.kind)
    PLANNED: PlannedWorkload

    def __init__(
        self,
        name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
        *,
        context: Deployment | None = None,
    ) -> None:
        super().__init__(name, args, opts, context=context)
        self._deployed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.phase = pulumi.Output.from_input(self._deployed)
        self._deployment.workloads.append(self)

    def _inputs(self, args: Any) -> dict[str, Any]:
        return {**super()._inputs(args), "class": str(self.PLANNED.placement.target_key)}

    def make(self) -> None:
        """Register the objects in the target cluster, each after its namespace, its kind and its Secrets."""
        made: dict[str, Managed] = {}
        waiting = list(self.PLANNED.resources)
        while waiting:
            # No circle is possible: a namespace needs nothing, and a definition no more than that.
            ready = next(r for r in waiting if all(n in made for n in r.needs))
            waiting.remove(ready)
            made[ready.name] = self._object(ready, [made[n] for n in ready.needs])
        if self._deployment.records:
            self._write_down(list(made.values()))
        deployed = [m.ready for m in made.values()]
        self._deployed.set_result(pulumi.Output.all(*deployed).apply(lambda _: "Deployed"))
        told = [_told(r) for r in self.PLANNED.resources]
        self.tree = told
        self.resources = pulumi.Output.all(*deployed).apply(lambda _: told)
        self.connection_keys = pulumi.Output.from_input([])
        self.register_outputs({"phase": self.phase, "resources": self.resources})

    def summary(self) -> pulumi.Output[dict[str, Any]]:
        """What the stack tells of it, even where it failed: the others are told of all the same.

        The cluster's credentials stand nowhere else, and only by reference.
        """
        placement = self.PLANNED.placement
        cluster = placement.target.cluster
        namespace, name, _ = self._deployment.credentials[cluster.identity]
        told = {
            "class": str(placement.target_key),
            "reason": placement.reason,
            "uid": placement.uid,
            "cluster": cluster.identity,
            "resources": [_told(r) for r in self.PLANNED.resources],
            "secrets": [f"{s.namespace}/{s.name}" for s in self.PLANNED.secrets],
            "connectionSecret": {"namespace": namespace, "name": name, "keys": []},
        }
        phase: pulumi.Output[str] = pulumi.Output.from_input(self._settled())
        return phase.apply(lambda known: {**told, "phase": known})

    async def _settled(self) -> str:
        """How it ended. What went wrong fails the run where it happened; here it is only told."""
        try:
            return await self.phase.future() or "Pending"
        except Exception:
            return "Failed"

    def _object(self, planned: PlannedResource, siblings: list[Managed]) -> Managed:
        cluster = self.PLANNED.placement.target.cluster
        options = options_of(planned.document, managed=False, identity=self.claim)
        document = engine_document(planned.document, options, self.claim)
        hidden = [k for k in SECRET_FIELDS if k in document] if document["kind"] == "Secret" else []
        document |= {k: pulumi.Output.secret(document[k]) for k in hidden}
        copies = [propagate(self._deployment, cluster, s, siblings) for s in planned.secrets]
        opts = pulumi.ResourceOptions.merge(
            resource_options(options, parent=self, provider=provider_of(self._deployment, cluster)),
            pulumi.ResourceOptions(
                depends_on=[*siblings, *copies],
                # Two targets may lead to one cluster: what is made anew must not be deleted with what was there.
                delete_before_replace=True,
                additional_secret_outputs=hidden or None,
            ),
        )
        return Managed(f"{self._name}/{planned.name}", document, opts)

    def _write_down(self, made: list[Managed]) -> None:
        place = self._deployment.credentials[self.PLANNED.placement.target.cluster.identity]
        for word, document in records.workload_records(self.claim, self.PLANNED, place[:2]):
            _write_record(self._deployment, f"{self._name}/{word}", document, parent=self, depends_on=made)


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


def deploy_workloads(deployment: Deployment, plan: Plan) -> dict[str, Workload]:
    """Register all applications of the plan, once everything that they may need is registered."""
    for planned in plan.workloads:
        if not planned.placement.composed:
            name = planned.placement.application.key.place
            component_of(planned)(name, application_data(planned), context=deployment)
    for workload in deployment.workloads:
        workload.make()
    if deployment.records:
        for target in plan.targets:
            record_target(deployment, target)
    return {w.PLANNED.address: w for w in deployment.workloads}


def record_target(deployment: Deployment, target: Published) -> None:
    """Write down a target."""
    owner = target_owner(deployment.project, deployment.stack)
    _write_record(deployment, f"target/{target.target.key.place}", records.target_record(target, owner))


def _write_record(
    deployment: Deployment, name: str, document: dict[str, Any], parent: Any = None, depends_on: Any = ()
) -> None:
    document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(deployment.project, deployment.stack)
    needs = [*depends_on, *deployment.needs(document)]
    Managed(name, document, pulumi.ResourceOptions(parent=parent, provider=deployment.provider, depends_on=needs))


def provider_of(deployment: Deployment, cluster: TargetCluster) -> pulumi.ProviderResource:
    """The one provider for a cluster, whichever target leads to it."""
    name = f"cluster/{cluster.identity}"
    if name not in deployment.target_providers:
        deployment.target_providers[name] = ClusterProvider(
            name,
            kubeconfig=_kubeconfig(deployment, cluster),
            identity=cluster.identity,
            taken=deployment.taken.get(cluster.identity),
        )
    return deployment.target_providers[name]


def propagate(
    deployment: Deployment, cluster: TargetCluster, secret: Propagated, after: list[Managed]
) -> pulumi.Resource:
    """The copy of a Secret in a target cluster. It is the stack's: several applications may ask for it."""
    name = f"{cluster.identity}/{secret.namespace}/{secret.name}"
    if name not in deployment.propagated:
        bare = copy_document(deployment.project, deployment.stack, cluster, secret)
        deployment.propagated[name] = Managed(
            name,
            {**bare, **_copied(deployment, secret)},
            pulumi.ResourceOptions(
                provider=provider_of(deployment, cluster),
                depends_on=after,
                additional_secret_outputs=list(SECRET_FIELDS),
                delete_before_replace=True,
            ),
        )
    return deployment.propagated[name]


def copy_document(project: str, stack: str, cluster: TargetCluster, secret: Propagated) -> dict[str, Any]:
    """The copy of a Secret without its data.

    Its owner names the cluster: were one cluster published under two names, the copy of one would not be taken for
    the other's, and deleted with it.
    """
    annotations = {OWNER: f"{project}/{stack}/{cluster.identity}", FIELD_MANAGER: field_manager(project, stack)}
    metadata = {"name": secret.name, "namespace": secret.namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def _copied(deployment: Deployment, secret: Propagated) -> dict[str, Any]:
    """The data and the type of a Secret: at hand where a claim of this run makes it, else read from the cluster."""
    place = (secret.source.namespace, secret.source.name)
    if place in deployment.connections:
        return {"data": deployment.connections[place], "type": SECRET_TYPE}
    ready = deployment.resource(secret.made_by).ready if secret.made_by else pulumi.Output.from_input("")
    what = f"the Secret {secret.source.place}, which is to go along to {secret.namespace} of a target, is missing"
    problem = Problem(what, fix="make it, or take it out of the application's secrets")

    async def read(_: str) -> dict[str, Any]:
        return await secret_when_there(deployment, *place, problem, wait=bool(secret.made_by))

    whole: pulumi.Output[dict[str, Any]] = pulumi.Output.secret(ready.apply(read))
    kind = pulumi.Output.unsecret(whole.apply(lambda found: found.get("type", "Opaque")))
    return {"data": whole.apply(lambda found: found.get("data") or {}), "type": kind}


def _kubeconfig(deployment: Deployment, cluster: TargetCluster) -> pulumi.Output[str]:
    """How to connect to a cluster, as a secret that is known once the cluster is there."""
    namespace, name, key = deployment.credentials[cluster.identity]
    shown = f"the Secret {namespace}/{name} of {cluster.identity}"
    problem = Problem(f"{shown} is missing", fix="let it be written again; until then nothing changes in that cluster")

    async def read(_: str) -> dict[str, str]:
        found = await secret_when_there(deployment, namespace, name, problem, wait=bool(cluster.address))
        return dict(found.get("data") or {})

    def made(data: dict[str, str]) -> str:
        try:
            return kubeconfig.from_secret(data, key=key, shown=shown)
        except EngineError as error:
            raise pulumi.RunError("\n".join(str(p) for p in error.problems)) from error

    # A brought cluster's Secret may be that of a claim of this run.
    details = deployment.connections.get((namespace, name))
    if details is None:
        ready = deployment.resource(cluster.address).ready if cluster.address else pulumi.Output.from_input("")
        details = ready.apply(read)
    return pulumi.Output.secret(details.apply(made))


def _told(resource: PlannedResource) -> dict[str, str]:
    """One object as the outputs show it, under the name of its `KubernetesApplicationResource`."""
    document = resource.document
    metadata = document["metadata"]
    return {
        "resource": resource.name,
        "apiVersion": str(document["apiVersion"]),
        "kind": str(document["kind"]),
        **({"namespace": str(metadata["namespace"])} if metadata.get("namespace") else {}),
        "name": str(metadata["name"]),
    }
