"""Fields of claims that nothing reads: found in every dialect, with the nearest name, and nowhere else."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith import templating
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import Collector, EngineError
from claimsmith.base.names import GroupKind
from claimsmith.cli.app import app
from claimsmith.dialects.common.bindable import read_bindable
from claimsmith.dialects.crossplane import documents as crossplane
from claimsmith.dialects.definitions import crds
from claimsmith.platform.catalog import Catalog, offered, read_catalog
from claimsmith.platform.unread import Unread, unread_fields
from claimsmith.project.project import Project
from tests.support import golden_cases, platform_files, refusal_files
from tests.support.paths import ROOT
from tests.support.samples import (
    BUCKET,
    CLAIM_API,
    catalog_of,
    claim_data,
    class_data,
    copied_project,
    documents_of,
    patch,
    write_files,
)

SHARED = ROOT.parent / "shared" / "conformance"
DATA = ROOT / "engine" / "claimsmith" / "data"


def found(catalog: Catalog, **options: Any) -> list[tuple[str, str]]:
    """Path and way out of each field, all of which are only doubtful."""
    unread = unread_fields(catalog, **options)
    assert unread.errors == ()
    return [(p.path, p.fix) for p in unread.warnings]


# Classes without a schema


def test_patches_of_native_resources_read_fields_too() -> None:
    base = {"type": "postgresql:Database", "properties": {"name": "${x.id}"}}
    database = {"name": "d", "base": base, "patches": [patch("spec.connections", "properties.connectionLimit")]}
    klass = class_data("c", {"name": "x", "base": {"type": "random:RandomPet"}}, database)
    assert found(catalog_of([klass], [claim_data(connections=5)])) == []
    assert found(catalog_of([klass], [claim_data(conections=5)])) == [
        ("spec.conections", "did you mean 'connections'?")
    ]


def reading(*paths: str, name: str = "plain", **metadata: Any) -> dict[str, Any]:
    """A class that reads some fields of its claims."""
    patches = [patch(path, f"spec.forProvider.f{i}") for i, path in enumerate(paths)]
    return class_data(name, {"base": BUCKET, "patches": patches}, **metadata)


def templated(text: str, engine: str = "go-sprig") -> dict[str, Any]:
    """A class with a template beside the bucket."""
    head = "apiVersion: storage.example.org/v1\nkind: Disk\nspec:\n"
    source = {"type": "inline", "inline": f"{head}{text}\n"}
    return class_data("plain", {"template": {"engine": engine, "source": source}})


UNREAD = [
    pytest.param([reading("spec.storageGB")], {"storageGb": 1}, "spec.storageGb", "'storageGB'", id="slip"),
    pytest.param([reading("spec.storageGB")], {"colour": 1}, "spec.colour", "known here: storageGB", id="stranger"),
    pytest.param([class_data()], {"size": 1}, "spec.size", "known here: nothing", id="class-that-reads-nothing"),
    pytest.param([reading("spec.a"), reading("spec.b", name="other")], {"c": 1}, "spec.c", "a, b", id="two-classes"),
    pytest.param(
        [reading("spec.db.size")], {"db": {"siz": 1, "size": 2}}, "spec.db.siz", "'size'", id="within-an-object"
    ),
    pytest.param([reading("spec.db.size")], {"size": 1}, "spec.size", "'spec.db.size'", id="one-level-too-high"),
    pytest.param([reading("spec.list[*].a")], {"list": [{"a": 1, "aa": 2}]}, "spec.list[0].aa", "'a'", id="in-a-list"),
    pytest.param([reading("spec.list[0].a")], {"list": [{}, {"b": 1}]}, "spec.list[1].b", "a", id="in-another-item"),
    pytest.param([reading("spec.map[*].a")], {"map": {"x": {"b": 1}}}, "spec.map.x.b", "a", id="in-a-map"),
    pytest.param([reading("metadata.name")], {"a": 1}, "spec.a", "nothing", id="only-metadata-is-read"),
    pytest.param(
        [reading("spec.a")], {"classSelektor": {}}, "spec.classSelektor", "'classSelector'", id="what-chooses-a-class"
    ),
    pytest.param([templated("  a: {{ .spec.size }}")], {"sise": 1}, "spec.sise", "'size'", id="go-template"),
    pytest.param([templated("  a: {{ spec.size }}", "jinja2")], {"sise": 1}, "spec.sise", "'size'", id="jinja2"),
]


@pytest.mark.parametrize(("classes", "spec", "path", "fix"), UNREAD)
def test_unread(classes: list[dict[str, Any]], spec: dict[str, Any], path: str, fix: str) -> None:
    [(where, way_out)] = found(catalog_of(classes, [claim_data(**spec)]))
    assert where == path
    assert fix in way_out


READ = [
    pytest.param([reading("spec.a")], {"a": {"b": [1]}}, id="whole"),
    pytest.param([reading("spec")], {"anything": 1}, id="whole-spec"),
    pytest.param([reading("spec.a.b")], {"a": 3}, id="of-another-shape"),
    pytest.param([reading("spec.a"), reading("spec.b", name="other")], {"a": 1, "b": 2}, id="by-any-class"),
    pytest.param([reading("spec.list[*].a")], {"list": [{"a": 1}, {"a": 2}]}, id="each-item"),
    pytest.param([reading("spec.list[0]")], {"list": [1, 2]}, id="one-item"),
    pytest.param([reading("spec[a.b/c]")], {"a.b/c": 1}, id="quoted-key"),
    pytest.param([], {"a": 1}, id="no-class-at-all"),
    pytest.param(
        [class_data()], {"classSelector": {"matchLabels": {"a": "b"}}, "writeConnectionSecretToRef": {"name": "a"}},
        id="what-every-claim-may-say",
    ),
    pytest.param([templated("  a: {{ toJson .spec }}")], {"a": 1}, id="template-of-the-whole-spec"),
    pytest.param([templated("  a: {{ toJson . }}")], {"a": 1}, id="template-of-the-whole-claim"),
    pytest.param([templated("{% for k in spec %}  {{ k }}: 1\n{% endfor %}", "jinja2")], {"a": 1}, id="jinja2-loop"),
]  # fmt: skip


@pytest.mark.parametrize(("classes", "spec"), READ)
def test_read(classes: list[dict[str, Any]], spec: dict[str, Any]) -> None:
    assert found(catalog_of(classes, [claim_data(**spec)])) == []


def test_a_class_for_other_stacks_counts() -> None:
    """A claim is copied from stack to stack: what it says for one is no slip in another."""
    elsewhere = reading("spec.b", name="other", annotations={"claimsmith.io/stacks": "prod"})
    catalog = offered(catalog_of([reading("spec.a"), elsewhere], [claim_data(a=1, b=2, c=3)]), "dev")
    assert [path for path, _ in found(catalog)] == ["spec.c"]


def test_the_place_is_the_fields_own() -> None:
    [problem] = unread_fields(catalog_of([class_data()], [claim_data(size=1)])).warnings
    assert (str(problem.where), problem.rule) == ("claims.yaml:7:3", "claim-field-unread")


def test_strict() -> None:
    catalog = catalog_of([class_data()], [claim_data(size=1)])
    assert unread_fields(catalog, strict=True) == Unread(errors=unread_fields(catalog).warnings)


# Templates


@pytest.mark.parametrize(
    ("engine", "text", "want"),
    [
        pytest.param("go-sprig", "{{ .spec.a.b }}{{ $.spec.c }}", [("spec", "a", "b"), ("spec", "c")], id="fields"),
        pytest.param("go-sprig", "{{ . }}", [()], id="dot"),
        pytest.param("go-sprig", "{{ toJson $ }}", [()], id="dollar"),
        pytest.param("go-sprig", '{{ index .spec "a" }}', [("spec", "a")], id="index-by-a-literal"),
        pytest.param("go-sprig", '{{ $k := "a" }}{{ index .spec $k }}', [("spec",)], id="index-by-a-variable"),
        pytest.param("go-sprig", "{{ with .spec.a }}{{ .b }}{{ . }}{{ end }}", [("spec", "a")], id="with"),
        pytest.param("go-sprig", "{{ range .spec.l }}{{ .b }}{{ . }}{{ end }}", [("spec", "l")], id="range"),
        pytest.param("go-sprig", "{{ range $k, $v := .spec }}{{ $v }}{{ end }}", [("spec",)], id="range-of-the-spec"),
        pytest.param("go-sprig", "{{ with $s := .spec }}{{ $s.a }}{{ $s.b }}{{ end }}", [("spec",)], id="with-named"),
        pytest.param(
            "go-sprig", "{{ $x := 1 }}{{ if .spec.a }}{{ $x = .spec.b }}{{ end }}{{ $x.c }}",
            [("spec", "a"), ("spec", "b")], id="assigned-in-a-branch",
        ),
        pytest.param("go-sprig", "{{ (.spec).a | default (.spec.b).c }}", [("spec", "a"), ("spec", "b", "c")], id="()"),
        pytest.param("go-sprig", '{{ (get .spec "a").b }}', [("spec", "a")], id="chain-on-a-call"),
        pytest.param("jinja2", "{{ spec.a['b'] }}{{ spec.get('c') }}", [("spec", "a", "b"), ("spec", "c")], id="keys"),
        pytest.param("jinja2", "{% set s = spec %}{{ s.a }}", [("spec",)], id="jinja2-set"),
        pytest.param("jinja2", "{% set k = 'a' %}{{ spec[k] }}", [("spec",)], id="jinja2-by-a-variable"),
        pytest.param("jinja2", "{% for spec in spec.l %}{{ spec.a }}{% endfor %}", [()], id="jinja2-shadowed"),
    ],
)  # fmt: skip
def test_reads_of_a_template(engine: str, text: str, want: list[tuple[str, ...]]) -> None:
    """Never less than what the template reads; more only where that is unknown."""
    assert templating.reads(engine, text) == want


# Schemas


def claim_crd(spec: dict[str, Any]) -> Document:
    crd = json.loads(json.dumps(crds.claim_crd(CLAIM_API, "Database")))
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object", **spec}
    [document] = documents_of(crd)
    return document


CLOSED = {"properties": {"size": {"type": "integer"}, "more": {"type": "object", "additionalProperties": True}}}
OPEN = {**CLOSED, "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("schema", "spec", "errors", "warnings"),
    [
        pytest.param(CLOSED, {"size": 1}, [], [], id="declared-and-unread"),
        pytest.param(CLOSED, {"region": "a"}, [], [], id="read-and-undeclared"),
        pytest.param(CLOSED, {"sise": 1}, ["spec.sise"], [], id="forbidden"),
        pytest.param(OPEN, {"sise": 1}, [], ["spec.sise"], id="preserved"),
        pytest.param(CLOSED, {"more": {"a": {"b": 1}}}, [], [], id="additional-properties"),
        pytest.param(CLOSED, {"classRef": {"apiVersion": "a/v1", "kind": "K", "name": "n"}}, [], [], id="reserved"),
    ],
)
def test_a_given_definition(schema: Any, spec: Any, errors: list[str], warnings: list[str]) -> None:
    platform = [*documents_of(reading("spec.region")), claim_crd(schema)]
    unread = unread_fields(read_catalog(platform, documents_of(claim_data(**spec))))
    assert ([p.path for p in unread.errors], [p.path for p in unread.warnings]) == (errors, warnings)
    assert all(p.fix == "did you mean 'size'?" for p in (*unread.errors, *unread.warnings))


ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
XRD: dict[str, Any] = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xdbs.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "XDB", "plural": "xdbs"},
        "claimNames": {"kind": "DB", "plural": "dbs"},
        "versions": [{"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": ANYTHING}}],
    },
}
HEAD = {"apiVersion": "example.org/v1", "metadata": {"name": "a"}}


def xrd(schema: dict[str, Any] | None = None) -> dict[str, Any]:
    text = json.dumps(XRD)
    whole = {"type": "object", "properties": {"spec": schema}} if schema else ANYTHING
    return dict(json.loads(text.replace(json.dumps(ANYTHING), json.dumps(whole))))


def composition(*steps: dict[str, Any]) -> dict[str, Any]:
    """A pipeline of steps, the names of which are their functions'."""
    pipeline = [{"step": f"s{i}", **step} for i, step in enumerate(steps)]
    spec = {"compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XDB"}, "mode": "Pipeline"}
    head = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "metadata": {"name": "c"}}
    return {**head, "spec": {**spec, "pipeline": pipeline}}


def function(name: str, group: str = "", **given: Any) -> dict[str, Any]:
    head = {"apiVersion": f"{group}/v1beta1", "kind": "Resources" if "resources" in given else "Input"}
    return {"functionRef": {"name": name}, "input": {**(head if group else {}), **given}}


def patching(*patches: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A patch-and-transform step that makes a bucket."""
    resources = [{"name": "bucket", "base": BUCKET, "patches": list(patches)}]
    return function("function-patch-and-transform", "pt.fn.crossplane.io", resources=resources, **more)


def combined(*paths: str) -> dict[str, Any]:
    combine = {"strategy": "string", "variables": [{"fromFieldPath": p} for p in paths], "string": {"fmt": "%s"}}
    return {"type": "CombineFromComposite", "combine": combine, "toFieldPath": "spec.x"}


SELECTOR = {"matchLabels": [{"key": "a", "valueFromFieldPath": "spec.stage"}]}
CONFIGS = function(
    "function-environment-configs",
    "environmentconfigs.fn.crossplane.io",
    spec={"environmentConfigs": [{"type": "Selector", "selector": SELECTOR}]},
)
TO_ENVIRONMENT = {"type": "ToEnvironmentFieldPath", "fromFieldPath": "spec.e", "toFieldPath": "e"}
COMBINED = patching(combined("spec.a", "spec.b.c"))


def unread_in_xrs(definition: dict[str, Any], *steps: dict[str, Any], kind: str, **spec: Any) -> list[str]:
    """The fields that are doubtful in a claim or composite of which a pipeline makes something."""
    problems = Collector()
    read, _ = crossplane.read(documents_of(definition, composition(*steps)), problems, [])
    assert problems.problems == []
    classes = {(c.key, c.serves): c for c in read.compositions.values()}
    claiming = crossplane.claiming(read.xrds[GroupKind("example.org", "XDB")])
    catalog = Catalog({**classes, (claiming.key, claiming.serves): claiming}, crossplane=read)
    [document] = documents_of({**HEAD, "kind": kind, "spec": spec})
    claim = catalog.read_claim(document)
    return [path for path, _ in found(Catalog(catalog.classes, {claim.key: claim}, crossplane=read))]


@pytest.mark.parametrize("kind", ["XDB", "DB"])
@pytest.mark.parametrize(
    ("schema", "steps", "spec", "want"),
    [
        pytest.param(None, [COMBINED], {"a": 1, "b": {"c": 1, "d": 1}, "e": 1}, ["spec.b.d", "spec.e"], id="combine"),
        pytest.param(None, [CONFIGS, COMBINED], {"stage": "x", "stag": "x"}, ["spec.stag"], id="environment-selector"),
        pytest.param(None, [patching(environment={"patches": [TO_ENVIRONMENT]})], {"e": 1}, [], id="to-environment"),
        pytest.param(None, [COMBINED, function("function-kro", "kro.run")], {"z": 1}, [], id="unknown-function"),
        pytest.param(None, [COMBINED, function("function-auto-ready")], {"z": 1}, ["spec.z"], id="auto-ready"),
        pytest.param(
            None, [COMBINED], {"compositionRef": {"name": "c"}, "compositeDeletePolicy": "Foreground"}, [], id="core"
        ),
        pytest.param(
            {"type": "object", "properties": {"values": ANYTHING}}, [COMBINED], {"values": {"x": 1}}, [],
            id="open-object-that-nothing-reads",
        ),
        pytest.param(
            {"type": "object", "properties": {"b": ANYTHING}}, [COMBINED], {"b": {"c": 1, "x": 1}}, ["spec.b.x"],
            id="open-object-of-which-a-field-is-read",
        ),
    ],
)  # fmt: skip
def test_composites_and_their_claims(kind: str, schema: Any, steps: Any, spec: Any, want: list[str]) -> None:
    assert unread_in_xrs(xrd(schema), *steps, kind=kind, **spec) == want


def test_a_definition_forbids_while_it_is_read() -> None:
    with pytest.raises(EngineError) as caught:
        unread_in_xrs(xrd({"type": "object", "properties": {"size": {}}}), COMBINED, kind="DB", sise=1)
    assert caught.value.problems[0].fix == "did you mean 'size'?"


# Every dialect, and every example


def bindable() -> Any:
    return read_bindable(read_documents((DATA / "bindable.yaml").read_text(encoding="utf-8"), file="bindable.yaml"))


@pytest.mark.parametrize("platform", [platform_files.REDIS, platform_files.REDIS + "---\n" + platform_files.AGGREGATE])
def test_portable_claims(platform: str) -> None:
    """Classes of one kind, and aggregates of them: the table of bindable kinds says what is read."""
    claim = {"apiVersion": "cache.crossplane.io/v1alpha1", "kind": "RedisCluster", "metadata": {"name": "r"}}
    said = {"engineVersion": "3.2", "engineversoin": "3.2"}
    catalog = read_catalog(
        read_documents(platform, file="p.yaml"), documents_of({**claim, "spec": said}), bindable=bindable()
    )
    assert found(catalog) == [("spec.engineversoin", "did you mean 'engineVersion'?")]


def test_applications_name_all_that_they_may_say() -> None:
    application = {
        "apiVersion": "workload.crossplane.io/v1alpha1",
        "kind": "KubernetesApplication",
        "metadata": {"name": "a"},
        "spec": {"targetSelektor": {"matchLabels": {"a": "b"}}, "resourceTemplates": []},
    }
    with pytest.raises(EngineError) as caught:
        read_catalog([], documents_of(application))
    assert ("spec.targetSelektor", "did you mean 'targetSelector'?") in {(p.path, p.fix) for p in caught.value.problems}


DOCUMENTS = sorted((ROOT / "tests" / "documents").iterdir())


@pytest.mark.parametrize("folder", [pytest.param(f, id=f.name) for f in DOCUMENTS])
def test_no_field_of_the_design_documents_is_unread(folder: Path) -> None:
    given = {
        name: read_documents((folder / f"{name}.yaml").read_text(encoding="utf-8"), file=name)
        for name in ("platform", "claims")
    }
    catalog = read_catalog(given["platform"], given["claims"], bindable=bindable())
    assert catalog.claims
    assert unread_fields(catalog) == Unread()


TRUE = {
    **dict.fromkeys(("ambiguous-sibling", "circle", "options", "selector-matches-nothing", "shared-network"), "spec.a"),
    "cloud-sql": "spec.region",
    "gke-references": "spec.version",
}
"""What the class of a golden case does not read: cut from a platform in which another does, or there to be ignored."""


@pytest.mark.parametrize("case", golden_cases.each([c for c in golden_cases.CASES if not c.is_refused]))
def test_golden_cases(case: golden_cases.Case) -> None:
    assert {path for path, _ in found(case.catalog)} == set(TRUE.get(case.name, "").split())


@pytest.mark.parametrize("stack", Project(ROOT).stacks())
def test_no_field_of_the_examples_is_unread(stack: str) -> None:
    assert unread_fields(Project(ROOT).catalog(stack)) == Unread()


def public_cases() -> list[Any]:
    folders = [f for part in ("render", "functions") if SHARED.is_dir() for f in sorted((SHARED / part).iterdir())]
    return [pytest.param(f, id=f"{f.parent.name}-{f.name}") for f in folders if (f / "xrd.yaml").is_file()]


@cache
def public_catalog(folder: Path) -> Catalog:
    """A public composite with its definition and composition; empty where one is not what the other says."""
    with Collector().catch():
        documents = [
            d
            for name in ("xrd.yaml", "composition.yaml")
            for d in read_documents((folder / name).read_text(encoding="utf-8"), file=name)
        ]
        read, _ = crossplane.read(documents, Collector(), [])
        classes = {(c.key, c.serves): c for c in read.compositions.values()}
        [composite] = read_documents((folder / "xr.yaml").read_text(encoding="utf-8"), file="xr.yaml")
        claim = Catalog(classes, crossplane=read).read_claim(composite)
        return Catalog(classes, {claim.key: claim}, crossplane=read)
    return Catalog()


@pytest.mark.parametrize("folder", public_cases())
def test_no_field_of_public_composites_is_unread(folder: Path) -> None:
    """The composites of public repositories, with their definitions and whatever functions they use."""
    assert unread_fields(public_catalog(folder)) == Unread()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared conformance data is not beside this repository")
def test_most_public_composites_can_be_looked_at() -> None:
    assert sum(bool(public_catalog(case.values[0]).claims) for case in public_cases()) > 100


# Commands

CLAIM = "stacks/dev/claims/sql.yaml"
WANTED = "did you mean 'storageGB'?"


@pytest.fixture
def misspelt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The README's own claim, with a slip in it."""
    root = copied_project(tmp_path)
    text = (root / CLAIM).read_text(encoding="utf-8")
    (root / CLAIM).write_text(refusal_files.spoilt(text, "storageGB: 10", "storageGb: 10"), encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def committed(root: Path) -> None:
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")


COMMANDS = [
    pytest.param(["validate", "dev"], 0, id="validate"),
    pytest.param(["bind", "dev"], 0, id="bind"),
    pytest.param(["review", "--stack", "dev"], 0, id="review"),
]


@pytest.mark.parametrize(("words", "code"), COMMANDS)
def test_commands_report(misspelt: Path, words: list[str], code: int) -> None:
    committed(misspelt)
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == code
    assert f"{CLAIM}:8:3" in ran.output
    assert WANTED in ran.output


@pytest.mark.parametrize(("words", "code"), COMMANDS)
def test_commands_are_strict(misspelt: Path, words: list[str], code: int) -> None:
    committed(misspelt)
    (misspelt / "stacks/dev/bindings.yaml").unlink()
    ran = CliRunner().invoke(app, [*words, "--strict"])
    assert ran.exit_code == code + 1
    assert WANTED in ran.output
    assert not (misspelt / "stacks/dev/bindings.yaml").exists()


@pytest.mark.parametrize(("words", "code"), COMMANDS)
def test_a_stack_is_strict(misspelt: Path, words: list[str], code: int) -> None:
    config = misspelt / "stacks/Pulumi.dev.yaml"
    config.write_text('config: {claimsmith:strict: "true"}\n', encoding="utf-8")
    committed(misspelt)
    assert CliRunner().invoke(app, words).exit_code == code + 1


def test_bind_tells_programs(misspelt: Path) -> None:
    result = json.loads(CliRunner().invoke(app, ["bind", "dev", "--output", "json"]).stdout)
    assert result["unbound"] == []
    assert [p["fix"] for p in result["unread"]] == [WANTED]


def test_validate_tells_a_forbidden_field_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crd = claim_crd({"properties": {"region": {"type": "string"}, "size": {"type": "integer"}}})
    slip = refusal_files.claim("size: 10", "sise: 10")
    files = {**refusal_files.FILES, **slip, "components/x/claim.yaml": json.dumps(crd.data)}
    monkeypatch.chdir(write_files(tmp_path, files))
    ran = CliRunner().invoke(app, ["validate", "--output", "json"])
    rules = [p["rule"] for p in json.loads(ran.stdout)["errors"] if p["path"] == "spec.sise"]
    assert rules == ["claim-field-unread"]
    assert CliRunner().invoke(app, ["bind", "dev"]).exit_code == 1
