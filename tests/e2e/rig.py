"""A claimsmith project in a temporary folder, run by the real engine against a real API server."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import yaml
from lightkube import Client
from lightkube.config.kubeconfig import KubeConfig
from lightkube.generic_resource import create_global_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Secret
from lightkube.types import PatchType

from claimsmith.kubernetes.crds import plural_of
from claimsmith.lab import install_crds
from claimsmith.project import workspace
from claimsmith.project.project import Project, crds_needed
from tests.support import json_schemas
from tests.support.eventually import eventually
from tests.support.samples import PERMISSIVE

RESOURCE_GROUP = ("azure.crossplane.io", "v1alpha3", "ResourceGroup")
SERVER = ("database.azure.crossplane.io", "v1beta1", "MySQLServer")
RULE = ("database.azure.crossplane.io", "v1alpha3", "MySQLServerVirtualNetworkRule")
UNHURRIED = httpx2.Timeout(600)
"""For clients of tests: a busy machine fails nothing."""


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


@dataclass
class Rig:
    """One project, its stacks, and the cluster they are deployed to."""

    root: Path
    kubeconfig: Path
    name: str
    direct: Path | None = None
    """The way to the cluster for the test itself, where the stacks are given another."""
    settings: dict[str, str] = field(default_factory=dict)
    """Environment variables for every command."""
    printed: list[str] = field(default_factory=list)
    """Everything that any command printed, to be searched for secrets."""

    def __post_init__(self) -> None:
        pulumi_yaml = {
            "name": self.name,
            "runtime": "python",
            "main": "stacks",
            "stackConfigDir": "stacks",
            "backend": {"url": "file://./.claimsmith/state"},
        }
        self.write("Pulumi.yaml", yaml.safe_dump(pulumi_yaml))
        self.write("claimsmith.yaml", PERMISSIVE)
        self.write("stacks/__main__.py", "from claimsmith.deploy import program\n\nprogram.run()\n")

    def write(self, path: str, content: Any) -> None:
        """Write a file of the project: a text, or documents as YAML."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        documents = content if isinstance(content, list) else [content]
        target.write_text(content if isinstance(content, str) else yaml.safe_dump_all(documents, sort_keys=False))

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def prepare(self, *stacks: str) -> None:
        """Generate components, bind claims, install the CRDs, make the stacks."""
        self.ok(self.claimsmith("generate"))
        install_crds(self.direct or self.kubeconfig, crds_needed(self.root))
        for stack in stacks:
            self.write(f"stacks/Pulumi.{stack}.yaml", {"config": {"claimsmith:kubeconfig": str(self.kubeconfig)}})
            self.ok(self.claimsmith("bind", stack))
            self.ok(self.pulumi("stack", "init", stack))

    def claimsmith(self, *arguments: str) -> Ran:
        """Run a command; what it prints as JSON is checked against its schema."""
        ran = self._run([sys.executable, "-m", "claimsmith.cli", *arguments], {**os.environ, **self.settings})
        if ran.out and ("--output", "json") in pairwise(arguments):
            json_schemas.answer(arguments, ran.out)
        return ran

    def pulumi(self, *arguments: str, env: dict[str, str] | None = None) -> Ran:
        return self._run(["pulumi", *arguments, "--non-interactive"], self.environment | (env or {}))

    @property
    def environment(self) -> dict[str, str]:
        """The environment that `claimsmith env` sets up for `pulumi`."""
        return workspace.environment(Project(self.root), {**os.environ, **self.settings})

    def shell(self, line: str) -> Ran:
        """Run a line as a user who has `claimsmith` on PATH would."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return self._run(["bash", "-c", line], {**os.environ, "PATH": path})

    def up(self, stack: str, *arguments: str) -> Ran:
        return self.pulumi("up", "--stack", stack, "--yes", "--skip-preview", *arguments)

    def destroy(self, stack: str) -> Ran:
        return self.pulumi("destroy", "--stack", stack, "--yes", "--skip-preview")

    def steps(self, stack: str) -> dict[str, dict[str, Any]]:
        """What a preview would do: for each resource that changes, the operation and the fields."""
        ran = self.ok(self.pulumi("preview", "--stack", stack, "--json"))
        steps = {s["urn"].split("::")[-1]: s for s in json.loads(ran.out)["steps"] if s["op"] not in ("same", "read")}
        return {n: {"op": s["op"], "fields": sorted(s.get("detailedDiff") or {})} for n, s in steps.items()}

    def settled(self, stack: str) -> dict[str, dict[str, Any]]:
        """What a preview would do once an update was read again.

        The provider's wait can end on the object as its watch held it before the update: see
        docs/reference/compatibility.md.
        """
        self.ok(self.pulumi("refresh", "--stack", stack, "--yes", "--skip-preview"))
        return self.steps(stack)

    def state(self, stack: str) -> list[dict[str, Any]]:
        """The resources that the engine knows, as it keeps them."""
        found = self.ok(self.pulumi("stack", "export", "--stack", stack))
        resources: list[dict[str, Any]] = json.loads(found.out)["deployment"]["resources"]
        return resources

    def ok(self, ran: Ran) -> Ran:
        assert ran.code == 0, ran.text
        return ran

    def _run(self, command: list[str], environment: dict[str, str]) -> Ran:
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        ran = Ran(done.returncode, done.stdout, done.stderr)
        self.printed.append(ran.text)
        return ran

    # the live cluster

    @cached_property
    def client(self) -> Client:
        config = KubeConfig.from_dict(yaml.safe_load((self.direct or self.kubeconfig).read_text())).get()
        return Client(config=config, trust_env=False, timeout=UNHURRIED)

    def close(self) -> None:
        self.client._client._client.close()  # lightkube has no way of its own to close its connections

    def live(self, kind: tuple[str, str, str], *, claim: str = "", namespace: str = "") -> list[dict[str, Any]]:
        """The live objects of a kind, those of one claim where it is named, by name."""
        group, version, name = kind
        labels = {"resourceclaim.crossplane.io/name": claim} if claim else {}
        labels |= {"resourceclaim.crossplane.io/namespace": namespace} if namespace else {}
        resource = create_global_resource(group, version, name, plural_of(name))
        return sorted(
            (o.to_dict() for o in self.client.list(resource, labels=labels or None)),
            key=lambda o: o["metadata"]["name"],
        )

    def one(self, kind: tuple[str, str, str], **which: str) -> dict[str, Any]:
        (found,) = self.live(kind, **which)
        return found

    def create(self, kind: tuple[str, str, str], document: dict[str, Any]) -> None:
        group, version, word = kind
        resource = create_global_resource(group, version, word, plural_of(word))
        self.client.create(resource.from_dict(document))

    def delete(self, kind: tuple[str, str, str], name: str) -> None:
        group, version, word = kind
        self.client.delete(create_global_resource(group, version, word, plural_of(word)), name)

    def patch(self, kind: tuple[str, str, str], name: str, change: dict[str, Any]) -> None:
        group, version, word = kind
        resource = create_global_resource(group, version, word, plural_of(word))
        self.client.patch(resource, name, change, patch_type=PatchType.MERGE)

    def patch_status(self, kind: tuple[str, str, str], name: str, change: dict[str, Any]) -> None:
        group, version, word = kind
        resource = create_global_resource(group, version, word, plural_of(word))
        self.client.patch(resource.Status, name, {"status": change}, patch_type=PatchType.MERGE)

    def namespace(self, name: str) -> None:
        self.client.apply(Namespace(metadata=ObjectMeta(name=name)), field_manager="tests")

    def secret(self, namespace: str, name: str) -> Secret | None:
        found = [s for s in self.client.list(Secret, namespace=namespace) if s.metadata.name == name]
        return found[0] if found else None

    def secret_values(self, namespace: str, name: str) -> dict[str, str]:
        found = self.secret(namespace, name)
        assert found is not None, f"no Secret {namespace}/{name}"
        return {k: base64.b64decode(v).decode() for k, v in (found.data or {}).items()}

    def set_secret(self, namespace: str, name: str, values: dict[str, str]) -> None:
        data = {k: base64.b64encode(v.encode()).decode() for k, v in values.items()}
        self.client.patch(Secret, name, {"data": data}, namespace=namespace)

    def delete_secret(self, namespace: str, name: str) -> None:
        self.client.delete(Secret, name, namespace=namespace)


__all__ = ["RESOURCE_GROUP", "RULE", "SERVER", "UNHURRIED", "Ran", "Rig", "eventually"]
