"""`claimsmith convert`: what it reads, prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.cli.app import app
from tests.support.platform_files import PLATFORM, TEMPLATED
from tests.support.refusal_files import FILES, PATH_CLAIM, PATH_CLASS
from tests.support.samples import contents, write_files


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A project whose classes and claims can be said."""
    monkeypatch.chdir(write_files(tmp_path, FILES))
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(app, ["convert", *arguments])


def kinds(text: str) -> list[str]:
    return [document["kind"] for document in yaml.safe_load_all(text)]


def test_a_project_is_printed_as_one_stream(root: Path) -> None:
    before = contents(root)
    done = run()
    assert (done.exit_code, kinds(done.stdout)) == (0, ["CompositeResourceDefinition", "Composition", "Database"])
    assert contents(root) == before


def test_files_that_are_given(root: Path) -> None:
    done = run(PATH_CLASS)
    assert (done.exit_code, kinds(done.stdout)) == (0, ["CompositeResourceDefinition", "Composition"])


def test_files_need_no_project(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (root / "Pulumi.yaml").unlink()
    monkeypatch.chdir(root / "components")
    done = run("x", str(root / "stacks"))
    assert (done.exit_code, len(kinds(done.stdout))) == (0, 3)


def test_a_folder_is_written_in_the_shape_of_its_source(root: Path) -> None:
    before = contents(root)
    done = run("--output-dir", "out")
    after = contents(root)
    written = sorted(set(after) - set(before))
    assert done.exit_code == 0
    assert written == sorted(f"out/{name}" for name in before if name.startswith(("components/", "stacks/")))
    assert {k: after[k] for k in before} == before
    assert done.stdout.splitlines()[0].split() == ["FILE", "CHANGE"]


def test_writing_again_changes_nothing(root: Path) -> None:
    run("--output-dir", "out")
    before = contents(root)
    done = run("--output-dir", "out")
    assert (done.exit_code, contents(root)) == (0, before)
    assert {line.split()[1] for line in done.stdout.splitlines()[1:]} == {"none"}


def test_a_file_that_is_there_is_never_overwritten(root: Path) -> None:
    run("--output-dir", "out")
    (root / "out" / PATH_CLASS).write_text("mine: true\n", encoding="utf-8")
    (root / "out" / PATH_CLAIM).unlink()
    before = contents(root)
    done = run("--output-dir", "out")
    assert (done.exit_code, contents(root)) == (1, before)
    assert f"out/{PATH_CLASS}:1:1: the file exists with other content" in done.stderr


def test_what_is_written_is_a_platform_again(root: Path) -> None:
    run("--output-dir", "out")
    done = run("out/components")
    assert (done.exit_code, done.stdout) == (0, "")


def test_what_cannot_be_said_is_told_and_the_rest_is_printed(root: Path) -> None:
    write_files(root, PLATFORM)
    done = run("components", "--output", "json")
    report = json.loads(done.stdout)
    assert done.exit_code == 1
    assert [(p["where"]["file"], p["path"]) for p in report["unsupported"]] == [
        ("components/redis/class.yaml", "metadata.annotations[resourceclass.crossplane.io/weight]")
    ]
    assert {d["document"]["kind"] for d in report["documents"]} == {"CompositeResourceDefinition", "Composition"}
    assert "error: components/redis/class.yaml:" in done.stderr


def test_a_class_of_which_nothing_can_be_said_is_left_out(root: Path) -> None:
    write_files(root, TEMPLATED)
    done = run("components")
    assert (done.exit_code, kinds(done.stdout)) == (1, ["CompositeResourceDefinition"])


def test_what_is_neither_class_nor_claim_stays_as_it_is(root: Path) -> None:
    given = root / "namespace.yaml"
    given.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n", encoding="utf-8")
    done = run("components", "namespace.yaml")
    assert done.exit_code == 0
    assert "warning: namespace.yaml:1:1: Namespace is no class, definition or claim" in done.stderr


def test_applications_among_claims_stay_as_they_are(root: Path) -> None:
    application = """\
apiVersion: workload.crossplane.io/v1alpha1
kind: KubernetesApplication
metadata: {namespace: team, name: blog}
spec:
  resourceTemplates:
  - metadata: {name: settings}
    spec: {template: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}}
"""
    write_files(root, {"stacks/dev/claims/application.yaml": application})
    done = run()
    assert (done.exit_code, len(kinds(done.stdout))) == (0, 3)
    assert "warning: stacks/dev/claims/application.yaml:1:1: KubernetesApplication is no class" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        pytest.param(["nowhere.yaml"], 1, "no such file", id="no-file"),
        pytest.param(["--output", "toml"], 2, "toml", id="unknown-format"),
        pytest.param(["broken.yaml"], 1, "broken.yaml:1:1: the field", id="broken-class"),
    ],
)
def test_refusals(root: Path, arguments: list[str], code: int, word: str) -> None:
    (root / "broken.yaml").write_text(
        "apiVersion: infrastructure.crossplane.io/v1alpha1\nkind: ResourceClass\n", encoding="utf-8"
    )
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert word in done.stderr
