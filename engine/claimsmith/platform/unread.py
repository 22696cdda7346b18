"""Fields of claims that nothing reads.

A claim of a kind without a schema may have any field. A misspelt one would be ignored, and the class's default would
count. So each field of a claim's spec is compared with all fields that are read of claims of its kind: by the patches,
templates and functions of every class that may serve the kind, by the selection of a class, and by the kind's schema.
Takes a catalog, gives problems. Where it is uncertain which fields are read, nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from claimsmith import templating
from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError, FieldPathError, Problem
from claimsmith.base.fieldpath import Path
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Class, Loop, Patch, Side, Step
from claimsmith.dialects.common.loops import claim_reads
from claimsmith.dialects.crossplane import claims
from claimsmith.dialects.crossplane.composition import function_of
from claimsmith.dialects.definitions import spec_schema
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema import Schema
from claimsmith.kubernetes.schema.lookup import OPEN, PRESERVE, field_schema, properties_of
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import Catalog

RULE: Final = "claim-field-unread"
"""The name of the check."""
CHOOSING: Final = ("classRef", "classSelector", "resourceRef", "writeConnectionSecretToRef")
"""The fields that select a class, where nothing else defines the kind."""
_OLDER = ("reclaimPolicy", "requirementRef", "environmentConfigRefs")
"""What older versions of Crossplane added to every composite: exported ones may have it."""
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Unread:
    """What nothing reads: to be refused, or to be looked at."""

    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def unread_fields(catalog: Catalog, *, strict: bool = False) -> Unread:
    """The fields of a stack's claims that nothing reads.

    An error where the schema of the claim's kind has no such field, so that an API server would drop it; else a
    warning, or an error if it is to be `strict`.
    """
    errors: list[Problem] = []
    warnings: list[Problem] = []
    forms: dict[tuple[GroupKind, str], _Form | None] = {}
    for claim in catalog.claims.values():
        kind = claim.key.group_kind, claim.api_version
        if kind not in forms:
            forms[kind] = _form(catalog, claim)
        form = forms[kind]
        for path in _strangers(claim.data.get("spec"), form.known, ()) if form else ():
            assert form, "without one there are no strangers"
            forbidden = form.declared is not None and not schemas.knows(form.declared, path)
            (errors if forbidden or strict else warnings).append(_problem(claim, path, form, forbidden=forbidden))
    return Unread(tuple(errors), tuple(warnings))


# What is known of a kind of claim


@dataclass(slots=True)
class _Reads:
    """What is read below one field: all of it, or some of its fields, or some of each of its items."""

    whole: bool = False
    fields: dict[str, _Reads] = field(default_factory=dict)
    each: _Reads | None = None

    def add(self, path: Path) -> None:
        """Note that everything at and below a path is read."""
        here = self
        for segment in path:
            if isinstance(segment, int) or segment == fieldpath.WILDCARD:
                # One item is read, and which one is uncertain.
                here.each = here.each or _Reads()
                here = here.each
            else:
                here = here.fields.setdefault(segment, _Reads())
        here.whole = True


@dataclass(frozen=True, slots=True)
class _Form:
    """The fields of the spec of a kind of claim."""

    declared: Schema | None
    """Its schema, from the definition of the kind; None where there is none."""
    known: Schema
    """A schema in which each field is read, or declared."""
    reserved: frozenset[str]
    """The fields that do not describe what is claimed."""


def _form(catalog: Catalog, claim: Claim) -> _Form | None:
    """The fields of claims like this one; None where any field may be read."""
    kind = claim.key.group_kind
    paths = _reads_of(catalog, kind, ())
    if paths is None:
        return None
    root = _Reads()
    for path in paths:
        root.add(path)
    spec = root.fields.get("spec", _Reads())
    if root.whole or root.each or spec.whole:
        return None
    declared, reserved = _declared(catalog, claim), _reserved(catalog, kind)
    for name in reserved:
        spec.add((name,))
    return _Form(declared, _merged(declared, spec), reserved)


def _merged(declared: Schema | None, read: _Reads | None) -> Schema:
    """The declared fields and those that are read, and no others; open below what is read whole.

    An object that is declared to take anything stays open, unless something reads certain fields of it.
    """
    if read is None:
        return declared or OPEN
    if read.whole:
        return OPEN
    own: Schema = declared or {}
    fields = properties_of(own)
    names = dict.fromkeys([*fields, *read.fields])
    found: dict[str, Any] = {"properties": {n: _merged(fields.get(n), read.fields.get(n)) for n in names}}
    for word in ("items", "additionalProperties"):
        given = own.get(word)
        if given is True:
            found[word] = OPEN
        elif isinstance(given, Mapping) or read.each:
            found[word] = _merged(given if isinstance(given, Mapping) else None, read.each)
    if own.get(PRESERVE) and not read.fields and not read.each:
        found[PRESERVE] = True
    return found


def _declared(catalog: Catalog, claim: Claim) -> Schema | None:
    """The schema of the claim's spec, from the definition of its kind; None where there is none."""
    kind, version = claim.key.group_kind, claim.api_version.rpartition("/")[2]
    defined, crossplane = catalog.defined(kind), catalog.crossplane.defined(kind)
    if defined:
        return spec_schema(defined[0], requirement=defined[1])
    if crossplane:
        whole: Schema | None = claims.full_schema(crossplane[0], version, claim=crossplane[1])
    else:
        given = crd_set.given_crds(catalog).get(kind)
        whole = schemas.crd_schema(given.data, version) if given else None
    return schemas.at_path(whole, ("spec",)) if whole is not None else None


def _reserved(catalog: Catalog, kind: GroupKind) -> frozenset[str]:
    """The fields of the spec that are not the class's business: they select one, or report the claim's state."""
    defined, crossplane = catalog.defined(kind), catalog.crossplane.defined(kind)
    if defined:
        return frozenset({defined[0].injected})
    if crossplane:
        return frozenset({*claims.core_fields(crossplane[0], claim=crossplane[1]), *_OLDER})
    return frozenset(CHOOSING)


# What is read


def _reads_of(catalog: Catalog, kind: GroupKind, above: tuple[GroupKind, ...]) -> list[Path] | None:
    """All that is read of claims of a kind, the whole document as the empty path; None where nothing serves them."""
    serving = [c for c in (*catalog.classes.values(), *catalog.withheld) if c.serves == kind]
    table = [p for patches in catalog.bindable.direct(kind).values() for p in patches]
    if not serving and not table:
        return None
    found = [path for patch in table for path in _patch_reads(patch)]
    for klass in serving:
        if not klass.dialect.publishing:
            found += _class_reads(klass)
            continue
        # The composite gets the claim's whole spec: what counts is what its own compositions read of it.
        composite = klass.templates[0].group_kind
        inner = None if composite in above else _reads_of(catalog, composite, (*above, kind))
        if inner is None:
            return None
        found += inner
    return found


def _class_reads(klass: Class) -> Iterator[Path]:
    templates = [*klass.templates, *(t for step in klass.steps for t in step.templates)]
    for template in templates:
        for patch in template.patches:
            yield from _patch_reads(patch, template.loop)
        yield from map(_parsed, claim_reads(template))
        if template.opaque:
            yield from _text_reads(template.opaque.engine, template.opaque.text)
    for patch in klass.secret.patches if klass.secret else ():
        yield from _patch_reads(patch)
    for step in klass.steps:
        yield from _step_reads(step)


def _step_reads(step: Step) -> Iterator[Path]:
    """What a step reads beside its templates; a function of which nothing is known may read anything."""
    for patch in (*step.environment, *step.secret.patches):
        yield from _patch_reads(patch)
    function = function_of(step.function, step.input)
    if function == "function-environment-configs":
        for source in object_at(step.input, "spec").get("environmentConfigs") or ():
            for label in object_at(source, "selector").get("matchLabels") or ():
                yield _parsed(str(label.get("valueFromFieldPath") or "metadata"))
    elif function not in ("function-patch-and-transform", "function-auto-ready"):
        yield ()


def _patch_reads(patch: Patch, loop: Loop | None = None) -> Iterator[Path]:
    """What a patch reads of a claim; of each element of a list where it reads an element."""
    reads = patch.reads if patch.origin is Side.claim else ()
    return (_parsed(loop.path_of(fieldpath.WILDCARD, read) if loop else read) for read in reads)


def _text_reads(engine: str, text: str) -> list[Path]:
    try:
        return [*templating.reads(engine, text)]
    except EngineError:
        return [()]  # reported where the class is read


def _parsed(path: str) -> Path:
    try:
        return fieldpath.parse(path)
    except FieldPathError:
        return ()


# The fields of a claim


def _strangers(value: Any, known: Schema, path: Path) -> Iterator[Path]:
    """The outermost fields of a claim's spec that are not known, by their paths below the spec.

    Under an empty schema every field counts as read.
    """
    match value:
        case dict() if known and known.get("type") in (None, "object"):
            for name, item in value.items():
                inner = field_schema(known, name)
                if inner is None:
                    yield (*path, name)
                else:
                    yield from _strangers(item, inner, (*path, name))
        case list() if isinstance(known.get("items"), Mapping):
            for index, item in enumerate(value):
                yield from _strangers(item, known["items"], (*path, index))


def _problem(claim: Claim, path: Path, form: _Form, *, forbidden: bool) -> Problem:
    full = ("spec", *path)
    text = fieldpath.to_text(full)
    what = f"{claim.key}: no class reads {text}, so it has no effect"
    if forbidden:
        what = f"{claim.key}: the schema of its kind has no {text}, and no class reads it"
    return Problem(what, claim.document.source_of(full), text, _fix(path, form), rule=RULE)


def _fix(path: Path, form: _Form) -> str:
    """The field that was most likely meant, else those that there are."""
    meant = schemas.nearest_field(form.known, path)
    if meant is not None:
        steps = fieldpath.parse(meant)
        near = steps[:-1] == path[:-1]
        return f"did you mean {(steps[-1] if near else fieldpath.to_text(('spec', *steps)))!r}?"
    around = schemas.at_path(form.known, path[:-1]) or {}
    names = [n for n in properties_of(around) if path[:-1] or n not in form.reserved]
    listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return f"remove it; known here: {listed or 'nothing'}"
