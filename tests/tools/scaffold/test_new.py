"""New claims and classes: what is written can be read, nothing is written over, and a terminal is asked."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.documents import read_documents
from claimsmith.base.errors import EngineError
from claimsmith.base.names import GroupKind
from claimsmith.cli import scaffold
from claimsmith.cli.app import app
from claimsmith.platform import offers, selection
from claimsmith.platform.catalog import Catalog
from claimsmith.project.project import Project
from claimsmith.tools.scaffold.claim_fields import Field, form_of, is_namespaced
from claimsmith.tools.scaffold.claim_file import claim_text, questions, read_as
from claimsmith.tools.scaffold.class_file import Kind, NewClass, class_text
from claimsmith.tools.scaffold.files import claim_key
from tests.support.golden_cases import GOOD, Case
from tests.support.native_classes import PROJECT as NATIVE_PROJECT
from tests.support.paths import ROOT
from tests.support.samples import contents, copied_project, write_files

PROJECT = Project(ROOT)
SHOWCASE = PROJECT.catalog("showcase")
KINDS = offers.kinds(SHOWCASE)
GIVEN = {"ManagedInstanceGroup": {"zone": "us-west1-a", "size": 3}}
"""What fields hold for which nothing can be proposed."""
EXAMPLES = {"string": "text", "integer": 3, "boolean": True, "object": {}, "array": [], "": "text"}
PAGE = ROOT / "docs" / "tutorial" / "starting.md"
SHOWN = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
"""The YAML that the documentation shows."""
MYSQL = "MySQLInstance.database.example.org"
DEFAULT = 'resourceclass.crossplane.io/is-default-class: "true"'


def run(*words: str, stdin: str | None = None):
    return CliRunner().invoke(app, list(words), input=stdin)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(copied_project(tmp_path / "project"))
    return tmp_path / "project"


def address(catalog: Catalog, kind: GroupKind) -> str:
    return f"{kind}/team/new" if is_namespaced(catalog, kind) else f"{kind}/new"


def text_of(kind: GroupKind, **more: object) -> str:
    key = claim_key(SHOWCASE, address(SHOWCASE, kind))
    return claim_text(form_of(SHOWCASE, kind), key, values=GIVEN.get(kind.kind), **more)  # type: ignore[arg-type]


# claims


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_claim_of_every_kind_finds_a_class_as_written(kind: GroupKind, project: Path) -> None:
    key = claim_key(SHOWCASE, address(SHOWCASE, kind))
    values = [w for n, v in GIVEN.get(kind.kind, {}).items() for w in ("--set", f"{n}={v}")]
    ran = run("new", "claim", str(key), "--stack", "showcase", *values)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines()[0] == "stacks/showcase/claims/new.yaml"
    # What a stack lacks, such as the data of its environment, is reported, and the claim is bound later.
    bound = key in {r.claim for r in Project(project).records("showcase")}
    assert bound == ("stacks/showcase/bindings.yaml" in ran.stdout.split()) == ("warning: " not in ran.stderr)
    assert bound != ("claimsmith bind showcase" in ran.stderr)
    catalog = Project(project).catalog("showcase")
    assert isinstance(selection.choose(catalog.claims[key], catalog), selection.Choice)


@pytest.mark.parametrize("case", [case for case in GOOD if case.catalog.claims], ids=lambda case: case.name)
def test_a_claim_of_every_kind_of_the_golden_platforms_can_be_read(case: Case) -> None:
    for kind in dict.fromkeys(c.group_kind for c in case.catalog.claims):
        key = claim_key(case.catalog, address(case.catalog, kind))
        form = form_of(case.catalog, kind)
        values = {f.name: EXAMPLES[f.type] for f in questions(form, {}) if f.proposal is None}
        (document,) = read_documents(claim_text(form, key, values=values), file="new.yaml")
        claim = case.catalog.read_claim(document)
        assert claim.key == key
        assert isinstance(selection.choose(claim, case.catalog), selection.Choice)


def test_a_new_claim_is_bound(project: Path) -> None:
    assert run("new", "claim", "MySQLDatabaseRequirement/team/new", "--stack", "dev").exit_code == 0
    assert run("bind", "dev", "--check").exit_code == 0
    made = {r.claim.place: r.klass.name for r in Project(project).records("dev")}
    assert made["team/new"] == "mysqldatabases.acme.example.org"


def test_crossplane_claims_tell_their_fields() -> None:
    (case,) = (c for c in GOOD if c.name == "crossplane-database")
    form = form_of(case.catalog, GroupKind("platform.example.org", "Database"))
    assert "compositionRef" not in {f.name for f in form.fields}
    text = claim_text(form, claim_key(case.catalog, "Database/team/new"), values={})
    assert "# Served by database" in text
    assert "  writeConnectionSecretToRef: {name: new}\n" in text


def test_required_fields_are_filled_and_others_told() -> None:
    assert text_of(GroupKind("acme.example.org", "MySQLDatabaseRequirement")) == (
        "apiVersion: acme.example.org/v1alpha1\n"
        "kind: MySQLDatabaseRequirement\n"
        "metadata:\n"
        "  namespace: team\n"
        "  name: new\n"
        "spec:\n"
        "  # Where it runs; one of: us-west, us-east\n"
        "  region: us-west\n"
        "  # The version of MySQL; one of: '5.6', '5.7'; default: '5.7'\n"
        "  # engineVersion: '5.7'\n"
        "  # The size of its disk; an integer at least 5\n"
        "  # storageGB: …\n"
        "  infrastructure:\n"
        "    # Served by mysqldatabases.acme.example.org (published)\n"
        "    writeConnectionSecretToRef: {name: new}\n"
    )


def test_the_page_shows_it() -> None:
    kind = GroupKind("acme.example.org", "MySQLDatabaseRequirement")
    text = claim_text(form_of(SHOWCASE, kind), claim_key(SHOWCASE, f"{kind}/shop/orders"))
    assert text in SHOWN


def test_without_a_schema_the_classes_tell_what_they_read() -> None:
    form = form_of(SHOWCASE, GroupKind.parse(MYSQL))
    assert [(f.name, f.type, f.values, f.default) for f in form.fields] == [
        ("region", "string", ("us-west", "us-east"), "us-west"),
        ("engineVersion", "string", (), "5.6"),
        ("storageGB", "integer", (), 20),
    ]


def test_what_is_left_out_is_what_the_class_has() -> None:
    """A claim that says nothing, and one that says what its comments tell, make the same."""
    made = PROJECT.catalog().serving(GroupKind.parse(MYSQL))
    (base,) = (t.base for c in made if c.name == "private-mysql-server" for t in c.templates if t.kind == "MySQLServer")
    assert base["spec"]["forProvider"]["version"] == "5.6"
    assert base["spec"]["forProvider"]["storageProfile"]["storageMB"] == 20 * 1024


@pytest.mark.parametrize(
    ("words", "line"),
    [
        pytest.param(["--set", "storageGB=7"], "  storageGB: 7\n", id="number"),
        pytest.param(["--set", "engineVersion=5.7"], "  engineVersion: '5.7'\n", id="text-that-looks-like-a-number"),
        pytest.param(["--set", "region=us-east"], "  region: us-east\n", id="one-of-several"),
        pytest.param(
            ["--class", "simple-mysql-server"],
            "  classRef: {apiVersion: infrastructure.crossplane.io/v1alpha1, kind: ResourceClass, "
            "name: simple-mysql-server}\n",
            id="class",
        ),
        pytest.param([], "  classSelector: {matchLabels: {environment: development}}\n", id="no-default-class"),
    ],
)
def test_flags_of_a_claim(project: Path, words: list[str], line: str) -> None:
    ran = run("new", "claim", f"{MYSQL}/team/new", "--stack", "dev", *words)
    assert ran.exit_code == 0, ran.output
    assert line in (project / "stacks/dev/claims/new.yaml").read_text()


PLAIN = """apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: NAME}
spec:
  claim: {apiVersion: a.org/v1, kind: Pet}
  resources: [{name: pet, base: {apiVersion: v1, kind: ConfigMapSPEC}DETAILS}]
"""


SECRET = "{writeConnectionSecretToRef: {namespace: team, name: pet}}"


@pytest.mark.parametrize(
    ("spec", "details", "asks"),
    [
        pytest.param("", ", connectionDetails: [{name: a, value: b}]", True, id="with-details"),
        pytest.param("", ", connectionDetails: []", False, id="without"),
        pytest.param("", "", False, id="child-without-a-secret"),
        pytest.param(f", spec: {SECRET}", "", True, id="keys-of-its-childs-secret"),
    ],
)
def test_a_secret_is_asked_for_where_the_class_has_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, details: str, asks: bool
) -> None:
    klass = PLAIN.replace("NAME", "small").replace("SPEC", spec).replace("DETAILS", details)
    monkeypatch.chdir(write_files(tmp_path, {**NATIVE_PROJECT, "components/small/class.yaml": klass}))
    ran = run("new", "claim", "Pet/team/new", "--stack", "dev", "--class", "small")
    assert ran.exit_code == 0, ran.output
    written = (tmp_path / "stacks/dev/claims/new.yaml").read_text()
    assert ("writeConnectionSecretToRef" in written) == asks
    assert "no connection details" not in ran.stderr


@pytest.mark.parametrize(
    ("annotation", "child", "spec"),
    [
        pytest.param("", "{type: random:RandomPet}", ["classRef"], id="native"),
        pytest.param(DEFAULT, "{type: random:RandomPet}", None, id="native-default"),
        pytest.param("", "{apiVersion: v1, kind: Secret}", ["classRef", "writeConnectionSecretToRef"], id="kubernetes"),
        pytest.param(DEFAULT, "{apiVersion: v1, kind: Secret}", ["writeConnectionSecretToRef"], id="default"),
    ],
)
def test_a_secret_is_asked_for_where_there_is_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, annotation: str, child: str, spec: list[str] | None
) -> None:
    """With a cluster in the settings, that line would make a stack of native resources need it."""
    klass = f"{{name: small, annotations: {{{annotation}}}}}"
    base = f"{{name: pet, base: {child}, connectionDetails: [{{name: a, value: b}}]}}"
    text = (
        f"apiVersion: infrastructure.crossplane.io/v1alpha1\nkind: CompositeResourceClass\nmetadata: {klass}\n"
        f"spec:\n  claim: {{apiVersion: a.org/v1, kind: Pet}}\n  resources:\n  - {base}\n"
    )
    monkeypatch.chdir(write_files(tmp_path, {**NATIVE_PROJECT, "components/small/class.yaml": text}))
    ran = run("new", "claim", "Pet/team/new", "--stack", "dev")
    assert ran.exit_code == 0, ran.output
    written = (tmp_path / "stacks/dev/claims/new.yaml").read_text()
    found = yaml.safe_load(written)["spec"]
    assert "writeConnectionSecretToRef: {name: new}" in written
    assert (found and list(found)) == spec
    assert run("bind", "dev").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "want"),
    [
        pytest.param([f"{MYSQL}/default/sql", "--stack", "dev"], 1, "there is a claim", id="same-claim"),
        pytest.param([f"{MYSQL}/other/sql", "--stack", "dev"], 1, "is there already", id="same-file"),
        pytest.param(["MySQLInstance/a/b", "--stack", "dev"], 1, "names 2 kinds", id="two-kinds"),
        pytest.param(["MySQLInstanz/a/b", "--stack", "dev"], 1, "did you mean 'MySQLInstance", id="no-such-kind"),
        pytest.param([f"{MYSQL}/a/b", "--stack", "def"], 1, "did you mean 'dev'?", id="no-such-stack"),
        pytest.param([f"{MYSQL}/a/b"], 2, "--stack", id="which-stack"),
        pytest.param([MYSQL, "--stack", "dev"], 1, "KIND/NAMESPACE/NAME", id="no-name"),
        pytest.param([f"{MYSQL}/a/b/c", "--stack", "dev"], 1, "KIND/NAMESPACE/NAME", id="too-much"),
        pytest.param([f"{MYSQL}//b", "--stack", "dev"], 1, "KIND/NAMESPACE/NAME", id="nothing-between"),
        pytest.param([f"{MYSQL}/a/..", "--stack", "dev"], 1, "'..'", id="a-way-out-of-the-folder"),
        pytest.param([f"{MYSQL}/a/B c", "--stack", "dev"], 1, "'B c'", id="no-name-for-an-object"),
        pytest.param(["MySQLDatabase/a/b", "--stack", "dev"], 1, "write it as MySQLDatabase/b", id="cluster-scope"),
        pytest.param(
            [f"{MYSQL}/a/b", "--stack", "dev", "--set", "sise=1"], 1, "has no field 'sise'", id="no-such-field"
        ),
        pytest.param([f"{MYSQL}/a/b", "--stack", "dev", "--set", "region"], 1, "name=value", id="no-value"),
        pytest.param(
            [f"{MYSQL}/a/b", "--stack", "dev", "--set", "region=eu"],
            1,
            "use one of: us-west, us-east",
            id="not-in-list",
        ),
        pytest.param([f"{MYSQL}/a/b", "--stack", "dev", "--set", "storageGB=x"], 1, "type integer", id="wrong-type"),
        pytest.param(
            [f"{MYSQL}/a/b", "--stack", "dev", "--class", "simple"], 1, "no class 'simple'", id="no-such-class"
        ),
        pytest.param(["ManagedInstanceGroup/b", "--stack", "showcase"], 1, "--set zone=…", id="nothing-to-propose"),
        pytest.param([], 2, "--stack", id="nothing-said"),
    ],
)
def test_claims_that_are_refused(project: Path, words: list[str], code: int, want: str) -> None:
    before = contents(project)
    ran = run("new", "claim", *words)
    assert ran.exit_code == code, ran.output
    assert want in ran.stderr
    assert contents(project) == before


@pytest.mark.parametrize(
    ("field", "text", "want"),
    [
        pytest.param(Field("f", "string"), "no", "no", id="a-word-stays-a-word"),
        pytest.param(Field("f", "boolean"), "true", True, id="boolean"),
        pytest.param(Field("f", "number"), "1.5", 1.5, id="number"),
        pytest.param(Field("f", "object"), "{a: 1}", {"a": 1}, id="object"),
        pytest.param(Field("f", "array"), "[a, b]", ["a", "b"], id="array"),
        pytest.param(Field("f"), "3", 3, id="anything"),
    ],
)
def test_values(field: Field, text: str, want: object) -> None:
    assert read_as(field, text) == want


@pytest.mark.parametrize(
    ("field", "text"),
    [
        pytest.param(Field("f", "integer"), "true", id="a-boolean-is-no-number"),
        pytest.param(Field("f", "integer"), "1.5", id="not-whole"),
        pytest.param(Field("f", "boolean"), "1", id="a-number-is-no-boolean"),
        pytest.param(Field("f", "object"), "{", id="no-yaml"),
        pytest.param(Field("f", "string", values=("a",)), "b", id="not-in-the-list"),
    ],
)
def test_values_that_are_refused(field: Field, text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_as(field, text)
    assert caught.value.problems[0].fix


def test_a_required_object_is_filled_within() -> None:
    inner = (Field("tier", "string", True, ("a", "b")), Field("size", "integer", default=3))
    form = form_of(SHOWCASE, GroupKind.parse(MYSQL))
    field = Field("settings", "object", True, inner=inner)
    text = claim_text(type(form)(form.kind, form.api_version, (field,), ()), claim_key(SHOWCASE, f"{MYSQL}/a/b"))
    assert yaml.safe_load(text)["spec"]["settings"] == {"tier": "a"}
    assert "    # an integer; default: 3\n    # size: 3\n" in text


# on a terminal


def test_a_terminal_is_asked_for_what_is_missing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold, "_on_terminal", lambda: True)
    answers = "\n".join(
        ["showcase", "ManagedInstanceGroup.compute.example.org", "", "workers-2", "us-west1-a", "x", "3"]
    )
    ran = run("new", "claim", stdin=answers + "\n")
    assert "ManagedInstanceGroup.compute.example.org is in no namespace" in ran.stderr
    ran = run("new", "claim", "ManagedInstanceGroup/workers-2", "--stack", "showcase", stdin="us-west1-a\nx\n3\n")
    assert ran.exit_code == 0, ran.output
    assert "'x' is no value for size" in ran.stderr
    written = yaml.safe_load((project / "stacks/showcase/claims/workers-2.yaml").read_text())
    assert (written["spec"]["zone"], written["spec"]["size"]) == ("us-west1-a", 3)


def test_a_real_terminal_is_asked(project: Path) -> None:
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "claimsmith.cli", "new", "claim", "--stack", "dev"]
    with subprocess.Popen(command, cwd=project, stdin=inner, stdout=inner, stderr=inner) as process:
        os.close(inner)
        os.write(outer, f"{MYSQL}\nteam\nasked\n".encode())
        assert process.wait() == 0
    os.close(outer)
    written = yaml.safe_load((project / "stacks/dev/claims/asked.yaml").read_text())
    assert written["metadata"] == {"namespace": "team", "name": "asked"}


# classes

GROUP, REDIS = "azure.crossplane.io/v1alpha3/ResourceGroup", "cache.azure.crossplane.io/v1beta1/Redis"
CACHE = ["--claim", "platform.example.org/v1alpha1/Cache", "--makes", GROUP, "--makes", REDIS]


def test_a_class_is_read_and_its_parts_find_each_other(project: Path) -> None:
    ran = run(
        "new", "class", "small-cache", *CACHE, "--label", "size=small", "--default", "--description", "A cache: x"
    )
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == "components/small-cache/class.yaml\ncomponents/small-cache/component.py\n"
    assert "claimsmith generate" in ran.stderr
    (offer,) = offers.offers(Project(project).catalog(), GroupKind("platform.example.org", "Cache"))
    assert (offer.default, dict(offer.klass.labels), offer.makes) == (
        "default",
        {"size": "small"},
        ["ResourceGroup", "Redis"],
    )
    assert offer.klass.templates[1].base["spec"]["forProvider"] == {
        "resourceGroupNameSelector": {"matchComposite": True}
    }
    assert run("generate", "--check").exit_code == 0
    assert run("validate", "dev").exit_code == 0


def test_the_page_shows_a_class() -> None:
    claim, *makes = (Kind.parse(word) for word in CACHE[1::2])
    (shown,) = (text for text in SHOWN if "kind: Redis" in text)
    assert shown in class_text(NewClass("small-cache", claim, makes), PROJECT.table())


def test_a_class_is_claimed_right_away(project: Path) -> None:
    assert run("new", "class", "small-cache", *CACHE, "--default").exit_code == 0
    assert run("new", "claim", "Cache/team/sessions", "--stack", "dev").exit_code == 0
    assert "kind: Redis" in run("render", "dev", "Cache.platform.example.org/team/sessions").stdout


@pytest.mark.parametrize(
    ("words", "code", "want"),
    [
        pytest.param(["private-mysql-server", *CACHE], 1, "there is a class", id="same-class"),
        pytest.param(["redis", *CACHE], 1, "is there already", id="same-file"),
        pytest.param(["Small_Cache", *CACHE], 1, "is no name for a class", id="bad-name"),
        pytest.param(["../up", *CACHE], 1, "is no name for a class", id="a-way-out-of-the-folder"),
        pytest.param(["x", "--claim", "Cache", "--makes", GROUP], 1, "'Cache' is no kind", id="kind-alone"),
        pytest.param(["x", "--claim", "a/v1/cache", "--makes", GROUP], 1, "is no kind", id="small-kind"),
        pytest.param(["x", "--claim", "a/one/Cache", "--makes", GROUP], 1, "is no kind", id="no-version"),
        pytest.param(["x", *CACHE, "--label", "small"], 2, "is not name=value", id="bad-label"),
        pytest.param(["x", "--claim", "a.org/v1/Cache"], 2, "--makes", id="makes-nothing"),
        pytest.param([], 2, "NAME", id="nothing-said"),
    ],
)
def test_classes_that_are_refused(project: Path, words: list[str], code: int, want: str) -> None:
    before = contents(project)
    ran = run("new", "class", *words)
    assert ran.exit_code == code, ran.output
    assert want in ran.stderr
    assert contents(project) == before


def test_a_terminal_is_asked_for_a_class(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold, "_on_terminal", lambda: True)
    ran = run("new", "class", stdin=f"small-cache\nplatform.example.org/v1alpha1/Cache\n{GROUP} {REDIS}\n")
    assert ran.exit_code == 0, ran.output
    assert (project / "components/small-cache/class.yaml").is_file()


def test_core_kinds_need_no_group() -> None:
    text = class_text(NewClass("x", Kind.parse("a.org/v1/Thing"), [Kind.parse("v1/ConfigMap")]), {})
    assert "apiVersion: v1\n      kind: ConfigMap" in text
