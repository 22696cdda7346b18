"""Every mistake that a user can make: reported with file, line and fix, exit code 1, and nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import BindingError, EngineError
from claimsmith.cli.app import app
from claimsmith.project.project import Project, find_root
from tests.support.refusal_files import (
    BOMB,
    CLAIM,
    CLASS,
    FILES,
    KEY,
    PATH_BINDINGS,
    PATH_CLAIM,
    PATH_CLASS,
    ROW,
    bindings,
    claim,
    klass,
    spoilt,
)
from tests.support.samples import contents, write_files

Files = dict[str, str | bytes]
RENDER, BIND, VALIDATE, GENERATE = ["render", "dev"], ["bind", "dev"], ["validate"], ["generate"]
OTHER_CLASS = spoilt(spoilt(CLASS, "name: small", "name: cache"), "kind: Database", "kind: Cache")
BIG_CLASS = spoilt(CLASS, "name: small", "name: big")
SECOND_CLAIM = spoilt(CLAIM, "  namespace: default\n  name: sql", "  namespace: default\n  name: two")
REFERENCES = "references:\n  A.x.example.org: {b: B.x.example.org}\n  B.x.example.org: {a: A.x.example.org}\n"
RING = CLASS.split("  resources:")[0] + "  resources:\n" + "".join(
    f"  - base: {{apiVersion: x.example.org/v1, kind: {k}, spec: {{{o}Selector: {{matchComposite: true}}}}}}\n"
    for k, o in (("A", "b"), ("B", "a"))
)  # fmt: skip
SERVER = CLASS[CLASS.index("  - base:\n      apiVersion: database.azure") :]
UID_NAMED = (
    "    patches:\n    - fromClaimFieldPath: metadata.uid\n"
    "      toResourceFieldPath: spec.writeConnectionSecretToRef.name\n"
)
REQUIRED = "toResourceFieldPath: spec.size\n      policy: {fromFieldPath: Required}"
ONE_PATCH = "[{fromClaimFieldPath: spec.a, toResourceFieldPath: spec.b}]"
SOON = "{annotations: {claimsmith.io/timeout: soon}}"
DEEP = "a: " + "[" * 80 + "]" * 80 + "\n"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    return CliRunner()


def refused(runner: CliRunner, root: Path, command: list[str]) -> tuple[int, str]:
    """The exit code and standard error; nothing may be written, and no traceback shown."""
    before = contents(root)
    result = runner.invoke(app, command)
    assert contents(root) == before
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit | type(None)), result.exception
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("files", "command", "place", "word"),
    [
        # Binding
        pytest.param(
            claim("name: small", "name: smal"), [*BIND, "--check"], f"{PATH_CLAIM}:12:5", "'small'", id="unknown-class"
        ),
        pytest.param(
            claim("name: small", "name: smal"), VALIDATE, f"{PATH_CLAIM}:12:5", "'small'", id="unknown-class-validate"
        ),
        pytest.param(
            {**claim("name: small", "name: cache"), "components/y/class.yaml": OTHER_CLASS},
            [*BIND, "--check"],
            f"{PATH_CLAIM}:9:3",
            "serves Cache.database.example.org",
            id="class-of-another-kind",
        ),
        pytest.param(bindings(ROW), RENDER, f"{PATH_CLASS}:6:1", "changed", id="class-changed-after-binding"),
        pytest.param(
            bindings(ROW.replace("/small", "/gone")), RENDER, f"{PATH_BINDINGS}:4", "gone", id="bound-class-gone"
        ),
        pytest.param(
            {**bindings(ROW.replace("/small", "/big")), "components/y/class.yaml": BIG_CLASS},
            BIND,
            f"{PATH_CLAIM}:12:5",
            "classRef now names",
            id="class-ref-changed-after-binding",
        ),
        pytest.param(bindings(ROW, ROW), BIND, f"{PATH_BINDINGS}:9", "twice", id="bound-twice"),
        pytest.param(bindings(ROW[:-30]), BIND, f"{PATH_BINDINGS}:8", "", id="digest-cut-short"),
        pytest.param(bindings("- claim: 'half"), BIND, f"{PATH_BINDINGS}:4", "YAML", id="bindings-half-written"),
        pytest.param({PATH_BINDINGS: b"\xff\xfe\x00"}, BIND, PATH_BINDINGS, "UTF-8", id="bindings-that-are-no-text"),
        pytest.param(
            {PATH_BINDINGS: "- a\n- b\n"}, BIND, f"{PATH_BINDINGS}:1", "mapping", id="bindings-that-are-a-list"
        ),
        # Composing
        pytest.param(claim("us-west", "us-wst"), RENDER, f"{PATH_CLAIM}:7:3", "us-west", id="map-key-missing"),
        pytest.param(claim("size: 10", "size: ten"), RENDER, f"{PATH_CLAIM}:8:3", "number", id="math-on-text"),
        pytest.param(
            {**klass("toResourceFieldPath: spec.size", REQUIRED), **claim("  size: 10\n", "")},
            RENDER,
            f"{PATH_CLAIM}:6:1",
            "spec.size",
            id="required-field-missing",
        ),
        pytest.param(
            klass("reclaimPolicy: Delete", "reclaimPolicy: Keep"),
            RENDER,
            f"{PATH_CLASS}:11",
            "Keep",
            id="reclaim-policy",
        ),
        pytest.param(
            klass("kind: MySQLServer\n", f"kind: MySQLServer\n      metadata: {SOON}\n"),
            RENDER,
            f"{PATH_CLASS}:28",
            "soon",
            id="timeout",
        ),
        # References
        pytest.param(
            klass("kind: ResourceGroup", "kind: ResourceGroop"),
            RENDER,
            f"{PATH_CLASS}:33:11",
            "no ResourceGroup",
            id="selector-matches-nothing",
        ),
        pytest.param(
            klass("resourceGroupNameSelector", "thingSelector"),
            RENDER,
            f"{PATH_CLASS}:33:11",
            "'thing'",
            id="selector-not-in-the-table",
        ),
        pytest.param(
            {PATH_CLASS: RING, "components/references.yaml": REFERENCES},
            RENDER,
            f"{PATH_CLASS}:6:1",
            "circle",
            id="circle",
        ),
        pytest.param(
            {PATH_CLASS: RING, "components/references.yaml": REFERENCES},
            GENERATE,
            PATH_CLASS,
            "circle",
            id="circle-when-generating",
        ),
        pytest.param(
            {"components/references.yaml": "refs: {}\n"}, RENDER, "components/references.yaml:1", "refs", id="bad-table"
        ),
        # Secrets
        pytest.param(
            {"stacks/dev/claims/d.yaml": SECOND_CLAIM},
            RENDER,
            "stacks/dev/claims/d.yaml:14:5",
            "both write Secret",
            id="two-claims-one-secret",
        ),
        pytest.param(
            {PATH_CLASS: CLASS + UID_NAMED + SERVER + UID_NAMED},
            RENDER,
            f"{PATH_CLAIM}:5:3",
            "both write Secret",
            id="two-children-one-secret",
        ),
        # Classes
        pytest.param(klass("type: map", "type: mpa"), VALIDATE, f"{PATH_CLASS}:21", "'map'", id="unknown-transform"),
        pytest.param(
            klass("multiply: 1024", "multiply: 1k"), VALIDATE, f"{PATH_CLASS}:27", "integer", id="multiply-by-a-word"
        ),
        pytest.param(
            klass("fromClaimFieldPath: spec.region", "fromClaimFieldPat: spec.region"),
            VALIDATE,
            f"{PATH_CLASS}:18",
            "'fromClaimFieldPath'",
            id="misspelt-field",
        ),
        pytest.param(
            klass("      kind: ResourceGroup\n", ""), VALIDATE, f"{PATH_CLASS}:11", "no kind", id="base-without-kind"
        ),
        pytest.param(
            klass("    patches:\n", f"    patch: {ONE_PATCH}\n    patches:\n"),
            VALIDATE,
            f"{PATH_CLASS}:11",
            "'patches'",
            id="patch-and-patches",
        ),
        pytest.param(
            klass("name: small", "name: Small_One"), VALIDATE, f"{PATH_CLASS}:4", "Kubernetes name", id="bad-name"
        ),
        pytest.param(klass("tier: gold", f"tier: {'g' * 64}"), VALIDATE, f"{PATH_CLASS}:5", "63", id="long-label"),
        pytest.param(
            {"components/y/class.yaml": CLASS}, VALIDATE, "components/y/class.yaml:4", "twice", id="class-twice"
        ),
        pytest.param(
            {"stacks/dev/claims/d.yaml": CLAIM}, VALIDATE, "stacks/dev/claims/d.yaml:5", "twice", id="claim-twice"
        ),
        pytest.param(
            claim("name: sql\nspec", "name: sql!\nspec"),
            VALIDATE,
            f"{PATH_CLAIM}:5",
            "Kubernetes name",
            id="bad-claim-name",
        ),
        # YAML
        pytest.param(
            claim("  size: 10", "  size: 10\n  size: 11"),
            VALIDATE,
            f"{PATH_CLAIM}:9:3",
            "'size' occurs twice",
            id="key-twice",
        ),
        pytest.param({PATH_CLAIM: "- a\n"}, VALIDATE, f"{PATH_CLAIM}:1", "a list", id="not-a-mapping"),
        pytest.param(claim("size: 10", "size: !!python/tuple [1]"), VALIDATE, f"{PATH_CLAIM}:8", "tag", id="tag"),
        pytest.param(
            claim("  size: 10", "  <<: {size: 10}"), VALIDATE, f"{PATH_CLAIM}:8", "merge keys", id="merge-key"
        ),
        pytest.param({PATH_CLAIM: BOMB}, VALIDATE, PATH_CLAIM, "too large", id="alias-bomb"),
        pytest.param({PATH_CLAIM: DEEP}, VALIDATE, f"{PATH_CLAIM}:1", "too deep", id="too-deep"),
        pytest.param({PATH_CLAIM: b"kind: \xff\n"}, VALIDATE, f"{PATH_CLAIM}:1", "UTF-8", id="not-utf-8"),
        pytest.param({PATH_CLAIM: "a: [1\n"}, VALIDATE, f"{PATH_CLAIM}:2", "YAML", id="not-yaml"),
        pytest.param(
            {"Pulumi.yaml": "runtime: python\n"}, RENDER, "Pulumi.yaml:1", "name", id="project-without-a-name"
        ),
        # Arguments
        pytest.param({}, ["render", "dve"], "", "'dev'", id="unknown-stack"),
        pytest.param({}, ["bind", "../dev"], "", "stack", id="stack-that-leads-elsewhere"),
        pytest.param({}, [*RENDER, KEY.replace("sql", "sqll")], "", KEY, id="unknown-claim"),
        pytest.param({}, [*BIND, "--rebind", "sqll"], "", "'sql'", id="unknown-claim-to-rebind"),
        # Components
        pytest.param({}, VALIDATE, f"{PATH_CLASS}:4", "claimsmith generate", id="missing-component"),
        pytest.param(
            {"components/x/component.py": "# old\n"}, VALIDATE, f"{PATH_CLASS}:4", "stale", id="stale-component"
        ),
        pytest.param(
            {"components/x/component.py": b"\xff"}, VALIDATE, f"{PATH_CLASS}:4", "stale", id="component-that-is-no-text"
        ),
    ],
)
def test_refusals(runner: CliRunner, tmp_path: Path, files: Files, command: list[str], place: str, word: str) -> None:
    write_files(tmp_path, {**FILES, **files})
    code, said = refused(runner, tmp_path, command)
    assert code == 1
    assert place in said
    assert word in said
    assert "  fix: " in said


@pytest.mark.parametrize(
    ("files", "place", "word"),
    [
        pytest.param(
            claim("kind: Database", "kind: Databse"), f"{PATH_CLAIM}:9:3", "small", id="kind-that-nobody-serves"
        ),
    ],
)
def test_named_class_for_a_kind_that_nobody_serves(
    runner: CliRunner, tmp_path: Path, files: Files, place: str, word: str
) -> None:
    write_files(tmp_path, {**FILES, **files})
    code, said = refused(runner, tmp_path, [*BIND, "--check"])
    assert (code, place in said, word in said) == (1, True, True)


NO_CLASS_REF = CLAIM[: CLAIM.index("  classRef")]


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        pytest.param(
            spoilt(NO_CLASS_REF, "Database", "Cache"), f"{PATH_CLAIM}:6:1", "add a class", id="nobody-serves-it"
        ),
        pytest.param(NO_CLASS_REF, f"{PATH_CLAIM}:6:1", "small (tier=gold)", id="no-default-class"),
        pytest.param(
            NO_CLASS_REF + "  classSelector: {matchLabels: {tier: tin}}\n",
            f"{PATH_CLAIM}:9:3",
            "tier=gold",
            id="selector",
        ),
    ],
)
def test_a_claim_without_a_class_is_reported_and_the_rest_goes_on(
    runner: CliRunner, tmp_path: Path, text: str, place: str, word: str
) -> None:
    write_files(tmp_path, {**FILES, PATH_CLAIM: text, "stacks/dev/claims/d.yaml": SECOND_CLAIM})
    result = runner.invoke(app, BIND)
    assert result.exit_code == 0
    assert f"warning: {place}" in result.stderr
    assert word in result.stderr
    assert "default/two" in (tmp_path / PATH_BINDINGS).read_text()


def test_an_unrecorded_binding_is_refused_by_the_deployment(tmp_path: Path) -> None:
    project = Project(write_files(tmp_path, FILES))
    with pytest.raises(BindingError) as caught:
        project.plan("dev")
    [problem] = caught.value.problems
    assert (str(problem.where), problem.fix) == (f"{PATH_CLAIM}:2:1", "run: claimsmith bind dev")


@pytest.mark.parametrize("name", ["link.yaml", "deep/link.yaml"])
def test_a_link_out_of_the_project_is_not_followed(runner: CliRunner, tmp_path: Path, name: str) -> None:
    root = write_files(tmp_path / "project", FILES)
    outside = tmp_path / "outside.yaml"
    outside.write_text("password: hunter2\n")
    link = root / "stacks/dev/claims" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    result = runner.invoke(app, ["--project", str(root), *VALIDATE])
    assert result.exit_code == 1
    assert f"stacks/dev/claims/{name}" in result.stderr
    assert "hunter2" not in result.output


def test_a_folder_that_is_no_project(runner: CliRunner, tmp_path: Path) -> None:
    code, said = refused(runner, tmp_path, VALIDATE)
    assert code == 1
    assert "Pulumi.yaml" in said
    assert "--project" in said


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(VALIDATE, id="validate"),
        pytest.param(["validate", "--output", "json"], id="json"),
        pytest.param(RENDER, id="render"),
        pytest.param(["render", "xr.yaml", "composition.yaml"], id="render-files"),
        pytest.param(["convert", "class.yaml"], id="convert"),
        pytest.param(["init", "shop"], id="init"),
    ],
)
def test_a_current_folder_that_was_removed(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    result = runner.invoke(app, words)
    assert result.exit_code == 1
    assert "the current folder was removed" in result.stderr
    assert "fix: change into a folder that exists, or use --project FOLDER" in result.stderr
    assert ('"problems"' in result.stdout) == ("json" in words)


def test_a_bug_in_a_folder_that_exists_is_called_so(runner: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Path | None = None) -> Path:
        raise FileNotFoundError("a file of ours")

    monkeypatch.setattr("claimsmith.project.project.find_root", missing)
    result = runner.invoke(app, VALIDATE)
    assert result.exit_code == 3
    assert "this is a bug of claimsmith: FileNotFoundError: a file of ours" in result.stderr


def test_find_root_from_below(tmp_path: Path) -> None:
    root = write_files(tmp_path, FILES)
    assert find_root(root / "stacks" / "dev") == root


def test_all_files_problems_are_told_at_once(runner: CliRunner, tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, PATH_CLAIM: "- a\n", "stacks/dev/claims/d.yaml": "b: !x 1\n"})
    _, said = refused(runner, tmp_path, RENDER)
    assert f"{PATH_CLAIM}:1" in said
    assert "stacks/dev/claims/d.yaml:1" in said


def test_problems_are_the_same_for_a_machine(runner: CliRunner, tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, **claim("us-west", "us-wst")})
    with pytest.raises(EngineError) as caught:
        Project(tmp_path).plan("dev", unrecorded_ok=True)
    problem: Any = caught.value.problems[0].to_dict()
    assert problem["where"] == {"file": PATH_CLAIM, "line": 7, "column": 3}
