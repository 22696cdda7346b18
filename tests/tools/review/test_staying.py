"""Which live objects a review says stay, and that it says so of none that the plans do not keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claimsmith.tools.review.changes import Review, StackReview
from claimsmith.tools.review.groups import groups
from claimsmith.tools.review.outputs import WRITERS
from tests.support import json_schemas
from tests.support.review_files import AUTO, Files, reviewed
from tests.support.samples import BUCKET, claim_data, class_data, class_ref

OLD = "storage.example.org/v1alpha1"
NEW = "storage.example.org/v1"
OLD_BUCKET = {**BUCKET, "apiVersion": OLD}
KEPT = {**BUCKET, "spec": {"reclaimPolicy": "Retain"}}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
PET = {"type": "random:RandomPet"}
STRING = {"type": "random:RandomString", "properties": {"length": 8}}
LONGER = {"type": "random:RandomString", "properties": {"length": 9}}
PASSWORD = {"type": "random:RandomPassword", "properties": {"length": 8}}
EACH = {"each": "one", "in": "spec.buckets", "key": "name"}
BUCKETS = [{"name": "eu"}, {"name": "us"}]
MOVED = "components/v2/moved.yaml"
ADDRESS = "Database.database.example.org/default/sql"


def klass(name: str, **bases: Any) -> dict[str, Any]:
    """A class with a template for each base: a base, or a whole template."""
    parts = ((n, b) for n, b in bases.items())
    return class_data(name, *({"name": n, **(b if "base" in b else {"base": b})} for n, b in parts))


def moved(*entries: dict[str, Any], before: str | None = "v1") -> dict[str, Any]:
    head = {"apiVersion": "claimsmith.io/v1alpha1", "kind": "Moved", "class": "v2"}
    return {**head, **({"from": before} if before else {}), "moved": list(entries)}


def renamed(before: str, after: str) -> dict[str, Any]:
    return {"renamed": {"from": before, "to": after}}


def files(v1: Any, v2: Any, *entries: dict[str, Any], of: str, count: int = 1, **spec: Any) -> Files:
    """A project with both classes, what moved, and claims of one of the two."""
    found: Files = {"stacks/Pulumi.dev.yaml": AUTO}
    for name, bases in (("v1", v1), ("v2", v2)):
        found[f"components/{name}/class.yaml"] = klass(name, **bases)
    if entries:
        found[MOVED] = moved(*entries)
    for index in range(count):
        name = f"sql{index}" if index else "sql"
        found[f"stacks/dev/claims/{name}.yaml"] = claim_data(name, classRef=class_ref(of), **spec)
    return found


def rolled(root: Path, v1: Any, v2: Any, *entries: dict[str, Any], back: bool = False, **more: Any) -> StackReview:
    """The review of a move from v1 to v2, or back."""
    start, end = ("v2", "v1") if back else ("v1", "v2")
    before, after = (files(v1, v2, *entries, of=name, **more) for name in (start, end))
    return reviewed(root, before, after)


def staying(stack: StackReview) -> dict[str, tuple[str, str]]:
    """By template: what its object was, and what happens to it."""
    return {s.part: (s.was, s.op.value if s.sure else "unsure") for c in stack.claims for s in c.stays}


def gone(stack: StackReview) -> dict[str, str]:
    """What happens to all other resources that change."""
    found = {s.part for c in stack.claims for s in c.stays}
    return {r.part: r.op.value for c in stack.claims for r in c.resources if r.part not in found}


JOINED = {"joined": {"from": ["a", "b"], "to": "c", "keeps": "a", "then": "delete"}}
SPLIT = {"split": {"from": "a", "into": ["b", "c"], "keeps": "c"}}
RETYPED = {"retyped": {"template": "a", "from": OLD}}
NATIVE = {"retyped": {"template": "a", "from": "random:RandomString"}}


@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
@pytest.mark.parametrize(
    ("v1", "v2", "entries", "want", "others"),
    [
        pytest.param({"a": BUCKET}, {"a": BUCKET}, [], {"a": ("a", "same")}, ({}, {}), id="the-same-name"),
        pytest.param({"a": BUCKET}, {"b": BUCKET}, [renamed("a", "b")], {"b": ("a", "same")}, ({}, {}), id="renamed"),
        pytest.param(
            {"a": BUCKET},
            {"b": BUCKET},
            [],
            {},
            ({"a": "deleted", "b": "created"}, {"a": "created", "b": "deleted"}),
            id="renamed-and-not-declared",
        ),
        pytest.param({"a": OLD_BUCKET}, {"a": BUCKET}, [RETYPED], {"a": ("a", "updated")}, ({}, {}), id="retyped"),
        pytest.param(
            {"a": BUCKET},
            {"b": BUCKET, "c": BUCKET},
            [SPLIT],
            {"c": ("a", "same")},
            ({"b": "created"}, {"b": "deleted"}),
            id="split",
        ),
        pytest.param(
            {"a": BUCKET, "b": BUCKET},
            {"c": BUCKET},
            [JOINED],
            {"c": ("a", "same")},
            ({"b": "deleted"}, {"b": "created"}),
            id="joined",
        ),
        pytest.param(
            {"a": BUCKET, "b": KEPT},
            {"c": BUCKET},
            [{"joined": {**JOINED["joined"], "then": "retain"}}],
            {"c": ("a", "same")},
            ({"b": "retained"}, {"b": "created"}),
            id="joined-and-retained",
        ),
        pytest.param({"a": PET}, {"b": PET}, [renamed("a", "b")], {"b": ("a", "settings")}, ({}, {}), id="native"),
        pytest.param(
            {"a": {"base": BUCKET, "forEach": EACH}},
            {"b": {"base": BUCKET, "forEach": EACH}},
            [renamed("a", "b")],
            {"b-eu": ("a-eu", "same"), "b-us": ("a-us", "same")},
            ({}, {}),
            id="each-element-of-a-loop",
        ),
        pytest.param(
            {"a": STRING}, {"a": PASSWORD}, [NATIVE], {"a": ("a", "unsure")}, ({}, {}), id="a-native-type-is-unsure"
        ),
    ],
)
def test_what_stays(
    tmp_path: Path, v1: Any, v2: Any, entries: list[Any], want: dict[str, Any], others: Any, back: bool
) -> None:
    stack = rolled(tmp_path, v1, v2, *entries, back=back, buckets=BUCKETS)
    expected = {was: (now, op) for now, (was, op) in want.items()} if back else want
    assert staying(stack) == expected
    assert gone(stack) == others[back]
    assert [r.what for r in stack.refusals if "declared" in r.what] == []
    destroys = {"deleted", "replaced"} & set(gone(stack).values())
    assert stack.destructive == bool(destroys)


@pytest.mark.parametrize(
    ("v1", "v2", "entries", "word"),
    [
        pytest.param(
            {"a": CONFIG_MAP},
            {"b": {**CONFIG_MAP, "metadata": {"namespace": "other"}}},
            [renamed("a", "b")],
            "is replaced",
            id="another-namespace",
        ),
        pytest.param(
            {"a": {**CONFIG_MAP, "data": {"a": "1"}}},
            {"b": {**CONFIG_MAP, "data": {"a": "2"}}},
            [renamed("a", "b")],
            "is replaced",
            id="a-field-that-replaces",
        ),
        pytest.param(
            {"a": BUCKET},
            {"b": {"base": BUCKET, "when": "spec.size"}},
            [renamed("a", "b")],
            "is deleted",
            id="not-composed",
        ),
        pytest.param(
            {"a": KEPT},
            {"b": {"base": KEPT, "when": "spec.size"}},
            [renamed("a", "b")],
            "is retained",
            id="retained-and-not-composed",
        ),
    ],
)
def test_a_declaration_that_the_plans_do_not_keep_is_an_error(
    tmp_path: Path, v1: Any, v2: Any, entries: list[Any], word: str
) -> None:
    stack = rolled(tmp_path, v1, v2, *entries)
    [problem] = [r for r in stack.refusals if "declared" in r.what]
    assert word in problem.what
    assert problem.what.startswith("'b' of v2 is declared to keep what 'a' was")
    assert problem.where
    assert problem.where.file == "components/v2/class.yaml"
    assert staying(stack) == {}
    assert Review("shop", "main", "0" * 40, (stack,)).failed


def test_the_same_move_of_many_claims_is_one_problem_and_one_group(tmp_path: Path) -> None:
    v1, v2 = {"a": BUCKET, "s": BUCKET}, {"b": BUCKET, "s": BUCKET}
    there = rolled(tmp_path / "good", v1, v2, renamed("a", "b"), count=60)
    [group] = groups(there)
    assert [len(same) for same in group.stays()] == [60]
    assert group.stays_alike() == ("s",)
    broken = rolled(
        tmp_path / "bad",
        {"a": BUCKET},
        {"b": {"base": BUCKET, "when": "spec.size"}},
        renamed("a", "b"),
        count=60,
    )
    found = json.loads(WRITERS["json"](Review("shop", "main", "0" * 40, (broken,))))
    assert [a["count"] for a in found["alerts"] if "declared" in a["what"]] == [60]


def test_a_template_that_is_renamed_in_place_stays(tmp_path: Path) -> None:
    before = files({}, {"a": BUCKET}, of="v2")
    after = files({}, {"b": {**BUCKET, "spec": {"x": 1}}}, of="v2")
    after[MOVED] = moved(renamed("a", "b"), before=None)
    assert staying(reviewed(tmp_path, before, after)) == {"b": ("a", "updated")}


def test_a_type_that_is_not_declared_is_an_error(tmp_path: Path) -> None:
    """The class of before is not there to be compared with: only the plans show that the alias finds nothing."""
    before = files({}, {"a": OLD_BUCKET}, of="v2")
    after = files({}, {"b": BUCKET}, of="v2")
    after[MOVED] = moved(renamed("a", "b"), before=None)
    stack = reviewed(tmp_path, before, after)
    [problem] = [r for r in stack.refusals if "declared" in r.what]
    assert "is deleted" in problem.what
    after[MOVED] = moved(renamed("a", "b"), {"retyped": {"template": "b", "from": OLD}}, before=None)
    assert staying(reviewed(tmp_path, before, after)) == {"b": ("a", "updated")}


def test_a_class_that_nothing_is_declared_of_is_not_judged(tmp_path: Path) -> None:
    """v0 uses a name of v1 for another kind, and nothing declares that its claims move to v2."""
    after = files({"a": BUCKET}, {"b": BUCKET}, renamed("a", "b"), of="v2")
    after["components/v0/class.yaml"] = klass("v0", a=CONFIG_MAP)
    before = {**after, "stacks/dev/claims/sql.yaml": claim_data(classRef=class_ref("v0"))}
    stack = reviewed(tmp_path, before, after)
    assert gone(stack) == {"a": "deleted", "b": "created"}
    assert [r.what for r in stack.refusals if "declared" in r.what] == []
    in_place = files({}, {"a": CONFIG_MAP}, of="v2")
    after = {**files({}, {"b": BUCKET}, of="v2"), MOVED: moved(renamed("a", "b"), before=None)}
    stack = reviewed(tmp_path / "in-place", in_place, after)
    assert ["is deleted" in r.what for r in stack.refusals if "declared" in r.what] == [True]


def test_a_change_within_a_class_lists_nothing(tmp_path: Path) -> None:
    before, after = files({}, {"a": BUCKET}, of="v2"), files({}, {"a": KEPT}, of="v2")
    stack = reviewed(tmp_path, before, after)
    assert [len(c.resources) for c in stack.claims] == [1]
    assert staying(stack) == {}


@pytest.mark.parametrize("output", list(WRITERS))
@pytest.mark.parametrize("count", [1, 60])
def test_each_format_lists_what_stays(tmp_path: Path, output: str, count: int) -> None:
    stack = rolled(
        tmp_path,
        {"a": OLD_BUCKET, "same": BUCKET},
        {"b": BUCKET, "same": BUCKET, "more": PET},
        renamed("a", "b"),
        {"retyped": {"template": "b", "from": OLD}},
        count=count,
    )
    names = [s.name for c in stack.claims for s in c.stays if s.part == "b"]
    assert len(set(names)) == count
    text = WRITERS[output](Review("shop", "main", "0" * 40, (stack,)))
    plain = text.replace("`", "").replace("**", "")
    if output == "json":
        found = json_schemas.answer(["review"], text)
        stay = found["stacks"][0]["claims"][0]["stays"][0]
        address = stay.pop("urn"), stay.pop("urnBefore")
        assert [urn.rpartition("::")[2] for urn in address] == ["default/sql/b", "default/sql/a"]
        types = {"type": NEW, "typeBefore": OLD}
        place = {"namespace": "", "name": names[0]}
        assert stay == {"part": "b", "was": "a", "kind": "Bucket", "op": "updated", "sure": True, **types, **place}
        return
    assert f"{OLD} → {NEW}" in plain
    assert f"{2 * count} objects stay" in plain or output == "html"
    assert "a → b" in plain
    assert "under the same template: same" in plain
    assert names[0] in text
    # A terminal names some of them; what is folded elsewhere has all.
    assert (names[-1] in text) == (output != "terminal" or count == 1)
    assert plain.count("a → b") < 5


def test_unsure_is_reported(tmp_path: Path) -> None:
    stack = rolled(tmp_path, {"a": STRING}, {"a": PASSWORD}, NATIVE)
    text = WRITERS["terminal"](Review("shop", "main", "0" * 40, (stack,)))
    assert "= RandomPassword a stays (default-sql-a): " in text
    assert "unless its provider replaces it: --preview asks" in text
