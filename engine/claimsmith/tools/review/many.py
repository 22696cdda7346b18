"""The reviews of many stacks. A stack is silent if nothing changes, nothing is refused and nothing is warned about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from claimsmith.project.digest_cache import Numbers
from claimsmith.project.git import ignored
from claimsmith.project.project import Project
from claimsmith.project.stack_inputs import Inputs, digest_of
from claimsmith.tools.many import Elsewhere, Silence, Tick, each_of
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.stack import Reviewed, reviewed


def review_stacks(
    before: Project,
    after: Project,
    stacks: Sequence[str],
    *,
    strict: bool = False,
    cache: bool = False,
    processes: int = 1,
    tick: Tick | None = None,
) -> list[StackReview]:
    """The reviews of stacks, in their order; for `cache` and `processes` see `each_of`."""
    keys = partial(_keys, before, after, strict=strict)
    silence = Silence(after.root, "review", keys, _numbers, count=1, result=_silent) if cache else None
    held = before.pending or after.pending
    found = each_of(
        stacks,
        lambda stack: reviewed(before, after, stack, strict=strict),
        silence=silence,
        elsewhere=None if held else Elsewhere(_reviewer, (before.root, after.root, strict)),
        processes=processes,
        tick=tick,
    )
    return [each.review for each in found]


def _reviewer(before: Path, after: Path, strict: bool) -> Callable[[str], Reviewed]:
    return partial(reviewed, Project(before), Project(after), strict=strict)


def _keys(before: Project, after: Project, stacks: Sequence[str], *, strict: bool) -> dict[str, str]:
    """The digest of each stack's review, for those that have one."""
    own = ignored(after.root, ["Pulumi.yaml", *(_config(stack) for stack in stacks)])
    sides = Inputs(before), Inputs(after)
    found = {
        stack: digest_of(
            sides,
            stack,
            strict,
            [side.project.has_stack(stack) for side in sides],
            sorted({"Pulumi.yaml", _config(stack)} & own),
        )
        for stack in stacks
    }
    return {stack: digest for stack, digest in found.items() if digest}


def _config(stack: str) -> str:
    return f"stacks/Pulumi.{stack}.yaml"


def _silent(stack: str, numbers: Numbers) -> Reviewed:
    return Reviewed(StackReview(stack, unchanged=numbers[0]), repeatable=True)


def _numbers(result: Reviewed) -> Numbers | None:
    numbers = (result.review.unchanged,)
    silent = result.repeatable and result.review == _silent(result.review.stack, numbers).review
    return numbers if silent else None
