"""Functions that a project declares, in stacks: a program behind gRPC, and a folder with KCL.

A program is started once a run, serves all claims, and is gone after it, also if the run is killed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from claimsmith.kubernetes.crds import permissive_crd
from claimsmith.lab import install_crds
from claimsmith.project.functions import TRUST
from tests.e2e.faults import Run, left_in
from tests.e2e.public_compositions import definition_of
from tests.e2e.rig import Rig, eventually

pytestmark = pytest.mark.e2e

API = "apiextensions.crossplane.io/v1"
BUCKET = ("s3.declared.example.org", "v1", "Bucket")
PROGRAM = """\
#!{interpreter}
import argparse, os, time
from concurrent import futures
from pathlib import Path

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as messages
from crossplane.function.proto.v1 import run_function_pb2_grpc as services

LOG = Path("calls.log")


class Function(services.FunctionRunnerServiceServicer):
    def RunFunction(self, request, _):
        with LOG.open("a") as log:
            log.write(f"{{os.getpid()}}\\n")
        while Path("hang").exists():
            time.sleep(0.1)
        response = messages.RunFunctionResponse(desired=request.desired, context=request.context)
        size = request.observed.composite.resource["spec"]["size"]
        spec = {{"forProvider": {{"size": size}}}}
        bucket = {{"apiVersion": "s3.declared.example.org/v1", "kind": "Bucket", "spec": spec}}
        response.desired.resources["bucket"].resource.update(bucket)
        return response


parser = argparse.ArgumentParser()
parser.add_argument("--insecure", action="store_true")
parser.add_argument("--network")
parser.add_argument("--address")
given = parser.parse_args()
server = grpc.server(futures.ThreadPoolExecutor(4))
services.add_FunctionRunnerServiceServicer_to_server(Function(), server)
server.add_insecure_port(f"unix:{{given.address}}")
server.start()
server.wait_for_termination()
"""
KCL = """\
oxr = option("params").oxr
items = [{
    apiVersion = "s3.declared.example.org/v1"
    kind = "Bucket"
    metadata.annotations = {"krm.kcl.dev/composition-resource-name" = "copy-" + str(i)}
    spec.forProvider.size = oxr.spec.size
} for i in range(oxr.spec.copies)]
"""
FUNCTION = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "Function",
    "metadata": {"name": "function-acme", "annotations": {"claimsmith.io/function-binary": "bin/function-acme"}},
}


def composition(rig: Rig) -> list[dict[str, Any]]:
    kind = {"apiVersion": f"{rig.name}.example.org/v1", "kind": "Store"}
    names = {"program": "function-acme", "folder": "copies", "ready": "function-auto-ready"}
    steps = [{"step": step, "functionRef": {"name": name}} for step, name in names.items()]
    spec = {"compositeTypeRef": kind, "mode": "Pipeline", "pipeline": steps}
    document = {"apiVersion": API, "kind": "Composition", "metadata": {"name": "stores"}, "spec": spec}
    return [definition_of(kind, namespaced=True), document]


def claim(rig: Rig, name: str, **spec: Any) -> None:
    head = {"apiVersion": f"{rig.name}.example.org/v1", "kind": "Store"}
    metadata = {"name": name, "namespace": rig.name}
    rig.write(f"stacks/dev/claims/{name}.yaml", {**head, "metadata": metadata, "spec": spec})


def calls(rig: Rig) -> list[str]:
    """The process of each call since the last look."""
    log = rig.root / "calls.log"
    found = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return found


def sizes(rig: Rig) -> list[int]:
    own = [o for o in rig.live(BUCKET) if o["metadata"]["namespace"] == rig.name]
    return sorted(o["spec"]["forProvider"]["size"] for o in own)


def gone(process: str) -> bool:
    return not Path(f"/proc/{process}").exists()


def test_declared_functions_in_a_stack(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/store/composition.yaml", composition(rig))
    rig.write("functions.yaml", FUNCTION)
    rig.write("bin/function-acme", PROGRAM.format(interpreter=sys.executable))
    (rig.root / "bin" / "function-acme").chmod(0o755)
    rig.write("functions/copies/main.k", KCL)
    for name in ("one", "two"):
        claim(rig, name, size=1, copies=2)
    install_crds(
        rig.kubeconfig, [permissive_crd("s3.declared.example.org/v1", "Bucket", namespaced=True, managed=True)]
    )
    rig.ok(rig.claimsmith("generate"))
    refused = rig.claimsmith("bind", "dev")
    assert "runs a program of the project, which only a deployment does" in refused.err
    assert calls(rig) == []
    rig.settings[TRUST] = "run"
    rig.prepare("dev")
    del rig.settings[TRUST]
    calls(rig)

    rig.write("hang", "")
    run = Run(rig, "dev")
    eventually(lambda: (rig.root / "calls.log").exists() or run.process.poll() is not None)
    assert run.process.poll() is None, run.text
    [hanging] = calls(rig)
    assert run.kill("engine")
    run.ended()
    assert eventually(lambda: gone(hanging))
    rig.remove("hang")
    rig.claimsmith("recover", "dev", "--yes")

    rig.ok(rig.up("dev"))
    served = calls(rig)
    assert len(set(served)) == 1, "one process serves all calls of a run"
    assert len(served) >= 2
    assert sizes(rig) == [1] * 6
    assert rig.steps("dev") == {}
    assert all(map(gone, (*served, *calls(rig))))

    claim(rig, "two", size=2, copies=1)
    steps = {n.rpartition(f"{rig.name}/two/")[2]: step["op"] for n, step in rig.steps("dev").items()}
    assert {n: op for n, op in steps.items() if "/" not in n and not n.startswith(rig.name)} == {
        "bucket": "update",
        "copy-0": "update",
        "copy-1": "delete",
    }
    rig.ok(rig.up("dev"))
    assert sizes(rig) == [1, 1, 1, 2, 2]

    for name in ("one", "two"):
        rig.remove(f"stacks/dev/claims/{name}.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    assert eventually(lambda: sizes(rig) == [] or None)
    assert left_in(rig.root) == []
