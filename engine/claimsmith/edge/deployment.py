"""One run of the engine: which stack, which cluster, what is registered so far, what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import pulumi

from claimsmith.cluster import Cluster
from claimsmith.compose.identity import OWNER
from claimsmith.compose.options import FIELD_MANAGER, field_manager, waiting
from claimsmith.documents import read_documents
from claimsmith.edge.elsewhere import Elsewhere, given_by
from claimsmith.edge.managed import Managed
from claimsmith.edge.members import Member
from claimsmith.edge.preflight import given_owner
from claimsmith.edge.provider import ClusterProvider, Taken
from claimsmith.errors import DeployError, Problem, ReferenceError_
from claimsmith.models.objects import GroupKind
from claimsmith.models.reference_table import read_table
from claimsmith.plan import GivenResource, target_of_given
from claimsmith.reference import Table, Target

Credentials = tuple[str, str, str]
"""Namespace and name of the Secret that holds how to connect to a cluster, and the key; none for the usual keys."""


class Deployment:
    """What the components of one run share: the context that each gets as an argument.

    Without anything it serves a program that has no plan of claimsmith's: children are made by the provider that
    Pulumi gives them, connection details are read by it, and names are derived from the program's project and stack.
    With a `cluster`, its kubeconfig is used for both. `serving` names components for composites within others, where
    more than one could serve, and `environments` are the EnvironmentConfigs that compositions read.
    """

    _default: tuple[Any, Deployment] | None = None

    def __init__(
        self,
        *,
        project: str | None = None,
        stack: str | None = None,
        provider: pulumi.ProviderResource | None = None,
        cluster: Cluster | None = None,
        identifier: str = "",
        targets: Iterable[Target] = (),
        composites: Mapping[str, tuple[Any, dict[str, Any]]] | None = None,
        records: bool = False,
        table: Table | None = None,
        credentials: Mapping[str, Credentials] | None = None,
        members: Mapping[str, Sequence[Member]] | None = None,
        picks: Mapping[tuple[str, str], str] | None = None,
        moved: Mapping[str, str] | None = None,
        environments: Sequence[Mapping[str, Any]] = (),
        taken: Mapping[str, Taken] | None = None,
        serving: Sequence[Any] = (),
    ) -> None:
        self.project = project or pulumi.get_project()
        self.stack = stack or pulumi.get_stack()
        self.cluster = cluster
        self.identifier = identifier
        if cluster and not provider and composites is None:
            # Objects are made where they are read.
            self.identifier = identifier or cluster.identity()
            provider = cluster_provider(cluster, self.identifier)
        self.provider = provider
        self.table: Table = built_in_table() if table is None else table
        self.records = records
        self.planned = composites is not None
        """Whether a plan says which composites there are, and the program tells at its end what went wrong."""
        self.serving = serving
        self._composites = composites or {}
        self._impersonating: dict[tuple[str, str], pulumi.ProviderResource] = {}
        self.problems: list[Problem] = []
        self.credentials = credentials or {}
        self.members = members or {}
        """What claims bind through composites that are there already, by the claims' addresses."""
        self.picks = picks or {}
        """What the plan picked: child and path of the reference, and the address."""
        self.environments = environments
        """What compositions may read beside their composites."""
        self.taken = taken or {}
        """The objects that are taken over, by the identity of their target cluster; the stack's own has none."""
        self.moved = moved or {}
        """The stacks that claims were moved from, by the claims' uids."""
        self._stacks: dict[str, pulumi.StackReference] = {}
        self.connections: dict[tuple[str, str], pulumi.Output[dict[str, str]] | None] = {}
        """The data of the Secrets that claims of this run have, by namespace and name."""
        self.workloads: list[Any] = []
        self.target_providers: dict[str, pulumi.ProviderResource] = {}
        self.propagated: dict[str, Managed] = {}
        self._planned: dict[GroupKind, list[Target]] = {}
        self._registered: dict[str, Managed | Elsewhere] = {}
        self._defining: dict[GroupKind, Managed] = {}
        self._claims: dict[str, Any] = {}
        self._addresses: set[str] = set()
        for target in targets:
            self._plan(target)

    @classmethod
    def default(cls) -> Deployment:
        """What components share that are given no context, as long as the program runs."""
        engine = pulumi.runtime.settings.get_monitor()
        if cls._default is None or cls._default[0] is not engine:
            cls._default = (engine, cls())
        return cls._default[1]

    def provider_for(self, account: tuple[str, str] | None) -> pulumi.ProviderResource | None:
        """The provider that makes resources as a service account; the stack's own where there is none."""
        if account is None:
            return self.provider
        if self.cluster is None:
            what = f"its resources are made as the service account {'/'.join(account)}, which needs a kubeconfig"
            raise DeployError(Problem(what, fix="pass one: context=Context(cluster=Cluster(kubeconfig))"))
        if account not in self._impersonating:
            self._impersonating[account] = cluster_provider(
                self.cluster, self.identifier, account=account, taken=self.taken.get("")
            )
        return self._impersonating[account]

    def give(self, resource: GivenResource) -> None:
        """Register a resource that the stack's files give as it is, or refer to the stack that does."""
        if given_by(resource):
            self.add(target_of_given(resource), self._elsewhere(resource))
            return
        document = resource.document
        metadata = document["metadata"]
        annotations = {
            **(metadata.get("annotations") or {}),
            OWNER: given_owner(self.project, self.stack),
            FIELD_MANAGER: field_manager(self.project, self.stack),
        }
        annotations |= waiting(resource.options)
        hidden: dict[str, Any] = {}
        if document["kind"] == "Secret":
            hidden = {k: pulumi.Output.secret(document[k]) for k in ("data", "stringData") if k in document}
        whole = {**document, **hidden, "metadata": {**metadata, "annotations": annotations}}
        opts = pulumi.ResourceOptions(
            provider=self.provider,
            retain_on_delete=resource.options.retain or None,
            ignore_changes=list(resource.options.ignore_changes),
            additional_secret_outputs=["data", "stringData"] if hidden else None,
            depends_on=self.needs(document),
        )
        made = Managed(resource.address, whole, opts)
        if document["kind"] == "CustomResourceDefinition":
            names = document["spec"]["names"]
            self._defining[GroupKind(document["spec"]["group"], names["kind"])] = made
        self.add(target_of_given(resource), made)

    def _elsewhere(self, resource: GivenResource) -> Elsewhere:
        stack = given_by(resource)
        if stack not in self._stacks:
            whole = f"{pulumi.get_organization()}/{self.project}/{stack}"
            self._stacks[stack] = pulumi.StackReference(stack, stack_name=whole)
        return Elsewhere(resource.address, stack, self._stacks[stack])

    def needs(self, document: Mapping[str, Any]) -> list[Managed]:
        """What must be there before an object: its namespace and its definition, where this stack gives them."""
        namespace = document["metadata"].get("namespace")
        wanted = (self._registered.get(f"Namespace/{namespace}"), self._defining.get(GroupKind.of(dict(document))))
        return [made for made in wanted if isinstance(made, Managed)]

    def claimed(self, reference: Mapping[str, Any]) -> Any:
        """The component of the claim that a reference names, if it is one of this stack's, at cluster scope."""
        return self._claims.get(f"{GroupKind.of(dict(reference))}/{reference['name']}")

    def made(self, address: str, component: Any) -> None:
        """Note the component of a claim, for those that require it."""
        self._claims[address] = component

    def given(self, reference: Mapping[str, Any]) -> Managed | None:
        """The given resource that a reference names, if it is one of this stack's."""
        found = self._registered.get(f"{GroupKind.of(dict(reference))}/{reference['name']}")
        return found if isinstance(found, Managed) else None

    def composite(self, address: str) -> tuple[Any, dict[str, Any]] | None:
        """The component that serves a composite within another, and the composite as it is planned."""
        return self._composites.get(address)

    def add(self, target: Target, resource: Managed | Elsewhere) -> None:
        """Note what was registered, so that selectors of later children find it."""
        self._registered[target.address] = resource
        if target.address not in self._addresses:
            self._plan(target)

    def _plan(self, target: Target) -> None:
        self._addresses.add(target.address)
        self._planned.setdefault(target.group_kind, []).append(target)

    def targets(self, kind: GroupKind) -> list[Target]:
        """All resources of a kind in this stack."""
        return self._planned.get(kind, [])

    def name_of(self, address: str) -> pulumi.Output[str]:
        """The name of what was registered under an address, here or in another stack."""
        found = self._registered.get(address)
        return found.name if isinstance(found, Elsewhere) else self.resource(address).name

    def resource(self, address: str) -> Managed:
        """What was registered under an address."""
        found = self._registered.get(address)
        if not isinstance(found, Managed):
            what = f"{address} is referred to before it is made"
            raise ReferenceError_(Problem(what, fix="put the template that makes it before the one that refers to it"))
        return found

    def registered(self, address: str) -> Managed | None:
        """The resource of this stack that was registered under an address, if any was."""
        found = self._registered.get(address)
        return found if isinstance(found, Managed) else None

    def owner_stack(self, uid: str) -> str:
        """The stack whose name a claim's objects carry: this one, or the one that the claim was moved from."""
        return self.moved.get(uid, self.stack)

    def live(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """The object that a document describes, as it is in the cluster now."""
        if self.cluster is None:
            return None
        metadata = document["metadata"]
        return self.cluster.read(
            str(document["apiVersion"]), str(document["kind"]), metadata["name"], metadata.get("namespace")
        )

    def read_secret(self, namespace: str, name: str) -> dict[str, Any] | None:
        """A Secret's data from the cluster."""
        if self.cluster is None:
            raise pulumi.RunError("connection details need a cluster to read from: run within a claimsmith program")
        return self.cluster.secret_data(namespace, name)


@cache
def built_in_table() -> Table:
    """What selectors of known kinds may select."""
    name = "data/references.yaml"
    text = resources.files("claimsmith").joinpath(name).read_text(encoding="utf-8")
    return read_table(read_documents(text, file=f"claimsmith/{name}"))


def cluster_provider(
    cluster: Cluster, identity: str, *, account: tuple[str, str] | None = None, taken: Taken | None = None
) -> ClusterProvider:
    """The provider of the stack's own cluster, as a service account where one is named."""
    return ClusterProvider(
        f"cluster/{account[0]}/{account[1]}" if account else "cluster",
        kubeconfig=pulumi.Output.secret(cluster.impersonating(account) if account else cluster.kubeconfig),
        context=cluster.context,
        identity=identity,
        taken=taken,
    )
