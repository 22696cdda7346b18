"""All models of a stack, indexed: the platform's classes and definitions, and the application teams' claims.

Takes documents, gives a `Catalog`. Each dialect reads its own documents; here they meet. Every name stands once,
compositions keep their definitions' promises, and every problem is told at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from claimsmith import flow
from claimsmith.crds import is_managed, refuse_unsound
from claimsmith.documents import Document
from claimsmith.errors import CatalogError, Collector, ModelError, Problem, nearest
from claimsmith.models import aggregate_class, composition, definition, instance, resource_class, specific_class
from claimsmith.models import claim as claim_model
from claimsmith.models import today as todays
from claimsmith.models.bindable import Bindable
from claimsmith.models.claim import Claim
from claimsmith.models.definition import Definition
from claimsmith.models.exported import bare
from claimsmith.models.klass import Class, Parent, Patch, SecretPlace, Template
from claimsmith.models.objects import ClaimKey, ClassKey, GroupKind, ObjectKey, kebab
from claimsmith.models.parse import twice
from claimsmith.models.workload import APPLICATION
from claimsmith.models.workload_index import Workloads, take
from claimsmith.models.xrd import KIND as XRD
from claimsmith.models.xrd import SECRET_NAMESPACE, Xrd
from claimsmith.values import object_at

CRD = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
AGGREGATE = GroupKind("aggregation.crossplane.io", "AggregateResourceClass")
DEFINITIONS = frozenset(
    GroupKind("apiextensions.crossplane.io", k) for k in ("ApplicationDefinition", "InfrastructureDefinition")
)
PUBLICATION = GroupKind("apiextensions.crossplane.io", "InfrastructurePublication")
STACKS = "claimsmith.io/stacks"
"""The annotation by which a class says which environments it is for; all, where it says nothing."""
COMPOSITE_RESOURCE = GroupKind("core.crossplane.io", "CompositeResource")
AGGREGATE_RESOURCE = GroupKind("aggregation.crossplane.io", "AggregateResource")


UNMANAGED = frozenset(
    (*("ProviderConfig", "ClusterProviderConfig", "StoreConfig"), "ProviderConfigUsage", "ClusterProviderConfigUsage")
)
"""Kinds of providers that stand for nothing outside: they have no Ready condition that could be waited for."""


class _FromDocument(Protocol):
    @property
    def document(self) -> Document: ...


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=_FromDocument)


@dataclass(frozen=True)
class Catalog:
    """What a stack knows: its claims by their keys, its classes by their keys and the kind of claim they serve."""

    classes: Mapping[tuple[ClassKey, GroupKind], Class] = field(default_factory=dict)
    claims: Mapping[ClaimKey, Claim] = field(default_factory=dict)
    definitions: Mapping[GroupKind, Definition] = field(default_factory=dict)
    resources: Mapping[ObjectKey, Document] = field(default_factory=dict)
    """What the stack's own files give as it is: managed resources, providers, namespaces, secrets."""
    crds: tuple[Document, ...] = ()
    warnings: tuple[Problem, ...] = ()
    bindable: Bindable = field(default_factory=Bindable)
    managed: frozenset[GroupKind] = frozenset()
    """The kinds that are known to be managed resources."""
    workloads: Workloads = field(default_factory=Workloads)
    """Targets, applications and existing clusters."""
    today: todays.Today = field(default_factory=todays.Today)
    withheld: tuple[Class, ...] = ()
    """The classes that are for other stacks only."""
    uids_from: str = ""
    """The project and stack that new uids are derived from, where they were renamed since the first binding."""

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
        if self.today.defined(kind):
            return set()
        made = {t.group_kind for c in self.serving(kind) for t in c.templates if c.parent is Parent.claim}
        return {*self.bindable.direct(kind), *made, COMPOSITE_RESOURCE, AGGREGATE_RESOURCE}

    def defined(self, kind: GroupKind) -> tuple[Definition, bool] | None:
        """The definition behind a kind, and whether the kind is the requirement of it."""
        return _defined(self.definitions, kind)

    def read_claim(self, document: Document) -> Claim:
        """The claim that a document describes, whichever dialect its kind belongs to."""
        return _read_claim(document, self.definitions, self.today)


def read_catalog(
    platform: Iterable[Document],
    claims: Iterable[Document] = (),
    *,
    bindable: Bindable | None = None,
    managed: Iterable[GroupKind] = (),
    resources: Iterable[Document] = (),
) -> Catalog:
    """The catalog of the platform's documents, a stack's claims and the resources that it gives as they are.

    `managed` names kinds that are known to be managed resources, beside those whose CRDs say so.
    """
    problems = Collector()
    warnings: list[Problem] = []
    table = bindable or Bindable()
    today, others = todays.read(map(bare, platform), problems, warnings)
    claims, resources = list(map(bare, claims)), list(resources)
    with problems.catch():
        environments = [d for d in (*claims, *resources) if todays.is_environment(d)]
        today = replace(today, environments=today.with_environments(environments))
        claims, resources = ([d for d in given if d not in environments] for given in (claims, resources))
    claims, resources, workloads = take(claims, resources, problems, warnings)
    sorted_out = _sorted_out(others, table, problems)
    definitions = _definitions(sorted_out, problems)
    warnings += [w for d in definitions.values() for w in d.warnings]
    classes: dict[tuple[ClassKey, GroupKind], Class] = {}
    known = {*managed, *(_crd_kind(d) for d in sorted_out["crd"] if is_managed(d.data))}
    seen = {_crd_kind(d) for d in sorted_out["crd"]}
    all_classes = [*_classes(sorted_out, definitions, table, problems, warnings), *_todays(today, problems, warnings)]
    for klass in all_classes:
        with problems.catch():
            _add(classes, (klass.key, klass.serves), _told_apart(klass, definitions, today, known, seen))
    requests: dict[ClaimKey, Claim] = {}
    for document in claims:
        with problems.catch():
            kind_of(document)
            claim = _read_claim(document, definitions, today)
            _add(requests, claim.key, claim)
    kinds = Counter(key for key, _ in classes)
    classes = {k: replace(c, shared=kinds[k[0]] > 1) for k, c in classes.items()}
    problems.problems += [p for klass in classes.values() for p in _broken_promises(klass)]
    given: dict[ObjectKey, Document] = {}
    for document in resources:
        with problems.catch():
            key = _resource_key(document, known)
            if (first := given.setdefault(key, document)) is not document:
                raise twice(str(key), first, document)
    problems.raise_as(CatalogError)
    crds, said = tuple(sorted_out["crd"]), tuple(warnings)
    return Catalog(classes, requests, definitions, given, crds, said, table, frozenset(known), workloads, today)


def offered(catalog: Catalog, stack: str) -> Catalog:
    """The catalog as one stack sees it: a class may say which stacks it is for."""
    classes = {k: c for k, c in catalog.classes.items() if stack in _stacks(c, stack)}
    return replace(catalog, classes=classes, withheld=tuple(c for k, c in catalog.classes.items() if k not in classes))


def _stacks(klass: Class, stack: str) -> list[str]:
    named = [name.strip() for name in klass.annotations.get(STACKS, "").split(",") if name.strip()]
    return named or [stack]


def kind_of(document: Document) -> GroupKind:
    """The kind that a document says it is of."""
    for key in ("apiVersion", "kind"):
        if not isinstance(document.data.get(key), str):
            fix = "every document names its apiVersion and kind"
            raise ModelError(Problem(f"the document has no {key}", document.source_of(key), key, fix))
    return GroupKind.of(document.data)


def _sorted_out(platform: Iterable[Document], bindable: Bindable, problems: Collector) -> dict[str, list[Document]]:
    """The platform's documents by dialect."""
    found: dict[str, list[Document]] = {
        k: [] for k in ("resource", "composition", "definition", "publication", "aggregate", "specific", "crd")
    }
    for document in platform:
        with problems.catch():
            kind = kind_of(document)
            if kind in resource_class.KINDS:
                found["resource"].append(document)
            elif composition.is_composition(document):
                found["composition"].append(document)
            elif kind in DEFINITIONS:
                found["definition"].append(document)
            elif kind == PUBLICATION:
                found["publication"].append(document)
            elif kind == AGGREGATE:
                found["aggregate"].append(document)
            elif kind == CRD:
                refuse_unsound(document)
                found["crd"].append(document)
            elif specific_class.is_class(document, bindable):
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
    members: list[specific_class.Member] = []
    for document in found["resource"]:
        with problems.catch():
            klass, said = resource_class.read(document)
            classes.append(klass)
            warnings += said
    for document in found["composition"]:
        with problems.catch():
            klass, said = composition.read(document)
            classes.append(_promised(klass, definitions))
            warnings += said
    for document in found["specific"]:
        with problems.catch():
            several, said = specific_class.read(document, bindable)
            classes += several
            members.append(specific_class.member(document, bindable))
            warnings += said
    for document in found["aggregate"]:
        with problems.catch():
            several, said = aggregate_class.read(document, members, bindable)
            classes += several
            warnings += said
    publications = {str(object_at(d.data, "metadata").get("name")): d for d in found["publication"]}
    for defined in definitions.values():
        name = f"{defined.plural}.{defined.group_kind.group}"
        if defined.requirement and name in publications:
            classes.append(_publishing(defined, publications[name]))
    return classes


def _told_apart(
    klass: Class,
    definitions: Mapping[GroupKind, Definition],
    today: todays.Today,
    managed: Collection[GroupKind],
    seen: Collection[GroupKind],
) -> Class:
    """The class with each template marked: composed in turn, managed by a provider, or a plain object.

    Today's compositions say by their silence that a resource becomes Ready; that holds unless its definition is `seen`
    to be another's, or Kubernetes has the kind itself.
    """

    def is_managed_kind(kind: GroupKind) -> bool:
        if klass.parent is Parent.xr:
            foreign = "." in kind.group and not kind.group.endswith(".k8s.io") and kind.kind not in UNMANAGED
            return kind in managed or (foreign and kind not in seen)
        return klass.parent is not Parent.instance or kind in managed

    templates = tuple(
        replace(
            t,
            composite=_defined(definitions, t.group_kind) is not None
            or today.defined(t.group_kind) is not None
            or t.group_kind == APPLICATION,
            managed=is_managed_kind(t.group_kind),
        )
        for t in klass.templates
    )
    return replace(klass, templates=templates)


def _todays(today: todays.Today, problems: Collector, warnings: list[Problem]) -> list[Class]:
    """Today's compositions with what their definitions say of them, and a class for the claims of each definition."""
    classes: list[Class] = []
    for klass in today.compositions.values():
        with problems.catch():
            made, said = flow.deployable(_of_definition(klass, today.xrds.get(klass.serves)))
            classes.append(made)
            warnings += said
    return [*classes, *(todays.claiming(x) for x in today.xrds.values() if x.claim)]


def _of_definition(klass: Class, defined: Xrd | None) -> Class:
    """A composition with what the definition of its kind says: scope, the details that count, where they go."""
    if defined is None:
        return klass
    details = any(t.details for t in klass.templates)
    wanted = klass.secret_namespace or (SECRET_NAMESPACE if details else None)
    places = [s.secret for s in klass.steps if s.templates]
    return replace(
        klass,
        namespaced=True if defined.namespaced else None,
        connection_keys=defined.connection_keys,
        secret_namespace=None if defined.modern else wanted,
        secret=(places[-1] if places else SecretPlace()) if defined.modern else None,
    )


def _crd_kind(document: Document) -> GroupKind:
    spec = document.data.get("spec") or {}
    return GroupKind(str(spec.get("group", "")), str((spec.get("names") or {}).get("kind", "")))


def _promised(klass: Class, definitions: Mapping[GroupKind, Definition]) -> Class:
    """A composition with what its definition promises: connection details, scope, service account."""
    defined = definitions.get(klass.serves)
    if defined is None:
        return klass
    return replace(
        klass,
        contract=() if defined.namespaced else defined.connection_details,
        namespaced=defined.namespaced,
        service_account=defined.service_account,
    )


def _publishing(defined: Definition, document: Document) -> Class:
    """The class of a requirement: it makes the one composite that is required, with the same spec."""
    assert defined.requirement, "only published kinds have requirements"
    template = Template(
        name=kebab(defined.group_kind.kind),
        base={"apiVersion": defined.api_version, "kind": defined.group_kind.kind},
        patches=(Patch(reads=("spec",), to="spec", at="spec"),),
        at="spec",
    )
    return Class(
        api_version="apiextensions.crossplane.io/v1alpha1",
        key=ClassKey(PUBLICATION, f"{defined.plural}.{defined.group_kind.group}"),
        serves=defined.requirement,
        templates=(template,),
        parent=Parent.requirement,
        document=document,
        secret_namespace=SECRET_NAMESPACE if defined.connection_details else None,
        claim_api_version=defined.api_version,
        contract=defined.connection_details,
    )


def _broken_promises(klass: Class) -> list[Problem]:
    """Connection details that a composition's definition asks for and that it delivers not at all, or twice."""
    if klass.parent is not Parent.instance or not klass.contract:
        return []
    problems: list[Problem] = []
    delivered: dict[str, list[str]] = {}
    for template in klass.templates:
        for index, detail in enumerate(template.details or ()):
            delivered.setdefault(detail.name, []).append(f"{template.at}.connectionDetails[{index}]")
    for name in klass.contract:
        places = delivered.get(name, [])
        if not places:
            what = f"{klass.key} delivers no connection detail {name!r}, which {klass.serves} promises"
            fix = "add it to the connectionDetails of one of the resources"
            problems.append(Problem(what, klass.document.source_of("spec.to"), "spec.to", fix))
        elif len(places) > 1:
            what = f"{klass.key} delivers the connection detail {name!r} {len(places)} times"
            problems.append(Problem(what, klass.document.source_of(places[1]), places[1], "keep one of them"))
    for name in sorted(delivered.keys() - set(klass.contract)):
        what = f"{klass.key} delivers the connection detail {name!r}, which {klass.serves} does not promise"
        fix = f"remove it, or promise it in the definition; promised: {', '.join(klass.contract)}"
        problems.append(Problem(what, klass.document.source_of(delivered[name][0]), delivered[name][0], fix))
    return problems


def _read_claim(document: Document, definitions: Mapping[GroupKind, Definition], today: todays.Today) -> Claim:
    claim = today.read_claim(document)
    if claim:
        return claim
    kind = GroupKind.of(document.data)
    found = _defined(definitions, kind)
    if found:
        return instance.read(document, found[0], requirement=found[1])
    slip = definition.stranger(list(definitions.values()), document)
    if slip:
        raise ModelError(slip)
    return claim_model.read(document)


def _defined(definitions: Mapping[GroupKind, Definition], kind: GroupKind) -> tuple[Definition, bool] | None:
    return definition.find(list(definitions.values()), kind)


def _resource_key(document: Document, managed: Collection[GroupKind]) -> ObjectKey:
    """The address of a resource that is given as it is; a managed one has no namespace."""
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
    kinds = (*resource_class.KINDS, *DEFINITIONS, PUBLICATION, AGGREGATE, composition.KIND, CRD, XRD)
    known = {k.kind: k for k in kinds}
    close = known.get(nearest(kind.kind, known) or "")
    listed = ", ".join(sorted(map(str, known.values())))
    fix = f"did you mean {close}?" if close else f"the platform's files hold {listed}, and classes with a specTemplate"
    return ModelError(Problem(f"{kind} is no kind that is read here", document.source_of("kind"), "kind", fix))
