"""The resources composed for a claim: each child with its patches and references, and the claim's Secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import EngineError, Source
from claimsmith.base.labels import EXTERNAL_NAME
from claimsmith.base.names import ChildAddress
from claimsmith.base.values import Interpolation, walk
from claimsmith.compose import connections
from claimsmith.compose import references as reference
from claimsmith.compose.candidates import candidate_of, recorded_pick
from claimsmith.compose.drafts import Child
from claimsmith.compose.references import Selection
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Detail, Patch, Side, Template
from claimsmith.dialects.common.native import SELECTOR
from claimsmith.patching import patches
from claimsmith.patching.patches import Outcome
from claimsmith.providers import tokens
from claimsmith.tools.explain.facts import Place, document_of, read_from, value_at
from claimsmith.tools.explain.formatting import native_options_text, options_text, transform_text


@dataclass(frozen=True, slots=True)
class ExplainedReference:
    """A selector, and what it picked."""

    selector: str
    wanted: str
    """What it selects, as text."""
    ref: str
    """The field that holds the reference."""
    picked: str
    """The address of what was picked; empty where nothing was, or the selector counts for nothing."""
    sibling: str
    """The template that composes it, if it is one of the same claim."""
    name: str
    why: str
    where: Source


def explain_reference(here: Place, child: Child, selection: Selection) -> ExplainedReference:
    """What one selector of a child picked, and why that."""
    own = candidate_of(child, here.draft.identity)
    candidates = [c for kind in selection.targets for c in here.facts.targets.get(kind, ())]
    found = reference.fitting(selection, own=own, candidates=candidates)
    template = child.template
    recorded = recorded_pick(here.draft.binding, template, selection)
    picked = reference.pick(selection, own=own, candidates=found, recorded=recorded) if found else None
    kept = picked and picked.address == recorded and not selection.same_parent
    how = "as recorded, one" if kept else "a stable choice"
    why = "nothing fits" if not found else "the only one" if len(found) == 1 else f"{how} of {len(found)}"
    path = fieldpath.to_text(selection.path)
    return ExplainedReference(
        selector=path,
        wanted=str(selection),
        ref=fieldpath.to_text(selection.ref_path),
        picked=picked.address if picked else "",
        sibling=picked.template if picked and picked.parent == own.parent else "",
        name=picked.name if picked else "",
        why=why,
        where=document_of(here, template).source_of(template.place_of(path)),
    )


def references(here: Place, child: Child, planned: Child | None) -> Iterator[ExplainedReference]:
    """Every selector of a child; `planned` is the child with its references, if these could be resolved.

    What is taken from siblings by name, as `${role.name}`, counts as well.
    """
    yield from _outputs(here, child)
    try:
        chosen = {s.path: s for s in reference.selections(child.document, here.facts.table)}
    except EngineError:
        # The selector is one of the claim's problems.
        return
    for selection in chosen.values():
        yield explain_reference(here, child, selection)
    for path in _dropped(child.document, planned.document) if planned else ():
        if path not in chosen:
            yield _overruled(here, child, path)


def _outputs(here: Place, child: Child) -> Iterator[ExplainedReference]:
    """The fields of siblings that the base names; a selector of a native resource became one when it was read."""
    for path, leaf in walk(dict(child.template.base)):
        for output in leaf.outputs if isinstance(leaf, Interpolation) else ():
            text = fieldpath.to_text(path)
            where = document_of(here, child.template).source_of(base_place(here, child.template, path))
            yield ExplainedReference(
                selector="",
                wanted="",
                ref=text,
                picked=ChildAddress(here.draft.identity.key, output.template),
                sibling=output.template,
                name=str(leaf),
                why=f"known once {output.template} exists",
                where=where,
            )


def base_place(here: Place, template: Template, path: fieldpath.Path) -> str:
    """Where a field of a base is written: itself, or the selector that it was resolved from."""
    text = template.place_of(fieldpath.to_text(path))
    selector = f"{text}{SELECTOR}"
    data = document_of(here, template).data
    return selector if value_at(data, text) is ABSENT and value_at(data, selector) is not ABSENT else text


def _dropped(before: Any, after: Any, path: fieldpath.Path = ()) -> Iterator[fieldpath.Path]:
    """The selectors that were in a document and are there no longer."""
    match before, after:
        case dict(), dict():
            for key, value in before.items():
                if key in after:
                    yield from _dropped(value, after[key], (*path, key))
                elif key.endswith("Selector"):
                    yield (*path, key)
        case list(), list():
            for index, (old, new) in enumerate(zip(before, after, strict=False)):
                yield from _dropped(old, new, (*path, index))
        case _:
            return


def _overruled(here: Place, child: Child, path: fieldpath.Path) -> ExplainedReference:
    name = str(path[-1]).removesuffix("Selector")
    field = (*path[:-1], name)
    reference_field = (*path[:-1], f"{name}Ref")
    value = value_at(child.document, field)
    winner = field if value not in (ABSENT, None) else reference_field
    held = value_at(child.document, winner)
    text = fieldpath.to_text(path)
    return ExplainedReference(
        selector=text,
        wanted="",
        ref=fieldpath.to_text(winner),
        picked="",
        sibling="",
        name=str(held.get("name", "")) if isinstance(held, dict) else str(held),
        why=f"{winner[-1]} is set, and wins over the selector",
        where=document_of(here, child.template).source_of(child.template.place_of(text)),
    )


@dataclass(frozen=True, slots=True)
class Read:
    """A field that a patch reads."""

    path: str
    value: Any
    where: Source


@dataclass(frozen=True, slots=True)
class Stage:
    """What a value was before and after it was combined, or one transform was applied."""

    what: str
    before: Any
    value: Any


@dataclass(frozen=True, slots=True)
class ExplainedPatch:
    """What became of a patch."""

    applied: bool
    why: str
    reads: tuple[Read, ...]
    transforms: tuple[str, ...]
    stages: tuple[Stage, ...]
    """What the value was after each of them, where the patch was applied."""
    to: str
    value: Any
    """What it writes, where it was applied."""
    policy: str
    required: bool
    where: Source
    origin: str = "claim"
    """What it reads: the claim, the resource or the environment."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that had to do with the field."""

    by: str
    """`base`, `template`, `table`, `patch`, `identity`, `definition`, `reference`, `engine`, `secret` or `record`."""
    what: str
    value: Any
    """What the field was after it; ABSENT where it was nothing."""
    where: Source | None = None
    patch: ExplainedPatch | None = None


@dataclass(frozen=True, slots=True)
class ExplainedChild:
    """One child."""

    template: str
    api_version: str
    """Empty for a native resource."""
    kind: str
    type: str
    """The type of a native resource for the engine; empty for a Kubernetes object."""
    name: str
    namespace: str
    external_name: str | None
    previous_name: str | None
    urn: str
    where: Source
    engine: str | None
    """What turns the template's text into the document, where it is a text."""
    patches: tuple[ExplainedPatch, ...]
    references: tuple[ExplainedReference, ...]
    retain: bool
    protect: bool
    wait_for: tuple[str, ...]
    ignore_changes: tuple[str, ...]
    timeout: str
    options: tuple[str, ...]
    """The same as text."""


@dataclass(frozen=True, slots=True)
class SecretSource:
    """A Secret whose keys count."""

    child: str
    kind: str
    secret: str
    keys: tuple[tuple[str, str], ...] | None
    """(name, key) of each; None for every key under its own name."""
    prefix: str
    fields: tuple[tuple[str, str], ...] = ()
    """(name, origin) of each detail that is in no Secret: a field, a setting of the stack, or a fixed text."""


@dataclass(frozen=True, slots=True)
class ExplainedSecret:
    """A Secret of the claim, or of its composite."""

    namespace: str
    name: str
    asked_by: str
    """`claim` or `composite`."""
    urn: str
    sources: tuple[SecretSource, ...]


def explain_child(here: Place, child: Child, planned: Child | None) -> ExplainedChild:
    """One child; `planned` is the same with its references, if these could be resolved."""
    template, options = child.template, child.options
    return ExplainedChild(
        template=template.name,
        api_version=template.api_version,
        kind=template.kind,
        type=str(child.document["type"]) if template.native else "",
        name=child.name,
        namespace=child.namespace,
        external_name=value_at(child.document, ("metadata", "annotations", EXTERNAL_NAME)) or None,
        previous_name=template.previous_name,
        urn=here.urn(child.document, template.name),
        where=_where(here, template),
        engine=template.opaque.engine if template.opaque else None,
        patches=explain_patches(here, template, child.outcomes),
        references=tuple(references(here, child, planned)),
        retain=options.retain,
        protect=options.protect,
        wait_for=options.wait_for,
        ignore_changes=options.ignore_changes,
        timeout=options.timeout,
        options=tuple(native_options_text(child.document) if template.native else options_text(options)),
    )


def _where(here: Place, template: Template) -> Source:
    """Where a resource is written: its template, or the line of a pipeline's step that makes it."""
    piped = here.draft.piped
    written = piped.written_by(template.name, ("kind",)) if piped else None
    return (written and written[1]) or document_of(here, template).source_of(template.at)


def explain_patches(here: Place, template: Template, outcomes: Sequence[Outcome]) -> tuple[ExplainedPatch, ...]:
    """What became of each patch of a template."""
    return tuple(explain_patch(here, template, outcome) for outcome in outcomes)


def explain_patch(here: Place, template: Template, outcome: Outcome) -> ExplainedPatch:
    """What became of one patch."""
    patch = outcome.patch
    claim, document = here.draft.binding.claim.document, document_of(here, template)
    origin = here.draft.sides().get(patch.origin, {})
    values = [read_from(origin, path) for path in patch.reads]
    written_there = [patch.origin is Side.claim and not p.startswith(f"{ordering.STATUS}.") for p in patch.reads]
    places = [
        claim.source_of(p) if there else _environment_place(here, patch, p, value) or document.source_of(patch.at)
        for p, there, value in zip(patch.reads, written_there, values, strict=True)
    ]
    combined = [f"combine {patch.combine!r}"] if patch.combine is not None else []
    words = [*combined, *map(transform_text, patch.transforms)]
    stages = tuple(_stages(patch, values, words)) if outcome.applied else ()
    written = stages[-1].value if stages else values[0]
    return ExplainedPatch(
        applied=outcome.applied,
        why=outcome.why.partition("\n")[0],
        reads=tuple(Read(*read) for read in zip(patch.reads, values, places, strict=True)),
        transforms=tuple(words),
        stages=stages,
        to=patch.to,
        value=written if outcome.applied else ABSENT,
        policy=patch.policy.value,
        required=patch.required,
        where=document.source_of(patch.at),
        origin=patch.origin.value,
    )


def _environment_place(here: Place, patch: Patch, path: str, value: Any) -> Source | None:
    """The place in an EnvironmentConfig of a value that a patch reads from the environment."""
    if patch.origin is not Side.environment:
        return None
    configs = here.facts.catalog.crossplane.environments.values()
    inner = fieldpath.parse(f"data.{path}")
    return next((d.source_of(inner) for d in configs if value_at(d.data, inner) == value), None)


def explain_secrets(here: Place) -> tuple[ExplainedSecret, ...]:
    """The Secrets that are written for a claim: the one that it asks for last."""
    connections = here.planned.connections if here.planned else ()
    explanations = []
    for secret in connections:
        last = secret is connections[-1]
        own = here.draft.binding.claim.secret_name is not None and last
        sources = tuple(map(explain_source, secret.sources))
        urn = here.urn(tokens.SECRET, "connection" if last else "composite-connection")
        explanations.append(
            ExplainedSecret(secret.namespace, secret.name, "claim" if own else "composite", urn, sources)
        )
    return tuple(explanations)


def explain_details(here: Place) -> tuple[SecretSource, ...]:
    """The connection details of native children."""
    natives = {child.template.name for child in here.draft.children if child.template.native}
    found = here.planned.sources if here.planned else ()
    return tuple(explain_source(source) for source in found if source.child in natives)


def explain_source(source: connections.SecretSource) -> SecretSource:
    """Where connection details are found."""
    fields = tuple((f"{source.prefix}{d.name}", _origin(d)) for d in source.own)
    return SecretSource(source.child, source.kind, str(source), source.keys, source.prefix, fields)


def _origin(detail: Detail) -> str:
    if detail.config is not None:
        return f"the stack's setting {detail.config}"
    return "a fixed text" if detail.field_path is None else f"its {detail.field_path}"


def _stages(patch: Patch, values: Sequence[Any], words: Sequence[str]) -> Iterator[Stage]:
    """The value on its way: combined, then after each transform."""
    value, rest = values[0], iter(words)
    if patch.combine is not None:
        value = patches.result_of(replace(patch, transforms=()), values)
        yield Stage(next(rest), list(values), value)
    for transform in patch.transforms:
        before = value
        value = patches.result_of(replace(patch, combine=None, transforms=(transform,)), [before])
        yield Stage(next(rest), before, value)
