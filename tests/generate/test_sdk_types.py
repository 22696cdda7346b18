"""Generated components of native resources under `mypy --strict`, against the SDKs as they are published.

The small SDKs are checked with every run; the large ones where they are installed (`make test-sdks` installs them).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.project.components import Components
from claimsmith.project.project import Project
from tests.support.native_classes import CLASS, PROJECT
from tests.support.paths import ROOT
from tests.support.samples import write_files
from tests.support.sdks import large

CLOUDS = ROOT / "examples" / "clouds" / "components"
EXAMPLES = {
    "aws": ("bucket",),
    "gcp": ("cloud-sql-native", "gke-native"),
    "azure-native": ("private-mysql-native",),
}
"""The components of examples/clouds, by the large SDK that they use."""
HEAD = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: checked}
spec:
  claim: {apiVersion: platform.example.org/v1alpha1, kind: Thing}
  resources:
"""
SMALL = """\
  - name: length
    base: {type: random:RandomInteger, properties: {min: 16, max: 32, keepers: {a: b}}}
  - name: password
    base:
      type: random:RandomPassword
      properties: {length: "${length.result}", special: false}
  - name: role
    base:
      type: postgresql:Role
      properties: {login: true, password: "${password.result}", searchPaths: [public, "${length.id}"]}
      options: {protect: true, ignoreChanges: [password], customTimeouts: {create: 5m}}
    patches:
    - {fromClaimFieldPath: metadata.name, toResourceFieldPath: properties.name}
    - {fromClaimFieldPath: spec.connections, toResourceFieldPath: properties.connectionLimit}
  - name: function
    base:
      type: postgresql:Function
      properties:
        args: [{name: a, type: integer}, {name: b, type: text, default: "'${role.name}'"}]
        body: "select '${password.bcryptHash}'"
"""
KUBERNETES = """\
  - name: password
    base: {type: random:RandomPassword, properties: {length: 12}}
  - name: settings
    base:
      type: kubernetes:core/v1:ConfigMap
      properties:
        metadata: {namespace: default, labels: {app: x}}
        data: {length: "${password.length} letters"}
    patches:
    - {fromClaimFieldPath: metadata.name, toResourceFieldPath: properties.metadata.name}
"""
AWS = """\
  - name: bucket
    base: {type: aws:s3:Bucket, properties: {forceDestroy: true, tags: {team: a}}}
    patches:
    - {fromClaimFieldPath: spec.region, toResourceFieldPath: properties.region}
  - name: cors
    base:
      type: aws:s3:BucketCorsConfiguration
      properties:
        bucket: "${bucket.id}"
        corsRules: [{allowedMethods: [GET], allowedOrigins: ["https://${bucket.bucketDomainName}"], maxAgeSeconds: 60}]
  - name: policy
    base:
      type: aws:s3:BucketPolicy
      properties:
        bucketSelector: {matchComposite: true, type: "aws:s3:Bucket"}
        policy: '{"Resource": "${bucket.arn}/*"}'
  - name: database
    base:
      type: aws:rds:Instance
      properties: {instanceClass: db.t4g.micro, allocatedStorage: 20, engine: postgres, skipFinalSnapshot: true}
    patches:
    - {fromClaimFieldPath: spec.storageGB, toResourceFieldPath: properties.allocatedStorage}
    connectionDetails:
    - {name: endpoint, fromFieldPath: outputs.endpoint}
    - {name: owner, fromFieldPath: "outputs.masterUserSecrets[0].secretArn"}
"""
GCP = """\
  - name: instance
    base:
      type: gcp:sql:DatabaseInstance
      properties:
        databaseVersion: POSTGRES_16
        deletionProtection: false
        settings:
          tier: db-f1-micro
          diskSize: 20
          ipConfiguration: {ipv4Enabled: true, authorizedNetworks: [{name: all, value: 0.0.0.0/0}]}
          userLabels: {team: a}
    patches:
    - {fromClaimFieldPath: spec.storageGB, toResourceFieldPath: properties.settings.diskSize}
    - {fromClaimFieldPath: spec.tier, toResourceFieldPath: properties.settings.tier}
  - name: user
    base:
      type: gcp:sql:User
      properties: {instance: "${instance.name}", name: app}
    connectionDetails:
    - {name: host, fromResource: instance, fromFieldPath: "outputs.ipAddresses[0].ipAddress"}
"""
AZURE = """\
  - name: group
    base: {type: azure-native:resources:ResourceGroup, properties: {location: westeurope}}
  - name: account
    base:
      type: azure-native:storage:StorageAccount
      properties:
        resourceGroupName: "${group.name}"
        kind: StorageV2
        sku: {name: Standard_LRS}
        accessTier: Hot
        networkRuleSet: {defaultAction: Deny, ipRules: [{iPAddressOrRange: 10.0.0.0, action: Allow}]}
  - name: network
    base:
      type: azure-native:network:VirtualNetwork
      properties:
        resourceGroupName: "${group.name}"
        addressSpace: {addressPrefixes: [10.0.0.0/16]}
        subnets: [{name: a, addressPrefix: 10.0.1.0/24}]
    patches:
    - {fromClaimFieldPath: spec.network, toResourceFieldPath: "properties.addressSpace.addressPrefixes[0]"}
"""


def component(root: Path, text: str) -> str:
    """What `generate` writes for one class."""
    project = Project(write_files(root, {**PROJECT, "components/checked/class.yaml": text}))
    [path] = Components(project).folders
    return Components(project).source(path)


def checked(folder: Path) -> tuple[str, list[tuple[str, str]]]:
    """What mypy prints of the modules in a folder, and the file and code of each error."""
    cache = ROOT / ".mypy_cache" / "sdks"
    words = ("--strict", "--config-file=", f"--cache-dir={cache}", "--follow-imports=silent", "--hide-error-context")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, str(folder)],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT / "engine")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout, re.findall(r"(\w+)\.py:\d+: error: .*\[([\w-]+)\]", done.stdout)


@pytest.mark.parametrize(
    ("text", "argument", "name", "value", "examples"),
    [
        pytest.param(CLASS, "login=True", "logn=True", 'login="yes"', (), id="password-role-database"),
        pytest.param(HEAD + SMALL, "special=False", "spezial=False", "special=3", (), id="small"),
        pytest.param(HEAD + KUBERNETES, "length=12", "lenght=12", 'length="twelve"', (), id="kubernetes"),
        large(
            HEAD + AWS,
            "force_destroy=True",
            "force_destry=True",
            'force_destroy="x"',
            EXAMPLES["aws"],
            package="aws",
            id="aws",
        ),
        large(
            HEAD + GCP,
            "deletion_protection=False",
            "deletion_protect=False",
            "deletion_protection=[1]",
            EXAMPLES["gcp"],
            package="gcp",
            id="gcp",
        ),
        large(
            HEAD + AZURE,
            "location='westeurope'",
            "lokation='westeurope'",
            "location=7",
            EXAMPLES["azure-native"],
            package="azure-native",
            id="azure-native",
        ),
    ],
)
def test_components_fit_the_published_sdk(
    tmp_path: Path, text: str, argument: str, name: str, value: str, examples: tuple[str, ...]
) -> None:
    """Components as generated have no error; a wrong name and a wrong type are found: they are really checked.

    The components of examples/clouds are checked in the same run, since mypy reads a large SDK for a minute.
    """
    source = component(tmp_path / "project", text)
    assert source.count(argument) == 1, source
    folder = tmp_path / "checked"
    folder.mkdir()
    (folder / "sound.py").write_text(source, encoding="utf-8")
    (folder / "wrong_name.py").write_text(source.replace(argument, name), encoding="utf-8")
    (folder / "wrong_type.py").write_text(source.replace(argument, value), encoding="utf-8")
    for example in examples:
        shutil.copy(CLOUDS / example / "component.py", folder / f"{example.replace('-', '_')}.py")
    printed, errors = checked(folder)
    assert {file for file, _ in errors} == {"wrong_name", "wrong_type"}, printed
    assert {code for _, code in errors} <= {"call-overload", "arg-type", "call-arg"}, printed


def test_every_example_is_checked() -> None:
    assert sorted(chain(*EXAMPLES.values())) == sorted(path.name for path in CLOUDS.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "fix"),
    [
        pytest.param("login: true", "logn: true", "did you mean 'login'?", id="property"),
        pytest.param("${password.result}", "${password.resut}", "did you mean 'result'?", id="output"),
        pytest.param("random:RandomPassword", "random:RandomPasword", "did you mean", id="type"),
        pytest.param("random:RandomPassword", "nowhere:Password", "pip install pulumi-nowhere", id="sdk"),
    ],
)
def test_what_an_sdk_does_not_have_is_refused(tmp_path: Path, old: str, new: str, fix: str) -> None:
    assert CLASS.count(old) == 1
    with pytest.raises(EngineError) as refused:
        component(tmp_path, CLASS.replace(old, new))
    assert any(fix in p.fix for p in refused.value.problems), refused.value
