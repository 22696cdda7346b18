"""One small platform in two dialects, for the twin tables of checks: a store that is made of a bucket."""

from __future__ import annotations

import textwrap

Files = dict[str, str | bytes]

HERE = "  # here"
"""Marks the line that a finding must point to."""

PROJECT: Files = {"Pulumi.yaml": "name: checked\nruntime: python\n", "stacks/dev/claims/none.yaml": ""}

BUCKET = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: buckets.storage.example.org
spec:
  group: storage.example.org
  scope: Cluster
  names: {kind: Bucket, plural: buckets, categories: [managed]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              region: {type: string, enum: [eu-1, us-1]}
              size: {type: integer, minimum: 1, maximum: 100}
              public: {type: boolean}
              version: {type: string}
              label: {type: string}
              zones: {type: array, items: {type: string}}
              tags: {type: object, additionalProperties: {type: string}}
              login:
                type: object
                required: [user]
                properties:
                  user: {type: string}
                  group: {type: string}
          status:
            type: object
            properties:
              address: {type: string}
              count: {type: integer}
"""

FIELDS = """\
place: {type: string, enum: [europe, america]}
size: {type: integer}
sizes: {type: integer, enum: [5, 500]}
public: {type: boolean}
note: {type: string}
code: {type: string, enum: ["1", "x"]}
zones: {type: array, items: {type: string}}
owner: {type: string}
named: {type: string, default: somebody}
"""

DEFINITION = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructureDefinition
metadata: {name: stores.acme.example.org}
spec:
  crdSpecTemplate:
    group: acme.example.org
    version: v1
    names: {kind: Store, plural: stores, singular: store, listKind: StoreList}
    validation:
      openAPIV3Schema:
        type: object
        properties:
@fields
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
          status: {type: object, properties: {address: {type: string}}}
          spec:
            type: object
            properties:
@fields
"""

COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: Composition
metadata: {name: plain}
spec:
  from: {apiVersion: acme.example.org/v1, kind: Store}
  to:
  - name: bucket
    base:
      apiVersion: storage.example.org/v1
      kind: Bucket
      spec: @spec
    patches:
@patches
"""

CROSSPLANE = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: plain}
spec:
  compositeTypeRef: {apiVersion: acme.example.org/v1, kind: Store}
  resources:
  - name: bucket
    base:
      apiVersion: storage.example.org/v1
      kind: Bucket
      spec: @spec
    patches:
@patches
"""

DIALECTS = {"2020": (DEFINITION, COMPOSITION), "crossplane": (XRD, CROSSPLANE)}
PATH = "components/store/composition.yaml"


def indented(text: str, by: int) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), " " * by)


def store(dialect: str, patches: str = "", spec: str = "{label: x}", crd: bool = True) -> Files:
    """The platform: its definition, one composition with these patches, and the bucket's CRD."""
    definition, composition = DIALECTS[dialect]
    body = composition.replace("@spec", spec).replace("@patches", indented(patches, 4))
    if not patches:
        body = body.replace("    patches:\n", "")
    by = 14 if dialect == "crossplane" else 10
    files: Files = {
        **PROJECT,
        "components/store/definition.yaml": definition.replace("@fields", indented(FIELDS, by)),
        PATH: body,
    }
    return {**files, **({"components/store/bucket.yaml": BUCKET} if crd else {})}


def line_of(text: str) -> int:
    """The line that is marked."""
    [line] = [n for n, content in enumerate(text.splitlines(), 1) if content.endswith(HERE)]
    return line
