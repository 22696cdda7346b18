"""A story written down for a terminal: indented, with file and line of what made each thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from claimsmith import fieldpath
from claimsmith.absent import ABSENT
from claimsmith.errors import Problem, Source
from claimsmith.explain.links import ReferenceStory
from claimsmith.explain.parts import ChildStory, PatchStory, SecretSource, SecretStory, Step
from claimsmith.explain.provenance import Trace
from claimsmith.explain.story import Candidate, Chosen, Story, Who
from claimsmith.explain.words import counted, shown
from claimsmith.models.objects import ClassKey
from claimsmith.printable import lines as text_of

STEP = "  "


def story_text(story: Story) -> str:
    """The story, as lines."""
    return text_of(_story(story))


def part_text(part: ChildStory | Story) -> str:
    """One part of a story, as lines."""
    return text_of(_child(part) if isinstance(part, ChildStory) else _nested(part))


def trace_text(trace: Trace) -> str:
    """How a field came about, as lines."""
    head = f"{trace.path} of {trace.child} ({trace.kind} {trace.name}), made for {trace.claim}"
    lines = [head, f"{STEP}is {shown(trace.value)}", f"{STEP}urn: {trace.urn}"]
    for number, step in enumerate(trace.steps, 1):
        lines += [f"{STEP}{number}. {line}" if first else f"{STEP}   {line}" for first, line in _numbered(_step(step))]
    return text_of(lines)


def _story(story: Story) -> Iterator[str]:
    yield f"{story.claim.short} ({story.claim.group_kind}){_at(story.where)}"
    yield from _indented(_body(story))


def _body(story: Story) -> Iterator[str]:
    if story.chosen:
        yield from _chosen(story.chosen)
    if story.unbound:
        yield from _problem("unbound", story.unbound)
    for problem in story.problems:
        yield from _problem("wrong", problem)
    if story.candidates:
        yield f"candidates: {_classes(len(story.candidates))} for this kind"
        yield from _indented(_candidates(story.candidates))
    else:
        yield "candidates: no class serves this kind"
    if story.who:
        yield from _who(story.who)
    if story.existing:
        yield f"holds: {story.existing.resource}, which is there already and is never deleted"
        yield f"{STEP}urn: {story.existing.urn}"
    if story.children:
        yield f"makes: {counted(len(story.children), 'resource')}, in this order"
        for child in story.children:
            yield from _indented(_child(child))
    for secret in story.secrets:
        yield from _secret(secret, existing=story.existing is not None)
    for record in story.records:
        yield f"record: {record.kind} {record.name}"
        yield f"{STEP}urn: {record.urn}"
    if story.contract:
        yield f"connection contract: {', '.join(story.contract)}"
    if story.nested:
        yield f"composes: {counted(len(story.nested), 'composite')}"
        for inner in story.nested:
            yield from _indented(_nested(inner))


def _chosen(chosen: Chosen) -> Iterator[str]:
    yield f"class: {_name(chosen.klass)} ({chosen.dialect}){_at(chosen.where)}"
    recorded = f"recorded{_at(chosen.recorded)}" if chosen.recorded else f"not recorded yet: {chosen.command}"
    yield f"{STEP}why: {chosen.reason}; {recorded}"
    if chosen.previous:
        yield f"{STEP}before: {_name(chosen.previous)}"
    if chosen.today:
        yield f"{STEP}chosen anew it would be: {chosen.today}; the record stands until it is rebound on purpose"


def _problem(word: str, problem: Problem) -> Iterator[str]:
    head, *rest = str(problem).split("\n")
    yield f"{word}: {head}"
    yield from _indented(line.strip() for line in rest)


def _candidates(candidates: Sequence[Candidate]) -> Iterator[str]:
    width = max(len(_name(c.klass)) for c in candidates)
    for c in candidates:
        mark = "*" if c.chosen else "+" if c.fits else "-"
        labels = ", ".join(f"{k}={v}" for k, v in c.labels.items()) or "no labels"
        default = f"; {c.default}" if c.default else ""
        yield f"{mark} {_name(c.klass).ljust(width)}  weight {c.weight}{default}; {labels}; {c.why}{_at(c.where)}"


def _who(who: Who) -> Iterator[str]:
    yield "identity:"
    lines = [
        ("uid", who.uid),
        ("owner", who.owner),
        ("composite", who.composite),
        ("external name", who.external_name),
        ("made as", who.service_account),
        ("urn", who.urn),
        ("to deploy it alone", who.command),
    ]
    yield from _indented(f"{word}: {value}" for word, value in lines if value)


def _child(child: ChildStory) -> Iterator[str]:
    place = f"{child.namespace}/{child.name}" if child.namespace else child.name
    yield f"{child.template}: {child.kind} {place} ({child.api_version}){_at(child.where)}"
    yield f"{STEP}urn: {child.urn}"
    if child.engine:
        yield f"{STEP}made by: a {child.engine} template"
    if child.external_name:
        yield f"{STEP}external name: {child.external_name}"
    if child.previous_name:
        yield f"{STEP}was: {child.previous_name}, in earlier deployments"
    yield from _indented(_patch(p) for p in child.patches)
    yield from _indented(_reference(r) for r in child.references)
    yield f"{STEP}options: {'; '.join(child.options)}"


def _patch(patch: PatchStory) -> str:
    reads = " and ".join(f"{r.path} {shown(r.value)}" if r.value is not ABSENT else r.path for r in patch.reads)
    by = f"; {', then '.join(patch.transforms)}" if patch.transforms else ""
    policy = f"; {patch.policy}" if patch.policy != "Replace" else ""
    if patch.applied:
        return f"applied: {reads} → {patch.to} {shown(patch.value)}{by}{policy}{_at(patch.where)}"
    return f"skipped: {reads} → {patch.to}: {patch.why}{_at(patch.where)}"


def _reference(story: ReferenceStory) -> str:
    if not story.wanted:
        return f"reference: {story.ref} {story.name}: {story.why}{_at(story.where)}"
    picked = f"{story.ref} → {story.sibling or story.picked} ({story.name})" if story.picked else story.ref
    selector = fieldpath.to_text(fieldpath.parse(story.selector)[-1:])
    return f"reference: {picked}: {story.why}; {selector} wants {story.wanted}{_at(story.where)}"


def _secret(secret: SecretStory, *, existing: bool) -> Iterator[str]:
    whose = "asked for" if secret.asked_by == "claim" else "the composite's own"
    yield f"connection secret: {secret.namespace}/{secret.name}, {whose}"
    yield f"{STEP}urn: {secret.urn}"
    yield from _indented(_source(s) for s in secret.sources)
    if not secret.sources:
        empty = "the Secret that the existing resource writes" if existing else "nothing: no child writes a Secret"
        yield f"{STEP}from {empty}"


def _source(source: SecretSource) -> str:
    keys = "every key"
    if source.keys is not None:
        keys = ", ".join(name if name == key else f"{name} (its {key})" for name, key in source.keys) or "no key"
    prefix = f", each with {source.prefix!r} before it" if source.prefix else ""
    return f"from {source.child} ({source.kind}), its Secret {source.secret}: {keys}{prefix}"


def _nested(story: Story) -> Iterator[str]:
    head, *rest = list(_story(story))
    yield f"{story.template}: {head}"
    yield from _indented(_patch(p) for p in story.made_by)
    yield from rest


def _step(step: Step) -> Iterator[str]:
    if step.patch is None:
        yield f"{step.by}: {step.what}: {shown(step.value)}{_at(step.where)}"
        return
    yield f"patch {_patch(step.patch)}"
    for read in step.patch.reads:
        if read.value is not ABSENT:
            yield f"{STEP}{read.path} {shown(read.value)}{_at(read.where)}"
    for stage in step.patch.stages:
        yield f"{STEP}{shown(stage.before)} → {shown(stage.value)} by {stage.what}"


def _classes(number: int) -> str:
    return "1 class" if number == 1 else f"{number} classes"


def _name(key: ClassKey) -> str:
    return f"{key.group_kind.kind} {key.name}"


def _at(where: Source | None) -> str:
    return f"  [{where.file}:{where.line}]" if where else ""


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"{STEP}{line}" for line in lines)


def _numbered(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    return ((index == 0, line) for index, line in enumerate(lines))
