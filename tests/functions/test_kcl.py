"""function-kcl: what goes into a program, what becomes of its output, and what it cannot do."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import answers, kcl, worker
from claimsmith.functions.protocol import Condition, Ready, Request, Resource, Response, Selector, Severity, State
from tests.support.function_calls import XR, managed, place, request


def run(source: str, program: kcl.Program | None = None, given: Request | None = None, **spec: Any) -> Response:
    data = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": source, **spec}}
    bound = kcl.of_program(program or kcl.Program())(place("function-kcl", data))
    return bound(given or request(data))


THING = 'apiVersion = "v1", kind = "Thing"'


def documents(response: Response) -> dict[str, Any]:
    return {name: dict(r.document) for name, r in response.desired.resources.items()}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("oxr.spec.region", "eu"),
        ("oxr.spec.count + 1", 3),
        ("dxr.status.seen", "yes"),
        ("dxr.kind", "XNetwork"),
        ('ocds["a"].Resource.metadata.name', "a"),
        ('ocds["a"].ConnectionDetails.user', base64.b64encode(b"me").decode()),
        ('dcds["b"].Resource.kind', "Thing"),
        ('dcds["b"].Ready', "True"),
        ("ctx.key", "value"),
        ('extraResources["e"][0].Resource.metadata.name', "e"),
        ('requiredResources["r"][0].Resource.metadata.name', "r"),
        ("own", "param"),
    ],
)
def test_parameters(expression: str, value: Any) -> None:
    observed = State(Resource(XR), {"a": Resource(managed("a"), {"user": b"me"})})
    desired = State(Resource({"status": {"seen": "yes"}}), {"b": Resource(managed("b"), ready=Ready.true)})
    given = Request(
        observed,
        desired,
        context={"key": "value"},
        extra_resources={"e": [Resource(managed("e"))]},
        required_resources={"r": [Resource(managed("r"))]},
    )
    source = f'items = [{{{THING}, metadata.name = "x", spec.value = option("params").{expression}}}]'
    response = run(source, given=given, params={"own": "param"})
    assert documents(response)["x"]["spec"] == {"value": value}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (f'items = [{{{THING}, metadata.name = "a"}}, {{{THING}, metadata.name = "b"}}]', ["a", "b"]),
        (f'{{{THING}, metadata.name = "a"}}', ["a"]),
        (f'import manifests\nmanifests.yaml_stream([{{{THING}, metadata.name = n}} for n in ["a", "b"]])', ["a", "b"]),
        ("items = []", []),
        (
            f'items = [{{{THING}, metadata.annotations = {{"krm.kcl.dev/composition-resource-name" = "named"}}}}]',
            ["named"],
        ),
    ],
    ids=["items", "one document", "stream", "none", "annotation"],
)
def test_resources(source: str, names: list[str]) -> None:
    response = run(source)
    assert list(documents(response)) == names
    assert all("krm.kcl.dev" not in str(d) for d in documents(response).values())


@pytest.mark.parametrize(
    ("verdict", "ready"), [("True", Ready.true), ("False", Ready.false), ("Unspecified", Ready.unspecified)]
)
def test_readiness(verdict: str, ready: Ready) -> None:
    annotations = f'metadata.annotations = {{"krm.kcl.dev/ready" = "{verdict}"}}'
    response = run(f'items = [{{{THING}, metadata.name = "a", {annotations}}}]')
    assert response.desired.resources["a"].ready is ready


def test_the_status_of_the_composite_is_merged() -> None:
    given = Request(State(Resource(XR)), State(Resource({"status": {"a": {"b": 1}, "c": 1}})))
    response = run('items = [{**option("params").dxr, status.a.d = 2, status.c = 3}]', given=given)
    assert response.desired.composite.document["status"] == {"a": {"b": 1, "d": 2}, "c": 3}


DESIRED = Request(State(Resource(XR)), State(resources={"a": Resource(managed("a", spec={"x": 1, "y": [1, 2]}))}))


@pytest.mark.parametrize(
    ("target", "source", "spec"),
    [
        ("Resources", f'items = [{{{THING}, metadata.name = "a", spec.z = 2}}]', {"z": 2}),
        ("PatchDesired", 'items = [{metadata.name = "a", spec = {x = 9, y = [5]}}]', {"x": 9, "y": [5, 2]}),
        ("Default", f'items = [{{{THING}, metadata.name = "a", spec.z = 2}}]', {"z": 2}),
    ],
)
def test_targets(target: str, source: str, spec: dict[str, Any]) -> None:
    assert documents(run(source, given=DESIRED, target=target))["a"]["spec"] == spec


def test_the_target_resources_keeps_other_fields() -> None:
    made = documents(run(f'items = [{{{THING}, metadata.name = "a", spec.z = 2}}]', given=DESIRED, target="Resources"))
    assert made["a"]["status"] == {}


def test_the_target_xr() -> None:
    response = run("items = [{status.x = {y = 1}}]", target="XR")
    assert response.desired.composite.document["status"] == {"x": {"y": 1}}


def test_the_target_patch_resources() -> None:
    base = {"apiVersion": "v1", "kind": "Thing", "spec": {"x": 1}}
    source = 'items = [{metadata.name = "a", spec.y = 2, metadata.annotations = {"krm.kcl.dev/ready" = "True"}}]'
    response = run(source, target="PatchResources", resources=[{"name": "a", "base": base}])
    assert documents(response)["a"]["spec"] == {"x": 1, "y": 2}
    assert response.desired.resources["a"].ready is Ready.true


def meta(kind: str, text: str) -> str:
    return f'items = [{{apiVersion = "meta.krm.kcl.dev/v1alpha1", kind = "{kind}", {text}}}]'


def test_meta_kinds() -> None:
    assert run(meta("CompositeConnectionDetails", 'data.user = "bWU="')).desired.composite.details == {"user": b"me"}
    assert run(meta("Context", 'data = {"a.b/c" = {d = 1}}')).context == {"a.b/c": {"d": 1}}
    condition = 'conditions = [{condition = {type = "Db", status = "True", reason = "R", message = "m"}}]'
    assert run(meta("Conditions", condition)).conditions == (Condition("Db", "True", "R", "m"),)
    events = 'events = [{event = {type = "Warning", message = "m"}}]'
    assert [(r.severity, r.message) for r in run(meta("Events", events)).results] == [(Severity.warning, "m")]
    wanted = 'requirements.x = {apiVersion = "v1", kind = "ConfigMap", matchLabels = {a = "b"}}'
    assert run(meta("ExtraResources", wanted)).requirements.extra_resources == {
        "x": Selector("v1", "ConfigMap", labels={"a": "b"})
    }
    named = 'requirements.x = {apiVersion = "v1", kind = "ConfigMap", name = "n", namespace = "ns"}'
    assert run(meta("RequiredResources", named)).requirements.resources == {
        "x": Selector("v1", "ConfigMap", name="n", namespace="ns")
    }


def module(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.mkdir()
    (path / "main.k").write_text(text)
    (path / "kcl.mod").write_text(f'[package]\nname = "{name}"\nversion = "0.0.1"\n')
    return path


def test_modules_of_folders(tmp_path: Path) -> None:
    names = module(tmp_path, "names", 'first = "from-a-module"\n')
    program = kcl.Program(packages={"names": str(names)}, folders=(str(names),))
    source = f"import names\nitems = [{{{THING}, metadata.name = names.first}}]"
    assert list(documents(run(source, program, dependencies='names = "1.0"'))) == ["from-a-module"]


def test_a_program_of_files(tmp_path: Path) -> None:
    (tmp_path / "main.k").write_text(f'items = [{{{THING}, metadata.name = _name + option("params").oxr.spec.region}}]')
    (tmp_path / "names.k").write_text('_name = "x-"\n')
    files = tuple(str(tmp_path / name) for name in ("names.k", "main.k"))
    assert list(documents(run("", kcl.Program(files, folders=(str(tmp_path),))))) == ["x-eu"]


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("a = 1 +", "InvalidSyntax"),
        ('assert False, "not like this"', "not like this"),
        ("items = [1]", "no list of resources"),
        ("items = [{a = 1}]", "without apiVersion or kind"),
        (f'items = [{{{THING}, metadata.name = "a"}} for _ in range(2)]', "two resources named 'a'"),
        (
            f'items = [{{{THING}, metadata = {{name = "a", annotations = {{"krm.kcl.dev/ready" = "yes"}}}}}}]',
            "krm.kcl.dev/ready is 'yes'",
        ),
        (meta("Nonsense", "a = 1"), "which is unknown"),
        (meta("Conditions", 'conditions = [{condition = {type = "Ready", status = "True"}}]'), "Crossplane's own"),
        (meta("CompositeConnectionDetails", 'data.user = "not base64!"'), "is not base64"),
        (meta("Events", 'events = [{event = {type = "Loud", message = "m"}}]'), "event of the type Loud"),
        ("", "has no KCL program"),
        ("oci://example.org/module", "is elsewhere"),
    ],
)
def test_refused(source: str, what: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(source)
    problem = caught.value.problems[0]
    assert what in problem.what
    assert problem.where
    assert problem.fix


def test_a_module_that_the_project_does_not_have() -> None:
    with pytest.raises(EngineError) as caught:
        run("import k8s", dependencies='# modules\nk8s = "1.31"')
    assert "functions/modules/k8s" in caught.value.problems[0].fix


def test_a_patch_of_what_is_not_desired() -> None:
    with pytest.raises(EngineError) as caught:
        run('items = [{metadata.name = "absent", spec.x = 1}]', target="PatchDesired")
    assert "'absent'" in caught.value.problems[0].what


@pytest.mark.parametrize(
    "source",
    [
        'items = [file.read("/etc/hostname")]',
        'items = [file.glob("/etc/*")]',
        'items = [file.write("{out}", "x")]',
        'items = [file.mkdir("{out}")]',
    ],
    ids=["read", "glob", "write", "mkdir"],
)
def test_files_of_others_are_out_of_reach(source: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(EngineError):
        run("import file\n" + source.replace("{out}", str(out)))
    assert not out.exists()


def test_a_program_that_crashes_or_takes_all_memory_is_refused_and_the_next_one_runs() -> None:
    with pytest.raises(EngineError) as caught:
        run("f = lambda n: int -> int { f(n + 1) }\nitems = [f(1)]")
    assert "ended while it ran" in caught.value.problems[0].what
    assert list(documents(run(f'items = [{{{THING}, metadata.name = "a"}}]'))) == ["a"]


@pytest.mark.parametrize(
    ("source", "seconds", "what"),
    [
        (
            "items = [i + j + k for i in range(99999) for j in range(99999) for k in range(99999)]",
            1,
            "longer than 1 sec",
        ),
        ("items = ['a' * 3000000]", 60, "more than 1 MB"),
    ],
    ids=["endless", "huge"],
)
def test_limits(source: str, seconds: float, what: str) -> None:
    own = worker.Worker(worker.KCL, limits=worker.Limits(seconds, megabytes=1024, answer_megabytes=1))
    try:
        with pytest.raises(EngineError) as caught:
            own.call({"files": {"prog.k": source}, "arguments": {}, "packages": {}, "config": {}})
        assert what in caught.value.problems[0].what
        assert own.pid is None
    finally:
        own.stop()


def test_one_resource_may_have_no_name() -> None:
    response = run(f"items = [{{{THING}}}]")
    assert list(response.desired.resources) == [""]
    answers.check(response, request())
