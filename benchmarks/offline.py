"""What needs no engine: the command line, render and its like, patches, the shared conformance data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks import peer, workload
from benchmarks.measure import ROOT, Row, Settings, middle, pairs, processor_time, processor_times, ratios, run, task

GROWTH = ("render", "bind", "validate", "review")
"""The commands whose time must grow with the claims, and not faster."""
SMALL, LARGE, CHILDREN = 100, 10_000, 5
ONE_RENDER = "one `claimsmith render XR COMPOSITION`, against one of Crossplane's render command"
START = "from claimsmith.cli import main; main()"
"""A program that is the command, with the interpreter of the benchmarks."""
AWS = (250, 500, 1000)
"""The numbers of claims with types of a large provider: the first is what the others are compared with."""


def help_(settings: Settings, _: Path) -> list[Row]:
    """How long `claimsmith --help` takes beside the bare import of its command line library."""
    found = pairs(
        processor_time([sys.executable, "-c", "import sys; from claimsmith.cli import main; main()", "--help"]),
        processor_time([sys.executable, "-c", "import typer"]),
        Settings(max(settings.repeats, 15), settings.budget),
    )
    detail = f"{middle(found, 0) * 1000:.0f} ms against {middle(found, 1) * 1000:.0f} ms"
    return [Row("help", '`claimsmith --help` against `python -c "import typer"`', ratios(found), 1.5, detail=detail)]


def start(settings: Settings, folder: Path) -> list[Row]:
    """How long one `claimsmith render XR COMPOSITION` takes beside the bare import of its libraries."""
    files = map(str, workload.write_composite(folder / "start"))
    found = pairs(
        processor_time([sys.executable, "-c", START, "render", *files]),
        processor_time([sys.executable, "-c", "import typer, pydantic, yaml"]),
        Settings(max(settings.repeats, 15), settings.budget),
    )
    detail = f"{middle(found, 0) * 1000:.0f} ms against {middle(found, 1) * 1000:.0f} ms, patch-and-transform"
    measure = 'cold start of `claimsmith render XR COMPOSITION` against `python -c "import typer, pydantic, yaml"`'
    return [Row("start", measure, ratios(found), 2.0, detail=detail)]


def patches(settings: Settings, _: Path) -> list[Row]:
    """How many patches a second are applied, beside a naive loop."""
    key = "patches per second"
    found = pairs(task("patches", "2000", "10"), task("naive", "2000", "10"), settings)
    detail = f"{middle(found, 0, key):,.0f} against {middle(found, 1, key):,.0f} patches per second"
    measure = "patches per second, against a loop of `copy.deepcopy` and dict walks"
    return [Row("patches", measure, ratios(found, key), 5.0, at_least=True, detail=detail)]


def conformance(settings: Settings, _: Path) -> list[Row]:
    """How long all of the shared render data takes, the start of the process included."""
    folder = ROOT.parent / "shared" / "conformance" / "render"
    if not folder.is_dir():
        print("conformance: left out, the shared data is not beside this repository", file=sys.stderr)
        return []
    measure = task("conformance", str(folder))
    found = [measure() for _ in range(max(settings.repeats, 3))]
    detail = f"{found[0]['cases']:.0f} cases, imports and start included"
    seconds = [f["seconds"] for f in found]
    return [
        Row(
            "conformance", "all of the shared conformance renders in one process", seconds, 1.0, unit="s", detail=detail
        )
    ]


def functions(settings: Settings, folder: Path) -> list[Row]:
    """How long the shared compositions with functions take in one process, its start included.

    Beside Crossplane's render command with running functions, where the user has named both.
    """
    shared = ROOT.parent / "shared" / "conformance" / "functions"
    if not shared.is_dir():
        print("functions: left out, the shared data is not beside this repository", file=sys.stderr)
        return []
    cases = peer.compositions(shared)
    measure = task("functions", str(shared), *(case.name for case in cases))
    found = [measure() for _ in range(max(settings.repeats, 3))]
    each = [1000 * f["seconds"] / f["cases"] for f in found]
    detail = f"{len(cases)} compositions in one process, its start and all child processes included"
    alone = Row("functions", "time for a composition with functions", each, unit="ms", detail=detail)
    return [alone, *(_beside(settings.peer, cases, folder, settings) if settings.peer else [])]


def _beside(other: peer.Peer, cases: Sequence[Path], folder: Path, settings: Settings) -> list[Row]:
    """The compositions that both render, and the start of one render, beside Crossplane's render command."""
    served = [case for case in cases if other.serves(case / "composition.yaml")]
    if not served:
        raise SystemExit(f"functions: {other.functions} serves none of the compositions")
    calls = [other.call(peer.inputs(case), folder / case.name) for case in served]
    names = [case.name for case in served]
    found = pairs(task("functions", str(served[0].parent), *names), processor_times(calls), settings)
    each = " against ".join(f"{middle(found, side) / len(served) * 1000:.1f} ms" for side in (0, 1))
    detail = f"{each} for each of {len(served)}; the time of the running functions is not counted"
    measure = "compositions with functions in one process, against Crossplane's render command for each"
    first = served[0]
    started = pairs(
        processor_time([sys.executable, "-c", START, "render", *_words_of(peer.inputs(first))]),
        processor_time(calls[0]),
        Settings(max(settings.repeats, 15), settings.budget),
    )
    times = " against ".join(f"{middle(started, side) * 1000:.0f} ms" for side in (0, 1))
    steps = ", ".join(peer.used(first / "composition.yaml"))
    return [
        Row("functions", measure, ratios(found), detail=detail),
        Row("functions", ONE_RENDER, ratios(started), detail=f"{times}, one composition with {steps}"),
    ]


def _words_of(files: peer.Inputs) -> list[str]:
    """A composition as arguments of `claimsmith render`."""
    flags = (("--xrd", files.definition), ("-e", files.extra), ("--required-schemas", files.schemas))
    given = [word for flag, path in flags if path for word in (flag, str(path))]
    return [str(files.composite), str(files.composition), *given]


def render(settings: Settings, folder: Path) -> list[Row]:
    """Rendering from files to text, beside Pulumi's mocks that run hand-written components of the same shape."""
    root = _bound(folder / "render", claims=1000, children=10)
    found = pairs(task("command", str(root), "render", "dev"), task("mocks", "1000", "10"), settings)
    detail = f"{middle(found, 0):.2f} s against {middle(found, 1):.1f} s, 1,000 claims × 10 children × 10 patches"
    return [
        Row(
            "render",
            "offline render, against hand-written components on Pulumi's mocks",
            ratios(found),
            0.1,
            detail=detail,
        )
    ]


def program(settings: Settings, _: Path) -> list[Row]:
    """The program of the engine's benchmark on Pulumi's mocks: what is its own work, and what it registers."""
    return _against_hand("program", "the program alone, on Pulumi's mocks", "", settings)


def native(settings: Settings, _: Path) -> list[Row]:
    """The same with native children: generated calls of an SDK beside calls of it that are written by hand."""
    return _against_hand(
        "native", "the program with native children, on Pulumi's mocks", " of native children", settings
    )


def _against_hand(bench: str, what: str, of: str, settings: Settings) -> list[Row]:
    shape = ("100", "5", "native" if bench == "native" else "kubernetes")
    found = pairs(task("program", "generated", *shape), task("program", "by-hand", *shape), settings)
    detail = f"{middle(found, 0):.2f} s against {middle(found, 1):.2f} s of processor time, 100 claims × 5 children"
    count, size = (
        f"{middle(found, 0, key):,.0f} against {middle(found, 1, key):,.0f}" for key in ("registrations", "bytes")
    )
    return [
        Row(bench, f"{what}, against hand-written", ratios(found), 1.1, detail=detail),
        Row(bench, f"number of registrations{of}", ratios(found, "registrations"), 1.0, detail=count),
        Row(bench, f"bytes of registrations{of}", ratios(found, "bytes"), 1.0, detail=size),
    ]


def growth(settings: Settings, folder: Path) -> list[Row]:
    """The time per claim of a large stack beside that of a small one, and the memory of rendering the large one."""
    small = _bound(folder / "small", claims=SMALL, children=CHILDREN)
    large = _bound(folder / "large", claims=LARGE, children=CHILDREN)
    rows: list[Row] = []
    for command in GROWTH:
        words = _words(command)
        if words is None:
            print(f"growth: there is no `claimsmith {command}` here", file=sys.stderr)
            continue
        found = pairs(task("command", str(large), *words), task("command", str(small), *words), settings)
        values = [ratio * SMALL / LARGE for ratio in ratios(found)]
        each = f"{middle(found, 0) / LARGE * 1000:.2f} ms against {middle(found, 1) / SMALL * 1000:.2f} ms"
        measure = f"`{command}`: time per claim at {LARGE:,} claims against {SMALL}"
        rows.append(Row("growth", measure, values, 1.2, detail=f"{each} per claim of {CHILDREN} children"))
        if command == "render":
            peaks = [a["peak"] for a, _ in found]
            measure = f"peak memory of rendering {LARGE:,} claims as a stream"
            rows.append(Row("growth", measure, peaks, 400.0, unit="MiB", detail=f"{LARGE * CHILDREN:,} resources"))
    return rows


def aws(settings: Settings, folder: Path) -> list[Row]:
    """The time per claim of `validate` with types of a large provider, whose SDK is read."""
    if find_spec("pulumi_aws") is None:
        print("aws: left out, the SDK is not installed; run: make test-sdks", file=sys.stderr)
        return []
    first, *larger = AWS
    roots = {claims: _prepared(workload.write_buckets(folder / f"aws-{claims}", claims=claims)) for claims in AWS}
    tasks = {claims: task("command", str(root), "validate", "dev") for claims, root in roots.items()}
    rows: list[Row] = []
    for claims in larger:
        found = pairs(tasks[claims], tasks[first], settings)
        each = f"{middle(found, 0) / claims * 1000:.2f} ms against {middle(found, 1) / first * 1000:.2f} ms"
        measure = f"`validate` with types of AWS: time per claim at {claims:,} claims against {first}"
        values = [ratio * first / claims for ratio in ratios(found)]
        rows.append(Row("aws", measure, values, 1.1, detail=f"{each} per claim of 4 native children"))
    return rows


def _bound(root: Path, *, claims: int, children: int) -> Path:
    """A project whose claims are bound and whose components are generated."""
    if not root.exists():
        _prepared(workload.write_project(root, claims=claims, children=children))
        _change(root)
    return root


def _prepared(root: Path) -> Path:
    """The project with its components and its bindings."""
    for words in (["generate"], ["bind", "dev"]):
        run([sys.executable, "-m", "claimsmith.cli", "-C", str(root), *words])
    return root


def _change(root: Path) -> None:
    """Commit the project, then change one claim in a hundred: something to review."""
    git = ["git", "-C", str(root), "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before"]):
        run([*git, *words])
    for path in (root / "stacks" / "dev" / "claims").iterdir():
        path.write_text(path.read_text(encoding="utf-8").replace("storageGB: ", "storageGB: 1", 1), encoding="utf-8")


def _words(command: str) -> list[str] | None:
    """The command's words for the workload's stack; None where this claimsmith has no such command."""
    from claimsmith.cli.app import app

    known = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    words = {"review": ["review", "--stack", "dev"]}
    return words.get(command, [command, "dev"]) if command in known else None


BENCHES = {
    "program": program,
    "native": native,
    "help": help_,
    "start": start,
    "patches": patches,
    "conformance": conformance,
    "functions": functions,
    "render": render,
    "growth": growth,
    "aws": aws,
}
