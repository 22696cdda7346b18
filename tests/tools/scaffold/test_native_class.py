"""New classes of native resources: valid as they are written, with what the SDK requires, and in the requirements."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.documents import read_documents
from claimsmith.cli.app import app
from claimsmith.platform.catalog import read_catalog
from claimsmith.project import sdks
from claimsmith.project.project import Project
from claimsmith.tools import validate
from claimsmith.tools.scaffold.class_file import Kind, NewClass, class_text
from claimsmith.tools.scaffold.files import made_by
from claimsmith.tools.scaffold.native_resource import Native
from tests.support.native_classes import PROJECT
from tests.support.samples import contents, write_files
from tests.support.sdks import large

CLAIM = "platform.example.org/v1alpha1/Store"
COMPONENTS = ("missing-component", "stale-component")
WORDS = ["new", "class", "store", "--claim", CLAIM]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_files(tmp_path, {**PROJECT, "requirements.txt": "claimsmith\npytest >= 8"})
    monkeypatch.chdir(root)
    return root


def run(*words: str):
    return CliRunner().invoke(app, list(words))


def findings(root: Path) -> list[str]:
    report = validate.validate(Project(root), ["dev"])
    return [str(p) for p in (*report.errors, *report.warnings) if p.rule not in COMPONENTS]


@pytest.mark.parametrize(
    ("types", "resources"),
    [
        pytest.param(
            ["random:RandomPassword"],
            {"random-password": ("random:RandomPassword", None, ["length"])},
            id="required-inputs-are-patched",
        ),
        pytest.param(
            ["postgresql:Role", "postgresql:Role", "postgresql:Function"],
            {
                "role": ("postgresql:Role", None, ["name"]),
                "role-2": ("postgresql:Role", None, []),
                "function": ("postgresql:Function", None, ["name", "body"]),
            },
            id="names-are-numbered",
        ),
        pytest.param(
            ["postgresql:index/database:Database"],
            {"database": ("postgresql:Database", None, ["name"])},
            id="full-token",
        ),
        large(
            ["aws:s3:Bucket", "aws:s3:BucketPolicy"],
            {
                "bucket": ("aws:s3:Bucket", None, []),
                "bucket-policy": (
                    "aws:s3:BucketPolicy",
                    {"bucketSelector": {"matchComposite": True, "type": "aws:s3:Bucket"}},
                    ["policy"],
                ),
            },
            package="aws",
            id="a-part-that-refers-to-another",
        ),
        large(
            ["azure-native:resources:ResourceGroup", "azure-native:storage:StorageAccount"],
            {
                "resource-group": ("azure-native:resources:ResourceGroup", None, []),
                "storage-account": (
                    "azure-native:storage:StorageAccount",
                    {
                        "kind": "Storage",
                        "sku": {"name": "Standard_LRS"},
                        "resourceGroupNameSelector": {
                            "matchComposite": True,
                            "type": "azure-native:resources:ResourceGroup",
                            "output": "name",
                        },
                    },
                    [],
                ),
            },
            package="azure-native",
            id="enums-and-nested-objects",
        ),
        large(
            ["gcp:container:NodePool"],
            {"node-pool": ("gcp:container:NodePool", None, ["cluster"])},
            package="gcp",
            id="gcp",
        ),
    ],
)
def test_a_class_is_valid_as_written(
    project: Path, types: list[str], resources: dict[str, tuple[str, object, list[str]]]
) -> None:
    ran = run(*WORDS, *(word for token in types for word in ("--makes", token)))
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == "components/store/class.yaml\ncomponents/store/component.py\n"
    text = (project / "components/store/class.yaml").read_text()
    written = {r["name"]: r for r in yaml.safe_load(text)["spec"]["resources"]}
    found = {
        name: (
            r["base"]["type"],
            r["base"]["properties"],
            [p["toResourceFieldPath"].removeprefix("properties.") for p in r.get("patches", ())],
        )
        for name, r in written.items()
    }
    assert found == resources
    assert findings(project) == []


def test_optional_inputs_can_be_uncommented(project: Path) -> None:
    """Each comment names an input by which the class stays one; deprecated ones are not proposed."""
    assert run(*WORDS, "--makes", "postgresql:Role").exit_code == 0
    path = project / "components/store/class.yaml"
    text = path.read_text()
    assert "# password: (string, secret) Sets the role's password." in text
    role = sdks.index_of("postgresql").require("postgresql:Role")
    optional = [name for name, p in role.inputs.items() if not p.deprecated]
    listed = [line.strip("# ").partition(":")[0] for line in text.splitlines() if line.startswith("        # ")]
    assert listed[1:] == optional
    assert "encrypted" not in optional
    path.write_text(text.replace("        # login: (boolean) ", "        login: true # "))
    assert findings(project) == []
    assert yaml.safe_load(path.read_text())["spec"]["resources"][0]["base"]["properties"] == {"login": True}
    assert max(map(len, text.splitlines())) <= 118


def test_native_and_kubernetes_resources_in_one_class() -> None:
    makes = [made_by("random:RandomPassword"), made_by("storage.example.org/v1/Bucket")]
    text = class_text(NewClass("mixed", Kind.parse(CLAIM), makes), {})
    [klass] = read_catalog(read_documents(text, file="class.yaml")).classes.values()
    assert [(t.name, t.native) for t in klass.templates] == [("random-password", True), ("bucket", False)]


REQUIREMENT = Native.of("random:RandomPassword", sdks.index_of("random")).requirement


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param("pytest >= 8", f"pytest >= 8\n{REQUIREMENT}\n", "which was added", id="added"),
        pytest.param(
            "Pulumi_Random==4.18\n", "Pulumi_Random==4.18\n", "claimsmith new claim Store", id="there-already"
        ),
        pytest.param(
            "pytest==8 --hash=sha256:00\n",
            "pytest==8 --hash=sha256:00\n",
            f"add to the project's requirements: {REQUIREMENT}",
            id="compiled-with-hashes",
        ),
        pytest.param("", "", f"add to the project's requirements: {REQUIREMENT}", id="no-requirements"),
    ],
)
def test_the_sdk_becomes_a_requirement(project: Path, before: str, after: str, said: str) -> None:
    path = project / "requirements.txt"
    path.write_text(before)
    ran = run(*WORDS, "--makes", "random:RandomPassword", "--makes", "random:RandomId")
    assert ran.exit_code == 0, ran.output
    assert path.read_text() == after
    assert said in ran.stderr
    assert REQUIREMENT.startswith("pulumi-random >= ")


@pytest.mark.parametrize(
    ("token", "want"),
    [
        pytest.param("random:RandomPasword", "did you mean 'random:RandomPassword'?", id="unknown-type"),
        pytest.param("nowhere:Thing", "pip install pulumi-nowhere", id="missing-sdk"),
        pytest.param("random:password", "write it as package:module:Name", id="no-token"),
    ],
)
def test_types_that_are_refused(project: Path, token: str, want: str) -> None:
    before = contents(project)
    ran = run(*WORDS, "--makes", token)
    assert ran.exit_code == 1
    assert want in ran.stderr
    assert contents(project) == before
