"""Every check by its name: reported where something is wrong, silent elsewhere, in docs/reference/checks.md."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import Problem, Source
from claimsmith.cli.app import app
from claimsmith.dialects.definitions import crds
from claimsmith.project.project import Project
from claimsmith.tools import validate
from claimsmith.tools.validate import Report
from claimsmith.tools.validate.rules import RULES
from tests.support import native_classes, no_cluster_files, patch_mistakes
from tests.support.check_files import BUCKET, PATH, Files, store
from tests.support.paths import ROOT
from tests.support.platform_files import REDIS
from tests.support.refusal_files import CLAIM, CLASS, FILES, PATH_CLASS, ROW, bindings, claim, klass, spoilt
from tests.support.samples import write_files

PAGE = ROOT / "docs" / "reference" / "checks.md"
IS_DEFAULT = 'resourceclass.crossplane.io/is-default-class: "true"'
DEFINITION = "components/store/definition.yaml"


def second(text: str, *changes: tuple[str, str]) -> Files:
    """Another class like the small one."""
    text = spoilt(text, "name: small", "name: other")
    for old, new in changes:
        text = spoilt(text, old, new)
    return {"components/y/class.yaml": text}


def weighing(weight: str, text: str = CLASS) -> str:
    annotation = f"annotations: {{resourceclass.crossplane.io/weight: {weight}}}"
    return spoilt(text, "  labels: {tier: gold}\n", f"  labels: {{tier: gold}}\n  {annotation}\n")


def default(text: str) -> str:
    return spoilt(text, "  labels: {tier: gold}\n", f"  annotations: {{{IS_DEFAULT}}}\n")


def crossplane(*changes: tuple[str, str], xrd: tuple[str, str] | None = None, more: str = "") -> Files:
    """The store of Crossplane, changed."""
    files = store("crossplane")
    text = str(files[PATH])
    for old, new in changes:
        text = spoilt(text, old, new)
    files[PATH] = text + more
    if xrd:
        files[DEFINITION] = spoilt(str(files[DEFINITION]), *xrd)
    return files


def looped(line: str) -> Files:
    """The store, its bucket with a loop or a condition."""
    files = store("2020")
    return {**files, PATH: spoilt(str(files[PATH]), "  - name: bucket\n", f"  - name: bucket\n    {line}\n")}


def stores_of_2020(old: str, new: str) -> Files:
    files = store("2020")
    return {**files, DEFINITION: spoilt(str(files[DEFINITION]), old, new), "components/other/composition.yaml": OTHER}


OTHER = str(store("2020")[PATH]).replace("name: plain", "name: other")
FORCED = "{apiVersion: apiextensions.crossplane.io/v1alpha1, kind: Composition, name: plain}"
DETAIL = ("    base:\n", "    connectionDetails: [{name: a, type: FromValue, value: x}]\n    base:\n")
KEYS = ("  names: {kind: Store", "  connectionSecretKeys: [a]\n  names: {kind: Store")
SETS = ("  resources:\n", "  patchSets:\n  - name: shared\n    patches: [{fromFieldPath: spec.note}]\n  resources:\n")
USED = ("    base:\n", "    patches: [{type: PatchSet, patchSetName: shared}]\n    base:\n")
SHARED_TO = (SETS[0], SETS[1].replace("spec.note}", "spec.note, toFieldPath: spec.label}"))
TWICE = (SETS[0], SHARED_TO[1].replace("  resources:", "  - name: shared\n    patches: []\n  resources:"))
ENFORCED = ("  names:", "  enforcedCompositionRef: {name: plain}\n  names:")
SELECTOR = "{matchComposite: true}"
OF_CLAIMS = crds.claim_crd("database.example.org/v1alpha1", "Database")
SUBNET = (
    "apiVersion: azure.crossplane.io/v1alpha3\nkind: ResourceGroup\nmetadata: {name: n, labels: {a: b}}\nspec: {}\n"
)


def claim_crd(*, scope: str = "Namespaced", size: str = "integer") -> Files:
    crd = json.loads(json.dumps(OF_CLAIMS))
    crd["spec"]["scope"] = scope
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec.pop("x-kubernetes-preserve-unknown-fields")
    spec["properties"] |= {"region": {"type": "string"}, "size": {"type": size}}
    return {"components/x/claim.yaml": json.dumps(crd)}


NATIVE: Files = {k: v for k, v in no_cluster_files.FILES.items() if k != "Pulumi.yaml"}


def neighbour(name: str) -> Files:
    """A claim of another namespace, beside that of `NATIVE`."""
    text = no_cluster_files.CLAIM.replace("name: orders, namespace: default", f"name: {name}, namespace: other")
    return {"stacks/dev/claims/other.yaml": text}


FIXED_NAME: Files = {
    "components/postgresql/class.yaml": f"{no_cluster_files.CLASS}"
    "  - {name: app, base: {type: 'postgresql:Role', properties: {name: app}, options: {provider: main}}}\n"
}
"""The class of `NATIVE` with a resource that has one name for all claims."""


def plugin(path: str) -> Files:
    """A project with the plugin of a provider at a path."""
    return {"Pulumi.yaml": f"name: shop\nruntime: python\nplugins: {{providers: [{{name: random, path: {path}}}]}}\n"}


def native(old: str = "login: true", new: str = "login: true") -> Files:
    """A class of native resources, changed."""
    return {native_classes.PATH: native_classes.changed(old, new)[native_classes.PATH]}


DEPRECATED = native_classes.with_resource(
    "      type: postgresql:DefaultPrivileg\n"
    "      properties: {database: a, objectType: table, owner: b, privileges: [], role: c}\n"
)


def group_crd(version: str = "v1alpha3") -> Files:
    text = BUCKET.replace("storage.example.org", "azure.crossplane.io").replace("Bucket", "ResourceGroup")
    text = text.replace("buckets", "resourcegroups").replace("name: v1\n", f"name: {version}\n")
    text = text.replace("maximum: 100}", "maximum: 20480}").replace("enum: [eu-1, us-1]", "minLength: 1")
    known = "location: {type: string}\n              reclaimPolicy: {type: string}\n              public:"
    return {"components/x/group.yaml": spoilt(text, "public:", known)}


def static_claim(kind: str) -> str:
    head = f"apiVersion: database.example.org/v1alpha1\nkind: {kind}\n"
    return f"{head}metadata: {{namespace: default, name: b}}\nspec: {{}}\n"


NAMED = claim("  name: sql\nspec", "  name: sql\n  annotations: {crossplane.io/external-name: mine}\nspec")
TAKEN: Files = {"stacks/dev/claims/other.yaml": str(next(iter(NAMED.values()))).replace("name: sql\n", "name: other\n")}
NO_NAMESPACE = "apiVersion: claimsmith.io/v1alpha1\nkind: Settings\nclaims:\n- folder: .\n"
GROUP = "  - base: {apiVersion: azure.crossplane.io/v1alpha3, kind: ResourceGroup, spec: {}}\n"
PLAIN = "        forProvider:\n          resourceGroupNameSelector: {matchComposite: true}\n"

TWO_GROUPS = spoilt(spoilt(CLASS, PLAIN, ""), "  resources:\n", f"  resources:\n{GROUP}")


SELECTS_BY_LABELS = spoilt(
    CLASS,
    PLAIN,
    "        forProvider: {resourceGroupNameSelector: {matchLabels: {a: b}}}\n",
)
LABELLED = spoilt(GROUP, "ResourceGroup,", "ResourceGroup, metadata: {labels: {a: b}},")
LABELLED_FIRST = spoilt(SELECTS_BY_LABELS, "  resources:\n", f"  resources:\n{LABELLED}")


def table(kind: str) -> Files:
    """A table of the project with one kind of a provider that claimsmith knows."""
    return {"components/review.yaml": f"immutable: {{{kind}.azure.crossplane.io: [spec.location]}}\n"}


ROWS: list[tuple[str, Files, Files]] = [
    ("unreadable-file", {"components/x/bad.yaml": "a: [\n"}, {"components/x/bad.yaml": ""}),
    ("invalid-document", klass("kind: Database", "kid: Database"), {}),
    ("doubtful-document", crossplane(TWICE, USED), crossplane(SHARED_TO, USED)),
    ("weight-not-a-number", {PATH_CLASS: weighing("heavy")}, {PATH_CLASS: weighing('"5"')}),
    ("default-as-label", klass("{tier: gold}", f"{{{IS_DEFAULT}}}"), {PATH_CLASS: default(CLASS)}),
    ("several-defaults", {PATH_CLASS: default(CLASS), **second(default(CLASS))}, {PATH_CLASS: default(CLASS)}),
    (
        "missing-composition",
        stores_of_2020("spec:\n", f"spec:\n  defaultComposition: {FORCED.replace('plain', 'plane')}\n"),
        stores_of_2020("spec:\n", f"spec:\n  defaultComposition: {FORCED}\n"),
    ),
    (
        "missing-composition",
        crossplane(xrd=("  names:", "  defaultCompositionRef: {name: plane}\n  names:")),
        crossplane(xrd=("  names:", "  defaultCompositionRef: {name: plain}\n  names:")),
    ),
    ("undefined-kind", crossplane(("kind: Store}", "kind: Stor}")), crossplane()),
    (
        "class-never-selected",
        stores_of_2020("spec:\n", f"spec:\n  forceComposition: {FORCED}\n"),
        stores_of_2020("spec:\n", f"spec:\n  defaultComposition: {FORCED}\n"),
    ),
    (
        "class-never-selected",
        {**second(weighing('"5"'))},
        {**second(weighing('"5"'), ("tier: gold", "tier: silver"))},
    ),
    (
        "class-never-selected",
        {**crossplane(xrd=ENFORCED), "components/o/c.yaml": str(crossplane()[PATH]).replace(": plain", ": other")},
        crossplane(xrd=ENFORCED),
    ),
    (
        "class-never-selected",
        klass("labels: {tier: gold}", "annotations: {claimsmith.io/stacks: dve}"),
        klass("labels: {tier: gold}", 'annotations: {claimsmith.io/stacks: "dev, prod"}'),
    ),
    ("connection-key-missing", crossplane(xrd=KEYS), crossplane(DETAIL, xrd=KEYS)),
    (
        "connection-key-dropped",
        crossplane((DETAIL[0], DETAIL[1].replace("name: a", "name: b")), xrd=KEYS),
        crossplane(DETAIL, xrd=KEYS),
    ),
    ("patch-set-unused", crossplane(SHARED_TO), crossplane(SHARED_TO, USED)),
    ("loop-unsound", looped("forEach: {each: zone, in: spec.zone}"), looped("forEach: {each: zone, in: spec.zones}")),
    ("loop-unsound", looped("forEach: {each: it, in: spec.note}"), looped("forEach: {each: it, in: spec.zones}")),
    ("loop-unsound", looped("when: spec.publik"), looped("when: spec.public")),
    ("loop-unsound", looped("when: spec.not.startsWith('a')"), looped("when: spec.note.startsWith('a')")),
    ("condition-invalid", looped("when: spec.size + 1"), looped("when: spec.size > 1")),
    ("condition-invalid", looped("when: spec.size >"), looped("when: has(spec.size)")),
    ("condition-invalid", looped("when: spec.size > '5'"), looped("when: spec.size > 5")),
    ("condition-invalid", looped("when: spec.size.startsWith('5')"), looped("when: spec.note.startsWith('5')")),
    ("condition-invalid", looped("when: spec.note.startsWith(5)"), looped("when: spec.note.endsWith('5')")),
    ("condition-invalid", looped("when: spec.note.starts('5')"), looped("when: spec.note.contains('5')")),
    ("condition-invalid", looped("when: metadata.name == 5"), looped("when: metadata.name == '5'")),
    (
        "definition-unsound",
        crossplane(xrd=("note: {type: string}", "note: {type: string, nam: x}")),
        crossplane(xrd=("note: {type: string}", "note: {type: string, description: x}")),
    ),
    (
        "unquoted-text",
        crossplane(xrd=("note: {type: string}", "note: {type: string, default: 1.16}")),
        crossplane(xrd=("note: {type: string}", 'note: {type: string, default: "1.16"}')),
    ),
    ("incomplete-claim-definition", claim_crd(scope="Cluster"), claim_crd()),
    ("version-not-served", group_crd(version="v1beta1"), group_crd()),
    ("version-not-served", crossplane(("acme.example.org/v1,", "acme.example.org/v2,")), crossplane()),
    (
        "reference-unknown",
        klass("resourceGroupNameSelector", "resourceNameSelector"),
        {},
    ),
    ("reference-never-matches", klass("kind: ResourceGroup", "kind: Resources"), {}),
    (
        "reference-never-matches",
        klass(SELECTOR, "{matchLabels: {a: b}}"),
        {**klass(SELECTOR, "{matchLabels: {a: b}}"), "stacks/dev/resources/n.yaml": SUBNET},
    ),
    ("reference-created-later", {PATH_CLASS: SELECTS_BY_LABELS + LABELLED}, {PATH_CLASS: LABELLED_FIRST}),
    ("unbound-claim", {"stacks/dev/claims/more.yaml": static_claim("Database")}, {}),
    ("unrecorded-binding", {}, {"stacks/dev/claims/c.yaml": ""}),
    ("class-changed", bindings(ROW), {}),
    ("empty-stack", {"stacks/next/claim/c.yaml": CLAIM}, {"stacks/next/claims/c.yaml": CLAIM}),
    ("unknown-table-kind", table("ResourceGroups"), table("ResourceGroup")),
    ("broken-binding", bindings(ROW.replace("/small", "/gone")), {}),
    ("claim-invalid", claim_crd(size="boolean"), claim_crd()),
    ("claim-field-unread", claim("size: 10", "sise: 10"), {}),
    ("claim-field-unread", {**claim_crd(), **claim("size: 10", "sise: 10")}, claim_crd()),
    ("cannot-plan", claim("us-west", "us-wst"), {}),
    ("provider-unknown", {**NATIVE, "stacks/Pulumi.dev.yaml": "{}"}, NATIVE),
    ("plugin-missing", plugin("plugins/random"), plugin("components")),
    ("result-invalid", {**group_crd(), **claim("size: 10", "size: 30")}, group_crd()),
    ("not-permitted", {"claimsmith.yaml": NO_NAMESPACE}, {}),
    ("external-name-taken", {**NAMED, **TAKEN}, NAMED),
    ("shared-external-name", {PATH_CLASS: TWO_GROUPS, **NAMED}, {PATH_CLASS: TWO_GROUPS}),
    ("external-name-taken", {**NATIVE, **neighbour("orders")}, {**NATIVE, **neighbour("bills")}),
    ("shared-physical-name", {**NATIVE, **FIXED_NAME, **neighbour("bills")}, {**NATIVE, **FIXED_NAME}),
    ("base-invalid", {**group_crd(), **klass("location: West US\n", "loction: West US\n")}, group_crd()),
    ("unquoted-text", {**group_crd(), **klass("location: West US\n", "location: 1.16\n")}, group_crd()),
    ("missing-sdk", native("random:RandomPassword", "nowhere:Password"), native()),
    ("unknown-resource-type", native("random:RandomPassword", "random:RandomPasword"), native()),
    ("unknown-output", native("outputs.result", "outputs.resut"), native()),
    ("output-type-mismatch", native("login: true", 'connectionLimit: "${password.result}"'), native()),
    ("deprecated-type", {**native(), **DEPRECATED}, native()),
    ("deprecated-property", native("login: true", "encrypted: x"), native()),
    ("missing-component", {}, {PATH_CLASS: "", "stacks/dev/claims/c.yaml": ""}),
    ("stale-component", {"components/x/component.py": "# other"}, {PATH_CLASS: "", "stacks/dev/claims/c.yaml": ""}),
]  # fmt: skip
"""The check, what it finds, and the same without anything to find."""


def found(root: Path, files: Files) -> set[str]:
    """The names of the checks that find something."""
    report = validate.validate(Project(write_files(root, {**FILES, **files})), ["dev"])
    listed = [*report.errors, *report.warnings]
    assert all(p.rule in RULES and p.what and p.where for p in listed), listed
    levels = {p.rule: "error" for p in report.errors} | {p.rule: "warning" for p in report.warnings}
    assert all(RULES[rule].level in (level, "either") for rule, level in levels.items()), levels
    return {p.rule for p in listed}


BAD = [pytest.param(rule, bad, id=f"{i}-{rule}") for i, (rule, bad, _) in enumerate(ROWS)]
GOOD = [pytest.param(rule, good, id=f"{i}-{rule}") for i, (rule, _, good) in enumerate(ROWS)]


@pytest.mark.parametrize(("rule", "bad"), BAD)
def test_a_check_finds(tmp_path: Path, rule: str, bad: Files) -> None:
    assert rule in found(tmp_path, bad)


@pytest.mark.parametrize(("rule", "good"), GOOD)
def test_a_check_is_silent(tmp_path: Path, rule: str, good: Files) -> None:
    assert rule not in found(tmp_path, good)


def test_every_check_has_its_twins() -> None:
    patches = {row[1] for row in patch_mistakes.BAD} | {"required-field-unset"}
    assert {rule for rule, _, _ in ROWS} | patches | {"doubtful-plan"} == set(RULES)


def test_a_claim_that_says_what_does_not_count(tmp_path: Path) -> None:
    """The class stands where both say something; where only the claim does, it is heard."""
    redis = "apiVersion: cache.crossplane.io/v1alpha1\nkind: RedisCluster\nmetadata: {namespace: default, name: r}\n"
    text = f'{redis}spec: {{engineVersion: "3.2", classSelector: {{matchLabels: {{tier: fast}}}}}}\n'
    files = {"components/r/class.yaml": REDIS, "stacks/dev/claims/r.yaml": text}
    assert "doubtful-plan" in found(tmp_path / "a", files)
    assert "doubtful-plan" not in found(
        tmp_path / "b", files | {"stacks/dev/claims/r.yaml": text.replace("fast", "cheap")}
    )


def test_stale_and_fresh_components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    assert CliRunner().invoke(app, ["generate"]).exit_code == 0
    assert {"missing-component", "stale-component"} & found(tmp_path, {}) == set()


# Names and the page that tells of them


def sections() -> dict[str, str]:
    """The page's sections, by the check that they tell of."""
    parts = re.split(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_tells_of_every_check_in_order() -> None:
    assert list(sections()) == list(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_the_page_says_what_the_code_says(rule: str) -> None:
    text = sections()[rule]
    words = {"error": "Error.", "warning": "Warning.", "either": "Error or warning."}
    assert text.strip().startswith(f"{words[RULES[rule].level]} {RULES[rule].what}")
    assert "```" in text
    assert "**Fix:** " in text


@pytest.mark.parametrize("rule", RULES)
def test_names_are_words_with_dashes(rule: str) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule)


# How findings are printed


ODD = Problem(
    "100% wrong:\r\ntwo, lines", Source("components/a b/ä,c:d.yaml", 3, 7), "spec.x", "mend it", "base-invalid"
)
NOWHERE = Problem("it is nowhere", rule="cannot-plan")


def printed(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout, result.stderr


def test_workflow_commands() -> None:
    lines = validate.commands(Report(errors=[ODD], warnings=[NOWHERE]), folder="infra/")
    assert lines == [
        "::error file=infra/components/a b/ä%2Cc%3Ad.yaml,line=3,col=7,title=base-invalid"
        r"::100%25 wrong:\r\ntwo, lines%0Afix: mend it",
        "::warning title=cannot-plan::it is nowhere",
    ]


def test_sarif_of_findings() -> None:
    [run] = validate.sarif(Report(errors=[ODD], warnings=[NOWHERE]), folder="infra/")["runs"]
    rules = run["tool"]["driver"]["rules"]
    first, second = run["results"]
    assert (first["level"], second["level"]) == ("error", "warning")
    assert [rules[r["ruleIndex"]]["id"] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "infra/components/a%20b/%C3%A4%2Cc%3Ad.yaml"
    assert place["region"] == {"startLine": 3, "startColumn": 7}
    assert "locations" not in second


def test_sarif_has_what_its_schema_asks_for() -> None:
    """The parts of the published schema that a run of ours comes to: what is required, and of which type."""
    report = validate.sarif(Report(errors=[ODD], warnings=[NOWHERE]))
    assert report["version"] == "2.1.0"
    assert report["$schema"].endswith("sarif-2.1.0.json")
    [run] = report["runs"]
    driver = run["tool"]["driver"]
    assert isinstance(driver["name"], str)
    assert len({r["id"] for r in driver["rules"]}) == len(driver["rules"]) == len(RULES)
    assert all(r["defaultConfiguration"]["level"] in ("error", "warning", "note") for r in driver["rules"])
    assert all(set(r["shortDescription"]) == {"text"} for r in driver["rules"])
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        for location in result.get("locations", ()):
            region = location["physicalLocation"]["region"]
            assert region["startLine"] >= 1
            assert region["startColumn"] >= 1


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_the_command_prints_findings_for_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str) -> None:
    (tmp_path / ".git").mkdir()
    project = write_files(tmp_path / "infra", {**FILES, **klass("kind: Database", "kid: Database")})
    monkeypatch.chdir(project)
    code, out, err = printed("validate", "--output", form)
    assert code == 1
    match form:
        case "github":
            assert (out.startswith("::error file=infra/components/x/class.yaml,line=7,col="), err) == (True, "")
        case "sarif":
            [result, *_] = json.loads(out)["runs"][0]["results"]
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert uri == "infra/components/x/class.yaml"
        case _:
            assert json.loads(out)["errors"][0]["rule"] == "invalid-document"


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_the_example_platform_is_silent_in_every_form(form: str) -> None:
    code, out, err = printed("--project", str(ROOT), "validate", "--output", form)
    assert (code, err) == (0, "")
    assert not re.search(r"error:|::error|::warning", out)
