"""A report for other programs: SARIF 2.1.0, and GitHub's workflow commands.

SARIF is for tools that show findings beside their lines; workflow commands put each finding on its line of a pull
request.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from claimsmith import __version__
from claimsmith.base.errors import Problem
from claimsmith.base.printable import paragraphs, visible
from claimsmith.tools.validate.rules import RULES, Rule
from claimsmith.tools.validate.validation import Report

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {"error": "error", "warning": "warning", "either": "error"}


def sarif(report: Report, *, folder: str = "") -> dict[str, Any]:
    """The report as one run; `folder` is the project's folder in its repository."""
    places = {rule: index for index, rule in enumerate(RULES)}
    rules = [_rule(rule) for rule in RULES.values()]
    driver = {"name": "claimsmith", "semanticVersion": __version__, "rules": rules}
    results = [_result(level, problem, places, folder) for level, problem in _levelled(report)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.what},
        "help": {"text": f"docs/reference/checks.md explains {rule.id}, with an example."},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
    }


def _result(level: str, problem: Problem, places: dict[str, int], folder: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": problem.rule,
        "ruleIndex": places[problem.rule],
        "level": level,
        "message": {"text": message(problem)},
    }
    if problem.where:
        place = {
            "artifactLocation": {"uri": quote(f"{folder}{problem.where.file}")},
            "region": {"startLine": problem.where.line, "startColumn": problem.where.column},
        }
        logical = {"logicalLocations": [{"fullyQualifiedName": problem.path}]} if problem.path else {}
        result["locations"] = [{"physicalLocation": place, **logical}]
    return result


def message(problem: Problem) -> str:
    """What is wrong and the fix, in one text. `[text](target)` would be a link to those who show SARIF."""
    what, fix = (visible(text).replace("](", r"]\x28") for text in (problem.what, problem.fix))
    return f"{what}\nfix: {fix}" if fix else what


def commands(report: Report, *, folder: str = "") -> list[str]:
    """One command for each finding; `folder` is the project's folder in its repository."""
    return [_command(level, problem, folder) for level, problem in _levelled(report)]


def _levelled(report: Report) -> list[tuple[str, Problem]]:
    return [*(("error", p) for p in report.errors), *(("warning", p) for p in report.warnings)]


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
