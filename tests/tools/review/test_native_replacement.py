"""Changes of native resources: replaced, updated in place, or unknown, as far as the provider says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claimsmith.providers.package_schema import PackageSchema
from claimsmith.tools.review import Review, StackReview, snapshot
from claimsmith.tools.review import stack as review_of_stack
from claimsmith.tools.review.alerts import banner
from claimsmith.tools.review.changes import Level, Op
from tests.support.native_plans import DATABASE, PASSWORD, ROLE
from tests.support.review_files import AUTO, CLASS, KINDS, SQL, Files, changed, put, reviewed, set_file
from tests.support.samples import claim_data, class_data, class_ref

SCHEMA = PackageSchema(
    "postgresql",
    "3.18",
    {"postgresql:index/database:Database": (("encoding",),), "postgresql:index/role:Role": ()},
)
SILENT = PackageSchema("random", "4.21", {"random:index/randomPassword:RandomPassword": ()})
PROPERTIES = "spec/resources/{}/base/properties/"
LENGTH, LOGIN, ENCODING = PROPERTIES.format(0), PROPERTIES.format(1), PROPERTIES.format(2)


def start(**spec: Any) -> Files:
    claim = claim_data("orders", connections=5, classRef=class_ref("native"), **spec)
    return {CLASS: class_data("native", PASSWORD, ROLE, DATABASE), SQL: claim, "stacks/Pulumi.dev.yaml": AUTO}


@pytest.fixture
def schemas(monkeypatch: pytest.MonkeyPatch) -> dict[str, PackageSchema]:
    """The plugins that are installed."""
    found = {"postgresql": SCHEMA, "random": SILENT}
    monkeypatch.setattr(snapshot, "package_schema", found.get)
    return found


def ops(review: StackReview) -> dict[str, Op]:
    return {r.part: r.op for r in review.resources()}


def unknown(review: StackReview) -> list[tuple[str, Level, str]]:
    return [(w.part, w.level, w.what) for w in review.warnings if w.rule == "replacement-unknown"]


def test_a_marked_input_replaces(tmp_path: Path, schemas: dict[str, PackageSchema]) -> None:
    found = reviewed(tmp_path, start(), changed(put(CLASS, f"{ENCODING}encoding", "UTF8"), start=start()))
    assert ops(found) == {"database": Op.replaced}
    [change] = found.resources()
    assert [(f.path, f.replaces) for f in change.fields] == [("properties.encoding", True)]
    assert unknown(found) == []
    assert "data-replaced" in {w.rule for w in found.warnings}
    assert found.destructive


def test_other_inputs_of_that_provider_update_in_place(tmp_path: Path, schemas: dict[str, PackageSchema]) -> None:
    after = changed(put(SQL, "spec/connections", 9), put(CLASS, f"{LOGIN}login", False), start=start())
    found = reviewed(tmp_path, start(), after)
    assert ops(found) == {"database": Op.updated, "role": Op.updated}
    assert unknown(found) == []
    assert not found.destructive


@pytest.mark.parametrize(
    ("change", "installed", "part", "level", "why"),
    [
        pytest.param(
            put(CLASS, f"{LENGTH}length", 30),
            {"random": SILENT},
            "password",
            Level.note,
            "properties.length: the schema of random does not say which",
            id="silent-provider",
        ),
        pytest.param(
            put(CLASS, f"{LOGIN}login", False),
            {},
            "role",
            Level.note,
            "properties.login: the plugin of postgresql is not installed here",
            id="no-plugin",
        ),
        pytest.param(
            put(SQL, "spec/connections", 9),
            {},
            "database",
            Level.warning,
            "properties.connectionLimit: the plugin of postgresql is not installed here",
            id="of-what-holds-data",
        ),
        pytest.param(
            put(CLASS, "spec/resources/2/base/options/provider", "other"),
            {"postgresql": SCHEMA},
            "database",
            Level.warning,
            "options.provider: the schema of postgresql does not say which",
            id="another-provider",
        ),
    ],
)
def test_what_a_provider_does_not_say_is_unknown(
    tmp_path: Path,
    schemas: dict[str, PackageSchema],
    change: Any,
    installed: dict[str, PackageSchema],
    part: str,
    level: Level,
    why: str,
) -> None:
    schemas.clear()
    schemas.update(installed)
    found = reviewed(tmp_path, start(), changed(change, start=start()))
    assert ops(found) == {part: Op.settings if why.startswith("options.") else Op.updated}
    [(where, loud, what)] = unknown(found)
    assert (where, loud) == (part, level)
    assert what.endswith(why)
    # Nobody generated components here.
    assert banner(Review("p", "main", "0", (replace(found, refusals=()),))) == (
        "Changes: nothing is deleted, and whether something is replaced is unknown"
    )


def test_a_class_may_ask_for_it(tmp_path: Path, schemas: dict[str, PackageSchema]) -> None:
    schemas.clear()
    asking = changed(put(CLASS, "spec/resources/1/base/options/replaceOnChanges", ["login"]), start=start())
    found = reviewed(tmp_path, asking, changed(put(CLASS, f"{LOGIN}login", False), start=asking))
    assert ops(found) == {"role": Op.replaced}


def test_a_platform_may_know_it(tmp_path: Path, schemas: dict[str, PackageSchema]) -> None:
    table = set_file(KINDS, {"replaced": {"RandomPassword.random:index": ["properties.length"]}})
    known = changed(table, start=start())
    found = reviewed(tmp_path, known, changed(put(CLASS, f"{LENGTH}length", 30), start=known))
    assert ops(found) == {"password": Op.replaced}
    assert unknown(found) == []


def test_a_renamed_template_stays_one_resource(tmp_path: Path, schemas: dict[str, PackageSchema]) -> None:
    after = changed(
        put(CLASS, "spec/resources/2/name", "store"),
        put(CLASS, "spec/resources/2/previousName", "database"),
        start=start(),
    )
    found = reviewed(tmp_path, start(), after)
    assert Op.replaced not in ops(found).values()
    assert Op.deleted not in ops(found).values()


def test_a_plugin_that_the_project_names_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "cache" / "pulumi-resource-postgresql"
    monkeypatch.setattr(review_of_stack, "outside_plugins", lambda _: {"postgresql": program})
    monkeypatch.setattr(snapshot, "package_schema", lambda _, plugin: SCHEMA if plugin == program else None)
    found = reviewed(tmp_path, start(), changed(put(CLASS, f"{ENCODING}encoding", "UTF8"), start=start()))
    assert ops(found) == {"database": Op.replaced}
