"""The same resources twice, for the real engine: as claims with a generated component, and by hand.

Each site is a component with config maps in it, which nobody has to wait for: what is measured is the program and the
engine. With `native`, its children are random pets of Pulumi's random provider instead: nothing of Kubernetes is
touched. The hand-written program gives its objects the same labels, annotations and options, and names of the same
length; what claimsmith adds to them for the sake of ownership is a part of the resources, not of the comparison.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.workload import write

API = "sites.bench.example.org/v1alpha1"
DEFINITIONS = "apiextensions.crossplane.io/v1alpha1"
GENERATED = """\
from benchmarks import probe

probe.begin()

from claimsmith.deploy import program

program.run()
"""
BY_HAND = """\
from benchmarks import probe

probe.begin()

from benchmarks import sites_by_hand

sites_by_hand.run()
"""


def write_project(
    root: Path,
    *,
    by_hand: bool,
    kubeconfig: Path,
    claims: int,
    children: int,
    stacks: int = 1,
    name: str = "bench",
    native: bool = False,
) -> list[str]:
    """A project with that many claims, cut evenly into stacks by namespace; gives the stacks' names."""
    pulumi = {"name": name, "runtime": "python", "main": "stacks", "stackConfigDir": "stacks"}
    write(root / "Pulumi.yaml", pulumi | {"backend": {"url": "file://./.claimsmith/state"}})
    program = root / "stacks" / "__main__.py"
    program.parent.mkdir(parents=True)
    program.write_text(BY_HAND if by_hand else GENERATED)
    write(root / "components" / "site" / "definition.yaml", *_platform(children, native=native))
    names = [f"s{number}" for number in range(stacks)]
    for number, stack in enumerate(names):
        mine = [
            claim(n, f"team-{number}", name) for n in range(number * claims // stacks, (number + 1) * claims // stacks)
        ]
        write(root / "stacks" / stack / "claims" / "sites.yaml", *mine)
        write(root / "stacks" / f"Pulumi.{stack}.yaml", {"config": {"claimsmith:kubeconfig": str(kubeconfig)}})
    return names


def claim(number: int, namespace: str, prefix: str) -> dict[str, Any]:
    """One site."""
    spec = {"title": f"Site {number}", "region": ("eu", "us")[number % 2], "replicas": 1 + number % 5, "owner": "team"}
    return {
        "apiVersion": API,
        "kind": "Site",
        "metadata": {"namespace": namespace, "name": f"{prefix}-site-{number:04}"},
        "spec": spec,
    }


def _platform(children: int, *, native: bool) -> list[dict[str, Any]]:
    names = {"kind": "Site", "listKind": "SiteList", "plural": "sites", "singular": "site"}
    composition = {"apiVersion": DEFINITIONS, "kind": "Composition", "name": "site"}
    crd = {"group": API.partition("/")[0], "version": "v1alpha1", "names": names}
    return [
        {
            "apiVersion": DEFINITIONS,
            "kind": "ApplicationDefinition",
            "metadata": {"name": f"sites.{API.partition('/')[0]}"},
            "spec": {"crdSpecTemplate": crd, "defaultComposition": composition},
        },
        {
            "apiVersion": DEFINITIONS,
            "kind": "Composition",
            "metadata": {"name": "site"},
            "spec": {
                "from": {"apiVersion": API, "kind": "Site"},
                "to": [(_pet if native else _config_map)(number) for number in range(children)],
            },
        },
    ]


def _config_map(number: int) -> dict[str, Any]:
    base = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"labels": {"part": f"part-{number}"}},
        "data": {"part": str(number), "theme": "plain", "cache": "on", "log": "info", "ttl": "60s"},
    }
    patches = [
        {"fromFieldPath": "spec.title", "toFieldPath": "data.title"},
        {"fromFieldPath": "spec.region", "toFieldPath": "data.region"},
        {
            "fromFieldPath": "spec.region",
            "toFieldPath": "data.bucket",
            "transforms": [{"type": "map", "map": {"eu": "bucket-eu-1", "us": "bucket-us-1"}}],
        },
        {
            "fromFieldPath": "spec.replicas",
            "toFieldPath": "data.replicas",
            "transforms": [{"type": "string", "string": {"fmt": "%d"}}],
        },
        {
            "fromFieldPath": "spec.owner",
            "toFieldPath": "data.mail",
            "transforms": [{"type": "string", "string": {"fmt": "%s@example.org"}}],
        },
    ]
    return {"name": f"part-{number}", "base": base, "patches": patches}


def _pet(number: int) -> dict[str, Any]:
    """A native child with as many patches as a config map has."""
    keepers = {"part": str(number), "theme": "plain", "cache": "on", "log": "info", "ttl": "60s"}
    patches = [
        {**patch, "toFieldPath": str(patch["toFieldPath"]).replace("data.", "properties.keepers.")}
        for patch in _config_map(number)["patches"]
    ]
    base = {"type": "random:RandomPet", "properties": {"length": 3, "separator": "-", "keepers": keepers}}
    return {"name": f"part-{number}", "base": base, "patches": patches}
