"""From claims to drafts: each claim is bound, its children are composed, and composites among them are claims again.

References between children are not followed yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from claimsmith import templating
from claimsmith.base.documents import Document
from claimsmith.base.errors import BindingError, Collector, ComposeError, Problem, Refused, at
from claimsmith.base.labels import IMPORT
from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.base.values import object_at
from claimsmith.compose import piped
from claimsmith.compose.child_documents import (
    applied_patch,
    composed_document,
    patch_outward,
    sibling_of,
    value_of_sibling,
    with_sibling_outputs,
)
from claimsmith.compose.drafts import Child, Draft, Expansion, claim_data
from claimsmith.compose.identity import dress, identity_of
from claimsmith.compose.limits import refuse_huge, refuse_name
from claimsmith.compose.native_children import UNKNOWN, NativeTypes, imports_of, native_document
from claimsmith.compose.options import options_of
from claimsmith.compose.piped import Live
from claimsmith.compose.unrolling import is_varied, unrolled
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Side, Template
from claimsmith.dialects.workloads.reading import APPLICATION, Application, read_application
from claimsmith.functions.registry import Declared
from claimsmith.kubernetes.scope import Scopes, refuse_elsewhere
from claimsmith.patching import environments
from claimsmith.patching.compiled import Composed, Reader
from claimsmith.platform.binding import (
    Binding,
    ClassChanged,
    Record,
    accepted,
    bind_one,
    changed_and_gone,
    composed_kinds,
    folded,
)
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.selection import Unbound


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
                        patch_outward(operation, child, reader, binding)
                else:
                    self._environment(operation, reader, binding)
        problems.raise_as(ComposeError)
        draft.environment = reader.sides[Side.environment]
        if binding.klass.dialect.composite_status and draft.nested:
            draft.status = draft.nested[0].status
        return draft

    def _piped(self, draft: Draft, above: tuple[Claim, ...]) -> Draft:
        """The draft with the children that its pipeline composes."""
        binding, klass = draft.binding, draft.binding.klass
        catalog = self.catalog
        given = [d.data for d in (*catalog.crossplane.environments.values(), *catalog.resources.values())]
        with at(None, prefix=f"{binding.claim.key}: "):
            composed = piped.run(
                klass,
                claim_data(binding),
                draft.identity,
                resources=given,
                live=self.live,
                declared=self.declared,
                managed=partial(klass.dialect.is_managed, managed=catalog.managed, seen=catalog.seen),
            )
        draft.piped = composed.marked(catalog.marked(klass, composed.templates), binding.claim.key)
        draft.status, draft.environment = composed.status, composed.environment
        self.warnings += composed.warnings
        reader = Reader(draft.sides())
        problems = Collector()
        for template in draft.piped.templates:
            with problems.catch():
                self._child(template, draft, reader, draft.piped.awaited.get(template.name, ()), above)
        problems.raise_as(ComposeError)
        return draft

    def _child(
        self, template: Template, draft: Draft, reader: Reader, waits: Sequence[str], above: tuple[Claim, ...]
    ) -> Child | Draft | None:
        """The child of a template, added to the draft; None where it is deployed elsewhere, or not yet."""
        binding, identity = draft.binding, draft.identity
        composed = composed_document(template, reader, binding)
        if not composed.fits:
            refuse_huge(composed, template, binding)
        if template.native:
            return self._native(template, composed, draft)
        dressed = dress(
            with_sibling_outputs(composed.document, template, draft),
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
                value_of=partial(value_of_sibling, draft),
                depended=partial(sibling_of, draft),
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
            applied_patch(operation.patch, sides, None, binding)
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


def _refuse_circle(claim: Claim, above: tuple[Claim, ...]) -> None:
    kinds = [c.key.group_kind for c in above]
    if claim.key.group_kind in kinds:
        way = " → ".join(str(k) for k in (*kinds[kinds.index(claim.key.group_kind) :], claim.key.group_kind))
        what = f"composition runs in a circle: {way}"
        raise ComposeError(
            Problem(what, claim.document.source_of(), fix="let one of these compositions compose something else")
        )
