"""What a plan makes is named as the engine names it, in every dialect; applications are compared in their clusters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claimsmith.project.project import Project
from claimsmith.tools.explain import Explanation
from claimsmith.tools.explain.project import explanations as stories_of
from claimsmith.tools.review.snapshot import read_snapshot
from tests.e2e.workload_examples import application, config_map, gke_cluster, target
from tests.support.paths import ROOT
from tests.support.review_files import AUTO, Files, changed, put, reviewed

CLAIMS = "stacks/dev/claims/app.yaml"
GIVEN = "stacks/dev/resources/clusters.yaml"
WEB = "KubernetesApplication.workload.crossplane.io/team/web"


def urns_of(story: Explanation) -> Iterator[str]:
    """The URNs of all that is composed for a claim."""
    yield from (part.urn for part in (*story.children, *story.secrets))
    yield from [story.existing.urn] if story.existing else []
    for inner in story.nested:
        yield from urns_of(inner)


@pytest.mark.parametrize("stack", Project(ROOT).stacks())
def test_urns_are_those_that_explain_tells(stack: str) -> None:
    # A test on the real engine holds these against what was deployed.
    project = Project(ROOT)
    stories = stories_of(project, stack)
    resources = read_snapshot(project, stack).resources.values()
    ours = {r.urn for r in resources if r.claim and not r.cluster}
    assert ours == {urn for story in stories for urn in urns_of(story)}
    assert ours


def workloads() -> Files:
    """An application that goes to the first of two clusters, with a Secret."""
    clusters = [gke_cluster("one"), gke_cluster("two")]
    targets = [target("team", "first", "one"), target("team", "second", "two")]
    web = application("team", "web", "first", config_map("settings", "team", a="1"), secrets=("keys",))
    # Another one that stays: an environment without any claims is gone.
    other = application("team", "other", "second", config_map("other", "team", a="1"))
    return {CLAIMS: [web, other], GIVEN: [*clusters, *targets], "stacks/Pulumi.dev.yaml": AUTO}


def what(found: Any) -> dict[str, Any]:
    claims = {c.claim: (c.change.value, {r.part: r.op.value for r in c.resources}) for c in found.claims}
    return {**claims, **{r.part: r.op.value for r in found.given}}


COPY = "GKECluster.compute.gcp.crossplane.io/{}/team/keys"


@pytest.mark.parametrize(
    ("change", "want", "rules"),
    [
        pytest.param([], {}, [], id="nothing"),
        pytest.param(
            [put(CLAIMS, "0/spec/resourceTemplates/0/spec/template/metadata/labels", {"x": "y"})],
            {WEB: ("changed", {"web-configmap": "updated"})},
            [],
            id="an-object-in-its-cluster",
        ),
        pytest.param(
            [put(CLAIMS, "0/spec/resourceTemplates/0/spec/template/data/a", "2")],
            {WEB: ("changed", {"web-configmap": "replaced"})},
            [],
            id="an-object-that-is-created-anew",
        ),
        pytest.param(
            [put(CLAIMS, "0/spec/resourceTemplates/0/spec/secrets", [])],
            {COPY.format("one"): "deleted"},
            [],
            id="a-secret-less",
        ),
        pytest.param(
            [put(CLAIMS, "0/spec/targetSelector/matchLabels/env", "second")],
            {
                WEB: ("rebound", {"web-configmap": "replaced"}),
                COPY.format("one"): "deleted",
                COPY.format("two"): "created",
            },
            ["binding-moves"],
            id="another-cluster",
        ),
        pytest.param(
            [put(CLAIMS, "0", None)],
            {WEB: ("removed", {"web-configmap": "deleted"}), COPY.format("one"): "deleted"},
            [],
            id="an-application-less",
        ),
    ],
)
def test_applications(tmp_path: Path, change: list[Any], want: dict[str, Any], rules: list[str]) -> None:
    found = reviewed(tmp_path, workloads(), changed(*change, start=workloads()))
    assert found.problems == ()
    assert what(found) == want
    assert [w.rule for w in found.warnings] == rules


def test_a_given_cluster_that_goes_is_reported(tmp_path: Path) -> None:
    before = workloads()
    before[GIVEN].append(gke_cluster("more"))
    found = reviewed(tmp_path, before, workloads())
    assert found.problems == ()
    assert what(found) == {"GKECluster.compute.gcp.crossplane.io/more": "deleted"}
