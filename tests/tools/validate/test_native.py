"""Native resources are checked against the installed SDKs, before any claim exists and without a plugin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from claimsmith.project import sdks
from claimsmith.project.project import Project
from claimsmith.providers.index import Index
from claimsmith.tools import validate
from claimsmith.tools.validate import Report
from tests.support import no_cluster_files
from tests.support.native_classes import CLASS, FILES, PATH, changed, with_resource
from tests.support.samples import write_files
from tests.support.sdks import large

Files = dict[str, str | bytes]
GENERATE = "run: claimsmith generate"
PASSWORD = "      properties: {length: 24, special: false}"
NAME = "      toResourceFieldPath: properties.name\n  - name: database"
CLUSTER = "      type: gcp:sql:DatabaseInstance\n      properties:\n        databaseVersion: POSTGRES_16\n"
CORS = "      type: aws:s3:BucketCorsConfiguration\n      properties:\n        bucket: a\n"
POLICY = "      type: aws:s3:BucketPolicy\n      properties:\n        bucket: a\n"
INSTANCE = "      type: aws:rds:Instance\n      properties:\n"


def report(root: Path, files: Files) -> Report:
    return validate.validate(Project(write_files(root, files)), ["dev"])


def findings(files: Files, found: Report) -> list[tuple[str, str, str]]:
    """Rule, line and fix of each finding, but for components, which nobody generated here."""
    listed = [p for p in (*found.errors, *found.warnings) if p.fix != GENERATE]
    assert all(p.where and p.where.file == PATH for p in listed), listed
    lines = str(files[PATH]).splitlines()
    return [(p.rule, lines[p.where.line - 1] if p.where else "", p.fix) for p in listed]


def test_a_sound_class_has_no_findings(tmp_path: Path) -> None:
    assert findings(FILES, report(tmp_path, FILES)) == []


BAD = [
    pytest.param(
        changed("length: 24", "length: 24, spezial: true"),
        ("base-invalid", "spezial", "did you mean 'special'?"),
        id="unknown-property",
    ),
    pytest.param(
        changed("special: false", 'special: "false"'),
        ("base-invalid", "special", "write false, without quotes"),
        id="wrong-type",
    ),
    pytest.param(
        changed("login: true", "login: true\n        searchPaths: public"),
        ("base-invalid", "searchPaths: public", "write it as a list, with a dash before each item"),
        id="not-a-list",
    ),
    pytest.param(
        changed("login: true", "login: true\n        validUntil: 2026"),
        ("unquoted-text", "2026", 'quote it: "2026"'),
        id="unquoted-text",
    ),
    pytest.param(
        changed("{length: 24, special: false}", "{special: false}"),
        ("required-field-unset", "{special", "add length: to the base, or a required patch that writes it"),
        id="missing-input",
    ),
    pytest.param(
        changed(NAME, NAME.replace("properties.name", "properties.nam")),
        ("patch-writes-unknown-field", "fromClaimFieldPath", "did you mean 'properties.name'?"),
        id="patch-into-nothing",
    ),
    pytest.param(
        changed('password: "${password.result}"', 'password: "${password.resut}"'),
        ("unknown-output", "resut", "did you mean 'result'?"),
        id="interpolated-output",
    ),
    pytest.param(
        changed("login: true", 'connectionLimit: "${password.result}"'),
        ("output-type-mismatch", "connectionLimit", "name an output that is integer"),
        id="output-of-another-type",
    ),
    pytest.param(
        changed("login: true", 'connectionLimit: "1${password.length}"'),
        ("output-type-mismatch", "connectionLimit", "name an output that is integer"),
        id="text-beside-an-output",
    ),
    pytest.param(
        changed("fromFieldPath: outputs.result", "fromFieldPath: outputs.reslt"),
        ("unknown-output", "reslt", "did you mean 'result'?"),
        id="detail-of-a-sibling",
    ),
    pytest.param(
        changed("{name: database, fromFieldPath: outputs.name}", "{name: database, fromFieldPath: name}"),
        ("unknown-output", "fromFieldPath: name", "read outputs.<name>"),
        id="detail-elsewhere",
    ),
    pytest.param(
        changed("output: name}", "output: nmae}"),
        ("unknown-output", "nmae", "did you mean 'name'?"),
        id="selected-output",
    ),
    pytest.param(
        changed("ownerSelector", "onwerSelector"),
        ("base-invalid", "properties:", "did you mean 'owner'?"),
        id="selector-of-nothing",
    ),
    pytest.param(
        changed("[searchPaths]", "[searchPath]"),
        ("base-invalid", "[searchPath]", "did you mean 'searchPaths'?"),
        id="ignored-property",
    ),
    pytest.param(
        changed("ignoreChanges: [searchPaths]", "additionalSecretOutputs: [namee]"),
        ("unknown-output", "namee", "did you mean 'name'?"),
        id="secret-output",
    ),
    pytest.param(
        changed("type: random:RandomPassword", "type: random:RandomPasword"),
        ("unknown-resource-type", "RandomPasword", "did you mean 'random:RandomPassword'?"),
        id="unknown-type",
    ),
    pytest.param(
        changed("login: true", "encrypted: ENCRYPTED"),
        ("deprecated-property", "ENCRYPTED", "use what replaces it"),
        id="deprecated-property",
    ),
    pytest.param(
        with_resource(
            "      type: postgresql:DefaultPrivileg\n      properties:\n",
            "        {database: a, objectType: table, owner: b, privileges: [], role: c}\n",
        ),
        ("deprecated-type", "DefaultPrivileg", "use the type that replaces it"),
        id="deprecated-type",
    ),
    pytest.param(
        with_resource("      type: nowhere:Zone\n", "  - name: another\n    base: {type: nowhere:Record}\n"),
        ("missing-sdk", "nowhere:Zone", "pip install pulumi-nowhere"),
        id="missing-sdk-once",
    ),
    large(
        with_resource(CORS, "        corsRules: [{allowedMethods: [GET], allowedOrigin: [a], allowedOrigins: [a]}]\n"),
        ("base-invalid", "allowedOrigin:", "did you mean 'allowedOrigins'?"),
        package="aws",
        id="nested-unknown",
    ),
    large(
        with_resource(CORS, "        corsRules: [{allowedMethods: [GET]}]\n"),
        (
            "required-field-unset",
            "corsRules",
            "add allowedOrigins: to the base, or a required patch that writes it",
        ),
        package="aws",
        id="nested-required",
    ),
    large(
        with_resource(CLUSTER, "        settings: {tier: db-f1, ipConfiguration: {sslMod: x}}\n"),
        ("base-invalid", "ipConfig", "did you mean 'sslMode'?"),
        package="gcp",
        id="nested-twice",
    ),
    large(
        with_resource(
            "      type: azure-native:storage:StorageAccount\n      properties:\n",
            "        {kind: StorageV2, resourceGroupName: a, sku: {name: Standard_LRS}, accessTier: Warm}\n",
        ),
        ("base-invalid", "Warm", "use one of: 'Hot', 'Cool', 'Premium', 'Cold'"),
        package="azure-native",
        id="enum",
    ),
]


@pytest.mark.parametrize(("files", "want"), BAD)
def test_a_mistake_is_found_at_its_line(tmp_path: Path, files: Files, want: tuple[str, str, str]) -> None:
    rule, marked, fix = want
    [(found, line, way_out)] = findings(files, report(tmp_path, files))
    assert (found, way_out) == (rule, fix)
    assert marked in line


@pytest.mark.parametrize(("files", "want"), BAD)
def test_a_mistake_is_reported_once_beside_a_component(
    tmp_path: Path, files: Files, want: tuple[str, str, str]
) -> None:
    """The generator refuses many of them too."""
    written = {**files, "components/pg/component.py": "# of another time\n"}
    assert [rule for rule, _, _ in findings(files, report(tmp_path, written))] == [want[0]]


SOUND = [
    pytest.param(changed("length: 24", "length: 24, keepers: {a: b}"), id="a-map"),
    pytest.param(
        changed("{length: 24, special: false}", "{special: false}\n    patches:\n"
                "    - {fromClaimFieldPath: spec.length, toResourceFieldPath: properties.length}"),
        id="required-input-by-a-patch",
    ),
    pytest.param(changed("login: true", 'connectionLimit: "${password.length}"'), id="output-of-the-type"),
    pytest.param(changed("login: true", 'validUntil: "20${password.length}-01-01"'), id="text-of-outputs"),
    pytest.param(changed("login: true", 'validUntil: "$${nothing.here}"'), id="literal"),
    pytest.param(changed("[searchPaths]", '["searchPaths[0]"]'), id="ignored-item"),
    pytest.param(
        changed(NAME, NAME.replace("properties.name", "metadata.labels.owner")), id="patch-into-a-label"
    ),
    large(with_resource(INSTANCE, "        instanceClass: db.new.size\n"), package="aws", id="open-enum"),
    large(with_resource(POLICY, "        policy: {Version: x}\n"), package="aws", id="either-of-two-types"),
]  # fmt: skip


@pytest.mark.parametrize("files", SOUND)
def test_what_is_sound_is_silent(tmp_path: Path, files: Files) -> None:
    assert findings(files, report(tmp_path, files)) == []


# Physical names


def named(name: str, *annotations: str, namespace: str = "default", spec: str = "{}") -> str:
    """A claim of the platform without a cluster, whose class names its role and its database after it."""
    given = f", annotations: {{{', '.join(annotations)}}}" if annotations else ""
    metadata = f"metadata: {{name: {name}, namespace: {namespace}{given}}}"
    return f"apiVersion: database.example.org/v1alpha1\nkind: PostgreSQLDatabase\n{metadata}\nspec: {spec}\n"


EXTERNAL = "crossplane.io/external-name: a"
SCHEMA = """\
  - name: schema
    base:
      type: postgresql:Schema
      properties: {database: "${database.name}"}
      options: {provider: main}
    patches:
    - {fromClaimFieldPath: spec.schema, toResourceFieldPath: properties.name}
"""
ONE_DATABASE = SCHEMA.replace("${database.name}", "shared")
FIXED = "  - name: fixed\n    base: {type: 'postgresql:Role', properties: {name: app}, options: {provider: main}}\n"
READER = "  - name: reader\n    base: {type: 'postgresql:Role', options: {provider: main}}\n"


ANNOTATION = "metadata.annotations[crossplane.io/external-name]"


@pytest.mark.parametrize(
    ("claims", "more", "rule", "places"),
    [
        pytest.param([named("a"), named("b")], "", "", [], id="names-of-their-own"),
        pytest.param(
            [named("a"), named("a", namespace="x")],
            "",
            "external-name-taken",
            ["metadata.name"] * 4,
            id="of-two-namespaces",
        ),
        pytest.param(
            [named("a"), named("b", EXTERNAL)],
            "",
            "external-name-taken",
            ["metadata.name"] * 2 + [ANNOTATION] * 2,
            id="by-an-external-name",
        ),
        pytest.param([named("b", EXTERNAL)], READER, "shared-physical-name", [ANNOTATION], id="two-of-one-claim"),
        pytest.param(
            [named("a"), named("b")], FIXED, "shared-physical-name", ["metadata.name"], id="named-by-the-class"
        ),
        pytest.param(
            [named("a"), named("a", namespace="x", spec="{server: second}")],
            "",
            "external-name-taken",
            ["metadata.name"] * 2,
            id="another-provider",
        ),
        pytest.param(
            [named("a", spec="{schema: s}"), named("b", spec="{schema: s}")], SCHEMA, "", [], id="below-two-parents"
        ),
        pytest.param(
            [named("a", spec="{schema: s}"), named("b", spec="{schema: s}")],
            ONE_DATABASE,
            "external-name-taken",
            ["spec.schema"] * 2,
            id="below-one-parent",
        ),
        pytest.param(
            [named("a", spec="{schema: s}"), named("b", spec="{schema: S}")], ONE_DATABASE, "", [], id="case-counts"
        ),
        pytest.param([named("a"), named("b")], READER, "", [], id="named-by-the-provider"),
    ],
)
def test_physical_names(tmp_path: Path, claims: list[str], more: str, rule: str, places: list[str]) -> None:
    config = no_cluster_files.CONFIG.replace("    main:", "    second: {package: postgresql}\n    main:")
    files = {
        **no_cluster_files.FILES,
        "components/postgresql/class.yaml": f"{no_cluster_files.CLASS}{more}",
        "stacks/dev/claims/orders.yaml": "---\n".join(claims),
        "stacks/Pulumi.dev.yaml": config,
    }
    found = report(tmp_path, files)
    level = found.errors if rule == "external-name-taken" else found.warnings
    listed = [p for p in (*found.errors, *found.warnings) if p.rule in ("external-name-taken", "shared-physical-name")]
    assert listed == [p for p in level if p.rule == rule]
    assert [p.path for p in listed] == places
    for problem in listed:
        assert problem.where
        assert problem.where.file == "stacks/dev/claims/orders.yaml"
        assert "PostgreSQLDatabase.database.example.org/" in problem.what.partition(", ")[2], "the other one"


def test_another_stack_may_have_the_same_physical_names(tmp_path: Path) -> None:
    files = {**no_cluster_files.FILES, "stacks/prod/claims/orders.yaml": no_cluster_files.CLAIM}
    found = validate.validate(Project(write_files(tmp_path, dict(files))), ["dev", "prod"])
    assert [p for p in found.errors if p.rule == "external-name-taken"] == []


CROSSPLANE = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: plain}
spec:
  compositeTypeRef: {apiVersion: acme.example.org/v1, kind: Store}
  resources:
  - name: password
    base:
      type: random:RandomPassword
      properties: {length: 3}
    patches:
    - {fromFieldPath: spec.size, toFieldPath: properties.lenght}
    - {type: ToCompositeFieldPath, fromFieldPath: outputs.bcryptHsh, toFieldPath: status.hash}
"""
XRD = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: stores.acme.example.org}
spec:
  group: acme.example.org
  names: {kind: Store, plural: stores}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: string}}}
          status: {type: object, properties: {hash: {type: string}}}
"""


def test_patches_of_compositions_are_followed(tmp_path: Path) -> None:
    """In Crossplane's dialect too: into properties, out of outputs, and by the types of both sides."""
    files = {**FILES, PATH: CROSSPLANE, "components/pg/xrd.yaml": XRD}
    into, out = (line for line in CROSSPLANE.splitlines() if "toFieldPath" in line)
    assert findings(files, report(tmp_path / "a", files)) == [
        ("patch-writes-unknown-field", into, "did you mean 'properties.length'?"),
        ("patch-reads-unknown-field", out, "did you mean 'outputs.bcryptHash'?"),
    ]
    fixed = {**files, PATH: CROSSPLANE.replace("lenght", "length").replace("bcryptHsh", "bcryptHash")}
    assert findings(fixed, report(tmp_path / "b", fixed)) == [
        ("patch-type-mismatch", into.replace("lenght", "length"), "add a convert transform to int64 or float64")
    ]


def test_a_claim_for_an_existing_resource_needs_no_properties(tmp_path: Path) -> None:
    claim = f'{no_cluster_files.CLAIM}  resourceRef: {{type: "postgresql:Database", id: old}}\n'
    files = {**no_cluster_files.FILES, "stacks/dev/claims/orders.yaml": claim}
    found = report(tmp_path, dict(files))
    assert [p.rule for p in (*found.errors, *found.warnings)] == ["missing-component", "unrecorded-binding"]


def test_no_sdk_is_imported(tmp_path: Path) -> None:
    """Neither an SDK nor a plugin nor the network: reading is all."""
    root = write_files(tmp_path, FILES)
    program = (
        "import sys\nfrom pathlib import Path\nfrom claimsmith.project.project import Project\n"
        "from claimsmith.tools import validate\n"
        f"validate.validate(Project(Path({str(root)!r})), ['dev'])\n"
        "print([n for n in sys.modules if n.startswith('pulumi_')])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_type_is_read_once_however_many_classes_use_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    original = Index._read_resource

    def counted(self: Index, token: str, module: str, name: str) -> object:
        reads.append(token)
        return original(self, token, module, name)

    monkeypatch.setattr(Index, "_read_resource", counted)
    sdks._index_of.cache_clear()
    more = {f"components/c{i}/class.yaml": CLASS.replace("small-postgresql", f"c{i}") for i in range(20)}
    report(tmp_path, {**FILES, **more})
    assert sorted(reads) == sorted(set(reads))
    assert len(reads) == 3
