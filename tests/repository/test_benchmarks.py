"""The benchmarks compare like with like, and say truly whether a goal is met. Nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from benchmarks import measure, peer, report, tasks, workload
from benchmarks.measure import Row

from claimsmith.dialects.common.klass import Side
from claimsmith.patching.compiled import Reader, compiled


@pytest.mark.parametrize("kind", ["kubernetes", "native"])
def test_generated_and_hand_written_programs_register_the_same(kind: str) -> None:
    sides = [measure.task("program", side, "3", "4", kind)() for side in ("generated", "by-hand")]
    assert [(s["registrations"], s["bytes"]) for s in sides] == [(15, sides[0]["bytes"])] * 2


@pytest.mark.parametrize("number", [0, 1, 7])
def test_the_naive_loop_makes_the_same_documents(number: int) -> None:
    claim = workload.claim_document(number)
    resources = workload.class_document(3)["spec"]["resources"]
    reader = Reader({Side.claim: claim})
    made = [compiled(t).make(reader, lambda p, _: p).document for t in tasks.workload_class(3).templates]
    assert made == [tasks.naively_patched(resource, claim) for resource in resources]


@pytest.mark.parametrize(
    ("row", "met"),
    [
        pytest.param(Row("b", "m", [9, 1, 1], 1.5), True, id="the-middle-counts"),
        pytest.param(Row("b", "m", [1, 2, 3], 1.5), False, id="too-much"),
        pytest.param(Row("b", "m", [4, 6, 7], 5, at_least=True), True, id="enough"),
        pytest.param(Row("b", "m", [6, 4, 4], 5, at_least=True), False, id="too-little"),
        pytest.param(Row("b", "m", [4]), None, id="no-goal"),
    ],
)
def test_goals(row: Row, met: bool | None) -> None:
    assert row.met is met
    assert bool(report.missed([row])) is (met is False)


def test_a_benchmark_that_is_run_again_takes_the_place_of_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "KEPT", tmp_path / "results.json")
    monkeypatch.setattr(report, "SHOWN", tmp_path / "RESULTS.md")
    report.keep([Row("render", "old", [1.0]), Row("help", "stays", [1.0])])
    report.keep([Row("render", "new", [2.0])])
    assert [row.measure for row in report.last()] == ["new", "stays"]
    assert "| new | 2.00 × |" in (tmp_path / "RESULTS.md").read_text()


def test_results_of_another_machine_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "KEPT", tmp_path / "results.json")
    monkeypatch.setattr(report, "SHOWN", tmp_path / "RESULTS.md")
    report.keep([Row("help", "elsewhere", [1.0])])
    data = json.loads((tmp_path / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps({**data, "machine": {"cores": "another"}}))
    assert [row.measure for row in report.keep([Row("render", "here", [1.0])])] == ["here"]


def other_side(tmp_path: Path, *running: str) -> peer.Peer:
    declared = tmp_path / "running.yaml"
    target = {"render.crossplane.io/runtime-development-target": "127.0.0.1:9443"}
    documents = [{"kind": "Function", "metadata": {"name": name, "annotations": target}} for name in running]
    declared.write_text(yaml.safe_dump_all(documents))
    return peer.Peer("crossplane --verbose", declared)


def composition(tmp_path: Path, *names: str) -> Path:
    path = tmp_path / "composition.yaml"
    steps = [{"step": f"step-{number}", "functionRef": {"name": name}} for number, name in enumerate(names)]
    path.write_text(yaml.safe_dump({"spec": {"pipeline": steps}}))
    return path


@pytest.mark.parametrize(
    ("names", "served"),
    [
        pytest.param(["function-kcl"], True, id="by-its-name"),
        pytest.param(["crossplane-contrib-function-kcl"], True, id="with-the-organization"),
        pytest.param(["function-kcl", "function-kro"], False, id="one-is-not-running"),
        pytest.param(["my_function-kcl"], False, id="another-function"),
    ],
)
def test_compositions_whose_functions_are_running(tmp_path: Path, names: list[str], served: bool) -> None:
    assert other_side(tmp_path, "function-kcl").serves(composition(tmp_path, *names)) is served


def test_the_call_of_the_other_side_names_the_files_and_the_functions_as_the_composition_does(tmp_path: Path) -> None:
    composition(tmp_path, "acme-function-kcl", "function-auto-ready", "acme-function-kcl")
    (tmp_path / "xrd.yaml").touch()
    (tmp_path / "schemas").mkdir()
    words = other_side(tmp_path, "function-auto-ready", "function-kcl").call(peer.inputs(tmp_path), tmp_path / "call")
    files = [str(tmp_path / name) for name in ("xr.yaml", "composition.yaml", "call/functions.yaml")]
    flags = ["--xrd", str(tmp_path / "xrd.yaml"), "--required-schemas", str(tmp_path / "schemas")]
    assert words == ["crossplane", "--verbose", "render", *files, *flags]
    declared = list(yaml.safe_load_all((tmp_path / "call" / "functions.yaml").read_text()))
    assert [d["metadata"]["name"] for d in declared] == ["acme-function-kcl", "function-auto-ready"]
    assert all(d["metadata"]["annotations"] for d in declared)


@pytest.mark.parametrize(
    ("name", "function", "files", "rendered"),
    [
        pytest.param("usual", "function-kcl", ["expected.yaml"], True, id="usual"),
        pytest.param("usual", "function-python", ["expected.yaml"], False, id="runs-a-script"),
        pytest.param("usual", "function-kcl", ["expected_error.txt"], False, id="crossplane-refuses-it"),
        pytest.param(peer.REPEATED, "function-kcl", ["expected.yaml"], False, id="claimsmith-refuses-it"),
    ],
)
def test_compositions_that_both_sides_render(
    tmp_path: Path, name: str, function: str, files: list[str], rendered: bool
) -> None:
    (folder := tmp_path / name).mkdir()
    composition(folder, function)
    for file in files:
        (folder / file).touch()
    assert peer.compositions(tmp_path) == [folder] * rendered
