"""Where one field comes from: the base, the patches in their order, the identity, the references, or claimsmith."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, EngineError, Problem, Source, suggest
from claimsmith.base.labels import EXTERNAL_NAME, EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX, IMPORT
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.values import Interpolation, copied, walk
from claimsmith.compose import references
from claimsmith.compose.child_documents import templated
from claimsmith.compose.drafts import Child
from claimsmith.compose.piped import Piped
from claimsmith.dialects.common.klass import Side, Template
from claimsmith.patching import patches
from claimsmith.providers import tokens
from claimsmith.tools.drift.changes import MASKED
from claimsmith.tools.explain import children
from claimsmith.tools.explain.added_objects import AddedObject, added_objects, engine_annotations_of
from claimsmith.tools.explain.children import Step, explain_reference
from claimsmith.tools.explain.facts import ClaimFacts, Facts, Place, document_of, value_at
from claimsmith.tools.explain.formatting import plain

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
class _Composed:
    """A composed resource: before and after its references are resolved."""

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


def trace(facts: Facts, one: ClaimFacts, *, child: str | None, path: str) -> Trace:
    """How a field of a claim's child came about; `child` is its template, with the composites' that it is in."""
    composed = _find(facts, one, child)
    found = _traced(composed, fieldpath.parse(path))
    if found is None:
        raise _unknown(composed, path)
    return found


def traces(facts: Facts, one: ClaimFacts, *, path: str) -> list[Trace]:
    """How a field came about in each of a claim's children that has it."""
    everything = _everything(facts, one)
    steps = fieldpath.parse(path)
    found = [
        t for composed in everything.values() if isinstance(composed, _Composed) and (t := _traced(composed, steps))
    ]
    if found:
        return found
    named_child(one.claim.key, everything, next(iter(everything), None))
    fields = [fieldpath.to_text(p) for composed in everything.values() for p, _ in walk(composed.document)]
    fix = suggest(path, dict.fromkeys(fields), f"its children are: {', '.join(everything)}; explain one with --child")
    raise ComposeError(Problem(f"no resource composed for {one.claim.key} has a field {path!r}", path=path, fix=fix))


def _traced(composed: _Composed | AddedObject, path: fieldpath.Path) -> Trace | None:
    """A field's way; None where there is no such field, and nothing would have written one."""
    steps = tuple(composed.steps(path) if isinstance(composed, AddedObject) else _steps(composed, path))
    value = value_at(composed.document, path)
    if isinstance(composed, _Composed) and value is ABSENT and steps and steps[-1].by == "engine":
        value = steps[-1].value
    if isinstance(composed, AddedObject) and steps and steps[0].by == "secret":
        value = MASKED
    if not steps and value is ABSENT:
        return None
    key = composed.here.draft.binding.claim.key
    kind = str(GroupKind.of(composed.document))
    name, text = str(composed.document["metadata"]["name"]), fieldpath.to_text(path)
    return Trace(key, composed.word, kind, name, composed.urn, text, value, steps)


def _steps(composed: _Composed, path: fieldpath.Path) -> Iterator[Step]:
    template = composed.template
    beside = composed.here.draft.sides()
    claim, opaque = beside[Side.claim], template.opaque
    document: dict[str, Any] = templated(opaque, template.base, claim) if opaque else copied(dict(template.base))
    value = copied(value_at(document, path))
    if composed.here.draft.piped:
        yield from _pipeline(composed.here.draft.piped, template, path)
    elif value is not ABSENT:
        yield _template(composed, opaque.engine, value) if opaque else _base(composed, path, value)
    sides = {**beside, Side.resource: document}
    for patch in (p for p in template.patches if p.target is Side.resource):
        outcome = patches.apply(patch, sides)
        if fieldpath.overlap(fieldpath.parse(patch.to), path):
            explained = children.explain_patch(composed.here, composed.template, outcome)
            word = "applied" if outcome.applied else "skipped"
            yield Step("patch", word, copied(value_at(document, path)), explained.where, explained)
    dressed = value_at(composed.dressed, path)
    before = value_at(document, path)
    if isinstance(before, Interpolation) and dressed != before:
        yield _output(composed, path, before, dressed)
    elif dressed != before:
        defined = _default(composed, path)
        what, where = (_native_text if template.native else _identity_text)(composed, path)
        yield defined or Step("identity", what, dressed, where)
    final = value_at(composed.document, path)
    if final != dressed and composed.child:
        yield _reference(composed, composed.child, path, final)
    if composed.child and not template.native and path[:2] == ("metadata", "annotations") and len(path) == 3:
        for key, (text, what) in engine_annotations_of(composed.child, composed.here).items():
            if path[2] == key:
                yield Step("engine", what, text)


def _output(composed: _Composed, path: fieldpath.Path, text: Interpolation, value: Any) -> Step:
    """A field that holds outputs of siblings."""
    siblings = ", ".join(dict.fromkeys(output.template for output in text.outputs))
    place = children.base_place(composed.here, composed.template, path)
    return Step("reference", f"{text}: known once {siblings} exists", value, _document(composed).source_of(place))


def _native_text(composed: _Composed, path: fieldpath.Path) -> tuple[str, Source | None]:
    """What claimsmith adds to a native resource."""
    claim = composed.here.draft.binding.claim.document
    match path:
        case ("type",):
            return "the type's full name for the engine", None
        case ("metadata", "name"):
            return "the names of the claim's namespace, the claim and the template", claim.source_of("metadata.name")
        case ("get", *_):
            own = composed.here.draft.binding.claim
            return "the existing resource that the claim names", own.document.source_of(f"{own.resource_path}.id")
        case ("options", "import"):
            return "taken over for the claim", claim.source_of(("metadata", "annotations", IMPORT))
        case ("options", *_):
            return "set from the claim's identity and the class", claim.source_of("metadata")
        case ("properties", "tags" | "labels", *_):
            return "tags by which the claim's resources are found", claim.source_of("metadata.name")
        case _:
            return "the external name", claim.source_of(("metadata", "annotations", EXTERNAL_NAME))


def _template(composed: _Composed, engine: str, value: Any) -> Step:
    """What the text of a template became."""
    at = f"{composed.template.at}.template.source"
    return Step("template", f"written by the {engine} template", value, _document(composed).source_of(at))


def _pipeline(piped: Piped, template: Template, path: fieldpath.Path) -> Iterator[Step]:
    """What the steps of the pipeline wrote, each with the line that did."""
    before: Any = ABSENT
    for version in piped.versions.get(template.name, ()):
        value = value_at(dict(version.document), path)
        if value != before:
            word = "written" if before is ABSENT else "removed" if value is ABSENT else "changed"
            what = f"{word} by the step {version.step.name!r}, which runs {version.step.function}"
            yield Step("template", what, copied(value), version.origin(path))
        before = value
    scalar = piped.scalars.get(template.name, {}).get(path)
    if scalar:
        reading = scalar.reading
        what = f"filled in once {reading.resource!r} exists, from its {fieldpath.to_text(reading.path)}"
        written = piped.written_by(template.name, path)
        yield Step("reference", what, value_at(dict(template.base), path), written[1] if written else None)


def _base(composed: _Composed, path: fieldpath.Path, value: Any) -> Step:
    """A literal of the class's; or, if the class's file does not have it, one of the table of bindable kinds."""
    document = _document(composed)
    text = fieldpath.to_text(path)
    for place in (children.base_place(composed.here, composed.template, path), text):
        if value_at(document.data, place) is not ABSENT:
            return Step("base", "written in the class", value, document.source_of(place))
    if path in (("apiVersion",), ("kind",)):
        return Step("base", "the kind that the class composes", value, document.source_of("kind"))
    place = composed.template.place_of(text) if composed.template.spec_at else composed.template.at
    what = f"required for a {composed.here.draft.binding.claim.key.group_kind.kind}, where the class leaves it open"
    return Step("table", what, value, document.source_of(place))


def _default(composed: _Composed, path: fieldpath.Path) -> Step | None:
    """What the definition of a composite's kind fills in."""
    defined = composed.here.facts.catalog.defined(composed.template.group_kind) if composed.child is None else None
    if defined is None or path[:1] != ("spec",) or len(path) < 2 or path[1] == defined[0].injected:
        return None
    document = defined[0].document
    inner = [step for segment in path[1:] for step in ("properties", segment)]
    where = document.source_of(("spec", "crdSpecTemplate", "validation", "openAPIV3Schema", *inner))
    return Step("definition", "the default of its definition", value_at(composed.dressed, path), where)


def _identity_text(composed: _Composed, path: fieldpath.Path) -> tuple[str, Source | None]:
    claim = composed.here.draft.binding.claim.document
    match path:
        case ("metadata", "name"):
            return "generated from the claim's namespace and name, its uid and the template's name", None
        case ("metadata", "namespace"):
            return "the claim's namespace", claim.source_of("metadata.namespace")
        case ("metadata", "labels", *_):
            return "the labels by which the claim's children are found", claim.source_of("metadata.name")
        case ("metadata", "annotations", str(key)) if key == EXTERNAL_NAME:
            return _external_name_text(composed), claim.source_of(("metadata", "annotations", EXTERNAL_NAME))
        case ("metadata", *_):
            return "set from the claim's identity", claim.source_of("metadata")
        case ("spec", "writeConnectionSecretToRef", *_):
            return "named after the child, since only a namespace is set", None
        case ("spec", str(key), *_) if key in _PARENTS:
            return "binds the child to its claim", claim.source_of("metadata.name")
        case _:
            return "set from the claim's identity", claim.source_of("metadata.name")


def _external_name_text(composed: _Composed) -> str:
    annotations = (composed.template.base.get("metadata") or {}).get("annotations") or {}
    whose = "the claim's external name" if composed.here.draft.identity.external_name else "the class's external name"
    prefix, suffix = annotations.get(EXTERNAL_NAME_PREFIX), annotations.get(EXTERNAL_NAME_SUFFIX)
    joined = [f"{word} {text!r}" for word, text in (("the prefix", prefix), ("the suffix", suffix)) if text]
    return f"{whose}, with {' and '.join(joined)}" if joined else whose


def _reference(composed: _Composed, child: Child, path: fieldpath.Path, value: Any) -> Step:
    """A field that a selector, or a reference in its place, set or removed."""
    for selection in references.selections(child.document, composed.here.facts.table):
        if fieldpath.overlap(selection.ref_path, path) or fieldpath.overlap(selection.path, path):
            explained = explain_reference(composed.here, child, selection)
            gone = "; the selector itself is not sent" if value is ABSENT else ""
            what = f"{explained.selector} selects {explained.wanted}: {explained.picked} ({explained.why}){gone}"
            return Step("reference", what, value, explained.where)
    text = fieldpath.to_text(path)
    where = _document(composed).source_of(composed.template.place_of(text))
    return Step("reference", "a reference is set, and wins over the selector", value, where)


def _document(composed: _Composed) -> Document:
    return document_of(composed.here, composed.template)


def _everything(facts: Facts, one: ClaimFacts) -> dict[str, _Composed | AddedObject]:
    """The resources composed and the objects added for a claim, by their names within the claim."""
    if one.draft is None:
        unbound = facts.unbound.get(one.claim.key)
        problems = one.problems or ((unbound.problem,) if unbound else ())
        raise ComposeError(*problems)
    types = (tokens.component_type(one.claim.key.group_kind),)
    return dict(_all(Place(facts, one.draft, one.planned, types, one.claim.key.place), ""))


def _find(facts: Facts, one: ClaimFacts, child: str | None) -> _Composed | AddedObject:
    everything = _everything(facts, one)
    if child is None:
        composed = {name: m for name, m in everything.items() if isinstance(m, _Composed)}
        return named_child(one.claim.key, composed, None)
    return named_child(one.claim.key, everything, child)


def named_child(claim: ClaimKey, composed: Mapping[str, V], child: str | None) -> V:
    """The one of a claim's children that is named, or that there is."""
    if child is None and len(composed) == 1:
        return next(iter(composed.values()))
    if child is not None and child in composed:
        return composed[child]
    listed = ", ".join(composed) or "none: it holds an existing resource"
    if child is None:
        what = f"{claim} has several children" if composed else f"{claim} composes nothing"
        raise ComposeError(Problem(what, fix=f"set --child to one of: {listed}"))
    fix = suggest(child, composed, f"its children are: {listed}")
    raise ComposeError(Problem(f"{claim} has no child {child!r}", fix=fix))


def _all(here: Place, prefix: str) -> Iterator[tuple[str, _Composed | AddedObject]]:
    """A claim's children by the names of their templates, then the added objects."""
    draft, planned = here.draft, here.planned
    final: Mapping[str, dict[str, Any]] = {c.address: c.document for c in planned.children} if planned else {}
    for child in draft.children:
        document, name = final.get(child.address, child.document), child.template.name
        urn = here.urn(child.document, name)
        yield f"{prefix}{name}", _Composed(here, child.template, child.document, document, child, urn)
    templates = {t.name: t for t in draft.templates}
    for inner in draft.nested:
        document = inner.binding.claim.data
        below = next((p for p in planned.nested if p.template == inner.template), None) if planned else None
        types = (*here.types, tokens.component_type(inner.binding.claim.key.group_kind))
        within = Place(here.facts, inner, below, types, f"{here.name}/{inner.template}")
        composed = _Composed(here, templates[inner.template], document, document, None, within.urn())
        yield f"{prefix}{inner.template}", composed
        yield from _all(within, f"{prefix}{inner.template}/")
    for written in added_objects(here):
        yield f"{prefix}{written.word}", written


def _unknown(composed: _Composed | AddedObject, path: str) -> EngineError:
    fields: Sequence[str] = [fieldpath.to_text(p) for p, _ in walk(composed.document)]
    fix = suggest(path, fields, f"its fields are: {', '.join(fields)}")
    what = f"{composed.word!r} has no field {path!r}, and no patch writes one"
    return ComposeError(Problem(what, path=path, fix=fix))
