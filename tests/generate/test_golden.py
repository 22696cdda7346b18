from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from pulumi.provider.experimental.analyzer import Analyzer

from claimsmith import deploy, generate
from claimsmith.base.errors import EngineError
from claimsmith.project.sdks import index_of
from claimsmith.providers.index import Index
from tests.support.golden_cases import BAD, CASES, FOLDER, GOOD, Case, each

Golden = Callable[[Path, str], None]
COMPONENTS = [str(case.folder / "component.py") for case in GOOD]


def test_every_case_expects_something() -> None:
    assert len(CASES) >= 15
    assert [c.name for c in CASES if not (c.folder / "plan.yaml").exists() and c not in BAD] == []


@pytest.mark.parametrize("case", each(GOOD))
def test_plan(case: Case, golden: Golden) -> None:
    golden(case.folder / "plan.yaml", case.rendered())


@pytest.mark.parametrize("case", each(GOOD))
def test_component(case: Case, golden: Golden) -> None:
    golden(case.folder / "component.py", case.component())


@pytest.mark.parametrize("case", each(BAD))
def test_error(case: Case, golden: Golden) -> None:
    with pytest.raises(EngineError) as caught:
        case.rendered()
    golden(case.folder / "error.txt", f"{type(caught.value).__name__}\n{caught.value}\n")
    assert all(p.fix for p in caught.value.problems)


@pytest.mark.parametrize("case", each(GOOD))
def test_the_same_again(case: Case) -> None:
    again = Case(case.folder)
    assert (again.rendered(), again.generated()) == (case.rendered(), case.generated())


# The literal copies of document 001's examples: what is odd in them is kept, as shared/readings.md says.


def test_the_documents_server_gets_a_second_storage_field() -> None:
    [claim] = Case(FOLDER / "private-mysql-literal").plan().claims
    server = next(c.document for c in claim.children if c.template.kind == "MySQLServer")
    provider = server["spec"]["forProvider"]
    assert (provider["storageMB"], provider["storageProfile"]) == (10240, {"storageMB": 20480})


def test_the_corrected_server_has_one_storage_field() -> None:
    [claim] = Case(FOLDER / "private-mysql-corrected").plan().claims
    server = next(c.document for c in claim.children if c.template.kind == "MySQLServer")
    provider = server["spec"]["forProvider"]
    assert ("storageMB" in provider, provider["storageProfile"]) == (False, {"storageMB": 10240})


def test_the_documents_node_pools_keep_their_number_and_the_clusters_secret_its_one_spelling() -> None:
    [claim] = Case(FOLDER / "gke-cluster").plan().claims
    assert [c.template.name for c in claim.children] == ["gke-cluster", "node-pool", "node-pool-2", "node-pool-3"]
    spec = claim.children[0].document["spec"]
    assert spec["writeConnectionSecretToRef"] == {"namespace": "crossplane-system", "name": claim.binding.uid}
    assert spec["forProvider"]["version"] == 1.16


# Generated Python is Python that a careful person would accept.


def load(case: Case) -> ModuleType:
    path = case.folder / "component.py"
    spec = importlib.util.spec_from_file_location(f"golden_{case.name.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(*command: str, root: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", [("format", "--check"), ("check",)], ids=["format", "lint"])
def test_components_pass_ruff(command: tuple[str, ...], root: Path) -> None:
    done = run("ruff", *command, *COMPONENTS, root=root)
    assert done.returncode == 0, done.stdout + done.stderr


def test_components_pass_mypy_strict(root: Path, tmp_path: Path) -> None:
    for case in GOOD:
        text = (case.folder / "component.py").read_text(encoding="utf-8")
        (tmp_path / f"{case.name.replace('-', '_')}.py").write_text(text, encoding="utf-8")
    # A program of one's own that uses them is checked against their types.
    shutil.copy(root / "tests" / "programs" / "__main__.py", tmp_path / "program.py")
    for folder in ("postgres", "private-mysql-server"):
        shutil.copy(root / "components" / folder / "component.py", tmp_path / f"{folder.replace('-', '_')}.py")
    cache = root / ".mypy_cache" / "golden"
    done = run(
        *("mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "--follow-imports=silent", str(tmp_path)),
        root=root,
        MYPYPATH=str(root / "engine"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


MISTAKEN = """\
import postgres
import private_mysql_server

HEAD: private_mysql_server.ClaimMetadata = {"name": "sql"}
private_mysql_server.PrivateMySQLServer("sql", {"metadata": HEAD, "spec": {"storageGb": 20}})
postgres.PostgresClaim("sql", {"metadata": HEAD, "spec": {"size": 3}})
postgres.PostgresClaim("sql", {"metadata": HEAD, "spec": {}})
private_mysql_server.PrivateMySQLServer("sql", {"metadata": HEAD, "spec": {}}).no_such_output
"""


def test_mistakes_in_a_claim_are_found_by_mypy(root: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(MISTAKEN, encoding="utf-8")
    for folder in ("postgres", "private-mysql-server"):
        shutil.copy(root / "components" / folder / "component.py", tmp_path / f"{folder.replace('-', '_')}.py")
    cache = root / ".mypy_cache" / "golden"
    done = run(
        *("mypy", "--config-file=", f"--cache-dir={cache}", "--follow-imports=silent", str(tmp_path / "program.py")),
        root=root,
        MYPYPATH=f"{root / 'engine'}{os.pathsep}{tmp_path}",
    )
    found = re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]", done.stdout)
    assert found == [
        ("5", "typeddict-unknown-key"),
        ("6", "typeddict-item"),
        ("7", "typeddict-item"),
        ("8", "attr-defined"),
    ]


@pytest.mark.parametrize("case", each(GOOD))
def test_components_are_accepted_by_pulumis_analyzer(case: Case) -> None:
    module = load(case)
    classes = [getattr(module, generate.class_name(k)) for k in case.catalog.classes.values()]
    result = Analyzer(case.name).analyze(classes)
    assert sorted(result["component_definitions"]) == sorted(c.__name__ for c in classes)


ALLOWED_IMPORTS = {"enum", "typing", "pulumi", "claimsmith.deploy"}
METHODS = {f"self.{m}" for m in ("child", "composite", "templated", "publish_connection", "select")}
METHODS |= {"self.observed", "self.pipeline", "self.start_environment", "self.selected"}
METHODS |= {
    f"self.{m}" for m in ("child_name", "child_options", "claim_labels", "claim_tags", "config", "each", "holds")
}
METHODS |= {"self.external_name", "self.publish_details", "pulumi.Output.format", "spec.get", "super"}


def sdks_of(case: Case) -> list[Index]:
    types = (str(t.base["type"]) for k in case.catalog.classes.values() for t in k.templates if t.native)
    return [index_of(package) for package in sorted({token.partition(":")[0] for token in types})]


def classes_of(sdk: Index) -> set[str]:
    kinds = filter(None, map(sdk.resource, sdk.tokens()))
    return {".".join(part for part in (k.module, k.python_class) if part) for k in kinds}


def calls(tree: ast.AST) -> set[str]:
    found = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
    return {ast.unparse(f) for f in found} - {"super().__init__"}


@pytest.mark.parametrize("case", each(GOOD))
def test_nothing_of_the_users_text_becomes_code(case: Case) -> None:
    tree = ast.parse((case.folder / "component.py").read_text(encoding="utf-8"))
    names = [generate.class_name(k) for k in case.catalog.classes.values()]
    wanted = [f"{name}{word}" for name in names for word in ("Spec", "Args", "")]
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    assert [n.name for n in classes if n.name in wanted] == wanted
    assert {ast.unparse(n.bases[0]) for n in classes if n.name not in wanted} <= {"TypedDict", "StrEnum"}
    mappings = [n for n in tree.body if isinstance(n, ast.Assign)]
    assert [ast.unparse(n.targets[0]) for n in mappings] == [
        ast.unparse(n.value.args[0]).strip("'") for n in mappings if ast.unparse(n.value.func) == "TypedDict"
    ]
    sdks = {s.import_name: s for s in sdks_of(case)}
    imported = {n.module if isinstance(n, ast.ImportFrom) else n.names[0].name for n in imports}
    assert imported <= ALLOWED_IMPORTS | set(sdks)
    constructors = {f"{s.import_name.removeprefix('pulumi_')}.{name}" for s in sdks.values() for name in classes_of(s)}
    elements = {f"{ast.unparse(n.target)}.child" for n in ast.walk(tree) if isinstance(n, ast.For)}
    assert calls(tree) - {"TypedDict"} <= METHODS | set(deploy.__all__) | constructors | elements
    assert [n for n in tree.body[1:] if n not in imports and n not in mappings] == classes
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) and n not in imports]
