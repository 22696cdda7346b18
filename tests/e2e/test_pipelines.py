"""Compositions whose functions decide what there is: run by the program with what exists, until nothing new appears."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.kubernetes.crds import permissive_crd
from claimsmith.lab import install_crds
from tests.e2e.rig import Rig

pytestmark = pytest.mark.e2e

API = "apiextensions.crossplane.io/v1"
NETWORK = ("compute.gcp.crossplane.io", "v1beta1", "Network")
SERVER = ("database.azure.crossplane.io", "v1beta1", "PostgreSQLServer")

TEMPLATE = """\
{{- $xr := getCompositeResource . }}
apiVersion: compute.gcp.crossplane.io/v1beta1
kind: Network
metadata:
  annotations:
    {{ setResourceNameAnnotation "network" }}
spec:
  forProvider: {}
{{- $network := getComposedResource . "network" }}
{{- if eq (getResourceCondition "Ready" $network).Status "True" }}
---
apiVersion: database.azure.crossplane.io/v1beta1
kind: PostgreSQLServer
metadata:
  annotations:
    {{ setResourceNameAnnotation "server" }}
spec:
  forProvider:
    tags:
      network: {{ $network.status.atProvider.id }}
      size: {{ $xr.spec.size | default "small" }}
  writeConnectionSecretToRef:
    namespace: {{ $xr.spec.claimRef.namespace }}
    name: {{ $xr.metadata.uid }}-server
{{- end }}
{{- with getComposedConnectionDetails . "server" }}
---
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: CompositeConnectionDetails
data:
  password: {{ .password }}
{{- end }}
---
apiVersion: {{ $xr.apiVersion }}
kind: {{ $xr.kind }}
status:
  network: {{ dig "status" "atProvider" "id" "none yet" ($network | default dict) }}
"""


def platform(rig: Rig) -> list[dict[str, Any]]:
    group = f"{rig.name}.example.org"
    spec = {"type": "object", "properties": {"size": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    definition = {
        "apiVersion": API,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"xdatabases.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "XDatabase", "plural": "xdatabases"},
            "claimNames": {"kind": "Database", "plural": "databases"},
            "versions": [{"name": "v1", "served": True, "referenceable": True, "schema": schema}],
        },
    }
    steps = [
        {
            "step": "render",
            "functionRef": {"name": "function-go-templating"},
            "input": {
                "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
                "kind": "GoTemplate",
                "source": "Inline",
                "inline": {"template": TEMPLATE},
            },
        },
        {"step": "ready", "functionRef": {"name": "function-auto-ready"}},
    ]
    composition = {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": "databases"},
        "spec": {
            "compositeTypeRef": {"apiVersion": f"{group}/v1", "kind": "XDatabase"},
            "mode": "Pipeline",
            "pipeline": steps,
        },
    }
    return [definition, composition]


def own(rig: Rig, kind: tuple[str, str, str]) -> list[dict[str, Any]]:
    label = "crossplane.io/claim-namespace"
    return [o for o in rig.live(kind) if o["metadata"]["labels"].get(label) == rig.name]


def claim(rig: Rig, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{rig.name}.example.org/v1",
        "kind": "Database",
        "metadata": {"name": "orders", "namespace": rig.name},
        "spec": {"writeConnectionSecretToRef": {"name": "orders"}, **spec},
    }


def test_a_pipeline_goes_on_with_what_exists_and_deletes_nothing_unseen(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/database/composition.yaml", platform(rig))
    rig.write("stacks/dev/claims/orders.yaml", claim(rig))
    rig.prepare("dev")
    crds = [permissive_crd(f"{g}/{v}", k, namespaced=False, managed=True) for g, v, k in (NETWORK, SERVER)]
    install_crds(rig.kubeconfig, crds)

    first = rig.ok(rig.up("dev"))
    assert "more resources follow once 'network' is ready: 'server'" in first.text
    [network] = own(rig, NETWORK)
    assert own(rig, SERVER) == []
    status = rig.ok(rig.claimsmith("status", "dev")).out
    assert f"with the next deployment of Database {rig.name}/orders follow: server" in status

    rig.ok(rig.up("dev"))
    [server] = own(rig, SERVER)
    assert server["spec"]["forProvider"]["tags"] == {"network": network["status"]["atProvider"]["id"], "size": "small"}

    rig.ok(rig.up("dev"))
    values = rig.secret_values(rig.name, "orders")
    assert list(values) == ["password"]
    assert rig.steps("dev") == {}, "nothing is left to do"
    assert all(values["password"] not in text for text in rig.printed)

    rig.write("stacks/dev/claims/orders.yaml", claim(rig, size="large"))
    changed = {name.rpartition("/")[2]: step["fields"] for name, step in rig.steps("dev").items()}
    assert changed["server"] == ["spec.forProvider.tags.size"]
    rig.write("stacks/dev/claims/orders.yaml", claim(rig))

    rig.delete(NETWORK, network["metadata"]["name"])
    kept = rig.ok(rig.up("dev"))
    assert "'server' stays, though the pipeline does not make it now" in kept.text
    assert [o["metadata"]["uid"] for o in own(rig, SERVER)] == [server["metadata"]["uid"]]


FILLED_IN = """\
{{- $network := getComposedResource . "network" }}
apiVersion: database.azure.crossplane.io/v1beta1
kind: PostgreSQLServer
metadata:
  annotations:
    {{ setResourceNameAnnotation "a-server" }}
spec:
  forProvider:
    tags:
      network: {{ $network.status.atProvider.id }}
      quoted: {{ .observed.resources.network.resource.status.atProvider.id | quote }}
      optional: {{ dig "status" "atProvider" "absent" "none" ($network | default dict) }}
---
apiVersion: compute.gcp.crossplane.io/v1beta1
kind: Network
metadata:
  annotations:
    {{ setResourceNameAnnotation "network" }}
spec:
  forProvider: {}
"""


def test_a_field_of_another_resource_is_there_after_one_run(rig: Rig) -> None:
    rig.namespace(rig.name)
    definition, composition = platform(rig)
    composition["spec"]["pipeline"][0]["input"]["inline"]["template"] = FILLED_IN
    rig.write("components/database/composition.yaml", [definition, composition])
    plain = claim(rig)
    plain["spec"] = {}
    rig.write("stacks/dev/claims/orders.yaml", plain)
    rig.prepare("dev")
    crds = [permissive_crd(f"{g}/{v}", k, namespaced=False, managed=True) for g, v, k in (NETWORK, SERVER)]
    install_crds(rig.kubeconfig, crds)

    planned = {name.rpartition("/")[2]: step["op"] for name, step in rig.steps("dev").items()}
    assert {name: planned[name] for name in ("network", "a-server")} == {"network": "create", "a-server": "create"}
    rig.ok(rig.up("dev"))
    [network] = own(rig, NETWORK)
    [server] = own(rig, SERVER)
    id_ = network["status"]["atProvider"]["id"]
    assert server["spec"]["forProvider"]["tags"] == {"network": id_, "quoted": id_, "optional": "none"}
    assert " updated" not in rig.ok(rig.up("dev")).out, "nothing is left to do"

    for value in ("there", "moved"):
        rig.patch_status(NETWORK, network["metadata"]["name"], {"atProvider": {"absent": value}})
        rig.ok(rig.up("dev"))
        [server] = own(rig, SERVER)
        assert server["spec"]["forProvider"]["tags"] == {"network": id_, "quoted": id_, "optional": value}
    assert rig.steps("dev") == {}
