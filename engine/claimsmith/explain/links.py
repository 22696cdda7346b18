"""The references of a child: what each selector picked, and why that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from claimsmith import fieldpath, reference
from claimsmith.absent import ABSENT
from claimsmith.errors import EngineError, Source
from claimsmith.expand import Child
from claimsmith.explain.places import Place, document_of, said
from claimsmith.plan import recorded_pick, target_of
from claimsmith.reference import Selection, Target


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


def references(here: Place, child: Child, planned: Child | None) -> Iterator[ReferenceStory]:
    """Every selector of a child; `planned` is the child with its references, where these could be told."""
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
