"""The schemas of plugins: asked once for each plugin, from the newest one, and never downloaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith.toolchain import discovery, package_schemas, parts
from claimsmith.toolchain.discovery import InstalledPart

MARKED = {
    "name": "toy",
    "version": "1",
    "resources": {"toy:index:A": {"inputProperties": {"a": {"willReplaceOnChanges": True}}}},
}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    package_schemas.package_schema.cache_clear()
    yield
    package_schemas.package_schema.cache_clear()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with an engine that notes what it is asked."""
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    monkeypatch.setenv("CLAIMSMITH_CACHE", str(tmp_path / "cache"))
    engine = tmp_path / "engine"
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(MARKED))
    engine.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncat {schema}\n')
    engine.chmod(0o755)
    monkeypatch.setattr(discovery, "find", lambda name: InstalledPart(name, engine, "3.0.0", "path"))
    return tmp_path


def plugin(home: Path, version: str) -> Path:
    path = home / "pulumi" / "plugins" / f"resource-toy-v{version}" / "pulumi-resource-toy"
    path.parent.mkdir(parents=True)
    path.write_text("")
    path.chmod(0o755)
    return path


def asked(home: Path) -> list[str]:
    return (home / "asked").read_text().splitlines() if (home / "asked").exists() else []


def test_the_newest_plugin_is_asked_once(home: Path) -> None:
    plugin(home, "1.9.0")
    newest = plugin(home, "1.10.0")
    for _ in range(2):
        package_schemas.package_schema.cache_clear()
        found = package_schemas.package_schema("toy")
        assert found is not None
        assert found.replaced == {"toy:index:A": (("a",),)}
    assert asked(home) == [f"package get-schema {newest}"]


def test_another_plugin_is_asked_again(home: Path) -> None:
    path = plugin(home, "1.0.0")
    package_schemas.package_schema("toy")
    path.write_text("another build")
    package_schemas.package_schema.cache_clear()
    package_schemas.package_schema("toy")
    assert len(asked(home)) == 2


def test_a_spoilt_cache_is_asked_again(home: Path) -> None:
    plugin(home, "1.0.0")
    package_schemas.package_schema("toy")
    [kept] = (home / "cache" / "package-schemas").iterdir()
    kept.write_text("{")
    package_schemas.package_schema.cache_clear()
    assert package_schemas.package_schema("toy") is not None
    assert len(asked(home)) == 2


def test_the_plugin_that_a_project_names_comes_first(home: Path) -> None:
    plugin(home, "1.0.0")
    named = home / "own" / "pulumi-resource-toy"
    named.parent.mkdir()
    named.write_text("")
    assert package_schemas.package_schema("toy", named) is not None
    assert asked(home) == [f"package get-schema {named}"]


@pytest.mark.parametrize("case", ["no-plugin", "no-engine", "engine-fails", "no-schema"])
def test_what_cannot_be_asked_is_unknown(home: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    if case != "no-plugin":
        plugin(home, "1.0.0")
    if case == "no-engine":
        monkeypatch.setattr(discovery, "find", lambda _: None)
    if case == "engine-fails":
        (home / "engine").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    if case == "no-schema":
        (home / "schema.json").write_text("[]")
    assert package_schemas.package_schema("toy") is None
    assert asked(home) == ([] if case in ("no-plugin", "no-engine", "engine-fails") else asked(home)[:1])


@pytest.mark.e2e
def test_the_real_engine_answers(tmp_path: Path) -> None:
    """The Kubernetes provider, which the toolchain has: it marks nothing, so that all of it is unknown."""
    plugin_path = discovery.require(parts.PROVIDER)[parts.PROVIDER]
    kept = tmp_path / "kept.json"
    found = package_schemas._asked(plugin_path, kept)
    assert found is not None
    assert found.package == "kubernetes"
    assert "kubernetes:core/v1:Secret" in found.replaced
    assert not found.speaks
    assert kept.is_file()
