"""Fields that a pipeline fills in from another of its resources: references where the template prints a whole value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from claimsmith.base import fieldpath
from claimsmith.base.values import Ref, value_at
from claimsmith.compose.expand import expand
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.kubernetes.scope import Scopes
from claimsmith.platform.catalog import read_catalog
from claimsmith.templating import gofunction
from tests.support import samples
from tests.support.crossplane_documents import XR, definition, document, piped, step

NETWORK = """
apiVersion: ec2.example.org/v1
kind: Network
metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: network}}
spec: {forProvider: {}}
"""
SUBNET = """
---
apiVersion: ec2.example.org/v1
kind: Subnet
metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: asubnet}}
spec:
  field: %s
"""
PATH = ".observed.resources.network.resource.status.id"


@dataclass
class Cluster:
    """What exists, by kind."""

    found: dict[str, dict[str, Any]] = field(default_factory=dict)

    def read(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        live = self.found.get(document["kind"])
        return {**document, **live} if live else None

    def details(self, _: Mapping[str, Any]) -> Mapping[str, bytes]:
        return {}


def plan_of(
    *templates: str,
    live: dict[str, Any] | None = None,
    then: tuple[dict[str, Any], ...] = (),
    spec: dict[str, Any] | None = None,
) -> Plan:
    steps = [
        step("function-go-templating", f"s{number}", source="Inline", inline={"template": text})
        for number, text in enumerate(templates)
    ]
    composite = {**XR, "spec": spec or {"region": "us"}}
    defined = definition()
    fields = defined["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields["region"] = {"type": "string"}
    catalog = read_catalog([document(defined), document(piped(*steps, *then))], [document(composite)])
    cluster = Cluster({"Network": live} if live else {})
    expansion = expand(catalog, [], project="p", stack="dev", scopes=Scopes({}), live=cluster)
    return build_plan(expansion, project="p", stack="dev", table=samples.table())


def claim_of(text: str, **live: Any) -> PlannedClaim:
    [claim] = plan_of(NETWORK + SUBNET % text, live=live).claims
    return claim


def document_of(claim: PlannedClaim, name: str = "asubnet") -> dict[str, Any]:
    [found] = [c.document for c in claim.children if c.template.name == name]
    return found


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(f"{{{{ {PATH} }}}}", "status.id", id="whole"),
        pytest.param(f'"{{{{ {PATH} }}}}"', "status.id", id="in-quotes"),
        pytest.param(f"{{{{ {PATH} | quote }}}}", "status.id", id="quote"),
        pytest.param(f'{{{{ {PATH} | default "" }}}}', "status.id", id="default"),
        pytest.param('{{ $n := getComposedResource . "network" }}{{ $n.status.id }}', "status.id", id="variable"),
        pytest.param('{{ (getComposedResource . "network").status.id }}', "status.id", id="own-function"),
        pytest.param(
            '{{ dig "status" "id" "" (getComposedResource . "network" | default dict) }}', "status.id", id="dig"
        ),
        pytest.param(
            '{{ dig "resources" "network" "resource" "status" "id" "none" .observed }}', "status.id", id="dig-all"
        ),
        pytest.param('{{ get (getComposedResource . "network") "status" }}', "", id="object"),
        pytest.param(
            '{{ (index (.observed.resources | default dict) "network").resource.status.id }}', "status.id", id="index"
        ),
        pytest.param(
            '{{ index (getComposedResource . "network" | default dict) "metadata" }}', "", id="whole-metadata"
        ),
        pytest.param(f"net-{{{{ {PATH} }}}}", "", id="part"),
        pytest.param(f'{{{{ printf "%v" {PATH} }}}}', "", id="printf"),
        pytest.param(f"{{{{ if {PATH} }}}}a{{{{ else }}}}b{{{{ end }}}}", "", id="condition"),
        pytest.param(f'{{{{ eq (toString {PATH}) "a" }}}}', "", id="comparison"),
        pytest.param("{{ .observed.resources.other.resource.status.id }}", "", id="resource-of-nobody"),
        pytest.param("{{ .observed.resources.asubnet.resource.status.id }}", "", id="of-itself"),
        pytest.param("{{ .observed.resources.network.resource.spec.id }}", "", id="field-of-the-template"),
        pytest.param("{{ .observed.composite.resource.spec.region }}", "", id="composite"),
    ],
)
def test_what_is_filled_in_later(text: str, path: str) -> None:
    value = document_of(claim_of(text))["spec"]["field"]
    found = fieldpath.to_text(value.path) if isinstance(value, Ref) else ""
    assert found == path
    assert not isinstance(value, Ref) or value.resource.endswith("/network")


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"id": "vpc-1"}, id="text"),
        pytest.param({"id": 5432}, id="number"),
        pytest.param({"id": "5432"}, id="text-of-digits"),
        pytest.param({"id": True}, id="boolean"),
        pytest.param({"id": "arn:aws:iam::1:role/x"}, id="with-colons"),
        pytest.param({"id": ""}, id="empty"),
        pytest.param({}, id="missing"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{{{{ {PATH} }}}}", id="whole"),
        pytest.param(f'"{{{{ {PATH} }}}}"', id="in-quotes"),
        pytest.param(f"'{{{{ {PATH} }}}}'", id="in-single-quotes"),
        pytest.param(f"{{{{ {PATH} | quote }}}}", id="quote"),
        pytest.param(f"{{{{ {PATH} | toJson }}}}", id="json"),
        pytest.param(f'{{{{ {PATH} | default "none" }}}}', id="default"),
        pytest.param('{{ dig "status" "id" 7 (getComposedResource . "network" | default dict) }}', id="dig"),
    ],
)
def test_what_is_filled_in_is_what_the_next_run_writes(text: str, status: dict[str, Any]) -> None:
    first = claim_of(text)
    assert first.piped is not None
    [(path, scalar)] = first.piped.scalars["asubnet"].items()
    live = {"status": status}
    second = claim_of(text, **live)
    assert second.piped is not None
    assert gofunction.filled(scalar, live) == second.piped.value_now("asubnet", path)
    assert first.piped.awaited == second.piped.awaited, "what is waited for must not come and go"
    assert [c.template.name for c in first.children] == ["network", "asubnet"]


def test_a_value_that_exists_is_known_and_still_a_reference() -> None:
    value = document_of(claim_of(f"{{{{ {PATH} }}}}", status={"id": "vpc-1"}))["spec"]["field"]
    assert isinstance(value, Ref)
    assert value.known == "vpc-1"


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        pytest.param(f"{{{{ {PATH} }}}}", True, id="bare"),
        pytest.param(f'{{{{ {PATH} | default "x" }}}}', False, id="with-another-value"),
        pytest.param("{{ .observed.resources.network.resource.metadata.uid }}", False, id="no-status"),
        pytest.param(f"{{{{ with {PATH} }}}}{{{{ . }}}}{{{{ end }}}}", False, id="under-a-condition"),
    ],
)
def test_what_the_engine_waits_for(text: str, waits: bool) -> None:
    for live in ({}, {"status": {"id": "a"}}):
        [network] = [c for c in claim_of(text, **live).children if c.template.name == "network"]
        assert any("jsonpath" in w and "id" in w for w in network.options.wait_for) is waits


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("metadata.name", id="name"),
        pytest.param("metadata.labels.a", id="label"),
        pytest.param("spec.deletionPolicy", id="policy"),
        pytest.param("spec.writeConnectionSecretToRef.name", id="place-of-a-secret"),
        pytest.param("spec.aSelector.matchLabels.a", id="selector"),
    ],
)
def test_what_the_plan_needs_stays_known(path: str) -> None:
    *above, last = path.split(".")
    text = f"apiVersion: ec2.example.org/v1\nkind: Subnet\nmetadata:\n  {PLACE}\n"
    inner = f'{{{{ {PATH} | default "a" }}}}'
    if above[0] == "metadata":
        text += "".join("  " * (n + 1) + f"{key}:\n" for n, key in enumerate(above[1:])) + "  " * len(above)
    else:
        text += "".join("  " * n + f"{key}:\n" for n, key in enumerate(above)) + "  " * len(above)
    text += f"{last}: {inner}\n"
    [claim] = plan_of(NETWORK, text).claims
    assert claim.piped is not None
    assert claim.piped.scalars == {}
    assert value_at(document_of(claim), path) == "a"


PLACE = "annotations: {gotemplating.fn.crossplane.io/composition-resource-name: asubnet}"


def test_resources_that_read_each_other_do_not_wait_in_a_circle() -> None:
    both = NETWORK.replace("forProvider: {}", "subnet: {{ .observed.resources.asubnet.resource.status.id }}")
    [claim] = plan_of(both + SUBNET % f"{{{{ {PATH} }}}}").claims
    assert claim.piped is not None
    assert {name: len(found) for name, found in claim.piped.scalars.items()} == {"asubnet": 1}
    assert document_of(claim, "network")["spec"] == {"subnet": "<no value>"}


def test_a_circle_that_a_selector_closes_is_open_where_the_pipeline_waits() -> None:
    """A control plane resolves both sides over time, so this is no error: what the pipeline wrote stays for now."""
    group = """
apiVersion: azure.crossplane.io/v1alpha3
kind: ResourceGroup
metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: group}}
spec: {server: {{ .observed.resources.server.resource.status.id }}}
---
apiVersion: database.azure.crossplane.io/v1beta1
kind: MySQLServer
metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: server}}
spec: {forProvider: {resourceGroupNameSelector: {matchControllerRef: true}}}
"""
    [claim] = plan_of(group).claims
    assert claim.piped is not None
    assert claim.piped.scalars == {}
    assert document_of(claim, "group")["spec"] == {"server": "<no value>"}
    assert {t.name: t.base["spec"].get("server") for t in claim.piped.templates}["group"] == "<no value>"
    chosen = value_at(document_of(claim, "server"), "spec.forProvider.resourceGroupNameRef.name")
    assert isinstance(chosen, Ref)
    assert [c.template.name for c in claim.children] == ["group", "server"]


def test_a_later_step_wins() -> None:
    patch = step(
        apiVersion="pt.fn.crossplane.io/v1beta1",
        kind="Resources",
        resources=[
            {
                "name": "asubnet",
                "patches": [
                    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.region", "toFieldPath": "spec.field"}
                ],
            }
        ],
    )
    [claim] = plan_of(NETWORK + SUBNET % f"{{{{ {PATH} }}}}", then=(patch,)).claims
    assert document_of(claim)["spec"] == {"field": "us"}


def test_a_text_of_a_claim_is_no_field() -> None:
    """The words that stand for fields while the output is read are none that it contains."""
    text = f"{{{{ {PATH} }}}}\n  region: {{{{ .observed.composite.resource.spec.region }}}}"
    [claim] = plan_of(NETWORK + SUBNET % text, spec={"region": "claimsmith-reading-0"}).claims
    assert isinstance(document_of(claim)["spec"]["field"], Ref)
    assert document_of(claim)["spec"]["region"] == "claimsmith-reading-0"
