"""Many stacks on the real engine, without a cluster: `claimsmith up --all` against a shell loop of `pulumi up`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from benchmarks.measure import Row, Settings, middle, pairs, ratios, rounds, run

STACKS, CLAIMS, CHILDREN = 40, 5, 4
"""With its component, a claim of four children is five resources: 25 in each stack."""
SHARED_CLAIMS = 40
"""200 resources."""
PARALLEL = 4
UP = "pulumi up --stack $(basename $stack) --yes --skip-preview --non-interactive"
LOOP = f"for stack in stacks/s*/; do {UP} || exit 1; done"
"""The strict side: without its preview, a loop of `pulumi up` takes about half as long."""
FLEET = f'{sys.executable} -m claimsmith.cli up --all --parallel {PARALLEL} --yes || [ "$?" -eq 10 ]'


def write_project(root: Path, stacks: int, claims: int = CLAIMS) -> list[str]:
    """A project whose stacks need nothing but the random provider; gives the stacks' names."""
    from tests.support.pets import pets, pets_class

    settings = {
        "name": root.name,
        "runtime": "python",
        "main": "stacks",
        "stackConfigDir": "stacks",
        "backend": {"url": "file://./.claimsmith/state"},
    }
    files: dict[str, Any] = {
        "Pulumi.yaml": settings,
        "components/pets/class.yaml": pets_class(range(1, CHILDREN + 1)),
    }
    names = [f"s{number:02}" for number in range(stacks)]
    for name in names:
        files[f"stacks/{name}/claims/pets.yaml"] = [pets(f"pets-{n}") for n in range(claims)]
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        documents = content if isinstance(content, list) else [content]
        (root / path).write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")
    (root / "stacks" / "__main__.py").write_text("from claimsmith.deploy import program\n\nprogram.run()\n")
    return names


def prepared(root: Path, names: list[str], env: dict[str, str] | None = None) -> dict[str, str]:
    """Generate, bind, and create the stacks; gives the environment to deploy them in."""
    from claimsmith.project import workspace
    from claimsmith.project.project import Project
    from claimsmith.tools.bind import bind
    from claimsmith.tools.generate import generate

    project = Project(root)
    generate(project, check=False)
    environment = workspace.environment(project) | (env or {})
    for name in names:
        bind(project, name)
        run(["pulumi", "stack", "init", name, "--no-select", "--non-interactive"], cwd=root, env=environment)
    return environment


def deployment(root: Path, line: str, environment: dict[str, str]) -> dict[str, float]:
    """How long a line of shell takes there."""
    begin = time.time()
    run(["bash", "-c", line], cwd=root, env=environment)
    return {"seconds": time.time() - begin}


def fleet(settings: Settings, folder: Path) -> list[Row]:
    """All stacks from nothing; both sides find their stacks created, and skip the preview."""
    stacks = int(os.environ.get("BENCH_STACKS") or STACKS)
    numbers = count()

    def side(line: str) -> dict[str, float]:
        root = folder / f"fleet{next(numbers)}"
        return deployment(root, line, prepared(root, write_project(root, stacks)))

    found = pairs(lambda: side(FLEET), lambda: side(LOOP), settings)
    shape = f"{stacks} stacks × {CLAIMS * (CHILDREN + 1)} resources"
    detail = f"{middle(found, 0):.0f} s against {middle(found, 1):.0f} s, both without a preview"
    measure = f"`claimsmith up --all --parallel {PARALLEL}`, {shape}, against a shell loop of `pulumi up`"
    return [Row("fleet", measure, ratios(found), 0.5, detail=detail)]


def state(settings: Settings, folder: Path) -> list[Row]:
    """One stack from nothing, its checkpoints in a real server, of PostgreSQL or S3, against files."""
    from tests.support import buckets

    from claimsmith.lab import postgresql

    numbers = count()

    def side(env: dict[str, str]) -> dict[str, float]:
        root = folder / f"state{next(numbers)}"
        return deployment(root, LOOP, prepared(root, write_project(root, 1, SHARED_CLAIMS), env))

    with postgresql.running(folder / "server") as server, buckets.running(folder / "s3") as s3:
        place = f"{server.user}@{server.host}:{server.port}/postgres?sslmode=disable"
        password = {"PGPASSWORD": server.password_file.read_text(encoding="utf-8").strip()}
        fresh = (f"state{number}" for number in count())

        def in_postgresql() -> dict[str, float]:
            return side({"PULUMI_BACKEND_URL": f"postgres://{place}&table={next(fresh)}", **password})

        def in_bucket(s3: buckets.Server) -> dict[str, float]:
            bucket = s3.bucket(next(fresh)).name
            return side({"PULUMI_BACKEND_URL": s3.url(bucket), **s3.environment})

        servers = {"PostgreSQL": in_postgresql} | ({"a bucket": lambda: in_bucket(s3)} if s3 else {})
        found = rounds([lambda: side({}), *servers.values()], settings)
    if not s3:
        print(buckets.MISSING, file=sys.stderr)
    return [_state_row(name, [(each[n], each[0]) for each in found]) for n, name in enumerate(servers, 1)]


def _state_row(name: str, found: list[tuple[dict[str, float], dict[str, float]]]) -> Row:
    resources = SHARED_CLAIMS * (CHILDREN + 1)
    each = [1000 * middle(found, n) / resources for n in (0, 1)]
    detail = f"{each[0]:.0f} ms a resource against {each[1]:.0f} ms"
    measure = f"state in {name} against files, `pulumi up` of {resources} resources"
    return Row("state", measure, ratios(found), detail=detail)


def dask(_: Settings, folder: Path) -> list[Row]:
    """All stacks from nothing on two Dask workers; one is killed with its engines once half of the stacks are done."""
    from tests.support import dask_cluster

    from claimsmith.lab import postgresql

    stacks = int(os.environ.get("BENCH_STACKS") or STACKS)
    root = folder / "dask"
    names = write_project(root, stacks)
    with postgresql.running(folder / "dask-server") as server:
        place = f"{server.user}@{server.host}:{server.port}/postgres?sslmode=disable&table=dask"
        settings = (root / "Pulumi.yaml").read_text(encoding="utf-8")
        (root / "Pulumi.yaml").write_text(settings.replace("file://./.claimsmith/state", f"postgres://{place}"))
        secrets = {"PGPASSWORD": server.password_file.read_text().strip(), "PULUMI_CONFIG_PASSPHRASE": "of-a-benchmark"}
        os.environ |= secrets
        environment = prepared(root, names)
        with dask_cluster.running(folder / "cluster", {**os.environ, **secrets}) as cluster:
            workers = [cluster.add(threads=PARALLEL // 2) for _ in range(2)]
            begin = time.time()
            command = [sys.executable, "-m", "claimsmith.cli", "up", "--all", "--parallel", str(PARALLEL)]
            words = [*command, "--executor", cluster.executor, "--output", "json"]
            with (folder / "dask.json").open("w") as out:
                process = subprocess.Popen(words, cwd=root, env=environment, stdout=out)
            with process:
                _kill_half_way(root, process, workers[0], stacks)
                process.wait()
            seconds = time.time() - begin
        states = {name: _resources(root, name, environment) for name in names}
    again = [name for name in names if "run again" in (root / f".claimsmith/fleet/{name}.log").read_text()]
    ended = {row["stack"]: row["state"] for row in json.loads((folder / "dask.json").read_text())["stacks"]}
    wanted = CLAIMS * (CHILDREN + 1)
    broken = [n for n in names if ended[n] != "done" or len(states[n]) != wanted or len({*states[n]}) != wanted]
    shape = f"{stacks} stacks × {wanted} resources"
    measure = f"stacks that are not whole, or have something twice: {shape} on two Dask workers, one killed on the way"
    detail = f"{seconds:.0f} s; run again on the other worker: {', '.join(again) or 'none'}"
    return [Row("dask", measure, [float(len(broken) + (not again))], 0, unit="stacks", detail=detail)]


def _kill_half_way(root: Path, process: subprocess.Popen[bytes], worker: Any, stacks: int) -> None:
    """Kill a worker, with all that it started, while it runs an engine and half of the stacks are done."""
    journal = root / ".claimsmith" / "fleet" / "up.json"
    while process.poll() is None:
        rows = json.loads(journal.read_text())["stacks"].values() if journal.exists() else ()
        busy = sum(row["state"] == "done" for row in rows) >= stacks // 2 and len(worker.parts()) > 2
        if busy:
            worker.kill(all_of_it=True)
            return
        time.sleep(0.1)


def _resources(root: Path, stack: str, environment: dict[str, str]) -> list[str]:
    """The URNs of what claims became, as often as they are in the state."""
    command = ["pulumi", "stack", "export", "--stack", stack]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["deployment"]["resources"]
    return [r["urn"] for r in found if not r["type"].startswith("pulumi:")]


BENCHES: dict[str, Any] = {"fleet": fleet, "state": state, "dask": dask}
