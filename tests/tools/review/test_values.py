"""Values of a change: cut around the difference, JSON texts key by key, secrets never."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.absent import ABSENT
from claimsmith.tools.review.changes import FieldChange
from claimsmith.tools.review.outputs import WRITERS
from claimsmith.tools.review.values import HIDDEN, PARTS, ROOM, Row, around, rows_of, variants
from tests.support.review_files import CLASS, changed, put, reviewed

LONG = "x" * 300
AT = "spec/resources/1/base/spec/forProvider/policy"


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        pytest.param("10", "20", ("10", "20"), id="short"),
        pytest.param(
            f"{LONG}old{LONG}",
            f"{LONG}new{LONG}",
            (f"…{'x' * 24}old{'x' * 24}…", f"…{'x' * 24}new{'x' * 24}…"),
            id="in-the-middle",
        ),
        pytest.param(f"old{LONG}", f"new{LONG}", (f"old{'x' * 24}…", f"new{'x' * 24}…"), id="at-the-beginning"),
        pytest.param(f"{LONG}old", f"{LONG}new", (f"…{'x' * 24}old", f"…{'x' * 24}new"), id="at-the-end"),
        pytest.param(LONG, f"{LONG}x", (f"…{'x' * 24}", f"…{'x' * 25}"), id="one-longer-than-the-other"),
        pytest.param("nothing", LONG, ("nothing", f"{'x' * ROOM}…"), id="new"),
    ],
)
def test_a_long_value_is_cut_around_the_difference(old: str, new: str, want: tuple[str, str]) -> None:
    assert around(old, new) == want


def test_a_field_shows_its_values() -> None:
    assert rows_of(FieldChange("a", 1, ABSENT)) == (Row("1", "nothing"),)
    assert rows_of(FieldChange("a", "x", "y", secret=True)) == (Row(HIDDEN, ""),)


def test_the_values_of_many_claims_are_counted() -> None:
    fields = [FieldChange("a", 1, new) for new in (2, 3, 2)]
    assert [(v.rows[0].text, v.claims) for v in variants(fields)] == [("1 → 2", (0, 2)), ("1 → 3", (1,))]


def policies(tmp_path: Path, old: Any, new: Any) -> tuple[FieldChange, str]:
    """The change of a JSON text in a class, and all formats of its review."""
    from claimsmith.tools.review.changes import Review

    before = changed(put(CLASS, AT, json.dumps(old)))
    found = reviewed(tmp_path, before, changed(put(CLASS, AT, json.dumps(new)), start=before))
    [field] = [f for r in found.resources() for f in r.fields]
    whole = Review("shop", "main", "0123456789", (found,))
    return field, "".join(write(whole) for write in WRITERS.values())


def test_json_texts_are_compared_key_by_key(tmp_path: Path) -> None:
    old = {"Statement": [{"Effect": "Allow", "Action": f"s3:{i}"} for i in range(20)]}
    new = {"Statement": [{**s, "Effect": "Deny"} if i == 7 else s for i, s in enumerate(old["Statement"])]}
    field, _ = policies(tmp_path, old, new)
    assert [(p.path, p.old, p.new) for p in field.parts] == [("Statement[7].Effect", "Allow", "Deny")]
    assert rows_of(field) == (Row('"Allow"', '"Deny"', "Statement[7].Effect"),)


def test_many_parts_of_a_json_text_are_counted(tmp_path: Path) -> None:
    field, _ = policies(tmp_path, {f"k{i}": 1 for i in range(PARTS + 3)}, {f"k{i}": 2 for i in range(PARTS + 3)})
    assert rows_of(field)[-1].text == "and 3 more in this text"


def test_secrets_in_json_texts_are_hidden_in_every_format(tmp_path: Path) -> None:
    field, text = policies(tmp_path, {"user": "a", "password": "hunter-one"}, {"user": "b", "password": "hunter-two"})
    assert "hunter" not in text
    assert [p.path for p in field.parts] == ["user", "password"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("{not json", '{"a": 1}', id="no-json"),
        pytest.param("[" * 100_000, "[1]", id="too-deep"),
        pytest.param('{"a": 1}', '{"a":  1}', id="the-same-with-another-layout"),
    ],
)
def test_other_texts_are_compared_as_texts(tmp_path: Path, old: str, new: str) -> None:
    before = changed(put(CLASS, AT, old))
    found = reviewed(tmp_path, before, changed(put(CLASS, AT, new), start=before))
    [field] = [f for r in found.resources() for f in r.fields]
    assert field.parts == ()
    assert len(rows_of(field)) == 1
