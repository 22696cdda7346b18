"""Claims that name an existing native resource: what of their class counts, what is recorded, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.base.errors import BindingError, CatalogError, ComposeError, EngineError
from claimsmith.compose.plan import PlannedClaim
from claimsmith.platform import binding, bindings_file
from claimsmith.platform.binding import Binding, Record
from claimsmith.platform.selection import Unbound
from claimsmith.project.project import Project
from tests.support.native_plans import DATABASE, PASSWORD, POSTGRESQL, ROLE, native, native_class
from tests.support.samples import (
    catalog_of,
    claim_data,
    class_ref,
    expanded,
    one_claim,
    patch,
    planned,
    write_files,
)

TOKEN = "postgresql:index/database:Database"
REF = {"type": "postgresql:Database", "id": "legacy"}
SETTINGS = "apiVersion: claimsmith.io/v1alpha1\nkind: Settings\nclaims: [{folder: ., namespaces: [default]}]\n"
Data = dict[str, Any]
EACH_DATABASE: Data = {
    "name": "databases",
    "forEach": {"each": "database", "in": "spec.databases", "key": "name"},
    "base": {"type": "postgresql:Database", "properties": {}},
}


def claim(reference: Data | None = None, name: str = "orders", **spec: Any) -> Data:
    return claim_data(name, classRef=class_ref("native"), resourceRef=reference or REF, **spec)


def read(*resources: Data, reference: Data | None = None, **spec: Any) -> PlannedClaim:
    [found] = planned([native_class(*resources)], [claim(reference, **spec)]).claims
    return found


def bound(data: Data, *resources: Data, record: Record | None = None) -> Binding | Unbound:
    catalog = catalog_of([native_class(*resources)], [data])
    return binding.bind_one(one_claim(data), record, catalog, project="shop", stack="dev")


# What is read


@pytest.mark.parametrize("type_", ["postgresql:Database", TOKEN, "postgresql:index:Database"])
def test_the_resource_is_read_and_nothing_is_created(type_: str) -> None:
    [child] = read(reference={**REF, "type": type_}, connections=5).children
    assert child.document == {
        "type": TOKEN,
        "metadata": {"name": "default-orders-database"},
        "get": {"id": "legacy"},
        "properties": {},
        "options": {"provider": "main"},
    }
    assert (child.options.retain, child.options.protect) == (False, False)


def test_its_outputs_feed_the_details_and_others_are_left_out() -> None:
    [source] = read(writeConnectionSecretToRef={"name": "db"}).sources
    assert source.key_names == ["database", "host"]


def test_details_that_stand_under_a_sibling_are_found() -> None:
    listed = {
        **PASSWORD,
        "connectionDetails": [{"name": "db", "fromResource": "database", "fromFieldPath": "outputs.name"}],
    }
    database = {**DATABASE, "connectionDetails": [{"name": "scheme", "value": "postgresql"}]}
    assert read(listed, ROLE, database).sources[0].key_names == ["db", "scheme"]


def test_a_claim_chooses_the_provider_where_the_class_lets_it() -> None:
    database = {**DATABASE, "patches": [*DATABASE["patches"], patch("spec.server", "options.provider")]}  # type: ignore[misc]
    [child] = read(PASSWORD, ROLE, database, server="other").children
    assert child.document["options"] == {"provider": "other"}


def test_what_protects_and_keeps_created_resources_means_nothing() -> None:
    options = {"provider": "main", "protect": True, "retainOnDelete": True, "additionalSecretOutputs": ["owner"]}
    database = {**DATABASE, "base": {**DATABASE["base"], "options": options}}  # type: ignore[dict-item]
    [child] = read(PASSWORD, ROLE, database).children
    assert child.document["options"] == {"provider": "main", "additionalSecretOutputs": ["owner"]}


def test_a_condition_of_the_template_does_not_count() -> None:
    database = {**DATABASE, "when": "spec.wanted"}
    assert len(read(PASSWORD, ROLE, database).children) == 1


def test_one_of_several_templates_is_named() -> None:
    second = {**DATABASE, "name": "archive"}
    found = read(PASSWORD, ROLE, DATABASE, second, reference={**REF, "template": "archive"})
    assert [child.template.name for child in found.children] == ["archive"]


# What is refused


@pytest.mark.parametrize(
    ("resources", "reference", "what", "fix", "path"),
    [
        pytest.param(
            POSTGRESQL,
            {"type": "postgresql:Databse", "id": "x"},
            "cannot bind to a postgresql:Databse",
            "'postgresql:Database'",
            "spec.resourceRef.type",
            id="misspelt-type",
        ),
        pytest.param(
            POSTGRESQL, {"type": "aws:s3:Bucket", "id": "x"}, "composes none", "postgresql:Role", "", id="other-type"
        ),
        pytest.param(
            [*POSTGRESQL, {**DATABASE, "name": "archive"}],
            REF,
            "several templates of the type postgresql:Database: database, archive",
            "template: database",
            "spec.resourceRef.template",
            id="several-templates",
        ),
        pytest.param(
            POSTGRESQL,
            {**REF, "template": "databse"},
            "has no template 'databse'",
            "'database'",
            "spec.resourceRef.template",
            id="misspelt-template",
        ),
        pytest.param(
            POSTGRESQL,
            {**REF, "template": "role"},
            "has no template 'role'",
            "database",
            "",
            id="template-of-another-type",
        ),
        pytest.param(
            [{"base": {"apiVersion": "v1", "kind": "ConfigMap"}}],
            REF,
            "composes none",
            "none: it composes no native resources",
            "",
            id="kubernetes-only",
        ),
        pytest.param(
            [PASSWORD, EACH_DATABASE],
            REF,
            "its template 'databases' composes one for each of spec.databases",
            "name a class that composes one postgresql:Database without forEach",
            "spec.resourceRef.type",
            id="only-for-each",
        ),
        pytest.param(
            [PASSWORD, ROLE, DATABASE, EACH_DATABASE],
            {**REF, "template": "databases"},
            "its template 'databases' composes one for each of spec.databases",
            "template: database",
            "spec.resourceRef.template",
            id="the-named-one-is-for-each",
        ),
    ],
)
def test_references_that_no_template_fits(
    resources: list[Data], reference: Data, what: str, fix: str, path: str
) -> None:
    found = bound(claim(reference), *resources)
    assert isinstance(found, Unbound)
    assert found.mistake
    assert what in found.problem.what
    assert fix in found.problem.fix
    assert path in ("", found.problem.path)
    assert found.problem.where is not None


@pytest.mark.parametrize(
    ("reference", "what"),
    [
        pytest.param({"type": "postgresql:Database"}, "the field 'id' is missing", id="no-id"),
        pytest.param({**REF, "id": ""}, "at least 1 character", id="empty-id"),
        pytest.param({**REF, "id": 7}, "string", id="id-is-a-number"),
        pytest.param({**REF, "type": "databases"}, "is not the type of a Pulumi resource", id="no-type"),
        pytest.param({**REF, "provider": "other"}, "unknown field 'provider'", id="provider"),
        pytest.param({**REF, "protect": False}, "unknown field 'protect'", id="option"),
        pytest.param({**REF, "kind": "Database"}, "the field 'apiVersion' is missing", id="both-forms"),
    ],
)
def test_references_that_cannot_be_read(reference: Data, what: str) -> None:
    with pytest.raises(CatalogError) as caught:
        one_claim(claim(reference))
    assert any(what in problem.what for problem in caught.value.problems), caught.value
    assert all(problem.where for problem in caught.value.problems)


def test_read_and_taken_over_at_once_is_refused() -> None:
    data = claim()
    data["metadata"]["annotations"] = {"claimsmith.io/import": "database=legacy"}
    with pytest.raises(ComposeError, match="either read, by resourceRef, or taken over"):
        planned([native_class()], [data])


def test_two_claims_for_one_resource_are_refused() -> None:
    claims = [claim(), claim(name="billing")]
    with pytest.raises(ComposeError, match=f"both claim {TOKEN} legacy"):
        planned([native_class()], claims)
    assert len(planned([native_class()], [claim(), claim({**REF, "id": "other"}, "billing")]).claims) == 2


def test_a_resource_that_another_claim_takes_over_is_not_read() -> None:
    owner = claim_data("a", classRef=class_ref("native"))
    owner["metadata"]["annotations"] = {"claimsmith.io/import": "database=legacy"}
    with pytest.raises(ComposeError) as caught:
        planned([native_class()], [owner, claim()])
    [problem] = caught.value.problems
    assert problem.what.startswith("Database.database.example.org/default/orders and ")


def test_a_folder_without_the_permission_reads_nothing(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "claimsmith.yaml": SETTINGS,
        "components/native/class.yaml": yaml.safe_dump(native_class()),
        "stacks/dev/claims/orders.yaml": yaml.safe_dump(claim()),
    }
    with pytest.raises(EngineError) as caught:
        Project(write_files(tmp_path, files)).plan("dev", unrecorded_ok=True)
    [problem] = caught.value.problems
    assert "existing-resources" in problem.fix
    assert (problem.path, problem.where is not None) == ("spec.resourceRef", True)


# What is recorded


def recorded(data: Data) -> Record:
    found = expanded(catalog_of([native_class()], [data]))
    [record] = binding.to_records(found.bindings(), [])
    return record


def test_the_record_names_the_class_and_the_resource() -> None:
    record = recorded(claim())
    assert (record.klass.name, record.resource) == ("native", f"{TOKEN} legacy")
    text = bindings_file.write([record], stack="dev")
    [again] = bindings_file.read(text, file="bindings.yaml")
    assert again == replace(record, where=again.where)
    assert isinstance(bound(claim(), record=record), Binding)


def test_the_class_is_immutable_for_it_too() -> None:
    with pytest.raises(BindingError, match="has changed since"):
        bound(claim(), *POSTGRESQL, native("more"), record=recorded(claim()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(claim(), claim({**REF, "id": "other"}), id="another-id"),
        pytest.param(claim(), claim_data("orders", classRef=class_ref("native")), id="none-any-more"),
        pytest.param(claim_data("orders", classRef=class_ref("native")), claim(), id="one-now"),
    ],
)
def test_a_changed_reference_needs_a_new_binding(before: Data, after: Data) -> None:
    with pytest.raises(BindingError) as caught:
        bound(after, record=recorded(before))
    [problem] = caught.value.problems
    assert "its resourceRef now asks for" in problem.what
    assert "--rebind Database.database.example.org/default/orders" in problem.fix
