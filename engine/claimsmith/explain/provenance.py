"""Where one field comes from: the base, the patches in their order, the identity, the references, or claimsmith."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from claimsmith import fieldpath, reference, urns
from claimsmith.absent import ABSENT
from claimsmith.compose import patches
from claimsmith.compose.identity import EXTERNAL_NAME, EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX
from claimsmith.documents import Document
from claimsmith.drift import MASKED
from claimsmith.errors import ComposeError, EngineError, Problem, Source, nearest
from claimsmith.expand import Child, templated
from claimsmith.explain import parts
from claimsmith.explain.facts import Facts, Known
from claimsmith.explain.links import reference_story
from claimsmith.explain.parts import Step
from claimsmith.explain.places import Place, document_of, said
from claimsmith.explain.plain import plain
from claimsmith.explain.written import Written, told_to_the_engine, written_for
from claimsmith.models.klass import Side, Template
from claimsmith.models.objects import ClaimKey, GroupKind
from claimsmith.values import copied, walk

V = TypeVar("V")

_PARENTS = ("claimRef", "classRef", "compositeRef", "aggregateRef")


@dataclass(frozen=True, slots=True)
class Trace:
    """A field's way to its value."""

    claim: ClaimKey
    child: str
    kind: str
    name: str
    urn: str
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
    document: dict[str, Any]
    """As it is in the end."""
    child: Child | None
    """None for a composite."""
    urn: str

    @property
    def word(self) -> str:
        """What it is called within the claim."""
        return self.template.name


def trace(facts: Facts, known: Known, *, child: str | None, path: str) -> Trace:
    """How a field of a claim's child came about; `child` is its template, with the composites' that it is in."""
    made = _find(facts, known, child)
    found = _traced(made, fieldpath.parse(path))
    if found is None:
        raise _unknown(made, path)
    return found


def traces(facts: Facts, known: Known, *, path: str) -> list[Trace]:
    """How a field came about in each of a claim's children that has it."""
    everything = _everything(facts, known)
    steps = fieldpath.parse(path)
    found = [t for made in everything.values() if isinstance(made, _Made) and (t := _traced(made, steps))]
    if found:
        return found
    named_child(known.claim.key, everything, next(iter(everything), None))
    fields = [fieldpath.to_text(p) for made in everything.values() for p, _ in walk(made.document)]
    close = nearest(path, dict.fromkeys(fields))
    fix = f"did you mean {close}?" if close else f"its children are: {', '.join(everything)}; explain one with --child"
    raise ComposeError(Problem(f"nothing that is made for {known.claim.key} has a field {path!r}", path=path, fix=fix))


def _traced(made: _Made | Written, path: fieldpath.Path) -> Trace | None:
    """A field's way; None where there is no such field, and nothing would have written one."""
    told = tuple(made.steps(path) if isinstance(made, Written) else _steps(made, path))
    value = said(made.document, path)
    if isinstance(made, _Made) and value is ABSENT and told and told[-1].by == "engine":
        value = told[-1].value
    if isinstance(made, Written) and told and told[0].by == "secret":
        value = MASKED
    if not told and value is ABSENT:
        return None
    key = made.here.draft.binding.claim.key
    kind = str(GroupKind.of(made.document))
    name, text = str(made.document["metadata"]["name"]), fieldpath.to_text(path)
    return Trace(key, made.word, kind, name, made.urn, text, value, told)


def _steps(made: _Made, path: fieldpath.Path) -> Iterator[Step]:
    template = made.template
    beside = made.here.draft.sides()
    claim, opaque = beside[Side.claim], template.opaque
    document: dict[str, Any] = templated(opaque, template.base, claim) if opaque else copied(dict(template.base))
    value = copied(said(document, path))
    if value is not ABSENT:
        yield _template(made, opaque.engine, value) if opaque else _base(made, path, value)
    sides = {**beside, Side.resource: document}
    for patch in (p for p in template.patches if p.target is Side.resource):
        outcome = patches.apply(patch, sides)
        if fieldpath.overlap(fieldpath.parse(patch.to), path):
            story = parts.patch_story(made.here, made.template, outcome)
            word = "applied" if outcome.applied else "skipped"
            yield Step("patch", word, copied(said(document, path)), story.where, story)
    dressed = said(made.dressed, path)
    if dressed != said(document, path):
        defined = _default(made, path)
        what, where = _identity_words(made, path)
        yield defined or Step("identity", what, dressed, where)
    final = said(made.document, path)
    if final != dressed and made.child:
        yield _reference(made, made.child, path, final)
    if made.child and path[:2] == ("metadata", "annotations") and len(path) == 3:
        for key, (text, what) in told_to_the_engine(made.child, made.here).items():
            if path[2] == key:
                yield Step("engine", what, text)


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


def _default(made: _Made, path: fieldpath.Path) -> Step | None:
    """What the definition of a composite's kind fills in."""
    defined = made.here.facts.catalog.defined(made.template.group_kind) if made.child is None else None
    if defined is None or path[:1] != ("spec",) or len(path) < 2 or path[1] == defined[0].injected:
        return None
    document = defined[0].document
    inner = [step for segment in path[1:] for step in ("properties", segment)]
    where = document.source_of(("spec", "crdSpecTemplate", "validation", "openAPIV3Schema", *inner))
    return Step("definition", "the default of its definition", said(made.dressed, path), where)


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
        if fieldpath.overlap(selection.ref_path, path) or fieldpath.overlap(selection.path, path):
            story = reference_story(made.here, child, selection)
            gone = "; the selector itself is not sent" if value is ABSENT else ""
            what = f"{story.selector} wants {story.wanted}: {story.picked} ({story.why}){gone}"
            return Step("reference", what, value, story.where)
    text = fieldpath.to_text(path)
    where = _document(made).source_of(made.template.place_of(text))
    return Step("reference", "a reference is given, and wins over the selector", value, where)


def _document(made: _Made) -> Document:
    return document_of(made.here, made.template)


def _everything(facts: Facts, known: Known) -> dict[str, _Made | Written]:
    """All that is made and written for a claim, by its name within the claim."""
    if known.draft is None:
        unbound = facts.unbound.get(known.claim.key)
        problems = known.problems or ((unbound.problem,) if unbound else ())
        raise ComposeError(*problems)
    types = (urns.component_type(known.claim.key.group_kind),)
    return dict(_all(Place(facts, known.draft, known.planned, types, known.claim.key.place), ""))


def _find(facts: Facts, known: Known, child: str | None) -> _Made | Written:
    everything = _everything(facts, known)
    if child is None:
        made = {name: m for name, m in everything.items() if isinstance(m, _Made)}
        return named_child(known.claim.key, made, None)
    return named_child(known.claim.key, everything, child)


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


def _all(here: Place, prefix: str) -> Iterator[tuple[str, _Made | Written]]:
    """Everything that a claim is made of, by its templates' names, then what is written beside."""
    draft, planned = here.draft, here.planned
    final: Mapping[str, dict[str, Any]] = {c.address: c.document for c in planned.children} if planned else {}
    for child in draft.children:
        document, name = final.get(child.address, child.document), child.template.name
        urn = here.urn(child.document, name)
        yield f"{prefix}{name}", _Made(here, child.template, child.document, document, child, urn)
    templates = {t.name: t for t in draft.binding.klass.templates}
    for inner in draft.nested:
        document = inner.binding.claim.data
        below = next((p for p in planned.nested if p.template == inner.template), None) if planned else None
        types = (*here.types, urns.component_type(inner.binding.claim.key.group_kind))
        within = Place(here.facts, inner, below, types, f"{here.name}/{inner.template}")
        yield (
            f"{prefix}{inner.template}",
            _Made(here, templates[inner.template], document, document, None, within.urn()),
        )
        yield from _all(within, f"{prefix}{inner.template}/")
    for written in written_for(here):
        yield f"{prefix}{written.word}", written


def _unknown(made: _Made | Written, path: str) -> EngineError:
    known: Sequence[str] = [fieldpath.to_text(p) for p, _ in walk(made.document)]
    close = nearest(path, known)
    fix = f"did you mean {close}?" if close else f"its fields are: {', '.join(known)}"
    return ComposeError(Problem(f"{made.word!r} has no field {path!r}, and no patch writes one", path=path, fix=fix))
