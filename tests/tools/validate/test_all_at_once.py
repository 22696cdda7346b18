"""One mistake does not hide another: whatever is wrong with one document, all others are checked."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from claimsmith.project.project import Project
from claimsmith.tools.validate import Report, validate
from tests.support.refusal_files import CLAIM, CLASS, FILES, PATH_BINDINGS, spoilt
from tests.support.samples import write_files


def claim(name: str, old: str, new: str) -> str:
    """A claim beside that of the project, with one mistake."""
    return spoilt(spoilt(CLAIM, "name: sql\nspec", f"name: {name}\nspec"), old, new)


SECOND = spoilt(CLASS, "name: small", "name: second").replace("kind: Database", "kind: Cache")
THIRD = spoilt(SECOND, "name: second", "name: third")
MISTAKES: dict[str, tuple[str, str, str]] = {
    "bad-name": ("stacks/dev/claims/1.yaml", claim("other", "name: other", "name: Other_One"), "Other_One"),
    "bad-map-key": ("stacks/dev/claims/2.yaml", claim("b", "us-west", "us-wst"), "us-wst"),
    "unknown-selector": (
        "components/y/class.yaml",
        spoilt(SECOND, "resourceGroupNameSelector", "resourceGroupNmeSelector"),
        "resourceGroupNme",
    ),
    "misspelt-kind": (
        "stacks/dev/claims/3.yaml",
        claim("c", "kind: Database", "kind: Databse").partition("  classRef")[0],
        "did you mean 'Database.database.example.org'?",
    ),
    "class-nowhere": ("stacks/dev/claims/4.yaml", claim("d", "name: small", "name: smal"), "did you mean 'small'?"),
    "broken-yaml": ("stacks/dev/claims/5.yaml", "a: [1, 2\n", "5.yaml"),
    "unreadable-class": ("components/z/class.yaml", spoilt(THIRD, "  claim:", "  clam:"), "clam"),
    "broken-record": (PATH_BINDINGS, "apiVersion: claimsmith.io/v1alpha1\nkind: Bindngs\n", "bindings.yaml"),
    "misspelt-kind-of-a-class": (
        "components/v/class.yaml",
        spoilt(THIRD, "CompositeResourceClass", "CompositeResourceClas"),
        "did you mean CompositeResourceClass",
    ),
    "unknown-section-of-a-table": ("components/review.yaml", "immutible: {}\n", "did you mean 'immutable'?"),
    "unknown-section-of-references": ("components/references.yaml", "refernces: {}\n", "refernces"),
}
"""Where each mistake is, the file, and what its finding quotes."""


def report(folder: Path, *names: str, strict: bool = False) -> Report:
    files = {MISTAKES[name][0]: MISTAKES[name][1] for name in names}
    return validate(Project(write_files(folder, {**FILES, **files})), ["dev"], strict=strict)


def texts(found: Report) -> str:
    return "\n".join(map(str, [*found.errors, *found.warnings]))


@pytest.mark.parametrize("names", [pytest.param(p, id="+".join(p)) for p in itertools.combinations(MISTAKES, 2)])
def test_two_mistakes(tmp_path: Path, names: tuple[str, str]) -> None:
    found = texts(report(tmp_path, *names))
    assert [name for name in names if MISTAKES[name][2] not in found] == []


def test_all_mistakes(tmp_path: Path) -> None:
    found = texts(report(tmp_path, *MISTAKES))
    assert [name for name, (_, _, quoted) in MISTAKES.items() if quoted not in found] == []


def test_what_a_mistake_causes_elsewhere_is_not_reported(tmp_path: Path) -> None:
    """The claim of a class that cannot be read is not blamed for it."""
    files = {**FILES, "components/x/class.yaml": spoilt(CLASS, "  claim:", "  clam:")}
    found = validate(Project(write_files(tmp_path, files)), ["dev"])
    assert {p.where.file for p in (*found.errors, *found.warnings) if p.where} == {"components/x/class.yaml"}


@pytest.mark.parametrize("name", ["misspelt-kind"])
def test_strict_fails_on_warnings(tmp_path: Path, name: str) -> None:
    lenient = [p.rule for p in report(tmp_path, name).warnings]
    found = report(tmp_path, name, strict=True)
    assert "unbound-claim" in lenient
    assert {p.rule for p in found.errors} >= {*lenient}
    assert not found.warnings
