"""Where a field of a resource comes from that a pipeline makes: the steps that wrote it, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.project.project import Project
from claimsmith.tools.explain.project import explanations
from claimsmith.tools.explain.project import trace as trace_of
from tests.support import piped_project
from tests.support.samples import write_files

COMPOSITION = "components/store/composition.yaml"
PLATFORM = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: stores.example.org}
spec:
  group: example.org
  names: {kind: Store, plural: stores}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: stores}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Store}
  mode: Pipeline
  pipeline:
    - step: patches
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: patched
            base:
              apiVersion: s3.example.org/v1
              kind: Bucket
              spec:
                region: eu  # base
            patches:
              - fromFieldPath: spec.size  # patch
                toFieldPath: spec.size
    - step: text
      functionRef: {name: function-go-templating}
      input:
        apiVersion: gotemplating.fn.crossplane.io/v1beta1
        kind: GoTemplate
        source: Inline
        inline:
          template: |
            {{- $xr := .observed.composite.resource }}
            {{- /* a comment
                 of two lines */ -}}
            {{- range $i, $zone := $xr.spec.zones }}
            ---
            apiVersion: s3.example.org/v1
            kind: Bucket
            metadata:
              annotations:
                {{ setResourceNameAnnotation (printf "zone-%s" $zone) }}
            spec:
              fixed: true  # literal
              zone: {{ $zone }}  # value
              all: {{ toJson $xr.spec }}  # object
            {{- end }}
    - step: graph
      functionRef: {name: function-kro}
      input:
        apiVersion: kro.fn.crossplane.io/v1alpha1
        kind: ResourceGraph
        resources:
          - id: node
            template:
              apiVersion: s3.example.org/v1
              kind: Bucket
              metadata: {}
              spec:
                size: ${schema.spec.size}  # expression
    - step: tags
      functionRef: {name: function-kcl}
      input:  # tags
        apiVersion: krm.kcl.dev/v1alpha1
        kind: KCLInput
        spec:
          target: PatchDesired
          source: |
            items = [{metadata.name = "patched", spec.region = "us"}]
"""
CLAIM = """\
apiVersion: example.org/v1
kind: Store
metadata: {name: shop}
spec: {size: 7, zones: [a, b]}
"""


def line_of(comment: str) -> int:
    return piped_project.line_of(comment, PLATFORM)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    files: dict[str, str | bytes] = {
        "Pulumi.yaml": "name: shop\nruntime: python\nmain: stacks\n",
        COMPOSITION: PLATFORM,
        "stacks/dev/claims/shop.yaml": CLAIM,
    }
    root: Path = tmp_path_factory.mktemp("project")
    return Project(write_files(root, files))


@pytest.mark.parametrize(
    ("child", "field", "steps"),
    [
        pytest.param("patched", "spec.size", [("written", "patches", "patch")], id="patch"),
        pytest.param(
            "patched", "spec.region", [("written", "patches", "base"), ("changed", "tags", "tags")], id="two-steps"
        ),
        pytest.param("zone-b", "spec.fixed", [("written", "text", "literal")], id="text-of-a-template"),
        pytest.param("zone-b", "spec.zone", [("written", "text", "value")], id="value-in-a-template"),
        pytest.param("zone-b", "spec.all.size", [("written", "text", "object")], id="object-in-a-template"),
        pytest.param("node", "spec.size", [("written", "graph", "expression")], id="graph"),
    ],
)
def test_fields_of_pipelines(project: Project, child: str, field: str, steps: list[tuple[str, str, str]]) -> None:
    found = trace_of(project, "dev", "shop", child=child, field=field).steps
    assert [(s.what.split(" by the step ")[0], s.what.split("'")[1]) for s in found] == [s[:2] for s in steps]
    for step, (_, _, comment) in zip(found, steps, strict=True):
        assert step.where is not None
        assert (step.where.file, step.where.line) == (COMPOSITION, line_of(comment))


def test_a_template_that_is_no_block_of_text_has_no_lines_of_its_own(tmp_path: Path) -> None:
    """Only the step is named: the lines of a quoted text are not those of the file."""
    head, _, rest = PLATFORM.partition("          template: |\n")
    _, _, tail = rest.partition("            {{- end }}\n")
    text = (
        '"apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  namespace: default\\n  annotations: '
        '{gotemplating.fn.crossplane.io/composition-resource-name: quoted}\\ndata:\\n  a: b"\n'
    )
    files: dict[str, str | bytes] = {
        "Pulumi.yaml": "name: shop\nruntime: python\nmain: stacks\n",
        COMPOSITION: f"{head}          template: {text}{tail}",
        "stacks/dev/claims/shop.yaml": CLAIM,
    }
    [step] = trace_of(Project(write_files(tmp_path, files)), "dev", "shop", child="quoted", field="data.a").steps
    assert step.where is not None
    assert step.where.line == head.count("\n") - 4


def test_a_field_that_another_resource_fills_in(tmp_path: Path) -> None:
    project = piped_project.project(tmp_path)
    written, filled = trace_of(project, "dev", "my", child="asubnet", field="spec.forProvider.networkId").steps
    assert written.value == "<no value>"
    assert filled.what == "filled in once 'network' exists, from its status.atProvider.id"
    for step in (written, filled):
        assert step.where is not None
        assert step.where.line == piped_project.line_of("id")


def test_resources_of_a_pipeline_have_the_places_that_write_them(tmp_path: Path) -> None:
    [found] = explanations(piped_project.project(tmp_path), "dev")
    lines = {child.template: child.where.line for child in found.children}
    text = piped_project.PLATFORM.splitlines()
    assert {name: text[line - 1].strip() for name, line in lines.items()} == {
        "network": "kind: Network",
        "asubnet": "kind: Subnet",
        "node": "kind: Node",
        "tag": "input:  # tags",
    }


NESTED = """\
---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: inners.example.org}
spec:
  group: example.org
  names: {kind: Inner, plural: inners}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: inners}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Inner}
  mode: Pipeline
  pipeline:
    - step: patches
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: bucket
            base: {apiVersion: s3.example.org/v1, kind: Bucket, spec: {region: eu}}
"""


def test_a_composite_that_a_pipeline_composes(tmp_path: Path) -> None:
    """It is one of the templates that the pipeline makes: its class lists none."""
    platform = piped_project.PLATFORM.replace("kind: Node\n", "kind: Inner\n").replace(
        "              apiVersion: ec2.example.org/v1\n              kind: Inner",
        "              apiVersion: example.org/v1\n              kind: Inner",
    )
    project = piped_project.project(tmp_path, platform=platform + NESTED)
    [found] = explanations(project, "dev")
    assert [inner.template for inner in found.nested] == ["node"]
    [step] = trace_of(project, "dev", "my", child="node", field="spec.region").steps
    assert "written by the step 'graph'" in step.what
    assert trace_of(project, "dev", "my", child="node/bucket", field="spec.region").value == "eu"
