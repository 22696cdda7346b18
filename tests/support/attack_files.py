"""A platform with two teams, and files by which one team would reach what is not its own.

`team-a` may use the namespace `team-a` and the class `small`; `team-b` is the victim. Each attack is one or more files
that whoever may write below `stacks/dev/claims/team-a/` could commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from claimsmith.kubernetes.crds import permissive_crd
from tests.e2e.workload_examples import application, config_map, namespace_object, provider
from tests.support import platform_documents as build
from tests.support.samples import class_data, class_ref, patch

Data = dict[str, Any]

PLACE = "stacks/dev/claims/team-a/attack.yaml"
MINE, THEIRS = "team-a", "team-b"
SERVER = {"apiVersion": "database.example.org/v1beta1", "kind": "Server", "spec": {"forProvider": {"size": 1}}}
FED = {**SERVER, "spec": {**SERVER["spec"], "writeConnectionSecretToRef": {"namespace": "crossplane-system"}}}
STORE_API = "platform.example.org/v1alpha1"

SETTINGS = """\
apiVersion: claimsmith.io/v1alpha1
kind: Settings
claims:
- folder: team-a
  namespaces: [team-a]
  classes: [small, stores, queues, disks, sites]
  targets: [shared]
- folder: team-b
  namespaces: [team-b]
  allow: [external-names]
"""


def xrd(kind: str, *, claim: str = "", **spec: Any) -> Data:
    plural = f"{kind.lower()}s"
    names = {"claimNames": {"kind": claim, "plural": f"{claim.lower()}s"}} if claim else {}
    properties = {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    version = {"name": "v1alpha1", "served": True, "referenceable": True, "schema": schema}
    return {
        "apiVersion": f"apiextensions.crossplane.io/{'v1' if claim else 'v2'}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.platform.example.org"},
        "spec": {
            "group": "platform.example.org",
            "names": {"kind": kind, "plural": plural},
            **names,
            "versions": [version],
            **spec,
        },
    }


def composition(name: str, kind: str, base: Data, **spec: Any) -> Data:
    size = {"fromFieldPath": "spec.size", "toFieldPath": "spec.forProvider.size"}
    limit = {
        "type": "FromEnvironmentFieldPath",
        "fromFieldPath": "limit",
        "toFieldPath": "spec.forProvider.limit",
    }
    configs = {
        "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
        "kind": "Input",
        "spec": {"environmentConfigs": [{"type": "Reference", "ref": {"name": "limits"}}]},
    }
    resources = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": "server", "base": base, "patches": [size, limit]}],
    }
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": name},
        "spec": {
            "compositeTypeRef": {"apiVersion": STORE_API, "kind": kind},
            "mode": "Pipeline",
            "pipeline": [
                {"step": "env", "functionRef": {"name": "function-environment-configs"}, "input": configs},
                {"step": "make", "functionRef": {"name": "function-patch-and-transform"}, "input": resources},
            ],
            **spec,
        },
    }


def environment(limit: int) -> Data:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1beta1",
        "kind": "EnvironmentConfig",
        "metadata": {"name": "limits"},
        "data": {"limit": limit},
    }


def target(name: str, namespace: str) -> Data:
    return {
        "apiVersion": "workload.crossplane.io/v1alpha1",
        "kind": "WorkloadTarget",
        "metadata": {"namespace": namespace, "name": name, "labels": {"env": name}},
        "clusterRef": {"apiVersion": "kubernetes.crossplane.io/v1alpha1", "kind": "Provider", "name": "central"},
    }


CLUSTER = {"apiVersion": "container.gcp.crossplane.io/v1beta1", "kind": "GKECluster"}
NAMESPACED_SERVER = {**SERVER, "apiVersion": "database.m.example.org/v1beta1"}
SIZE = patch("spec.size", "spec.forProvider.size")
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}
PLATFORM: dict[str, list[Data]] = {
    "components/kinds/crds.yaml": [
        permissive_crd(SERVER["apiVersion"], "Server", namespaced=False, managed=True),
        permissive_crd(NAMESPACED_SERVER["apiVersion"], "Server", namespaced=True, managed=True),
    ],
    "components/small/class.yaml": [class_data("small", {"name": "server", "base": FED, "patches": [SIZE]})],
    "components/large/class.yaml": [class_data("large", {"name": "server", "base": FED, "patches": [SIZE]})],
    "components/pets/class.yaml": [
        class_data(
            "pets",
            {"name": "pet", "base": {"type": "random:RandomPet"}},
            {
                "name": "name",
                "base": {"type": "random:RandomPet", "properties": {"separator": "${pet.id}"}},
                "patches": [patch("spec.size", "properties.prefix")],
            },
        )
    ],
    "components/stores/all.yaml": [
        xrd("XStore", claim="Store"),
        composition("stores", "XStore", SERVER, writeConnectionSecretsToNamespace="crossplane-system"),
    ],
    "components/vaults/all.yaml": [composition("vaults", "XStore", SERVER)],
    "components/queues/all.yaml": [
        xrd("Queue", scope="Namespaced"),
        composition("queues", "Queue", NAMESPACED_SERVER),
    ],
    "components/limits/environment.yaml": [environment(5)],
    "components/disks/all.yaml": [
        build.definition("Disk"),
        build.publication("disks.acme.example.org"),
        build.composition("disks", "Disk", {"base": SERVER}),
    ],
    "components/sites/all.yaml": [
        build.definition("Site", word="Application"),
        build.composition("sites", "Site", {"base": CONFIG}),
    ],
    "stacks/dev/resources/shared.yaml": [
        provider("central", "infra", "central", key="config"),
        target("shared", MINE),
        target("private", MINE),
        {**SERVER, "metadata": {"name": "provided-server"}},
    ],
}

SECRET = {"name": "loot"}


def claim(name: str = "attack", *, namespace: str = MINE, annotations: Data | None = None, **spec: Any) -> Data:
    given = {"annotations": annotations} if annotations else {}
    return {
        "apiVersion": "database.example.org/v1alpha1",
        "kind": "Database",
        "metadata": {"namespace": namespace, "name": name, **given},
        "spec": {"size": 2, "classRef": class_ref("small"), **spec},
    }


def store(name: str = "attack", *, namespace: str = MINE, metadata: Data | None = None, **spec: Any) -> Data:
    return {
        "apiVersion": STORE_API,
        "kind": "Store",
        "metadata": {"namespace": namespace, "name": name, **(metadata or {})},
        "spec": {"size": 2, "compositionRef": {"name": "stores"}, **spec},
    }


def xr(metadata: Data | None = None, **spec: Any) -> Data:
    return {
        "apiVersion": STORE_API,
        "kind": "XStore",
        "metadata": {"name": "attack", **(metadata or {})},
        "spec": {"size": 2, "compositionRef": {"name": "stores"}, **spec},
    }


def queue(metadata: Data | None = None, *, name: str = "attack", **crossplane: Any) -> Data:
    return {
        "apiVersion": STORE_API,
        "kind": "Queue",
        "metadata": {"namespace": MINE, "name": name, **(metadata or {})},
        "spec": {"size": 2, "crossplane": {"compositionRef": {"name": "queues"}, **crossplane}},
    }


def disk(**infrastructure: Any) -> Data:
    return build.instance("Disk", infrastructure={"compositionRef": {"name": "disks"}, **infrastructure})


def requirement(namespace: str = MINE, metadata: Data | None = None) -> Data:
    made = build.instance("DiskRequirement", namespace=namespace, infrastructure={"compositionRef": {"name": "disks"}})
    return {**made, "metadata": {**made["metadata"], **(metadata or {})}}


def site(namespace: str = MINE, metadata: Data | None = None) -> Data:
    made = build.instance("Site", namespace=namespace, application={"compositionRef": {"name": "sites"}})
    return {**made, "metadata": {**made["metadata"], **(metadata or {})}}


def app(*objects: Data, to: str = "shared", metadata: Data | None = None, inner: Data | None = None) -> Data:
    made = application(MINE, "attack", to, *objects)
    made["metadata"] |= metadata or {}
    for template in made["spec"]["resourceTemplates"]:
        template["metadata"] |= inner or {}
    return made


def rbac(kind: str, **more: Any) -> Data:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": "attack"}, **more}


def said_namespaced(group: str, kind: str) -> Data:
    """A definition by which an application says that a kind is in namespaces."""
    names = {"kind": kind, "plural": f"{kind.lower()}s"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced"},
    }


def marked(document: Data, key: str, value: str | None = "true") -> Data:
    """The document with one more annotation."""
    metadata = document["metadata"]
    return {**document, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), key: value}}}


@dataclass(frozen=True)
class Attack:
    """Files that a team might commit, and a word of the refusal."""

    files: Mapping[str, Any]
    says: str
    at: str = field(default=PLACE)


def attack(document: Data, says: str, *, file: str = PLACE) -> Attack:
    return Attack({file: document}, says, file)


EVERYONES: list[Data] = [
    {
        **CLUSTER,
        "metadata": {"name": "everyones"},
        "spec": {"writeConnectionSecretToRef": {"namespace": "infra", "name": "everyones"}},
    },
    {**target("everyones", THEIRS), "clusterRef": {**CLUSTER, "name": "everyones"}},
]
"""A cluster that the platform shares: a file of the platform that one attack needs."""
ADOPT, OWNER = "claimsmith.io/adopt", "claimsmith.io/owner"
PLATFORM_ONLY = "counts in the platform's files only"
NOT_THERE = "may not use the namespace"
VICTIM = {"apiVersion": "database.example.org/v1beta1", "kind": "Server"}
PET = {"type": "random:RandomPet", "id": "theirs"}
ADMIN = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
SUBJECTS = [{"kind": "ServiceAccount", "name": "default", "namespace": MINE}]
UID = "11111111-1111-1111-1111-111111111111"
OWNED_BY = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": UID, "controller": True}]
TO_THE_ENGINE = (
    "patchForce", "patchFieldManager", "skipAwait", "waitFor", "deletionPropagationPolicy", "replaceUnready",
    "timeoutSeconds", "autonamed",
)  # fmt: skip
TO_US = (
    "adopt", "owner", "previous-api-version", "controller-owned", "timeout", "given-by", "stacks", "import", "tags",
    "anything-new",
)  # fmt: skip

ATTACKS: dict[str, Attack] = {
    # Composites, which reach any namespace
    "composite": attack(xr(), "composite at cluster scope"),
    "composite-for-a-claim-elsewhere": attack(
        xr(claimRef={"apiVersion": STORE_API, "kind": "Store", "namespace": "kube-system", "name": "x"}), NOT_THERE
    ),
    "composite-with-a-secret-elsewhere": attack(
        xr(writeConnectionSecretToRef={"namespace": "kube-system", "name": "loot"}), NOT_THERE
    ),
    "composite-that-adopts": attack(xr({"annotations": {ADOPT: "true"}}), PLATFORM_ONLY),
    "composite-with-a-uid": attack(xr({"uid": UID}), "metadata.uid"),
    "composite-with-resources": attack(xr(resourceRefs=[{**VICTIM, "name": "x"}]), "resourceRefs"),
    "composite-of-a-definition": attack(disk(), "composite at cluster scope"),
    "composite-of-a-definition-with-a-secret-elsewhere": attack(
        disk(writeConnectionSecretToRef={"namespace": "kube-system", "name": "loot"}), "composite at cluster scope"
    ),
    "namespaced-composite-with-a-uid": attack(queue({"uid": UID}), "metadata.uid"),
    "namespaced-composite-with-owners": attack(queue({"ownerReferences": OWNED_BY}), "ownerReferences"),
    "namespaced-composite-with-resources": attack(queue(resourceRefs=[{**VICTIM, "name": "x"}]), "resourceRefs"),
    "namespaced-composite-of-another": attack(
        queue({"labels": {"crossplane.io/composite": "b"}}), "does not choose it"
    ),
    "claim-with-the-labels-of-another": attack(
        store(metadata={"labels": {"crossplane.io/claim-name": "orders"}}), "does not choose it"
    ),
    # Annotations
    **{f"claim-says-{word}": attack(marked(claim(), f"claimsmith.io/{word}"), PLATFORM_ONLY) for word in TO_US},
    **{f"claim-says-{word}": attack(marked(claim(), f"pulumi.com/{word}"), PLATFORM_ONLY) for word in TO_THE_ENGINE},
    "claim-without-protection": attack(marked(claim(), "claimsmith.io/protect", "false"), PLATFORM_ONLY),
    "crossplane-claim-adopts": attack(marked(store(), ADOPT), PLATFORM_ONLY),
    "crossplane-claim-forces": attack(marked(store(), "pulumi.com/patchForce"), PLATFORM_ONLY),
    "requirement-adopts": attack(marked(requirement(), ADOPT), PLATFORM_ONLY),
    "site-adopts": attack(marked(site(), ADOPT), PLATFORM_ONLY),
    "namespaced-composite-adopts": attack(marked(queue(), ADOPT), PLATFORM_ONLY),
    # Names outside the cluster
    "external-name": attack(marked(claim(), "crossplane.io/external-name", "orders-db"), PLATFORM_ONLY),
    "external-name-prefix": attack(marked(claim(), "crossplane.io/external-name-prefix", "orders"), PLATFORM_ONLY),
    "external-name-suffix": attack(marked(claim(), "crossplane.io/external-name-suffix", "-db"), PLATFORM_ONLY),
    "external-name-of-another-claim": attack(
        marked(claim("twin", namespace=THEIRS), "crossplane.io/external-name", "orders-db"),
        "would get the external name 'orders-db'",
        file="stacks/dev/claims/team-b/twin.yaml",
    ),
    "external-name-of-another-claim-in-upper-case": attack(
        marked(claim("twin", namespace=THEIRS), "crossplane.io/external-name", "Orders-DB"),
        "would get the external name 'Orders-DB'",
        file="stacks/dev/claims/team-b/twin.yaml",
    ),
    "external-name-of-what-the-platform-provides": attack(
        marked(claim("twin", namespace=THEIRS), "crossplane.io/external-name", "provided-server"),
        "would get the external name 'provided-server'",
        file="stacks/dev/claims/team-b/twin.yaml",
    ),
    # Namespaces
    "claim-in-a-system-namespace": attack(claim(namespace="kube-system"), NOT_THERE),
    "claim-in-the-namespace-of-another": attack(claim(namespace=THEIRS), NOT_THERE),
    "claim-in-the-namespace-of-secrets": attack(claim(namespace="crossplane-system"), NOT_THERE),
    "claim-without-a-namespace": attack(
        {**claim(), "metadata": {"name": "attack"}}, "may not use the namespace 'default'"
    ),
    "crossplane-claim-in-a-system-namespace": attack(store(namespace="kube-public"), NOT_THERE),
    "requirement-in-a-system-namespace": attack(requirement("kube-system"), NOT_THERE),
    "site-in-a-system-namespace": attack(site("kube-system"), NOT_THERE),
    "application-in-the-namespace-of-another": attack(
        application(THEIRS, "attack", "shared", config_map("x")), NOT_THERE
    ),
    "file-of-no-team": attack(claim(), "no entry of claimsmith.yaml", file="stacks/dev/claims/team-c/attack.yaml"),
    "file-beside-the-teams": attack(claim(), "no entry of claimsmith.yaml", file="stacks/dev/claims/attack.yaml"),
    # What only the platform writes
    "environment": attack(environment(999), "for the platform team to write"),
    "composition": attack(composition("stores", "XStore", SERVER), "for the platform team to write"),
    "definition-of-composites": attack(xrd("XStore", claim="Store"), "for the platform team to write"),
    "class": attack(class_data("small", {"base": SERVER}), "for the platform team to write"),
    "definition": attack(build.definition("Disk"), "for the platform team to write"),
    "publication": attack(build.publication("disks.acme.example.org"), "for the platform team to write"),
    "existing-cluster": attack(provider("mine", "kube-system", "token"), "not for application teams to write"),
    # Choices that the platform did not offer
    "class-of-others": attack(claim(classRef=class_ref("large")), "may not use"),
    "composition-of-others": attack(store(compositionRef={"name": "vaults"}), "may not use"),
    "existing-resource": attack(
        claim(classRef=None, resourceRef={**VICTIM, "name": "unclaimed"}), "not among what the platform provides"
    ),
    "existing-native-resource": attack(
        claim(classRef=class_ref("pets"), resourceRef=PET), "a claim does not choose what to read"
    ),
    "existing-native-resource-by-another-provider": attack(
        claim(classRef=class_ref("pets"), resourceRef={**PET, "provider": "admin"}), "unknown field 'provider'"
    ),
    "existing-native-resource-to-delete": attack(
        claim(classRef=class_ref("pets"), resourceRef={**PET, "options": {"protect": False}}),
        "unknown field 'options'",
    ),
    "existing-native-resource-and-import": attack(
        marked(claim(classRef=class_ref("pets"), resourceRef=PET), "claimsmith.io/import", "pet=theirs"), PLATFORM_ONLY
    ),
    "protection-that-ends": attack(marked(claim(), "claimsmith.io/protect", "false"), PLATFORM_ONLY),
    "name-of-a-native-resource-of-others": attack(
        marked(claim(classRef=class_ref("pets")), "crossplane.io/external-name", "theirs"),
        "crossplane.io/external-name",
    ),
    "cluster-that-is-shared": Attack(
        {
            "stacks/dev/resources/cluster.yaml": EVERYONES,
            PLACE: {
                "apiVersion": "compute.crossplane.io/v1alpha1",
                "kind": "KubernetesCluster",
                "metadata": {"namespace": MINE, "name": "x", "annotations": {"claimsmith.io/workload-target": "true"}},
                "spec": {"resourceRef": {**CLUSTER, "name": "everyones"}},
            },
        },
        "is shared by a WorkloadTarget",
    ),
    "target-of-others": attack(
        {**(made := app(config_map("x"))), "spec": {**made["spec"], "targetRef": {"name": "private"}}},
        "may not be sent to the target",
    ),
    # What an application deploys to a shared cluster
    "binding-to-cluster-admin": attack(
        app(rbac("ClusterRoleBinding", roleRef=ADMIN, subjects=SUBJECTS)), "at cluster scope"
    ),
    "role-with-wildcards": attack(
        app(rbac("ClusterRole", rules=[{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])), "at cluster scope"
    ),
    "namespace": attack(app(namespace_object("kube-system")), "at cluster scope"),
    "object-in-a-system-namespace": attack(app(config_map("important", "kube-system")), "does not allow the namespace"),
    "object-in-the-namespace-of-another": attack(app(config_map("x", THEIRS)), "does not allow the namespace"),
    "object-of-unknown-scope": attack(
        app({"apiVersion": "x.example.org/v1", "kind": "Anything", "metadata": {"name": "x", "namespace": MINE}}),
        "it is not known whether",
    ),
    "object-by-force-in-a-system-namespace": attack(
        app(marked(config_map("important", "kube-system"), "pulumi.com/patchForce")), "does not allow the namespace"
    ),
    "definition-that-hides-its-scope": attack(
        app(said_namespaced("apiextensions.k8s.io", "CustomResourceDefinition")), "at cluster scope"
    ),
    "definition-that-hides-the-scope-of-another": attack(
        app(
            said_namespaced("rbac.authorization.k8s.io", "ClusterRoleBinding"),
            {
                **rbac("ClusterRoleBinding", roleRef=ADMIN, subjects=SUBJECTS),
                "metadata": {"name": "attack", "namespace": MINE},
            },
        ),
        "ClusterRoleBinding.rbac.authorization.k8s.io is at cluster scope",
    ),
    "object-whose-name-leads-elsewhere": attack(
        app(config_map("../../kube-system/configmaps/important", MINE)), "would lead to another object"
    ),
    "object-whose-namespace-leads-elsewhere": attack(
        app(config_map("important", "team-a/../kube-system")), "would lead to another object"
    ),
    "template-adopts-without-a-value": attack(app(marked(config_map("x"), ADOPT, None)), PLATFORM_ONLY),
    "application-adopts": attack(app(config_map("x"), metadata={"annotations": {ADOPT: "true"}}), PLATFORM_ONLY),
    "template-adopts": attack(app(config_map("x"), inner={"annotations": {ADOPT: "true"}}), PLATFORM_ONLY),
    "template-says-its-owner": attack(app(marked(config_map("x"), OWNER, "shop/dev/x")), PLATFORM_ONLY),
    "target-that-allows-more": attack(
        marked(target("mine", MINE), "claimsmith.io/workload-allow", "cluster-scope"), PLATFORM_ONLY
    ),
}


def as_text(content: Any) -> str:
    documents = content if isinstance(content, list) else [content]
    return yaml.safe_dump_all(documents, sort_keys=False)
