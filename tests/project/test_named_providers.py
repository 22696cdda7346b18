"""`claimsmith:providers`: what is read of a stack's config, and what is refused, without a value in any message."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base import fieldpath
from claimsmith.base.errors import ModelError
from claimsmith.project.named_providers import in_plain_text, providers_in_files, read_providers
from tests.support.samples import write_files

STACK = "stacks/Pulumi.dev.yaml"
PLANTED = "planted-s3cret"
MAIN = {"package": "postgresql", "config": {"host": "db", "port": 5432, "password": PLANTED}}


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param({"main": MAIN}, {"main": ("postgresql", MAIN["config"])}, id="an-object"),
        pytest.param(json.dumps({"main": MAIN}), {"main": ("postgresql", MAIN["config"])}, id="json"),
        pytest.param({"a": {"package": "aws"}}, {"a": ("aws", {})}, id="without-config"),
        pytest.param({}, {}, id="none"),
    ],
)
def test_read_providers(value: Any, want: dict[str, Any]) -> None:
    assert {name: (p.package, p.config) for name, p in read_providers(value).items()} == want


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        pytest.param(PLANTED, (), id="a-text"),
        pytest.param([PLANTED], (), id="a-list"),
        pytest.param({"main": PLANTED}, ("main",), id="an-entry-that-is-a-text"),
        pytest.param({"main": {"config": {"password": PLANTED}}}, ("main", "package"), id="no-package"),
        pytest.param(
            {"main": {**MAIN, "package": f"../{PLANTED}"}}, ("main", "package"), id="a-package-that-is-a-path"
        ),
        pytest.param(
            {"main": {"package": "postgresql", "config": PLANTED}}, ("main", "config"), id="config-that-is-a-text"
        ),
        pytest.param(
            {"main": {"package": "aws", "confg": {"password": PLANTED}}}, ("main", "confg"), id="a-misspelt-field"
        ),
        pytest.param({"a b": MAIN}, ("a b",), id="a-name-with-a-space"),
        pytest.param({"cluster": {"package": "kubernetes"}}, ("cluster",), id="the-name-of-our-own"),
    ],
)
def test_refused_providers(value: Any, steps: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as refused:
        read_providers(value)
    (problem,) = refused.value.problems
    assert problem.path == fieldpath.to_text(("config", "claimsmith:providers", *steps))
    assert problem.fix
    assert PLANTED not in "".join(traceback.format_exception(refused.value))


def test_all_mistakes_at_once() -> None:
    with pytest.raises(ModelError) as refused:
        read_providers({"a": 1, "b": 2})
    assert len(refused.value.problems) == 2


FILE = """\
config:
  claimsmith:providers:
    main:
      package: postgresql
      config: {host: db, password: {secure: v1:abc}}
"""


def test_files_have_places_and_no_secrets(tmp_path: Path) -> None:
    root = write_files(tmp_path, {"Pulumi.yaml": "name: shop\nruntime: python\n", STACK: FILE})
    providers = providers_in_files(root, "dev")
    assert providers
    assert str(providers["main"].where) == f"{STACK}:3:5"
    assert in_plain_text(root, "dev") == {"main": {"host": "db"}}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("encryptionsalt: v1:x\n", {}, id="no-setting"),
        pytest.param("config:\n  claimsmith:providers: {secure: v1:abc}\n", None, id="all-of-it-is-a-secret"),
    ],
)
def test_files_that_name_none(tmp_path: Path, text: str, want: Any) -> None:
    root = write_files(tmp_path, {"Pulumi.yaml": "name: shop\nruntime: python\n", STACK: text})
    assert providers_in_files(root, "dev") == want


def test_providers_of_all_stacks(tmp_path: Path) -> None:
    text = "name: shop\nruntime: python\nconfig: {'claimsmith:providers': {value: {main: {package: aws}}}}\n"
    providers = providers_in_files(write_files(tmp_path, {"Pulumi.yaml": text}), "dev")
    assert providers
    assert providers["main"].package == "aws"
