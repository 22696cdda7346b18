"""Document 004 on the real engine and two real API servers: the control cluster, and one that existed before.

The simulated cloud's clusters are the control cluster itself; a cluster whose Secret the cloud does not write, and the
test does, is the other one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.models.rbac_v1 import RoleRef, Subject
from lightkube.resources.core_v1 import ConfigMap, Namespace, Secret, ServiceAccount, ServiceAccountToken
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding

from claimsmith import lab, toolchain
from claimsmith.dialects.definitions.crds import claim_crd, record_crds
from claimsmith.kubernetes.client import Cluster
from claimsmith.kubernetes.crds import permissive_crd
from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import RESOURCE_GROUP, RULE, SERVER, UNHURRIED, Rig, eventually
from tests.e2e.workload_examples import (
    NO_SECRET,
    application,
    cluster_claim,
    config_map,
    deployment,
    development_class,
    gke_cluster,
    namespace_object,
    own_target,
    provider,
    secret,
    target,
)

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("defined")]

CLAIMS = [("database.example.org/v1alpha1", "MySQLInstance"), ("compute.crossplane.io/v1alpha1", "KubernetesCluster")]
MANAGED = [
    ("compute.gcp.crossplane.io/v1alpha3", "GKECluster"),
    *(("/".join(kind[:2]), kind[2]) for kind in (RESOURCE_GROUP, SERVER, RULE)),
]


@dataclass
class Server:
    """An API server, to read and to write as a person would."""

    kubeconfig: str

    @cached_property
    def reader(self) -> Cluster:
        return Cluster(self.kubeconfig)

    @cached_property
    def client(self) -> Client:
        config = KubeConfig.from_dict(yaml.safe_load(self.kubeconfig)).get()
        return Client(config=config, trust_env=False, timeout=UNHURRIED)

    def get(self, api: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        return self.reader.read(api, kind, name, namespace)

    def namespace(self, name: str) -> None:
        self.client.apply(Namespace(metadata=ObjectMeta(name=name)), field_manager="tests")

    def state_of(self, *objects: tuple[str, str, str, str | None]) -> list[str]:
        """uid and resourceVersion of each: equal means untouched."""
        found = [self.get(*o) for o in objects]
        return [f"{o['metadata']['uid']} {o['metadata']['resourceVersion']}" for o in found if o]

    def token(self, name: str) -> str:
        """A token of a new administrator."""
        self.client.create(ServiceAccount(metadata=ObjectMeta(name=name, namespace="default")))
        self.client.create(
            ClusterRoleBinding(
                metadata=ObjectMeta(name=name),
                roleRef=RoleRef(apiGroup="rbac.authorization.k8s.io", kind="ClusterRole", name="cluster-admin"),
                subjects=[Subject(kind="ServiceAccount", name=name, namespace="default")],
            )
        )
        wanted = ServiceAccountToken(metadata=ObjectMeta(), spec=TokenRequestSpec(audiences=[]))
        created = self.client.create(wanted, name=name, namespace="default")
        assert created.status is not None
        return str(created.status.token)

    def close(self) -> None:
        self.reader.close()
        self.client._client._client.close()


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The second API server: nothing but itself."""
    toolchain.require(*toolchain.NAMES)
    with lab.running(tmp_path_factory.mktemp("second"), simulate=False) as status:
        server = Server(Path(status.kubeconfig).read_text())
        yield server
        server.close()


@pytest.fixture(scope="module")
def defined(control_plane: lab.Status) -> None:
    """The definitions are there before the garbage collector is: else each deletion waits until it knows the kinds."""
    permissive = [permissive_crd(api, kind, namespaced=False, managed=True) for api, kind in MANAGED]
    folder = Path(control_plane.kubeconfig).parents[2]
    lab.up(folder, crds=[*permissive, *record_crds(), *(claim_crd(api, kind) for api, kind in CLAIMS)])


@pytest.fixture
def control(rig: Rig) -> Iterator[Server]:
    server = Server(rig.kubeconfig.read_text())
    yield server
    server.close()


def put_secret(rig: Rig, namespace: str, name: str, **values: str) -> None:
    data = {k: base64.b64encode(v.encode()).decode() for k, v in values.items()}
    secret = Secret(metadata=ObjectMeta(name=name, namespace=namespace), data=data)
    try:
        rig.client.create(secret)
    except ApiError:
        rig.client.replace(secret)


def parts_of(kubeconfig: str) -> tuple[str, str]:
    """Server and CA of a kubeconfig."""
    cluster = yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]
    return cluster["server"], base64.b64decode(cluster["certificate-authority-data"]).decode()


def prepare(rig: Rig, **config: str) -> None:
    """Generate, bind, make the stack `dev`."""
    rig.ok(rig.claimsmith("generate"))
    settings = {"claimsmith:kubeconfig": str(rig.kubeconfig), **{f"claimsmith:{k}": v for k, v in config.items()}}
    rig.write("stacks/Pulumi.dev.yaml", {"config": settings})
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.pulumi("stack", "init", "dev"))


def providers(rig: Rig) -> list[str]:
    state = json.loads(rig.ok(rig.pulumi("stack", "export", "--stack", "dev")).out)
    urns = [r["urn"] for r in state["deployment"]["resources"]]
    return sorted(u.split("::")[-1] for u in urns if "pulumi:providers:kubernetes" in u)


def test_scenario_1_the_owner_provisions_and_publishes(rig: Rig, control: Server, second: Server) -> None:
    """And then: another endpoint and another token of the same cluster touch no workload; destroy leaves nothing."""
    team, dev, stage = rig.name, f"{rig.name}-dev", f"{rig.name}-stage"
    rig.namespace(team)
    put_secret(rig, "crossplane-system", stage, kubeconfig=second.kubeconfig)
    rig.write("stacks/dev/resources/clusters.yaml", [gke_cluster(dev), gke_cluster(stage, **{NO_SECRET: "true"})])
    rig.write("stacks/dev/resources/publish-dev.yaml", target(team, "dev", dev))
    web = f"{team}-web"
    rig.write(
        "stacks/dev/claims/dev.yaml",
        application(
            team, "blog", "dev", namespace_object(web), config_map("settings", web, a="1"), deployment("blog", web)
        ),
    )
    rig.write(
        "stacks/dev/claims/stage.yaml",
        application(team, "tested", "stage", namespace_object(web), config_map("settings", web, a="1")),
    )
    prepare(rig)

    # Stage is not published yet: that is reported, and the rest goes on.
    ran = rig.ok(rig.up("dev"))
    assert f"no target in {team} matches env=stage" in ran.text
    assert control.get("v1", "ConfigMap", "settings", web)
    assert control.get("apps/v1", "Deployment", "blog", web)
    assert second.get("v1", "ConfigMap", "settings", web) is None

    rig.write("stacks/dev/resources/publish-stage.yaml", target(team, "stage", stage))
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    settings = ("v1", "ConfigMap", "settings", web)
    before = second.state_of(("v1", "Namespace", web, None), settings)
    assert len(before) == 2
    assert second.get(*settings)["metadata"]["annotations"]["claimsmith.io/owner"].startswith(f"{rig.name}/dev/")
    assert rig.steps("dev") == {}

    # Another address of the same cluster, then the parts of a Secret with a token: only its provider changes.
    moved = second.kubeconfig.replace("https://127.0.0.1:", "https://localhost:")
    server, authority = parts_of(moved)
    assert moved != second.kubeconfig
    put_secret(rig, "crossplane-system", stage, kubeconfig=moved)
    change = {f"cluster/GKECluster.compute.gcp.crossplane.io/{stage}": "update"}
    rig.ok(rig.up("dev"))
    put_secret(rig, "crossplane-system", stage, endpoint=server, clusterCA=authority, token=second.token(rig.name))
    assert {n: s["op"] for n, s in rig.steps("dev").items()} == change
    rig.ok(rig.up("dev"))
    assert second.state_of(("v1", "Namespace", web, None), settings) == before

    rig.ok(rig.destroy("dev"))
    assert control.get("v1", "Namespace", web) is None
    assert second.get("v1", "Namespace", web) is None
    assert control.get("compute.gcp.crossplane.io/v1alpha3", "GKECluster", dev) is None


def test_scenario_2_a_claimed_cluster_is_used_in_the_run_that_makes_it(rig: Rig, control: Server) -> None:
    """With a Secret of a claim beside the application, records, and nothing secret in plain text."""
    team, there = rig.name, f"{rig.name}-there"
    rig.namespace(team)
    rig.namespace(there)
    rig.write("components/clusters/class.yaml", development_class())
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(team))
    rig.write(
        "stacks/dev/claims/cluster.yaml",
        cluster_claim(team, "mine", labels={"env": "mine"}, annotations={"claimsmith.io/workload-target": "true"}),
    )
    rig.write(
        "stacks/dev/claims/web.yaml",
        application(team, "blog", "mine", config_map("settings", there), deployment("blog", there), secrets=("sql",)),
    )
    prepare(rig, records="true")
    shown = rig.ok(rig.claimsmith("render", "dev")).out
    assert "scheduled to WorkloadTarget.workload.crossplane.io/mine (targetSelector env=mine)" in shown

    rig.ok(rig.pulumi("preview", "--stack", "dev"))
    rig.ok(rig.up("dev"))
    assert control.get("apps/v1", "Deployment", "blog", there)
    assert rig.secret_values(there, "sql") == rig.secret_values(team, "sql")
    assert rig.steps("dev") == {}

    status = json.loads(rig.ok(rig.claimsmith("status", "dev", "--output", "json")).out)["claims"]
    blog = next(s for s in status if s["claim"] == f"KubernetesApplication.workload.crossplane.io/{team}/blog")
    assert (blog["phase"], blog["class"]) == ("Deployed", "WorkloadTarget.workload.crossplane.io/mine")
    assert [r["resource"] for r in blog["resources"]] == ["blog-configmap", "blog-deployment"]
    assert blog["connectionSecret"]["namespace"] == "crossplane-system"

    workload = "workload.crossplane.io/v1alpha1"
    recorded = control.get(workload, "KubernetesApplication", "blog", team)
    assert recorded["spec"]["targetRef"] == {"name": "mine"}
    assert recorded["status"]["credentialsSecretRef"]["namespace"] == "crossplane-system"
    assert control.get(workload, "KubernetesApplicationResource", "blog-deployment", team)
    assert control.get(workload, "WorkloadTarget", "mine", team)

    planted = "kaleidoscope-4711-canary"
    source = rig.one(SERVER, claim="sql", namespace=team)
    place = source["spec"]["writeConnectionSecretToRef"]
    rig.set_secret(place["namespace"], place["name"], {"password": planted})
    before = rig.secret(there, "sql").metadata.uid
    rig.ok(rig.up("dev", "--diff"))
    assert rig.secret_values(there, "sql")["password"] == planted
    assert rig.secret(there, "sql").metadata.uid == before
    key = rig.kubeconfig.read_text().split("client-key-data: ")[-1].split()[0]
    # What the provider wrote for itself is removed once the last of its processes has ended.
    eventually(lambda: not list((rig.root / ".claimsmith" / "tmp").glob("run-*[0-9a-f]")))
    files = {p: p.read_bytes() for p in rig.root.rglob("*") if p.is_file()}
    for hidden in (planted, base64.b64encode(planted.encode()).decode(), key):
        assert [str(p) for p, text in files.items() if hidden.encode() in text] == []
        assert [s for s in rig.printed if hidden in s] == []

    rig.ok(rig.destroy("dev"))
    assert control.get("apps/v1", "Deployment", "blog", there) is None
    assert rig.secret(there, "sql") is None
    assert control.get(workload, "KubernetesApplication", "blog", team) is None


def test_scenario_3_one_cluster_is_for_some_eyes_only(rig: Rig, second: Server) -> None:
    """An existing cluster in two namespaces has one provider; what is somebody else's there is refused."""
    vault, team, infra = f"{rig.name}-vault", rig.name, f"{rig.name}-infra"
    for name in (vault, team, infra):
        rig.namespace(name)
    for name in (vault, team):
        second.namespace(name)
    put_secret(rig, infra, "onprem", config=second.kubeconfig)
    put_secret(rig, vault, "recipe", taste="secret")
    brought, kubernetes = f"{rig.name}-onprem", "kubernetes.crossplane.io/v1alpha1"
    rig.write(
        "stacks/dev/resources/onprem.yaml",
        [
            provider(brought, infra, "onprem", key="config"),
            target(vault, "onprem", brought, kind="Provider", api=kubernetes),
            target(team, "onprem", brought, kind="Provider", api=kubernetes),
        ],
    )
    rig.write(
        "stacks/dev/claims/vault.yaml",
        application(vault, "sensitive", "onprem", config_map("sensitive", a="1"), secrets=("recipe",)),
    )
    rig.write("stacks/dev/claims/team.yaml", application(team, "other", "onprem", config_map("other", a="1")))
    prepare(rig)

    theirs = ConfigMap(metadata=ObjectMeta(name="other", namespace=team), data={"touch": "not"})
    second.client.create(theirs)
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert f"ConfigMap {team}/other in Provider.kubernetes.crossplane.io/{brought} already exists" in ran.text
        assert "stacks/dev/claims/team.yaml:" in ran.text
    assert second.get("v1", "ConfigMap", "other", team)["data"] == {"touch": "not"}
    second.client.delete(ConfigMap, "other", namespace=team)

    rig.ok(rig.up("dev"))
    assert second.get("v1", "ConfigMap", "sensitive", vault)
    assert second.get("v1", "Secret", "recipe", vault)["data"] == {"taste": base64.b64encode(b"secret").decode()}
    assert second.get("v1", "ConfigMap", "other", team)
    assert providers(rig) == ["cluster", f"cluster/Provider.kubernetes.crossplane.io/{brought}"]

    # One cluster under two names: an application moves on purpose only, and what it moves to is not deleted behind it.
    put_secret(rig, infra, "again", config=second.kubeconfig)
    names = [target(n, "again", f"{brought}-2", kind="Provider", api=kubernetes) for n in (vault, team)]
    rig.write("stacks/dev/resources/again.yaml", [provider(f"{brought}-2", infra, "again", key="config"), *names])
    rig.write("stacks/dev/claims/team.yaml", application(team, "other", "again", config_map("other", a="1")))
    # The application says something else, and that shows; where it is deployed to stays as recorded.
    assert rig.steps("dev") == {f"{team}/other": {"op": "update", "fields": []}}
    move = ("bind", "dev", "--rebind", "KubernetesApplication.workload.crossplane.io/{}")
    rig.ok(rig.claimsmith(*(w.format(f"{team}/other") for w in move)))
    rig.ok(rig.up("dev"))
    assert f"cluster/Provider.kubernetes.crossplane.io/{brought}-2" in providers(rig)
    assert second.get("v1", "ConfigMap", "other", team)

    # A copy of a Secret would be: that is refused.
    sensitive = application(vault, "sensitive", "again", config_map("sensitive", a="1"), secrets=("recipe",))
    rig.write("stacks/dev/claims/vault.yaml", sensitive)
    rig.ok(rig.claimsmith(*(w.format(f"{vault}/sensitive") for w in move)))
    ran = rig.up("dev")
    assert ran.code != 0
    assert f"Secret {vault}/recipe in Provider.kubernetes.crossplane.io/{brought}-2 already exists" in ran.text

    # Credentials that are gone fail that application alone, and by name; all else is reported as before.
    rig.client.delete(Secret, "again", namespace=infra)
    ran = rig.up("dev")
    assert ran.code != 0
    assert f"the Secret {infra}/again of Provider.kubernetes.crossplane.io/{brought}-2 is missing" in ran.text
    assert "Traceback" not in ran.text
    assert len(json.loads(rig.ok(rig.claimsmith("status", "dev", "--output", "json")).out)["claims"]) == 2

    # An application owner cannot publish it.
    rig.write("stacks/dev/claims/sneaky.yaml", own_target(team, "sneaky", brought, kind="Provider", api=kubernetes))
    ran = rig.claimsmith("bind", "dev")
    assert ran.code == 1
    assert "let the platform publish it" in ran.text
    rig.remove("stacks/dev/claims/sneaky.yaml")

    rig.ok(rig.destroy("dev"))
    assert second.get("v1", "ConfigMap", "sensitive", vault) is None
    assert second.get("v1", "Secret", "recipe", vault) is None


def test_an_application_composes_an_application_elsewhere(rig: Rig, second: Server) -> None:
    """002.14: what a composition makes is scheduled like what is authored."""
    team, infra = rig.name, f"{rig.name}-infra"
    rig.namespace(team)
    rig.namespace(infra)
    second.namespace(team)
    group = f"{rig.name}.example.org"
    rig.write("components/wordpress/definition.yaml", wordpress(group))
    rig.write(
        "stacks/dev/resources/onprem.yaml",
        [
            secret(infra, "onprem", kubeconfig=second.kubeconfig),
            provider(rig.name, infra, "onprem"),
            target(team, "onprem", rig.name, kind="Provider", api="kubernetes.crossplane.io/v1alpha1"),
        ],
    )
    rig.write(
        "stacks/dev/claims/blog.yaml",
        {
            "apiVersion": f"{group}/v1alpha1",
            "kind": "Wordpress",
            "metadata": {"namespace": team, "name": "coolblog"},
            "spec": {"title": "Cool"},
        },
    )
    prepare(rig)
    rig.ok(rig.up("dev"))
    assert second.get("v1", "ConfigMap", "wordpress", team)["data"] == {"title": "Cool"}
    outputs = json.loads(rig.ok(rig.pulumi("stack", "output", "--stack", "dev", "--json")).out)
    [composed] = outputs["claims"][f"Wordpress.{group}/{team}/coolblog"]["resources"]
    assert composed["kind"] == "KubernetesApplication"
    assert rig.steps("dev") == {}
    rig.ok(rig.destroy("dev"))
    assert second.get("v1", "ConfigMap", "wordpress", team) is None


def wordpress(group: str) -> list[dict[str, Any]]:
    """An application definition, and the composition that makes a KubernetesApplication of it."""
    app = application("ignored", "ignored", "onprem", config_map("wordpress", title="none"))
    base = {"apiVersion": app["apiVersion"], "kind": app["kind"], "spec": app["spec"]}
    names = {"kind": "Wordpress", "listKind": "WordpressList", "plural": "wordpresses", "singular": "wordpress"}
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    crossplane = "apiextensions.crossplane.io/v1alpha1"
    return [
        {
            "apiVersion": crossplane,
            "kind": "ApplicationDefinition",
            "metadata": {"name": f"wordpresses.{group}"},
            "spec": {
                "crdSpecTemplate": {
                    "group": group,
                    "version": "v1alpha1",
                    "names": names,
                    "validation": {"openAPIV3Schema": schema},
                },
                "defaultComposition": {"apiVersion": crossplane, "kind": "Composition", "name": "wordpress-remote"},
            },
        },
        {
            "apiVersion": crossplane,
            "kind": "Composition",
            "metadata": {"name": "wordpress-remote"},
            "spec": {
                "from": {"apiVersion": f"{group}/v1alpha1", "kind": "Wordpress"},
                "to": [
                    {
                        "base": base,
                        "patches": [
                            {
                                "fromFieldPath": "spec.title",
                                "toFieldPath": "spec.resourceTemplates[0].spec.template.data.title",
                            }
                        ],
                    }
                ],
            },
        },
    ]
