"""A review as Markdown for a pull request: short on top, the rest folded, never longer than a comment may be.

The comment is posted under the name of a bot, so nothing in it may be what a claim's author wrote as Markdown: every
value is code, every sentence is `prose`, and what stands within HTML is `<code>`. GitHub looks for mentions, references
to issues and commits, and emoji in whatever is not code, after all escapes are resolved: escapes alone do not help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from claimsmith.base.errors import Problem
from claimsmith.base.printable import code, fenced, html, prose, visible
from claimsmith.tools.review.changes import FieldChange, Level, Op, ResourceChange, Review, ReviewWarning, StackReview
from claimsmith.tools.review.groups import Group, class_label, groups, merged_problems, pair, same_warnings, values
from claimsmith.tools.review.text import SIGNS, cause_lines, names, summary, verdict

LIMIT = 65_536
"""The longest comment that GitHub takes, in characters."""
MARK = "<!-- claimsmith review -->"
"""The first line, by which a workflow finds its own comment again."""
_RESERVE = 400
_LEVELS = {Level.danger: "🛑", Level.warning: "⚠️", Level.note: "ℹ️"}


def markdown(review: Review, *, limit: int = LIMIT) -> str:
    """The whole review; what does not fit is counted, and the command that shows it is named."""
    head = _head(review)
    room = limit - _RESERVE - sum(len(b) for b in head)
    blocks = [block for stack in review.stacks for block in _stack(stack)]
    blocks += list(_code(review))
    kept: list[str] = []
    for block in blocks:
        if len(block) <= room:
            kept.append(block)
            room -= len(block)
    left = len(blocks) - len(kept)
    command = code(f"claimsmith review --base {review.base}")
    more = [f"\n{left} more parts do not fit into a comment. See all: {command}\n"]
    return "".join([*head, *kept, *(more if left else [])])


def _head(review: Review) -> list[str]:
    rows = [f"| {code(s.stack, cell=True)} | {prose(summary(s), cell=True)} | {_marks(s)} |\n" for s in review.stacks]
    table = ["| environment | what happens | |\n| --- | --- | --- |\n", *rows, "\n"]
    title = f"{MARK}\n### Review of {code(review.project)}\n\n"
    compared = f"{prose(verdict(review))} Compared with {code(review.base)} ({code(review.commit[:10])}).\n\n"
    return [title, compared, *table, *_warnings(review.warnings)]


def _marks(stack: StackReview) -> str:
    found = dict.fromkeys(_LEVELS[w.level] for w in stack.warnings)
    return " ".join([*(["❌"] if stack.problems or stack.refusals else []), *found])


def _stack(stack: StackReview) -> Iterator[str]:
    yield f"#### {code(stack.stack)}\n\n"
    for problem, more in (*merged_problems(stack.problems), *merged_problems(stack.refusals)):
        yield _bullet(f"❌ {prose(problem.what)}", problem, more)
    yield from _warnings(stack.warnings)
    yield "\n"
    for group in groups(stack.claims):
        yield _group(group)
    for resource in stack.given:
        fields = [[f] for f in (*resource.fields, *resource.settings)]
        title = f"{SIGNS[resource.op]} {_coded(resource.kind)} {_coded(resource.place)} {resource.op} (of the stack)"
        yield _folded(title, _fields(fields))
    yield from _preview(stack)


def _warnings(warnings: Iterable[ReviewWarning]) -> Iterator[str]:
    for warning, more in same_warnings(warnings):
        yield _bullet(f"{_LEVELS[warning.level]} **{prose(warning.what)}**", warning, more)


def _bullet(head: str, one: Problem | ReviewWarning, more: int) -> str:
    """A problem or warning as an item of a list: its head, then place, fix and the number of others like it."""
    place = f" ({code(str(one.where))})" if one.where else ""
    fix = f" Fix: {prose(one.fix)}." if one.fix else ""
    again = f" And {more} more of the same." if more else ""
    return f"- {head}{place}.{fix}{again}\n"


def _group(group: Group) -> str:
    claim = group.sample
    many = len(group.claims) > 1
    kind = claim.claim.partition(".")[0]
    who = f"{len(group.claims)} {kind} claims" if many else claim.short
    title = f"{_coded(who)} {claim.change} ({_coded(class_label(claim))}): {_ops(claim.resources)}"
    body = [f"{names(group.claims, code)}\n\n" if many else f"{code(str(claim.where))}\n\n"]
    for index, resource in enumerate(claim.resources):
        body.append(f"- {_resource(resource, named=not many)}\n")
        body += [f"  {line}" for line in _fields(group.columns(index))]
    return _folded(title, body)


def _ops(resources: Sequence[ResourceChange]) -> str:
    found = {op: sum(r.op is op for r in resources) for op in Op}
    return ", ".join(f"{n} {op}" for op, n in found.items() if n) or "nothing of it changes"


def _resource(resource: ResourceChange, *, named: bool = True) -> str:
    name = f" {code(resource.place)}" if named else ""
    why = f": {prose(resource.why)}" if resource.why else ""
    return f"{code(SIGNS[resource.op])} {code(resource.kind)} {code(resource.part)}{name} **{resource.op}**{why}"


def _fields(columns: Sequence[Sequence[FieldChange]]) -> list[str]:
    lines = []
    for fields in columns:
        field = fields[0]
        shown = values(fields) if len(fields) > 1 else [pair(field)]
        lines.append(f"- {code(field.path)}: {', '.join(code(t) for t in shown)}\n")
        cause = field.cause
        lines += [f"  <br><sub>{prose(words)}</sub>\n" for words in (cause_lines(cause) if cause else ())]
    return lines


def _preview(stack: StackReview) -> Iterator[str]:
    preview = stack.preview
    if preview is None:
        return
    shown = ", ".join(f"{n} {op}" for op, n in preview.ops.items()) or "nothing to do"
    lines = [f"- ❌ {prose(p.what)}\n" for p in preview.problems]
    lines += [
        f"- {code(d.urn.rpartition('::')[2])}: files say {prose(d.ours)}, the engine {prose(d.engine)}. "
        f"{prose(d.why)}\n"
        for d in preview.differences
    ]
    title = f"The engine's preview: {shown}; agrees on {preview.agreeing}, differs on {len(preview.differences)}"
    yield _folded(html(title), lines)


def _code(review: Review) -> Iterator[str]:
    for change in review.code:
        title = f"{_coded(change.file)} {change.change}, +{change.added} -{change.removed} lines"
        yield _folded(title, [fenced(change.diff, "diff")] if change.diff else [])


def _folded(title: str, body: Iterable[str]) -> str:
    inner = "".join(body)
    return f"<details><summary>{title}</summary>\n\n{inner}\n</details>\n\n" if inner else f"<p>{title}</p>\n\n"


def _coded(text: str) -> str:
    """Code within HTML."""
    return f"<code>{html(visible(text))}</code>"
