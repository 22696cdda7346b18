"""A review for the terminal: lines of styled parts, the loudest first. The shell colours them, or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from claimsmith.base.printable import counted, visible
from claimsmith.tools.review.changes import (
    UNKNOWN,
    Cause,
    ClaimChange,
    FieldChange,
    Level,
    Op,
    Previewed,
    Review,
    ReviewWarning,
    StackReview,
)
from claimsmith.tools.review.groups import Group, class_label, groups, merged_problems, pair, same_warnings, values

Part = tuple[str, str]
"""A style and a text: `title`, `created`, `updated`, `deleted`, `danger`, `warning`, `dim` or nothing."""
Line = list[Part]

SIGNS = {
    Op.created: "+",
    Op.updated: "~",
    Op.replaced: "±",
    Op.deleted: "-",
    Op.retained: "○",
    Op.settings: "·",
    Op.read: "»",
    Op.same: " ",
}
STYLES = {
    Op.created: "created",
    Op.updated: "updated",
    Op.replaced: "danger",
    Op.deleted: "deleted",
    Op.retained: "warning",
    Op.settings: "dim",
    Op.read: "dim",
    Op.same: "",
}
NAMES = 6
"""How many of the claims of a group are named."""
_LEVELS = {Level.danger: "danger", Level.warning: "warning", Level.note: "note"}


def lines(review: Review) -> Iterator[Line]:
    """The whole review. Each line stays one, whatever the values in it are."""
    return map(_printable, _lines(review))


def _printable(line: Line) -> Line:
    shown = [(style, visible(part)) for style, part in line]
    whole = "".join(part for _, part in shown)
    # Where parts that are harmless alone form a command together, the line loses its colours.
    return shown if visible(whole) == whole else [("", visible(whole))]


def _lines(review: Review) -> Iterator[Line]:
    yield [("title", f"{review.project}: {review.base} ({review.commit[:10]}) → the working tree")]
    yield from _warnings(review.warnings)
    for stack in review.stacks:
        yield []
        yield from _stack(stack)
    if review.code:
        yield []
        yield [("title", "generated code")]
        for change in review.code:
            yield [("", f"  {change.file}: {change.change}, "), ("dim", f"+{change.added} -{change.removed} lines")]
            styles = {"+": "created", "-": "deleted"}
            yield from ([(styles.get(line[:1], "dim"), f"      {line}")] for line in change.diff)
    yield []
    yield [("title", verdict(review))]


def verdict(review: Review) -> str:
    """The whole in one sentence."""
    if any(s.problems or (s.preview and s.preview.problems) for s in review.stacks):
        return "Not all of it can be reviewed."
    if review.failed:
        return "This would be refused as it is."
    if review.destructive:
        return "Something is deleted, replaced or at risk: look twice."
    if any(w.rule == UNKNOWN for s in review.stacks for w in s.warnings):
        return "There are changes; nothing is deleted, and whether something is replaced is unknown."
    return "There are changes; nothing is deleted or replaced." if review.changes else "Nothing changes."


def summary(stack: StackReview) -> str:
    """An environment in one line."""
    if stack.problems:
        return f"the {stack.unread} cannot be read"
    words = [counted(len(stack.claims), "claim") + " touched", f"{stack.unchanged} unchanged"]
    return "; ".join([", ".join(words), *(f"{n} {op}" for op, n in stack.counts().items())])


def cause_lines(cause: Cause) -> list[str]:
    """What caused a change, as short texts with their places."""
    place = f" at {cause.where}" if cause.where else ""
    head = f"{cause.by}{place}: {cause.what}" if cause.by == "patch" else f"{cause.what}{place}"
    words = [f"no longer: {head}" if cause.gone else head]
    if cause.was:
        words.append(f"was: {cause.was}")
    if cause.claim:
        words.append(f"the {cause.whose}'s {cause.claim} at {cause.claim_where}")
    return words


def names(claims: tuple[ClaimChange, ...], written: Callable[[str], str] = str) -> str:
    """Some of the claims by their names."""
    listed = ", ".join(written(c.short) for c in claims[:NAMES])
    more = len(claims) - NAMES
    return f"{listed} and {more} more" if more > 0 else listed


def _stack(stack: StackReview) -> Iterator[Line]:
    yield [("title", stack.stack), ("", f": {summary(stack)}")]
    for problem, more in merged_problems(stack.problems):
        yield from _problem(problem, more, "danger", "error")
    yield from _warnings(stack.warnings)
    for problem, more in merged_problems(stack.refusals):
        yield from _problem(problem, more, "warning", "refused until fixed")
    for group in groups(stack.claims):
        yield from _group(group)
    for resource in stack.given:
        head = f"  {SIGNS[resource.op]} {resource.kind} {resource.place}"
        yield [(STYLES[resource.op], head), ("dim", " of the stack")]
        for field in (*resource.fields, *resource.settings):
            yield from _field([field], "      ")
    if stack.preview:
        yield from _preview(stack.preview)


def _problem(problem: object, more: int, style: str, word: str) -> Iterator[Line]:
    head, *rest = str(problem).split("\n")
    yield [(style, f"  {word}: "), ("", head)]
    yield from ([("dim", f"    {line.strip()}")] for line in rest)
    if more:
        yield [("dim", f"    and {more} more of the same")]


def _warnings(warnings: tuple[ReviewWarning, ...]) -> Iterator[Line]:
    for warning, more in same_warnings(warnings):
        yield [(_LEVELS[warning.level], f"  {warning.level.upper()}: "), ("", warning.what)]
        if warning.where:
            yield [("dim", f"    at:  {warning.where}")]
        if warning.fix:
            yield [("dim", f"    fix: {warning.fix}")]
        if more:
            yield [("dim", f"    and {more} more of the same")]


def _group(group: Group) -> Iterator[Line]:
    claim = group.sample
    signs = {"added": ("created", "+"), "removed": ("deleted", "-"), "rebound": ("warning", "»")}
    style, sign = signs.get(claim.change.value, ("updated", "~"))
    many = len(group.claims) > 1
    kind = claim.claim.partition(".")[0]
    who = f"{len(group.claims)} {kind} claims" if many else claim.short
    yield [(style, f"  {sign} {who}"), ("", f" {claim.change}"), ("dim", f" ({class_label(claim)})")]
    if many:
        yield [("dim", f"      {names(group.claims)}")]
    elif claim.where:
        yield [("dim", f"      {claim.where}")]
    for index, resource in enumerate(claim.resources):
        what = resource.part if many else f"{resource.part} ({resource.place})"
        why = f": {resource.why}" if resource.why else ""
        head = f"      {SIGNS[resource.op]} {resource.kind} {what} {resource.op}{why}"
        yield [(STYLES[resource.op], head)]
        for fields in group.columns(index):
            yield from _field(fields, "          ")


def _field(fields: Sequence[FieldChange], indent: str) -> Iterator[Line]:
    field = fields[0]
    shown = values(fields) if len(fields) > 1 else [pair(field)]
    yield [("", f"{indent}{field.path}: "), ("updated", shown[0])]
    yield from ([("updated", f"{indent}  {text}")] for text in shown[1:])
    for words in cause_lines(field.cause) if field.cause else ():
        yield [("dim", f"{indent}  {words}")]


def _preview(preview: Previewed) -> Iterator[Line]:
    shown = ", ".join(f"{n} {op}" for op, n in preview.ops.items()) or "nothing to do"
    yield [("title", "  the engine's preview"), ("", f": {shown}; agrees on {counted(preview.agreeing, 'resource')}")]
    for problem in preview.problems:
        yield from _problem(problem, 0, "danger", "error")
    for difference in preview.differences:
        name = difference.urn.rpartition("::")[2]
        yield [("warning", f"    {name}: "), ("", f"files say {difference.ours}, the engine {difference.engine}")]
        yield [("dim", f"      {difference.why}")]
    if preview.beside:
        yield [("dim", f"    beside that: {', '.join(preview.beside)}")]
