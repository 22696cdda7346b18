"""What `claimsmith explain` and `claimsmith crds` tell in advance, compared with what the real parts say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from claimsmith import lab
from claimsmith.kubernetes.client import CRDS, ApiError, Cluster
from claimsmith.project.project import Project
from claimsmith.tools.explain.project import explanations as stories_of
from tests.e2e.rig import Rig, eventually
from tests.support.platform_files import CLAIMS, PLATFORM

pytestmark = pytest.mark.e2e


@pytest.fixture
def platform(rig: Rig) -> Rig:
    """The small platform of every dialect, its claims in a namespace of the test's own."""
    rig.namespace(rig.name)
    for path, text in PLATFORM.items():
        rig.write(path, str(text).replace("namespace: default", f"namespace: {rig.name}"))
    documents = CLAIMS.split("---\n")
    # What nothing serves, and what claims a resource that must be there first, are not deployed here.
    served = [d for d in documents if "name: none" not in d and "name: held" not in d]
    text = "---\n".join(served).replace("namespace: team", f"namespace: {rig.name}")
    text = text.replace("name: blog", f"name: {rig.name}-blog")
    rig.write("stacks/dev/claims/more.yaml", text)
    site = str(PLATFORM["components/site/composition.yaml"])
    rig.write("components/site/composition.yaml", site.replace("name: store}", f"name: {rig.name}-store}}"))
    return rig


def explained(story: dict[str, Any]) -> Iterator[str]:
    """Every URN in a story."""
    yield story["who"]["urn"]
    yield from (part["urn"] for part in (*story["children"], *story["secrets"], *story["records"]))
    for inner in story["nested"]:
        yield from explained(inner)


def claims_urns(shown: str) -> set[str]:
    """The URNs of components and their children in what `pulumi stack --show-urns` prints."""
    return {w for w in shown.split() if w.startswith("urn:pulumi:dev::") and "::claimsmith:" in w}


@pytest.mark.parametrize("records", ["false", "true"])
def test_urns_are_those_of_the_engine(platform: Rig, records: str) -> None:
    platform.prepare("dev")
    platform.ok(platform.pulumi("config", "set", "claimsmith:records", records, "--stack", "dev"))
    stories = json.loads(platform.ok(platform.claimsmith("explain", "dev", "--output", "json")).out)["claims"]
    platform.ok(platform.up("dev"))
    shown = platform.ok(platform.pulumi("stack", "--stack", "dev", "--show-urns")).out
    ours = claims_urns(shown)
    urns = [urn for story in stories for urn in explained(story)]
    assert len(urns) == len(set(urns)) > 10
    assert set(urns) == ours


def test_one_claim_can_be_targeted(platform: Rig) -> None:
    platform.prepare("dev")
    [story] = stories_of(Project(platform.root), "dev", "cache")
    assert story.who is not None
    platform.ok(platform.up("dev", "--target", story.who.urn, "--target-dependents"))
    shown = platform.ok(platform.pulumi("stack", "--stack", "dev", "--show-urns")).out
    children = {part.urn for part in (*story.children, *story.secrets)}
    assert claims_urns(shown) == {story.who.urn, *children}


def description(client: Cluster, version: str, kind: str) -> dict[str, Any]:
    """How the API server describes a kind; empty while it does not yet."""
    try:
        schemas = client.request("GET", f"/openapi/v3/apis/{version}")["components"]["schemas"]
    except ApiError:
        return {}
    return next((s for name, s in schemas.items() if name.endswith(f".{kind}")), {})


def test_an_api_server_takes_and_describes_the_definitions(platform: Rig, control_plane: lab.Status) -> None:
    found = json.loads(platform.ok(platform.claimsmith("crds", "--output", "json")).out)["items"]
    lab.install_crds(platform.kubeconfig, found)
    with Cluster.of_file(control_plane.kubeconfig, manager="tests") as client:
        live = [client.get(CRDS, crd["metadata"]["name"]) or {} for crd in found]
        conditions = [c for crd in live for c in crd["status"]["conditions"]]
        assert not [c for c in conditions if c["type"] == "NonStructuralSchema"]
        # What `kubectl explain` reads; the API server publishes it a moment after it takes the definitions.
        described = eventually(lambda: description(client, "database.example.org/v1alpha1", "Database"))
    spec = described["properties"]["spec"]
    assert all(field["description"] for field in spec["properties"].values())
