"""A report as SARIF 2.1.0, for tools that show findings beside the lines they are about."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from claimsmith import __version__
from claimsmith.checks.rules import RULES, Rule
from claimsmith.checks.validation import Report
from claimsmith.errors import Problem
from claimsmith.printable import visible

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {"error": "error", "warning": "warning", "either": "error"}


def sarif(report: Report, *, folder: str = "") -> dict[str, Any]:
    """The report as one run; `folder` is where the project stands in its repository."""
    found = [("error", p) for p in report.errors] + [("warning", p) for p in report.warnings]
    places = {rule: index for index, rule in enumerate(RULES)}
    driver = {
        "name": "claimsmith",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in RULES.values()],
    }
    results = [_result(level, problem, places, folder) for level, problem in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.what},
        "help": {"text": f"docs/checks.md tells of {rule.id}, with an example."},
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
    """What is wrong and the way out, in one text. `[text](target)` would be a link to those who show SARIF."""
    what, fix = (visible(text).replace("](", r"]\x28") for text in (problem.what, problem.fix))
    return f"{what}\nfix: {fix}" if fix else what
