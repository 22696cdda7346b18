"""A review for the terminal: lines of styled parts, the loudest first. The shell colours them, or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from claimsmith.base.printable import counted, visible
from claimsmith.tools.review.alerts import Alert, alerts, banner
from claimsmith.tools.review.changes import (
    ClaimChange,
    CodeChange,
    FieldChange,
    Level,
    Op,
    Previewed,
    Review,
    ReviewWarning,
    StackReview,
    Stay,
)
from claimsmith.tools.review.groups import Group, class_label, folded_warnings, groups
from claimsmith.tools.review.values import Row, variants

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
VALUES = 3
"""How many different values of one field are shown."""
LINES = 60
"""How many lines of generated code are shown at once."""
RISKS = {"replaces": "replaces it", "immutable": "cannot be changed"}


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
    found = alerts(review)
    if found:
        yield [("danger", banner(review))]
    for alert in found:
        yield []
        yield from _alert(alert)
    others = [w for w in review.warnings if w.level is not Level.danger]
    if others:
        yield []
        yield from _warnings(others)
    for stack in review.stacks:
        yield []
        yield from _stack(stack)
    if review.code:
        yield []
        yield [("title", "generated code")]
        for change in review.code:
            yield from _code(change)
    yield []
    yield [("danger" if found or review.destructive else "title", banner(review))]


def _code(change: CodeChange) -> Iterator[Line]:
    yield [("", f"  {change.file}: {change.change}, "), ("dim", f"+{change.added} -{change.removed} lines")]
    styles = {"+": "created", "-": "deleted"}
    shown, rest = change.diff[:LINES], change.diff[LINES:]
    yield from ([(styles.get(line[:1], "dim"), f"      {line}")] for line in shown)
    if rest:
        yield [("dim", f"      … and {counted(len(rest), 'more line')}")]


def summary(stack: StackReview) -> str:
    """An environment in one line."""
    if stack.problems:
        return f"the {stack.unread} cannot be read"
    words = [counted(len(stack.claims), "claim") + " touched", f"{stack.unchanged} unchanged"]
    stay = [counted_stays(stack.stays)] if stack.stays else []
    return "; ".join([", ".join(words), *(f"{n} {op}" for op, n in stack.counts().items()), *stay])


def counted_stays(number: int) -> str:
    """`1 object stays`, `2 objects stay`."""
    return f"{counted(number, 'object')} {'stays' if number == 1 else 'stay'}"


def stay_words(stay: Stay) -> str:
    """What is to be known of an object that stays, beside its templates; empty if nothing."""
    retyped = f"{stay.type_before} → {stay.type}" if stay.type != stay.type_before else ""
    unsure = "" if stay.sure else "unless its provider replaces it: --preview asks"
    return ", ".join(filter(None, (retyped, unsure)))


def cause_lines(fields: Sequence[FieldChange]) -> list[str]:
    """What caused the change of a field in some claims, as short texts with their places."""
    cause = fields[0].cause
    if cause is None:
        return []
    place = f" at {cause.where}" if cause.where else ""
    head = f"{cause.by}{place}: {cause.what}" if cause.by == "patch" else f"{cause.what}{place}"
    words = [f"no longer: {head}" if cause.gone else head]
    if cause.was:
        words.append(f"was: {cause.was}")
    if cause.claim and len({(f.cause.claim, f.cause.claim_where) for f in fields if f.cause}) > 1:
        words.append(f"each {cause.whose}'s {cause.claim_path}, the first at {cause.claim_where}")
    elif cause.claim:
        words.append(f"the {cause.whose}'s {cause.claim} at {cause.claim_where}")
    return words


def names(claims: tuple[ClaimChange, ...], written: Callable[[str], str] = str) -> str:
    """Some of the claims by their names."""
    listed = ", ".join(written(c.short) for c in claims[:NAMES])
    more = len(claims) - NAMES
    return f"{listed} and {more} more" if more > 0 else listed


def risk(field: FieldChange) -> str:
    """Why a field's change is dangerous, in two words; empty if it is not."""
    return RISKS["replaces"] if field.replaces else RISKS["immutable"] if field.immutable else ""


def _alert(alert: Alert) -> Iterator[Line]:
    head = {"error": "ERROR", "blocked": "BLOCKED", "danger": "DANGER"}[alert.level]
    place = f"{alert.where}: " if alert.where and alert.level != "danger" else ""
    yield [
        ("warning" if alert.level == "blocked" else "danger", f"{head}{alert.place}: "),
        ("", f"{place}{alert.what}"),
    ]
    if alert.level == "danger" and alert.where:
        yield [("dim", f"  at:  {alert.where}")]
    if alert.path:
        yield [("dim", f"  at:  {alert.path}")]
    if alert.fix:
        yield [("dim", f"  fix: {alert.fix}")]
    if alert.count > 1:
        yield [("dim", f"  and {more_subjects(alert)}")]


def more_subjects(alert: Alert) -> str:
    """The others that an alert is about: some of them, and how many more."""
    others = [s.name for s in alert.subjects[1:]] if alert.level == "danger" else []
    if not others:
        return f"{alert.count - 1} more of the same"
    more = len(others) - NAMES
    listed = ", ".join(others[:NAMES])
    return f"{alert.count - 1} more of the same: {listed}{f' and {more} more' if more > 0 else ''}"


def _stack(stack: StackReview) -> Iterator[Line]:
    yield [("title", stack.stack), ("", f": {summary(stack)}")]
    yield from _warnings(w for w in stack.warnings if w.level is not Level.danger)
    for group in groups(stack):
        yield from _group(group)
    for resource in stack.given:
        head = f"  {SIGNS[resource.op]} {resource.kind} {resource.place}"
        yield [(STYLES[resource.op], head), ("dim", " of the stack")]
        for field in (*resource.fields, *resource.settings):
            yield from _field([field], "      ")
    if stack.preview:
        yield from _preview(stack.preview)


def _warnings(warnings: Iterable[ReviewWarning]) -> Iterator[Line]:
    for same in folded_warnings(warnings):
        warning, more = same[0], len(same) - 1
        yield [(warning.level.value, f"  {warning.level.upper()}: "), ("", warning.what)]
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
    head: Line = [(style, f"  {sign} {group.title}"), ("", f" {claim.change}"), ("dim", f" ({class_label(claim)})")]
    yield [*head, ("danger", "  DANGER")] if group.dangers else head
    if many:
        yield [("dim", f"      {names(group.claims)}")]
    elif claim.where:
        yield [("dim", f"      {claim.where}")]
    for index, resource in enumerate(claim.resources):
        what = resource.part if many else f"{resource.part} ({resource.place})"
        why = f": {resource.why}" if resource.why else ""
        line = f"      {SIGNS[resource.op]} {resource.kind} {what} {resource.op}{why}"
        yield [("danger" if resource.part in group.dangers else STYLES[resource.op], line)]
        for fields in group.columns(index):
            yield from _field(fields, "          ")
    yield from _stays(group)


def _stays(group: Group) -> Iterator[Line]:
    """The objects that stay: those of other templates each in a line, the others in one."""
    for same in group.stays():
        stay, places = same[0], [s.place for s in same]
        more = f" and {len(places) - NAMES} more" if len(places) > NAMES else ""
        template = stay.part if stay.part == stay.was else f"{stay.was} → {stay.part}"
        words = stay_words(stay)
        yield [
            ("", f"      = {stay.kind} {template} stays ({', '.join(places[:NAMES])}{more})"),
            ("dim", f": {words}" if words else ""),
        ]
    alike = group.stays_alike()
    if alike:
        number = f"{len(alike)} in each claim" if len(group.claims) > 1 else counted_stays(len(alike))
        verb = " stay" if len(group.claims) > 1 else ""
        yield [("dim", f"      = {number}{verb} under the same template: {', '.join(alike)}")]


def _field(fields: Sequence[FieldChange], indent: str) -> Iterator[Line]:
    field = fields[0]
    found = variants(fields)
    path: Line = [("danger" if field.dangerous else "", f"{indent}{field.path}: ")]
    warned: Line = [("danger", f"  ({risk(field)})")] if field.dangerous else []
    single = len(found) == 1 and len(found[0].rows) == 1 and not found[0].rows[0].path
    if single:
        yield [*path, *_row(found[0].rows[0]), *warned]
    else:
        yield [*path, *warned]
        for variant in found[:VALUES]:
            count = f" ({len(variant.claims)} claims)" if len(variant.claims) > 1 and len(found) > 1 else ""
            *others, last = variant.rows
            yield from ([("", f"{indent}  "), *_row(row)] for row in others)
            yield [("", f"{indent}  "), *_row(last), ("dim", count)]
    if len(found) > VALUES:
        yield [("dim", f"{indent}  and {len(found) - VALUES} other values")]
    for words in cause_lines(fields):
        yield [("dim", f"{indent}  {words}")]


def _row(row: Row) -> Line:
    """A value before in red, and after in green."""
    path: Line = [("", f"{row.path}: ")] if row.path else []
    if not row.new:
        return [*path, ("updated", row.old)]
    return [*path, ("deleted", row.old), ("dim", " → "), ("created", row.new)]


def _preview(preview: Previewed) -> Iterator[Line]:
    shown = ", ".join(f"{n} {op}" for op, n in preview.ops.items()) or "nothing to do"
    yield [("title", "  the engine's preview"), ("", f": {shown}; agrees on {counted(preview.agreeing, 'resource')}")]
    for difference in preview.differences:
        name = difference.urn.rpartition("::")[2]
        yield [("warning", f"    {name}: "), ("", f"files say {difference.ours}, the engine {difference.engine}")]
        yield [("dim", f"      {difference.why}")]
    if preview.beside:
        yield [("dim", f"    beside that: {', '.join(preview.beside)}")]
