"""What is measured offline, each as a function that does it once: `python -m benchmarks.tasks NAME ARGUMENTS`."""

from __future__ import annotations

import copy
import io
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks import peer, workload

REVIEWED = 10
"""The exit code of a review that finds changes."""


def command(root: str, *words: str) -> dict[str, float]:
    """A whole command of claimsmith, from its words to what it prints, without the start of the interpreter."""
    # The command imports its tools when it runs: that is a part of it, about 0.3 s whatever the number of claims.
    from claimsmith import cli

    sys.argv = ["claimsmith", "-C", root, *words]
    begin = time.process_time()
    with redirect_stdout(_Nowhere()), redirect_stderr(_Nowhere()):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
    seconds = time.process_time() - begin
    if code not in (0, REVIEWED):
        raise SystemExit(f"claimsmith {' '.join(words)} ended with {code}")
    return {"seconds": seconds, "peak": _peak()}


class _Nowhere(io.TextIOBase):
    """Takes all that is written, as a pipe would."""

    def write(self, text: str) -> int:
        return len(text)


def _peak() -> float:
    """The most memory that this process held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def mocks(claims: str, children: str) -> dict[str, float]:
    """Hand-written components of the workload's shape on Pulumi's own mocks."""
    import pulumi
    from pulumi.runtime import mocks as pulumi_mocks

    from benchmarks import handwritten

    made: list[str] = []

    class Mocks(pulumi_mocks.Mocks):
        def call(self, args: Any) -> tuple[dict[str, Any], None]:
            raise AssertionError(args.token)

        def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
            made.append(args.name)
            return f"{args.name}-id", args.inputs

    pulumi_mocks.set_mocks(Mocks(), project="bench", stack="dev")
    wanted = [workload.claim_document(n) for n in range(int(claims))]

    @pulumi.runtime.test
    def program() -> None:
        for claim in wanted:
            handwritten.Databases(claim["metadata"]["name"], claim, int(children))

    begin = time.process_time()
    program()
    seconds = time.process_time() - begin
    assert len(made) == int(claims) * (int(children) + 1), "each child and each component is registered"
    return {"seconds": seconds}


def patches(claims: str, children: str) -> dict[str, float]:
    """Patches per second: the workload's class, applied to many claims."""
    from claimsmith.dialects.common.klass import Side
    from claimsmith.patching.compiled import Reader, compiled

    klass = workload_class(int(children))
    wanted = [workload.claim_document(n) for n in range(int(claims))]
    begin = time.process_time()
    count = 0
    for claim in wanted:
        reader = Reader({Side.claim: claim})
        for template in klass.templates:
            count += len(compiled(template).make(reader, _unblamed).outcomes)
    return {"patches per second": count / (time.process_time() - begin)}


def naive(claims: str, children: str) -> dict[str, float]:
    """The same by a loop that copies each base, and walks each path for each patch."""
    resources = workload.class_document(int(children))["spec"]["resources"]
    wanted = [workload.claim_document(n) for n in range(int(claims))]
    begin = time.process_time()
    count = 0
    for claim in wanted:
        for resource_ in resources:
            naively_patched(resource_, claim)
            count += len(resource_["patches"])
    return {"patches per second": count / (time.process_time() - begin)}


def naively_patched(resource_: dict[str, Any], claim: dict[str, Any]) -> dict[str, Any]:
    """A base with its patches, by the simplest loop that does it."""
    document: dict[str, Any] = copy.deepcopy(resource_["base"])
    for patch in resource_["patches"]:
        value = copy.deepcopy(_walk(claim, patch["fromClaimFieldPath"]))
        for transform in patch.get("transforms", []):
            value = _transformed(value, transform)
        _put(document, patch["toResourceFieldPath"], value)
    return document


def program(side: str, claims: str, children: str, kind: str = "kubernetes") -> dict[str, float]:
    """The sites' program on Pulumi's mocks, generated or by hand: what it registers, and its processor time.

    The children are Kubernetes objects, or `native` ones.
    """
    native = kind == "native"
    import pulumi
    from pulumi.runtime import mocks as pulumi_mocks

    from benchmarks import probe, sites

    seen = probe.Seen()

    class Mocks(pulumi_mocks.Mocks):
        def call(self, args: Any) -> tuple[dict[str, Any], None]:
            raise AssertionError(args.token)

        def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
            return f"{args.name}-id", args.inputs

    class Monitor(pulumi_mocks.MockMonitor):
        def RegisterResource(self, request: Any) -> Any:
            seen.note(request)
            return super().RegisterResource(request)

    mocks_ = Mocks()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text("none", encoding="utf-8")
        wanted = {"claims": int(claims), "children": int(children), "name": "bench", "native": native}
        [stack] = sites.write_project(root, by_hand=side == "by-hand", kubeconfig=kubeconfig, **wanted)
        os.environ["BENCH_CHILDREN"] = children
        pulumi_mocks.set_mocks(mocks_, project="bench", stack=stack, preview=False, monitor=Monitor(mocks_))
        pulumi.runtime.set_config("claimsmith:kubeconfig", str(kubeconfig))
        run = _by_hand(root, native=native) if side == "by-hand" else _generated(root, stack, native=native)
        begin = time.process_time()
        pulumi.runtime.test(run)()
        seconds = time.process_time() - begin
    return {**seen.numbers, "seconds": seconds}


def _generated(root: Path, stack: str, *, native: bool) -> Callable[[], None]:
    from claimsmith.deploy import program as programs
    from claimsmith.kubernetes.client import Cluster
    from claimsmith.project.project import Project
    from claimsmith.tools.bind import bind
    from claimsmith.tools.generate import generate

    project = Project(root)
    generate(project)
    bind(project, stack)
    plan = project.plan(stack)
    components = {c.address: programs.load_component(project, c.binding.klass) for c in plan.walk()}
    around = programs.Surroundings() if native else programs.Surroundings(Cluster("none"), "bench")

    def run() -> None:
        # As `programs.run` does once everything is planned.
        programs.settle()
        programs.deploy(plan, components, around, table=project.table())

    return run


def _by_hand(root: Path, *, native: bool) -> Callable[[], None]:
    import pulumi_kubernetes

    from benchmarks import sites_by_hand

    os.chdir(root / "stacks")
    # Loaded when it is first named; that is no part of the program.
    assert pulumi_kubernetes.core.v1.ConfigMap
    return sites_by_hand.run_native if native else sites_by_hand.run


def conformance(folder: str) -> dict[str, float]:
    """Every case of the shared render data, each file read and each document made, in this one process."""
    from claimsmith.base.errors import EngineError
    from claimsmith.tools.render import composite as render

    cases = sorted(path for path in Path(folder).iterdir() if (path / "xr.yaml").is_file())
    refused = 0
    for case in cases:
        definition = case / "xrd.yaml"
        files = render.Files(
            case / "xr.yaml", case / "composition.yaml", definition=definition if definition.is_file() else None
        )
        try:
            render.render(files)
        except EngineError:
            refused += 1
    seconds = time.process_time()
    wanted = sum((case / "expected_error.txt").is_file() for case in cases)
    assert refused == wanted, f"{refused} cases are refused, {wanted} should be"
    return {"seconds": seconds, "cases": len(cases)}


def functions(folder: str, *names: str) -> dict[str, float]:
    """The first pass of compositions with functions in this one process, each file read and each document composed."""
    from claimsmith.tools.render import composite as render

    for name in names:
        files = peer.inputs(Path(folder) / name)
        render.render(
            render.Files(
                files.composite,
                files.composition,
                extra=[files.extra] if files.extra else [],
                definition=files.definition,
                schemas=files.schemas,
            )
        )
    return {"seconds": _processor_time(), "cases": len(names)}


def _processor_time() -> float:
    """The processor time of this process and of the children that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def workload_class(children: int) -> Any:
    """The workload's class, as the catalog has it."""
    from claimsmith.base.documents import Document
    from claimsmith.platform.catalog import read_catalog

    catalog = read_catalog([Document(workload.class_document(children), "class.yaml")])
    return next(iter(catalog.classes.values()))


def _unblamed(problem: Any, _: Any) -> Any:
    return problem


def _steps(path: str) -> list[str]:
    """The fields of a path; one with dots in it stands in brackets, at the end."""
    head, _, last = path.partition("['")
    return [*head.split("."), *([last.removesuffix("']")] if last else [])]


def _walk(data: Any, path: str) -> Any:
    for step in _steps(path):
        data = data[step]
    return data


def _put(data: Any, path: str, value: Any) -> None:
    *parents, last = _steps(path)
    for step in parents:
        data = data.setdefault(step, {})
    data[last] = value


def _transformed(value: Any, transform: dict[str, Any]) -> Any:
    match transform["type"]:
        case "map":
            return transform["map"][value]
        case "math":
            return value * transform["math"]["multiply"]
        case "string":
            return transform["string"]["fmt"] % value
        case other:
            raise AssertionError(other)


TASKS = {f.__name__: f for f in (command, mocks, patches, naive, program, conformance, functions)}


if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
