"""The base of all generated components: a claim's children, dressed and registered, and its connection Secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Required, TypedDict

import pulumi

from claimsmith import binding, connection, reference
from claimsmith.compose.identity import EXTERNAL_NAME, OWNER, Identity, dress
from claimsmith.compose.options import Options, has, options_of, with_live_values
from claimsmith.connection import Connection
from claimsmith.edge import secrets
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.edge.values import pruned
from claimsmith.models.klass import Parent
from claimsmith.models.objects import ClaimKey, GroupKind, group_of
from claimsmith.plan import secret_document
from claimsmith.reference import Selection, Target

WAIT_FOR = "pulumi.com/waitFor"
FIELD_MANAGER = "pulumi.com/patchFieldManager"


class ClaimMetadata(TypedDict, total=False):
    """A claim's metadata."""

    name: Required[str]
    namespace: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]


@dataclass(frozen=True, slots=True)
class ClaimKind:
    """The kind of claim that a component serves."""

    api_version: str
    kind: str

    @property
    def type_token(self) -> str:
        """The component's Pulumi type. The class is no part of it: a claim may move from class to class."""
        return f"claimsmith:{group_of(self.api_version)}:{self.kind}"


@dataclass(frozen=True, slots=True)
class ClassRef:
    """The class that a component was generated from."""

    api_version: str
    kind: str
    name: str
    digest: str

    def reference(self) -> dict[str, str]:
        """The class as a `classRef` names it."""
        return {"apiVersion": self.api_version, "kind": self.kind, "name": self.name}

    @property
    def parent(self) -> Parent:
        """What the children are bound to: a class of one resource binds it to the claim itself."""
        return Parent.claim if self.kind == "ResourceClass" else Parent.composite


class Composite(pulumi.ComponentResource):
    """What is made for one claim."""

    CLAIM = ClaimKind("", "")
    CLASS = ClassRef("", "", "", "")

    phase: pulumi.Output[str]
    """Bound, once all that the claim needs is there."""
    resources: pulumi.Output[list[dict[str, str]]]
    """The children: apiVersion, kind and name of each."""
    connection_keys: pulumi.Output[list[str]]
    """The keys of the claim's Secret, never their values."""

    def __init__(self, name: str, args: Any, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.CLAIM.type_token, name, {}, opts)
        self._deployment = Deployment.current()
        self.claim = _identity(self.CLAIM, self.CLASS, args, self._deployment)
        self._address = str(self.claim.key)
        self._secret_name = ((args["spec"].get("writeConnectionSecretToRef")) or {}).get("name")
        self._children: list[Managed] = []
        self._keys: pulumi.Output[list[str]] = pulumi.Output.from_input([])

    def child(
        self,
        template: str,
        api_version: str,
        kind: str,
        *,
        previous_name: str | None = None,
        **fields: Any,
    ) -> Managed:
        """Register what a template makes, with its name, labels and the reference to its parent."""
        document = {"apiVersion": api_version, "kind": kind, **pruned(fields)}
        dressed = dress(document, template, self.claim)
        options = options_of(dressed)
        dressed = self._as_controllers_left_it(dressed, options)
        aliases = [pulumi.Alias(name=f"{self._name}/{previous_name}")] if previous_name else []
        opts = pulumi.ResourceOptions.merge(
            resource_options(options, parent=self, provider=self._deployment.provider),
            pulumi.ResourceOptions(aliases=aliases),
        )
        child = Managed(f"{self._name}/{template}", engine_document(dressed, options, self.claim), opts)
        self._children.append(child)
        labels = dressed["metadata"]["labels"]
        target = Target(f"{self._address}/{template}", GroupKind.of(document), labels, self.claim.uid)
        self._deployment.add(target, child)
        return child

    def _as_controllers_left_it(self, document: dict[str, Any], options: Options) -> dict[str, Any]:
        """The document with the live values of fields that its controller owns.

        An object that outlived its claim is taken up again by creating it: were our own values sent then,
        the cluster would refuse them as the controller's.
        """
        paths = [p for p in options.ignore_changes if has(document, p)]
        live = self._deployment.live(document) if paths else None
        return with_live_values(document, live, paths) if live else document

    def select(self, template: str, kind: str, labels: Mapping[str, str]) -> pulumi.Output[str]:
        """The name of a resource of this stack, whoever made it, that has these labels."""
        own = Target(f"{self._address}/{template}", GroupKind("", ""), {}, self.claim.uid)
        selection = Selection((), "", GroupKind.parse(kind), same_parent=False, labels=labels)
        picked = reference.pick(selection, own=own, candidates=self._deployment.targets(selection.target))
        return self._deployment.resource(picked.address).name

    def publish_connection(self, *children: Managed) -> None:
        """Unite the children's connection Secrets in the one that the claim asks for."""
        places = [(connection.secret_place(c.template, c.document), c) for c in children]
        sources = [(place, child) for place, child in places if place]
        if not self._secret_name:
            return
        wanted = Connection(self.claim.namespace, self._secret_name, tuple(p for p, _ in sources))
        data = secrets.united(self._deployment, self._address, wanted, [c for _, c in sources])
        document = {**secret_document(self.claim, self._secret_name), "data": data}
        document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(self.claim)
        secret = Managed(
            f"{self._name}/connection",
            document,
            pulumi.ResourceOptions(
                parent=self,
                provider=self._deployment.provider,
                additional_secret_outputs=["data", "stringData"],
                depends_on=[c for _, c in sources],
            ),
        )
        self._children.append(secret)
        self._keys = pulumi.Output.unsecret(pulumi.Output.all(secret.id, data).apply(lambda both: sorted(both[1])))

    def finish(self) -> None:
        """Tell the engine that all children are registered."""
        made = [c for c in self._children if c.document["kind"] != "Secret"]
        self.resources = pulumi.Output.all(*(c.id for c in made)).apply(lambda _: [_reference(c) for c in made])
        self.connection_keys = self._keys
        self.phase = pulumi.Output.all(*(c.id for c in self._children)).apply(lambda _: "Bound")
        outputs = {"phase": self.phase, "resources": self.resources, "connectionKeys": self.connection_keys}
        self.register_outputs(outputs)


def engine_document(document: Mapping[str, Any], options: Options, identity: Identity) -> dict[str, Any]:
    """The document with what the engine and its Kubernetes provider are told by annotation."""
    metadata = document["metadata"]
    annotations = {**metadata.get("annotations", {}), OWNER: identity.owner, FIELD_MANAGER: field_manager(identity)}
    if len(options.wait_for) == 1:
        annotations[WAIT_FOR] = options.wait_for[0]
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def resource_options(options: Options, *, parent: pulumi.Resource, provider: Any) -> pulumi.ResourceOptions:
    """A child's options as the engine knows them."""
    return pulumi.ResourceOptions(
        parent=parent,
        provider=provider,
        retain_on_delete=options.retain or None,
        ignore_changes=list(options.ignore_changes),
        custom_timeouts=pulumi.CustomTimeouts(create=options.timeout, update=options.timeout, delete=options.timeout),
    )


def field_manager(identity: Identity) -> str:
    """Who writes our fields in the cluster: always the same, so that a retained object can be taken up again."""
    return f"claimsmith-{identity.project}-{identity.stack}"


def _identity(claim: ClaimKind, klass: ClassRef, args: Any, deployment: Deployment) -> Identity:
    metadata = args["metadata"]
    namespace, name = metadata.get("namespace", "default"), metadata["name"]
    key = ClaimKey(GroupKind(group_of(claim.api_version), claim.kind), namespace, name)
    uid = metadata.get("uid") or binding.derive_uid(key, project=deployment.project, stack=deployment.stack)
    return Identity(
        project=deployment.project,
        stack=deployment.stack,
        api_version=args.get("apiVersion", claim.api_version),
        kind=claim.kind,
        namespace=namespace,
        name=name,
        uid=uid,
        external_name=(metadata.get("annotations") or {}).get(EXTERNAL_NAME),
        class_ref=klass.reference(),
        parent=klass.parent,
    )


def _reference(child: Managed) -> dict[str, str]:
    document = child.document
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "name": document["metadata"]["name"]}
