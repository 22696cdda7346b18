"""The program of the sites as a Pulumi engineer writes it: plain components and the providers' SDKs, no claimsmith."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pulumi_random as random
import yaml

BUCKETS = {"eu": "bucket-eu-1", "us": "bucket-us-1"}
CLASS = "Composition.apiextensions.crossplane.io/site"
TIMEOUTS = pulumi.CustomTimeouts(create="30m", update="30m", delete="30m")


class Site(pulumi.ComponentResource):
    """One site: its config maps."""

    def __init__(self, name: str, claim: dict[str, Any], children: int, provider: k8s.Provider) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        super().__init__("claimsmith:sites.bench.example.org:Site", name, {"class": CLASS, "spec": spec})
        project, stack = pulumi.get_project(), pulumi.get_stack()
        uid = uuid.uuid5(uuid.NAMESPACE_URL, f"{project}/{stack}/{name}")
        annotations = {
            "claimsmith.io/owner": f"{project}/{stack}/{uid}",
            "pulumi.com/patchFieldManager": f"claimsmith-{project}-{stack}",
        }
        opts = pulumi.ResourceOptions(parent=self, provider=provider, custom_timeouts=TIMEOUTS)
        made = [
            k8s.core.v1.ConfigMap(
                f"{name}/part-{number}",
                metadata={
                    "name": f"{metadata['name']}-part{number}",
                    "namespace": metadata["namespace"],
                    "labels": {"part": f"part-{number}", "crossplane.io/composite": metadata["name"]},
                    "annotations": annotations,
                },
                data=_settings(number, spec),
                opts=opts,
            )
            for number in range(children)
        ]
        self.names = pulumi.Output.all(*(child.metadata["name"] for child in made))
        self.register_outputs({"names": self.names})


def _settings(number: int, spec: dict[str, Any]) -> dict[str, str]:
    return {
        "part": str(number),
        "theme": "plain",
        "cache": "on",
        "log": "info",
        "ttl": "60s",
        "title": spec["title"],
        "region": spec["region"],
        "bucket": BUCKETS[spec["region"]],
        "replicas": str(spec["replicas"]),
        "mail": f"{spec['owner']}@example.org",
    }


class NativeSite(pulumi.ComponentResource):
    """One site: its random pets."""

    def __init__(self, name: str, claim: dict[str, Any], children: int) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        super().__init__("claimsmith:sites.bench.example.org:Site", name, {"class": CLASS, "spec": spec})
        opts = pulumi.ResourceOptions(parent=self)
        made = [
            random.RandomPet(
                f"{metadata['namespace']}-{metadata['name']}-part-{number}",
                length=3,
                separator="-",
                keepers=_settings(number, spec),
                opts=opts,
            )
            for number in range(children)
        ]
        self.names = pulumi.Output.all(*(child.id for child in made))
        self.register_outputs({"names": self.names})


def run_native() -> None:
    """Make the native sites of the stack."""
    for claim in _claims():
        name = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
        pulumi.export(name, NativeSite(name, claim, int(os.environ["BENCH_CHILDREN"])).names)


def _claims() -> list[dict[str, Any]]:
    text = (Path.cwd() / pulumi.get_stack() / "claims" / "sites.yaml").read_text()
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def run() -> None:
    """Make the sites of the stack."""
    settings = pulumi.Config("claimsmith")
    provider = k8s.Provider(
        "cluster",
        kubeconfig=pulumi.Output.secret(Path(settings.require("kubeconfig")).read_text()),
        cluster_identifier="bench",
        enable_secret_mutable=True,
    )
    for claim in _claims():
        metadata = claim["metadata"]
        site = Site(f"{metadata['namespace']}/{metadata['name']}", claim, int(os.environ["BENCH_CHILDREN"]), provider)
        pulumi.export(f"{metadata['namespace']}/{metadata['name']}", site.names)
