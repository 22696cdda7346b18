"""The comparison of files against the engine's preview: where the two differ, and why.

Takes the steps of `pulumi preview --json`. The engine compares the program with what it deployed last, a review files
with files: they differ where the base is not what is deployed, where something was changed by hand, or where only the
engine's provider knows that a field cannot be changed in place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError, Problem
from claimsmith.base.labels import OWNER
from claimsmith.base.names import is_native
from claimsmith.base.printable import one_line
from claimsmith.base.values import Mix, Ref, object_at
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools.review.changes import Difference, Op, Previewed
from claimsmith.tools.review.compare import Comparison, Pair
from claimsmith.tools.review.fields import Difference as Differing
from claimsmith.tools.review.fields import differences
from claimsmith.tools.review.resources import PlannedResource

Step = Mapping[str, Any]

_OPS = {
    "same": Op.same,
    "read": Op.same,
    "read-replacement": Op.same,
    "discard": Op.retained,
    "discard-replaced": Op.same,
    "refresh": Op.same,
    "create": Op.created,
    "import": Op.created,
    "update": Op.updated,
    "delete": Op.deleted,
    "replace": Op.replaced,
    "create-replacement": Op.replaced,
    "delete-replaced": Op.replaced,
}
_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine writes for a value that it does not know yet."""
_HIDDEN = ("[secret]", "4dabf18193072939515e22adb298388d")
_OURS = "pulumi.com/patchFieldManager"
_SHOWN = 3
_SINK = "ConnectionDetails"
"""The kind of the components that take the connection details of claims to native resources."""


def compare_preview(comparison: Comparison, steps: Sequence[Step]) -> Previewed:
    """The engine's preview, and where it differs from the comparison of files."""
    predicted = {p.resource.urn: p for p in comparison.all()}
    compared = {u for p in comparison.all() if p.old for u in (p.old.urn, p.resource.urn)}
    messages = _by_urn(steps)
    found: list[Difference] = []
    agreeing = 0
    for urn, pair in predicted.items():
        difference = _difference(pair, messages.get(urn))
        if difference:
            found.append(difference)
        else:
            agreeing += 1
    beside = [
        (u, s) for u, s in messages.items() if u not in predicted and u not in compared and op_of(s) is not Op.same
    ]
    extra = [(u, s) for u, s in beside if is_object(u)]
    found += [Difference(u, "nothing", op_of(s).value, _why_beside(u)) for u, s in extra if not _is_record(u)]
    ops = Counter(op_of(messages[u]) for u in messages if is_object(u) and op_of(messages[u]) is not Op.same)
    return Previewed(
        ops={op.value: ops[op] for op in Op if ops[op]},
        agreeing=agreeing,
        differences=tuple(found),
        beside=tuple(_counted((u, s) for u, s in beside if not is_object(u) or _is_record(u))),
    )


def op_of(step: Step) -> Op:
    """What a step does."""
    op = _OPS.get(str(step["op"]), Op.updated)
    kept = bool((step.get("oldState") or {}).get("retainOnDelete"))
    return Op.retained if op is Op.deleted and kept else op


def fields_of(step: Step) -> set[fieldpath.Path]:
    """The fields that the engine would change."""
    found: set[fieldpath.Path] = set()
    for text in step.get("detailedDiff") or {}:
        try:
            found.add(fieldpath.parse(text))
        except FieldPathError:
            found.add((text,))
    return found


def _by_urn(steps: Iterable[Step]) -> dict[str, Step]:
    """The most significant step of each URN: a replacement has several."""
    found: dict[str, Step] = {}
    for step in steps:
        urn = str(step["urn"])
        if urn not in found or step["op"] == "replace":
            found[urn] = step
    return found


def _difference(pair: Pair, step: Step | None) -> Difference | None:
    ours = Op.same if pair.op in (Op.settings, Op.read) else pair.op
    urn = pair.resource.urn
    if step is None:
        gone = pair.new is None
        why = "it is not deployed" if gone else "the engine's program does not create it now"
        return None if ours is Op.same else Difference(urn, ours.value, "nothing", why)
    engine = op_of(step)
    its = fields_of(step)
    if pair.old and pair.new and engine in (Op.updated, Op.replaced):
        # A value that is unknown in the preview may turn out unchanged, so it is no difference.
        its -= {p for p in its if _unknown(step, p)} - _changed(pair)
        engine = engine if its else Op.same
    if ours is not engine:
        return Difference(urn, ours.value, engine.value, _why(pair, step, engine))
    if ours is not Op.updated:
        return None
    mine = _changed(pair)
    if mine == its:
        return None
    only_mine, only_its = sorted(map(fieldpath.to_text, mine - its)), sorted(map(fieldpath.to_text, its - mine))
    words = [f"updated ({', '.join(only)})" if only else "updated" for only in (only_mine, only_its)]
    return Difference(urn, words[0], words[1], _why(pair, step, engine))


def _changed(pair: Pair) -> set[fieldpath.Path]:
    """The fields that differ between the files, as the engine names them: of a native resource, its properties."""
    paths = {d.path for d in pair.found}
    return {p[1:] for p in paths if p[0] == "properties"} if is_native(pair.resource.document) else paths


def _unknown(step: Step, path: fieldpath.Path) -> bool:
    """Whether the engine does not know yet what it would write at a path."""
    here: Any = (step.get("newState") or {}).get("inputs")
    for part in path:
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            break
    return bool(here == _UNKNOWN)


def _why(pair: Pair, step: Step, engine: Op) -> str:
    old_state = step.get("oldState") or {}
    if pair.old and not old_state:
        return "the base is not deployed in this stack"
    if pair.old is None and old_state:
        return "it is deployed already, though the base does not have it"
    if engine is Op.replaced:
        reasons = ", ".join(map(str, step.get("replaceReasons") or ())) or "its provider"
        return f"the provider cannot change this in place: {reasons}"
    inputs = old_state.get("inputs") or {}
    if pair.old:
        strange = _deployed_otherwise(pair.old, inputs)
        if strange:
            return f"the deployed resource differs from the base, at {', '.join(strange)}"
    if engine is Op.same:
        return "the live object has these values already"
    return "the live object was changed by somebody else since the last run"


def _deployed_otherwise(resource: PlannedResource, inputs: Mapping[str, Any]) -> list[str]:
    """Where the engine's inputs of the last run differ from the base."""
    document = object_at(resource.document, "properties") if is_native(resource.document) else resource.document
    found = [d for d in differences(dict(document), dict(inputs)) if _tells(d)]
    paths = [fieldpath.to_text(d.path) for d in found]
    return [*paths[:_SHOWN], *([f"{len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else [])]


def _tells(difference: Differing) -> bool:
    """Whether two values really differ: values of deploy time, hidden values and engine annotations do not."""
    values = (difference.old, difference.new)
    if any(isinstance(v, Ref | Mix) or v == _UNKNOWN or v in _HIDDEN for v in values if not isinstance(v, dict | list)):
        resolved = [v.known for v in values if isinstance(v, Ref | Mix)]
        return bool(resolved and resolved[0] is not None and difference.new not in (resolved[0], _UNKNOWN, *_HIDDEN))
    if difference.path[:2] == ("metadata", "annotations"):
        names = {*difference.path[2:], *(k for v in values if isinstance(v, dict) for k in v)}
        return bool(names - {_OURS, OWNER})
    return difference.path[0] not in ("data", "stringData", "type", "status")


def is_object(urn: str) -> bool:
    """Whether it is a resource of a provider: neither a component nor the engine's own."""
    return not _type_of(urn).startswith(("claimsmith:", "pulumi:"))


def _is_record(urn: str) -> bool:
    """Whether files have no resource of its own: a record of a claim, or a sink of its connection details."""
    if f"claimsmith:claimsmith.io:{_SINK}$" in urn:
        return True
    words = urn.rpartition("::")[2].split("/")
    return words[-1] in ("claim", "composite", "instance", "requirement", "record") or "record" in words[-2:-1]


def _type_of(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]


def _why_beside(urn: str) -> str:
    named = urn.rpartition("::")[2]
    return f"neither the base nor the working tree has {named}: it is left from another state of the files"


def _counted(steps: Iterable[tuple[str, Step]]) -> list[str]:
    words = Counter((_word(urn), op_of(step).value) for urn, step in steps)
    return [f"{n} {word}{'s' if n > 1 else ''} {op}" for (word, op), n in sorted(words.items())]


def _word(urn: str) -> str:
    kind = _type_of(urn)
    if kind.startswith("pulumi:providers:"):
        return "provider"
    return "component" if kind.startswith("claimsmith:") else "record" if is_object(urn) else "stack"


def preview(project: Project, comparison: Comparison) -> Previewed:
    """The engine's preview of a stack, held against the comparison of its files."""
    stack = comparison.new.plan.stack
    # Without the flag, the engine leaves out what it would not change, which then looks as if the program lacked it.
    done = workspace.pulumi(project, "preview", "--stack", stack, "--json", "--show-sames")
    report = _parsed(done.stdout)
    if done.returncode or report is None:
        return Previewed({}, 0, problems=tuple(_problems(stack, report or {}, done.stderr)))
    return compare_preview(comparison, report.get("steps") or ())


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _problems(stack: str, report: Mapping[str, Any], stderr: str) -> list[Problem]:
    """The errors that the engine reports."""
    messages = [str(d["message"]).strip() for d in report.get("diagnostics") or () if d.get("severity") == "error"]
    lines = [line for text in messages or [stderr] for line in [_cleaned(text)] if line]
    fix = f"run it alone: pulumi preview --stack {stack}"
    return [
        Problem(f"the engine's preview of {stack!r} failed: {line}", fix=fix)
        for line in lines or ["it names no reason"]
    ]


def _cleaned(text: str) -> str:
    kept = [line.strip().removeprefix("error: ") for line in text.splitlines()]
    return one_line("\n".join(kept))
