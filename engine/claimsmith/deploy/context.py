"""What the components of one Pulumi program share: its stack, its cluster, the resources registered so far, the errors.

The program of a stack creates one from its plan. A component in any other program gets one as an argument, or shares
the default of that program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import pulumi

from claimsmith.base.documents import read_documents
from claimsmith.base.errors import DeployError, Problem, ReferenceError_, suggest
from claimsmith.base.labels import OWNER
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.compose.options import FIELD_MANAGER, field_manager, waiting
from claimsmith.compose.piped import Piped
from claimsmith.compose.plan import GivenResource, candidate_of_given
from claimsmith.compose.reference_table import read_table
from claimsmith.compose.references import Candidate, Table, created_later
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.deploy.members import Member
from claimsmith.deploy.native import NativeChild
from claimsmith.deploy.other_stacks import Elsewhere, provided_by
from claimsmith.deploy.preflight import given_owner
from claimsmith.deploy.provider import ClusterProvider, Taken, key_of
from claimsmith.kubernetes.client import Cluster, live_object
from claimsmith.project.checkpoint import HeldObject

Credentials = tuple[str, str, str]
"""Namespace and name of the Secret that holds how to connect to a cluster, and the key; none for the usual keys."""


class Context:
    """What the components of one program share: each component takes it as the argument `context`.

    Without arguments it serves a program without a plan. The default provider of Pulumi creates the children and reads
    their connection details, and names are derived from the program's project and stack. With a `cluster`, its
    kubeconfig is used for both. `serving` are the components for composites within others, where more than one could
    serve, and `environments` are the EnvironmentConfigs that compositions read. `providers` are the providers that
    native children name; the others use the default providers of Pulumi. The other arguments come from a plan.
    """

    _default: tuple[Any, Context] | None = None
    _created: tuple[Any, dict[tuple[ObjectKey, pulumi.ProviderResource | None], str]] | None = None
    """The objects that the components of a program create, in the cluster of each provider, and by which one.

    Of the program, not of one context: components with contexts of their own may create the same object. With the
    engine that they belong to, because tests run several programs in one process.
    """

    def __init__(
        self,
        *,
        project: str | None = None,
        stack: str | None = None,
        provider: pulumi.ProviderResource | None = None,
        providers: Mapping[str, pulumi.ProviderResource] | None = None,
        provider_settings: Mapping[str, Any] | None = None,
        cluster: Cluster | None = None,
        identifier: str = "",
        targets: Iterable[Candidate] = (),
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
        piped: Mapping[str, Piped] | None = None,
        unseen: Mapping[str, Sequence[HeldObject]] | None = None,
    ) -> None:
        self.project = project or pulumi.get_project()
        self.stack = stack or pulumi.get_stack()
        self.cluster = cluster
        self.identifier = identifier
        if cluster and not provider and composites is None:
            # Objects are created in the cluster that they are read from.
            self.identifier = identifier or cluster.identity()
            provider = cluster_provider(cluster, self.identifier)
        self.provider = provider
        self.providers = providers or {}
        self.provider_settings = provider_settings or {}
        """The settings of the named providers, as `name:setting`: connection details may have them."""
        self.table: Table = built_in_table() if table is None else table
        self.records = records
        self.planned = composites is not None
        """Whether there is a plan: it has all composites, and the program reports all errors at its end."""
        self.serving = serving
        self._composites = composites or {}
        self._impersonating: dict[tuple[str, str], pulumi.ProviderResource] = {}
        self.problems: list[Problem] = []
        self.credentials = credentials or {}
        self.members = members or {}
        """The resources that claims bind through existing composites, by the claims' addresses."""
        self.picks = picks or {}
        """The addresses that the plan selected, by child and path of the reference."""
        self.environments = environments
        """The EnvironmentConfigs that compositions may read."""
        self.taken = taken or {}
        """The objects that are taken over, by the identity of their target cluster; the stack's own has none."""
        self.piped = piped or {}
        """What the pipelines of composites make, by the composites' addresses."""
        self.unseen = unseen or {}
        """The objects that stay though the pipelines of their composites do not make them now, by their owners."""
        self.moved = moved or {}
        """The stacks that claims were moved from, by the claims' uids."""
        self._stacks: dict[str, pulumi.StackReference] = {}
        self.connections: dict[tuple[str, str], pulumi.Output[dict[str, str]] | None] = {}
        """The data of the Secrets of the claims of this run, by namespace and name."""
        self.workloads: list[Any] = []
        self.target_providers: dict[str, pulumi.ProviderResource] = {}
        self.propagated: dict[str, KubernetesObject] = {}
        self._planned: dict[GroupKind, list[Candidate]] = {}
        self._registered: dict[str, KubernetesObject | NativeChild | Elsewhere] = {}
        self._defining: dict[GroupKind, KubernetesObject] = {}
        self._claims: dict[str, Any] = {}
        self._addresses: set[str] = set()
        for target in targets:
            self._plan(target)

    @classmethod
    def default(cls) -> Context:
        """The context of the components that get none, one for each program.

        It belongs to the engine's connection: tests run several programs in one process, each with its own mocks.
        """
        engine = pulumi.runtime.settings.get_monitor()
        if cls._default is None or cls._default[0] is not engine:
            cls._default = (engine, cls())
        return cls._default[1]

    def refuse_twice(
        self, document: Mapping[str, Any], component: pulumi.Resource, provider: pulumi.ProviderResource | None
    ) -> None:
        """Refuse an object that another component of this program has already: their claims have the same name.

        The engine has two resources for it then, and deletes it with either. A plan is checked for that as a whole.
        """
        if self.planned or not isinstance(document["metadata"]["name"], str):
            return
        engine = pulumi.runtime.settings.get_monitor()
        if Context._created is None or Context._created[0] is not engine:
            Context._created = (engine, {})
        key = key_of(document)
        name = component._name
        creator = Context._created[1].setdefault((key, provider or component.get_provider(_ANY_OBJECT)), name)
        if creator != name:
            what = f"{name}: its {key.group_kind.kind} {key.place} is created by the component {creator!r} already"
            fix = "give each its own claim, by metadata.name or metadata.namespace, or its own cluster, by a provider"
            raise DeployError(Problem(what, fix=fix))

    def provider_for(self, account: tuple[str, str] | None) -> pulumi.ProviderResource | None:
        """The provider that creates resources as a service account; the stack's own if there is none."""
        if account is None:
            return self.provider
        if self.cluster is None:
            what = f"its resources are created as the service account {'/'.join(account)}, which needs a kubeconfig"
            raise DeployError(Problem(what, fix="pass one: context=Context(cluster=Cluster(kubeconfig))"))
        if account not in self._impersonating:
            self._impersonating[account] = cluster_provider(
                self.cluster, self.identifier, account=account, taken=self.taken.get("")
            )
        return self._impersonating[account]

    @property
    def has_cluster(self) -> bool:
        """Whether objects can be written: a program without a plan has the default provider of Pulumi."""
        return self.cluster is not None or not self.planned

    def native_provider(self, name: str) -> pulumi.ProviderResource:
        """The provider with that name: of the stack's config, or of the program that created this context."""
        if name not in self.providers:
            here = "add it to claimsmith:providers in the stack's config" if self.planned else _OWN_PROVIDERS
            fix = suggest(name, self.providers, here)
            raise DeployError(Problem(f"no provider is named {name!r}", fix=fix))
        return self.providers[name]

    def provide(self, resource: GivenResource) -> None:
        """Register a resource that the stack's files provide as it is, or refer to the stack that provides it."""
        if provided_by(resource):
            self.add(candidate_of_given(resource), self._elsewhere(resource))
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
        provided = KubernetesObject(resource.address, whole, opts)
        if document["kind"] == "CustomResourceDefinition":
            names = document["spec"]["names"]
            self._defining[GroupKind(document["spec"]["group"], names["kind"])] = provided
        self.add(candidate_of_given(resource), provided)

    def _elsewhere(self, resource: GivenResource) -> Elsewhere:
        stack = provided_by(resource)
        if stack not in self._stacks:
            whole = f"{pulumi.get_organization()}/{self.project}/{stack}"
            self._stacks[stack] = pulumi.StackReference(stack, stack_name=whole)
        return Elsewhere(resource.address, stack, self._stacks[stack])

    def needs(self, document: Mapping[str, Any]) -> list[KubernetesObject]:
        """What an object depends on: its namespace and its definition, if this stack creates them."""
        namespace = document["metadata"].get("namespace")
        wanted = (self._registered.get(f"Namespace/{namespace}"), self._defining.get(GroupKind.of(dict(document))))
        return [resource for resource in wanted if isinstance(resource, KubernetesObject)]

    def claimed(self, reference: Mapping[str, Any]) -> Any:
        """The component of the claim that a reference names, if it is one of this stack's, at cluster scope."""
        return self._claims.get(f"{GroupKind.of(dict(reference))}/{reference['name']}")

    def add_claim(self, address: str, component: Any) -> None:
        """Add the component of a claim, for the claims that require it."""
        self._claims[address] = component

    def provided(self, reference: Mapping[str, Any]) -> KubernetesObject | None:
        """The resource that a reference names, if the files of this stack provide it."""
        return self.registered(f"{GroupKind.of(dict(reference))}/{reference['name']}")

    def composite(self, address: str) -> tuple[Any, dict[str, Any]] | None:
        """The component that serves a composite within another, and the composite as it is planned."""
        return self._composites.get(address)

    def add(self, target: Candidate, resource: KubernetesObject | NativeChild | Elsewhere) -> None:
        """Add a resource that was registered, as a candidate for the selectors of later children."""
        self._registered[target.address] = resource
        if target.address not in self._addresses:
            self._plan(target)

    def _plan(self, target: Candidate) -> None:
        self._addresses.add(target.address)
        self._planned.setdefault(target.group_kind, []).append(target)

    def targets(self, kind: GroupKind) -> list[Candidate]:
        """All resources of a kind in this stack."""
        return self._planned.get(kind, [])

    def name_of(self, address: str) -> pulumi.Output[str]:
        """The name of the resource with an address, in this stack or another."""
        resource = self._registered.get(address)
        return resource.name if isinstance(resource, Elsewhere) else self.resource(address).name

    def resource(self, address: str) -> KubernetesObject:
        """The resource of this stack with an address; an error if it is not registered yet."""
        resource = self.registered(address)
        if resource is None:
            raise ReferenceError_(created_later(address))
        return resource

    def registered(self, address: str) -> KubernetesObject | None:
        """The resource of this stack with an address, if it is registered."""
        resource = self._registered.get(address)
        return resource if isinstance(resource, KubernetesObject) else None

    def native(self, address: str) -> NativeChild | None:
        """The native child of this stack with an address, if it is registered."""
        child = self._registered.get(address)
        return child if isinstance(child, NativeChild) else None

    def owner_stack(self, uid: str) -> str:
        """The stack whose name a claim's objects carry: this one, or the one that the claim was moved from."""
        return self.moved.get(uid, self.stack)

    def live(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """The object that a document describes, as it is in the cluster now."""
        return None if self.cluster is None else live_object(self.cluster, document)

    def read_secret(self, namespace: str, name: str) -> dict[str, Any] | None:
        """A Secret's data from the cluster."""
        if self.cluster is None:
            raise pulumi.RunError("connection details need a cluster to read from: run within a claimsmith program")
        return self.cluster.secret_data(namespace, name)


_ANY_OBJECT = "kubernetes:core/v1:Secret"
_OWN_PROVIDERS = "pass it: context=Context(providers={name: provider})"


@cache
def built_in_table() -> Table:
    """The built-in reference table: which kinds a selector may select."""
    name = "data/references.yaml"
    text = resources.files("claimsmith").joinpath(name).read_text(encoding="utf-8")
    return read_table(read_documents(text, file=f"claimsmith/{name}"))


def cluster_provider(
    cluster: Cluster, identity: str, *, account: tuple[str, str] | None = None, taken: Taken | None = None
) -> ClusterProvider:
    """The provider of the stack's own cluster, as a service account if one is named."""
    return ClusterProvider(
        f"cluster/{account[0]}/{account[1]}" if account else "cluster",
        kubeconfig=pulumi.Output.secret(cluster.impersonating(account) if account else cluster.kubeconfig),
        context=cluster.context,
        identity=identity,
        taken=taken,
    )
