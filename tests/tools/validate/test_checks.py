from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import Problem
from claimsmith.cli.app import app
from claimsmith.dialects.definitions import crds
from claimsmith.project.project import Project
from claimsmith.tools import validate
from claimsmith.tools.validate import Report
from tests.support.paths import ROOT
from tests.support.platform_files import DEFINITIONS, PLATFORM, REDIS, SITE, STORE, TEMPLATED
from tests.support.refusal_files import CLASS, FILES, PATH_CLAIM, PATH_CLASS, claim, klass, spoilt
from tests.support.samples import write_files

Files = dict[str, str | bytes]

GENERATE = "run: claimsmith generate"
BIND = "run: claimsmith bind dev"


def report_of(root: Path, *files: Files) -> Report:
    for part in (FILES, *files):
        write_files(root, part)
    return validate.validate(Project(root), ["dev"])


def errors(report: Report) -> list[Problem]:
    """What is wrong, but for components, which nobody generated here."""
    return [p for p in report.errors if p.fix != GENERATE]


def warnings(report: Report) -> list[Problem]:
    """What is odd, but for claims that nobody bound."""
    return [p for p in report.warnings if p.fix != BIND]


def crd(group: str, kind: str, versions: list[str], spec: dict[str, Any]) -> Files:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    document = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"kind": kind, "plural": f"{kind.lower()}s", "categories": ["managed"]},
            "versions": [{"name": v, "served": True, "storage": v == versions[0], "schema": schema} for v in versions],
        },
    }
    return {f"components/x/{kind.lower()}.yaml": yaml.safe_dump(document)}


def group_crd(*required: str, versions: list[str] | None = None, **properties: Any) -> Files:
    """ResourceGroup's definition."""
    known = {
        "location": {"type": "string"},
        "size": {"type": "integer", "maximum": 20480},
        "reclaimPolicy": {"type": "string"},
        **properties,
    }
    spec = {"type": "object", "properties": known, "required": list(required)}
    return crd("azure.crossplane.io", "ResourceGroup", versions or ["v1alpha3"], spec)


def server_crd(**properties: Any) -> Files:
    """MySQLServer's definition, as a provider writes it: its selectors know nothing of matchComposite."""
    selector = {"type": "object", "properties": {"matchControllerRef": {"type": "boolean"}}}
    name = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    secret = {"namespace": {"type": "string"}, "name": {"type": "string"}}
    inner = {"resourceGroupNameSelector": selector, "resourceGroupNameRef": name, **properties}
    spec = {
        "type": "object",
        "required": ["forProvider"],
        "properties": {
            "forProvider": {"type": "object", "properties": inner},
            "writeConnectionSecretToRef": {"type": "object", "properties": secret, "required": list(secret)},
        },
    }
    return crd("database.azure.crossplane.io", "MySQLServer", ["v1beta1"], spec)


# What is sound says nothing


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="no-definitions"),
        pytest.param(group_crd("location"), id="strict"),
        pytest.param(group_crd(versions=["v1alpha3", "v1beta1"]), id="several-versions"),
        pytest.param(server_crd(), id="selectors-and-references-are-ours-to-follow"),
        pytest.param(group_crd() | server_crd(), id="both"),
    ],
)
def test_no_false_alarms(tmp_path: Path, files: Files) -> None:
    report = report_of(tmp_path, files)
    assert (errors(report), warnings(report)) == ([], [])


def test_no_false_alarms_on_every_dialect(tmp_path: Path) -> None:
    report = report_of(tmp_path, PLATFORM, group_crd())
    assert errors(report) == []
    assert [p.path for p in warnings(report)] == ["spec.classSelector"]


def test_the_example_platform_is_sound() -> None:
    project = Project(ROOT)
    report = validate.validate(project, project.stacks())
    assert (report.errors, report.warnings) == ([], [])


def test_the_example_platform_is_sound_under_strict_definitions(tmp_path: Path) -> None:
    for part in ("components", "stacks", "Pulumi.yaml"):
        source = ROOT / part
        shutil.copytree(source, tmp_path / part) if source.is_dir() else shutil.copy(source, tmp_path / part)
    text, number = {"type": "string"}, {"type": "integer"}
    provider = {"type": "object", "properties": {"name": text}}
    sku = {"type": "object", "properties": {"tier": text, "capacity": number, "family": text}}
    storage = {
        "type": "object",
        "properties": {"storageMB": number, "geoRedundantBackup": text, "backupRetentionDays": number},
    }
    inner = dict.fromkeys(("administratorLogin", "location", "sslEnforcement", "version"), text)
    server = server_crd(**inner, sku=sku, storageProfile=storage)
    document = yaml.safe_load(server["components/x/mysqlserver.yaml"])
    spec = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"] |= {"providerRef": provider, "reclaimPolicy": text}
    write_files(
        tmp_path, {"components/x/mysqlserver.yaml": yaml.safe_dump(document), **group_crd(providerRef=provider)}
    )
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path / "Pulumi.yaml")
    report = validate.validate(Project(tmp_path), ["dev", "prod"])
    assert (report.errors, report.warnings) == ([], [])


# Fields


@pytest.mark.parametrize(
    ("files", "path", "line", "fix"),
    [
        pytest.param(
            group_crd() | klass("location: West US\n", "location: West US\n        locaton: x\n"),
            "spec.resources[0].base.spec.locaton", 16, "did you mean 'location'?", id="base-unknown-field",
        ),
        pytest.param(
            group_crd() | klass("location: West US\n", "location: 5\n"),
            "spec.resources[0].base.spec.location", 15, 'quote it: "5"', id="base-wrong-type",
        ),
        pytest.param(
            group_crd("name", name={"type": "string"}),
            "spec.resources[0].base.spec.name", 14, "add name:", id="base-lacks-what-is-required",
        ),
        pytest.param(
            group_crd("size", location={"type": "string"}),
            "spec.resources[0].base.spec.size", 14, "add size:", id="though-a-patch-would-give-it",
        ),
        pytest.param(
            group_crd() | klass("toResourceFieldPath: spec.location", "toResourceFieldPath: spec.locaton"),
            "spec.resources[0].patches[0]", 18, "did you mean 'spec.location'?", id="patch-into-nowhere",
        ),
        pytest.param(
            group_crd() | klass("toResourceFieldPath: spec.location", "toResourceFieldPath: spec.forProvider.location"),
            "spec.resources[0].patches[0]", 18, "did you mean 'spec.location'?", id="patch-beside-the-field",
        ),
        pytest.param(
            group_crd() | klass("toResourceFieldPath: spec.location", "toResourceFieldPath: spec.zzz"),
            "spec.resources[0].patches[0]", 18, "write a field that it has; any other is dropped", id="nothing-near",
        ),
        pytest.param(
            group_crd(versions=["v1beta1"]),
            "spec.resources[0].base.apiVersion", 12, "write one of: v1beta1", id="version-not-served",
        ),
    ],
)  # fmt: skip
def test_classes_refused(tmp_path: Path, files: Files, path: str, line: int, fix: str) -> None:
    found = errors(report_of(tmp_path, files))
    assert [(p.path, p.fix) for p in found] == [(path, fix)]
    assert found[0].where is not None
    assert (found[0].where.file, found[0].where.line) == (PATH_CLASS, line)


@pytest.mark.parametrize(
    ("files", "path", "what"),
    [
        pytest.param(claim("size: 10", "size: 30"), "spec.size", "30720 is too large", id="a-value-out-of-bounds"),
        pytest.param(
            group_crd(location={"type": "string", "enum": ["West US 2"]})
            | {
                PATH_CLASS: spoilt(
                    spoilt(CLASS, "location: West US\n", "location: West US 2\n"),
                    "map: {us-west: West US}", "map: {us-west: West US, us-west-2: West US 2}",
                )
            },
            "spec.region", "'West US' is not one of the values allowed", id="a-value-that-is-not-allowed",
        ),
    ],
)  # fmt: skip
def test_results_refused_at_the_claim(tmp_path: Path, files: Files, path: str, what: str) -> None:
    [problem] = errors(report_of(tmp_path, group_crd(), files))
    assert problem.where is not None
    assert (problem.path, problem.where.file, bool(problem.fix)) == (path, PATH_CLAIM, True)
    assert what in problem.what
    assert f"patch at {PATH_CLASS}" in problem.what


def test_several_claims_do_not_repeat_what_is_wrong_with_their_class(tmp_path: Path) -> None:
    more = {"stacks/dev/claims/d.yaml": spoilt(str(FILES[PATH_CLAIM]), "namespace: default", "namespace: other")}
    assert len(errors(report_of(tmp_path, group_crd("name", name={"type": "string"}), more))) == 1


def test_all_problems_at_once(tmp_path: Path) -> None:
    spoils = klass("location: West US\n", "location: 5\n        colour: red\n")
    found = errors(report_of(tmp_path, group_crd(), spoils, claim("size: 10", "size: 30")))
    assert [p.path for p in found] == [
        "spec.resources[0].base.spec.location",
        "spec.resources[0].base.spec.colour",
        "spec.size",
    ]


A_SITE = """\
apiVersion: web.example.org/v1alpha1
kind: Site
metadata: {name: a}
spec: {size: 5}
"""


def test_a_composition_need_not_be_whole_before_its_patches(tmp_path: Path) -> None:
    sizes = {"version": {"type": "string"}, "storageMB": {"type": "string"}}
    wanting = yaml.safe_load(server_crd(**sizes)["components/x/mysqlserver.yaml"])
    rules = wanting["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    rules["forProvider"]["required"] = ["storageMB"]
    files = {"components/x/mysqlserver.yaml": yaml.safe_dump(wanting)}
    site = {
        "components/definitions/definitions.yaml": DEFINITIONS,
        "components/store/composition.yaml": STORE,
        "components/site/composition.yaml": SITE,
        "stacks/dev/claims/site.yaml": A_SITE,
    }
    only = {PATH_CLASS: CLASS.partition("  - base:\n      apiVersion: database")[0]}
    assert errors(report_of(tmp_path, files, site, only)) == []
    # Without its size, the site's store lacks what the definition requires.
    without = {
        **site,
        "stacks/dev/claims/site.yaml": A_SITE.replace("{size: 5}", "{}"),
    }
    [problem] = errors(report_of(tmp_path, without, only))
    assert (problem.path, problem.fix) == ("spec.to[0].base.spec.forProvider.storageMB", "add storageMB:")


@pytest.mark.parametrize(
    ("old", "new", "path", "fix"),
    [
        pytest.param(
            "toFieldPath: spec.storageGB", "toFieldPath: spec.storageGb",
            "spec.to[1].patches[0]", "did you mean 'spec.storageGB'?", id="patch-into-a-defined-kind",
        ),
        pytest.param(
            'engineVersion: "5.7"', "engineVersion: 5.7",
            "spec.to[1].base.spec.engineVersion", 'quote it: "5.7"', id="base-of-a-defined-kind",
        ),
    ],
)  # fmt: skip
def test_defined_kinds_rule_what_composes_them(tmp_path: Path, old: str, new: str, path: str, fix: str) -> None:
    claims = str(PLATFORM["stacks/dev/claims/more.yaml"]).partition("---\napiVersion: web.example.org")[0]
    files = {"components/site/composition.yaml": spoilt(SITE, old, new), "stacks/dev/claims/more.yaml": claims}
    assert [(p.path, p.fix) for p in errors(report_of(tmp_path, PLATFORM, files))] == [(path, fix)]


def test_a_patch_from_a_field_that_no_claim_has(tmp_path: Path) -> None:
    site = spoilt(SITE, "fromFieldPath: spec.size", "fromFieldPath: spec.sise")
    report = report_of(tmp_path, PLATFORM, {"components/site/composition.yaml": site})
    assert ("spec.to[1].patches[0]", "did you mean 'spec.size'?") in [(p.path, p.fix) for p in warnings(report)]


@pytest.mark.parametrize(
    ("field", "count"),
    [pytest.param("location", 0, id="known"), pytest.param("locaton", 1, id="unknown")],
)
def test_what_a_template_text_makes_is_checked_with_its_claim(tmp_path: Path, field: str, count: int) -> None:
    text = str(TEMPLATED[PATH_CLASS]).replace("location:", f"{field}:")
    found = errors(report_of(tmp_path, group_crd(), {PATH_CLASS: text}))
    assert [(p.path, p.fix) for p in found] == [("spec.resources[0]", "did you mean 'location'?")] * count


# Claims' own definitions


def claim_crd(*, drop: str = "", scope: str = "Namespaced") -> Files:
    found = crds.claim_crd("database.example.org/v1alpha1", "Database")
    found["spec"]["scope"] = scope
    spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec.pop("x-kubernetes-preserve-unknown-fields")
    spec["properties"] |= {"region": {"type": "string"}, "size": {"type": "integer"}}
    spec["properties"].pop(drop, None)
    return {"components/x/claim.yaml": yaml.safe_dump(found)}


def test_a_sound_definition_of_a_claim(tmp_path: Path) -> None:
    report = report_of(tmp_path, claim_crd())
    assert (errors(report), warnings(report)) == ([], [])


@pytest.mark.parametrize(
    ("files", "path"),
    [
        pytest.param(claim_crd(scope="Cluster"), "spec.scope", id="scope"),
        pytest.param(claim_crd(drop="classSelector"), "spec.versions[0].schema", id="no-selector"),
        pytest.param(claim_crd(drop="writeConnectionSecretToRef"), "spec.versions[0].schema", id="no-secret"),
    ],
)
def test_definitions_of_claims_refused(tmp_path: Path, files: Files, path: str) -> None:
    found = errors(report_of(tmp_path, files))
    assert {p.path for p in found} == {path}
    assert all(p.fix and p.where for p in found)


def test_a_definition_that_is_no_claims_is_left_alone(tmp_path: Path) -> None:
    assert errors(report_of(tmp_path, group_crd())) == []


# Choices


IS_DEFAULT = 'resourceclass.crossplane.io/is-default-class: "true"'


def default_class(name: str, *more: str) -> Files:
    annotations = ", ".join((IS_DEFAULT, *more))
    text = spoilt(CLASS, "name: small", f"name: {name}")
    return {f"components/{name}/class.yaml": spoilt(text, "labels: {tier: gold}", f"annotations: {{{annotations}}}")}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        pytest.param(default_class("a") | default_class("b"), "a, b; each claim gets one", id="two"),
        pytest.param(
            default_class("a") | default_class("b", 'resourceclass.crossplane.io/weight: "5"'),
            "b weighs most",
            id="one-that-weighs-more",
        ),
        pytest.param(
            {"components/redis/class.yaml": REDIS.replace('resourceclass.crossplane.io/weight: "10"', IS_DEFAULT)},
            "RedisCluster.cache.crossplane.io has 2 default classes: cheap, fast",
            id="of-document-000",
        ),
    ],
)
def test_several_defaults(tmp_path: Path, files: Files, words: str) -> None:
    report = report_of(tmp_path, files)
    [warning] = warnings(report)
    assert errors(report) == []
    assert words in warning.what
    assert warning.path == "metadata.annotations[resourceclass.crossplane.io/is-default-class]"
    assert warning.where is not None


def test_one_default_says_nothing(tmp_path: Path) -> None:
    assert warnings(report_of(tmp_path, default_class("a"))) == []


def test_a_default_as_a_label_is_told(tmp_path: Path) -> None:
    [warning] = warnings(report_of(tmp_path, klass("{tier: gold}", f"{{{IS_DEFAULT}}}")))
    assert (warning.path.startswith("metadata.labels["), warning.fix) == (True, "write it as an annotation")


def test_a_weight_that_is_no_number(tmp_path: Path) -> None:
    files = klass("labels: {tier: gold}", "annotations: {resourceclass.crossplane.io/weight: heavy}")
    [problem] = errors(report_of(tmp_path, files))
    assert problem.path == "metadata.annotations[resourceclass.crossplane.io/weight]"


@pytest.mark.parametrize(
    ("old", "new", "path", "fix"),
    [
        pytest.param("name: site}", "name: sites}", "spec.defaultComposition", "did you mean 'site'?", id="a-slip"),
        pytest.param("name: site}", "name: zzz}", "spec.defaultComposition", "name one of: site", id="nowhere"),
        pytest.param(
            "name: site}", "name: azure-store}", "spec.defaultComposition", "name one of: site", id="of-another-kind"
        ),
        pytest.param(
            "defaultComposition: {apiVersion: apiextensions.crossplane.io/v1alpha1, kind: Composition, name: site}",
            "forceComposition: {apiVersion: apiextensions.crossplane.io/v1alpha1, kind: Composition, name: sit}",
            "spec.forceComposition",
            "did you mean 'site'?",
            id="forced",
        ),
    ],
)
def test_compositions_that_are_nowhere(tmp_path: Path, old: str, new: str, path: str, fix: str) -> None:
    files = {
        "components/definitions/definitions.yaml": spoilt(DEFINITIONS, old, new),
        "components/store/composition.yaml": STORE,
        "components/site/composition.yaml": SITE,
    }
    report = report_of(tmp_path, files)
    [warning] = warnings(report)
    assert errors(report) == []
    assert warning.path == path
    assert warning.fix.startswith(fix)


@pytest.mark.parametrize(
    ("new", "fix"),
    [
        pytest.param("kind: Sight", "did you mean kind: Site of apiVersion: web.example.org/v1alpha1?", id="a-slip"),
        pytest.param("kind: Zebra", "define it by an ApplicationDefinition or InfrastructureDefinition", id="unlike"),
    ],
)
def test_a_composition_of_a_kind_that_nothing_defines(tmp_path: Path, new: str, fix: str) -> None:
    files = {
        "components/definitions/definitions.yaml": DEFINITIONS,
        "components/store/composition.yaml": STORE,
        "components/site/composition.yaml": spoilt(SITE, "kind: Site}", f"{new}}}"),
    }
    found = {p.path: p.fix for p in warnings(report_of(tmp_path, files))}
    assert found["spec.from.kind"] == fix


def test_a_class_under_another_kind_is_suggested(tmp_path: Path) -> None:
    [problem] = errors(report_of(tmp_path, claim("kind: CompositeResourceClass", "kind: ResourceClass")))
    assert problem.fix.startswith("did you mean kind: CompositeResourceClass")


# External names


TWO = """\
  - base:
      apiVersion: azure.crossplane.io/v1alpha3
      kind: ResourceGroup
      spec: {}
"""
SUFFIXED = spoilt(
    TWO,
    "kind: ResourceGroup\n",
    "kind: ResourceGroup\n      metadata: {annotations: {crossplane.io/external-name-suffix: -b}}\n",
)
NAMED = claim("  name: sql\nspec", "  name: sql\n  annotations: {crossplane.io/external-name: mine}\nspec")


@pytest.mark.parametrize(
    ("files", "count"),
    [
        pytest.param(klass("  resources:\n", f"  resources:\n{TWO}") | NAMED, 1, id="two-of-a-kind"),
        pytest.param(klass("  resources:\n", f"  resources:\n{TWO}"), 0, id="no-claim-has-an-external-name"),
        pytest.param(klass("  resources:\n", f"  resources:\n{SUFFIXED}") | NAMED, 0, id="a-suffix"),
        pytest.param(NAMED, 0, id="one-of-each-kind"),
    ],
)
def test_external_names(tmp_path: Path, files: Files, count: int) -> None:
    selected = files.get(PATH_CLASS, CLASS)
    plain = str(selected).replace(
        "        forProvider:\n          resourceGroupNameSelector: {matchComposite: true}\n", ""
    )
    report = report_of(tmp_path, files, {PATH_CLASS: plain})
    found = warnings(report)
    assert errors(report) == []
    assert [p.path for p in found] == ["metadata.annotations[crossplane.io/external-name]"] * count
    assert all("external-name-suffix" in p.fix for p in found)


# The command


def test_the_command_tells_warnings_and_errors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, **group_crd(), **klass("location: West US\n", "location: 5\n")})
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["validate", "dev"])
    assert result.exit_code == 1
    assert f"error: {PATH_CLASS}:15:9: ResourceGroup: 5 is a number, not a string" in result.stderr
