"""The functions of a project: its folders, its functions.yaml, and what its settings permit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.documents import read_documents
from claimsmith.base.errors import EngineError
from claimsmith.functions import registry, worker
from claimsmith.functions.protocol import Response
from claimsmith.platform.settings import FunctionSettings
from claimsmith.project import functions
from tests.support.function_calls import place, request
from tests.support.paths import ROOT

SERVER = ROOT / "tests" / "support" / "function_server.py"
OWN = {"apiVersion": "acme.example.org/v1", "kind": "Input"}
SCRIPT = {"apiVersion": "python.fn.crossplane.io/v1beta1", "kind": "Script"}
COMPOSE = (
    'def compose(req, rsp):\n    rsp.desired.resources["a"].resource.update({"apiVersion": "v1", "kind": "Thing"})\n'
)


@pytest.fixture(autouse=True)
def _stopped() -> Any:
    yield
    worker.stop_all()


def declared(root: Path, text: str = "", *scripts: str) -> functions.Declared:
    return functions.declared(root, FunctionSettings(scripts), read_documents(text, file="functions.yaml"))


def run(found: functions.Declared, name: str, data: dict[str, Any]) -> Response:
    return registry.function_for(place(name, data), found)(request(data))


def function(name: str, **annotations: str) -> str:
    listed = "".join(f"    {key.replace('_', '/')}: '{v}'\n" for key, v in annotations.items())
    head = f"apiVersion: pkg.crossplane.io/v1\nkind: Function\nmetadata:\n  name: {name}\n"
    return f"---\n{head}" + (f"  annotations:\n{listed}" if listed else "")


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def module(folder: str) -> dict[str, str]:
    """The files of a KCL module."""
    return {f"{folder}/main.k": 'first = "x"', f"{folder}/kcl.mod": '[package]\nname = "names"\n'}


KCL = 'items = [{apiVersion = "v1", kind = "Thing", metadata.name = "%s"}]'


@pytest.mark.parametrize("name", ["network", "acme-configuration-networknetwork", "acme-network"])
def test_a_folder_in_kcl(name: str, tmp_path: Path) -> None:
    root = write(tmp_path, {"functions/network/main.k": KCL % "made", "functions/network/main_test.k": "nonsense("})
    assert list(run(declared(root), name, OWN).desired.resources) == ["made"]


TEMPLATE = """
apiVersion: v1
kind: Thing
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: "%s"}
region: {{ $region }}
"""
FIRST = "{{ $region := .observed.composite.resource.spec.region }}\n"


def test_a_folder_of_templates(tmp_path: Path) -> None:
    """They are one template, in the order of their paths: a later one sees the variables of an earlier one."""
    files = {"00-first.gotmpl": FIRST, "10.gotmpl": TEMPLATE % "b", "20/deep.gotmpl": TEMPLATE % "a", "README.md": "{{"}
    files |= {".hidden.gotmpl": "{{", ".git/x.gotmpl": "{{"}
    root = write(tmp_path, {f"functions/network/{name}": text for name, text in files.items()})
    found = run(declared(root), "acme-network", {}).desired.resources
    assert [(name, resource.document["region"]) for name, resource in found.items()] == [("b", "eu"), ("a", "eu")]


def test_a_longer_name_of_a_built_in_function_is_no_folder(tmp_path: Path) -> None:
    root = write(tmp_path, {"functions/templating/main.gotmpl": TEMPLATE % "folder"})
    inline = {"template": FIRST + TEMPLATE % "inline"}
    data = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline"}
    found = run(declared(root), "crossplane-contrib-function-go-templating", {**data, "inline": inline})
    assert list(found.desired.resources) == ["inline"]


def test_a_mistake_in_a_folder_of_templates_is_reported(tmp_path: Path) -> None:
    root = write(tmp_path, {"functions/network/main.gotmpl": "a: {{ nonsense }}"})
    with pytest.raises(EngineError) as caught:
        run(declared(root), "network", {})
    assert "nonsense" in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("files", "dependency"),
    [
        (module("functions/modules/names"), 'names = "1.0"'),
        (module("functions/network/vendor/names_1.0"), 'names = "1.0"'),
        (module("functions/network/model"), 'names = { path = "./model" }'),
    ],
    ids=["shared", "vendored", "path"],
)
def test_modules_of_a_folder_in_kcl(files: dict[str, str], dependency: str, tmp_path: Path) -> None:
    program = KCL.replace('"%s"', "names.first")
    root = write(
        tmp_path,
        {
            **files,
            "functions/network/main.k": f"import names\n{program}",
            "functions/network/kcl.mod": f'[package]\nname = "network"\n[dependencies]\n{dependency}\n',
        },
    )
    assert list(run(declared(root), "network", OWN).desired.resources) == ["x"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[dependencies]\nk8s = "1.31"\n', "needs the module 'k8s'"),
        ('[dependencies]\nout = { path = "/etc" }\n', "needs the module 'out'"),
        ("[nonsense", "cannot be read"),
    ],
    ids=["missing", "outside", "no TOML"],
)
def test_refused_modules(text: str, what: str, tmp_path: Path) -> None:
    root = write(tmp_path, {"functions/network/main.k": KCL % "made", "functions/network/kcl.mod": text})
    with pytest.raises(EngineError) as caught:
        run(declared(root), "network", OWN)
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].fix


def test_a_built_in_function_by_its_input_stays_built_in(tmp_path: Path) -> None:
    """Examples of functions call them as they like, and run them at an address for development."""
    found = declared(tmp_path, function("kcl-function", **{"render.crossplane.io_runtime": "Development"}))
    data = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": KCL % "x"}}
    assert list(run(found, "kcl-function", data).desired.resources) == ["x"]


@pytest.mark.parametrize(
    ("link", "target"),
    [
        pytest.param("functions/network", "out", id="function"),
        pytest.param("functions/python", "out-python", id="python"),
        pytest.param("functions/kept/secret.k", "out/main.k", id="file"),
        pytest.param("functions/templates/secret.gotmpl", "out/main.k", id="template"),
        pytest.param("functions/modules/names", "out", id="module"),
        pytest.param("functions/modules/whole", "project", id="whole-project"),
        pytest.param("functions/everything", "..", id="everything"),
    ],
)
def test_links_that_lead_out_are_refused(link: str, target: str, tmp_path: Path) -> None:
    """What a link leads to would become readable for a program of the project."""
    outside = {"out/main.k": KCL % "x", "out/kcl.mod": "", "out-python/main.py": COMPOSE}
    inside = {
        "project/functions/kept/main.k": KCL % "x",
        "project/functions/modules/README.md": "",
        "project/functions/templates/main.gotmpl": "",
        "project/kcl.mod": "",
    }
    write(tmp_path, {**outside, **inside})
    (tmp_path / "project" / link).symlink_to(tmp_path / target)
    data = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": KCL % "x"}}
    with pytest.raises(EngineError) as caught:
        run(declared(tmp_path / "project", "", "*"), "function-kcl", data)
    assert "out of the project" in caught.value.problems[0].what or "whole project" in caught.value.problems[0].what
    assert caught.value.problems[0].fix


def test_a_limit_of_time_for_all_calls(tmp_path: Path) -> None:
    found = functions.declared(tmp_path, FunctionSettings(seconds=0.001))
    data = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": KCL % "x"}}
    with pytest.raises(EngineError) as caught:
        run(found, "function-kcl", data)
    assert caught.value.problems[0].what == "took longer than 0.001 seconds"


def test_modules_for_programs_in_compositions(tmp_path: Path) -> None:
    root = write(tmp_path, module("functions/modules/names"))
    spec = {"source": "import names\n" + KCL.replace('"%s"', "names.first"), "dependencies": 'names = "1.0"'}
    data = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": spec}
    for name in ("function-kcl", "crossplane-contrib-function-kcl", "any-name"):
        assert list(run(declared(root), name, data).desired.resources) == ["x"]


def test_python_runs_only_where_it_is_permitted(tmp_path: Path) -> None:
    root = write(tmp_path, {"functions/app/main.py": COMPOSE})
    assert list(run(declared(root, "", "app"), "acme-app", OWN).desired.resources) == ["a"]
    script = {**SCRIPT, "script": COMPOSE}
    assert list(run(declared(root, "", "*function-python"), "acme-function-python", script).desired.resources) == ["a"]
    for name, data in (("acme-app", OWN), ("acme-function-python", script), ("any-name", script)):
        with pytest.raises(EngineError) as caught:
            run(declared(root), name, data)
        problem = caught.value.problems[0]
        assert "permit it in claimsmith.yaml" in problem.fix
        assert problem.where


def test_python_with_an_interpreter_of_its_own(tmp_path: Path) -> None:
    root = write(tmp_path, {"functions/app/main.py": COMPOSE})
    (root / "python").write_text(f'#!/bin/sh\ntouch {root}/used\nexec {sys.executable} "$@"\n')
    (root / "python").chmod(0o755)
    found = functions.declared(root, FunctionSettings(("app",), "python"))
    assert list(run(found, "app", OWN).desired.resources) == ["a"]
    assert (root / "used").exists()


def test_programs(tmp_path: Path) -> None:
    write(tmp_path, {"bin/acme": f'#!/bin/sh\nexec {sys.executable} {SERVER} "$@"\n'})
    (tmp_path / "bin/acme").chmod(0o755)
    found = declared(tmp_path, function("function-acme", **{"claimsmith.io_function-binary": "bin/acme"}))
    assert list(run(found, "function-acme", OWN).desired.resources) == ["made"]
    port = {"claimsmith.io_function-arguments": "--insecure --network=tcp --address=127.0.0.1:{port}"}
    found = declared(tmp_path, function("function-acme", **{"claimsmith.io_function-binary": "bin/acme"}, **port))
    assert list(run(found, "function-acme", OWN).desired.resources) == ["made"]


RUNTIME = "render.crossplane.io_runtime"
DEVELOPMENT = {RUNTIME: "Development"}


def test_built_in_functions_stay_built_in(tmp_path: Path) -> None:
    """The file of a function's own repository names an address at which nobody listens."""
    found = declared(tmp_path, function("function-auto-ready", **DEVELOPMENT))
    assert run(found, "function-auto-ready", OWN).results == ()
    assert "function-auto-ready" not in found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (function("function-acme", **DEVELOPMENT), ["function-acme"]),
        (function("function-acme"), []),
        (function("function-kro", **{"claimsmith.io_function-address": "localhost:1"}), ["function-kro"]),
    ],
    ids=["development", "container", "address"],
)
def test_which_functions_are_declared(text: str, names: list[str], tmp_path: Path) -> None:
    assert [n for n in declared(tmp_path, text) if n not in ("function-kcl", "function-python")] == names


@pytest.mark.parametrize("name", ["function-shell", "acme-function-shell", "function-pythonic"])
def test_programs_that_run_scripts_need_a_permission(name: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        run(declared(tmp_path, function(name, **{"claimsmith.io_function-binary": "bin/shell"})), name, OWN)
    assert caught.value.problems[0].fix == f"permit it in claimsmith.yaml: functions: {{scripts: [{name}]}}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "ConfigMap is no function"),
        (
            function(
                "function-acme", **DEVELOPMENT, **{"render.crossplane.io_runtime-development-target": "10.0.0.1:1"}
            ),
            "which is not this machine",
        ),
    ],
)
def test_refused_files(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        declared(tmp_path, text)
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].where


def test_the_project_around_a_composition(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "claimsmith.yaml": "apiVersion: claimsmith.io/v1alpha1\nkind: Settings\nfunctions:\n  scripts: [app]\n",
            "functions.yaml": function("function-acme", **DEVELOPMENT),
            "functions/app/main.py": COMPOSE,
            "apis/network/composition.yaml": "",
        },
    )
    found = functions.beside(root / "apis/network/composition.yaml")
    assert functions.root_of(root / "apis/network/composition.yaml") == root
    assert "function-acme" in found
    assert list(run(found, "app", OWN).desired.resources) == ["a"]


def test_only_deployments_run_programs_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A branch that somebody else wrote is reviewed without running its programs."""
    root = write(
        tmp_path,
        {
            "functions.yaml": function("function-acme", **{"claimsmith.io_function-binary": "bin/acme"}),
            "functions/app/main.py": COMPOSE,
            "functions/network/main.k": KCL % "made",
        },
    )
    settings = FunctionSettings(("*",))
    reviewed = functions.of_project(root, settings, programs=False)
    script = {**SCRIPT, "script": COMPOSE}
    for name, data in (("function-acme", OWN), ("app", OWN), ("function-python", script)):
        with pytest.raises(EngineError) as caught:
            run(reviewed, name, data)
        assert caught.value.problems[0].fix == "set CLAIMSMITH_FUNCTIONS=run, if you trust the files of the project"
    assert list(run(reviewed, "network", OWN).desired.resources) == ["made"]
    assert list(run(functions.of_project(root, settings, programs=True), "app", OWN).desired.resources) == ["a"]
    monkeypatch.setenv("CLAIMSMITH_FUNCTIONS", "run")
    assert list(run(functions.of_project(root, settings, programs=False), "app", OWN).desired.resources) == ["a"]
