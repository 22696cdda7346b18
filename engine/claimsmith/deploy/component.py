"""The base of all generated components: it registers a claim's children and its connection Secrets."""

import asyncio
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pulumi

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import EngineError
from claimsmith.base.labels import IMPORT
from claimsmith.base.names import ChildAddress, ClaimKey, GroupKind
from claimsmith.base.values import has
from claimsmith.compose import references as reference
from claimsmith.compose.child_documents import templated
from claimsmith.compose.cluster_records import records_of
from claimsmith.compose.connections import Connection
from claimsmith.compose.drafts import with_secret_place
from claimsmith.compose.identity import dress
from claimsmith.compose.options import Options, options_of, with_live_values
from claimsmith.compose.references import Candidate, Selection
from claimsmith.deploy import loops
from claimsmith.deploy.context import Context
from claimsmith.deploy.kubernetes_object import KubernetesObject, aliases, engine_document, resource_options
from claimsmith.deploy.loops import Element
from claimsmith.deploy.native import NativeChild
from claimsmith.deploy.native_children import NativeChildren
from claimsmith.deploy.published_connections import PublishedConnections
from claimsmith.deploy.served import (
    ClaimKind,
    ClassRef,
    component_for,
    identity_of,
    in_no_namespace,
    refuse_outputs,
)
from claimsmith.deploy.values import (
    evaluate,
    field,
    filled,
    join,
    once_known,
    pruned,
    secrets_hidden,
    with_defaults,
    within,
)
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.dialect import SECRET_REF
from claimsmith.dialects.common.klass import Opaque

ClassReference = tuple[str, str, str]


class _ComponentType(type):
    """Completes a component once its constructor returns, and ends a program with the message of a user's error.

    Completing it here, and not in the constructor, leaves no call to forget. A subclass may register more children in
    its own constructor: they count as well.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            component = super().__call__(*args, **kwargs)
            component._complete()
            return component
        except EngineError as error:
            # The program of a stack collects the errors of all components, and reports them at once.
            if (context := kwargs.get("context")) and context.planned:
                raise
            # Pulumi prints a RunError without a traceback, every other exception with one.
            raise pulumi.RunError(str(error)) from error


class Composite(NativeChildren, PublishedConnections, metaclass=_ComponentType):
    """The resources composed for one claim.

    `context` is what it shares with the other components of a program; by default, one for the whole program. The
    outputs below are set once the constructor of the outermost class has returned.
    """

    CLAIM = ClaimKind("", "")
    CLASS = ClassRef("", "", "")
    template = ""
    """The template that it is composed from, for a composite within another."""

    phase: pulumi.Output[str]
    """Bound, once all resources of the claim are ready."""
    resources: pulumi.Output[list[dict[str, Any]]]
    """The children: apiVersion, kind and name of each, or type and name; for a composite its own `resources` too."""
    connection_keys: pulumi.Output[list[str]]
    """The keys of the claim's Secret, never their values."""

    def __init__(
        self,
        name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
        *,
        context: Context | None = None,
    ) -> None:
        self._context = context or Context.default()
        self._secret_by_default = False
        args = self._args = args if self._context.planned else self._completed(args)
        super().__init__(self.CLAIM.type_token, name, self._inputs(args), opts)
        self.claim = identity_of(self.CLAIM, self.CLASS, args, self._context)
        self._address = str(self.claim.key)
        self._children: list[Child] = []
        self._secrets: list[Connection] = []
        self._secret_resources: list[KubernetesObject] = []
        self._keys: list[str] | None = None
        self._live: dict[str, pulumi.Output[Any]] = {}
        self.details: pulumi.Output[dict[str, str]] | None = None
        """The connection details of the claim, encoded as a Secret's data; None if it has none."""
        self.metadata: Mapping[str, Any] = args["metadata"]
        self.spec: dict[str, Any] = args["spec"]
        self.status: dict[str, Any] = {}
        """The status of the composite, as the class patches it from its children."""
        self.tree: list[dict[str, Any]] = []
        """The children, as `resources` lists them."""
        self._begin()

    def _begin(self) -> None:
        """What the constructor of a base of other components adds; theirs register the children after it."""

    def _completed(self, args: Any) -> dict[str, Any]:
        """The claim as a plan has it: with the defaults of its definition, and of the control plane behind it."""
        refuse_outputs(self.CLAIM, args)
        spec = with_defaults(dict(args.get("spec") or {}), self.CLASS.defaults)
        name = args["metadata"]["name"]
        self._secret_by_default = SECRET_REF not in spec
        return {**args, "spec": with_secret_place(spec, name, self.CLASS.dialect, self.CLASS.secret_namespace)}

    def _inputs(self, args: Any) -> dict[str, Any]:
        """What a preview compares: the claim's spec and its class. The URN has neither, so nothing is replaced."""
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
        known_as: Sequence[tuple[str, str]] = (),
        ready: Sequence[str] | None = None,
        awaits: Sequence[str] = (),
        fields: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> KubernetesObject:
        """Register the resource of a template, with its name, its labels and the reference to its parent.

        The fields of its document are keyword arguments; `fields` takes any others. `ready` are the conditions of a
        ready object, and `awaits` which of its fields other children read. `known_as` are the templates that it may
        have been, each with its apiVersion if that was another one.
        """
        bare = self._document(template, api_version, kind, {**(fields or {}), **more}, class_ref, previous_name)
        document = self._resolve_selectors(template, bare)
        wait_for = ordering.wait_for(managed=managed, ready=ready, awaits=awaits)
        options = options_of(document, managed=managed, identity=self.claim, wait_for=wait_for)
        document = self._with_live_values(document, options)
        opts = resource_options(
            options,
            parent=self,
            provider=self._context.provider_for(self.CLASS.service_account),
            aliases=aliases(self._name, document["kind"], previous_name, options.previous_api_version, known_as),
            depends_on=self._context.needs(document),
        )
        self._context.refuse_twice(document, self, opts.provider)
        child = KubernetesObject(f"{self._name}/{template}", engine_document(document, options, self.claim), opts)
        child.kept = options.retain
        self._children.append(child)
        class_name = class_ref[2] if class_ref else ""
        labels = document["metadata"].get("labels") or {}
        address = ChildAddress(self.claim.key, template)
        kind_of = GroupKind.of(document)
        target = Candidate(address, kind_of, labels, self._address, template=template, class_name=class_name)
        self._context.add(target, child)
        return child

    @property
    def _in_cluster(self) -> bool:
        """Whether any of its resources is an object in a cluster."""
        return any(
            c._in_cluster if isinstance(c, Composite) else isinstance(c, KubernetesObject) for c in self._children
        )

    def each(self, path: str, *, key: str = "") -> Iterator[Element]:
        """The elements of a list of the claim; `key` is the field that names the children of each."""
        return loops.each(self._args, path, key)

    def holds(self, condition: str, /, **elements: Any) -> bool:
        """Whether a CEL expression holds for the claim, and for the elements of the loops around it."""
        return loops.holds(condition, self._args, elements)

    def templated(
        self,
        template: str,
        api_version: str,
        kind: str,
        /,
        *,
        engine: str,
        text: str,
        previous_name: str | None = None,
        known_as: Sequence[tuple[str, str]] = (),
        managed: bool = True,
    ) -> KubernetesObject:
        """Register the resource that a template's text renders for the claim."""
        claim = {**self._args, "metadata": {**self._args["metadata"], "uid": self.claim.uid}}
        head = {"apiVersion": api_version, "kind": kind}
        document = templated(Opaque(engine, text), head, claim)
        fields = {k: v for k, v in document.items() if k not in head}
        return self.child(
            template, api_version, kind, previous_name=previous_name, known_as=known_as, managed=managed, fields=fields
        )

    def _resolve_selectors(self, template: str, document: dict[str, Any]) -> dict[str, Any]:
        """The document with its selectors resolved: those of a rendered text, or that a patch copied from the claim.

        The selectors of the class itself are resolved in the generated code.
        """
        address = ChildAddress(self.claim.key, template)
        own = Candidate(address, GroupKind.of(document), {}, self._address, template=template)

        def ref_of(selection: Selection) -> dict[str, Any]:
            return {"name": self._resolve(selection, own, fieldpath.to_text(selection.ref_path))}

        return reference.replace_selectors(document, self._context.table, ref_of)

    def composite(
        self,
        template: str,
        api_version: str,
        kind: str,
        /,
        *,
        previous_name: str | None = None,
        known_as: Sequence[tuple[str, str]] = (),
        fields: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> "Composite | None":
        """Register a child that is a composite itself: a component within this one. None if no class serves it yet."""
        whole = {**(fields or {}), **more}
        document = self._document(template, api_version, kind, whole, None, previous_name, composite=True)
        metadata = document["metadata"] = self._with_imports(document["metadata"])
        planned = self._planned(document)
        if planned:
            component, plan = planned
            # The plan has the document as the definition's schema prunes and defaults it.
            pruned_document = within(document, plan) if self.claim.dialect.crossplane else document
            args = {**filled(pruned_document, plan), "metadata": {**metadata, "uid": plan["metadata"]["uid"]}}
        elif self._context.planned:
            return None
        else:
            component, args = self._component_for(document), document
            if in_no_namespace(component.CLASS):
                metadata.pop("namespace", None)
        opts = pulumi.ResourceOptions(parent=self, aliases=aliases(self._name, kind, previous_name, known_as=known_as))
        inner: Composite = component(f"{self._name}/{template}", args, opts, context=self._context)
        inner.template = template
        self._children.append(inner)
        if self.claim.dialect.composite_status:
            self.status = inner.status
        return inner

    def _planned(self, document: dict[str, Any]) -> "tuple[Any, dict[str, Any]] | None":
        """The component and the plan of a composite; one of cluster scope loses the namespace that a template gives it.

        An API server takes that away, and so does the plan.
        """
        metadata = document["metadata"]
        for namespace in dict.fromkeys((metadata.get("namespace", ""), "")):
            key = ClaimKey(GroupKind.of(document), namespace, metadata["name"])
            planned = self._context.composite(str(key))
            if planned:
                if not namespace:
                    metadata.pop("namespace", None)
                return planned
        return None

    def _with_imports(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """The metadata of a composite with what its claim takes over: the composite's class has the native children."""
        given = self.claim.given_annotations.get(IMPORT) if self.claim.dialect.publishing else None
        return (
            {**metadata, "annotations": {**(metadata.get("annotations") or {}), IMPORT: given}} if given else metadata
        )

    def _component_for(self, document: Mapping[str, Any]) -> "type[Composite]":
        """The component for a composite that no plan has: one of the context, or of the module of this component."""
        module = vars(sys.modules[type(self).__module__])
        beside = [v for v in module.values() if isinstance(v, type) and issubclass(v, Composite)]
        component: type[Composite] = component_for(document, self._context.serving, beside, asked_by=self._address)
        return component

    def select(self, template: str, path: str, kinds: Sequence[str], labels: Mapping[str, str]) -> pulumi.Output[str]:
        """The name of a resource of this stack, of any claim, that has one of these kinds and these labels.

        `path` is the field that refers to it: by it, the plan knows which one was selected.
        """
        own = Candidate(ChildAddress(self.claim.key, template), GroupKind("", ""), {}, self._address)
        # Components that were generated by 0.1 write the kinds as one text.
        names = kinds.split(" or ") if isinstance(kinds, str) else kinds
        selection = Selection((), "", tuple(map(GroupKind.parse, names)), same_parent=False, labels=labels)
        return self._resolve(selection, own, path)

    def _resolve(self, selection: Selection, own: Candidate, path: str) -> pulumi.Output[str]:
        """The name of the resource that the plan selected; without a plan, that is selected here."""
        address = self._context.picks.get((own.address, path))
        if address is None:
            candidates = [t for kind in selection.targets for t in self._context.targets(kind)]
            address = reference.pick(selection, own=own, candidates=candidates).address
        return self._context.name_of(address)

    def observed(self, child: "KubernetesObject | Composite | None", path: str) -> Any:
        """A field of a child, once the child is created."""
        match child:
            case None:
                return ABSENT
            case Composite():
                return field({"metadata": child.metadata, "spec": child.spec, "status": child.status}, path)
            case _:
                return self._observe(child).apply(lambda document: evaluate(field, document, path))

    def _observe(self, child: KubernetesObject) -> pulumi.Output[Any]:
        """The live object of a child, read once."""
        if child.template not in self._live:
            parts = pulumi.Output.all(child.id, child.metadata, child.spec, child.status)
            self._live[child.template] = parts.apply(lambda known: self._read_live(child, known))
        return self._live[child.template]

    async def _read_live(self, child: KubernetesObject, parts: list[Any]) -> dict[str, Any]:
        # In a thread: Pulumi runs all callbacks of `apply` in the one event loop of the program.
        live = await asyncio.to_thread(evaluate, self._context.live, child.document)
        return live or dict(zip(("metadata", "spec", "status"), parts[1:], strict=True))

    def finish(self) -> None:
        """Do nothing: a component is complete once its constructor returns."""
        what = "Composite.finish() is deprecated and does nothing: run claimsmith generate, or remove the call"
        warnings.warn(what, DeprecationWarning, stacklevel=2)

    def _complete(self) -> None:
        """Write the records, if the stack keeps them, and report to the engine that all children are registered."""
        self._add_natives()
        self._children = [c for c in self._children if not isinstance(c, NativeChild) or c.resource]
        references = [_reference(child) for child in self._children]
        waits, conditions = self._waits()
        if self._context.records:
            self._record([r for r in references if "apiVersion" in r])
        self.phase = once_known(waits, lambda *_: "Bound", conditions=conditions)
        self.tree = [
            {**r, "resources": c.tree} if isinstance(c, Composite) and c.tree else r
            for r, c in zip(references, self._children, strict=True)
        ]
        self.resources = self.phase.apply(lambda _: self.tree)
        if self._keys is None and self.details is not None:
            # An Output of a secret is a secret: without this, a preview would show the keys as [secret].
            self.connection_keys = pulumi.Output.unsecret(
                once_known([self.details, self.phase], lambda d, _: sorted(d))
            )
        else:
            keys = self._keys
            self.connection_keys = once_known([self.phase] if keys is not None else [], lambda *_: keys or [])
        outputs = {"phase": self.phase, "resources": self.resources, "connectionKeys": self.connection_keys}
        status = {"status": self._for_engine(self.status)} if self.status else {}
        self.register_outputs({**outputs, **status})

    def _waits(self) -> tuple[list[pulumi.Output[Any]], list[pulumi.Output[Any]]]:
        """What the phase depends on: outputs of all children, and others that must only be known."""
        waits: list[pulumi.Output[Any]] = []
        conditions: list[pulumi.Output[Any]] = []
        for child in self._children:
            if isinstance(child, NativeChild):
                id_, *others = child.signs
                waits.append(id_)
                conditions += others
            else:
                waits.append(child.phase if isinstance(child, Composite) else child.ready)
        return [*waits, *(secret.ready for secret in self._secret_resources)], conditions

    @property
    def document(self) -> dict[str, Any]:
        """The composite as a document, for the component that it is part of."""
        return {"metadata": self.metadata, "spec": self.spec, "status": self._for_engine(self.status)}

    def _for_engine(self, value: Any) -> Any:
        """A document as it is sent to the engine."""
        return value

    def _document(
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
        """The document of a template: its fields, its name and labels, and the reference to its parent."""
        present = pruned(fields)
        document = {"apiVersion": api_version, "kind": kind}
        document |= self._for_engine(present) if present is not ABSENT else {}
        own = dict(zip(("apiVersion", "kind", "name"), class_ref, strict=True)) if class_ref else None
        return dress(
            document, template, self.claim, class_ref=own, named_after=previous_name, composite=composite, join=join
        )

    def _with_live_values(self, document: dict[str, Any], options: Options) -> dict[str, Any]:
        """The document with the live values of the fields that its controller owns.

        An object that outlived its claim is adopted by creating it. Pulumi applies `ignoreChanges` to updates only:
        a create would send our values, and the API server would refuse them as a conflict with the controller.
        """
        paths = [p for p in options.ignore_changes if has(document, p)]
        live = self._context.live(document) if paths else None
        return with_live_values(document, live, paths) if live else document

    def _record(self, references: list[dict[str, str]]) -> None:
        for word, document in records_of(self.claim, self._args, references, self._secrets):
            # A composite stays with its children that stay, or if its class says so.
            kept = word == "composite" and (
                self.CLASS.retain or any(not isinstance(c, Composite) and c.kept for c in self._children)
            )
            self._write(word, document, retain_on_delete=kept or None)


Child = KubernetesObject | NativeChild | Composite
"""What a component has: an object in the cluster, a resource of a provider's SDK, or a component within it."""


def _reference(child: Child) -> dict[str, str]:
    if isinstance(child, Composite):
        return dict(child.claim.claim_reference())
    if isinstance(child, NativeChild):
        return child.reference()
    document = child.document
    place = {"namespace": document["metadata"]["namespace"]} if document["metadata"].get("namespace") else {}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        **place,
        "name": document["metadata"]["name"],
    }
