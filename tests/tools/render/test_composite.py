"""`claimsmith render XR COMPOSITION`: a composite and its composition from files, without a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.cli.app import app
from tests.support.crossplane_documents import (
    BUCKET,
    PATCH,
    XR,
    definition,
    piped,
    resources,
    step,
)
from tests.support.samples import write_files

FUNCTIONS = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "Function",
    "metadata": {"name": "function-patch-and-transform"},
}
FILES = {
    "xr.yaml": yaml.safe_dump(XR),
    "composition.yaml": yaml.safe_dump(
        piped(step(**resources({"name": "a", "base": BUCKET, "patches": [PATCH, {"fromFieldPath": "spec.size"}]})))
    ),
    "functions.yaml": yaml.safe_dump(FUNCTIONS),
    "xrd.yaml": yaml.safe_dump(definition()),
    "observed/a.yaml": yaml.safe_dump(
        {**BUCKET, "metadata": {"name": "is", "annotations": {"crossplane.io/composition-resource-name": "a"}}}
    ),
}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    return tmp_path


def run(*words: str):
    return CliRunner().invoke(app, ["render", *words])


@pytest.mark.usefixtures("files")
def test_render_files() -> None:
    done = run("xr.yaml", "composition.yaml", "functions.yaml", "--observed", "observed", "--xrd", "xrd.yaml", "-x")
    assert done.exit_code == 0, done.output
    composite, bucket = yaml.safe_load_all(done.stdout)
    assert composite["spec"]["size"] == 5
    assert (bucket["metadata"]["name"], bucket["spec"]) == ("is", {"region": "us", "size": 5})


@pytest.mark.usefixtures("files")
def test_render_files_as_json() -> None:
    done = run("xr.yaml", "composition.yaml", "--output", "json")
    assert [d["kind"] for d in json.loads(done.stdout)["items"]] == ["XBucket", "Bucket"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("xr.yaml",), 2, id="no-composition"),
        pytest.param(("dev", "--observed", "observed"), 2, id="a-stack-observes-nothing"),
        pytest.param(("xr.yaml", "absent.yaml"), 1, id="no-such-file"),
        pytest.param(("xr.yaml", "functions.yaml"), 1, id="not-a-composition"),
        pytest.param(("xr.yaml", "composition.yaml", "xrd.yaml"), 1, id="functions-that-are-not-named"),
    ],
)
def test_render_files_refused(words: tuple[str, ...], code: int) -> None:
    assert run(*words).exit_code == code


TEMPLATE = """
apiVersion: example.org/v1
kind: Thing
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: a}
spec:
  k: {{ toJson .context.k }}
  f: {{ .context.f.x | toJson }}
  c: {{ (getCredentialData . "cloud").key }}
  e: {{ len (getExtraResources . "found" | default list) }}
---
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: ExtraResources
requirements:
  found: {apiVersion: v1, kind: ConfigMap, matchName: c}
"""


def test_render_takes_the_flags_of_crossplane_render(files: Path) -> None:
    rendering = step("function-go-templating", source="Inline", inline={"template": TEMPLATE})
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}}
    rendering["credentials"] = [{"name": "cloud", "source": "Secret", "secretRef": {"name": "s", "namespace": "n"}}]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    existing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "is"}}
    existing["metadata"]["annotations"] = {"crossplane.io/composition-resource-name": "a"}
    more = {
        "templated.yaml": yaml.safe_dump(piped(rendering)),
        "credentials.yaml": yaml.safe_dump({**secret, "stringData": {"key": "k-1"}}),
        "extra.yaml": yaml.safe_dump(config),
        "there.yaml": yaml.safe_dump(existing),
        "f.json": '{"x": [1]}',
        "schemas/a.json": "{}",
    }
    write_files(files, more)
    words = ["--context-values", 'k={"a": 1}', "--context-files", "f=f.json", "--function-credentials"]
    words += ["credentials.yaml", "--required-resources", "extra.yaml", "-o", "there.yaml", "--timeout", "1m"]
    done = run("xr.yaml", "templated.yaml", *words, "--required-schemas", "schemas", "-c", "-r")
    assert done.exit_code == 0, done.output
    _, thing, context = yaml.safe_load_all(done.stdout)
    assert thing["metadata"]["name"] == "is"
    assert thing["spec"] == {"k": {"a": 1}, "f": [1], "c": "k-1", "e": 1}
    assert context["kind"] == "Context"
    assert context["fields"]["k"] == {"a": 1}
