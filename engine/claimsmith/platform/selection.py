"""Which class a claim without a record is bound to, and why: the same on every machine.

The choice is a named class, else the classes that the claim's selector matches, else the default class; among several
the highest weight, then a stable hash. `binding` keeps the choice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from claimsmith.base.documents import Document
from claimsmith.base.errors import BindingError, Problem, nearest, suggest
from claimsmith.base.names import ClassKey
from claimsmith.dialects.common.claim import Claim, ObjectRef
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.crossplane.composition import OF_COMPOSITION
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.reading import read_only

IS_DEFAULT = "resourceclass.crossplane.io/is-default-class"
WEIGHT = "resourceclass.crossplane.io/weight"


class _Weighted(Protocol):
    """Something to select among: a class for a claim, a target for an application."""

    @property
    def key(self) -> Any: ...
    @property
    def annotations(self) -> Mapping[str, str]: ...
    @property
    def document(self) -> Document: ...


W = TypeVar("W", bound=_Weighted)


@dataclass(frozen=True, slots=True)
class Choice:
    """A class selected among candidates, and why."""

    klass: Class
    reason: str
    candidates: tuple[ClassKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Unbound:
    """A claim that no class serves, and what is wrong. A `mistake` names something that is not there."""

    claim: Claim
    problem: Problem
    mistake: bool


def choose(claim: Claim, catalog: Catalog) -> Choice | Unbound:
    """The class for a claim that has none yet."""
    if claim.object_ref:
        return _static(claim, claim.object_ref, catalog)
    choice = _selected(claim, catalog)
    if isinstance(choice, Choice) and (claim.revision or claim.revision_selector):
        choice = _revision(claim, choice, catalog)
    return choice if isinstance(choice, Unbound) else _read_only(claim, choice)


def _read_only(claim: Claim, choice: Choice) -> Choice | Unbound:
    """The class as it serves a claim, which may name an existing native resource."""
    try:
        return replace(choice, klass=read_only(choice.klass, claim))
    except BindingError as error:
        return Unbound(claim, error.problems[0], mistake=True)


def _selected(claim: Claim, catalog: Catalog) -> Choice | Unbound:
    """The class for a claim, whichever revision of it."""
    serving = [c for c in _offered(claim, catalog) if not c.revision]
    if claim.force:
        return _by_name(claim, claim.force, catalog, "forced by its definition", path="kind")
    if claim.class_ref:
        return _by_name(claim, claim.class_ref.key, catalog, f"{class_word(claim)}Ref", path=f"{claim.word}Ref.name")
    if claim.class_selector is not None:
        matching = [c for c in serving if claim.class_selector.matches(c.labels)]
        if not matching:
            what = f"no class for {claim.key.group_kind} matches {claim.class_selector}"
            return _unbound(claim, f"{claim.word}Selector", what, _offer(serving, claim, catalog), mistake=False)
        return _heaviest(claim, matching, f"{class_word(claim)}Selector {claim.class_selector}")
    if claim.default:
        return _by_name(claim, claim.default, catalog, "default of its definition", path="kind")
    defaults = [c for c in serving if c.annotations.get(IS_DEFAULT) == "true" or c.dialect.publishing]
    if not defaults and claim.any_class and serving:
        return _heaviest(claim, serving, "any of its kind")
    if not defaults:
        what = f"{claim.key} names no class, and {claim.key.group_kind} has no default class"
        return _unbound(claim, "spec", what, _offer(serving, claim, catalog), mistake=False)
    return _heaviest(claim, defaults, "published" if defaults[0].dialect.publishing else "default class")


def _revision(claim: Claim, choice: Choice, catalog: Catalog) -> Choice | Unbound:
    """The revision of the selected composition that a claim names, or the latest that its selector matches."""
    known = [c for c in _offered(claim, catalog) if c.revision]
    own = [c for c in known if c.labels.get(OF_COMPOSITION) == choice.klass.name]
    if claim.revision:
        fitting = [c for c in own if c.name == claim.revision]
        path, why = f"{claim.word}RevisionRef.name", f"{choice.reason}; {class_word(claim)}RevisionRef"
    else:
        assert claim.revision_selector is not None, "asked for by one or the other"
        fitting = [c for c in own if claim.revision_selector.matches(c.labels)]
        path, why = f"{claim.word}RevisionSelector", f"{choice.reason}; the latest revision that fits"
    if not fitting:
        what = f"no revision of {choice.klass.key} fits {claim.revision or claim.revision_selector}"
        return _unbound(claim, path, what, _offer(own, claim, catalog), mistake=bool(claim.revision))
    latest = max(fitting, key=lambda c: (c.revision, c.name))
    return Choice(latest, why, tuple(c.key for c in fitting))


def class_word(claim: Claim) -> str:
    """What the claim's dialect calls a class: `class` or `composition`."""
    return claim.word.rpartition(".")[2]


def _by_name(claim: Claim, key: ClassKey, catalog: Catalog, reason: str, *, path: str) -> Choice | Unbound:
    named = catalog.named(key)
    serving = _offered(claim, catalog)
    klass = catalog.classes.get((key, claim.key.group_kind))
    if not named:
        fix = suggest(key.name, (c.name for c in serving), _offer(serving, claim, catalog))
        twin = next((c for c in serving if c.name == key.name), None)
        if twin:
            fix = f"did you mean kind: {twin.key.group_kind.kind} of apiVersion: {twin.api_version}?"
        return _unbound(claim, path, f"there is no class {key}", fix, mistake=True)
    if klass is None:
        what = f"{key} serves {', '.join(str(c.serves) for c in named)}, not {claim.key.group_kind}"
        return _unbound(claim, path.removesuffix(".name"), what, _offer(serving, claim, catalog), mistake=True)
    if not may_serve(klass, claim):
        return _unbound(claim, path, not_permitted(klass, claim), _offer(serving, claim, catalog), mistake=True)
    return Choice(klass, reason, (key,))


def _offered(claim: Claim, catalog: Catalog) -> list[Class]:
    """The classes that serve the claim's kind, and that the platform lets this claim use."""
    return [c for c in catalog.serving(claim.key.group_kind) if may_serve(c, claim)]


def may_serve(klass: Class, claim: Claim) -> bool:
    """Whether a claim may use a class; one that only creates the composite that is claimed is no choice."""
    return klass.dialect.publishing or claim.may_be_served_by(klass.name)


def not_permitted(klass: Class, claim: Claim) -> str:
    """Why a claim may not use a class that serves its kind."""
    return f"claims of this folder may not use {klass.key}: they may use {', '.join(claim.may_use) or 'none'}"


def _static(claim: Claim, wanted: ObjectRef, catalog: Catalog) -> Choice | Unbound:
    """The existing resource that a claim names, as a class that creates nothing."""
    kinds = catalog.claimable(claim.key.group_kind)
    if wanted.key.group_kind not in kinds:
        what = f"{claim.key} cannot bind to {wanted.key}: {claim.key.group_kind} claims no such kind"
        fix = f"name one of: {', '.join(sorted(map(str, kinds)))}" if kinds else "leave out resourceRef"
        return _unbound(claim, claim.resource_path, what, fix, mistake=True)
    return Choice(static_class(claim, wanted), "resourceRef", (wanted.key,))


def static_class(claim: Claim, wanted: ObjectRef) -> Class:
    """The class of a claim for what is there already: no templates, one resource that it never owns."""
    reference = {"apiVersion": wanted.api_version, "kind": wanted.kind, "name": wanted.name}
    return Class(
        api_version=wanted.api_version,
        key=wanted.key,
        serves=claim.key.group_kind,
        templates=(),
        dialect=RESOURCE_CLASSES,
        document=claim.document,
        claim_api_version=claim.api_version,
        static=reference,
    )


def heaviest(wanted_by: str, candidates: Sequence[W]) -> tuple[W, str]:
    """The candidate of the highest weight, among equals a stable choice; and how it was found among several."""
    top = max(weight_of(c) for c in candidates)
    equals = [c for c in candidates if weight_of(c) == top]
    selected = min(equals, key=lambda c: hashlib.sha256(f"{wanted_by}|{c.key}".encode()).hexdigest())
    if len(candidates) == 1:
        return selected, ""
    how = "the highest weight" if len(equals) == 1 else "a stable choice among equals"
    return selected, f"{how} of {len(candidates)}"


def _heaviest(claim: Claim, classes: list[Class], why: str) -> Choice:
    selected, how = heaviest(str(claim.key), classes)
    return Choice(selected, f"{why}; {how}" if how else why, tuple(c.key for c in classes))


def weight_of(candidate: _Weighted) -> int:
    """How much a class or a target counts where several would do; a weight that is no whole number is refused."""
    text = candidate.annotations.get(WEIGHT, "0")
    try:
        return int(text)
    except ValueError:
        where = candidate.document.source_of(("metadata", "annotations", WEIGHT))
        what = f"the weight {text!r} is no whole number"
        raise BindingError(Problem(what, where, f"metadata.annotations[{WEIGHT}]", 'write it like "10"')) from None


def _unbound(claim: Claim, path: str, what: str, fix: str, *, mistake: bool) -> Unbound:
    return Unbound(claim, Problem(what, claim.document.source_of(path), path, fix), mistake)


def _offer(serving: list[Class], claim: Claim, catalog: Catalog) -> str:
    if not serving:
        # Groups are long and alike: only the kinds are compared.
        served = {c.serves.kind: c.serves for c in catalog.classes.values()}
        close = nearest(claim.key.group_kind.kind, served)
        fix = "add a class that serves this kind, or fix the claim's apiVersion and kind"
        return f"did you mean {str(served[close])!r}? Else {fix}" if close else fix
    names = ", ".join(
        f"{c.name} ({', '.join(f'{k}={v}' for k, v in c.labels.items())})" if c.labels else c.name for c in serving
    )
    return f"use one of: {names}"
