from __future__ import annotations

from typing import Any

import pytest

from claimsmith.platform import selection
from claimsmith.platform.selection import Choice, Unbound
from tests.support.samples import (
    DEFAULT_CLASS,
    catalog_of,
    claim_data,
    class_data,
    class_ref,
    one_claim,
    weighted_class,
)

GOLD = {"matchLabels": {"tier": "gold"}}


def choose(classes: list[dict[str, Any]], **spec: Any) -> Choice | Unbound:
    return selection.choose(one_claim(claim_data("sql", **spec)), catalog_of(classes))


@pytest.mark.parametrize(
    ("classes", "spec", "want", "reason"),
    [
        pytest.param(
            [class_data("a"), class_data("b", annotations=DEFAULT_CLASS)],
            {"classRef": class_ref("a")},
            "a",
            "classRef",
            id="reference-over-default",
        ),
        pytest.param(
            [class_data("a", labels={"tier": "gold"}), class_data("b")],
            {"classRef": class_ref("b"), "classSelector": GOLD},
            "b",
            "classRef",
            id="reference-over-selector",
        ),
        pytest.param(
            [class_data("a", labels={"tier": "gold"}), class_data("b", annotations=DEFAULT_CLASS)],
            {"classSelector": GOLD},
            "a",
            "classSelector tier=gold",
            id="selector-over-default",
        ),
        pytest.param(
            [class_data("a", labels={"tier": "gold"}), class_data("b", labels={"tier": "tin"})],
            {"classSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]}},
            "b",
            "classSelector tier NotIn gold",
            id="match-expressions",
        ),
        pytest.param(
            [class_data("a"), class_data("b", annotations=DEFAULT_CLASS)], {}, "b", "default class", id="default"
        ),
        pytest.param([class_data("a")], {"classSelector": {}}, "a", "classSelector anything", id="empty-selector"),
        pytest.param(
            [weighted_class("a", "1"), weighted_class("b", "10"), weighted_class("c", "9")],
            {"classSelector": {}},
            "b",
            "classSelector anything; the highest weight of 3",
            id="weight-is-a-number",
        ),
        pytest.param(
            [weighted_class("a", "-1"), class_data("b", annotations=DEFAULT_CLASS)],
            {},
            "b",
            "default class; the highest weight of 2",
            id="no-weight-is-zero",
        ),
        pytest.param(
            [class_data("a", annotations=DEFAULT_CLASS), class_data("c", kind="Cache", annotations=DEFAULT_CLASS)],
            {},
            "a",
            "default class",
            id="other-kinds-do-not-count",
        ),
        pytest.param(
            [class_data("a", annotations={selection.IS_DEFAULT: "false"}), class_data("b", annotations=DEFAULT_CLASS)],
            {},
            "b",
            "default class",
            id="default-must-be-true",
        ),
    ],
)
def test_choose(classes: list[dict[str, Any]], spec: dict[str, Any], want: str, reason: str) -> None:
    choice = choose(classes, **spec)
    assert isinstance(choice, Choice)
    assert (choice.klass.name, choice.reason) == (want, reason)


@pytest.mark.parametrize(
    ("classes", "spec", "path", "mistake", "word"),
    [
        pytest.param(
            [class_data("small")], {"classRef": class_ref("smal")}, "spec.classRef.name", True, "'small'", id="misspelt"
        ),
        pytest.param([class_data("a")], {"classRef": class_ref("zzz")}, "spec.classRef.name", True, "a", id="unknown"),
        pytest.param(
            [class_data("a"), class_data("c", kind="Cache")],
            {"classRef": class_ref("c")},
            "spec.classRef",
            True,
            "a",
            id="serves-another-kind",
        ),
        pytest.param(
            [class_data("a", labels={"tier": "tin"})],
            {"classSelector": GOLD},
            "spec.classSelector",
            False,
            "a (tier=tin)",
            id="selector-matches-nothing",
        ),
        pytest.param([class_data("a")], {}, "spec", False, "a", id="no-default"),
        pytest.param([], {}, "spec", False, "add a class", id="nobody-serves-the-kind"),
        pytest.param([], {"classSelector": {}}, "spec.classSelector", False, "add a class", id="anything-of-nothing"),
    ],
)
def test_unbound(classes: list, spec: dict[str, Any], path: str, mistake: bool, word: str) -> None:
    none = choose(classes, **spec)
    assert isinstance(none, Unbound)
    assert (none.problem.path, none.mistake) == (path, mistake)
    assert word in none.problem.fix
    assert none.problem.where.file == "claims.yaml"


def test_equals_are_chosen_alike_whatever_their_order() -> None:
    classes = [class_data(n, annotations=DEFAULT_CLASS) for n in "abcdefgh"]
    names = {choose(order).klass.name for order in (classes, classes[::-1], classes[3:] + classes[:3])}
    assert len(names) == 1


def test_equals_are_spread_over_claims() -> None:
    catalog = catalog_of([class_data(n, annotations=DEFAULT_CLASS) for n in "ab"])
    chosen = {selection.choose(one_claim(claim_data(f"c{i}")), catalog).klass.name for i in range(20)}
    assert chosen == {"a", "b"}


def test_candidates_are_told() -> None:
    choice = choose([class_data(n, annotations=DEFAULT_CLASS) for n in "ba"])
    assert [k.name for k in choice.candidates] == ["a", "b"]
