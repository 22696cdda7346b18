"""A review as Markdown for a pull request: short on top, the rest folded, never longer than a comment may be.

The comment is posted under the name of a bot, so nothing in it may be what a claim's author wrote as Markdown: every
value is code, every sentence is `prose`, and what stands within HTML is `<code>`. GitHub looks for mentions, references
to issues and commits, and emoji in whatever is not code, after all escapes are resolved: escapes alone do not help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from claimsmith.base.printable import code, counted, fenced, html, prose, visible
from claimsmith.tools.review.alerts import Alert, alerts, banner
from claimsmith.tools.review.changes import (
    ClaimChange,
    FieldChange,
    Level,
    Op,
    ResourceChange,
    Review,
    ReviewWarning,
    StackReview,
)
from claimsmith.tools.review.groups import Group, class_label, folded_warnings, groups
from claimsmith.tools.review.text import (
    LINES,
    SIGNS,
    VALUES,
    cause_lines,
    counted_stays,
    names,
    risk,
    stay_words,
    summary,
)
from claimsmith.tools.review.values import Row, variants

LIMIT = 65_536
"""The longest comment that GitHub takes, in characters."""
MARK = "<!-- claimsmith review -->"
"""The first line, by which a workflow finds its own comment again."""
LINK: Final = re.compile(r"https?://[A-Za-z0-9\-._~:/?#@!$&'*+,;=%]+")
"""An address that may stand in Markdown as it is."""
_LEVELS = {Level.danger: "🛑", Level.warning: "⚠️", Level.note: "ℹ️"}
_ALERTS = {
    "error": ("❌", "Error", "errors"),
    "blocked": ("⛔", "Blocked", "blocked"),
    "danger": ("🛑", "Danger", "dangers"),
}
_CUT = 300
"""How much of an alert's sentence is shown where there is little room."""
_LINE = 90
"""Room for the line that counts what does not fit, for each environment."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A part of the comment that may be left out: first in a short form, then altogether."""

    rank: int
    """The lower, the earlier it gets room: claims in danger, warnings, other claims, all else."""
    full: str
    brief: str = ""


def markdown(review: Review, *, limit: int = LIMIT) -> str:
    """The whole review. Dangers come first and are all counted; what does not fit is counted, with a way to see it."""
    head = "".join(_head(review))
    more = _more(review)
    titles = [f"#### {code(s.stack)}\n\n{prose(summary(s))}\n\n" for s in review.stacks]
    columns = [[*_stack(stack)] for stack in review.stacks] + [[*_code(review)]]
    room = limit - len(head) - len(more) - sum(map(len, titles)) - _LINE * len(columns)
    first = _alerts(alerts(review), room if room < limit // 3 else max(limit // 3, room // 2))
    kept = _fitting(columns, room - len(first))
    texts = [head, first]
    for title, column, chosen in zip([*titles, ""], columns, kept, strict=True):
        texts += [title, *(chosen[i] for i in sorted(chosen)), *_left(len(column) - len(chosen))]
    whole = [{i: block.full for i, block in enumerate(column)} for column in columns] == kept
    return "".join([*texts, *([more] if review.link or not whole else [])])


def _fitting(columns: Sequence[Sequence[_Block]], room: int) -> list[dict[int, str]]:
    """What each environment shows: by rank, and one block of each environment after the other, while there is room."""
    chosen: list[dict[int, str]] = [{} for _ in columns]
    for rank in sorted({block.rank for column in columns for block in column}):
        queues = [[(at, i) for i, b in enumerate(column) if b.rank == rank] for at, column in enumerate(columns)]
        for turn in zip_longest(*queues):
            waiting = [place for place in turn if place]
            for done, (at, index) in enumerate(waiting):
                block = columns[at][index]
                text = block.full if len(block.full) <= room // (len(waiting) - done) else block.brief
                if text and len(text) <= room:
                    chosen[at][index] = text
                    room -= len(text)
    return chosen


def _left(count: int) -> list[str]:
    return [f"\n… and {count} more, which do not fit here.\n\n"] if count > 0 else []


def _more(review: Review) -> str:
    """How to see all of it."""
    command = code(f"claimsmith review --base {review.base}")
    if LINK.fullmatch(review.link):
        return f"\n[All changes, with graphs]({review.link}); or run {command}.\n"
    return f"\nNot all of it fits into a comment. See the rest: {command}\n"


def _head(review: Review) -> list[str]:
    rows = [f"| {code(s.stack, cell=True)} | {prose(summary(s), cell=True)} | {_marks(s)} |\n" for s in review.stacks]
    table = ["| environment | what happens | |\n| --- | --- | --- |\n", *rows, "\n"]
    title = f"{MARK}\n### Review of {code(review.project)}\n\n"
    compared = f"**{prose(banner(review))}.** Compared with {code(review.base)} ({code(review.commit[:10])}).\n\n"
    others = [w for w in review.warnings if w.level is not Level.danger]
    return [title, compared, *table, *_warnings(others)]


def _marks(stack: StackReview) -> str:
    found = dict.fromkeys(_LEVELS[w.level] for w in stack.warnings)
    refused = [*(["❌"] if stack.problems else []), *(["⛔"] if stack.refusals else [])]
    return " ".join([*refused, *found])


def _alerts(found: Sequence[Alert], room: int) -> str:
    """The alerts in as much detail as there is room: with fixes and names, without, or counted by rule."""
    for write in (_alert, _brief_alert):
        text = "".join(map(write, found))
        if len(text) <= room:
            return f"{text}\n" if text else ""
    text, rest = "", list(found)
    while rest and len(text) + len(_brief_alert(rest[0])) <= room - 200 * len({a.rule for a in found}):
        text += _brief_alert(rest.pop(0))
    for rule in dict.fromkeys((a.level, a.rule) for a in rest):
        same = [a for a in rest if (a.level, a.rule) == rule]
        sign, _, word = _ALERTS[rule[0]]
        named = f" of the rule {code(rule[1])}" if rule[1] else ""
        text += f"- {sign} **{sum(a.count for a in same)} {word}** more{named}\n"
    return f"{text}\n"


def _alert(alert: Alert) -> str:
    place = f" ({code(str(alert.where))})" if alert.where else ""
    fix = f" Fix: {prose(alert.fix)}." if alert.fix else ""
    return f"- {_alert_head(alert)}: {prose(alert.what)}{place}.{fix}\n{_subjects(alert)}"


def _brief_alert(alert: Alert) -> str:
    return f"- {_alert_head(alert)}: {prose(alert.what[:_CUT])}\n"


def _alert_head(alert: Alert) -> str:
    sign, one, many = _ALERTS[alert.level]
    return f"{sign} **{f'{alert.count} {many}' if alert.count > 1 else one}** {_places(alert)}".rstrip()


def _places(alert: Alert) -> str:
    stacks = [f"{code(s)}{f' ({n})' if n > 1 and len(alert.stacks) > 1 else ''}" for s, n in alert.stacks.items() if s]
    return f"in {', '.join(stacks)}" if stacks else ""


def _subjects(alert: Alert) -> str:
    """All that an alert is about, folded."""
    if alert.count < 2:
        return ""
    listed = [code(s.name if len(alert.stacks) < 2 else f"{s.stack}: {s.name}") for s in alert.subjects]
    return f"  <details><summary>all {alert.count}</summary>\n\n  {', '.join(listed)}\n\n  </details>\n"


def _stack(stack: StackReview) -> Iterator[_Block]:
    for text in _warnings(w for w in stack.warnings if w.level is not Level.danger):
        yield _Block(1, text)
    for group in groups(stack):
        yield _Block(0 if group.dangers else 2, _group(group), _group(group, brief=True))
    for resource in stack.given:
        fields = [[f] for f in (*resource.fields, *resource.settings)]
        title = f"{SIGNS[resource.op]} {_coded(resource.kind)} {_coded(resource.place)} {resource.op} (of the stack)"
        yield _Block(2, _folded(title, _fields(fields)), _folded(title, []))
    yield from (_Block(3, text) for text in _preview(stack))


def _warnings(warnings: Iterable[ReviewWarning]) -> Iterator[str]:
    for same in folded_warnings(warnings):
        one = same[0]
        place = f" ({code(str(one.where))})" if one.where else ""
        fix = f" Fix: {prose(one.fix)}." if one.fix else ""
        more = f" And {len(same) - 1} more of the same." if len(same) > 1 else ""
        yield f"- {_LEVELS[one.level]} {prose(one.what)}{place}.{fix}{more}\n"


def _group(group: Group, *, brief: bool = False) -> str:
    claim = group.sample
    many = len(group.claims) > 1
    mark = "🛑 " if group.dangers else ""
    title = f"{mark}{_coded(group.title)} {claim.change} ({_coded(class_label(claim))}): {_ops(claim)}"
    body = [f"{names(group.claims, code)}\n\n" if many else f"{code(str(claim.where))}\n\n"]
    for index, resource in enumerate(claim.resources):
        if brief and not (resource.part in group.dangers or resource.op in (Op.deleted, Op.replaced)):
            continue
        danger = "🛑 " if resource.part in group.dangers else ""
        body.append(f"- {danger}{_resource(resource, named=not many)}\n")
        body += [f"  {line}" for line in _fields(group.columns(index), brief=brief)]
    body += [] if brief else _stays(group)
    if many and not brief:
        listed = ", ".join(code(c.short) for c in group.claims)
        body.append(f"\n<details><summary>all {len(group.claims)} claims</summary>\n\n{listed}\n\n</details>\n")
    return _folded(title, body)


def _stays(group: Group) -> list[str]:
    """The objects that stay, by template; those of many claims are folded."""
    body = []
    for same in group.stays():
        stay, many = same[0], len(same) > 1
        template = code(stay.part) if stay.part == stay.was else f"{code(stay.was)} → {code(stay.part)}"
        words = stay_words(stay)
        name = f" ({len(same)} objects)" if many else f" {code(stay.place)}"
        body.append(
            f"- {code('=')} {code(stay.kind)} {template}{name} **stays**{f': {prose(words)}' if words else ''}\n"
        )
        if many:
            listed = ", ".join(code(s.place) for s in same)
            body.append(f"  <details><summary>all {len(same)}</summary>\n\n  {listed}\n\n  </details>\n")
    if alike := group.stays_alike():
        body.append(f"- {code('=')} under the same template: {', '.join(map(code, alike))} **stay**\n")
    return body


def _ops(claim: ClaimChange) -> str:
    found = {op: sum(r.op is op for r in claim.resources) for op in Op}
    stay = [counted_stays(len(claim.stays))] if claim.stays else []
    return ", ".join([*(f"{n} {op}" for op, n in found.items() if n), *stay]) or "nothing of it changes"


def _resource(resource: ResourceChange, *, named: bool = True) -> str:
    name = f" {code(resource.place)}" if named else ""
    why = f": {prose(resource.why)}" if resource.why else ""
    return f"{code(SIGNS[resource.op])} {code(resource.kind)} {code(resource.part)}{name} **{resource.op}**{why}"


def _fields(columns: Sequence[Sequence[FieldChange]], *, brief: bool = False) -> list[str]:
    lines = []
    for fields in columns:
        field = fields[0]
        if brief and not field.dangerous:
            continue
        found = variants(fields)
        shown = [_variant(v.rows, len(v.claims) if len(found) > 1 else 1) for v in found[:VALUES]]
        more = [f"and {len(found) - VALUES} other values"] if len(found) > VALUES else []
        warned = f" 🛑 **{risk(field)}**" if field.dangerous else ""
        lines.append(f"- {code(field.path)}: {', '.join([*shown, *more])}{warned}\n")
        lines += [f"  <br><sub>{prose(words)}</sub>\n" for words in (() if brief else cause_lines(fields))]
    return lines


def _variant(rows: Sequence[Row], count: int) -> str:
    shown = "; ".join(
        f"{f'{code(r.path)}: ' if r.path else ''}{f'{code(r.old)} → {code(r.new)}' if r.new else prose(r.old)}"
        for r in rows
    )
    return f"{shown} ({count} claims)" if count > 1 else shown


def _preview(stack: StackReview) -> Iterator[str]:
    preview = stack.preview
    if preview is None:
        return
    shown = ", ".join(f"{n} {op}" for op, n in preview.ops.items()) or "nothing to do"
    lines = [
        f"- {code(d.urn.rpartition('::')[2])}: files say {prose(d.ours)}, the engine {prose(d.engine)}. "
        f"{prose(d.why)}\n"
        for d in preview.differences
    ]
    title = f"The engine's preview: {shown}; agrees on {preview.agreeing}, differs on {len(preview.differences)}"
    yield _folded(html(title), lines)


def _code(review: Review) -> Iterator[_Block]:
    for change in review.code:
        title = f"{_coded(change.file)} {change.change}, +{change.added} -{change.removed} lines"
        rest = len(change.diff) - LINES
        diff = [*change.diff[:LINES], *([f"… and {counted(rest, 'more line')}"] if rest > 0 else [])]
        yield _Block(4, _folded(title, [fenced(diff, "diff")] if diff else []), _folded(title, []))


def _folded(title: str, body: Iterable[str]) -> str:
    inner = "".join(body)
    # After a list, only what follows an empty line is not a part of it; after HTML, only that is Markdown again.
    return f"\n<details><summary>{title}</summary>\n\n{inner}\n</details>\n\n" if inner else f"\n<p>{title}</p>\n\n"


def _coded(text: str) -> str:
    """Code within HTML."""
    return f"<code>{html(visible(text))}</code>"
