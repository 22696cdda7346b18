"""From claims to drafts: each claim is bound, its children are composed, and composites among them are claims again.

A draft is a bound claim with its patched and dressed children; a child of a defined kind is a draft of its own, so
that composites of composites become a tree. References between children are not followed yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from claimsmith import templating
from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import BindingError, Collector, ComposeError, EngineError, Problem, Refused, Source, at
from claimsmith.base.labels import IMPORT
from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.base.values import Ref, SiblingOutput, has, known, mapped, object_at
from claimsmith.compose import piped
from claimsmith.compose.identity import dress, identity_of
from claimsmith.compose.limits import refuse_huge, refuse_name
from claimsmith.compose.native_children import (
    UNKNOWN,
    NativeTypes,
    imports_of,
    native_document,
    resolved,
    sibling_value,
)
from claimsmith.compose.options import Options, options_of
from claimsmith.compose.piped import Live, Piped
from claimsmith.compose.unrolling import is_varied, unrolled
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.dialect import SECRET_REF, Dialect, Identity
from claimsmith.dialects.common.klass import Opaque, Patch, Side, Template
from claimsmith.dialects.common.template import cleaned
from claimsmith.dialects.workloads.reading import APPLICATION, Application, read_application
from claimsmith.functions.registry import Declared
from claimsmith.kubernetes.scope import Scopes, refuse_elsewhere
from claimsmith.patching import environments, patches, transforms
from claimsmith.patching.compiled import Composed, Reader, compiled
from claimsmith.platform.binding import (
    Binding,
    ClassChanged,
    Record,
    Unbound,
    accepted,
    bind_one,
    changed_and_gone,
    composed_kinds,
    folded,
)
from claimsmith.platform.catalog import Catalog

Sides = dict[Side, dict[str, Any]]
"""What patches read and write beside the child: the claim, and the environment."""


@dataclass(frozen=True, slots=True)
class Child:
    """One resource of a claim: its whole document, and how it is deployed."""

    address: ChildAddress
    template: Template
    document: dict[str, Any]
    options: Options
    outcomes: tuple[patches.Outcome, ...] = ()
    picks: Mapping[str, str] = field(default_factory=dict)
    """The addresses of what its selectors picked among all resources of the stack, by the reference's path."""

    @property
    def name(self) -> str:
        """The resource's name in the cluster; of a native one, its name for the engine."""
        return str(self.document["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """The resource's namespace, empty at cluster scope."""
        return str(self.document["metadata"].get("namespace", ""))


@dataclass(slots=True)
class Draft:
    """A bound claim with its children; composites among them are drafts themselves, under their template's name."""

    binding: Binding
    identity: Identity
    template: str = ""
    children: list[Child] = field(default_factory=list)
    nested: list[Draft] = field(default_factory=list)
    outcomes: tuple[patches.Outcome, ...] = ()
    """The outcomes of the patches of its template."""
    applications: list[Application] = field(default_factory=list)
    """Applications that it composes for other clusters: scheduled like those that users write."""
    status: dict[str, Any] = field(default_factory=dict)
    """The status that patches of its children write: mostly values that are known only later."""
    environment: dict[str, Any] = field(default_factory=dict)
    """The environment of its composition."""
    piped: Piped | None = None
    """What its pipeline makes, for a composition with other functions than patches."""

    def sides(self) -> Sides:
        """What patches read beside the child: the claim with its final status, and the environment."""
        status = {ordering.STATUS: self.status} if self.binding.klass.dialect.pipelined else {}
        return {Side.claim: {**claim_data(self.binding), **status}, Side.environment: self.environment}

    def walk(self) -> Iterator[Draft]:
        """This draft and all below it, parents first."""
        yield self
        for draft in self.nested:
            yield from draft.walk()


@dataclass(frozen=True, slots=True)
class Expansion:
    """All claims of a stack as drafts, and those that nothing serves."""

    drafts: tuple[Draft, ...]
    unbound: tuple[Unbound, ...]
    environments: tuple[Mapping[str, Any], ...] = ()
    """What compositions may read beside their composites."""
    warnings: tuple[Problem, ...] = ()
    complete: bool = True
    """Whether every claim could be composed: else references may lead to what is missing here."""

    def bindings(self) -> list[Binding]:
        """Every binding, those of composites below their claims'."""
        return [d.binding for root in self.drafts for d in root.walk()]


def expand(
    catalog: Catalog,
    records: Iterable[Record],
    *,
    project: str,
    stack: str,
    scopes: Scopes,
    rebind: frozenset[ClaimKey] = frozenset(),
    types: NativeTypes = UNKNOWN,
    live: Live | None = None,
    declared: Declared | None = None,
    refused: Refused | None = None,
) -> Expansion:
    """Every claim of the catalog as a draft; the problems of all claims are reported together.

    `refused` takes them where the other claims are to be drafted all the same; a class that changed then counts as it
    is now.

    `live` is what exists in the cluster, for pipelines that depend on it; without it nothing exists. `declared` are the
    functions of the project.
    """
    records = list(records)
    expander = _Expander(
        catalog,
        {r.claim: r for r in records},
        project,
        stack,
        scopes,
        rebind,
        types,
        live,
        declared,
        tolerant=refused is not None,
    )
    drafts = [d for claim in catalog.claims.values() if (d := expander.draft(claim, ()))]
    known = {d.binding.claim.key for root in drafts for d in root.walk()} | set(catalog.claims)
    if refused is None:
        # Else a claim may be missing because it cannot be read. Where one could not be composed, nothing is known of
        # the composites within it: they are not gone.
        failed_so_far = expander.bind_problems.problems or expander.problems.problems
        unseen = composed_kinds(catalog) if failed_so_far else frozenset()
        gone = [r for r in records if r.claim not in known and r.claim.group_kind not in unseen]
        expander.bind_problems.problems += changed_and_gone(catalog, gone)
    expander.bind_problems.problems = folded(expander.bind_problems.problems)
    failed = {p for p in expander.bind_problems.problems if not isinstance(p, ClassChanged)} | {
        *expander.problems.problems
    }
    expander.bind_problems.raise_as(BindingError, refused)
    expander.problems.raise_as(ComposeError, refused)
    environments = tuple(d.data for d in catalog.crossplane.environments.values())
    return Expansion(
        tuple(drafts), tuple(expander.unbound), environments, tuple(expander.warnings), complete=not failed
    )


def claim_data(binding: Binding) -> dict[str, Any]:
    """The claim as patches read it: with its namespace and uid filled in."""
    data = binding.claim.data
    key = binding.claim.key
    place = {"namespace": key.namespace} if key.namespace else {}
    metadata = {**(data.get("metadata") or {}), **place, "uid": binding.uid}
    spec = with_secret_place(data.get("spec") or {}, key.name, binding.klass.dialect, binding.klass.secret_namespace)
    return {**data, "metadata": metadata, "spec": spec}


def with_secret_place(spec: dict[str, Any], name: str, dialect: Dialect, namespace: str | None) -> dict[str, Any]:
    """The spec of a composite with the place of its Secret, as its control plane fills it in where nobody else did."""
    if not dialect.default_secret or not namespace:
        return spec
    return {**spec, SECRET_REF: {"namespace": namespace, "name": name, **(spec.get(SECRET_REF) or {})}}


@dataclass(slots=True)
class _Expander:
    catalog: Catalog
    records: Mapping[ClaimKey, Record]
    project: str
    stack: str
    scopes: Scopes
    rebind: frozenset[ClaimKey]
    types: NativeTypes
    live: Live | None = None
    declared: Declared | None = None
    tolerant: bool = False
    unbound: list[Unbound] = field(default_factory=list)
    problems: Collector = field(default_factory=Collector)
    bind_problems: Collector = field(default_factory=Collector)
    warnings: list[Problem] = field(default_factory=list)

    def draft(self, claim: Claim, above: tuple[Claim, ...]) -> Draft | None:
        """The claim bound and composed, or None where that failed; the problems are collected."""
        _refuse_circle(claim, above)
        with self.bind_problems.catch():
            record = self.records.get(claim.key)
            if self.tolerant and record and record.klass.name in self.catalog.unreadable:
                return None
            bound = self._bound(claim, record)
            if isinstance(bound, Unbound):
                self.unbound.append(bound)
                return None
            with self.problems.catch():
                if is_varied(bound.klass):
                    bound = replace(bound, klass=unrolled(bound.klass, claim_data(bound), claim.document))
                try:
                    return self._draft(bound, above)
                except templating.TemplateError as error:
                    # A bad template fails its claim only, unless the claim has resources already: they must not go.
                    if record:
                        raise
                    self.unbound += [Unbound(claim, problem, mistake=True) for problem in error.problems]
        return None

    def _bound(self, claim: Claim, record: Record | None) -> Binding | Unbound:
        """The claim with its class; one that changed is reported, and serves it all the same where others go on."""
        bind = partial(
            bind_one, claim, catalog=self.catalog, project=self.project, stack=self.stack, anew=claim.key in self.rebind
        )
        try:
            return bind(record)
        except BindingError as error:
            if not (self.tolerant and record and all(isinstance(p, ClassChanged) for p in error.problems)):
                raise
            self.bind_problems.problems += error.problems
            return bind(accepted([record], self.catalog, [record.klass.name])[0])

    def _draft(self, binding: Binding, above: tuple[Claim, ...]) -> Draft:
        claim, klass, stack = binding.claim, binding.klass, binding.stack or self.stack
        identity = identity_of(claim.key, claim.data, klass, project=self.project, stack=stack, uid=binding.uid)
        draft = Draft(binding, identity)
        if ordering.is_piped(klass):
            return self._piped(draft, above)
        reader = Reader(draft.sides())
        waits = ordering.awaited(binding.klass)
        problems = Collector()
        for operation in ordering.operations(binding.klass):
            with problems.catch(but=templating.TemplateError):
                if operation.template:
                    child = self._child(operation.template, draft, reader, waits.get(operation.name, ()), above)
                    if child:
                        _patch_outward(operation, child, reader, binding)
                else:
                    self._environment(operation, reader, binding)
        problems.raise_as(ComposeError)
        draft.environment = reader.sides[Side.environment]
        if binding.klass.dialect.composite_status and draft.nested:
            draft.status = draft.nested[0].status
        return draft

    def _piped(self, draft: Draft, above: tuple[Claim, ...]) -> Draft:
        """The draft with the children that its pipeline makes."""
        binding, klass = draft.binding, draft.binding.klass
        catalog = self.catalog
        given = [d.data for d in (*catalog.crossplane.environments.values(), *catalog.resources.values())]
        with at(None, prefix=f"{binding.claim.key}: "):
            made = piped.run(
                klass,
                claim_data(binding),
                draft.identity,
                resources=given,
                live=self.live,
                declared=self.declared,
                managed=partial(klass.dialect.is_managed, managed=catalog.managed, seen=catalog.seen),
            )
        draft.piped = replace(made, templates=catalog.marked(klass, made.templates))
        draft.status, draft.environment = made.status, made.environment
        self.warnings += made.warnings
        reader = Reader(draft.sides())
        problems = Collector()
        for template in draft.piped.templates:
            with problems.catch():
                self._child(template, draft, reader, (), above)
        problems.raise_as(ComposeError)
        return draft

    def _child(
        self, template: Template, draft: Draft, reader: Reader, waits: Sequence[str], above: tuple[Claim, ...]
    ) -> Child | Draft | None:
        """The child of a template, added to the draft; None where it is deployed elsewhere, or not yet."""
        binding, identity = draft.binding, draft.identity
        composed = _composed(template, reader, binding)
        if not composed.fits:
            refuse_huge(composed, template, binding)
        if template.native:
            return self._native(template, composed, draft)
        dressed = dress(
            _resolved(composed.document, template, draft),
            template.name,
            identity,
            class_ref=template.class_ref,
            named_after=template.named_after,
            composite=template.composite,
        )
        with at(partial(binding.klass.source_of, template), prefix=f"{binding.claim.key}, child {template.name!r}: "):
            refuse_name(dressed)
            self._check_scope(template, binding)
            if identity.namespaced:
                refuse_elsewhere(dressed, identity.namespace)
            managed = template.managed and not template.composite
            wait_for = ordering.wait_for(managed=managed, ready=ordering.ready(template), awaits=waits)
            options = options_of(dressed, managed=managed, identity=identity, wait_for=wait_for)
        if template.group_kind == APPLICATION:
            draft.applications.append(_application(template, dressed, binding))
            return None
        if template.composite:
            below = self._nested(template, dressed, binding, above)
            if below:
                below.outcomes = composed.outcomes
                draft.nested.append(below)
            return below
        address = ChildAddress(binding.claim.key, template.name)
        draft.children.append(Child(address, template, dressed, options, composed.outcomes))
        return draft.children[-1]

    def _native(self, template: Template, composed: Composed, draft: Draft) -> Child:
        """The native child of a template, added to the draft."""
        binding, identity = draft.binding, draft.identity
        prefix = f"{binding.claim.key}, child {template.name!r}: "
        with at(partial(binding.klass.source_of, template), prefix=prefix):
            document, options = native_document(
                composed.document,
                template,
                identity,
                binding.klass,
                value_of=partial(_sibling_value, draft),
                depended=partial(_sibling, draft),
                types=self.types,
            )
        with at(binding.claim.document.source_of(("metadata", "annotations", IMPORT)), prefix=prefix):
            imported = {} if binding.klass.dialect.publishing else imports_of(identity, binding.klass)
        if template.existing_id and imported:
            what = f"{prefix}a resource is either read, by resourceRef, or taken over, by {IMPORT}"
            raise ComposeError(binding.claim.document.problem(what, binding.claim.resource_path, "remove one of them"))
        if template.name in imported:
            document["options"] = {**document.get("options", {}), "import": imported[template.name]}
        address = ChildAddress(binding.claim.key, template.name)
        draft.children.append(Child(address, template, document, options, composed.outcomes))
        return draft.children[-1]

    def _check_scope(self, template: Template, binding: Binding) -> None:
        """Refuse a kind whose scope does not fit its parent's; some dialects allow an unknown scope."""
        lenient = binding.klass.dialect.any_scope and self.scopes.namespaced(template.group_kind) is None
        self.scopes.check(template.group_kind, namespaced=None if lenient else binding.klass.namespaced)

    def _environment(self, operation: ordering.Operation, reader: Reader, binding: Binding) -> None:
        """Start the environment, or apply one of its patches."""
        sides = reader.sides
        if operation.patch:
            _applied(operation.patch, sides, None, binding)
            reader.forget()
            return
        configs = [d.data for d in self.catalog.crossplane.environments.values()]
        with at(binding.klass.document.source_of(operation.at), prefix=f"{binding.claim.key}, {operation.name}: "):
            sides[Side.environment] = environments.started(operation.sources, sides, configs)

    def _nested(
        self, template: Template, document: dict[str, Any], binding: Binding, above: tuple[Claim, ...]
    ) -> Draft | None:
        """The composite of a template: a claim of its own."""
        where = binding.klass.source_of(template)
        asked = binding.claim.document
        own = binding.klass.dialect.publishing
        if own:
            document = _with_imports(document, binding)
        # The composite has the claim's own spec: its problems are in the claim's file.
        source = (
            Document(document, asked.file, asked.line, asked.text)
            if own
            else Document(document, where.file, where.line)
        )
        prefix = f"{binding.claim.key}, child {template.name!r}: "
        with at(where, prefix=prefix):
            source, messages = self.catalog.crossplane.pruned(source)
            claim = self.catalog.read_claim(source)
        if own:
            claim = replace(claim, may_use=binding.claim.may_use)
        written = template.document or binding.klass.document
        self.warnings += [
            replace(p, what=prefix + p.what, where=written.source_of(f"{template.at}.base.{p.path}")) for p in messages
        ]
        below = self.draft(claim, (*above, binding.claim))
        if below:
            below.template = template.name
        return below


def _with_imports(document: dict[str, Any], binding: Binding) -> dict[str, Any]:
    """A composite with what its claim takes over: the composite's class has the native resources."""
    given = object_at(object_at(binding.claim.data, "metadata"), "annotations").get(IMPORT)
    if not given:
        return document
    metadata = document["metadata"]
    annotations = {**(metadata.get("annotations") or {}), IMPORT: given}
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def _application(template: Template, document: dict[str, Any], binding: Binding) -> Application:
    """The application of a template. Only a parent in a namespace can compose one."""
    where = binding.klass.source_of(template)
    with at(where, prefix=f"{binding.claim.key}, child {template.name!r}: "):
        if not binding.klass.namespaced:
            fix = "compose it in an application: a kind that an ApplicationDefinition defines"
            raise ComposeError(Problem(f"{APPLICATION} lives in a namespace, and its parent does not", fix=fix))
        return read_application(Document(document, where.file, where.line))


def _composed(template: Template, reader: Reader, binding: Binding) -> Composed:
    """The document of a template: its base with its patches applied, or its rendered text."""
    if template.opaque is None:
        return compiled(template).make(reader, lambda problem, patch: _blamed(problem, patch, template, binding))
    where = binding.klass.source_of(template)
    with at(where, prefix=f"{binding.claim.key}, child {template.name!r}: "):
        return Composed(templated(template.opaque, template.base, reader.sides[Side.claim], where), (), fits=False)


def _resolved(document: dict[str, Any], template: Template, draft: Draft) -> dict[str, Any]:
    """The document of a Kubernetes object with the outputs of native siblings that its base names."""
    if not template.is_interpolated:
        return document
    found: dict[str, Any] = mapped(document, lambda leaf: resolved(leaf, partial(_sibling_value, draft)))
    return found


def _sibling_value(draft: Draft, output: SiblingOutput) -> Any:
    """A field of a sibling, as a class names it: the siblings that a template needs are composed before it."""
    nested = next((n for n in draft.nested if n.template == output.template), None)
    if nested:
        path = fieldpath.to_text(output.path)
        return patches.read(observed(nested, (path,)), output.path)
    child = next((c for c in draft.children if c.template.name == output.template), None)
    if child is None:
        what = f"${{{output}}} names a sibling that is no resource of this stack"
        raise ComposeError(Problem(what, fix="name a sibling that is deployed here"))
    return sibling_value(output, child.address, native=child.template.native, document=child.document)


def _sibling(draft: Draft, name: str) -> Ref | None:
    """A sibling as something to come after; None for a composite, whose children all come before its parent's."""
    child = next((c for c in draft.children if c.template.name == name), None)
    return Ref(child.address, ()) if child else None


def _patch_outward(operation: ordering.Operation, child: Child | Draft, reader: Reader, binding: Binding) -> None:
    """Apply the patches that read a composed child."""
    for patch in operation.outward:
        reader.forget()
        _applied(patch, {**reader.sides, Side.resource: observed(child, patch.reads)}, operation.template, binding)


def observed(child: Child | Draft, paths: Iterable[str]) -> dict[str, Any]:
    """A child as its outward patches read it: fields that are known later, with their values where these are certain.

    The status of a nested composite is complete already.
    """
    if isinstance(child, Draft):
        return {**claim_data(child.binding), ordering.STATUS: child.status}
    document: dict[str, Any] = {}
    for text in paths:
        path = fieldpath.parse(text)
        certain = known(fieldpath.get(child.document, path)) if has(child.document, text) else None
        fieldpath.put(document, path, Ref(child.address, path, known=certain))
    return document


def templated(
    opaque: Opaque, base: Mapping[str, Any], claim: Mapping[str, Any], where: Source | None = None
) -> dict[str, Any]:
    """The document that a template's text renders to for a claim; it must be of the template's kind."""
    document = templating.render_document(opaque.engine, opaque.text, claim)
    head = {key: document[key] for key in ("apiVersion", "kind")}
    if head != {key: base[key] for key in ("apiVersion", "kind")}:
        what = f"the template rendered {head['apiVersion']} {head['kind']}, not {base['apiVersion']} {base['kind']}"
        raise ComposeError(Problem(what, where, fix="let it begin with the apiVersion and kind of its class"))
    return cleaned(document, Document(document, where.file if where else ""), "", [], placed=True)


def _applied(patch: Patch, sides: Sides, template: Template | None, binding: Binding) -> patches.Outcome:
    """The outcome of a patch; its problems are reported with their places."""
    try:
        return patches.apply(patch, sides)
    except EngineError as error:
        raise ComposeError(*(_blamed(p, patch, template, binding) for p in error.problems)) from error


def _blamed(problem: Problem, patch: Patch, template: Template | None, binding: Binding) -> Problem:
    """The problem of a patch with both places: the claim's field where there is one, and the patch in the class."""
    document = (template.document if template else None) or binding.klass.document
    patch_place = document.source_of(patch.at)
    whose = f"child {template.name!r}" if template else "environment"
    from_claim = patch.origin is Side.claim and patch.reads
    # What a transform refuses is a value of the claim: its field comes first.
    field = f"{patch.reads[0]}: " if from_claim and transforms.AT in problem.what else ""
    what = f"{binding.claim.key}, {whose}: {field}{problem.what} (patch at {patch_place})"
    where = binding.claim.document.source_of(patch.reads[0]) if from_claim else patch_place
    fix = problem.fix or "fix the claim's value or the class's patch"
    return replace(problem, what=what, where=where, path=problem.path or patch.reads[0], fix=fix)


def _refuse_circle(claim: Claim, above: tuple[Claim, ...]) -> None:
    kinds = [c.key.group_kind for c in above]
    if claim.key.group_kind in kinds:
        way = " → ".join(str(k) for k in (*kinds[kinds.index(claim.key.group_kind) :], claim.key.group_kind))
        what = f"composition runs in a circle: {way}"
        raise ComposeError(
            Problem(what, claim.document.source_of(), fix="let one of these compositions compose something else")
        )
