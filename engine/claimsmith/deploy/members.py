"""Members of a static aggregate or composite: the live managed resources that match its selector once it is claimed.

Until then it binds nothing. A resource belongs to one of them at most, to the first that finds it free: one that
belongs to another already is left out, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from claimsmith.base.errors import BindingError, Collector, Problem, at
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.compose.connections import SecretSource, secret_source
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.dialects.common.selector import Selector
from claimsmith.kubernetes.client import Cluster, owner_of
from claimsmith.platform.catalog import AGGREGATE_RESOURCE, COMPOSITE_RESOURCE, Catalog

PARENTS = {COMPOSITE_RESOURCE: "compositeRef", AGGREGATE_RESOURCE: "aggregateRef"}
"""How the members of each kind name what they are part of."""
_SELECTORS = {
    COMPOSITE_RESOURCE: ("spec", "resourceSelector"),
    AGGREGATE_RESOURCE: ("spec", "aggregationRule", "resourceSelector"),
}

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """An existing managed resource that a claim binds through a composite."""

    key: ObjectKey
    document: Object

    @property
    def place(self) -> SecretSource | None:
        """Where its connection details are, if it writes any."""
        return secret_source(f"{self.key.group_kind.kind} {self.key.name}", self.document)


@dataclass(slots=True)
class Members:
    """The members that claims bind, by the claims' addresses, and warnings for those that were left out."""

    of: dict[str, tuple[Member, ...]] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)


def find_members(plan: Plan, catalog: Catalog, cluster: Cluster) -> Members:
    """The members of every static composite that is claimed. One that cannot serve its claim is refused."""
    found = Members()
    taken: dict[ObjectKey, str] = {}
    problems = Collector()
    for planned in plan.claims:
        if planned.binding.klass.static and planned.binding.klass.key.group_kind in PARENTS:
            with problems.catch():
                found.of[planned.address] = _members(planned, plan, catalog, cluster, taken, found.warnings)
    problems.raise_as(BindingError)
    return found


def given_document(plan: Plan, kind: GroupKind, name: str) -> dict[str, Any] | None:
    """The document of an object at cluster scope that the stack's own files provide."""
    return next((r.document for r in plan.resources if r.key == ObjectKey(kind, "", name)), None)


def _members(
    planned: PlannedClaim,
    plan: Plan,
    catalog: Catalog,
    cluster: Cluster,
    taken: dict[ObjectKey, str],
    warnings: list[Problem],
) -> tuple[Member, ...]:
    klass, claim = planned.binding.klass, planned.binding.claim
    path = claim.resource_path
    where = claim.document.source_of(path)
    serving, beside = _kinds(planned, catalog)
    selector = _selector(planned, plan, cluster)
    members, others = [], []
    for key, document, provided in _matching(selector, sorted(serving | beside), plan, cluster):
        holder = taken.get(key) or _holder(planned, document) or (_holder(planned, provided) if provided else None)
        if holder:
            what = f"{claim.key}: {key} matches {klass.key}, but belongs to {holder}; it is left out"
            others.append(Problem(what, where, path, "let its labels match one of the two only"))
        else:
            members.append(Member(key, document))
    warnings += others
    taken |= {m.key: str(klass.key) for m in members}
    if not any(m.key.group_kind in serving for m in members):
        what = f"{claim.key} claims {klass.key}, none of whose members can serve {claim.key.group_kind}"
        why = "; ".join([f"it selects {selector or 'nothing'}", *(o.what for o in others)])
        kinds = ", ".join(sorted(map(str, serving))) or "none; add some to components/bindable.yaml"
        raise BindingError(Problem(f"{what}: {why}", where, path, f"let it select a free resource of: {kinds}"))
    with at(where, prefix=f"{claim.key}: "):
        places = [m.place for m in members]
    if claim.secret_name and not any(places):
        what = f"{claim.key} asks for a Secret, but no member of {klass.key} writes one"
        fix = "leave out writeConnectionSecretToRef, or let a member write its connection details"
        raise BindingError(Problem(what, where, path, fix))
    return tuple(members)


def _kinds(planned: PlannedClaim, catalog: Catalog) -> tuple[set[GroupKind], set[GroupKind]]:
    """The kinds that may serve a claim, and those that may be bound beside them."""
    claim = planned.binding.claim.key.group_kind
    classes = catalog.serving(claim)
    serving = {*catalog.bindable.direct(claim)}
    serving |= {t.group_kind for c in classes for t in c.templates if c.dialect.direct}
    beside = set(catalog.bindable.supports(claim))
    if planned.binding.klass.key.group_kind == COMPOSITE_RESOURCE:
        beside |= {t.group_kind for c in classes for t in c.templates if t.managed and not t.composite}
    # Only composites serve this kind of claim: an annotation on the composite permits to bind it.
    return serving or beside, beside


def _selector(planned: PlannedClaim, plan: Plan, cluster: Cluster) -> Selector | None:
    """The selector of the composite: None selects nothing, an empty one everything."""
    klass, claim = planned.binding.klass, planned.binding.claim
    kind = klass.key.group_kind
    node: Any = cluster.read(klass.api_version, kind.kind, klass.name) or given_document(plan, kind, klass.name)
    for step in _SELECTORS[kind]:
        node = node.get(step) if isinstance(node, dict) else None
    if node is None:
        return None
    try:
        return Selector.model_validate(node)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        what = f"{claim.key} claims {klass.key}, whose {'.'.join(_SELECTORS[kind])} cannot be read: {wrong}"
        fix = "write matchLabels and matchExpressions"
        raise BindingError(claim.document.problem(what, claim.resource_path, fix)) from error


def _matching(
    selector: Selector | None, kinds: Iterable[GroupKind], plan: Plan, cluster: Cluster
) -> list[tuple[ObjectKey, Object, Object | None]]:
    """The objects that a selector matches, live or in this stack's files, each with its document in these files."""
    if selector is None:
        return []
    found: dict[ObjectKey, tuple[Object, Object | None]] = {}
    for kind in kinds:
        provided = {r.key: r.document for r in plan.resources if r.key.group_kind == kind and not r.key.namespace}
        live = {ObjectKey(kind, "", o["metadata"]["name"]): o for o in cluster.list(kind, selector.match_labels)}
        # One that does not exist yet, or does not have these labels yet, counts as in its file.
        known = {key: (live.get(key) or document, document) for key, document in provided.items()}
        found |= {k: v for k, v in known.items() if selector.matches(v[1]["metadata"].get("labels") or {})}
        found |= {
            k: (o, None)
            for k, o in live.items()
            if k not in provided
            and not o["metadata"].get("namespace")
            and selector.matches(o["metadata"].get("labels") or {})
        }
    return [(key, *found[key]) for key in sorted(found)]


def _holder(planned: PlannedClaim, document: Object) -> str | None:
    """The owner of a resource, if it is not the composite that is claimed here."""
    klass = planned.binding.klass
    spec = document.get("spec") or {}
    for word in ("claimRef", *PARENTS.values()):
        reference = spec.get(word)
        own = word == PARENTS[klass.key.group_kind]
        if reference and not (own and reference.get("name") == klass.name):
            place = f"{reference['namespace']}/" if reference.get("namespace") else ""
            return f"{reference.get('kind')} {place}{reference.get('name')}"
    owner = owner_of(dict(document))
    return f"what {owner} created" if owner and not owner.endswith("/given") else None
