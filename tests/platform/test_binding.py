from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claimsmith.base.errors import BindingError, EngineError, Problem
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.platform import binding, bindings_file, selection
from claimsmith.platform.binding import Record
from tests.support.samples import (
    BUCKET,
    DEFAULT_CLASS,
    catalog_of,
    claim_data,
    class_data,
    class_ref,
    expanded,
    weighted_class,
)

KEY = ClaimKey.parse("Database.database.example.org/default/sql")


def bound(
    classes: list[dict[str, Any]], records: list[Record] | None = None, rebind: set[ClaimKey] | None = None, **spec
):
    catalog = catalog_of(classes, [claim_data("sql", **spec)])
    found = expanded(catalog, records or [], rebind=rebind or ())
    return found.bindings(), list(found.unbound)


GOLD = {"matchLabels": {"tier": "gold"}}


def test_a_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(BindingError) as caught:
        bound([weighted_class("a", "heavy"), weighted_class("b", "1")])
    assert selection.WEIGHT in caught.value.problems[0].path
    assert caught.value.problems[0].fix


# Records


def recorded(classes: list[dict[str, Any]], **spec: Any) -> list[Record]:
    return binding.to_records(bound(classes, **spec)[0], [])


def test_a_class_added_later_does_not_move_a_bound_claim() -> None:
    before = recorded([weighted_class("a", "1")])
    [again], _ = bound([weighted_class("a", "1"), weighted_class("b", "99")], before)
    assert (again.klass.name, again.uid, again.recorded) == ("a", before[0].uid, True)


def test_a_claim_that_no_longer_matches_keeps_its_class() -> None:
    before = recorded([class_data("a", labels={"tier": "gold"})], classSelector=GOLD)
    [again], _ = bound([class_data("a", labels={"tier": "tin"})], before, classSelector=GOLD)
    assert again.klass.name == "a"


def test_rebinding_keeps_the_uid_and_notes_what_was_before() -> None:
    before = recorded([weighted_class("a", "1")])
    [moved], _ = bound([weighted_class("a", "1"), weighted_class("b", "99")], before, {KEY})
    [after] = binding.to_records([moved], before)
    assert (after.klass.name, after.uid, after.previous) == ("b", before[0].uid, before[0].klass)
    assert not moved.recorded


def test_what_was_before_is_kept_by_a_later_binding() -> None:
    before = recorded([weighted_class("a", "1")])
    moved = binding.to_records(bound([weighted_class("a", "1"), weighted_class("b", "99")], before, {KEY})[0], before)
    later = binding.to_records(bound([weighted_class("a", "1"), weighted_class("b", "99")], moved)[0], moved)
    assert later[0].previous == before[0].klass


def test_rebinding_takes_a_changed_class() -> None:
    before = recorded([weighted_class("a", "1")])
    other = class_data("a", {"base": {**BUCKET, "spec": {}}}, annotations=DEFAULT_CLASS)
    [after] = binding.to_records(bound([other], before, {KEY})[0], before)
    assert (after.previous, after.uid) == (None, before[0].uid)
    assert after.digest != before[0].digest


CHANGED = class_data("a", {"base": {**BUCKET, "spec": {}}}, annotations=DEFAULT_CLASS)


@pytest.mark.parametrize(
    ("classes", "spec", "rebind", "file", "word"),
    [
        pytest.param([], {}, set(), "bindings.yaml", "gone", id="gone"),
        pytest.param([CHANGED], {}, set(), "platform.yaml", "changed", id="changed"),
        pytest.param(
            [weighted_class("a", "1"), class_data("b")],
            {"classRef": class_ref("b")},
            set(),
            "claims.yaml",
            "b",
            id="renamed",
        ),
        pytest.param([class_data("a")], {}, {KEY}, "claims.yaml", "no default", id="nothing-to-rebind-to"),
        pytest.param([], {}, {KEY}, "claims.yaml", "no default", id="gone-and-nothing-to-rebind-to"),
    ],
)
def test_records_that_do_not_hold(classes: list, spec: dict[str, Any], rebind: set, file: str, word: str) -> None:
    text = bindings_file.write(recorded([weighted_class("a", "1")]), stack="dev")
    before = bindings_file.read(text, file="bindings.yaml")
    with pytest.raises(BindingError) as caught:
        bound(classes, before, rebind, **spec)
    [problem] = caught.value.problems
    assert problem.where.file == file
    assert word in problem.what
    assert str(KEY) in f"{problem.what} {problem.fix}"


@pytest.mark.parametrize(
    ("make", "several"),
    [
        pytest.param(binding.class_changed, "class changed: Class.x.y/small", id="changed"),
        pytest.param(binding.class_gone, "class gone: Class.x.y/small", id="gone"),
    ],
)
def test_one_problem_of_a_class_for_all_its_claims(make: Any, several: str) -> None:
    klass = ClassKey.parse("Class.x.y/small")
    claims = [(stack, ClaimKey.parse(f"Database.x.y/default/{name}")) for stack in ("dev", "prod") for name in "abc"]
    other = Problem("another")
    alone = [replace(make(klass, None, [claim]), rule="broken") for claim in claims]
    [one, same] = binding.folded([*alone[:3], other, *alone[3:]])
    assert (one.what, one.rule, same) == (f"{several}: 3 claims in dev, 3 in prod", "broken", other)
    assert binding.folded(alone[:1]) == alone[:1]


def test_a_record_without_its_claim_is_dropped() -> None:
    before = recorded([weighted_class("a", "1")])
    catalog = catalog_of([weighted_class("a", "1")], [])
    assert expanded(catalog, before).bindings() == []


def test_one_claim_that_does_not_hold_hides_no_other() -> None:
    before = recorded([weighted_class("a", "1")])
    other = replace(before[0].klass, name="b")
    both = [before[0], replace(before[0], claim=replace(KEY, name="two"), klass=other)]
    catalog = catalog_of([], [claim_data("sql"), claim_data("two")])
    with pytest.raises(BindingError) as caught:
        expanded(catalog, both)
    assert len(caught.value.problems) == 2


def test_unrecorded_bindings_are_named_with_the_command() -> None:
    bindings, _ = bound([weighted_class("a", "1")])
    [problem] = binding.unrecorded(bindings, "dev")
    assert problem.fix == "run: claimsmith bind dev"
    assert problem.where.file == "claims.yaml"


@pytest.mark.parametrize(
    ("claim", "project", "stack"),
    [
        pytest.param(KEY, "shop", "dev", id="same"),
        pytest.param(replace(KEY, name="other"), "shop", "dev", id="name"),
        pytest.param(replace(KEY, namespace="other"), "shop", "dev", id="namespace"),
        pytest.param(KEY, "other", "dev", id="project"),
        pytest.param(KEY, "shop", "prod", id="stack"),
    ],
)
def test_uid(claim: ClaimKey, project: str, stack: str) -> None:
    same = (claim, project, stack) == (KEY, "shop", "dev")
    derived = binding.derive_uid(claim, project=project, stack=stack)
    assert derived == binding.derive_uid(claim, project=project, stack=stack)
    assert (derived == "34ff9ee9-eab7-5191-9eaa-ca25fd1d1291") is same


# bindings.yaml


def test_records_are_written_in_order_and_read_back() -> None:
    catalog = catalog_of([weighted_class("a", "1"), weighted_class("b", "2")], [claim_data(n) for n in ("z", "a", "m")])
    bindings = expanded(catalog).bindings()
    records = binding.to_records(bindings, [])
    text = bindings_file.write(records, stack="dev")
    read = bindings_file.read(text, file="bindings.yaml")
    assert [r.claim.name for r in read] == ["a", "m", "z"]
    assert [replace(r, where=None) for r in read] == records
    assert bindings_file.write(read, stack="dev") == text


PICKS = {"z spec.networkRef": "Database.database.example.org/default/net/network", "a spec.list[0].xRef": "Kind.g/n"}


def test_picks_are_written_in_order_and_read_back() -> None:
    [without] = recorded([weighted_class("a", "1")])
    [record] = binding.to_records(bound([weighted_class("a", "1")])[0], [], {KEY: PICKS})
    assert "picks" not in bindings_file.write([without], stack="dev")
    text = bindings_file.write([record], stack="dev")
    [again] = bindings_file.read(text, file="bindings.yaml")
    assert replace(again, where=None) == record
    assert list(again.picks) == sorted(PICKS)


def test_a_key_as_long_as_it_likes() -> None:
    record = replace(recorded([weighted_class("a", "1")])[0], picks={f"{'t' * 63} spec.{'deep.' * 40}xRef": "Kind.g/n"})
    [again] = bindings_file.read(bindings_file.write([record], stack="dev"), file="bindings.yaml")
    assert again.picks == record.picks


def test_all_lines_of_picks_dropped() -> None:
    [record] = bindings_file.read(f"{HEAD}{ROW}  picks:\n", file="bindings.yaml")
    assert record.picks == {}


@pytest.mark.parametrize("rebind", [set(), {KEY}], ids=["kept", "rebound"])
def test_a_binding_knows_its_recorded_picks(rebind: set[ClaimKey]) -> None:
    before = [replace(r, picks=PICKS) for r in recorded([weighted_class("a", "1")])]
    [again], _ = bound([weighted_class("a", "1"), weighted_class("b", "99")], before, rebind)
    assert again.picks == PICKS


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        pytest.param({"t r": "x"}, {"t r": "x"}, [], id="as-recorded"),
        pytest.param({}, {"t r": "x"}, ["t r: the pick of x is not recorded yet"], id="not-recorded"),
        pytest.param({"t r": "y"}, {"t r": "x"}, ["t r: y was picked, which no longer fits; now it is x"], id="stale"),
        pytest.param({"t r": "y"}, {}, [], id="no-selector-any-more"),
    ],
)
def test_unrecorded_picks(before: dict[str, str], now: dict[str, str], words: list[str]) -> None:
    [fresh], _ = bound([weighted_class("a", "1")])
    known = replace(fresh, recorded=True, picks=before)
    problems = binding.unrecorded_picks(known, now, "dev")
    assert [p.what for p in problems] == [f"{KEY}, {w}" for w in words]
    assert all(p.fix == "run: claimsmith bind dev" and p.where for p in problems)
    assert binding.unrecorded_picks(fresh, now, "dev") == [], "the claim itself is reported as not bound"


HEAD = "apiVersion: claimsmith.io/v1alpha1\nkind: Bindings\nbindings:\n"
ROW = f"- claim: {KEY}\n  uid: u\n  class: K.g/a\n  reason: r\n  digest: sha256:{'0' * 64}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(HEAD + ROW + ROW, 9, id="bound-twice"),
        pytest.param(HEAD + ROW + "  picks: {t r: 1}\n", 9, id="pick-of-a-number"),
        pytest.param(HEAD + ROW[:-20] + "\n", 8, id="digest-cut-short"),
        pytest.param(HEAD + ROW.replace("sha256", "md5"), 8, id="other-digest"),
        pytest.param(HEAD + ROW.replace("K.g/a", "a"), 6, id="class-without-kind"),
        pytest.param(HEAD + ROW.replace("/default/sql", ""), 4, id="claim-without-name"),
        pytest.param(HEAD + ROW + "  extra: 1\n", 9, id="unknown-field"),
        pytest.param(HEAD + "- claim: 'half", 4, id="half-written"),
        pytest.param(HEAD.replace("v1alpha1", "v9") + ROW, 1, id="other-version"),
        pytest.param(HEAD + ROW + "---\n" + HEAD, 10, id="two-documents"),
        pytest.param("# only a comment\n", 1, id="only-a-comment"),
        pytest.param("", 1, id="empty"),
        pytest.param("  \n", 1, id="blank"),
        pytest.param(HEAD + "<<<<<<< ours\n" + ROW, 5, id="merge-conflict"),
        pytest.param(HEAD + ROW + "- claim: " + f"{KEY}x" + "\n  uid: v\n", 9, id="cut-within-a-row"),
    ],
)
def test_broken_files_are_refused_with_their_line(text: str, line: int) -> None:
    with pytest.raises(EngineError) as caught:
        bindings_file.read(text, file="bindings.yaml")
    problem = caught.value.problems[0]
    assert (problem.where.file, problem.where.line) == ("bindings.yaml", line)
    assert problem.fix


def test_a_claim_removed_together_with_a_change_of_its_class_is_refused() -> None:
    before = recorded([class_data()], classRef=class_ref("plain"))
    changed = class_data("plain", {"base": {**BUCKET, "spec": {"reclaimPolicy": "Retain"}}})
    with pytest.raises(BindingError) as caught:
        expanded(catalog_of([changed]), before)
    [problem] = caught.value.problems
    assert "was removed" in problem.what
    assert problem.fix
