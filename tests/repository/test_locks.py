"""The locked packages are all that is needed: `make` installs them without resolving their requirements again."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import ROOT

EXTRAS = ("cel", "dask", "dev", "grpc", "kcl", "lab")


def locked(path: Path) -> dict[str, Requirement]:
    """The packages of a lock that belong on this platform."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [Requirement(line.removesuffix("\\")) for line in lines if line and line[0] not in " #"]
    return {canonicalize_name(row.name): row for row in rows if row.marker is None or row.marker.evaluate()}


def required(name: str, extras: set[str]) -> Iterator[Requirement]:
    """What an installed package asks for on this platform, with these of its extras."""
    for text in metadata.requires(name) or []:
        row = Requirement(text)
        if row.marker is None or any(row.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield row


def test_the_lock_has_every_package_that_is_needed() -> None:
    lock = locked(ROOT / "requirements.txt")
    open_, seen, wrong = [("claimsmith", frozenset(EXTRAS))], set(), []
    while open_:
        name, extras = open_.pop()
        for row in required(name, set(extras)):
            key = canonicalize_name(row.name)
            pinned = lock.get(key)
            if pinned is None:
                wrong.append(f"{name} needs {row}, which is not locked")
            elif not row.specifier.contains(str(pinned.specifier).removeprefix("==")):
                wrong.append(f"{name} needs {row}, and {pinned} is locked")
            elif (step := (key, frozenset(row.extras))) not in seen:
                seen.add(step)
                open_.append(step)
    assert wrong == []
    assert len(seen) > 50


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_each_locked_package_has_one_version(path: Path) -> None:
    assert {name: str(row.specifier)[:2] for name, row in locked(path).items()} == dict.fromkeys(locked(path), "==")


@pytest.mark.parametrize(
    "path", ["Makefile", "scripts/pythonic.sh", "engine/claimsmith/tools/scaffold/project/Makefile"]
)
def test_a_lock_is_installed_without_resolving_it_again(path: str) -> None:
    """Resolving again, pip before 23.3 refuses a lock as soon as an index has a newer release of some package."""
    lines = [line for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if "--require-hashes" in line]
    assert lines
    assert [line for line in lines if "--no-deps --require-hashes" not in line] == []
