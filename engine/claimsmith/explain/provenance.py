"""Where one field of one child comes from: the base, the patches in their order, the identity, the references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from claimsmith import fieldpath, reference
from claimsmith.absent import ABSENT
from claimsmith.compose import patches
from claimsmith.compose.identity import EXTERNAL_NAME, EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX
from claimsmith.documents import Document
from claimsmith.errors import ComposeError, EngineError, Problem, Source, nearest
from claimsmith.expand import Child, Draft, claim_data, templated
from claimsmith.explain import parts
from claimsmith.explain.facts import Facts, Known
from claimsmith.explain.parts import PatchStory, Place, said
from claimsmith.explain.story import plain
from claimsmith.models.klass import Side, Template
from claimsmith.models.objects import ClaimKey
from claimsmith.plan import PlannedClaim
from claimsmith.values import copied, walk

V = TypeVar("V")

_PARENTS = ("claimRef", "classRef", "compositeRef", "aggregateRef")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that had to do with the field."""

    by: str
    """`base`, `template`, `table`, `patch`, `identity` or `reference`."""
    what: str
    value: Any
    """What the field was after it; ABSENT where it was nothing."""
    where: Source | None = None
    patch: PatchStory | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A field's way to its value."""

    claim: ClaimKey
    child: str
    kind: str
    name: str
    path: str
    value: Any
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """The trace for a machine to read."""
        result: dict[str, Any] = plain(self)
        return result | {"present": self.value is not ABSENT}


@dataclass(frozen=True, slots=True)
class _Made:
    """What a template made: before and after its references were followed."""

    here: Place
    template: Template
    dressed: dict[str, Any]
    final: dict[str, Any]
    child: Child | None
    """None for a composite."""


def trace(facts: Facts, known: Known, *, child: str | None, path: str) -> Trace:
    """How a field of a claim's child came about; `child` is its template, with the composites' that it is in."""
    made = _find(facts, known, child)
    steps = fieldpath.parse(path)
    told = tuple(_steps(made, steps))
    value = said(made.final, steps)
    if not told and value is ABSENT:
        raise _unknown(made, path)
    metadata = made.final["metadata"]
    key = made.here.draft.binding.claim.key
    text = fieldpath.to_text(steps)
    return Trace(key, made.template.name, str(made.template.group_kind), str(metadata["name"]), text, value, told)


def _steps(made: _Made, path: fieldpath.Path) -> Iterator[Step]:
    claim, template = claim_data(made.here.draft.binding), made.template
    opaque = template.opaque
    document: dict[str, Any] = templated(opaque, template.base, claim) if opaque else copied(dict(template.base))
    value = said(document, path)
    if value is not ABSENT:
        yield _template(made, opaque.engine, value) if opaque else _base(made, path, value)
    sides = {**made.here.draft.sides(), Side.resource: document}
    for patch in (p for p in made.template.patches if p.target is Side.resource):
        outcome = patches.apply(patch, sides)
        if _touches(fieldpath.parse(patch.to), path):
            story = parts.patch_story(made.here, made.template, outcome)
            word = "applied" if outcome.applied else "skipped"
            yield Step("patch", word, said(document, path), story.where, story)
    dressed = said(made.dressed, path)
    if dressed != said(document, path):
        what, where = _identity_words(made, path)
        yield Step("identity", what, dressed, where)
    final = said(made.final, path)
    if final != dressed and made.child:
        yield _reference(made, made.child, path, final)


def _template(made: _Made, engine: str, value: Any) -> Step:
    """What the text of a template became."""
    at = f"{made.template.at}.template.source"
    return Step("template", f"written by the {engine} template", value, _document(made).source_of(at))


def _base(made: _Made, path: fieldpath.Path, value: Any) -> Step:
    """A literal of the class's; or, where the class's file does not say so, one of the table of bindable kinds."""
    document = _document(made)
    text = fieldpath.to_text(path)
    for place in (made.template.place_of(text), text):
        if said(document.data, place) is not ABSENT:
            return Step("base", "written in the class", value, document.source_of(place))
    if path in (("apiVersion",), ("kind",)):
        return Step("base", "what the class makes", value, document.source_of("kind"))
    known = made.template.place_of(text) if made.template.spec_at else made.template.at
    claim = made.here.draft.binding.claim.key.group_kind
    return Step(
        "table", f"what a {claim.kind} calls for, where the class leaves it open", value, document.source_of(known)
    )


def _identity_words(made: _Made, path: fieldpath.Path) -> tuple[str, Source | None]:
    claim = made.here.draft.binding.claim.document
    match path:
        case ("metadata", "name"):
            return "generated from the claim's namespace and name, its uid and the template's name", None
        case ("metadata", "namespace"):
            return "the claim's namespace", claim.source_of("metadata.namespace")
        case ("metadata", "labels", *_):
            return "the labels by which the claim's children are found", claim.source_of("metadata.name")
        case ("metadata", "annotations", str(key)) if key == EXTERNAL_NAME:
            return _external_words(made), claim.source_of(("metadata", "annotations", EXTERNAL_NAME))
        case ("metadata", *_):
            return "made by the claim's identity", claim.source_of("metadata")
        case ("spec", "writeConnectionSecretToRef", *_):
            return "named after the child, since only a namespace is given", None
        case ("spec", str(key), *_) if key in _PARENTS:
            return "binds the child to what it was made for", claim.source_of("metadata.name")
        case _:
            return "made by the claim's identity", claim.source_of("metadata.name")


def _external_words(made: _Made) -> str:
    annotations = (made.template.base.get("metadata") or {}).get("annotations") or {}
    whose = "the claim's external name" if made.here.draft.identity.external_name else "the class's external name"
    prefix, suffix = annotations.get(EXTERNAL_NAME_PREFIX), annotations.get(EXTERNAL_NAME_SUFFIX)
    joined = [f"{word} {text!r}" for word, text in (("the prefix", prefix), ("the suffix", suffix)) if text]
    return f"{whose}, with {' and '.join(joined)}" if joined else whose


def _reference(made: _Made, child: Child, path: fieldpath.Path, value: Any) -> Step:
    """A field that a selector, or a reference in its place, made or took away."""
    for selection in reference.selections(child.document, made.here.facts.table):
        if _touches(selection.ref_path, path) or _touches(selection.path, path):
            story = parts.reference_story(made.here, child, selection)
            gone = "; the selector itself is not sent" if value is ABSENT else ""
            what = f"{story.selector} wants {story.wanted}: {story.picked} ({story.why}){gone}"
            return Step("reference", what, value, story.where)
    text = fieldpath.to_text(path)
    where = _document(made).source_of(made.template.place_of(text))
    return Step("reference", "a reference is given, and wins over the selector", value, where)


def _document(made: _Made) -> Document:
    return parts.document_of(made.here, made.template)


def _touches(one: fieldpath.Path, other: fieldpath.Path) -> bool:
    """Whether one of two paths is within the other."""
    pairs = zip(one, other, strict=False)
    return all(a == b or fieldpath.WILDCARD in (a, b) for a, b in pairs)


def _find(facts: Facts, known: Known, child: str | None) -> _Made:
    if known.draft is None:
        unbound = facts.unbound.get(known.claim.key)
        problems = known.problems or ((unbound.problem,) if unbound else ())
        raise ComposeError(*problems)
    return named_child(known.claim.key, dict(_all(facts, known.draft, known.planned, "")), child)


def named_child(claim: ClaimKey, made: Mapping[str, V], child: str | None) -> V:
    """The one of a claim's children that is named, or that there is."""
    if child is None and len(made) == 1:
        return next(iter(made.values()))
    if child is not None and child in made:
        return made[child]
    listed = ", ".join(made) or "none: it holds what is there already"
    if child is None:
        what = f"{claim} has several children" if made else f"{claim} makes nothing"
        raise ComposeError(Problem(what, fix=f"give --child, one of: {listed}"))
    close = nearest(child, made)
    fix = f"did you mean {close}?" if close else f"its children are: {listed}"
    raise ComposeError(Problem(f"{claim} has no child {child!r}", fix=fix))


def _all(facts: Facts, draft: Draft, planned: PlannedClaim | None, prefix: str) -> Iterator[tuple[str, _Made]]:
    """Everything that a claim is made of, by its templates' names."""
    here = Place(facts, draft, planned, (), "")
    final: Mapping[str, dict[str, Any]] = {c.address: c.document for c in planned.children} if planned else {}
    for child in draft.children:
        made = _Made(here, child.template, child.document, final.get(child.address, child.document), child)
        yield f"{prefix}{child.template.name}", made
    templates = {t.name: t for t in draft.binding.klass.templates}
    for inner in draft.nested:
        document = inner.binding.claim.data
        yield f"{prefix}{inner.template}", _Made(here, templates[inner.template], document, document, None)
        below = next((p for p in planned.nested if p.template == inner.template), None) if planned else None
        yield from _all(facts, inner, below, f"{prefix}{inner.template}/")


def _unknown(made: _Made, path: str) -> EngineError:
    known: Sequence[str] = [fieldpath.to_text(p) for p, _ in walk(made.final)]
    close = nearest(path, known)
    fix = f"did you mean {close}?" if close else f"its fields are: {', '.join(known)}"
    return ComposeError(
        Problem(f"{made.template.name!r} has no field {path!r}, and no patch writes one", path=path, fix=fix)
    )
