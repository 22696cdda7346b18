"""A small platform of every dialect, for the commands that tell about one: files of a project, by path."""

from __future__ import annotations

from tests.support.refusal_files import CLASS, FILES, PATH_CLASS

AZURE = "database.azure.crossplane.io"

REDIS = """\
apiVersion: cache.gcp.crossplane.io/v1beta1
kind: CloudMemorystoreInstanceClass
metadata:
  name: cheap
  labels: {tier: cheap}
  annotations:
    resourceclass.crossplane.io/is-default-class: "true"
    crossplane.io/external-name-suffix: "-cheap"
specTemplate:
  forProvider:
    tier: BASIC
    region: us-east1
  writeConnectionSecretsToNamespace: crossplane-system
---
apiVersion: cache.gcp.crossplane.io/v1beta1
kind: CloudMemorystoreInstanceClass
metadata:
  name: fast
  labels: {tier: fast}
  annotations: {resourceclass.crossplane.io/weight: "10"}
specTemplate:
  forProvider:
    tier: STANDARD_HA
    region: us-east1
    redisVersion: REDIS_4_0
"""

AGGREGATE = """\
apiVersion: aggregation.crossplane.io/v1alpha1
kind: AggregateResourceClass
metadata:
  name: together
  labels: {tier: cheap}
aggregationRule:
  classSelector: {matchLabels: {tier: cheap}}
specTemplate:
  writeConnectionSecretsToNamespace: crossplane-system
"""

DEFINITIONS = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructureDefinition
metadata:
  name: stores.data.example.org
spec:
  connectionDetails: [username, address]
  crdSpecTemplate:
    group: data.example.org
    version: v1alpha1
    names: {kind: Store, listKind: StoreList, plural: stores, singular: store}
    validation:
      openAPIV3Schema:
        type: object
        properties:
          engineVersion: {type: string}
          storageGB: {type: int}
---
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructurePublication
metadata:
  name: stores.data.example.org
spec:
  infrastructureDefinitionReference: {name: stores.data.example.org}
---
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructureDefinition
metadata:
  name: sites.web.example.org
spec:
  defaultComposition: {apiVersion: apiextensions.crossplane.io/v1alpha1, kind: Composition, name: site}
  crdSpecTemplate:
    group: web.example.org
    version: v1alpha1
    names: {kind: Site, listKind: SiteList, plural: sites, singular: site}
    validation:
      openAPIV3Schema:
        type: object
        properties:
          size: {type: int}
"""

STORE = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: Composition
metadata:
  name: azure-store
  labels: {cloud: azure}
spec:
  from: {apiVersion: data.example.org/v1alpha1, kind: Store}
  to:
  - name: server
    base:
      apiVersion: database.azure.crossplane.io/v1beta1
      kind: MySQLServer
      spec:
        forProvider: {version: "5.6"}
        writeConnectionSecretToRef: {namespace: crossplane-system}
    patches:
    - fromFieldPath: spec.engineVersion
      toFieldPath: spec.forProvider.version
    - fromFieldPath: spec.storageGB
      toFieldPath: spec.forProvider.storageMB
      transforms:
      - type: math
        math: {multiply: 1024}
      - type: string
        string: {fmt: "%d MB"}
    connectionDetails:
    - fromConnectionSecretKey: username
    - name: address
      fromConnectionSecretKey: endpoint
"""

SITE = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: Composition
metadata:
  name: site
spec:
  from: {apiVersion: web.example.org/v1alpha1, kind: Site}
  to:
  - name: group
    base: {apiVersion: azure.crossplane.io/v1alpha3, kind: ResourceGroup, spec: {location: West US}}
  - name: store
    base:
      apiVersion: data.example.org/v1alpha1
      kind: Store
      spec:
        engineVersion: "5.7"
        infrastructure:
          compositionSelector: {matchLabels: {cloud: azure}}
          writeConnectionSecretToRef: {namespace: crossplane-system, name: store}
    patches:
    - fromFieldPath: spec.size
      toFieldPath: spec.storageGB
"""

CLAIMS = """\
apiVersion: cache.crossplane.io/v1alpha1
kind: RedisCluster
metadata:
  namespace: team
  name: cache
  annotations: {crossplane.io/external-name: shared}
spec:
  engineVersion: "3.2"
  writeConnectionSecretToRef: {name: cache}
---
apiVersion: cache.crossplane.io/v1alpha1
kind: RedisCluster
metadata: {namespace: team, name: none}
spec:
  classSelector: {matchLabels: {tier: huge}, matchExpressions: [{key: tier, operator: Exists}]}
---
apiVersion: cache.crossplane.io/v1alpha1
kind: RedisCluster
metadata: {namespace: team, name: held}
spec:
  resourceRef: {apiVersion: cache.gcp.crossplane.io/v1beta1, kind: CloudMemorystoreInstance, name: old}
  writeConnectionSecretToRef: {name: held}
---
apiVersion: data.example.org/v1alpha1
kind: StoreRequirement
metadata: {namespace: team, name: wish}
spec:
  storageGB: 10
  infrastructure:
    compositionSelector: {matchLabels: {cloud: azure}}
    writeConnectionSecretToRef: {name: wish}
---
apiVersion: web.example.org/v1alpha1
kind: Site
metadata: {name: blog}
spec: {size: 5}
"""

PLATFORM: dict[str, str | bytes] = {
    **FILES,
    "components/redis/class.yaml": REDIS,
    "components/together/class.yaml": AGGREGATE,
    "components/definitions/definitions.yaml": DEFINITIONS,
    "components/store/composition.yaml": STORE,
    "components/site/composition.yaml": SITE,
    "stacks/dev/claims/more.yaml": CLAIMS,
}

TEMPLATED: dict[str, str | bytes] = {
    **FILES,
    PATH_CLASS: CLASS.partition("  - base:")[0]
    + """\
  - template:
      engine: jinja2
      source:
        type: inline
        inline: |
          apiVersion: azure.crossplane.io/v1alpha3
          kind: ResourceGroup
          spec:
            location: {{ spec.region }}
""",
}
