"""Builds parts with Go from the pinned module, from nothing but the Go module registry.

The module is copied to the folder given, for the checkout may be read-only, and everything that Go writes on the way
stays in that folder, but for Go's own caches. Who calls puts the programs in place and removes the folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from claimsmith.toolchain import process
from claimsmith.toolchain.parts import APISERVER, PARTS, PROVIDER, PULUMI, Failure, module_folder
from claimsmith.toolchain.progress import Report

PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"
EMBEDDED = ("schema.json", "terraform-mapping.json")


def build(names: Sequence[str], folder: Path, report: Report) -> dict[str, Path]:
    """The programs of these parts, built in a folder; Failure where Go is missing, too old, or fails."""
    source = module_folder()
    if not source:
        raise Failure("the pinned Go module is not part of the installed package, only of the source checkout")
    go = _Go(folder)
    wanted = go_of_module(source)
    if go.version() < wanted:
        raise Failure(f"go {'.'.join(map(str, go.version()))} is too old: wanted {'.'.join(map(str, wanted))} or newer")
    _copy_module(source, go.work)
    packages = [PARTS[name].package for name in names]
    if PROVIDER in names:
        report("fetching the Go modules", 0, None, PROVIDER)
        _copy_embedded(go)
    listing = go.run("list", "-mod=readonly", "-deps", *packages, each=_fetching(report))
    total, built = len(listing.split()), 0

    def tick(line: str) -> None:
        nonlocal built
        if not line.startswith(("#", "go: ")) and " " not in line:
            built += 1
            report("building", min(built, total), total, line.rsplit("/", 1)[-1])

    report("building", 0, total, "")
    out = folder / "built"
    out.mkdir()
    go.run(
        "build",
        *("-v", "-mod=readonly", "-trimpath", "-buildvcs=false"),
        *("-ldflags", ldflags()),
        *("-o", f"{out}{os.sep}"),
        *packages,
        each=tick,
    )
    report("building", total, total, "")
    return {name: (out / PARTS[name].binary).rename(out / name) for name in names}


def ldflags() -> str:
    """What the linker is told: no debug tables, and the versions that each program says it is."""
    major, minor, _ = PARTS[APISERVER].pinned.split(".")
    values = {
        "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": f"v{PARTS[PULUMI].pinned}",
        "k8s.io/component-base/version.gitVersion": f"v{PARTS[APISERVER].pinned}",
        "k8s.io/component-base/version.gitMajor": major,
        "k8s.io/component-base/version.gitMinor": minor,
    }
    return " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in values.items())])


def go_of_module(source: Path) -> tuple[int, ...]:
    """The lowest Go that the pinned module can be built with."""
    match = re.search(r"^go (\d+)\.(\d+)", (source / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise Failure(f"{source / 'go.mod'} does not say which Go it needs")
    return tuple(map(int, match.groups()))


class _Go:
    """The `go` command, with its own folders for work and for temporary files."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("go")
        if not program:
            raise Failure("there is no go on PATH")
        self.program, self.folder, self.work = program, folder, folder / "module"
        self.work.mkdir()
        (folder / "tmp").mkdir()
        self.env = {"GOTOOLCHAIN": "local", **os.environ, "GOWORK": "off", "GOTMPDIR": str(folder / "tmp")}

    def version(self) -> tuple[int, ...]:
        """Its version, as major and minor."""
        text = self.run("version")
        match = re.search(r"go(\d+)\.(\d+)", text)
        if not match:
            raise Failure(f"{self.program} does not say its version: {text.strip()[:80]!r}")
        return tuple(map(int, match.groups()))

    def run(self, *arguments: str, each: Callable[[str], None] = lambda _: None) -> str:
        """What a go command printed; `each` is told every line of its standard error as it comes."""
        command, output = [self.program, *arguments], self.folder / "output"
        try:
            return process.run(command, output=output, cwd=self.work, env=self.env, each=each)
        except Failure as failure:
            raise Failure(f"go {arguments[0]} failed: {failure}") from failure


def _copy_module(source: Path, work: Path) -> None:
    (work / "kubernetes").mkdir()
    for file in ("go.mod", "go.sum", "tools.go", "kubernetes/main.go"):
        shutil.copyfile(source / file, work / file)


def _copy_embedded(go: _Go) -> None:
    """Fetch the provider's module and take from it what our main embeds."""
    answer = json.loads(go.run("mod", "download", "-json", PROVIDER_MODULE))
    folder = Path(answer["Dir"]) / "cmd" / PROVIDER
    for file in EMBEDDED:
        shutil.copyfile(folder / file, go.work / "kubernetes" / file)


def _fetching(report: Report) -> Callable[[str], None]:
    count = 0

    def each(line: str) -> None:
        nonlocal count
        if line.startswith("go: downloading "):
            count += 1
            report("fetching the Go modules", count, None, line.split()[2].rsplit("/", 1)[-1])

    return each
