"""A report as GitHub's workflow commands, which put each finding on its line of a pull request."""

from __future__ import annotations

from claimsmith.checks.sarif import message
from claimsmith.checks.validation import Report
from claimsmith.errors import Problem
from claimsmith.printable import paragraphs


def commands(report: Report, *, folder: str = "") -> list[str]:
    """One command for each finding; `folder` is where the project stands in its repository."""
    return [
        *(_command("error", p, folder) for p in report.errors),
        *(_command("warning", p, folder) for p in report.warnings),
    ]


def _command(level: str, problem: Problem, folder: str) -> str:
    where = problem.where
    place = {"file": f"{folder}{where.file}", "line": str(where.line), "col": str(where.column)} if where else {}
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**place, "title": problem.rule}.items())
    return f"::{level} {properties}::{_data(message(problem))}"


def _data(text: str) -> str:
    """The text on one line, as the runner reads it back; it prints it then, so that it has to be visible."""
    return paragraphs(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The same within a property, where colons and commas mean something."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
