"""Reviews of changes to native children: properties, options, names, and what is taken over."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.absent import ABSENT
from claimsmith.project.project import Project
from claimsmith.tools.review.changes import Review, StackReview
from claimsmith.tools.review.stack import review_stack
from claimsmith.tools.review.text import lines
from tests.support import no_cluster_files
from tests.support.native_plans import DATABASE, PASSWORD, POSTGRESQL, ROLE, native, native_project
from tests.support.samples import claim_data, class_ref, write_files


def claim(connections: int = 5, **annotations: str) -> dict[str, Any]:
    data = claim_data("orders", classRef=class_ref("native"), connections=connections)
    return data | {"metadata": {**data["metadata"], "annotations": annotations}} if annotations else data


def reviewed(
    root: Path,
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
) -> StackReview:
    one = native_project(root / "before", *before, claims=[old or claim()])
    other = native_project(root / "after", *after, claims=[new or claim()])
    return review_stack(one, other, "dev")


def changes(stack: StackReview) -> dict[str, Any]:
    return {r.part: (r.op.value, {f.path: (f.old, f.new) for f in r.fields}) for c in stack.claims for r in c.resources}


def with_base(resource: dict[str, Any], **base: Any) -> dict[str, Any]:
    changed = copy.deepcopy(resource)
    changed["base"] |= base
    return changed


def test_a_claims_field_changes_exactly_the_patched_property(tmp_path: Path) -> None:
    stack = reviewed(tmp_path, POSTGRESQL, POSTGRESQL, new=claim(10))
    assert changes(stack) == {"database": ("updated", {"properties.connectionLimit": (5, 10)})}
    [field] = stack.claims[0].resources[0].fields
    assert field.cause is not None
    assert field.cause.claim == "spec.connections: 5 → 10"


@pytest.mark.parametrize(
    ("after", "want"),
    [
        pytest.param(POSTGRESQL, {}, id="nothing"),
        pytest.param(
            [with_base(PASSWORD, properties={"length": 32}), ROLE, DATABASE],
            {"password": ("updated", {"properties.length": (24, 32)})},
            id="a-literal",
        ),
        pytest.param(
            [with_base(PASSWORD, options={"protect": True}), ROLE, DATABASE],
            {"password": ("settings", {"options": (ABSENT, {"protect": True})})},
            id="an-option-touches-no-property",
        ),
        pytest.param(
            [PASSWORD, ROLE, {**DATABASE, "name": "store", "previousName": "database"}],
            {"store": ("settings", {"options.aliases": (ABSENT, ["default-orders-database"])})},
            id="a-renamed-template-keeps-its-resource",
        ),
        pytest.param([PASSWORD, ROLE], {"database": ("deleted", {})}, id="a-template-is-gone"),
        pytest.param([*POSTGRESQL, native("pet")], {"pet": ("created", {})}, id="a-new-template"),
        pytest.param(
            [with_base(PASSWORD, metadata={"labels": {"use": "app"}}), ROLE, DATABASE], {}, id="a-label-of-a-template"
        ),
    ],
)
def test_a_changed_class(after: list[dict[str, Any]], want: dict[str, Any], tmp_path: Path) -> None:
    assert changes(reviewed(tmp_path, POSTGRESQL, after)) == want


def test_a_renamed_claim_is_another_resource(tmp_path: Path) -> None:
    renamed = claim()
    renamed["metadata"] = {**renamed["metadata"], "name": "sales"}
    stack = reviewed(tmp_path, [PASSWORD], [PASSWORD], new=renamed)
    assert sorted(r.op.value for c in stack.claims for r in c.resources) == ["created", "deleted"]


def test_a_retained_resource_stays(tmp_path: Path) -> None:
    kept = with_base(PASSWORD, options={"retainOnDelete": True})
    assert changes(reviewed(tmp_path, [kept, native("pet")], [native("pet")])) == {"password": ("retained", {})}


def test_what_a_claim_takes_over_is_a_warning(tmp_path: Path) -> None:
    taking = claim(**{"claimsmith.io/import": "database=orders"})
    stack = reviewed(tmp_path, POSTGRESQL, POSTGRESQL, new=taking)
    assert changes(stack) == {"database": ("settings", {"options.import": (ABSENT, "orders")})}
    [warning] = [w for w in stack.warnings if w.rule == "adopts"]
    assert "Database orders is adopted" in warning.what
    assert warning.where is not None
    assert warning.where.file == "stacks/dev/claims/claims.yaml"


def test_secrets_are_hidden_by_their_names(tmp_path: Path) -> None:
    one, other = (with_base(ROLE, properties={"password": text}) for text in ("hidden-1", "hidden-2"))
    stack = reviewed(tmp_path, [one], [other])
    assert "hidden" not in str(changes(stack))
    assert list(changes(stack)) == ["role"]


def test_an_output_of_another_sibling_is_shown_by_its_origin(tmp_path: Path) -> None:
    one, other = (native("pet", properties={"prefix": text}) for text in ("${a.id}", "${b.id}"))
    both = [native("a"), native("b")]
    [(_, fields)] = changes(reviewed(tmp_path, [*both, one], [*both, other])).values()
    [(old, new)] = fields.values()
    assert (old.endswith("/a:outputs.id>"), new.endswith("/b:outputs.id>")) == (True, True)


def test_ignored_changes_are_no_changes(tmp_path: Path) -> None:
    one, other = (
        native("pet", properties={"prefix": text, "length": 2}, options={"ignoreChanges": ["prefix"]})
        for text in ("a", "b")
    )
    assert changes(reviewed(tmp_path, [one], [other])) == {}


# Existing resources


def reading(id_: str = "old") -> dict[str, Any]:
    return claim_data("orders", classRef=class_ref("native"), resourceRef={"type": "postgresql:Database", "id": id_})


OTHER = claim_data("billing", classRef=class_ref("native"))
ONE = [{**DATABASE, "base": {"type": "postgresql:Database"}, "connectionDetails": []}]
"""A class with one resource only."""


@pytest.mark.parametrize(
    ("old", "new", "op", "why"),
    [
        pytest.param([OTHER], [OTHER, reading()], "read", "reads the existing", id="added"),
        pytest.param([OTHER, reading()], [OTHER], "retained", "is no longer read, and stays as it is", id="removed"),
        pytest.param([reading()], [reading("other")], "read", "reads the existing", id="another-id"),
        pytest.param([claim()], [reading()], "replaced", "deleted unless it has that id", id="read-after-created"),
        pytest.param([reading()], [claim()], "created", "which was read so far, stays", id="created-after-read"),
    ],
)
def test_an_existing_resource(old: Any, new: Any, op: str, why: str, tmp_path: Path) -> None:
    before = native_project(tmp_path / "before", *ONE, claims=old)
    after = native_project(tmp_path / "after", *ONE, claims=new)
    stack = review_stack(before, after, "dev")
    [resource] = [r for c in stack.claims for r in c.resources]
    assert (resource.op.value, resource.part) == (op, "database")
    assert why in resource.why
    texts = "".join(part for line in lines(Review("shop", "HEAD", "0", (stack,))) for _, part in line)
    assert why in texts


def test_an_unchanged_claim_for_an_existing_resource_is_not_listed(tmp_path: Path) -> None:
    assert changes(reviewed(tmp_path, POSTGRESQL, POSTGRESQL, reading(), reading())) == {}


# Sinks of connection details


def test_a_changed_sink_is_a_change_of_each_claim_with_details(tmp_path: Path) -> None:
    setting = f"{no_cluster_files.CONFIG}  claimsmith:connections: {{sink: true}}\n"
    sink = {"stacks/Pulumi.dev.yaml": setting, "components/connection-sink/class.yaml": no_cluster_files.SINK}
    longer = {"components/connection-sink/class.yaml": no_cluster_files.SINK.replace("byteLength: 4", "byteLength: 8")}
    before, after = (
        Project(write_files(tmp_path / name, {**no_cluster_files.FILES, **files}))
        for name, files in (("before", sink), ("after", {**sink, **longer}))
    )
    stack = review_stack(before, after, "dev")
    assert changes(stack) == {"connection-details/content": ("updated", {"properties.byteLength": (4, 8)})}
    [resource] = stack.claims[0].resources
    parents = "claimsmith:database.example.org:PostgreSQLDatabase$claimsmith:claimsmith.io:ConnectionDetails"
    assert resource.urn.endswith(f"::{parents}$random:index/randomId:RandomId::default-orders-content")


def test_a_sink_is_created_for_a_stack_that_asks_for_it(tmp_path: Path) -> None:
    setting = f"{no_cluster_files.CONFIG}  claimsmith:connections: {{sink: true}}\n"
    klass = {"components/connection-sink/class.yaml": no_cluster_files.SINK}
    before = Project(write_files(tmp_path / "before", {**no_cluster_files.FILES, **klass}))
    after = Project(
        write_files(tmp_path / "after", {**no_cluster_files.FILES, **klass, "stacks/Pulumi.dev.yaml": setting})
    )
    found = changes(review_stack(before, after, "dev"))
    assert found == {"connection-details/place": ("created", {}), "connection-details/content": ("created", {})}
