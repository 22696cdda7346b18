"""The base of all generated components: a claim's children, dressed and registered, and its connection Secrets."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pulumi

from claimsmith import connection, fieldpath, flow, reference
from claimsmith.absent import ABSENT
from claimsmith.compose import details
from claimsmith.compose.identity import Identity, dress
from claimsmith.compose.options import (
    FIELD_MANAGER,
    Options,
    engine_annotations,
    field_manager,
    has,
    options_of,
    with_live_values,
)
from claimsmith.connection import Connection, SecretPlace
from claimsmith.edge import secrets
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.edge.served import ClaimKind, ClassRef, composition_of, identity_of
from claimsmith.edge.values import filled, join, pruned, secrets_hidden, within
from claimsmith.errors import EngineError, GenerateError, Problem
from claimsmith.expand import templated, with_secret_place
from claimsmith.models.klass import Detail, Opaque, Parent
from claimsmith.models.klass import SecretPlace as ComposedSecret
from claimsmith.models.objects import ClaimKey, GroupKind
from claimsmith.models.xrd import SECRET_NAMESPACE
from claimsmith.plan import connections_of, secret_document
from claimsmith.records import records_of
from claimsmith.reference import Selection, Target
from claimsmith.schema import defaulted
from claimsmith.urns import resource_type

ClassReference = tuple[str, str, str]


class _Refusing(type):
    """Ends a program with the text of what a component refuses, and no traceback."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except EngineError as error:
            # The program of a stack collects what is refused, and tells it at once.
            if (context := kwargs.get("context")) and context.planned:
                raise
            raise pulumi.RunError("\n".join(str(p) for p in error.problems)) from error


class Composite(pulumi.ComponentResource, metaclass=_Refusing):
    """The resources composed for one claim.

    `context` is what it shares with the other components of a program; by default, one for the whole program.
    """

    CLAIM = ClaimKind("", "")
    CLASS = ClassRef("", "", "")

    phase: pulumi.Output[str]
    """Bound, once all that the claim needs is there."""
    resources: pulumi.Output[list[dict[str, Any]]]
    """The children: apiVersion, kind and name of each; of a composite its own `resources` too."""
    connection_keys: pulumi.Output[list[str]]
    """The keys of the claim's Secret, never their values."""

    def __init__(
        self,
        name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
        *,
        context: Deployment | None = None,
    ) -> None:
        self._deployment = context or Deployment.default()
        args = self._args = args if self._deployment.planned else self._completed(args)
        super().__init__(self.CLAIM.type_token, name, self._inputs(args), opts)
        self.claim = identity_of(self.CLAIM, self.CLASS, args, self._deployment)
        self._address = str(self.claim.key)
        self._made: list[Managed | Composite] = []
        self._secrets: list[Connection] = []
        self._secret_resources: list[Managed] = []
        self.details: pulumi.Output[dict[str, str]] | None = None
        self.metadata: Mapping[str, Any] = args["metadata"]
        self.spec: dict[str, Any] = args["spec"]
        self.status: dict[str, Any] = {}
        """What the children tell, where the class says so."""
        self.tree: list[dict[str, Any]] = []
        """The children as `resources` lists them, once all are registered."""

    def _completed(self, args: Any) -> dict[str, Any]:
        """The claim as a plan has it: with what its definition, and the control plane behind it, fill in."""
        spec = defaulted(dict(args["spec"]), self.CLASS.defaults)
        name, parent = args["metadata"]["name"], Parent(self.CLASS.bound_by)
        return {**args, "spec": with_secret_place(spec, name, parent, self.CLASS.secret_namespace)}

    def _inputs(self, args: Any) -> dict[str, Any]:
        """What a preview compares: the claim's spec and the class, which is no part of the URN."""
        return {"class": str(self.CLASS), "spec": secrets_hidden(args["spec"])}

    def child(
        self,
        template: str,
        api_version: str,
        kind: str,
        /,
        *,
        class_ref: ClassReference | None = None,
        managed: bool = True,
        previous_name: str | None = None,
        ready: Sequence[str] | None = None,
        awaits: Sequence[str] = (),
        **fields: Any,
    ) -> Managed:
        """Register what a template makes, with its name, labels and the reference to its parent.

        `ready` says when it counts as made, and `awaits` which of its fields others are made of.
        """
        dressed = self._followed(template, self._dressed(template, api_version, kind, fields, class_ref, previous_name))
        wait_for = flow.wait_for(managed=managed, ready=ready, awaits=awaits)
        options = options_of(dressed, managed=managed, identity=self.claim, wait_for=wait_for)
        dressed = self._as_controllers_left_it(dressed, options)
        aliases = self._known_before(dressed, previous_name, options.previous_api_version)
        provider = self._deployment.provider_for(self.CLASS.service_account)
        needs = self._deployment.needs(dressed)
        opts = resource_options(options, parent=self, provider=provider, aliases=aliases, depends_on=needs)
        child = Managed(f"{self._name}/{template}", engine_document(dressed, options, self.claim), opts)
        child.kept = options.retain
        self._made.append(child)
        class_name = class_ref[2] if class_ref else ""
        labels = dressed["metadata"].get("labels") or {}
        address = f"{self._address}/{template}"
        target = Target(address, GroupKind.of(dressed), labels, self._address, template=template, class_name=class_name)
        self._deployment.add(target, child)
        return child

    def _known_before(
        self, document: Mapping[str, Any], previous_name: str | None, previous_api_version: str
    ) -> list[pulumi.Alias]:
        """What the engine may know a child as from before: by another template's name, or another apiVersion."""
        named = {"name": f"{self._name}/{previous_name}"} if previous_name else {}
        typed = {}
        if previous_api_version:
            typed = {"type_": resource_type({"apiVersion": previous_api_version, "kind": document["kind"]})}
        parts = [named, typed, {**named, **typed} if named and typed else {}]
        return [pulumi.Alias(**part) for part in parts if part]

    def templated(
        self, template: str, api_version: str, kind: str, /, *, engine: str, text: str, previous_name: str | None = None
    ) -> Managed:
        """Register what a template's text becomes for the claim."""
        claim = {**self._args, "metadata": {**self._args["metadata"], "uid": self.claim.uid}}
        head = {"apiVersion": api_version, "kind": kind}
        document = templated(Opaque(engine, text), head, claim)
        fields = {k: v for k, v in document.items() if k not in head}
        return self.child(template, api_version, kind, previous_name=previous_name, **fields)

    def _followed(self, template: str, document: dict[str, Any]) -> dict[str, Any]:
        """The document with its selectors followed that a template's text made, or a patch copied from the claim.

        Those that the class itself has are followed in the generated code already.
        """
        own = Target(f"{self._address}/{template}", GroupKind.of(document), {}, self._address, template=template)

        def ref_of(selection: Selection) -> dict[str, Any]:
            return {"name": self._picked(selection, own, fieldpath.to_text(selection.ref_path))}

        return reference.replace_selectors(document, self._deployment.table, ref_of)

    def composite(
        self, template: str, api_version: str, kind: str, /, *, previous_name: str | None = None, **fields: Any
    ) -> "Composite | None":
        """Make what a template composes in turn: a component within this one. None where nothing serves it yet."""
        dressed = self._dressed(template, api_version, kind, fields, None, previous_name, composite=True)
        metadata = dressed["metadata"]
        key = ClaimKey(GroupKind.of(dressed), metadata.get("namespace", ""), metadata["name"])
        found = self._deployment.composite(str(key))
        if found:
            component, planned = found
            # What the definition's schema leaves out and fills in is known from the plan.
            known = within(dressed, planned) if self.claim.parent in (Parent.xr, Parent.xr_claim) else dressed
            args = {**filled(known, planned), "metadata": {**metadata, "uid": planned["metadata"]["uid"]}}
        elif self._deployment.planned:
            return None
        else:
            component, args = self._serving(dressed), dressed
        aliases = [pulumi.Alias(name=f"{self._name}/{previous_name}")] if previous_name else []
        opts = pulumi.ResourceOptions(parent=self, aliases=aliases)
        inner: Composite = component(f"{self._name}/{template}", args, opts, context=self._deployment)
        self._made.append(inner)
        if self.claim.parent is Parent.xr_claim:
            self.status = inner.status
        return inner

    def _serving(self, document: Mapping[str, Any]) -> "type[Composite]":
        """The component for a composite that no plan knows: the one that the context names, or that stands beside."""
        module = vars(sys.modules[type(self).__module__])
        beside = [v for v in module.values() if isinstance(v, type) and issubclass(v, Composite)]
        kind = GroupKind.of(dict(document))
        known: list[type[Composite]] = list(dict.fromkeys((*self._deployment.serving, *beside)))
        fitting = [c for c in known if c.CLAIM.group_kind == kind]
        named = composition_of(document.get("spec") or {})
        chosen = [c for c in fitting if named in (None, c.CLASS.name)]
        first = [c for c in chosen if c in self._deployment.serving][:1] or chosen
        if len(first) == 1:
            return first[0]
        names = ", ".join(c.__name__ for c in fitting) or "none"
        why = f"several components serve {kind}" if chosen else f"no component serves {kind}"
        what = f"{self._address}: {why}{f' with the composition {named!r}' if named else ''}, known are: {names}"
        raise GenerateError(Problem(what, fix="pass the component to use: context=Context(serving=[…])"))

    def select(self, template: str, path: str, kinds: str, labels: Mapping[str, str]) -> pulumi.Output[str]:
        """The name of a resource of this stack, whoever made it, of one of these kinds and with these labels.

        `path` is where the template refers to it: the plan knows by it what was picked.
        """
        own = Target(f"{self._address}/{template}", GroupKind("", ""), {}, self._address)
        wanted = tuple(GroupKind.parse(kind) for kind in kinds.split(" or "))
        selection = Selection((), "", wanted, same_parent=False, labels=labels)
        return self._picked(selection, own, path)

    def _picked(self, selection: Selection, own: Target, path: str) -> pulumi.Output[str]:
        """The name of what the plan picked, or of what is picked here where a component is used without one."""
        address = self._deployment.picks.get((own.address, path))
        if address is None:
            candidates = [t for kind in selection.targets for t in self._deployment.targets(kind)]
            address = reference.pick(selection, own=own, candidates=candidates).address
        return self._deployment.name_of(address)

    def publish_connection(
        self, *sources: "Source", place: Mapping[str, str] | None = None, patched: Mapping[str, Any] | None = None
    ) -> None:
        """Unite the children's connection Secrets in those that the claim and its class ask for.

        `place` is where the class puts the Secret of a composite that has none of its own, as `patched`.
        """
        found = [found for source in sources if (found := _source(source))]
        places = [source for source, _ in found]
        wish = self._wish() if place is None else self._composed_secret(place, patched or {}) if found else None
        self._secrets = connections_of(self.claim, wish, places, only=self.CLASS.connection_keys)
        if not self._secrets:
            return
        later_wins = self.claim.parent is Parent.xr
        self.details = secrets.united(
            self._deployment, self._address, self._secrets[-1], found, parent=self, later_wins=later_wins
        )
        for secret in self._secrets:
            last = secret is self._secrets[-1]
            self._secret_resources.append(self._secret(secret, "connection" if last else "composite-connection", found))

    def finish(self) -> None:
        """Write the records, where the stack keeps them, and tell the engine that all children are registered."""
        references = [_reference(made) for made in self._made]
        waits: list[Any] = [m.ready if isinstance(m, Managed) else m.phase for m in self._made]
        waits += [s.ready for s in self._secret_resources]
        if self._deployment.records:
            self._record(references)
        self.phase = pulumi.Output.all(*waits).apply(lambda _: "Bound")
        self.tree = [
            {**r, "resources": m.tree} if isinstance(m, Composite) and m.tree else r
            for r, m in zip(references, self._made, strict=True)
        ]
        self.resources = self.phase.apply(lambda _: self.tree)
        self.connection_keys = pulumi.Output.from_input([])
        if self.details is not None:
            self.connection_keys = pulumi.Output.unsecret(
                pulumi.Output.all(self.details, *waits).apply(lambda parts: sorted(parts[0]))
            )
        outputs = {"phase": self.phase, "resources": self.resources, "connectionKeys": self.connection_keys}
        told = {"status": self._sent(self.status)} if self.status else {}
        self.register_outputs({**outputs, **told})

    @property
    def seen(self) -> dict[str, Any]:
        """The composite as what it is part of sees it."""
        return {"metadata": self.metadata, "spec": self.spec, "status": self._sent(self.status)}

    def _sent(self, value: Any) -> Any:
        """A document as it is sent to the engine."""
        return value

    def _composed_secret(self, place: Mapping[str, str], patched: Mapping[str, Any]) -> tuple[str, str]:
        """Namespace and name of the Secret that is composed for a composite which has none of its own."""
        name, namespace = details.secret_place(
            self._args, ComposedSecret(place.get("name", ""), place.get("namespace", ""))
        )
        chosen = {"name": name, "namespace": namespace, **(pruned(dict(patched)) if patched else {})}
        return str(chosen["namespace"] or self.claim.namespace), str(chosen["name"])

    def _wish(self) -> tuple[str, str] | None:
        """Namespace and name of the Secret that the claim asks for, in its dialect's words."""
        infrastructure = self._args["spec"].get("infrastructure")
        spec = infrastructure if isinstance(infrastructure, dict) else self._args["spec"]
        wish = spec.get("writeConnectionSecretToRef")
        usual = self.claim.namespace or self.CLASS.secret_namespace or SECRET_NAMESPACE
        return (wish.get("namespace") or usual, wish["name"]) if wish else None

    def _dressed(
        self,
        template: str,
        api_version: str,
        kind: str,
        fields: dict[str, Any],
        class_ref: ClassReference | None,
        previous_name: str | None,
        *,
        composite: bool = False,
    ) -> dict[str, Any]:
        given = pruned(fields)
        document = {"apiVersion": api_version, "kind": kind, **(self._sent(given) if given is not ABSENT else {})}
        own = dict(zip(("apiVersion", "kind", "name"), class_ref, strict=True)) if class_ref else None
        return dress(
            document, template, self.claim, class_ref=own, named_after=previous_name, composite=composite, join=join
        )

    def _as_controllers_left_it(self, document: dict[str, Any], options: Options) -> dict[str, Any]:
        """The document with the live values of fields that its controller owns.

        An object that outlived its claim is taken up again by creating it: were our own values sent then,
        the cluster would refuse them as the controller's.
        """
        paths = [p for p in options.ignore_changes if has(document, p)]
        live = self._deployment.live(document) if paths else None
        return with_live_values(document, live, paths) if live else document

    def _secret(self, secret: Connection, word: str, sources: Sequence[tuple[SecretPlace, Any]]) -> Managed:
        self._deployment.connections[secret.namespace, secret.name] = self.details
        document = {**secret_document(self.claim, secret), "data": self.details}
        document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(self.claim.project, self.claim.stack)
        return Managed(
            f"{self._name}/{word}",
            document,
            pulumi.ResourceOptions(
                parent=self,
                provider=self._deployment.provider,
                additional_secret_outputs=["data", "stringData"],
                depends_on=[*(made for _, made in sources), *self._deployment.needs(document)],
            ),
        )

    def _children(self) -> list[Managed]:
        return [made for made in self._made if isinstance(made, Managed)]

    def _record(self, references: list[dict[str, str]]) -> None:
        for word, document in records_of(self.claim, self._args, references, self._secrets):
            document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(self.claim.project, self.claim.stack)
            needs = self._deployment.needs(document)
            # A composite stays with what it is made of, or where its class says so.
            kept = word == "composite" and (self.CLASS.retain or any(c.kept for c in self._children()))
            opts = pulumi.ResourceOptions(
                parent=self, provider=self._deployment.provider, depends_on=needs, retain_on_delete=kept or None
            )
            Managed(f"{self._name}/{word}", document, opts)


Source = Managed | Composite | None | tuple[Managed | Composite | None, Mapping[str, "str | Detail"]]
"""A child, or a child with the names and keys of the details that count."""


def engine_document(document: Mapping[str, Any], options: Options, identity: Identity) -> dict[str, Any]:
    """The document with what the engine and its Kubernetes provider are told by annotation."""
    metadata = document["metadata"]
    annotations = {**metadata.get("annotations", {}), **engine_annotations(options, identity)}
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def resource_options(
    options: Options, *, parent: pulumi.Resource, provider: Any, **more: Any
) -> pulumi.ResourceOptions:
    """A child's options as the engine knows them, with others beside them."""
    return pulumi.ResourceOptions(
        parent=parent,
        provider=provider,
        retain_on_delete=options.retain or None,
        protect=options.protect or None,
        ignore_changes=list(options.ignore_changes),
        custom_timeouts=pulumi.CustomTimeouts(create=options.timeout, update=options.timeout, delete=options.timeout),
        **more,
    )


def _source(source: "Source") -> tuple[SecretPlace, Managed | Composite] | None:
    made, keys = source if isinstance(source, tuple) else (source, None)
    wanted = None if keys is None else [_detail(name, key) for name, key in keys.items()]
    match made:
        case Managed():
            place = connection.secret_place(made.template, made.document, wanted)
            return (place, made) if place else None
        case Composite():
            secret = (made._secrets[-1].namespace, made._secrets[-1].name) if made._secrets else None
            name, inner = made._name.rpartition("/")[2], made.claim.parent is Parent.xr
            place = connection.composite_place(name, made.CLAIM.kind, secret, wanted, composed=inner)
            return (place, made) if place else None
        case _:
            return None


def _detail(name: str, key: "str | Detail") -> Detail:
    return replace(key, name=name) if isinstance(key, Detail) else Detail(name, key)


def _reference(made: Managed | Composite) -> dict[str, str]:
    if isinstance(made, Composite):
        return dict(made.claim.claim_reference())
    document = made.document
    place = {"namespace": document["metadata"]["namespace"]} if document["metadata"].get("namespace") else {}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        **place,
        "name": document["metadata"]["name"],
    }
