"""The checks of many stacks: which stacks each kind of change makes to be planned again, with the findings of all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.project import digest_cache, sdks, stack_inputs
from claimsmith.project.project import Project
from claimsmith.tools.validate import stacks as checks
from claimsmith.tools.validate import validate
from tests.support.paths import ROOT
from tests.support.samples import claim_data
from tests.support.silent_stacks import CRD, STACKS, edited, klass, write_project


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("bound") / "project")


@pytest.fixture
def root(bound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(digest_cache.PLACE, str(tmp_path / "cache"))
    return Path(shutil.copytree(bound, tmp_path / "project", symlinks=True))


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    plan = Project.plan

    def noted(project: Project, stack: str, **more: Any) -> Any:
        found.append(stack)
        return plan(project, stack, **more)

    monkeypatch.setattr(Project, "plan", noted)
    return found


def said(root: Path, **more: Any) -> tuple[list[str], dict[str, Any]]:
    found = validate(Project(root), Project(root).stacks(), **more)
    return found.summary, found.to_dict()


def added(path: str, *documents: Any) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(yaml.safe_dump_all(documents))

    return change


def appended(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).write_text((root / path).read_text() + text)

    return change


def removed(path: str) -> Callable[[Path], None]:
    return lambda root: (root / path).unlink()


def data(path: str, **values: Any) -> Callable[[Path], None]:
    return lambda root: edited(root / path, lambda d: d.update(values))


def linked(root: Path) -> None:
    target = root / "elsewhere.yaml"
    target.write_text(yaml.safe_dump(claim_data("linked", kind="Alpha", size="small")))
    (root / "stacks/a/claims/linked.yaml").symlink_to("../../../elsewhere.yaml")


def folder(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).unlink(missing_ok=True)
        (root / path).mkdir()

    return change


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "given"}}
FUNCTION = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Function", "metadata": {"name": "function-own"}}
ALL = [*STACKS]


@pytest.mark.parametrize(
    ("change", "again"),
    [
        pytest.param(lambda _: None, [], id="nothing"),
        pytest.param(added("docs/notes.yaml", {"any": 1}), [], id="a-file-that-nothing-reads"),
        pytest.param(appended("stacks/a/claims/claims.yaml", "# text\n"), ["a"], id="a-claim"),
        pytest.param(added("stacks/a/claims/new.yaml", claim_data("n", kind="Beta")), ["a"], id="a-new-claim"),
        pytest.param(added("stacks/b/resources/given.yaml", NAMESPACE), ["b"], id="a-given-resource"),
        pytest.param(appended("stacks/b/bindings.yaml", "# text\n"), ["b"], id="bindings"),
        pytest.param(removed("stacks/b/bindings.yaml"), ["b"], id="bindings-that-are-gone"),
        pytest.param(data("stacks/Pulumi.b.yaml", config={"claimsmith:strict": "true"}), ["b"], id="a-stacks-setting"),
        pytest.param(removed("stacks/Pulumi.b.yaml"), ["b"], id="a-stacks-settings-that-are-gone"),
        pytest.param(data("Pulumi.yaml", config={"claimsmith:strict": "true"}), ALL, id="a-projects-setting"),
        pytest.param(data("Pulumi.yaml", name="renamed"), ALL, id="the-projects-name"),
        pytest.param(appended("claimsmith.yaml", "# text\n"), ALL, id="permissions"),
        pytest.param(added("functions.yaml", FUNCTION), ALL, id="declared-functions"),
        pytest.param(added("functions/own/main.k", {}), ALL, id="a-folder-of-a-function"),
        pytest.param(added("components/alpha/class.yaml", klass("alpha", "Alpha", "us")), ["a", "both"], id="a-class"),
        pytest.param(added("components/more/class.yaml", klass("more", "Alpha")), ["a", "both"], id="another-class"),
        pytest.param(added("components/more/class.yaml", klass("more", "Gamma")), [], id="a-class-that-none-can-use"),
        pytest.param(appended("components/alpha/component.py", "x = 1\n"), ["a", "both"], id="an-edited-component"),
        pytest.param(removed("components/alpha/component.py"), ["a", "both"], id="a-component-that-is-gone"),
        pytest.param(added("components/crds/crd.yaml", CRD), ALL, id="a-definition"),
        pytest.param(added("components/review.yaml", {"data": ["Bucket.example.org"]}), ALL, id="the-review-table"),
        pytest.param(added("components/references.yaml", {"references": {}}), ALL, id="the-reference-table"),
        pytest.param(added("components/bindable.yaml", {}), ALL, id="the-table-of-bindable-kinds"),
        pytest.param(added("components/alpha/broken.yaml", "kind: ["), ALL, id="a-file-that-cannot-be-read"),
        pytest.param(linked, ALL, id="a-link"),
        pytest.param(folder("stacks/a/bindings.yaml"), ALL, id="a-folder-in-the-place-of-bindings"),
        pytest.param(folder("functions.yaml"), ALL, id="a-folder-in-the-place-of-a-file"),
        pytest.param(folder("components/alpha/more.yaml"), ALL, id="a-folder-with-the-name-of-a-file"),
    ],
)  # fmt: skip
def test_what_a_change_makes_to_be_planned(
    root: Path, planned: list[str], change: Callable[[Path], None], again: list[str]
) -> None:
    said(root, cache=True)
    change(root)
    planned.clear()
    warm = said(root, cache=True)
    assert planned == again
    assert warm == said(root)


def test_the_strict_checks_have_entries_of_their_own(root: Path, planned: list[str]) -> None:
    said(root, cache=True)
    planned.clear()
    said(root, cache=True, strict=True)
    assert planned == ALL


def test_a_stack_is_silent_beside_what_the_platforms_checks_report(root: Path) -> None:
    # That is not reported again for a stack: once it is gone, the stack may have findings.
    found = checks.StackKeys(Project(root))
    one, other = (found.of(["a"], strict=False, reported=frozenset(r)) for r in ([], [("components/a.yaml", "spec")]))
    assert one != other


def test_a_few_stacks_are_planned_without_a_digest(
    root: Path, planned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "digest_of", lambda *_: pytest.fail("it takes longer than planning them"))
    found = [validate(Project(root), ["a", "b"], cache=True).summary for _ in range(2)]
    assert found[0] == found[1]
    assert planned == ["a", "b"] * 2


def test_a_platform_that_changes_while_it_is_checked_is_not_kept(
    root: Path, planned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = checks.check_stacks

    def late(*rest: Any, **more: Any) -> Any:
        (root / "components/alpha/class.yaml").write_text(yaml.safe_dump(klass("alpha", "Alpha", "us")))
        return check(*rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr("claimsmith.tools.validate.validation.check_stacks", late)
        said(root, cache=True)
    planned.clear()
    said(root, cache=True)
    assert planned == ["a", "both"], "what was planned with another class than the digest tells"


@pytest.mark.parametrize("what", ["version", "removed"])
def test_libraries_are_a_part_of_the_program(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    before = stack_inputs.program()
    version = stack_inputs.metadata.version

    def other(name: str) -> str:
        if name != "cel-expr-python":
            return version(name)
        if what == "version":
            return "0.0.0"
        raise stack_inputs.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(stack_inputs.metadata, "version", other)
    assert stack_inputs.program.__wrapped__() != before


def test_every_file_of_the_program_is_a_part_of_it() -> None:
    package = Path(stack_inputs.__file__).parents[1]
    counted = set(stack_inputs._package_files(package))
    missing = [p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts and p not in counted]
    assert missing == []


def test_an_sdk_is_known_by_its_place_and_its_files(tmp_path: Path) -> None:
    def sdk(folder: str, text: str) -> list[str]:
        root = tmp_path / folder / "pulumi_thing"
        root.mkdir(parents=True, exist_ok=True)
        (root / "__init__.py").write_text(text)
        (root / "pulumi-plugin.json").write_text('{"name": "thing"}')
        return [str(tmp_path / folder)]

    assert sdks.fingerprint("thing", [str(tmp_path)]) is None
    one = sdks.fingerprint("thing", sdk("one", "x = 1"))
    assert one == sdks.fingerprint("thing", [str(tmp_path / "one")])
    others = [sdks.fingerprint("thing", sdk("two", "x = 1")), sdks.fingerprint("thing", sdk("one", "x = 10"))]
    assert one not in others


def test_resources_of_nested_composites_count() -> None:
    """A claim of a Crossplane kind has none itself: its composite has them."""
    assert validate(Project(ROOT), ["today"]).summary[-1] == "today: 1 claim bound, 0 unbound, 3 resources"
