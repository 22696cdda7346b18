"""How a claim was resolved, as data: from the facts of a stack, for a person or a machine to read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Problem, Source
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.compose.drafts import Draft
from claimsmith.compose.plan import PlannedClaim
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Template
from claimsmith.platform.binding import Binding
from claimsmith.platform.offers import Offer, dialect_of, offers
from claimsmith.platform.selection import Choice, choose
from claimsmith.providers import tokens
from claimsmith.tools.explain import children
from claimsmith.tools.explain.added_objects import AddedObject, added_objects
from claimsmith.tools.explain.children import ExplainedChild, ExplainedPatch, ExplainedSecret, SecretSource
from claimsmith.tools.explain.facts import ClaimFacts, Facts, Place, document_of
from claimsmith.tools.explain.formatting import mismatch, plain


@dataclass(frozen=True, slots=True)
class Candidate:
    """A class that serves the claim's kind."""

    klass: ClassKey
    dialect: str
    labels: Mapping[str, str]
    weight: int
    default: str
    fits: bool
    """Whether the claim, as it is written now, could get it."""
    chosen: bool
    why: str
    where: Source


@dataclass(frozen=True, slots=True)
class SelectedClass:
    """The class selected for the claim, and why."""

    klass: ClassKey
    dialect: str
    reason: str
    recorded: Source | None
    """Where the selection is recorded; None if it is not."""
    previous: ClassKey | None
    today: str
    """The class that would be selected now, if it is another."""
    command: str
    """What records a choice that is not recorded."""
    where: Source


@dataclass(frozen=True, slots=True)
class ClaimIdentity:
    """The claim's identity."""

    uid: str
    owner: str
    composite: str | None
    """The name of what stands between the claim and its children."""
    external_name: str | None
    service_account: str | None
    urn: str
    command: str
    """What deploys it alone."""


@dataclass(frozen=True, slots=True)
class Existing:
    """The resource that a static claim holds, and never creates or deletes."""

    resource: ClassKey
    urn: str
    """Of what marks it as held."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An object that records the claim or its composite, where the stack keeps such records."""

    word: str
    kind: str
    name: str
    urn: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a claim, or a composite within one, was resolved."""

    claim: ClaimKey
    where: Source
    candidates: tuple[Candidate, ...] = ()
    chosen: SelectedClass | None = None
    unbound: Problem | None = None
    problems: tuple[Problem, ...] = ()
    who: ClaimIdentity | None = None
    existing: Existing | None = None
    children: tuple[ExplainedChild, ...] = ()
    nested: tuple[Explanation, ...] = ()
    secrets: tuple[ExplainedSecret, ...] = ()
    details: tuple[SecretSource, ...] = ()
    """Where connection details of native resources are found: these have them whether there is a Secret or not."""
    records: tuple[Recorded, ...] = ()
    contract: tuple[str, ...] = ()
    template: str = ""
    """The template that composes it, for a composite within another."""
    made_by: tuple[ExplainedPatch, ...] = ()
    """The patches of that template."""

    @property
    def failed(self) -> bool:
        """Whether something is wrong with the claim, or with a composite within it."""
        return bool(self.problems) or any(inner.failed for inner in self.nested)

    def parts(self, prefix: str = "") -> Iterator[tuple[str, ExplainedChild | Explanation]]:
        """Its children and composites, by the names of their templates."""
        for child in self.children:
            yield f"{prefix}{child.template}", child
        for inner in self.nested:
            yield f"{prefix}{inner.template}", inner
            yield from inner.parts(f"{prefix}{inner.template}/")

    def to_dict(self) -> dict[str, Any]:
        """The explanation for a machine to read."""
        result: dict[str, Any] = plain(self)
        return result


def explain_claim(facts: Facts, one: ClaimFacts) -> Explanation:
    """How a claim was resolved."""
    if one.draft:
        return _bound(facts, one.draft, one.planned, one.problems, types=(), name=one.claim.key.place)
    unbound = facts.unbound.get(one.claim.key)
    return _unserved(facts, one.claim, unbound.problem if unbound else None, one.problems)


def _unserved(facts: Facts, claim: Claim, unbound: Problem | None, problems: Sequence[Problem] = ()) -> Explanation:
    candidates = _candidates(facts, claim, None)
    return Explanation(claim.key, claim.document.source_of(), candidates, unbound=unbound, problems=tuple(problems))


def _bound(
    facts: Facts,
    draft: Draft,
    planned: PlannedClaim | None,
    problems: Sequence[Problem],
    *,
    types: tuple[str, ...],
    name: str,
) -> Explanation:
    """A bound claim; `types` are those of what it is nested in, `name` is its component's."""
    binding, klass = draft.binding, draft.binding.klass
    here = Place(facts, draft, planned, (*types, tokens.component_type(binding.claim.key.group_kind)), name)
    planned_children = {c.address: c for c in planned.children} if planned else {}
    ordered = [c for a in planned_children for c in draft.children if c.address == a] if planned else draft.children
    return Explanation(
        claim=binding.claim.key,
        where=binding.claim.document.source_of(),
        candidates=_candidates(facts, binding.claim, binding.klass.key),
        chosen=_selected_class(facts, binding),
        problems=tuple(problems),
        who=_who(draft, here),
        existing=Existing(klass.key, here.urn(dict(klass.static), "hold", patch=True)) if klass.static else None,
        children=tuple(children.explain_child(here, c, planned_children.get(c.address)) for c in ordered),
        nested=tuple(_nested(here, t) for t in draft.templates if t.composite),
        secrets=children.explain_secrets(here),
        details=children.explain_details(here),
        records=tuple(_recorded(w) for w in added_objects(here) if w.by == "record"),
        contract=klass.contract,
        template=draft.template,
    )


def _recorded(written: AddedObject) -> Recorded:
    document = written.document
    return Recorded(written.word, str(document["kind"]), str(document["metadata"]["name"]), written.urn)


def _nested(outer: Place, template: Template) -> Explanation:
    """A composite that a template composes, with its patches; or why nothing serves it."""
    facts = outer.facts
    made_by = children.explain_patches(outer, template, outer.outcomes_of(template))
    inner = next((d for d in outer.draft.nested if d.template == template.name), None)
    if inner is None:
        key = _key_of(outer, template)
        unbound = facts.unbound.get(key)
        where = document_of(outer, template).source_of(template.at)
        explained = Explanation(key, where, unbound=unbound.problem if unbound else None)
        if unbound:
            explained = _unserved(facts, unbound.claim, unbound.problem)
    else:
        planned = (
            next((p for p in outer.planned.nested if p.template == template.name), None) if outer.planned else None
        )
        name = f"{outer.name}/{template.name}"
        explained = _bound(facts, inner, planned, (), types=outer.types, name=name)
    return dataclasses.replace(explained, template=template.name, made_by=made_by)


def _key_of(outer: Place, template: Template) -> ClaimKey:
    identity = outer.draft.identity
    namespace = identity.namespace if identity.namespaced else ""
    return ClaimKey(template.group_kind, namespace, identity.name_of(template.named_after))


def _who(draft: Draft, here: Place) -> ClaimIdentity:
    identity, klass = draft.identity, draft.binding.klass
    account = "/".join(klass.service_account) if klass.service_account else None
    return ClaimIdentity(
        uid=identity.uid,
        owner=identity.owner,
        composite=identity.composite_name if identity.dialect.composite else None,
        external_name=identity.external_name,
        service_account=account,
        urn=here.urn(),
        command=f"pulumi up --stack {here.facts.stack} --target '{here.urn()}' --target-dependents",
    )


def _selected_class(facts: Facts, binding: Binding) -> SelectedClass:
    record = facts.records.get(binding.claim.key) if binding.recorded else None
    today = choose(binding.claim, facts.catalog)
    other = isinstance(today, Choice) and today.klass.key != binding.klass.key
    path = binding.claim.resource_path if binding.klass.static else "metadata.name"
    return SelectedClass(
        klass=binding.klass.key,
        dialect=dialect_of(binding.klass),
        reason=binding.reason,
        recorded=record.where if record else None,
        previous=record.previous if record else None,
        today=f"{today.klass.key} ({today.reason})" if isinstance(today, Choice) and other else "",
        command=f"claimsmith bind {facts.stack}",
        where=binding.klass.document.source_of(path),
    )


def _candidates(facts: Facts, claim: Claim, chosen: ClassKey | None) -> tuple[Candidate, ...]:
    return tuple(_candidate(claim, offer, chosen) for offer in offers(facts.catalog, claim.key.group_kind))


def _candidate(claim: Claim, offer: Offer, chosen: ClassKey | None) -> Candidate:
    klass, (fits, why) = offer.klass, _fit(claim, offer)
    where = klass.document.source_of("metadata.name")
    own = (klass.key, dialect_of(klass), klass.labels, offer.weight, offer.default)
    return Candidate(*own, fits, klass.key == chosen, why, where)


def _fit(claim: Claim, offer: Offer) -> tuple[bool, str]:
    """Whether a claim that is bound now could get a class, and why, or why not."""
    key = offer.klass.key
    word = claim.word.rpartition(".")[2]
    if claim.object_ref:
        return False, "the claim names an existing resource"
    if claim.force:
        return key == claim.force, "forced by its definition" if key == claim.force else "another one is forced"
    if claim.class_ref:
        named = key == claim.class_ref.key
        return named, f"named by the {word}Ref" if named else f"the {word}Ref names another"
    if claim.class_selector is not None:
        missing = mismatch(claim.class_selector, offer.klass.labels)
        return not missing, missing or f"matches the {word}Selector"
    if claim.default:
        named = key == claim.default
        return named, "the default of its definition" if named else "another is the default of its definition"
    if claim.any_class:
        return True, "any of its kind"
    if offer.default:
        return True, {"default": "the default", "published": "publishes the kind"}.get(offer.default, offer.default)
    return False, f"no default, and the claim has no {word}Ref or {word}Selector"
