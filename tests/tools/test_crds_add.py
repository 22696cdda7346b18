"""`crds add`: definitions of providers become files of the platform, and serve validation, references and reviews."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import LoadError
from claimsmith.cli.app import app
from claimsmith.project.project import Project
from claimsmith.tools.crds import add, compact
from claimsmith.tools.validate import validate
from tests.support.provider_crds import provider_crd, reference
from tests.support.samples import claim_data, class_data, write_files

AWS = "aws.upbound.io"
VPC, SUBNET = (
    provider_crd("VPC", f"ec2.{AWS}"),
    provider_crd("Subnet", f"ec2.{AWS}", **reference("vpcId", "VPC in ec2")),
)
UNUSED = provider_crd("Bucket", f"s3.{AWS}")
FILE = "components/crds/vpcs.ec2.aws.upbound.io.yaml"


def managed(kind: str, **fields: Any) -> dict[str, Any]:
    return {"base": {"apiVersion": f"ec2.{AWS}/v1beta1", "kind": kind, "spec": {"forProvider": fields}}}


def network(**fields: Any) -> dict[str, Any]:
    return class_data("net", managed("VPC", **fields), managed("Subnet", vpcIdSelector={"matchControllerRef": True}))


def claim() -> dict[str, Any]:
    reference = {"apiVersion": "infrastructure.crossplane.io/v1alpha1", "kind": "CompositeResourceClass", "name": "net"}
    return claim_data(classRef=reference)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files = {
        "components/net/class.yaml": yaml.safe_dump(network(region="eu")),
        "stacks/dev/claims/c.yaml": yaml.safe_dump(claim()),
    }
    return Project(write_files(tmp_path, files))


@pytest.fixture
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A provider's folder: a file for one definition, and a stream of several with other documents among them."""
    folder = tmp_path_factory.mktemp("provider")
    (folder / "vpc.yaml").write_text(yaml.safe_dump(VPC))
    meta = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Provider", "metadata": {"name": "aws"}}
    (folder / "package.yaml").write_text(yaml.safe_dump_all([meta, SUBNET, UNUSED]))
    (folder / "notes.md").write_text("CustomResourceDefinition")
    return folder


def kinds(folder: Path) -> set[str]:
    return {p.name.partition(".")[0] for p in (folder / "components/crds").glob("*")}


@pytest.mark.parametrize(
    ("options", "want"),
    [
        pytest.param({}, {"vpcs", "subnets"}, id="those-in-use"),
        pytest.param({"everything": True}, {"vpcs", "subnets", "buckets"}, id="all"),
        pytest.param({"kinds": ["Bucket"]}, {"buckets"}, id="by-kind"),
        pytest.param({"kinds": [f"Bucket.s3.{AWS}", "VPC"]}, {"buckets", "vpcs"}, id="with-its-group"),
    ],
)
def test_what_is_taken(project: Project, source: Path, options: dict[str, Any], want: set[str]) -> None:
    found = add(project, str(source), **options)
    assert kinds(project.root) == want
    assert found.left == 3 - len(want)
    assert {c.change for c in found.crds} == {"new"}
    assert {c.change for c in add(project, str(source), **options).crds} == {"none"}


@contextmanager
def api_server(*crds: dict[str, Any]) -> Iterator[str]:
    """As much of an API server as listing definitions needs, on loopback: the text of its kubeconfig."""
    group = "apiextensions.k8s.io"
    answers = {
        f"/apis/{group}": {"versions": [{"groupVersion": f"{group}/v1"}]},
        f"/apis/{group}/v1": {"resources": [{"kind": "CustomResourceDefinition", "name": "customresourcedefinitions"}]},
        f"/apis/{group}/v1/customresourcedefinitions": {
            # The items of a list name neither apiVersion nor kind.
            "items": [{k: v for k, v in crd.items() if k not in ("apiVersion", "kind")} for crd in crds]
        },
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path.partition("?")[0])
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(found or {"kind": "Status", "code": 404}).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            parts = {"clusters": {"cluster": {"server": address}}, "users": {"user": {}}}
            named = {key: [{"name": "x", **value}] for key, value in parts.items()}
            context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
            yield yaml.safe_dump(
                {"apiVersion": "v1", "kind": "Config", **named, "contexts": [context], "current-context": "x"}
            )
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    "words", [pytest.param([], id="of-kubectl"), pytest.param(["--stack", "dev"], id="of-a-stack")]
)
def test_from_the_cluster(project: Project, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    with api_server(VPC, SUBNET, UNUSED) as kubeconfig:
        file = write_files(project.root, {"kubeconfig": kubeconfig}) / "kubeconfig"
        if words:
            settings = {"config": {"claimsmith:kubeconfig": str(file)}}
            write_files(project.root, {"stacks/Pulumi.dev.yaml": yaml.safe_dump(settings)})
            monkeypatch.setenv("KUBECONFIG", "/no/such/file")
        else:
            monkeypatch.setenv("KUBECONFIG", str(file))
        ran = CliRunner().invoke(app, ["-C", str(project.root), "crds", "add", "cluster", *words])
    assert ran.exit_code == 0, ran.output
    assert kinds(project.root) == {"vpcs", "subnets"}
    assert "1 definition left out" in ran.stderr
    assert yaml.safe_load((project.root / FILE).read_text()) == compact(VPC)


def test_a_cluster_without_definitions(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with api_server() as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(write_files(project.root, {"kubeconfig": kubeconfig}) / "kubeconfig"))
        with pytest.raises(LoadError) as caught:
            add(project, "cluster")
    assert "there is no CustomResourceDefinition in cluster" in str(caught.value)
    assert kinds(project.root) == set()


@pytest.mark.parametrize(
    ("name", "options", "what", "fix"),
    [
        pytest.param("nowhere", {}, "no such file", "cluster", id="no-file"),
        pytest.param("empty.yaml", {}, "there is no CustomResourceDefinition", "name a file", id="no-definitions"),
        pytest.param(
            "", {"kinds": ["Buckt"]}, "no definition of 'Buckt'", "did you mean 'Bucket'?", id="misspelt-kind"
        ),
        pytest.param("only.yaml", {}, "no class composes", "--all", id="nothing-in-use"),
    ],
)
def test_refusals(project: Project, source: Path, name: str, options: dict[str, Any], what: str, fix: str) -> None:
    (source / "only.yaml").write_text(yaml.safe_dump(UNUSED))
    (source / "empty.yaml").write_text("a: b\n")
    with pytest.raises(LoadError) as caught:
        add(project, str(source / name), **options)
    assert what in caught.value.problems[0].what
    assert fix in caught.value.problems[0].fix
    assert not (project.root / "components/crds").exists()


def test_what_is_written_has_no_descriptions_but_those_of_references() -> None:
    (version,) = compact(SUBNET)["spec"]["versions"]
    text = yaml.safe_dump(version)
    assert "An id." not in text
    assert "What it is." not in text
    assert "Reference to a VPC in ec2 to populate vpcId." in text
    assert version["name"] == "v1beta1"
    assert set(compact(SUBNET)) == {"apiVersion", "kind", "metadata", "spec"}


def test_a_field_called_description_stays() -> None:
    crd = compact(provider_crd("VPC", f"ec2.{AWS}", description={"type": "string", "description": "Its text."}))
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    fields = schema["properties"]["spec"]["properties"]["forProvider"]["properties"]
    assert fields["description"] == {"type": "string"}


def test_classes_are_checked_and_references_known(project: Project, source: Path) -> None:
    before = {p.rule for p in validate(project, ["dev"]).errors}
    add(project, str(source))
    write_files(project.root, {"components/net/class.yaml": yaml.safe_dump(network(regio="eu"))})
    after = {p.rule: p.fix for p in validate(Project(project.root), ["dev"]).errors}
    assert "reference-unknown" in before
    assert "reference-unknown" not in after
    assert "region" in after["base-invalid"]


def test_the_command(project: Project, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    done = CliRunner().invoke(app, ["crds", "add", str(source), "--output", "json"])
    found = json.loads(done.stdout)
    assert (found["format"], found["left"], len(found["crds"])) == (1, 1, 2)
    assert found["crds"][1] == {"kind": f"VPC.ec2.{AWS}", "versions": ["v1beta1"], "file": FILE, "change": "new"}
    assert "1 definition left out" in done.stderr
    assert CliRunner().invoke(app, ["crds"]).exit_code == 0
