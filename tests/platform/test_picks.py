"""What a selector picked among all resources of a stack is recorded by `bind`, kept, and can be dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.cli.app import app
from claimsmith.project.project import Project
from tests.support.samples import NETWORK, SHARED, contents, sharing, write_files

SUB = "Database.database.example.org/default/sub"
REF = "subnetwork spec.forProvider.networkRef"
PATH = "stacks/dev/bindings.yaml"


def network(claim: str) -> str:
    """The address of the network of a claim."""
    return f"Database.database.example.org/default/{claim}/network"


def write(root: Path, *networks: str, given: list[dict[str, Any]] | None = None) -> Path:
    """A project with a subnetwork that may be in any of these networks. Among all, `b` is the stable choice."""
    files: dict[str, str | bytes] = {
        "components/x/class.yaml": yaml.safe_dump_all(SHARED),
        "stacks/dev/claims/claims.yaml": yaml.safe_dump_all(sharing(*networks)),
        "stacks/dev/resources/resources.yaml": yaml.safe_dump_all(given or []),
    }
    return write_files(root, files)


def run(root: Path, *words: str):
    return CliRunner().invoke(app, ["-C", str(root), *words])


def bind(root: Path, *words: str) -> str:
    """What the record says of the subnetwork after `bind`; the plan says the same, and bind has nothing more to do."""
    assert run(root, "bind", "dev", *words).exit_code == 0
    picked = recorded(root)[REF]
    plan = Project(root).plan("dev")
    assert list(plan.picks.values()) == [picked]
    assert plan.warnings == ()
    assert run(root, "bind", "dev", "--check").exit_code == 0
    return picked


def recorded(root: Path) -> dict[str, str]:
    rows = yaml.safe_load((root / PATH).read_text())["bindings"]
    assert [r["claim"] for r in rows if "picks" in r] in ([], [SUB]), "only where there are any"
    return next(r.get("picks", {}) for r in rows if r["claim"] == SUB)


def drop(root: Path) -> None:
    """Take the pick's line out of the record, as one would by hand."""
    lines = (root / PATH).read_text().splitlines(keepends=True)
    kept = [line for line in lines if REF not in line]
    assert len(kept) == len(lines) - 1
    (root / PATH).write_text("".join(kept))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Bound while there was only one network."""
    assert bind(write(tmp_path, "a")) == network("a")
    return write(tmp_path, "a", "b", "c")


def test_the_stable_choice(tmp_path: Path) -> None:
    assert bind(write(tmp_path, "a", "b", "c")) == network("b")


def test_a_pick_is_kept_when_another_candidate_appears(root: Path) -> None:
    assert bind(root) == network("a")
    assert recorded(root) == {REF: network("a")}
    assert "as recorded, one of 3" in run(root, "explain", "dev", "sub").stdout


def test_a_pick_that_is_dropped_is_made_anew(root: Path) -> None:
    bind(root)
    drop(root)
    [warning] = Project(root).plan("dev").warnings
    assert f"the pick of {network('b')} is not recorded yet" in warning.what
    assert warning.fix == "run: claimsmith bind dev"
    result = run(root, "validate", "dev")
    assert "is not recorded yet" in result.stderr
    assert run(root, "bind", "dev", "--check").exit_code == 1
    assert bind(root) == network("b")


def test_a_pick_that_is_gone_is_told_and_made_anew(root: Path) -> None:
    bind(root)
    write(root, "b", "c")
    [warning] = Project(root).plan("dev").warnings
    assert f"{network('a')} was picked, which no longer fits; now it is {network('b')}" in warning.what
    assert warning.fix == "run: claimsmith bind dev"
    result = run(root, "bind", "dev")
    assert "picks changed" in result.stdout
    assert bind(root) == network("b")


def test_repick(root: Path) -> None:
    assert bind(root) == network("a")
    assert bind(root, "--repick", SUB) == network("b")


def test_repick_of_another_claim_changes_nothing(root: Path) -> None:
    assert bind(root, "--repick", network("a").removesuffix("/network")) == network("a")


def test_repick_of_no_claim_is_refused(root: Path) -> None:
    before = contents(root)
    result = run(root, "bind", "dev", "--repick", SUB + "x")
    assert (result.exit_code, f"did you mean {SUB!r}?" in result.stderr) == (1, True)
    assert contents(root) == before


def test_a_rebound_claim_keeps_its_picks(root: Path) -> None:
    assert bind(root, "--rebind", SUB) == network("a")


def test_a_given_resource_is_recorded_too(tmp_path: Path) -> None:
    given = {**NETWORK, "metadata": {**NETWORK["metadata"], "name": "given"}}
    assert bind(write(tmp_path, given=[given])) == "Network.compute.gcp.crossplane.io/given"
    assert bind(write(tmp_path, "a", "b", "c", given=[given])) == "Network.compute.gcp.crossplane.io/given"


def test_nothing_to_pick_is_refused_and_nothing_written(root: Path) -> None:
    bind(root)
    before = contents(write(root))
    result = run(root, "bind", "dev")
    assert (result.exit_code, "the selector matches no" in result.stderr) == (1, True)
    assert contents(root) == before
