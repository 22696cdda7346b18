"""An explanation for the terminal: indented, with the file and line that each part comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import Problem, Source
from claimsmith.base.names import ClassKey
from claimsmith.base.printable import counted
from claimsmith.base.printable import lines as text_of
from claimsmith.tools.explain.children import (
    ExplainedChild,
    ExplainedPatch,
    ExplainedReference,
    ExplainedSecret,
    SecretSource,
    Step,
)
from claimsmith.tools.explain.explanation import Candidate, ClaimIdentity, Explanation, SelectedClass
from claimsmith.tools.explain.formatting import shown
from claimsmith.tools.explain.provenance import Trace

STEP = "  "


def explanation_text(explained: Explanation) -> str:
    """The explanation, as lines."""
    return text_of(_lines(explained))


def part_text(part: ExplainedChild | Explanation) -> str:
    """One part of an explanation, as lines."""
    return text_of(_child(part) if isinstance(part, ExplainedChild) else _nested(part))


def trace_text(trace: Trace) -> str:
    """How a field came about, as lines."""
    head = f"{trace.path} of {trace.child} ({trace.kind} {trace.name}), composed for {trace.claim}"
    lines = [head, f"{STEP}is {shown(trace.value)}", f"{STEP}urn: {trace.urn}"]
    for number, step in enumerate(trace.steps, 1):
        first, *rest = _step(step)
        lines += [f"{STEP}{number}. {first}", *(f"{STEP}   {line}" for line in rest)]
    return text_of(lines)


def _lines(explained: Explanation) -> Iterator[str]:
    yield f"{explained.claim.short} ({explained.claim.group_kind}){_at(explained.where)}"
    yield from _indented(_body(explained))


def _body(explained: Explanation) -> Iterator[str]:
    if explained.chosen:
        yield from _selected_class(explained.chosen)
    if explained.unbound:
        yield from _problem("unbound", explained.unbound)
    for problem in explained.problems:
        yield from _problem("wrong", problem)
    if explained.candidates:
        yield f"candidates: {_classes(len(explained.candidates))} for this kind"
        yield from _indented(_candidates(explained.candidates))
    else:
        yield "candidates: no class serves this kind"
    if explained.who:
        yield from _who(explained.who)
    if explained.existing:
        yield f"holds: {explained.existing.resource}, which already exists and is never deleted"
        yield f"{STEP}urn: {explained.existing.urn}"
    if explained.children:
        yield f"composes: {counted(len(explained.children), 'resource')}, in this order"
        for child in explained.children:
            yield from _indented(_child(child))
    for secret in explained.secrets:
        yield from _secret(secret, existing=explained.existing is not None)
    if explained.details and not explained.secrets:
        yield "connection details: in the stack's output"
        yield from _indented(_source(s) for s in explained.details)
    for record in explained.records:
        yield f"record: {record.kind} {record.name}"
        yield f"{STEP}urn: {record.urn}"
    if explained.contract:
        yield f"connection contract: {', '.join(explained.contract)}"
    if explained.nested:
        yield f"composes: {counted(len(explained.nested), 'composite')}"
        for inner in explained.nested:
            yield from _indented(_nested(inner))


def _selected_class(chosen: SelectedClass) -> Iterator[str]:
    yield f"class: {_name(chosen.klass)} ({chosen.dialect}){_at(chosen.where)}"
    recorded = f"recorded{_at(chosen.recorded)}" if chosen.recorded else f"not recorded yet: {chosen.command}"
    yield f"{STEP}why: {chosen.reason}; {recorded}"
    if chosen.previous:
        yield f"{STEP}before: {_name(chosen.previous)}"
    if chosen.today:
        yield f"{STEP}selected now, it would be: {chosen.today}; the record holds until it is rebound"


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


def _who(who: ClaimIdentity) -> Iterator[str]:
    yield "identity:"
    lines = [
        ("uid", who.uid),
        ("owner", who.owner),
        ("composite", who.composite),
        ("external name", who.external_name),
        ("created as", who.service_account),
        ("urn", who.urn),
        ("to deploy it alone", who.command),
    ]
    yield from _indented(f"{word}: {value}" for word, value in lines if value)


def _child(child: ExplainedChild) -> Iterator[str]:
    place = f"{child.namespace}/{child.name}" if child.namespace else child.name
    yield f"{child.template}: {child.kind} {place} ({child.api_version or child.type}){_at(child.where)}"
    yield f"{STEP}urn: {child.urn}"
    if child.engine:
        yield f"{STEP}rendered by: a {child.engine} template"
    if child.external_name:
        yield f"{STEP}external name: {child.external_name}"
    if child.previous_name:
        yield f"{STEP}was: {child.previous_name}, in earlier deployments"
    yield from _indented(_patch(p) for p in child.patches)
    yield from _indented(_reference(r) for r in child.references)
    yield f"{STEP}options: {'; '.join(child.options)}"


def _patch(patch: ExplainedPatch) -> str:
    reads = " and ".join(f"{r.path} {shown(r.value)}" if r.value is not ABSENT else r.path for r in patch.reads)
    by = f"; {', then '.join(patch.transforms)}" if patch.transforms else ""
    policy = f"; {patch.policy}" if patch.policy != "Replace" else ""
    if patch.applied:
        return f"applied: {reads} → {patch.to} {shown(patch.value)}{by}{policy}{_at(patch.where)}"
    return f"skipped: {reads} → {patch.to}: {patch.why}{_at(patch.where)}"


def _reference(explained: ExplainedReference) -> str:
    if not explained.wanted:
        return f"reference: {explained.ref} {explained.name}: {explained.why}{_at(explained.where)}"
    picked = (
        f"{explained.ref} → {explained.sibling or explained.picked} ({explained.name})"
        if explained.picked
        else explained.ref
    )
    selector = fieldpath.to_text(fieldpath.parse(explained.selector)[-1:])
    return f"reference: {picked}: {explained.why}; {selector} selects {explained.wanted}{_at(explained.where)}"


def _secret(secret: ExplainedSecret, *, existing: bool) -> Iterator[str]:
    whose = "asked for" if secret.asked_by == "claim" else "the composite's own"
    yield f"connection secret: {secret.namespace}/{secret.name}, {whose}"
    yield f"{STEP}urn: {secret.urn}"
    yield from _indented(_source(s) for s in secret.sources)
    if not secret.sources:
        empty = "the Secret that the existing resource writes" if existing else "nothing: no child writes a Secret"
        yield f"{STEP}from {empty}"


def _source(source: SecretSource) -> str:
    fields = ", ".join(f"{name} ({origin})" for name, origin in source.fields)
    if fields and not source.keys:
        return f"from {source.child} ({source.kind}): {fields}"
    keys = "every key"
    if source.keys is not None:
        keys = ", ".join(name if name == key else f"{name} (its {key})" for name, key in source.keys) or "no key"
    prefix = f", each with {source.prefix!r} before it" if source.prefix else ""
    more = f"; {fields}" if fields else ""
    return f"from {source.child} ({source.kind}), its Secret {source.secret}: {keys}{prefix}{more}"


def _nested(explained: Explanation) -> Iterator[str]:
    head, *rest = list(_lines(explained))
    yield f"{explained.template}: {head}"
    yield from _indented(_patch(p) for p in explained.made_by)
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
