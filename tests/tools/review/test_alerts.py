"""What must be seen first: errors, refusals and dangers of all environments, before anything else, in every format."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from claimsmith.base.errors import Problem, Source
from claimsmith.tools.review.alerts import alerts, banner
from claimsmith.tools.review.changes import Level, Previewed, Review, ReviewWarning, StackReview
from claimsmith.tools.review.markdown import LIMIT, markdown
from claimsmith.tools.review.outputs import WRITERS, answer
from tests.support.review_scenes import SCENES, scene

DANGER = re.compile(r"🛑 \*\*(\d+ )?[Dd]anger")
UNBOUND = "unrecorded-binding"


def lost(name: str, *, level: Level = Level.danger, rule: str = "data-deleted", part: str = "db") -> ReviewWarning:
    where = Source("components/db/class.yaml", 3, 1)
    what = f"Server {name} holds data and is deleted"
    return ReviewWarning(rule, level, what, f"Db.x/{name}", part, where, "take a backup", f"Server {name}")


def review(*stacks: StackReview, **more: object) -> Review:
    return Review("shop", "main", "0123456789", stacks, **more)  # type: ignore[arg-type]


def unbound(name: str, stack: str = "dev") -> Problem:
    return Problem(
        f"{name} is not bound yet", Source(f"{name}.yaml", 1, 1), "", f"run: claimsmith bind {stack}", UNBOUND
    )


DEV = StackReview("dev", warnings=(lost("a"), lost("b"), lost("c")))
PROD = StackReview("prod", warnings=(lost("a"),))


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param(review(StackReview("dev")), "Nothing changes", id="nothing"),
        pytest.param(review(DEV), "Destructive changes: 3 dangers in dev", id="dangers"),
        pytest.param(review(DEV, PROD), "Destructive changes: 3 dangers in dev, 1 in prod", id="two-environments"),
        pytest.param(
            review(StackReview("dev"), warnings=(lost("a"),)),
            "Destructive changes: 1 danger in the project",
            id="of-the-project",
        ),
        pytest.param(
            review(replace(PROD, refusals=(unbound("a"), unbound("b")))),
            "Blocked: fix 2 problems in prod first. Destructive changes: 1 danger in prod",
            id="blocked-and-dangerous",
        ),
        pytest.param(
            review(StackReview("dev", problems=(Problem("no"),), unread="base"), StackReview("prod")),
            "Not reviewed: the base of dev cannot be read",
            id="not-read",
        ),
        pytest.param(
            review(StackReview("dev", preview=Previewed({"deleted": 2}, 1))),
            "Destructive changes: 2 deleted in dev",
            id="only-the-engine-deletes",
        ),
        pytest.param(
            review(StackReview("dev", preview=Previewed({}, 0, problems=(Problem("no engine"),)))),
            "Not all of it can be reviewed: a preview failed",
            id="no-preview",
        ),
    ],
)
def test_the_banner(found: Review, want: str) -> None:
    assert banner(found) == want
    for output, write in WRITERS.items():
        assert want in re.sub(r"[`\\]", "", write(found)), output


def test_errors_come_before_what_blocks_and_dangers() -> None:
    blocked = replace(DEV, refusals=(unbound("x"),))
    unread = StackReview("prod", problems=(Problem("broken"),), unread="working tree")
    assert [(a.level, dict(a.stacks)) for a in alerts(review(blocked, unread))] == [
        ("error", {"prod": 1}),
        ("blocked", {"dev": 1}),
        ("danger", {"dev": 3}),
    ]


def test_the_same_danger_in_two_environments_is_one_alert() -> None:
    [alert] = alerts(review(DEV, PROD))
    assert (alert.count, dict(alert.stacks)) == (4, {"dev": 3, "prod": 1})
    assert [s.name for s in alert.subjects] == ["Server a", "Server b", "Server c", "Server a"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lost("b", rule="data-replaced"), id="another-rule"),
        pytest.param(lost("b", part="other"), id="another-part"),
        pytest.param(replace(lost("b"), where=Source("components/other/class.yaml", 3, 1)), id="another-class"),
        pytest.param(replace(lost("b"), what="Server b holds gold and is deleted"), id="another-sentence"),
    ],
)
def test_what_differs_is_not_folded(other: ReviewWarning) -> None:
    assert len(alerts(review(StackReview("dev", warnings=(lost("a"), other))))) == 2


def test_what_one_command_fixes_is_one_alert() -> None:
    [alert] = alerts(review(StackReview("dev", refusals=tuple(unbound(f"c{i}") for i in range(200)))))
    assert (alert.level, alert.count, alert.fix) == ("blocked", 200, "run: claimsmith bind dev")
    assert banner(review(StackReview("dev", refusals=(unbound("a"),)))) == "Blocked: fix 1 problem in dev first"


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Review]:
    return {name: scene(name, tmp_path_factory.mktemp(name)) for name in SCENES}


@pytest.mark.parametrize("limit", [LIMIT, 6_000], ids=["github", "small"])
@pytest.mark.parametrize("name", SCENES)
def test_every_danger_is_in_the_comment(reviews: dict[str, Review], name: str, limit: int) -> None:
    found = reviews[name]
    text = markdown(found, limit=limit)
    dangers = [w for s in found.stacks for w in s.dangers]
    assert len(text) <= limit
    assert sum(int(number or 1) for number in DANGER.findall(text)) == len(dangers)
    if limit == LIMIT:
        assert all(w.subject in text for w in dangers)
    assert {s.stack for s in found.stacks} == {s for s in ("dev", "prod") if f"#### `{s}`" in text}


def test_the_scenes_have_dangers(reviews: dict[str, Review]) -> None:
    assert {name: len([w for s in found.stacks for w in s.dangers]) for name, found in reviews.items()} == {
        "one": 0,
        "thirty": 0,
        "three-hundred": 600,
        "deletions": 60,
        "renamed-class": 60,
    }


@pytest.mark.parametrize("output", WRITERS)
def test_dangers_of_the_last_environment_come_before_the_first_claim(reviews: dict[str, Review], output: str) -> None:
    found = reviews["deletions"]
    dev, prod = found.stacks
    text = WRITERS[output](replace(found, stacks=(replace(dev, warnings=()), prod)))
    claim = {
        "terminal": "claims removed",
        "markdown": "<details><summary><code>25",
        "json": '"claims": [',
        "html": "<article",
    }
    assert 0 < text.index("holds data and is deleted") < text.index(claim[output])


def many_dangers(count: int) -> Review:
    """Dangers that cannot be folded, in two environments."""
    warnings = tuple(replace(lost(f"db{i}"), part=f"part{i}") for i in range(count))
    return review(StackReview("dev", warnings=warnings), StackReview("prod", warnings=warnings[: count // 2]))


@pytest.mark.parametrize("count", [2, 100, 2000])
def test_dangers_that_do_not_fit_are_counted(count: int) -> None:
    text = markdown(many_dangers(count))
    assert len(text) <= LIMIT
    assert sum(int(number or 1) for number in DANGER.findall(text)) == count + count // 2


def test_environments_share_the_room_and_dangerous_claims_come_first(
    reviews: dict[str, Review], tmp_path: Path
) -> None:
    found = reviews["deletions"]
    dev, prod = found.stacks
    # Each claim apart, so that there is more than fits.
    claims = tuple(replace(c, resources=(*c.resources, *c.resources[: i % 3])) for i, c in enumerate(dev.claims))
    apart = tuple(replace(c, class_before=f"class-{i}") for i, c in enumerate(claims))
    first = replace(dev, claims=apart, warnings=tuple(w for w in dev.warnings if w.claim == apart[-1].claim))
    text = markdown(replace(found, stacks=(first, prod)), limit=9_000)
    body = text.partition("#### `dev`")[2].partition("#### `prod`")
    assert "<details>" in body[0]
    assert "<details>" in body[2]
    assert body[0].index("<summary>🛑") < body[0].index("<summary><code>")
    assert "more, which do not fit here" in body[0]


def test_the_json_lists_all_subjects(reviews: dict[str, Review]) -> None:
    [alert] = [a for a in answer(reviews["three-hundred"]).fields["alerts"] if a["level"] == "danger"]
    assert alert["count"] == len(alert["subjects"]) == 600
    assert alert["stacks"] == {"dev": 300, "prod": 300}
