"""A review held against the steps of a preview: where they differ, and why. The steps are of the engine's own form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimsmith.project.project import Project
from claimsmith.tools.review import compare, preview
from claimsmith.tools.review.changes import Op
from claimsmith.tools.review.compare import Comparison
from claimsmith.tools.review.preview import compare_preview, fields_of, op_of
from claimsmith.tools.review.snapshot import read_snapshot
from tests.support.review_files import SQL, base, changed, put, write

STORAGE = "spec.forProvider.storageMB"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    """A claim that wants more storage."""
    old, new = (
        read_snapshot(Project(write(tmp_path / name, files)), "dev")
        for name, files in (("before", base()), ("after", changed(put(SQL, "spec/size", 20))))
    )
    return compare(old, new)


def agreeing(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Steps that say what the files say, by the end of their URNs."""
    steps = {}
    for pair in comparison.all():
        old = pair.old and {"inputs": plain(pair.old.document)}
        op = {"updated": "update", "same": "same"}[pair.op.value]
        diff = {".".join(map(str, d.path)): {"kind": "update"} for d in pair.found}
        step = {"op": op, "urn": pair.resource.urn, "oldState": old, "newState": {}, "detailedDiff": diff}
        steps[pair.resource.part] = step
    return steps


def plain(document: Any) -> Any:
    from claimsmith.base.values import mapped, shown

    return mapped(dict(document), shown)


def test_where_all_is_the_same(comparison: Comparison) -> None:
    found = compare_preview(comparison, list(agreeing(comparison).values()))
    assert found.differences == ()
    assert found.agreeing == 3
    assert found.ops == {"updated": 1}


def deployed(part: str, path: str, value: Any) -> Any:
    def change(steps: dict[str, Any]) -> None:
        here = steps[part]["oldState"]["inputs"]
        *way, last = path.split(".")
        for step in way:
            here = here[step]
        here[last] = value

    return change


def step(part: str, **more: Any) -> Any:
    return lambda steps: steps[part].update(more)


@pytest.mark.parametrize(
    ("change", "ours", "engine", "why"),
    [
        pytest.param(
            [step("my-sql-server", op="create", oldState=None)],
            "updated",
            "created",
            "the base is not deployed in this stack",
            id="the-base-is-not-deployed",
        ),
        pytest.param(
            [step("my-sql-server", op="same", detailedDiff=None), deployed("my-sql-server", STORAGE, 20480)],
            "updated",
            "same",
            f"the deployed resource differs from the base, at {STORAGE}",
            id="it-is-deployed-already",
        ),
        pytest.param(
            [step("my-sql-server", op="same", detailedDiff=None)],
            "updated",
            "same",
            "the live object has these values already",
            id="somebody-was-faster",
        ),
        pytest.param(
            [step("resource-group", op="update", detailedDiff={"spec.location": {}})],
            "same",
            "updated",
            "the live object was changed by somebody else since the last run",
            id="changed-by-hand",
        ),
        pytest.param(
            [
                step("resource-group", op="update", detailedDiff={"spec.location": {}}),
                deployed("resource-group", "spec.location", "x"),
            ],
            "same",
            "updated",
            "the deployed resource differs from the base, at spec.location",
            id="another-state-is-deployed",
        ),
        pytest.param(
            [step("my-sql-server", op="replace", replaceReasons=[STORAGE])],
            "updated",
            "replaced",
            f"the provider cannot change this in place: {STORAGE}",
            id="the-provider-knows-better",
        ),
        pytest.param(
            [step("my-sql-server", detailedDiff={STORAGE: {}, "spec.x": {}}), deployed("my-sql-server", "spec.x", 1)],
            "updated",
            "updated (spec.x)",
            "the deployed resource differs from the base, at spec.x",
            id="a-field-more",
        ),
    ],
)
def test_where_the_engine_says_something_else(
    comparison: Comparison, change: list[Any], ours: str, engine: str, why: str
) -> None:
    steps = agreeing(comparison)
    for one in change:
        one(steps)
    [difference] = compare_preview(comparison, list(steps.values())).differences
    assert (difference.ours, difference.engine, difference.why) == (ours, engine, why)


@pytest.mark.parametrize("value", [UNKNOWN, "[secret]"], ids=["unknown", "hidden"])
def test_a_value_that_is_known_only_later_equals_an_unknown_one(comparison: Comparison, value: str) -> None:
    steps = agreeing(comparison)
    deployed("my-sql-server", "spec.forProvider.resourceGroupNameRef.name", value)(steps)
    step("my-sql-server", op="same", detailedDiff=None)(steps)
    [difference] = compare_preview(comparison, list(steps.values())).differences
    assert difference.why == "the live object has these values already"


def test_a_field_that_the_engine_does_not_know_yet_is_no_difference(comparison: Comparison) -> None:
    steps = agreeing(comparison)
    path = "spec.forProvider.resourceGroupNameRef.name"
    inputs = {"spec": {"forProvider": {"resourceGroupNameRef": {"name": UNKNOWN}}}}
    step("my-sql-server", detailedDiff={STORAGE: {}, path: {}}, newState={"inputs": inputs})(steps)
    assert compare_preview(comparison, list(steps.values())).differences == ()


def urn(kind: str, name: str) -> str:
    return f"urn:pulumi:dev::shop::{kind}::{name}"


def test_what_files_do_not_tell_of_stands_beside(comparison: Comparison) -> None:
    beside = [
        {"op": "update", "urn": urn("pulumi:providers:kubernetes", "cluster")},
        {"op": "create", "urn": urn("claimsmith:a.io:B", "x/y")},
        {"op": "create", "urn": urn("claimsmith:a.io:B$kubernetes:a.io/v1:B", "x/y/claim")},
        {"op": "same", "urn": urn("pulumi:pulumi:Stack", "shop-dev")},
    ]
    found = compare_preview(comparison, [*agreeing(comparison).values(), *beside])
    assert found.differences == ()
    assert found.beside == ("1 component created", "1 provider updated", "1 record created")


def test_what_only_the_engine_knows_is_a_difference(comparison: Comparison) -> None:
    left = {"op": "delete", "urn": urn("claimsmith:a.io:B$kubernetes:a.io/v1:C", "x/y/left"), "oldState": {}}
    [difference] = compare_preview(comparison, [*agreeing(comparison).values(), left]).differences
    assert (difference.ours, difference.engine) == ("nothing", "deleted")
    assert "left from another state" in difference.why


def test_what_the_engine_does_not_report(comparison: Comparison) -> None:
    steps = agreeing(comparison)
    del steps["my-sql-server"]
    [difference] = compare_preview(comparison, list(steps.values())).differences
    assert (difference.ours, difference.engine) == ("updated", "nothing")


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param({"op": "same"}, Op.same, id="same"),
        pytest.param({"op": "read"}, Op.same, id="read"),
        pytest.param({"op": "create"}, Op.created, id="created"),
        pytest.param({"op": "update"}, Op.updated, id="updated"),
        pytest.param({"op": "replace"}, Op.replaced, id="replaced"),
        pytest.param({"op": "create-replacement"}, Op.replaced, id="a-part-of-a-replacement"),
        pytest.param({"op": "delete", "oldState": {}}, Op.deleted, id="deleted"),
        pytest.param({"op": "delete", "oldState": {"retainOnDelete": True}}, Op.retained, id="retained"),
    ],
)
def test_operations(found: dict[str, Any], want: Op) -> None:
    assert op_of(found) is want


def test_fields_with_dots_in_their_names_are_read() -> None:
    diff = {'metadata.annotations["a.io/b"]': {}, "spec.list[0].x": {}}
    assert fields_of({"detailedDiff": diff}) == {("metadata", "annotations", "a.io/b"), ("spec", "list", 0, "x")}


@pytest.mark.parametrize(
    ("result", "stderr", "want"),
    [
        pytest.param(
            {"diagnostics": [{"severity": "error", "message": "error: a\n  b"}]}, "", ["a b"], id="diagnostics"
        ),
        pytest.param(
            {"diagnostics": [{"severity": "info", "message": "x"}]}, "error: no stack", ["no stack"], id="stderr"
        ),
        pytest.param({}, "", ["it names no reason"], id="nothing"),
    ],
)
def test_failed_previews_are_reported(result: Any, stderr: str, want: list[str]) -> None:
    found = preview._problems("dev", result, stderr)
    assert [p.what.partition("failed: ")[2] for p in found] == want
    assert all(p.fix for p in found)
