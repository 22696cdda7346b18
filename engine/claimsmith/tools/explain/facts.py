"""The claims of a stack, each resolved by itself: a problem with one does not hide the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.documents import Document
from claimsmith.base.errors import EngineError, LoadError, Problem, suggest
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.values import inside
from claimsmith.compose.candidates import candidates_of
from claimsmith.compose.drafts import Draft
from claimsmith.compose.expand import expand
from claimsmith.compose.native_types import native_types
from claimsmith.compose.plan import GivenResource, PlannedClaim, candidate_of_given
from claimsmith.compose.planning import finished
from claimsmith.compose.references import Candidate, Table
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Template
from claimsmith.functions.registry import Declared
from claimsmith.kubernetes.scope import Scopes
from claimsmith.patching.patches import Outcome
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.selection import Unbound
from claimsmith.project import sdks
from claimsmith.providers import tokens


@dataclass(slots=True)
class ClaimFacts:
    """One claim, as far as it could be resolved."""

    claim: Claim
    draft: Draft | None = None
    planned: PlannedClaim | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Facts:
    """A stack's claims, and what they are resolved from."""

    catalog: Catalog
    records: Mapping[ClaimKey, Record]
    table: Table
    project: str
    stack: str
    claims: dict[ClaimKey, ClaimFacts] = field(default_factory=dict)
    unbound: dict[ClaimKey, Unbound] = field(default_factory=dict)
    targets: dict[GroupKind, list[Candidate]] = field(default_factory=dict)
    keeps_records: bool = False
    """Whether the stack writes claims and composites as objects."""

    def find(self, text: str) -> list[ClaimFacts]:
        """The claims that `Kind.group/namespace/name`, or a part of it that only one claim ends in, names."""
        return [self.claims[named(text, self.claims, self.stack)]]


def named(text: str, keys: Iterable[ClaimKey], stack: str) -> ClaimKey:
    """The claim that `Kind.group/namespace/name`, or a part of it that only one claim ends in, names."""
    keys = list(keys)
    found = [k for k in keys if str(k) == text] or [k for k in keys if text in _short_forms(k)]
    if len(found) == 1:
        return found[0]
    if found:
        fix = f"use one of: {', '.join(str(k) for k in found)}"
        raise LoadError(Problem(f"{text!r} names {len(found)} claims of {stack}", fix=fix))
    known = [str(key) for key in keys]
    forms = [*known, *(form for key in keys for form in _short_forms(key))]
    fix = suggest(text, forms, f"use one of: {', '.join(known) or 'none yet'}")
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
    declared: Declared | None = None,
) -> Facts:
    """All that can be resolved of a stack's claims."""
    recorded = {r.claim: r for r in records}
    facts = Facts(catalog, recorded, table, project, stack, keeps_records=keeps_records)
    facts.claims = {key: ClaimFacts(claim) for key, claim in catalog.claims.items()}
    try:
        _expand(facts, catalog, scopes, declared)
    except EngineError:
        # Expanding all at once fails if one fails: expand each by itself to find which.
        for key, known in facts.claims.items():
            try:
                _expand(facts, replace(catalog, claims={key: known.claim}), scopes, declared)
            except EngineError as error:
                known.problems = error.problems
    facts.targets = candidates_of(d for known in facts.claims.values() if known.draft for d in known.draft.walk())
    for resource in given:
        facts.targets.setdefault(resource.key.group_kind, []).append(candidate_of_given(resource))
    for known in facts.claims.values():
        if known.draft:
            try:
                known.planned = finished(known.draft, facts.targets, table)
            except EngineError as error:
                known.problems = error.problems
    return facts


def _expand(facts: Facts, catalog: Catalog, scopes: Scopes, declared: Declared | None) -> None:
    """Note the drafts of a catalog's claims, and those that nothing serves."""
    found = expand(
        catalog,
        facts.records.values(),
        project=facts.project,
        stack=facts.stack,
        scopes=scopes,
        types=native_types(sdks.index_of),
        declared=declared,
    )
    for draft in found.drafts:
        facts.claims[draft.binding.claim.key].draft = draft
    facts.unbound.update({u.claim.key: u for u in found.unbound})


def _short_forms(key: ClaimKey) -> tuple[str, ...]:
    return (f"{key.group_kind.kind}/{key.place}", key.place, key.name, str(key))


@dataclass(frozen=True, slots=True)
class Place:
    """A claim or composite within a stack."""

    facts: Facts
    draft: Draft
    planned: PlannedClaim | None
    types: tuple[str, ...]
    """The engine's types of the components it is nested in, and of its own."""
    name: str
    """The name of its component."""

    def urn(self, document: dict[str, Any] | None = None, word: str = "", *, patch: bool = False) -> str:
        """The URN of the component, or of an object within it."""
        own = (tokens.resource_type(document) + ("Patch" if patch else ""),) if document else ()
        name = f"{self.name}/{word}" if word else self.name
        if document and tokens.is_native(document):
            name = str(document["metadata"]["name"])
        return tokens.urn(self.facts.project, self.facts.stack, (*self.types, *own), name)

    def outcomes_of(self, template: Template) -> Sequence[Outcome]:
        """What became of the patches of a composite's template."""
        return next((d.outcomes for d in self.draft.nested if d.template == template.name), ())


def document_of(here: Place, template: Template) -> Document:
    """The document that contains a template."""
    return template.document or here.draft.binding.klass.document


def value_at(document: dict[str, Any], path: str | fieldpath.Path) -> Any:
    """The value at a path of a document; ABSENT if there is none."""
    try:
        return fieldpath.get(document, path)
    except EngineError:
        return ABSENT


def read_from(data: dict[str, Any], path: str) -> Any:
    """The value at a path, also below a value that is resolved only at deploy time; ABSENT if there is none."""
    value = value_at(data, path)
    if value is not ABSENT:
        return value
    with suppress(EngineError):
        found = inside(data, fieldpath.parse(path))
        return ABSENT if found is None else found
    return ABSENT
