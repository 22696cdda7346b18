"""All models of a stack, indexed: the platform's classes and definitions, and the application teams' claims.

Takes documents, gives a `Catalog`. Each dialect reads its own documents; here they meet. Every name stands once,
compositions keep their definitions' promises, and all problems are reported together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, Collector, ModelError, Problem, Refused, nearest
from claimsmith.base.names import ClaimKey, ClassKey, GroupKind, ObjectKey
from claimsmith.base.parse import twice
from claimsmith.base.values import object_at
from claimsmith.dialects import definitions as definition
from claimsmith.dialects.aggregates import reading as aggregates
from claimsmith.dialects.common import claim as claim_model
from claimsmith.dialects.common.bindable import Bindable
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.exported import bare
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.composite_classes import reading as composite_classes
from claimsmith.dialects.crossplane import documents as crossplane_documents
from claimsmith.dialects.crossplane.documents import CrossplaneDocuments
from claimsmith.dialects.crossplane.xrd import KIND as XRD
from claimsmith.dialects.definitions import Definition, composition
from claimsmith.dialects.definitions import claims as instance
from claimsmith.dialects.definitions.model import DEFINITIONS, PUBLICATION
from claimsmith.dialects.definitions.publishing import requirement_class
from claimsmith.dialects.resource_classes import reading as resource_classes
from claimsmith.dialects.workloads.index import Workloads, take
from claimsmith.dialects.workloads.reading import APPLICATION
from claimsmith.kubernetes import crds, schema
from claimsmith.platform import moved
from claimsmith.platform.annotations import check_annotations

CRD = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
STACKS = "claimsmith.io/stacks"
"""The annotation that limits a class to some stacks; without it the class is for all."""
COMPOSITE_RESOURCE = GroupKind("core.crossplane.io", "CompositeResource")
AGGREGATE_RESOURCE = GroupKind("aggregation.crossplane.io", "AggregateResource")


class _FromDocument(Protocol):
    @property
    def document(self) -> Document: ...


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=_FromDocument)


@dataclass(frozen=True)
class Catalog:
    """The documents of a stack: claims by their keys, classes by their keys and the kind of claim that they serve."""

    classes: Mapping[tuple[ClassKey, GroupKind], Class] = field(default_factory=dict)
    claims: Mapping[ClaimKey, Claim] = field(default_factory=dict)
    definitions: Mapping[GroupKind, Definition] = field(default_factory=dict)
    resources: Mapping[ObjectKey, Document] = field(default_factory=dict)
    """What the stack's own files provide as it is: managed resources, providers, namespaces, secrets."""
    crds: tuple[Document, ...] = ()
    warnings: tuple[Problem, ...] = ()
    bindable: Bindable = field(default_factory=Bindable)
    managed: frozenset[GroupKind] = frozenset()
    """The kinds of managed resources."""
    workloads: Workloads = field(default_factory=Workloads)
    """Targets, applications and existing clusters."""
    crossplane: CrossplaneDocuments = field(default_factory=CrossplaneDocuments)
    withheld: tuple[Class, ...] = ()
    """The classes that are for other stacks only."""
    uids_from: str = ""
    """The project and stack that new uids are derived from, where they were renamed since the first binding."""
    seen: frozenset[GroupKind] = frozenset()
    """The kinds that the platform has CRDs of."""
    unreadable: frozenset[str] = frozenset()
    """The words in files of the platform that cannot be read: what these offer, and for which kinds, is not known."""

    def marked(self, klass: Class, templates: Iterable[Template]) -> tuple[Template, ...]:
        """Templates of a class, each marked: composed in turn, managed by a provider, or a plain object."""
        given = replace(klass, templates=tuple(templates))
        return _marked(given, self.definitions, self.crossplane, self.managed, self.seen).templates

    def serving(self, kind: GroupKind) -> list[Class]:
        """The classes that may serve claims of a kind, in the order of their keys."""
        return sorted((c for c in self.classes.values() if c.serves == kind), key=lambda c: c.key)

    def named(self, key: ClassKey) -> list[Class]:
        """The class of that key, once for each kind of claim that it serves."""
        return [c for c in self.classes.values() if c.key == key]

    def claimable(self, kind: GroupKind) -> set[GroupKind]:
        """The kinds of existing resources that a claim of a kind may bind to."""
        found = self.defined(kind)
        if found:
            return {found[0].group_kind} if found[1] else set()
        if self.crossplane.defined(kind):
            return set()
        composed = {t.group_kind for c in self.serving(kind) for t in c.templates if c.dialect.direct}
        return {*self.bindable.direct(kind), *composed, COMPOSITE_RESOURCE, AGGREGATE_RESOURCE}

    def defined(self, kind: GroupKind) -> tuple[Definition, bool] | None:
        """The definition behind a kind, and whether the kind is the requirement of it."""
        return _defined(self.definitions, kind)

    def read_claim(self, document: Document) -> Claim:
        """The claim that a document describes, whichever dialect its kind belongs to."""
        return _read_claim(document, self.definitions, self.crossplane)


def read_catalog(
    platform: Iterable[Document],
    claims: Iterable[Document] = (),
    *,
    bindable: Bindable | None = None,
    managed: Iterable[GroupKind] = (),
    resources: Iterable[Document] = (),
    functions: Container[str] = (),
    refused: Refused | None = None,
) -> Catalog:
    """The catalog of the platform's documents, a stack's claims and the resources that it provides as they are.

    `managed` names kinds of managed resources beside those that CRDs mark as managed, and `functions` the composition
    functions that the project declares. `refused` takes the problems of documents that cannot be read, where the
    catalog is to hold the others.
    """
    problems = Collector()
    warnings: list[Problem] = []
    table = bindable or Bindable()
    crossplane, others = crossplane_documents.read(map(bare, platform), problems, warnings)
    claims, resources = list(map(bare, claims)), list(resources)
    with problems.catch():
        environments = [d for d in (*claims, *resources) if crossplane_documents.is_environment(d)]
        crossplane = replace(crossplane, environments=crossplane.with_environments(environments))
        claims, resources = ([d for d in documents if d not in environments] for documents in (claims, resources))
    claims, resources, workloads = take(claims, resources, problems, warnings)
    by_dialect = _by_dialect(others, table, problems)
    definitions = _definitions(by_dialect, problems)
    warnings += [w for d in definitions.values() for w in d.warnings]
    classes: dict[tuple[ClassKey, GroupKind], Class] = {}
    managed_kinds = {*managed, *(crds.kind_of(d.data) for d in by_dialect["crd"] if crds.is_managed(d.data))}
    seen = {crds.kind_of(d.data) for d in by_dialect["crd"]}
    all_classes = [
        *_classes(by_dialect, definitions, table, problems, warnings),
        *crossplane_documents.classes(crossplane, problems, warnings, functions),
    ]
    for klass in all_classes:
        with problems.catch():
            _add(classes, (klass.key, klass.serves), _marked(klass, definitions, crossplane, managed_kinds, seen))
    check_annotations(all_classes, problems, warnings)
    requests: dict[ClaimKey, Claim] = {}
    for document in claims:
        with problems.catch():
            kind_of(document)
            claim = _read_claim(document, definitions, crossplane)
            _add(requests, claim.key, claim)
    kinds = Counter(key for key, _ in classes)
    classes = {k: replace(c, shared=kinds[k[0]] > 1) for k, c in classes.items()}
    classes = moved.with_moves(classes, by_dialect["moved"], problems, warnings)
    problems.problems += [p for klass in classes.values() for p in composition.broken_promises(klass)]
    provided: dict[ObjectKey, Document] = {}
    for document in resources:
        with problems.catch():
            key = _resource_key(document, managed_kinds)
            if (first := provided.setdefault(key, document)) is not document:
                raise twice(str(key), first, document)
    problems.raise_as(CatalogError, refused)
    given, kinds_managed = tuple(by_dialect["crd"]), frozenset(managed_kinds)
    return Catalog(
        classes,
        requests,
        definitions,
        provided,
        given,
        tuple(warnings),
        table,
        kinds_managed,
        workloads,
        crossplane,
        seen=frozenset(seen),
    )


def offered(catalog: Catalog, stack: str) -> Catalog:
    """The catalog as one stack sees it: a class may be for some stacks only."""
    classes = {k: c for k, c in catalog.classes.items() if stack in _stacks(c, stack)}
    return replace(catalog, classes=classes, withheld=tuple(c for k, c in catalog.classes.items() if k not in classes))


def _stacks(klass: Class, stack: str) -> list[str]:
    named = [name.strip() for name in klass.annotations.get(STACKS, "").split(",") if name.strip()]
    return named or [stack]


def kind_of(document: Document) -> GroupKind:
    """The kind of a document."""
    for key in ("apiVersion", "kind"):
        if not isinstance(document.data.get(key), str):
            fix = "every document names its apiVersion and kind"
            raise ModelError(Problem(f"the document has no {key}", document.source_of(key), key, fix))
    return GroupKind.of(document.data)


def _by_dialect(platform: Iterable[Document], bindable: Bindable, problems: Collector) -> dict[str, list[Document]]:
    """The platform's documents by dialect."""
    found: dict[str, list[Document]] = {
        k: [] for k in ("resource", "composition", "definition", "publication", "aggregate", "specific", "crd", "moved")
    }
    for document in platform:
        with problems.catch():
            kind = kind_of(document)
            if kind in composite_classes.KINDS:
                found["resource"].append(document)
            elif composition.is_composition(document):
                found["composition"].append(document)
            elif kind in DEFINITIONS:
                found["definition"].append(document)
            elif kind == PUBLICATION:
                found["publication"].append(document)
            elif kind == aggregates.KIND:
                found["aggregate"].append(document)
            elif kind == moved.KIND:
                found["moved"].append(document)
            elif kind == CRD:
                crds.refuse_unsound(document)
                schema.refuse_unreadable_crd(document)
                found["crd"].append(document)
            elif resource_classes.is_class(document, bindable):
                found["specific"].append(document)
            else:
                raise _unknown(document, kind)
    return found


def _definitions(found: Mapping[str, Sequence[Document]], problems: Collector) -> dict[GroupKind, Definition]:
    definitions: list[Definition] = []
    publications: list[definition.Publication] = []
    for document in found["definition"]:
        with problems.catch():
            definitions.append(definition.read(document))
    for document in found["publication"]:
        with problems.catch():
            publications.append(definition.read_publication(document))
    with problems.catch():
        return {d.group_kind: d for d in definition.publish(definitions, publications)}
    return {}


def _classes(
    found: Mapping[str, Sequence[Document]],
    definitions: Mapping[GroupKind, Definition],
    bindable: Bindable,
    problems: Collector,
    warnings: list[Problem],
) -> list[Class]:
    """The classes of all dialects."""
    classes: list[Class] = []
    members: list[resource_classes.Member] = []
    for document in found["resource"]:
        with problems.catch():
            klass, messages = composite_classes.read(document)
            classes.append(klass)
            warnings += messages
    for document in found["composition"]:
        with problems.catch():
            klass, messages = composition.read(document)
            classes.append(composition.completed(klass, definitions))
            warnings += messages
    for document in found["specific"]:
        with problems.catch():
            several, messages = resource_classes.read(document, bindable)
            classes += several
            members.append(resource_classes.member(document, bindable))
            warnings += messages
    for document in found["aggregate"]:
        with problems.catch():
            several, messages = aggregates.read(document, members, bindable)
            classes += several
            warnings += messages
    publications = {str(object_at(d.data, "metadata").get("name")): d for d in found["publication"]}
    for defined in definitions.values():
        name = f"{defined.plural}.{defined.group_kind.group}"
        if defined.requirement and name in publications:
            classes.append(requirement_class(defined, publications[name]))
    return classes


def _marked(
    klass: Class,
    definitions: Mapping[GroupKind, Definition],
    crossplane: CrossplaneDocuments,
    managed: Collection[GroupKind],
    seen: Collection[GroupKind],
) -> Class:
    """The class with each template marked: composed in turn, managed by a provider, or a plain object."""
    templates = tuple(
        replace(
            t,
            composite=_defined(definitions, t.group_kind) is not None
            or crossplane.defined(t.group_kind) is not None
            or t.group_kind == APPLICATION,
            managed=not t.native and klass.dialect.is_managed(t.group_kind, managed=managed, seen=seen),
        )
        for t in klass.templates
    )
    return replace(klass, templates=templates)


def _read_claim(
    document: Document, definitions: Mapping[GroupKind, Definition], crossplane: CrossplaneDocuments
) -> Claim:
    claim = crossplane.read_claim(document)
    if claim:
        return claim
    kind = GroupKind.of(document.data)
    found = _defined(definitions, kind)
    if found:
        return instance.read(document, found[0], requirement=found[1])
    problem = definition.undefined_kind(list(definitions.values()), document)
    if problem:
        raise ModelError(problem)
    return claim_model.read(document)


def _defined(definitions: Mapping[GroupKind, Definition], kind: GroupKind) -> tuple[Definition, bool] | None:
    return definition.find(list(definitions.values()), kind)


def _resource_key(document: Document, managed: Collection[GroupKind]) -> ObjectKey:
    """The address of a resource that is provided as it is; a managed one has no namespace."""
    kind = kind_of(document)
    metadata = document.data.get("metadata") or {}
    name = metadata.get("name")
    if not isinstance(name, str):
        raise ModelError(Problem("the resource has no name", document.source_of("metadata"), "metadata.name", "add it"))
    if kind in managed and metadata.get("namespace"):
        path = "metadata.namespace"
        what = f"{kind} is at cluster scope and has no namespace"
        raise ModelError(Problem(what, document.source_of(path), path, "remove it"))
    return ObjectKey(kind, str(metadata.get("namespace") or ""), name)


def _add(index: dict[K, V], key: K, value: V) -> None:
    first = index.setdefault(key, value)
    if first is not value:
        raise twice(str(key[0] if isinstance(key, tuple) else key), first.document, value.document)


def _unknown(document: Document, kind: GroupKind) -> ModelError:
    kinds = (*composite_classes.KINDS, *DEFINITIONS, PUBLICATION, aggregates.KIND, composition.KIND, CRD, XRD)
    known = {k.kind: k for k in kinds}
    close = known.get(nearest(kind.kind, known) or "")
    listed = ", ".join(sorted(map(str, known.values())))
    fix = f"did you mean {close}?" if close else f"the platform's files hold {listed}, and classes with a specTemplate"
    return ModelError(Problem(f"{kind} is no kind that is read here", document.source_of("kind"), "kind", fix))
