"""What is known of a stack's claims, each by itself: what is wrong with one hides nothing of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from claimsmith.binding import Record, Unbound
from claimsmith.catalog import Catalog
from claimsmith.errors import EngineError, LoadError, Problem, nearest
from claimsmith.expand import Draft, expand
from claimsmith.models.claim import Claim
from claimsmith.models.objects import ClaimKey, GroupKind
from claimsmith.plan import GivenResource, PlannedClaim, finished, target_of_given, targets_of
from claimsmith.reference import Table, Target
from claimsmith.scope import Scopes


@dataclass(slots=True)
class Known:
    """One claim: as far as it came."""

    claim: Claim
    draft: Draft | None = None
    planned: PlannedClaim | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Facts:
    """A stack's claims, and what they are told from."""

    catalog: Catalog
    records: Mapping[ClaimKey, Record]
    table: Table
    project: str
    stack: str
    claims: dict[ClaimKey, Known] = field(default_factory=dict)
    unbound: dict[ClaimKey, Unbound] = field(default_factory=dict)
    targets: dict[GroupKind, list[Target]] = field(default_factory=dict)
    keeps_records: bool = False
    """Whether the stack writes claims and composites as objects."""

    def find(self, text: str) -> list[Known]:
        """The claims that `Kind.group/namespace/name`, or a part of it that only one claim ends in, names."""
        return [self.claims[named(text, self.claims, self.stack)]]


def named(text: str, keys: Iterable[ClaimKey], stack: str) -> ClaimKey:
    """The claim that `Kind.group/namespace/name`, or a part of it that only one claim ends in, names."""
    keys = list(keys)
    found = [k for k in keys if str(k) == text] or [k for k in keys if text in _short_forms(k)]
    if len(found) == 1:
        return found[0]
    if found:
        fix = f"say which: {', '.join(str(k) for k in found)}"
        raise LoadError(Problem(f"{text!r} names {len(found)} claims of {stack}", fix=fix))
    known = [str(key) for key in keys]
    close = nearest(text, [*known, *(form for key in keys for form in _short_forms(key))])
    fix = f"did you mean {close}?" if close else f"use one of: {', '.join(known) or 'none yet'}"
    raise LoadError(Problem(f"there is no claim {text!r} in {stack}", fix=fix))


def gather(
    catalog: Catalog,
    records: Iterable[Record],
    *,
    project: str,
    stack: str,
    table: Table,
    scopes: Scopes,
    given: Sequence[GivenResource] = (),
    keeps_records: bool = False,
) -> Facts:
    """All that can be told of a stack's claims."""
    recorded = {r.claim: r for r in records}
    facts = Facts(catalog, recorded, table, project, stack, keeps_records=keeps_records)
    facts.claims = {key: Known(claim) for key, claim in catalog.claims.items()}
    try:
        _expand(facts, catalog, scopes)
    except EngineError:
        # Something is wrong with some: each by itself tells with which.
        for key, known in facts.claims.items():
            try:
                _expand(facts, replace(catalog, claims={key: known.claim}), scopes)
            except EngineError as error:
                known.problems = error.problems
    facts.targets = targets_of(d for root in _drafts(facts) for d in root.walk())
    for resource in given:
        facts.targets.setdefault(resource.key.group_kind, []).append(target_of_given(resource))
    for known in facts.claims.values():
        if known.draft:
            try:
                known.planned = finished(known.draft, facts.targets, table)
            except EngineError as error:
                known.problems = error.problems
    return facts


def _expand(facts: Facts, catalog: Catalog, scopes: Scopes) -> None:
    """Note the drafts of a catalog's claims, and those that nothing serves."""
    found = expand(catalog, facts.records.values(), project=facts.project, stack=facts.stack, scopes=scopes)
    for draft in found.drafts:
        facts.claims[draft.binding.claim.key].draft = draft
    facts.unbound.update({u.claim.key: u for u in found.unbound})


def _drafts(facts: Facts) -> Iterator[Draft]:
    return (known.draft for known in facts.claims.values() if known.draft)


def _short_forms(key: ClaimKey) -> tuple[str, ...]:
    return (f"{key.group_kind.kind}/{key.place}", key.place, key.name, str(key))
