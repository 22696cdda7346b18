"""The parts of a claim's story: its children with their patches and references, and its Secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith import fieldpath, reference, urns
from claimsmith.absent import ABSENT
from claimsmith.compose import transforms
from claimsmith.compose.identity import EXTERNAL_NAME
from claimsmith.compose.patches import Outcome
from claimsmith.documents import Document
from claimsmith.errors import EngineError, Source
from claimsmith.expand import Child, Draft, claim_data
from claimsmith.explain.facts import Facts
from claimsmith.explain.words import options_words, transform_words
from claimsmith.models.klass import Patch, Template
from claimsmith.plan import PlannedClaim, recorded_pick, target_of
from claimsmith.reference import Selection, Target


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a stack a story stands."""

    facts: Facts
    draft: Draft
    planned: PlannedClaim | None
    types: tuple[str, ...]
    """The engine's types of the components it is nested in, and of its own."""
    name: str
    """The name of its component."""

    def urn(self, document: dict[str, Any] | None = None, word: str = "", *, patch: bool = False) -> str:
        """The URN of the component, or of something that it makes."""
        own = (urns.resource_type(document) + ("Patch" if patch else ""),) if document else ()
        name = f"{self.name}/{word}" if word else self.name
        return urns.urn(self.facts.project, self.facts.stack, (*self.types, *own), name)

    def outcomes_of(self, template: Template) -> Sequence[Outcome]:
        """What became of the patches of a composite's template."""
        return next((d.outcomes for d in self.draft.nested if d.template == template.name), ())


@dataclass(frozen=True, slots=True)
class Read:
    """A field that a patch reads."""

    path: str
    value: Any
    where: Source


@dataclass(frozen=True, slots=True)
class PatchStory:
    """What became of a patch."""

    applied: bool
    why: str
    reads: tuple[Read, ...]
    transforms: tuple[str, ...]
    to: str
    value: Any
    """What it writes, where it was applied."""
    policy: str
    required: bool
    where: Source


@dataclass(frozen=True, slots=True)
class ReferenceStory:
    """A selector, and what it picked."""

    selector: str
    wanted: str
    """What it selects, in words."""
    ref: str
    """The field that holds the reference."""
    picked: str
    """The address of what was picked; empty where nothing was, or the selector counts for nothing."""
    sibling: str
    """The template that made it, where that is one of the same claim."""
    name: str
    why: str
    where: Source


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
        references=tuple(_references(here, child, planned)),
        retain=options.retain,
        protect=options.protect,
        wait_for=options.wait_for,
        ignore_changes=options.ignore_changes,
        timeout=options.timeout,
        options=tuple(options_words(options)),
    )


def document_of(here: Place, template: Template) -> Document:
    """The document that a template stands in."""
    return template.document or here.draft.binding.klass.document


def patch_stories(here: Place, template: Template, outcomes: Sequence[Outcome]) -> tuple[PatchStory, ...]:
    """What became of each patch of a template."""
    return tuple(patch_story(here, template, outcome) for outcome in outcomes)


def patch_story(here: Place, template: Template, outcome: Outcome) -> PatchStory:
    """What became of one patch."""
    patch = outcome.patch
    claim = here.draft.binding.claim.document
    data = claim_data(here.draft.binding)
    values = [said(data, path) for path in patch.reads]
    words = [
        *([f"combine {patch.combine!r}"] if patch.combine is not None else []),
        *map(transform_words, patch.transforms),
    ]
    return PatchStory(
        applied=outcome.applied,
        why=outcome.why.partition("\n")[0],
        reads=tuple(Read(p, v, claim.source_of(p)) for p, v in zip(patch.reads, values, strict=True)),
        transforms=tuple(words),
        to=patch.to,
        value=_written(patch, values) if outcome.applied else ABSENT,
        policy=patch.policy.value,
        required=patch.required,
        where=document_of(here, template).source_of(patch.at),
    )


def said(document: dict[str, Any], path: str | fieldpath.Path) -> Any:
    """What a document says at a path, ABSENT where it says nothing."""
    try:
        return fieldpath.get(document, path)
    except EngineError:
        return ABSENT


def candidates_for(here: Place, selection: Selection) -> list[Target]:
    """What a selection might pick in the stack."""
    return [t for kind in selection.targets for t in here.facts.targets.get(kind, ())]


def reference_story(here: Place, child: Child, selection: Selection) -> ReferenceStory:
    """What one selector of a child picked, and why that."""
    own = target_of(child, here.draft.identity)
    found = reference.fitting(selection, own=own, candidates=candidates_for(here, selection))
    template = child.template
    recorded = recorded_pick(here.draft.binding, template, selection)
    picked = reference.pick(selection, own=own, candidates=found, recorded=recorded) if found else None
    kept = picked and picked.address == recorded and not selection.same_parent
    how = "as recorded, one" if kept else "a stable choice"
    why = "nothing fits" if not found else "the only one" if len(found) == 1 else f"{how} of {len(found)}"
    path = fieldpath.to_text(selection.path)
    return ReferenceStory(
        selector=path,
        wanted=str(selection),
        ref=fieldpath.to_text(selection.ref_path),
        picked=picked.address if picked else "",
        sibling=picked.template if picked and picked.parent == own.parent else "",
        name=picked.name if picked else "",
        why=why,
        where=document_of(here, template).source_of(template.place_of(path)),
    )


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


def _written(patch: Patch, values: Sequence[Any]) -> Any:
    value = transforms.formatted(patch.combine, *values) if patch.combine is not None else values[0]
    return transforms.apply_all(patch.transforms, value)


def _references(here: Place, child: Child, planned: Child | None) -> Iterator[ReferenceStory]:
    try:
        chosen = {s.path: s for s in reference.selections(child.document, here.facts.table)}
    except EngineError:
        # The selector is one of the claim's problems.
        return
    for selection in chosen.values():
        yield reference_story(here, child, selection)
    for path in _dropped(child.document, planned.document) if planned else ():
        if path not in chosen:
            yield _overruled(here, child, path)


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


def _overruled(here: Place, child: Child, path: fieldpath.Path) -> ReferenceStory:
    name = str(path[-1]).removesuffix("Selector")
    field = (*path[:-1], name)
    reference_field = (*path[:-1], f"{name}Ref")
    value = said(child.document, field)
    winner = field if value not in (ABSENT, None) else reference_field
    held = said(child.document, winner)
    text = fieldpath.to_text(path)
    return ReferenceStory(
        selector=text,
        wanted="",
        ref=fieldpath.to_text(winner),
        picked="",
        sibling="",
        name=str(held.get("name", "")) if isinstance(held, dict) else str(held),
        why=f"{winner[-1]} is given, and wins over the selector",
        where=document_of(here, child.template).source_of(child.template.place_of(text)),
    )
