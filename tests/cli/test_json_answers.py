"""Every answer in JSON: an object with the version of its format, as its schema describes it."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import typing
from collections.abc import Callable, Iterator
from enum import EnumType
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from claimsmith import lab, toolchain
from claimsmith.base.errors import Problem
from claimsmith.base.json_answers import FORMATS, Answer, foreign_text
from claimsmith.base.names import GroupKind
from claimsmith.cli import console
from claimsmith.cli.app import app
from claimsmith.cli.outline import name_of
from claimsmith.lab import control_plane, postgresql
from claimsmith.project import workspace
from claimsmith.tools import backend_move
from claimsmith.tools.backend import Moved
from claimsmith.tools.fleet import run as fleet_run
from claimsmith.tools.recover import recover
from tests.support import json_schemas, review_files
from tests.support.fleet_files import engine_program, fleet
from tests.support.paths import ROOT
from tests.support.provider_crds import provider_crd
from tests.support.refusal_files import FILES
from tests.support.review_files import changed, committed, put, sql, write
from tests.support.samples import SHARED, claim_data, class_ref, copied_project, write_files

Patch = pytest.MonkeyPatch
Prepare = Callable[[Path, Patch], object]
NAMES = sorted(FORMATS)
FILES_OF_SCHEMAS = sorted(json_schemas.SCHEMAS.glob(f"*{json_schemas.SUFFIX}"))
PAGE = ROOT / "docs" / "reference" / "json.md"


# The commands


def repository(root: Path, _patch: Patch) -> None:
    """This repository's own platform, with a class in each format."""
    copied_project(root)


def changed_class(root: Path, _patch: Patch) -> None:
    """A commit, and a change after it: of a class, of a claim that is new, and of one that is gone."""
    committed(root, {**changed(), "stacks/dev/claims/gone.yaml": sql("gone")})
    (root / "stacks/dev/claims/gone.yaml").unlink()
    later = changed(put(review_files.CLASS, "spec/resources/1/base/spec/forProvider/sku/tier", "Standard"))
    write(root, {**later, "stacks/dev/claims/new.yaml": sql("new")})


def unserved(root: Path, patch: Patch) -> None:
    """The same, and a claim for a class that does not exist."""
    changed_class(root, patch)
    write(root, {"stacks/prod/claims/unserved.yaml": sql("unserved", "none")})


def spoilt(root: Path, _patch: Patch) -> None:
    """A class with a field that nothing knows."""
    write_files(root, {**FILES, "stacks/dev/claims/spoilt.yaml": "kind: [\n"})


def many_stacks(root: Path, patch: Patch) -> None:
    """Three stacks, of which one fails and one needs it, and a stand-in for the engine."""
    fleet(root, ("a", "b", "c"), after={"c": ["b"]})
    folder = engine_program(root / ".claimsmith" / "bin", {"b": {"fails": "up"}})
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    patch.setattr(workspace, "require", lambda _project: None)
    patch.setattr(workspace, "environment", lambda _project: env)
    backend = f"file://{root}/.claimsmith/state"
    patch.setattr(fleet_run, "read_backend", lambda _: (backend, dict.fromkeys("abc", 0)))


def two_classes(root: Path, _patch: Patch) -> None:
    """A class in two versions, with claims that may move and one that may not."""
    versions = [review_files.db("v1"), review_files.db("v2")]
    for klass, label in zip(versions, ("yes", "no"), strict=True):
        klass["metadata"]["labels"] = {"current": label}
    selected = {"classSelector": {"matchLabels": {"current": "yes"}}}
    claims = [claim_data("moves", size=1, version="8", **selected), sql("stays", "v1")]
    files = {f"components/{k['metadata']['name']}/class.yaml": k for k in versions}
    committed(root, {**files, "stacks/dev/claims/claims.yaml": claims})
    for words in (["generate"], ["bind", "dev"]):
        assert CliRunner().invoke(app, ["-C", str(root), *words]).exit_code == 0


def two_namespaces(root: Path, patch: Patch) -> None:
    """A deployed stack with claims in two namespaces."""
    claims = [claim_data(f"n{n}", namespace=n, classRef=class_ref("net")) for n in ("a", "b")]
    shared = {"components/x/class.yaml": yaml.safe_dump_all(SHARED)}
    write_files(root, {**shared, "stacks/dev/claims/claims.yaml": yaml.safe_dump_all(claims)})
    assert CliRunner().invoke(app, ["-C", str(root), "bind", "dev"]).exit_code == 0
    kind = "claimsmith:database.example.org:Database"
    state_is(patch, {"resources": [{"urn": f"urn:pulumi:dev::shop::{kind}::a/na"}]})


def interrupted(root: Path, patch: Patch) -> None:
    """A state with an operation that was interrupted, and an object in the cluster that it does not have."""
    write_files(root, FILES)
    kind = "random:index/randomPet:RandomPet"
    resource = {"urn": f"urn:pulumi:dev::shop::{kind}::p", "type": kind, "custom": True, "inputs": {}}
    state_is(patch, {"pending_operations": [{"type": "creating", "resource": resource}]})
    patch.setattr(workspace, "backend", lambda _project: f"file://{root}/.claimsmith/state")
    stray = recover.Stray(GroupKind("g", "Thing"), "shop/a", wanted=True)
    patch.setattr(recover, "_strays", lambda *_: ((stray,), [Problem("the kind Other cannot be listed")]))


def state_is(patch: Patch, deployment: dict[str, Any]) -> None:
    state = {"version": 3, "deployment": {"resources": [], **deployment}}
    patch.setattr(workspace, "export_state", lambda *_, **__: state)


def drifted(root: Path, patch: Patch) -> None:
    """A refresh of the engine that finds a changed field."""
    write_files(root, FILES)
    stack = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
    urn = "urn:pulumi:dev::shop::kubernetes:azure.crossplane.io/v1alpha3:ResourceGroup::g"
    sides = [
        {"parent": stack, "inputs": {}, "outputs": {"kind": "ResourceGroup", "spec": {"location": place}}}
        for place in ("West", "North")
    ]
    step = {"op": "update", "urn": urn, "oldState": sides[0], "newState": sides[1]}
    step["detailedDiff"] = {"spec.location": {"kind": "update"}}
    done = subprocess.CompletedProcess([], 0, json.dumps({"steps": [step]}), "")
    patch.setattr(toolchain, "require", lambda *_: None)
    patch.setattr(workspace, "environment", lambda *_: {})
    patch.setattr(subprocess, "run", lambda *_, **__: done)


def deployed(root: Path, patch: Patch) -> None:
    """The outputs of a stack whose cluster cannot be asked: a claim with children of both sorts, and an application."""
    write_files(root, FILES)
    bucket = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "namespace": "a", "name": "files-x"}
    role = {"type": "postgresql:index/role:Role", "name": "default-files-role"}
    common = {"class": "a/b", "reason": "named", "uid": "u", "phase": "Bound"}
    secret = {"namespace": "default", "name": "s", "keys": ["a"]}
    claim = {
        **common,
        "resources": [{**bucket, "resources": [role]}, role],
        "connectionSecret": None,
        "connectionKeys": [],
    }
    application = {**common, "resources": [{"resource": "r", **bucket}], "connectionSecret": secret}
    outputs = {
        "claims": {"Store.storage.example.org/default/files": claim},
        "workloads": {"KubernetesApplication.x.y/default/app": {**application, "cluster": "c", "secrets": ["a/b"]}},
    }
    patch.setattr(workspace, "stack_outputs", lambda *_: outputs)
    patch.setattr(workspace, "settings_of", lambda *_: {"kubeconfig": "nowhere.yaml"})


def shared_backend(root: Path, patch: Patch) -> None:
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        patch.delenv(name, raising=False)
    backend = "name: shop\nruntime: python\nbackend:\n  url: file:///shared\n"
    settings = "encryptionsalt: v1:EKjN5aiUqIY=:v1:fHWxi9WDYMPOXbaF:OJHwaWNOr1edrlhNzOAocT4Ds14Osg==\n"
    write_files(root, {"Pulumi.yaml": backend, "stacks/Pulumi.dev.yaml": settings, ".gitignore": ""})


def moving_backend(root: Path, patch: Patch) -> None:
    """A backend that all stacks move to; on the real engine: tests/e2e/test_shared_state.py."""
    shared_backend(root, patch)
    moved = Moved("s3://state", ["dev"], ["prod"], ["Pulumi.yaml"], [], ["dev"])
    patch.setattr(backend_move, "move", lambda *_: moved)


def definitions(root: Path, _patch: Patch) -> None:
    given = yaml.safe_dump_all([provider_crd("VPC", "ec2.aws.upbound.io"), provider_crd("Bucket", "s3.aws.upbound.io")])
    write_files(root, {**FILES, "given/crds.yaml": given})


def installed(_root: Path, patch: Patch) -> None:
    """One part of the engine, and one that is missing."""
    part = toolchain.InstalledPart("pulumi", Path("/bin/pulumi"), "3.1.0", "PATH")
    patch.setattr(toolchain, "find_all", lambda _names: {"pulumi": part, "etcd": None})
    patch.setattr(toolchain, "install", lambda _steps, _names: {"pulumi": part})


def servers(root: Path, patch: Patch) -> None:
    """A control plane and a server that start at once."""
    write_files(root, FILES)
    part = control_plane.Part("etcd", True, 1, 2, root / "log")
    status = lab.Status(True, (part,), "https://127.0.0.1:1", root / "kubeconfig", "id", "uid")
    patch.setattr(lab, "up", lambda *_, **__: status)
    patch.setattr(postgresql, "up", lambda *_, **__: postgresql.Server(True, 1, 2, root / "log", root / "password"))


CASES: dict[str, tuple[Prepare, str]] = {
    "accept": (changed_class, "accept --check"),
    "accept-nothing": (repository, "accept --check"),
    "backend": (shared_backend, "backend"),
    "backend-leave": (shared_backend, "backend leave"),
    "backend-move": (moving_backend, "backend move s3://state"),
    "bind": (repository, "bind showcase --check"),
    "bind-unbound": (unserved, "bind prod --check"),
    "classes": (repository, "classes"),
    "classes-usage": (repository, "classes --usage"),
    "convert": (repository, "convert"),
    "convert-files": (repository, "convert components/private-mysql-server --output-dir converted"),
    "crds": (repository, "crds --stack showcase"),
    "crds-add": (definitions, "crds add given --all"),
    "destroy": (many_stacks, "destroy --all --allow-destructive --yes"),
    "drift": (drifted, "drift dev"),
    "explain": (repository, "explain showcase"),
    "explain-crossplane": (repository, "explain today"),
    "explain-unserved": (unserved, "explain prod"),
    "explain-child": (repository, "explain dev sql --child my-sql-server"),
    "explain-composite": (repository, "explain showcase coolblog --child database"),
    "explain-field": (repository, "explain dev sql --field metadata.name"),
    "generate": (repository, "generate --check"),
    "generate-new": (changed_class, "generate"),
    "local-down": (servers, "local down"),
    "local-status": (servers, "local status"),
    "local-up": (servers, "local up"),
    "local-up-postgresql": (servers, "local up --postgresql"),
    "preview": (many_stacks, "preview --all"),
    "recover": (interrupted, "recover dev"),
    "refresh": (many_stacks, "refresh --all --yes"),
    "render": (repository, "render showcase"),
    "render-native": (repository, "render local"),
    "review": (changed_class, "review"),
    "review-blocked": (unserved, "review"),
    "rollout": (two_classes, "rollout v1 --to v2 --check"),
    "shard": (two_namespaces, "shard dev --by namespace"),
    "status": (deployed, "status dev"),
    "toolchain": (installed, "toolchain"),
    "toolchain-install": (installed, "toolchain install"),
    "up": (many_stacks, "up --all --yes"),
    "validate": (repository, "validate"),
    "validate-errors": (unserved, "validate"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_answer_fits_its_schema(case: str, tmp_path: Path, monkeypatch: Patch) -> None:
    prepare, line = CASES[case]
    prepare(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    words = line.split()
    ran = CliRunner().invoke(app, [*words, "--output", "json"])
    assert ran.exit_code not in (2, 3), ran.output
    found = json_schemas.answer(words, ran.stdout)
    assert "problems" not in found, ran.stdout
    assert next(iter(found)) == "format"
    assert ran.stdout.endswith("}\n")


@pytest.mark.parametrize(
    ("prepare", "line"),
    [
        pytest.param(repository, "render nowhere", id="no-such-stack"),
        pytest.param(repository, "explain dev nobody", id="no-such-claim"),
        pytest.param(repository, "classes Nothing", id="no-such-kind"),
        pytest.param(spoilt, "bind dev", id="no-yaml"),
        pytest.param(spoilt, "review", id="no-repository"),
        pytest.param(lambda *_: None, "status dev", id="no-project"),
    ],
)
def test_problems_fit_their_schema(prepare: Prepare, line: str, tmp_path: Path, monkeypatch: Patch) -> None:
    prepare(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, [*line.split(), "--output", "json"])
    assert ran.exit_code == 1, ran.output
    assert json_schemas.problems(json.loads(ran.stdout), "problems") == []


def with_json(group: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The commands whose option --output takes a format, and no path."""
    if path and group.registered_callback:
        yield from [path] if takes_format(group.registered_callback.callback) else []
    for command in group.registered_commands:
        yield from [(*path, name_of(command))] if takes_format(command.callback) else []
    for inner in group.registered_groups:
        assert inner.typer_instance
        yield from with_json(inner.typer_instance, (*path, str(inner.name)))


def takes_format(callback: Any) -> bool:
    for parameter in inspect.signature(callback, eval_str=True).parameters.values():
        notes = [n for n in getattr(parameter.annotation, "__metadata__", ()) if isinstance(n, typer.models.OptionInfo)]
        # The first declaration of an annotated option is in the place of its default.
        if any("--output" in (note.default, *(note.param_decls or ())) for note in notes):
            return _has_json(parameter.annotation.__origin__)
    return False


def _has_json(form: Any) -> bool:
    """Whether JSON is among the formats; `X | None` where there is a default by the file's ending."""
    return any("json" in list(kind) for kind in (typing.get_args(form) or (form,)) if isinstance(kind, EnumType))


FOREIGN = {("connection",)}
"""Commands whose JSON is not an answer: credentials as an application reads them."""


def test_every_command_with_json_has_a_schema_and_a_case() -> None:
    commands = set(with_json(app)) - FOREIGN
    assert len(commands) > 20
    described = {tuple(w for w in row if not w.startswith("-")) for row in json_schemas.COMMANDS}
    assert described == commands
    run = {json_schemas.schema_of(line.split()) for _, line in CASES.values()}
    assert run | {json_schemas.PROBLEMS} == set(FORMATS)
    lines = [line.split() for _, line in CASES.values()]
    assert [row for row in json_schemas.COMMANDS if not any(set(row) <= set(words) for words in lines)] == []


def test_no_command_writes_json_by_itself() -> None:
    package = ROOT / "engine" / "claimsmith"
    files = [*(package / "cli").rglob("*.py"), *(package / "tools" / "review").rglob("*.py")]
    found = {path.relative_to(package).as_posix() for path in files if "json_text" in path.read_text(encoding="utf-8")}
    assert found == set()
    assert not any("json.dumps" in path.read_text(encoding="utf-8") for path in (package / "cli").rglob("*.py"))


# The schemas


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema within a schema."""
    if not isinstance(schema, dict):
        return
    yield schema
    for word in ("properties", "$defs"):
        for inner in schema.get(word, {}).values():
            yield from nodes(inner)
    for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
        yield from nodes(inner)


def test_there_is_a_schema_for_each_answer_and_no_other() -> None:
    names = {path.name.removesuffix(json_schemas.SUFFIX) for path in FILES_OF_SCHEMAS}
    assert names == {*FORMATS, "common"}


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_for_the_present_format(name: str) -> None:
    schema = json_schemas.load(name)
    assert schema["$schema"] == json_schemas.DRAFT
    assert schema["properties"]["format"]["const"] == FORMATS[name]
    assert schema["required"][0] == "format"


@pytest.mark.parametrize("name", [*NAMES, "common"])
def test_schemas_describe_every_field_and_permit_no_other(name: str) -> None:
    for node in nodes(json_schemas.load(name)):
        fields = node.get("properties", {})
        assert not fields or node["additionalProperties"] is False
        assert [f for f in fields if not re.fullmatch(r"[a-z]+([A-Z][a-z]*)*", f)] == []
        assert [f for f, inner in fields.items() if not ({"description", "$ref"} & set(inner))] == []
        assert set(node.get("required", ())) <= set(fields)
        references = [node["$ref"]] if "$ref" in node else []
        assert all(json_schemas.resolved(r, name) for r in references)


@pytest.mark.parametrize(
    ("name", "value", "want"),
    [
        pytest.param("local-down", {"format": 1, "stopped": True}, "$: wiped is missing", id="missing"),
        pytest.param(
            "local-down", {"format": 1, "stopped": True, "wiped": True, "a": 1}, "$: a is not in the schema", id="more"
        ),
        pytest.param(
            "local-down", {"format": 2, "stopped": True, "wiped": True}, "$.format: 2 is none of [1]", id="version"
        ),
        pytest.param(
            "local-down", {"format": True, "stopped": True, "wiped": True}, "$.format: True is none of [1]", id="const"
        ),
        pytest.param(
            "local-down",
            {"format": 1, "stopped": 1, "wiped": True},
            "$.stopped: 1 is not of the type boolean",
            id="type",
        ),
        pytest.param("problems", [], "$: [] is not of the type object", id="list"),
        pytest.param("problems", {"format": 1, "problems": {}}, "$.problems: {} is not of the type array", id="object"),
        pytest.param(
            "problems", {"format": 1, "problems": [1]}, "$.problems[0]: 1 is not of the type object", id="item"
        ),
        pytest.param(
            "crds-add",
            {"format": 1, "crds": [], "left": -1},
            "$.left: -1 is less than 0",
            id="minimum",
        ),
        pytest.param(
            "toolchain",
            {"format": 1, "parts": [{"part": "a", "version": 1, "origin": None, "path": None}]},
            "$.parts[0].version: 1 is not of the type ['string', 'null']",
            id="one-of-two-types",
        ),
        pytest.param(
            "shard",
            {
                **{key: [] for key in ("parts", "stays", "joined", "files", "notes")},
                "format": 1,
                "stack": "",
                "done": True,
                "moves": {"a": 1},
            },
            "$.moves.a: 1 is not of the type array",
            id="value-of-a-mapping",
        ),
        pytest.param(
            "validate",
            {"format": 1, "valid": True, "warnings": [], "errors": [{"what": "", "path": "", "fix": "", "where": 1}]},
            "$.errors[0].where: 1 is not of the type object",
            id="reference-and-choice",
        ),
    ],
)
def test_values_that_do_not_fit(name: str, value: Any, want: str) -> None:
    assert json_schemas.problems(value, name) == [want]


# The page


@pytest.mark.parametrize("words", json_schemas.COMMANDS, ids=" ".join)
def test_the_page_lists_each_command_with_its_schema(words: tuple[str, ...]) -> None:
    name = json_schemas.COMMANDS[words]
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"(schemas/{name}.schema.json)" in line]
    assert any(f"`{' '.join(words)}`" in row for row in rows)


def test_the_error_on_the_page_is_what_is_printed(monkeypatch: Patch) -> None:
    monkeypatch.chdir(ROOT)
    [shown] = re.findall(
        r"\$ claimsmith ([^\n]*) 2> /dev/null\n(\{.*?\n)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert CliRunner().invoke(app, shown[0].split()).stdout == shown[1]


# The writer


def test_an_answer_begins_with_its_format_and_keeps_the_order() -> None:
    assert Answer("local-down", {"b": 1, "a": Path("x")}).text() == '{\n  "format": 1,\n  "b": 1,\n  "a": "x"\n}\n'


def test_an_answer_without_a_format_is_refused() -> None:
    with pytest.raises(KeyError):
        Answer("no-such", {}).text()


@pytest.mark.parametrize(
    ("one_line", "want"),
    [
        pytest.param(False, '{\n  "a": "\\u001b"\n}\n', id="lines"),
        pytest.param(True, '{"a": "\\u001b"}\n', id="one-line"),
    ],
)
def test_foreign_json_has_no_format(one_line: bool, want: str) -> None:
    assert foreign_text({"a": "\x1b"}, one_line=one_line) == want


def test_text_is_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_result(console.Format.text, Answer("crds", {"items": []}), "text\n")
    assert capsys.readouterr().out == "text\n"
