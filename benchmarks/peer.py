"""Crossplane's render command as the other side of the benchmark `functions`: its inputs, and how it is called.

Nothing here starts functions. The user starts them, and names a file of Functions that says where each one listens.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

REPEATED = "livewyer-ops-crossplane-configuration-aws-elemental-head-originendpoint.mediapackage.aws.livewyer.io"
"""Its definition writes a key twice, which claimsmith refuses."""


@dataclass(frozen=True)
class Inputs:
    """The files of one composition."""

    composite: Path
    composition: Path
    definition: Path | None
    extra: Path | None
    schemas: Path | None


def inputs(case: Path) -> Inputs:
    """The files that a folder of the shared data has."""
    found = [path if (path := case / name).exists() else None for name in ("xrd.yaml", "extra.yaml", "schemas")]
    return Inputs(case / "xr.yaml", case / "composition.yaml", *found)


def compositions(folder: Path) -> list[Path]:
    """The compositions that both sides render.

    Left out are those with scripts, which run only where a project permits it, and those that one side refuses.
    """
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_dir()
        and path.name != REPEATED
        and not (path / "expected_error.txt").exists()
        and not any("function-python" in name for name in used(path / "composition.yaml"))
    ]


def used(composition: Path) -> list[str]:
    """The names of the functions that a composition's steps run, each once."""
    [document] = yaml.safe_load_all(composition.read_text(encoding="utf-8"))
    return list(dict.fromkeys(step["functionRef"]["name"] for step in document["spec"]["pipeline"]))


@dataclass(frozen=True)
class Peer:
    """The render command, and the functions that wait for it."""

    command: str
    functions: Path

    def serves(self, composition: Path) -> bool:
        """Whether all functions of a composition are running."""
        return all(self._function(name) for name in used(composition))

    def call(self, files: Inputs, folder: Path) -> list[str]:
        """The words of the command for one composition. Writes its file of functions into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        declared = folder / "functions.yaml"
        documents = [_renamed(self._function(name), name) for name in used(files.composition)]
        declared.write_text(yaml.safe_dump_all(documents), encoding="utf-8")
        words = [*shlex.split(self.command), "render", str(files.composite), str(files.composition), str(declared)]
        for flag, path in (
            ("--xrd", files.definition),
            ("--required-resources", files.extra),
            ("--required-schemas", files.schemas),
        ):
            words += [flag, str(path)] if path else []
        return words

    def _function(self, name: str) -> dict[str, Any]:
        """The Function for a name, which may have the organization before it; empty if there is none."""
        documents: Sequence[dict[str, Any]] = [d for d in yaml.safe_load_all(self.functions.read_text("utf-8")) if d]
        named = {str(d["metadata"]["name"]): d for d in documents}
        return next((d for known, d in named.items() if name == known or name.endswith(f"-{known}")), {})


def _renamed(function: dict[str, Any], name: str) -> dict[str, Any]:
    return {**function, "metadata": {**function["metadata"], "name": name}}
