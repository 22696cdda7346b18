"""The parts of a claim's story: its children with their patches and references, and its Secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith import fieldpath, flow, urns
from claimsmith.absent import ABSENT
from claimsmith.compose import patches
from claimsmith.compose.identity import EXTERNAL_NAME
from claimsmith.compose.patches import Outcome
from claimsmith.errors import Source
from claimsmith.expand import Child
from claimsmith.explain.links import ReferenceStory, references
from claimsmith.explain.places import Place, document_of, read_from, said
from claimsmith.explain.words import options_words, transform_words
from claimsmith.models.klass import Patch, Side, Template


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
class PatchStory:
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
    patch: PatchStory | None = None


@dataclass(frozen=True, slots=True)
class ChildStory:
    """One child."""

    template: str
    api_version: str
    kind: str
    name: str
    namespace: str
    external_name: str | None
    previous_name: str | None
    urn: str
    where: Source
    engine: str | None
    """What turns the template's text into the document, where it is a text."""
    patches: tuple[PatchStory, ...]
    references: tuple[ReferenceStory, ...]
    retain: bool
    protect: bool
    wait_for: tuple[str, ...]
    ignore_changes: tuple[str, ...]
    timeout: str
    options: tuple[str, ...]
    """The same in words."""


@dataclass(frozen=True, slots=True)
class SecretSource:
    """A Secret whose keys count."""

    child: str
    kind: str
    secret: str
    keys: tuple[tuple[str, str], ...] | None
    """(name, key) of each; None for every key under its own name."""
    prefix: str


@dataclass(frozen=True, slots=True)
class SecretStory:
    """A Secret of the claim, or of its composite."""

    namespace: str
    name: str
    asked_by: str
    """`claim` or `composite`."""
    urn: str
    sources: tuple[SecretSource, ...]


def child_story(here: Place, child: Child, planned: Child | None) -> ChildStory:
    """One child; `planned` is the same with its references, where these could be told."""
    template, options = child.template, child.options
    return ChildStory(
        template=template.name,
        api_version=template.api_version,
        kind=template.kind,
        name=child.name,
        namespace=child.namespace,
        external_name=said(child.document, ("metadata", "annotations", EXTERNAL_NAME)) or None,
        previous_name=template.previous_name,
        urn=here.urn(child.document, template.name),
        where=document_of(here, template).source_of(template.at),
        engine=template.opaque.engine if template.opaque else None,
        patches=patch_stories(here, template, child.outcomes),
        references=tuple(references(here, child, planned)),
        retain=options.retain,
        protect=options.protect,
        wait_for=options.wait_for,
        ignore_changes=options.ignore_changes,
        timeout=options.timeout,
        options=tuple(options_words(options)),
    )


def patch_stories(here: Place, template: Template, outcomes: Sequence[Outcome]) -> tuple[PatchStory, ...]:
    """What became of each patch of a template."""
    return tuple(patch_story(here, template, outcome) for outcome in outcomes)


def patch_story(here: Place, template: Template, outcome: Outcome) -> PatchStory:
    """What became of one patch."""
    patch = outcome.patch
    claim, document = here.draft.binding.claim.document, document_of(here, template)
    origin = here.draft.sides().get(patch.origin, {})
    values = [read_from(origin, path) for path in patch.reads]
    written_there = [patch.origin is Side.claim and not p.startswith(f"{flow.STATUS}.") for p in patch.reads]
    places = [
        claim.source_of(p) if there else _environment_place(here, patch, p, value) or document.source_of(patch.at)
        for p, there, value in zip(patch.reads, written_there, values, strict=True)
    ]
    words = [
        *([f"combine {patch.combine!r}"] if patch.combine is not None else []),
        *map(transform_words, patch.transforms),
    ]
    stages = tuple(_stages(patch, values, words)) if outcome.applied else ()
    written = stages[-1].value if stages else values[0]
    return PatchStory(
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
    configs = here.facts.catalog.today.environments.values()
    inner = fieldpath.parse(f"data.{path}")
    return next((d.source_of(inner) for d in configs if said(d.data, inner) == value), None)


def secret_stories(here: Place) -> tuple[SecretStory, ...]:
    """The Secrets that are made for a claim: the one that it asks for last."""
    made = here.planned.connections if here.planned else ()
    stories = []
    for secret in made:
        last = secret is made[-1]
        own = here.draft.binding.claim.secret_name is not None and last
        sources = tuple(SecretSource(s.child, s.kind, str(s), s.keys, s.prefix) for s in secret.sources)
        urn = here.urn(urns.SECRET, "connection" if last else "composite-connection")
        stories.append(SecretStory(secret.namespace, secret.name, "claim" if own else "composite", urn, sources))
    return tuple(stories)


def _stages(patch: Patch, values: Sequence[Any], words: Sequence[str]) -> Iterator[Stage]:
    """The value on its way: combined, then after each transform."""
    value, rest = values[0], iter(words)
    if patch.combine is not None:
        value = patches.made_of(replace(patch, transforms=()), values)
        yield Stage(next(rest), list(values), value)
    for transform in patch.transforms:
        before = value
        value = patches.made_of(replace(patch, combine=None, transforms=(transform,)), [before])
        yield Stage(next(rest), before, value)
