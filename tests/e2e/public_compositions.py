"""Compositions with functions as projects: definition, composition, claim, and the kinds of their children.

Most are public ones, from the shared data. There is none with KCL among them, so those are our own (`kcl/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from claimsmith.kubernetes.crds import Crd, permissive_crd, plural_of
from tests.support.paths import ROOT

SHARED = ROOT.parent / "shared" / "conformance" / "functions"
KCL = Path(__file__).parent / "kcl"
ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
UNMANAGED = ("ProviderConfig",)
"""Kinds that no controller makes Ready."""
Document = dict[str, Any]
Change = Callable[[Document], None]


def _nothing(_: Document) -> None: ...


@dataclass(frozen=True)
class Case:
    """A composition of the shared data, how its claim is changed, and the children that the change concerns."""

    name: str
    folder: str
    change: Change
    affected: frozenset[str]
    prepare: Change = _nothing
    """What the example's spec needs beside, to be deployed."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Texts to be replaced in its files: some examples share the group and kind of their composites."""
    secret: tuple[str, frozenset[str]] = ("", frozenset())
    """The name of its connection Secret, and the keys that this has."""
    namespaced: bool = False
    """Whether the composite has a namespace, where the example comes without a definition."""

    def documents(self, file: str) -> list[Document]:
        """The documents of a file; none where there is no such file."""
        path = SHARED / self.folder / file
        text = path.read_text() if path.is_file() else ""
        for old, new in self.replaced:
            text = text.replace(old, new)
        return [d for d in yaml.safe_load_all(text) if d]

    def composite(self) -> Document:
        """The example's composite."""
        [found] = self.documents("xr.yaml")
        return found

    def definition(self) -> Document:
        """The definition of the composite; one that takes anything where the example comes without."""
        found = self.documents("xrd.yaml")
        return found[0] if found else definition_of(self.composite(), namespaced=self.namespaced)

    def platform(self) -> list[Document]:
        """What a platform engineer writes."""
        extra = [d for d in self.documents("extra.yaml") if d["kind"] == "EnvironmentConfig"]
        return [self.definition(), *self.documents("composition.yaml"), *extra]

    def resources(self, namespace: str) -> list[Document]:
        """What the example expects in the cluster."""
        found = [d for d in self.documents("extra.yaml") if d["kind"] != "EnvironmentConfig"]
        return [{**d, "metadata": {**d["metadata"], "namespace": namespace}} for d in found]

    def is_namespaced(self) -> bool:
        return self.definition()["spec"].get("scope") == "Namespaced"

    def claim(self, namespace: str, *, changed: bool = False) -> Document:
        """The claim of the example, or its composite where it has none."""
        composite = self.composite()
        spec, metadata = composite["spec"], composite["metadata"]
        ref = spec.pop("claimRef", None) or {**composite, "name": metadata["name"]}
        claimed = ref["kind"] != composite["kind"]
        self.prepare(spec)
        if changed:
            self.change(spec)
        if claimed and self.secret[0]:
            spec["writeConnectionSecretToRef"] = {"name": self.secret[0]}
        place = {"namespace": namespace} if claimed or self.is_namespaced() else {}
        return {
            "apiVersion": ref["apiVersion"],
            "kind": ref["kind"],
            "metadata": {"name": ref["name"], **place},
            "spec": spec,
        }

    def kinds(self) -> Iterator[tuple[str, str]]:
        """The apiVersions and kinds of what it composes, as far as the shared data has it."""
        own = self.definition()["spec"]["group"]
        for path in sorted((SHARED / self.folder).glob("expected*.yaml")):
            for document in self.documents(path.name):
                group = document["apiVersion"].rpartition("/")[0]
                if "." in group and group != own and not group.startswith("render."):
                    yield document["apiVersion"], document["kind"]

    def crds(self) -> list[Crd]:
        """Permissive definitions of what it composes."""
        scope = self.is_namespaced()
        return [
            permissive_crd(version, kind, namespaced=scope, managed=kind not in UNMANAGED)
            for version, kind in sorted(set(self.kinds()))
        ]


@dataclass(frozen=True)
class OwnCase(Case):
    """A composition of `kcl/`; the folder is its file, and the spec of its composite is prepared."""

    composed: tuple[tuple[str, str], ...] = ()
    namespaced: bool = True

    def documents(self, file: str) -> list[Document]:
        return list(yaml.safe_load_all((KCL / self.folder).read_text())) if file == "composition.yaml" else []

    def composite(self) -> Document:
        [composition] = self.documents("composition.yaml")
        return {**composition["spec"]["compositeTypeRef"], "metadata": {"name": self.name}, "spec": {}}

    def kinds(self) -> Iterator[tuple[str, str]]:
        yield from self.composed


def definition_of(composite: Document, *, namespaced: bool) -> Document:
    """A definition of a composite that takes anything."""
    kind, (group, _, version) = composite["kind"], composite["apiVersion"].rpartition("/")
    plural = plural_of(kind)
    served = {"name": version, "served": True, "referenceable": True, "schema": ANYTHING}
    return {
        "apiVersion": f"apiextensions.crossplane.io/{'v2' if namespaced else 'v1'}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            **({"scope": "Namespaced"} if namespaced else {}),
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "versions": [served],
        },
    }


def _at(found: Any, *path: str | int) -> Any:
    for key in path:
        found = found[key]
    return found


def _sets(*path: str | int, to: Any) -> Change:
    def change(spec: Document) -> None:
        _at(spec, *path[:-1])[path[-1]] = to

    return change


def _pops(*path: str | int) -> Change:
    def change(spec: Document) -> None:
        _at(spec, *path[:-1]).pop(path[-1])

    return change


def _both(*changes: Change) -> Change:
    def change(spec: Document) -> None:
        for each in changes:
            each(spec)

    return change


_LIVEWYER = "livewyer-ops-crossplane-configuration-aws-elemental-head"
_KRO = "crossplane-contrib-function-kro-head-networkingstack"
GO_TEMPLATING = (
    Case(
        "network",
        "crossplane-contrib-function-tag-manager-head-xnetworks.aws.platform.upbound.io-2",
        _pops("parameters", "subnets", 3),
        frozenset({"subnet-us-west-2b-private", "rta-us-west-2b-private"}),
    ),
    Case(
        "sql",
        "vfarcic-crossplane-tutorial-head-azure-postgresql-3",
        _sets("parameters", "databases", to=["silly-demo-db", "second"]),
        frozenset({"silly-demo-db-20240114234411-second"}),
    ),
    Case(
        "mysql",
        "dip-software-crossplane-compositions-head-mysql-aws",
        _sets("parameters", "backupRetentionPeriod", to=7),
        frozenset({"database"}),
        # The template then derives a password, and keeps the one that exists.
        prepare=_both(
            _pops("parameters", "masterPasswordSecretRef"),
            _sets("parameters", "engineVersion", to="8.0.35"),
        ),
        secret=(
            "myapp-aurora-mysql-connection",
            frozenset({"database", "endpoint", "host", "password", "port", "sslmode", "username"}),
        ),
    ),
    Case(
        "namespace",
        "stuttgart-things-crossplane-configurations-head-managed-namespace",
        _pops("roleBindings", 0),
        frozenset({"team-max-rolebinding-team-max-edit"}),
    ),
    Case(
        "keys",
        "crossplane-contrib-function-go-templating-head-example-inline",
        _sets("count", to=1),
        frozenset({"test-user-1", "sample-access-key-1"}),
        prepare=_sets("writeConnectionSecretToRef", to={"name": "keys-secret"}),
        replaced=(
            ("example.crossplane.io/v1beta1", "keys.example.crossplane.io/v1beta1"),
            ("namespace: crossplane-system", ""),
            # The key that the simulated cloud writes.
            ("connectionDetails.username", "connectionDetails.endpoint"),
            ("connectionDetails.password", "connectionDetails.endpoint"),
        ),
        secret=("keys-secret", frozenset({"password", "url", "username"})),
        namespaced=True,
    ),
    Case(
        "workflow",
        f"{_LIVEWYER}-workflow.elemental.aws.livewyer.io",
        _sets("steps", 0, "resources", 0, "spec", "spec", "forProvider", "flowSize", to="LARGE"),
        # The names of its resources have slashes.
        frozenset({"flow.mediaconnect.aws.livewyer.io/mediaconnect-flow-a"}),
        # The simulated cloud would resolve it, and own the whole list: permissive definitions have no keys of lists.
        replaced=(("inputIdRef:", "inputIdSource:"),),
    ),
)
KRO = (
    Case("graph", f"{_KRO}-readiness", _sets("region", to="us-west-1"), frozenset({"vpc", "subnet", "securityGroup"})),
    Case("external", f"{_KRO}-externalref", _nothing, frozenset()),
    Case(
        "collection",
        f"{_KRO}-collection-limits",
        _pops("availabilityZones", 5),
        frozenset({"subnets-cool-network-subnet-f"}),
    ),
)
OTHERS = (
    Case(
        "cluster",
        "upbound-platform-ref-upbound-spaces-head-xclusters.spaces.platformref.upbound.io",
        _sets("parameters", "nodes", "count", to=6),
        frozenset({"XEKS"}),
        # The key that the simulated cloud writes.
        replaced=(("fromConnectionSecretKey: kubeconfig", "fromConnectionSecretKey: endpoint"),),
        secret=("cluster-secret", frozenset({"kubeconfig"})),
    ),
    Case(
        "sequence",
        "crossplane-contrib-function-sequencer-head-function-sequencer",
        _nothing,
        frozenset(),
        replaced=(("example.crossplane.io/v1", "sequence.example.crossplane.io/v1"),),
    ),
)
OWN = (
    OwnCase(
        "kcl-buckets",
        "buckets.yaml",
        _sets("buckets", 1, "versioning", to=True),
        frozenset({"bucket-b"}),
        prepare=_sets("buckets", to=[{"name": "a", "region": "eu-1"}, {"name": "b", "region": "eu-2"}]),
        composed=(("s3.kcl.example.org/v1", "Bucket"),),
    ),
    OwnCase(
        "kcl-database",
        "database.yaml",
        _sets("size", to="large"),
        frozenset({"server"}),
        prepare=_both(_sets("size", to="small"), _sets("writeConnectionSecretToRef", to={"name": "kcl-secret"})),
        secret=("kcl-secret", frozenset({"host"})),
        composed=(("sql.kcl.example.org/v1", "Server"),),
    ),
    OwnCase(
        "kcl-network",
        "network.yaml",
        _sets("zones", to=["a"]),
        frozenset({"subnet-b"}),
        prepare=_both(_sets("cidr", to="10.0.0.0/16"), _sets("zones", to=["a", "b"]), _sets("team", to="shop")),
        composed=(("net.kcl.example.org/v1", "VPC"), ("net.kcl.example.org/v1", "Subnet")),
    ),
)
CASES = (*GO_TEMPLATING, *KRO, *OTHERS, *OWN)
