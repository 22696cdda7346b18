"""A project whose one composition runs go-templating, kro, kcl and sequencer, as files."""

from __future__ import annotations

from pathlib import Path

from claimsmith.project.project import Project
from tests.support.samples import write_files

COMPOSITION = "components/net/composition.yaml"
PLATFORM = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: nets.example.org}
spec:
  group: example.org
  names: {kind: Net, plural: nets}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {region: {type: string}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: nets}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Net}
  mode: Pipeline
  pipeline:
    - step: text
      functionRef: {name: function-go-templating}
      input:
        apiVersion: gotemplating.fn.crossplane.io/v1beta1
        kind: GoTemplate
        source: Inline
        inline:
          template: |
            {{- $xr := .observed.composite.resource }}
            {{- $network := getComposedResource . "network" }}
            apiVersion: ec2.example.org/v1
            kind: Network
            metadata:
              annotations:
                {{ setResourceNameAnnotation "network" }}
            spec:
              forProvider:
                region: {{ $xr.spec.region }}  # region
            ---
            apiVersion: ec2.example.org/v1
            kind: Subnet
            metadata:
              annotations:
                {{ setResourceNameAnnotation "asubnet" }}
            spec:
              forProvider:
                networkId: {{ $network.status.atProvider.id }}  # id
                zone: {{ dig "status" "atProvider" "zone" "none" ($network | default dict) }}
                name: {{ $xr.spec.region }}  # name
            {{- if $network.status }}
            ---
            apiVersion: ec2.example.org/v1
            kind: Route
            metadata:
              annotations:
                {{ setResourceNameAnnotation "route" }}
            spec: {forProvider: {}}
            {{- end }}
    - step: graph
      functionRef: {name: function-kro}
      input:
        apiVersion: kro.fn.crossplane.io/v1alpha1
        kind: ResourceGraph
        resources:
          - id: node
            template:
              apiVersion: ec2.example.org/v1
              kind: Node
              metadata: {}
              spec:
                region: ${schema.spec.region}  # node
          - id: pool
            template:
              apiVersion: ec2.example.org/v1
              kind: Pool
              metadata: {}
              spec:
                node: ${node.status.id}
    - step: tags
      functionRef: {name: function-kcl}
      input:  # tags
        apiVersion: krm.kcl.dev/v1alpha1
        kind: KCLInput
        spec:
          source: |
            oxr = option("params").oxr
            items = [{
                apiVersion = "ec2.example.org/v1"
                kind = "Tag"
                metadata.name = "tag"
                spec.forProvider.region = oxr.spec.region
            }]
    - step: order
      functionRef: {name: function-sequencer}
      input:
        apiVersion: sequencer.fn.crossplane.io/v1beta1
        kind: Input
        rules:
          - sequence: [network, Tag]
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: subnets.ec2.example.org}
spec:
  group: ec2.example.org
  scope: Cluster
  names: {kind: Subnet, plural: subnets}
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
                forProvider:
                  type: object
                  properties:
                    networkId: {type: string}
                    zone: {type: string}
                    name: {type: string}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
CLAIM = """\
apiVersion: example.org/v1
kind: Net
metadata: {name: my}
spec: {region: eu}
"""


def project(root: Path, *, platform: str = PLATFORM, claim: str = CLAIM) -> Project:
    """The project on disk, without generated components and bindings."""
    files: dict[str, str | bytes] = {
        "Pulumi.yaml": "name: shop\nruntime: python\nmain: stacks\n",
        COMPOSITION: platform,
        "components/net/crds.yaml": CRD,
        "stacks/dev/claims/my.yaml": claim,
    }
    return Project(write_files(root, files))


def line_of(comment: str, platform: str = PLATFORM) -> int:
    """The line of the composition that ends with a comment."""
    [line] = [n for n, text in enumerate(platform.splitlines(), 1) if text.endswith(f"# {comment}")]
    return line
