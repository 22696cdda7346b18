"""From claims to drafts: each claim is bound, its children are composed, and composites among them are claims again.

A draft is a bound claim with its patched and dressed children; a child of a defined kind is a draft of its own, so
that composites of composites become a tree. References between children are not followed yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from claimsmith import fieldpath, flow, templating
from claimsmith.binding import PUBLISHING, Binding, Record, Unbound, bind_one, changed_and_gone
from claimsmith.catalog import Catalog
from claimsmith.compose import environments, patches
from claimsmith.compose.compiled import Made, Reader, compiled
from claimsmith.compose.identity import EXTERNAL_NAME, PROTECT, Identity, dress
from claimsmith.compose.options import Options, has, options_of
from claimsmith.documents import MAX_NODES, Document
from claimsmith.errors import BindingError, Collector, ComposeError, EngineError, Problem, Source, at
from claimsmith.models.claim import Claim
from claimsmith.models.klass import Opaque, Parent, Patch, Side, Template
from claimsmith.models.metadata import is_name
from claimsmith.models.objects import ClaimKey
from claimsmith.models.template import cleaned
from claimsmith.models.workload import APPLICATION, Application, read_application
from claimsmith.scope import Scopes, refuse_elsewhere
from claimsmith.values import Mix, Ref, is_later, known, walk

PROTECT_VALUE = "true"
SECRET_REF = "writeConnectionSecretToRef"
_INT64 = range(-(2**63), 2**63)

Sides = dict[Side, dict[str, Any]]
"""What patches read and write beside the child: the claim, and the environment."""


@dataclass(frozen=True, slots=True)
class Child:
    """One resource of a claim: its whole document, and how it is deployed."""

    address: str
    template: Template
    document: dict[str, Any]
    options: Options
    outcomes: tuple[patches.Outcome, ...] = ()
    picks: Mapping[str, str] = field(default_factory=dict)
    """The addresses of what its selectors picked among all resources of the stack, by the reference's path."""

    @property
    def name(self) -> str:
        """The resource's name in the cluster."""
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
    """What became of the patches of the template that made it."""
    applications: list[Application] = field(default_factory=list)
    """What it is made of in other clusters: scheduled like those that are authored."""
    status: dict[str, Any] = field(default_factory=dict)
    """What its children tell it, where its class says so: mostly values that are known only later."""
    environment: dict[str, Any] = field(default_factory=dict)
    """What its class reads beside it."""

    def sides(self) -> Sides:
        """What patches read beside the child: the claim as it is told in the end, and the environment."""
        told = {flow.STATUS: self.status} if self.binding.klass.parent is Parent.xr else {}
        return {Side.claim: {**claim_data(self.binding), **told}, Side.environment: self.environment}

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
) -> Expansion:
    """Every claim of the catalog as a draft; every problem of every claim is told at once."""
    records = list(records)
    expander = _Expander(catalog, {r.claim: r for r in records}, project, stack, scopes, rebind)
    drafts = [d for claim in catalog.claims.values() if (d := expander.draft(claim, ()))]
    known = {d.binding.claim.key for root in drafts for d in root.walk()} | set(catalog.claims)
    expander.bind_problems.problems += changed_and_gone(catalog, [r for r in records if r.claim not in known])
    expander.bind_problems.raise_as(BindingError)
    expander.problems.raise_as(ComposeError)
    environments = tuple(d.data for d in catalog.today.environments.values())
    return Expansion(tuple(drafts), tuple(expander.unbound), environments, tuple(expander.warnings))


def identity_of(binding: Binding, *, project: str, stack: str) -> Identity:
    """Who the children of a bound claim are."""
    claim, klass = binding.claim, binding.klass
    annotations = (claim.data.get("metadata") or {}).get("annotations") or {}
    return Identity(
        project=project,
        stack=binding.stack or stack,
        api_version=claim.api_version,
        kind=claim.key.group_kind.kind,
        namespace=claim.key.namespace,
        name=claim.key.name,
        uid=binding.uid,
        external_name=annotations.get(EXTERNAL_NAME),
        class_ref=klass.reference(),
        parent=klass.parent,
        namespaced=klass.namespaced,
        secret_namespace=klass.secret_namespace,
        reclaim_policy=claim.reclaim_policy if klass.parent is Parent.instance and not klass.namespaced else None,
        protect=PROTECT_VALUE in (annotations.get(PROTECT), klass.annotations.get(PROTECT)),
        given_labels=(claim.data.get("metadata") or {}).get("labels") or {},
        given_annotations=annotations,
    )


def claim_data(binding: Binding) -> dict[str, Any]:
    """The claim as patches read it: with its namespace and uid filled in."""
    data = binding.claim.data
    key = binding.claim.key
    place = {"namespace": key.namespace} if key.namespace else {}
    metadata = {**(data.get("metadata") or {}), **place, "uid": binding.uid}
    spec = with_secret_place(data.get("spec") or {}, key.name, binding.klass.parent, binding.klass.secret_namespace)
    return {**data, "metadata": metadata, "spec": spec}


def with_secret_place(spec: dict[str, Any], name: str, parent: Parent, namespace: str | None) -> dict[str, Any]:
    """The spec of a composite with the place of its Secret, as its control plane fills it in where nobody else did."""
    if parent is not Parent.xr or not namespace:
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
    unbound: list[Unbound] = field(default_factory=list)
    problems: Collector = field(default_factory=Collector)
    bind_problems: Collector = field(default_factory=Collector)
    warnings: list[Problem] = field(default_factory=list)

    def draft(self, claim: Claim, above: tuple[Claim, ...]) -> Draft | None:
        """The claim bound and composed, or None where that failed and was noted."""
        _refuse_circle(claim, above)
        with self.bind_problems.catch():
            record = self.records.get(claim.key)
            found = bind_one(
                claim, record, self.catalog, project=self.project, stack=self.stack, anew=claim.key in self.rebind
            )
            if isinstance(found, Unbound):
                self.unbound.append(found)
                return None
            with self.problems.catch():
                try:
                    return self._composed(found, above)
                except templating.TemplateError as error:
                    # A bad template fails its claim only, unless the claim has resources already: they must not go.
                    if record:
                        raise
                    self.unbound += [Unbound(claim, problem, mistake=True) for problem in error.problems]
        return None

    def _composed(self, binding: Binding, above: tuple[Claim, ...]) -> Draft:
        identity = identity_of(binding, project=self.project, stack=self.stack)
        draft = Draft(binding, identity)
        reader = Reader(draft.sides())
        waits = flow.awaited(binding.klass)
        problems = Collector()
        for operation in flow.operations(binding.klass):
            with problems.catch(but=templating.TemplateError):
                if operation.template:
                    made = self._child(operation.template, draft, reader, waits.get(operation.name, ()), above)
                    if made:
                        _tell(operation, made, reader, binding)
                else:
                    self._environment(operation, reader, binding)
        problems.raise_as(ComposeError)
        draft.environment = reader.sides[Side.environment]
        if binding.klass.parent is Parent.xr_claim and draft.nested:
            draft.status = draft.nested[0].status
        return draft

    def _child(
        self, template: Template, draft: Draft, reader: Reader, waits: Sequence[str], above: tuple[Claim, ...]
    ) -> Child | Draft | None:
        """What a template makes, noted in the draft; None where it is made elsewhere, or cannot be made yet."""
        binding, identity = draft.binding, draft.identity
        made = _made(template, reader, binding)
        if not made.fits:
            _refuse_huge(made, template, binding)
        dressed = dress(
            made.document,
            template.name,
            identity,
            class_ref=template.class_ref,
            named_after=template.named_after,
            composite=template.composite,
        )
        with at(partial(_place, template, binding), prefix=f"{binding.claim.key}, child {template.name!r}: "):
            refuse_name(dressed)
            self._check_scope(template, binding)
            if identity.namespaced:
                refuse_elsewhere(dressed, identity.namespace)
            managed = template.managed and not template.composite
            wait_for = flow.wait_for(managed=managed, ready=flow.ready(template), awaits=waits)
            options = options_of(dressed, managed=managed, identity=identity, wait_for=wait_for)
        if template.group_kind == APPLICATION:
            draft.applications.append(_application(template, dressed, binding))
            return None
        if template.composite:
            below = self._nested(template, dressed, binding, above)
            if below:
                below.outcomes = made.outcomes
                draft.nested.append(below)
            return below
        address = f"{binding.claim.key}/{template.name}"
        draft.children.append(Child(address, template, dressed, options, made.outcomes))
        return draft.children[-1]

    def _check_scope(self, template: Template, binding: Binding) -> None:
        """Refuse a kind that is not where its parent needs it; of today's kinds, one is only told to be elsewhere."""
        lenient = binding.klass.parent is Parent.xr and self.scopes.namespaced(template.group_kind) is None
        self.scopes.check(template.group_kind, namespaced=None if lenient else binding.klass.namespaced)

    def _environment(self, operation: flow.Operation, reader: Reader, binding: Binding) -> None:
        """What the environment starts as, or one of the patches that change it."""
        sides = reader.sides
        if operation.patch:
            _applied(operation.patch, sides, None, binding)
            reader.forget()
            return
        given = [d.data for d in self.catalog.today.environments.values()]
        with at(binding.klass.document.source_of(operation.at), prefix=f"{binding.claim.key}, {operation.name}: "):
            sides[Side.environment] = environments.started(operation.sources, sides, given)

    def _nested(
        self, template: Template, document: dict[str, Any], binding: Binding, above: tuple[Claim, ...]
    ) -> Draft | None:
        """A composite that a template makes: a claim of its own."""
        where = _place(template, binding)
        asked = binding.claim.document
        own = binding.klass.parent in PUBLISHING
        # The composite that a claim asks for says what the claim says: its problems are in the claim's file.
        source = (
            Document(document, asked.file, asked.line, asked.text)
            if own
            else Document(document, where.file, where.line)
        )
        prefix = f"{binding.claim.key}, child {template.name!r}: "
        with at(where, prefix=prefix):
            source, said = self.catalog.today.pruned(source)
            claim = self.catalog.read_claim(source)
        if own:
            claim = replace(claim, may_use=binding.claim.may_use)
        written = template.document or binding.klass.document
        self.warnings += [
            replace(p, what=prefix + p.what, where=written.source_of(f"{template.at}.base.{p.path}")) for p in said
        ]
        below = self.draft(claim, (*above, binding.claim))
        if below:
            below.template = template.name
        return below


def _application(template: Template, document: dict[str, Any], binding: Binding) -> Application:
    """An application that a template makes. Only what is in a namespace itself has a place for it."""
    where = _place(template, binding)
    with at(where, prefix=f"{binding.claim.key}, child {template.name!r}: "):
        if not binding.klass.namespaced:
            fix = "compose it in an application: a kind that an ApplicationDefinition defines"
            raise ComposeError(Problem(f"{APPLICATION} lives in a namespace, and its parent does not", fix=fix))
        return read_application(Document(document, where.file, where.line))


def _made(template: Template, reader: Reader, binding: Binding) -> Made:
    """What a template makes: its base with its patches, or what its text becomes."""
    if template.opaque is None:
        return compiled(template).make(reader, lambda problem, patch: _blamed(problem, patch, template, binding))
    where = _place(template, binding)
    with at(where, prefix=f"{binding.claim.key}, child {template.name!r}: "):
        return Made(templated(template.opaque, template.base, reader.sides[Side.claim], where), (), fits=False)


def _tell(operation: flow.Operation, made: Child | Draft, reader: Reader, binding: Binding) -> None:
    """Apply the patches that read a child which is made."""
    for patch in operation.outward:
        reader.forget()
        _applied(patch, {**reader.sides, Side.resource: seen(made, patch.reads)}, operation.template, binding)


def seen(made: Child | Draft, paths: Iterable[str]) -> dict[str, Any]:
    """A child as patches from it read it: fields that are known later, with what can be told of them in advance.

    A composite within another has told its status already.
    """
    if isinstance(made, Draft):
        return {**claim_data(made.binding), flow.STATUS: made.status}
    document: dict[str, Any] = {}
    for text in paths:
        path = fieldpath.parse(text)
        told = known(fieldpath.get(made.document, path)) if has(made.document, text) else None
        fieldpath.put(document, path, Ref(made.address, path, known=told))
    return document


def refuse_name(document: Mapping[str, Any]) -> None:
    """Refuse a name that is no name, or that is known only once something else exists: who a child is, is known."""
    for key in ("name", "namespace"):
        value = document["metadata"].get(key)
        if value is None:
            continue
        path = f"metadata.{key}"
        if is_later(value):
            fix = "make it of what the claim says"
            raise ComposeError(Problem(f"the {key} {value} is known only later", path=path, fix=fix))
        if not isinstance(value, str) or not is_name(value):
            fix = "use lower case letters, digits, '-' and '.', at most 253"
            raise ComposeError(Problem(f"{value!r} is not a Kubernetes name", path=path, fix=fix))


def templated(
    opaque: Opaque, base: Mapping[str, Any], claim: Mapping[str, Any], where: Source | None = None
) -> dict[str, Any]:
    """The document that a template's text becomes for a claim: of the kind that it says."""
    document = templating.render_document(opaque.engine, opaque.text, claim)
    head = {key: document[key] for key in ("apiVersion", "kind")}
    if head != {key: base[key] for key in ("apiVersion", "kind")}:
        what = f"the template made {head['apiVersion']} {head['kind']}, not {base['apiVersion']} {base['kind']}"
        raise ComposeError(Problem(what, where, fix="let it begin with the apiVersion and kind that it makes"))
    return cleaned(document, Document(document, where.file if where else ""), "", [])


def _applied(patch: Patch, sides: Sides, template: Template | None, binding: Binding) -> patches.Outcome:
    """The outcome of a patch; what goes wrong is told with its places."""
    try:
        return patches.apply(patch, sides)
    except EngineError as error:
        raise ComposeError(*(_blamed(p, patch, template, binding) for p in error.problems)) from error


def _all_leaves(document: dict[str, Any]) -> Iterator[tuple[fieldpath.Path, Any]]:
    """Every leaf of a document, and of what its later values are known to be."""
    for path, leaf in walk(document):
        yield path, leaf
        if isinstance(leaf, Ref | Mix) and leaf.known is not None:
            yield from walk(leaf.known, path)


def _refuse_huge(made: Made, template: Template, binding: Binding) -> None:
    """Refuse what no cluster can hold: whole numbers that the engine would round, and what patches made too large."""
    for number, (path, leaf) in enumerate(_all_leaves(made.document)):
        if number > MAX_NODES or len(path) > fieldpath.MAX_STEPS:
            what = f"{binding.claim.key}, child {template.name!r}: the patches make it too large or too deep"
            raise ComposeError(Problem(what, _place(template, binding), template.at, "copy less with patches"))
        if not isinstance(leaf, int) or leaf in _INT64:
            continue
        written = (o.patch for o in made.outcomes if o.applied and path[: len(to := fieldpath.parse(o.patch.to))] == to)
        patch = next(written, None)
        text = fieldpath.to_text(path)
        where = (
            binding.claim.document.source_of(patch.reads[0])
            if patch
            else (template.document or binding.klass.document).source_of(template.place_of(text))
        )
        what = f"{binding.claim.key}, child {template.name!r}: {leaf} needs more than 64 bits"
        raise ComposeError(Problem(what, where, text, "use a smaller number, or quote it"))


def _blamed(problem: Problem, patch: Patch, template: Template | None, binding: Binding) -> Problem:
    """The problem of a patch with both places: the claim's field where there is one, and the patch in the class."""
    document = (template.document if template else None) or binding.klass.document
    patch_place = document.source_of(patch.at)
    whose = f"child {template.name!r}" if template else "environment"
    what = f"{binding.claim.key}, {whose}: {problem.what} (patch at {patch_place})"
    from_claim = patch.origin is Side.claim and patch.reads
    where = binding.claim.document.source_of(patch.reads[0]) if from_claim else patch_place
    fix = problem.fix or "mend the claim's value or the class's patch"
    return replace(problem, what=what, where=where, path=problem.path or patch.reads[0], fix=fix)


def _place(template: Template, binding: Binding) -> Any:
    return (template.document or binding.klass.document).source_of(template.at)


def _refuse_circle(claim: Claim, above: tuple[Claim, ...]) -> None:
    kinds = [c.key.group_kind for c in above]
    if claim.key.group_kind in kinds:
        way = " → ".join(str(k) for k in (*kinds[kinds.index(claim.key.group_kind) :], claim.key.group_kind))
        what = f"composition runs in a circle: {way}"
        raise ComposeError(
            Problem(what, claim.document.source_of(), fix="let one of these compositions compose something else")
        )
