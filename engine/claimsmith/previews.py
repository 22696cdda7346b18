"""What the real engine says of a change: its preview, run here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from claimsmith import workspace
from claimsmith.errors import Problem
from claimsmith.printable import one_line
from claimsmith.project import Project
from claimsmith.review.changes import Previewed
from claimsmith.review.compare import Comparison
from claimsmith.review.engine import held_against


def preview(project: Project, comparison: Comparison) -> Previewed:
    """The engine's preview of a stack, held against the comparison of its files."""
    stack = comparison.new.plan.stack
    workspace.require(project)
    command = ["pulumi", "preview", "--stack", stack, "--json", "--non-interactive"]
    done = subprocess.run(command, cwd=project.root, env=workspace.environment(project), capture_output=True, text=True)
    told = _told(done.stdout)
    if done.returncode or told is None:
        return Previewed({}, 0, problems=tuple(_problems(stack, told or {}, done.stderr)))
    return held_against(comparison, told.get("steps") or ())


def _told(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _problems(stack: str, told: Mapping[str, Any], stderr: str) -> list[Problem]:
    """What went wrong, in the engine's words."""
    said = [str(d["message"]).strip() for d in told.get("diagnostics") or () if d.get("severity") == "error"]
    lines = [line for text in said or [stderr] for line in [_cleaned(text)] if line]
    fix = f"run it alone: pulumi preview --stack {stack}"
    return [
        Problem(f"the engine's preview of {stack!r} failed: {line}", fix=fix) for line in lines or ["no word of why"]
    ]


def _cleaned(text: str) -> str:
    kept = [line.strip().removeprefix("error: ") for line in text.splitlines()]
    return one_line("\n".join(kept))
