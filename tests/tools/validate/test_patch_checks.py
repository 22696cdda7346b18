"""Patches are checked before any claim exists: twin tables, in the dialect of 2020 and in Crossplane's."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.base.errors import Problem
from claimsmith.project.project import Project
from claimsmith.tools import validate
from claimsmith.tools.validate import Report
from tests.support.check_files import DIALECTS, PATH, line_of, store
from tests.support.patch_mistakes import BAD, FORMAT, JOIN, MAP, convert, match, patch
from tests.support.samples import write_files

GENERATE = "run: claimsmith generate"


def report(root: Path, files: dict[str, str | bytes]) -> Report:
    return validate.validate(Project(write_files(root, files)), ["dev"])


def warnings_of(found: Report) -> list[str]:
    return [p.rule for p in found.warnings]


def findings(found: Report) -> list[tuple[str, Problem]]:
    """Every finding with its loudness, but for components, which nobody generated here."""
    listed = [("error", p) for p in found.errors if p.fix != GENERATE] + [("warning", p) for p in found.warnings]
    return listed


SOUND = [
    ("patch-path-unreadable", patch("spec.note", "metadata.annotations['a.b/c']"), "quoted-key"),
    ("patch-writes-unknown-field", patch("spec.note", "spec.label"), "known"),
    ("patch-writes-unknown-field", patch("spec.note", "metadata.annotations[example.org/x]"), "annotation"),
    ("patch-writes-unknown-field", patch("spec.note", "spec.tags[x]"), "map-key"),
    ("patch-writes-unknown-field", patch("spec.note", "spec.zones[0]"), "index"),
    ("patch-reads-unknown-field", patch("metadata.labels[x]", "spec.label"), "a-label"),
    ("patch-reads-unknown-field", patch("metadata.name", "spec.label", required=True), "metadata"),
    ("patch-type-mismatch", patch("spec.size", "spec.label", convert("string")), "converted"),
    ("patch-type-mismatch", patch("spec.size", "metadata.labels[x]", FORMAT), "formatted"),
    ("patch-type-mismatch", patch("spec.note", "spec.size", convert("int")), "to-a-number"),
    ("patch-type-mismatch", patch("spec.public", "spec.size", convert("int64")), "boolean"),
    ("patch-type-mismatch", patch("spec.zones", "spec.zones"), "lists"),
    ("patch-type-mismatch", patch("spec", "spec"), "whole-objects"),
    ("patch-value-impossible", patch("spec.place", "spec.region", MAP), "mapped"),
    ("patch-value-impossible", patch("spec.note", "spec.region"), "any-text-may-fit"),
    (
        "patch-value-impossible",
        patch("spec.place", "spec.region", match("literal: europe", "eu-1", "fallbackValue: us-1")),
        "matched",
    ),
    (
        "transform-type-mismatch",
        patch("spec.size", "spec.label", convert("string"), '{type: map, map: {"1": b}}'),
        "converted-first",
    ),
    ("transform-type-mismatch", patch("spec.size", "spec.size", "{type: math, math: {clampMax: 7}}"), "on-a-number"),
    (
        "transform-type-mismatch",
        patch("spec.zones", "spec.label", JOIN), "join-a-list",
    ),
    ("map-misses-value", patch("spec.note", "spec.region", "{type: map, map: {europe: eu-1}}"), "any-text"),
    ("match-misses-value", patch("spec.place", "spec.label", match("literal: a", "b", "fallbackTo: Input")), "input"),
    ("transform-refuses-value", patch("spec.sizes", "spec.label", convert("string")), "convertible"),
]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("level", "rule", "patches", "fix"), [pytest.param(*row[:4], id=f"{row[1]}-{row[4]}") for row in BAD]
)
def test_told(tmp_path: Path, dialect: str, level: str, rule: str, patches: str, fix: str) -> None:
    files = store(dialect, patches)
    [(loudness, problem)] = findings(report(tmp_path, files))
    assert (problem.rule, loudness) == (rule, level)
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == (PATH, line_of(str(files[PATH])))
    assert fix in problem.fix


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("patches", [pytest.param(row[1], id=f"{row[0]}-{row[2]}") for row in SOUND])
def test_sound(tmp_path: Path, dialect: str, patches: str) -> None:
    assert findings(report(tmp_path, store(dialect, patches))) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("patches", [pytest.param(row[2], id=f"{row[1]}-{row[4]}") for row in BAD])
def test_what_nothing_is_known_of_is_not_judged(tmp_path: Path, dialect: str, patches: str) -> None:
    files = store(dialect, patches, crd=False)
    files["components/store/definition.yaml"] = ""
    rules = {p.rule for _, p in findings(report(tmp_path, files))}
    by_themselves = {"transform-type-mismatch", "patch-type-mismatch", "patch-path-unreadable"}
    assert rules <= {"undefined-kind", *by_themselves}


def test_each_check_of_patches_has_a_twin() -> None:
    assert {row[1] for row in BAD} == {row[0] for row in SOUND}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_at_once(tmp_path: Path, dialect: str) -> None:
    rows = [patch("spec.note", "spec.lable"), patch("spec.size", "spec.label"), patch("spec.zzz", "spec.label")]
    found = findings(report(tmp_path, store(dialect, "".join(rows))))
    assert [p.rule for _, p in found] == [
        "patch-writes-unknown-field",
        "patch-type-mismatch",
        "patch-reads-unknown-field",
    ]


def test_what_comes_back_from_a_resource(tmp_path: Path) -> None:
    back = "- type: ToCompositeFieldPath\n  fromFieldPath: {}\n  toFieldPath: {}\n"
    rows = [
        ("status.address", "status.address"),
        ("status.addres", "status.address"),
        ("status.count", "status.address"),
        ("status.address", "status.adress"),
    ]
    found = findings(report(tmp_path, store("crossplane", "".join(back.format(*row) for row in rows))))
    assert sorted((level, p.rule) for level, p in found) == [
        ("error", "patch-type-mismatch"),
        ("warning", "patch-reads-unknown-field"),
        ("warning", "patch-writes-unknown-field"),
    ]


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        pytest.param("status.passing", ["patch-writes-unknown-field"], id="what-a-sibling-tells"),
        pytest.param("status.lost", ["patch-reads-unknown-field", "patch-writes-unknown-field"], id="of-nobody"),
    ],
)
def test_a_status_that_is_passed_on(tmp_path: Path, source: str, rules: list[str]) -> None:
    files = store("crossplane", f"- fromFieldPath: {source}\n  toFieldPath: spec.label\n")
    passing = "{type: ToCompositeFieldPath, fromFieldPath: status.address, toFieldPath: status.passing}"
    base = "{apiVersion: storage.example.org/v1, kind: Bucket, spec: {}}"
    files[PATH] = f"{files[PATH]!s}  - {{name: other, base: {base}, patches: [{passing}]}}\n"
    assert warnings_of(report(tmp_path, files)) == rules


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        pytest.param("spec.claimRef.namespace", [], id="claim"),
        pytest.param("spec.writeConnectionSecretToRef.name", [], id="secret"),
        pytest.param("status.conditions[0].reason", [], id="condition"),
        pytest.param("spec.claimref.name", ["patch-reads-unknown-field"], id="slip"),
    ],
)
def test_what_the_core_keeps_in_a_composite(tmp_path: Path, source: str, rules: list[str]) -> None:
    assert [p.rule for _, p in findings(report(tmp_path, store("crossplane", patch(source, "spec.label"))))] == rules


LOGIN = "{login: {group: g}}"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("spec", "patches", "expected"),
    [
        pytest.param(LOGIN, "", ["error"], id="nothing-sets-it"),
        pytest.param(LOGIN, patch("spec.owner", "spec.login.user"), ["warning"], id="an-optional-field"),
        pytest.param("{label: x}", patch("spec.owner", "spec.login.group"), ["warning"], id="a-patch-makes-it"),
        pytest.param(LOGIN, patch("spec.owner", "spec.login.user", required=True), [], id="a-required-patch"),
        pytest.param(LOGIN, patch("spec.named", "spec.login.user"), [], id="a-default"),
        pytest.param(LOGIN, patch("metadata.name", "spec.login.user"), [], id="a-name"),
        pytest.param("{login: {user: u}}", "", [], id="the-base"),
        pytest.param("{label: x}", "", [], id="what-it-is-in-is-not-there"),
    ],
)  # fmt: skip
def test_required_fields(tmp_path: Path, dialect: str, spec: str, patches: str, expected: list[str]) -> None:
    found = findings(report(tmp_path, store(dialect, patches, spec)))
    assert [level for level, _ in found] == expected
    assert {p.rule for _, p in found} <= {"required-field-unset"}
    assert all(p.fix and p.where and p.where.file == PATH for _, p in found)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("spec", "rules", "fix"),
    [
        pytest.param("{version: 1.16}", ["unquoted-text"], 'quote it: "1.16"', id="a-number"),
        pytest.param('{version: "1.16"}', [], "", id="quoted"),
        pytest.param("{version: 1.10}", [], "", id="a-text-already-since-a-zero-would-be-lost"),
        pytest.param("{region: eu}", ["base-invalid"], "use one of: 'eu-1', 'us-1'", id="not-among-the-values"),
        pytest.param("{region: eu-1}", [], "", id="among-the-values"),
        pytest.param("{lable: x}", ["base-invalid"], "did you mean 'label'?", id="unknown-field"),
    ],
)
def test_bases(tmp_path: Path, dialect: str, spec: str, rules: list[str], fix: str) -> None:
    found = [p for _, p in findings(report(tmp_path, store(dialect, "", spec)))]
    assert ([p.rule for p in found], [p.fix for p in found]) == (rules, [fix] * len(rules))


@pytest.mark.parametrize(
    ("patch_text", "rules"),
    [
        pytest.param("{fromFieldPath: spec.note, toFieldPath: a}", [], id="into-the-environment"),
        pytest.param("{fromFieldPath: spec.nope, toFieldPath: a}", ["patch-reads-unknown-field"], id="from-nowhere"),
        pytest.param(
            "{type: ToCompositeFieldPath, fromFieldPath: a, toFieldPath: spec.nope}",
            ["patch-writes-unknown-field", "doubtful-document"],
            id="to-nowhere",
        ),
        pytest.param(
            "{fromFieldPath: spec.size, toFieldPath: a, transforms: [{type: map, map: {a: b}}]}",
            ["transform-type-mismatch"],
            id="a-map-of-numbers",
        ),
    ],
)
def test_patches_of_the_environment(tmp_path: Path, patch_text: str, rules: list[str]) -> None:
    files = store("crossplane")
    files[PATH] = str(files[PATH]).replace(
        "  resources:\n", f"  environment: {{patches: [{patch_text}]}}\n  resources:\n"
    )
    assert [p.rule for _, p in findings(report(tmp_path, files))] == rules
