"""Classes with native children, as data; and programs with them on Pulumi's mocks."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime import mocks

from tests.support.mocked import Monitor, Recorder, Registered

CLASSES = {
    "aws": """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: aws-bucket}
spec:
  claim: {apiVersion: database.example.org/v1, kind: Bucket}
  resources:
  - name: bucket
    base:
      type: aws:s3:Bucket
      properties:
        forceDestroy: true
        tags: {team: nobody, cost-center: "42"}
        corsRules:
        - {allowedMethods: [GET], allowedOrigins: ["*"], maxAgeSeconds: 3000}
        versioning: {enabled: true}
        lifecycleRules:
        - enabled: true
          id: old
          transitions: [{days: 30, storageClass: STANDARD_IA}]
    patches:
    - {fromClaimFieldPath: spec.team, toResourceFieldPath: properties.tags.team}
    - {fromClaimFieldPath: spec.days, toResourceFieldPath: "properties.lifecycleRules[0].transitions[0].days"}
    - {fromClaimFieldPath: spec.versioned, toResourceFieldPath: properties.versioning.enabled}
    - {fromClaimFieldPath: spec.website, toResourceFieldPath: properties.website.indexDocument}
    connectionDetails:
    - {name: arn, fromFieldPath: outputs.arn}
  - name: user
    base: {type: "aws:iam/user:User", properties: {path: /claims/}}
  - name: policy
    base:
      type: aws:iam:UserPolicy
      properties:
        userSelector: {matchComposite: true, type: "aws:iam:User", output: name}
        policy: '{"Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "${bucket.arn}/*"}]}'
  - name: merged
    base:
      type: aws:s3:Bucket
      metadata: {annotations: {claimsmith.io/tags: "false"}}
      properties:
        tags: {team: nobody}
        corsRules:
        - {allowedMethods: [GET], allowedOrigins: ["*"], maxAgeSeconds: 1}
        - {allowedMethods: [PUT], allowedOrigins: ["*"], maxAgeSeconds: 2}
    patches:
    - {fromClaimFieldPath: spec.more, toResourceFieldPath: properties.tags}
    - {fromClaimFieldPath: spec.team, toResourceFieldPath: properties.tags.team}
    - {fromClaimFieldPath: spec.days, toResourceFieldPath: "properties.corsRules[*].maxAgeSeconds"}
""",
    "azure-native": """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: azure-storage}
spec:
  claim: {apiVersion: database.example.org/v1, kind: Bucket}
  resources:
  - name: group
    base: {type: "azure-native:resources:ResourceGroup", properties: {location: West Europe}}
    patches:
    - fromClaimFieldPath: spec.region
      toResourceFieldPath: properties.location
      transforms: [{type: map, map: {eu: West Europe, us: East US}}]
  - name: account
    base:
      type: azure-native:storage:StorageAccount
      properties:
        resourceGroupName: "${group.name}"
        kind: StorageV2
        sku: {name: Standard_LRS}
        networkRuleSet: {defaultAction: Deny, ipRules: [{iPAddressOrRange: 10.0.0.0/8}]}
    patches:
    - {fromClaimFieldPath: spec.tls, toResourceFieldPath: properties.minimumTlsVersion}
    connectionDetails:
    - {name: endpoint, fromFieldPath: outputs.primaryEndpoints.blob}
""",
    "gcp": """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: gcp-sql}
spec:
  claim: {apiVersion: database.example.org/v1, kind: Bucket}
  resources:
  - name: instance
    base:
      type: gcp:sql:DatabaseInstance
      properties:
        databaseVersion: POSTGRES_15
        settings:
          tier: db-f1-micro
          ipConfiguration:
            ipv4Enabled: true
            authorizedNetworks: [{name: all, value: 0.0.0.0/0}]
    patches:
    - {fromClaimFieldPath: spec.tier, toResourceFieldPath: properties.settings.tier}
    - {fromClaimFieldPath: spec.disk, toResourceFieldPath: properties.settings.diskSize}
    - {fromClaimFieldPath: spec.backups, toResourceFieldPath: properties.settings.backupConfiguration.enabled}
    connectionDetails:
    - {name: address, fromFieldPath: "outputs.ipAddresses[0].ipAddress"}
  - name: bucket
    base:
      type: gcp:storage/bucket:Bucket
      properties: {location: EU, labels: {team: nobody}}
    patches:
    - {fromClaimFieldPath: spec.team, toResourceFieldPath: properties.labels.team}
""",
}
"""A class for each of the large SDKs, with nested types, lists, enums, maps and patches into all of them."""
CLAIMS = """\
apiVersion: database.example.org/v1
kind: Bucket
metadata: {namespace: default, name: full}
spec:
  classRef: {apiVersion: infrastructure.crossplane.io/v1alpha1, kind: CompositeResourceClass, name: CLASS}
  team: web
  days: 7
  versioned: false
  website: index.html
  region: us
  tls: TLS1_2
  tier: db-custom-2
  disk: 20
  backups: true
  more: {team: web, Cost-Center: "7"}
---
apiVersion: database.example.org/v1
kind: Bucket
metadata: {namespace: default, name: bare}
spec:
  classRef: {apiVersion: infrastructure.crossplane.io/v1alpha1, kind: CompositeResourceClass, name: CLASS}
"""
"""A claim that sets every field that these classes read, and one that sets none; CLASS is the class of both."""


SECRET = "planted-9b1c"
"""What every password of these mocks is: to be searched for where none may be."""


@dataclass
class Providers(Recorder):
    """Providers that answer as real ones do: a password is computed, and unknown in a preview."""

    preview: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of what is read or imported, by name."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.resource_id:
            self.ids[args.name] = args.resource_id
        computed = {"result": SECRET} if args.typ.endswith(":RandomPassword") and not self.preview else {}
        return ("" if self.preview else f"{args.name}-id"), {**args.inputs, **computed}


def run(
    build: Callable[[], Any], *, preview: bool = False, config: dict[str, str] | None = None, secret: str = ""
) -> list[Registered]:
    """What a program with native children registers; `secret` is a key of its config that is a secret."""
    recorder = Providers(preview=preview)
    mocks.set_mocks(recorder, project="golden", stack="dev", preview=preview, monitor=Monitor(recorder))
    pulumi.runtime.config.set_all_config(config or {}, [secret] if secret else [])
    try:
        pulumi.runtime.test(build)()
    except BaseException:
        # What is left of a failed run complains when it is collected, and that must not be in the middle of a parse.
        gc.collect()
        raise
    finally:
        pulumi.runtime.config.set_all_config({})
    return recorder.resources
