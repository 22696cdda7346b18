"""Builds parts with Go from the pinned modules, from nothing but the Go module registry.

The modules are copied to the folder provided, for the checkout may be read-only, and everything that Go writes on the
way stays in that folder, except for Go's own caches. The caller puts the programs in place and removes the folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from claimsmith.toolchain import process
from claimsmith.toolchain.parts import (
    APISERVER,
    BRIDGED,
    PARTS,
    PROVIDER,
    PULUMI,
    Failure,
    Report,
    modules_folder,
    package_of,
    pinned,
)

PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"
EMBEDDED = ("schema.json", "terraform-mapping.json")
GENERATED = ("schema.json", "bridge-metadata.json")
"""What a bridged provider embeds; its program below `schema/` writes both."""
BRIDGED_MODULE = "claimsmith.invalid/toolchain/bridged"


def build(names: Sequence[str], folder: Path, report: Report) -> dict[str, Path]:
    """The programs of these parts, built in a folder; Failure where Go is missing, too old, or fails."""
    source = modules_folder()
    if not source:
        raise Failure("the pinned Go modules are not part of the installed package, only of the source checkout")
    go = _Go(folder)
    modules = [_Module(go, source, module, members) for module, members in by_module(names).items()]
    # All modules are fetched before the first is built: where one cannot be had, no time is spent on the others.
    packages = [module.packages(report) for module in modules]
    progress = _Progress(report, sum(packages))
    built: dict[str, Path] = {}
    for module, count in zip(modules, packages, strict=True):
        built |= module.build(progress)
        progress.advance(count)
    return built


def by_module(names: Sequence[str], env: Mapping[str, str] = os.environ) -> dict[str, list[str]]:
    """The modules that these parts are built from, with the parts of each."""
    modules: dict[str, list[str]] = {}
    for name in names:
        modules.setdefault(pinned(name, env).module, []).append(name)
    return modules


def ldflags(env: Mapping[str, str] = os.environ) -> str:
    """The linker's flags: no debug tables, and the version of each program."""
    kubernetes = pinned(APISERVER, env).version
    major, minor, _ = kubernetes.split(".")
    values = {
        "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": f"v{pinned(PULUMI, env).version}",
        "k8s.io/component-base/version.gitVersion": f"v{kubernetes}",
        "k8s.io/component-base/version.gitMajor": major,
        "k8s.io/component-base/version.gitMinor": minor,
        "main.providerVersion": pinned(PROVIDER, env).version,
        **{f"{BRIDGED_MODULE}/{package_of(name)}/info.Version": pinned(name, env).version for name in BRIDGED},
    }
    return " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in values.items())])


def go_of_module(source: Path) -> tuple[int, ...]:
    """The lowest Go that a module can be built with."""
    match = re.search(r"^go (\d+)\.(\d+)", (source / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise Failure(f"{source / 'go.mod'} does not name the Go version it needs")
    return tuple(map(int, match.groups()))


class _Progress:
    """Counts compiled packages over several builds: one bar for all of them."""

    def __init__(self, report: Report, total: int) -> None:
        self.report, self.total, self.before, self.now = report, total, 0, 0
        report("building", 0, total, "")

    def line(self, line: str) -> None:
        """Take a line that Go printed: the name of a package, or a message."""
        if not line.startswith(("#", "go: ")) and " " not in line:
            self.now = min(self.now + 1, self.total)
            self.report("building", self.now, self.total, line.rsplit("/", 1)[-1])

    def advance(self, packages: int) -> None:
        """A build of so many packages is done; Go names only those that its cache did not have."""
        self.before = self.now = self.before + packages
        self.report("building", self.now, self.total, "")


class _Go:
    """The `go` command, with its own folder for temporary files."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("go")
        if not program:
            raise Failure("there is no go on PATH")
        self.program, self.folder = program, folder
        (folder / "tmp").mkdir()
        self.env = {"GOTOOLCHAIN": "local", **os.environ, "GOWORK": "off", "GOTMPDIR": str(folder / "tmp")}

    def version(self) -> tuple[int, ...]:
        """Its version, as major and minor."""
        text = self.run(self.folder, "version")
        match = re.search(r"go(\d+)\.(\d+)", text)
        if not match:
            raise Failure(f"{self.program} does not report its version: {text.strip()[:80]!r}")
        return tuple(map(int, match.groups()))

    def run(self, work: Path, *arguments: str, each: Callable[[str], None] = lambda _: None) -> str:
        """What a go command printed; `each` gets every line of its standard error as it comes."""
        command, output = [self.program, *arguments], self.folder / "output"
        try:
            return process.run(command, output=output, cwd=work, env=self.env, each=each)
        except Failure as failure:
            raise Failure(f"go {arguments[0]} failed: {failure}") from failure


class _Module:
    """A copy of one module, and the parts to build from it."""

    def __init__(self, go: _Go, source: Path, name: str, members: list[str]) -> None:
        self.go, self.members, self.work = go, members, go.folder / "modules" / name
        have, needs = go.version(), go_of_module(source / name)
        if have < needs:
            raise Failure(f"go {'.'.join(map(str, have))} is too old: wanted {'.'.join(map(str, needs))} or newer")
        shutil.copytree(source / name, self.work)
        if PROVIDER in members:
            shutil.copytree(source / "provider", self.work / "provider")

    def packages(self, report: Report) -> int:
        """How many packages are needed; fetches the modules that they are in."""
        if PROVIDER in self.members:
            report("fetching the Go modules", 0, None, PROVIDER)
            self._copy_embedded()
        for folder in self._generated_folders():
            # Go lists no package whose embedded files are missing; `_generate` writes them.
            for file in GENERATED:
                (folder / file).write_text("{}")
        return len(
            self._run(
                "list", "-mod=readonly", "-deps", *self._generators(), *self._wanted(), each=_fetching(report)
            ).split()
        )

    def build(self, progress: _Progress) -> dict[str, Path]:
        """The programs of the parts."""
        self._generate(progress)
        out = self._compile(self._wanted(), "built", progress)
        return {name: (out / PARTS[name].binary).rename(out / name) for name in self.members}

    def _compile(self, packages: list[str], folder: str, progress: _Progress) -> Path:
        out = self.work / folder
        out.mkdir()
        self._run(
            "build",
            *("-v", "-mod=readonly", "-trimpath", "-buildvcs=false"),
            *("-ldflags", ldflags()),
            *("-o", f"{out}{os.sep}"),
            *packages,
            each=progress.line,
        )
        return out

    def _generate(self, progress: _Progress) -> None:
        """Let the bridge's generator write what the bridged providers embed."""
        if not self._generators():
            return
        out = self._compile(self._generators(), "generators", progress)
        for folder in self._generated_folders():
            command = [str(out / folder.name), "schema", "--skip-docs", "--skip-examples", "--out", str(folder)]
            process.run(command, output=self.go.folder / "output", cwd=folder, env=self.go.env)

    def _wanted(self) -> list[str]:
        return [PARTS[name].package for name in self.members]

    def _generators(self) -> list[str]:
        return [f"./schema/{folder.name}" for folder in self._generated_folders()]

    def _generated_folders(self) -> list[Path]:
        return [self.work / package_of(name) for name in self.members if name in BRIDGED]

    def _copy_embedded(self) -> None:
        """Fetch the provider's module and take from it what our main embeds."""
        answer = json.loads(self._run("mod", "download", "-json", PROVIDER_MODULE))
        folder = Path(answer["Dir"]) / "cmd" / PROVIDER
        for file in EMBEDDED:
            shutil.copyfile(folder / file, self.work / "provider" / file)

    def _run(self, *arguments: str, each: Callable[[str], None] = lambda _: None) -> str:
        return self.go.run(self.work, *arguments, each=each)


def _fetching(report: Report) -> Callable[[str], None]:
    count = 0

    def each(line: str) -> None:
        nonlocal count
        if line.startswith("go: downloading "):
            count += 1
            report("fetching the Go modules", count, None, line.split()[2].rsplit("/", 1)[-1])

    return each
