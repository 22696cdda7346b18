"""What is done for each of many stacks: a cache changes what is planned, and never what is said."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claimsmith.project import digest_cache
from claimsmith.project.project import Project
from claimsmith.tools import many
from claimsmith.tools.bind import bind
from claimsmith.tools.generate import generate
from tests.support.crossplane_documents import XR, definition, piped
from tests.support.review_files import git, write
from tests.support.silent_stacks import CHANGES, STACKS, Command, edited, undone, write_project

TEMPLATE = """\
apiVersion: s3.example.org/v1
kind: Bucket
metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: store}}
spec: {region: eu}
"""


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("bound") / "project")


@pytest.fixture
def root(bound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, and a cache of its own."""
    monkeypatch.setenv(digest_cache.PLACE, str(tmp_path / "cache"))
    return Path(shutil.copytree(bound, tmp_path / "project", symlinks=True))


@pytest.fixture(params=["review", "validate"])
def says(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Both commands, with the stacks that they plan noted."""
    return Command.noted(request.param, monkeypatch)


def test_what_is_silent_is_planned_once(root: Path, says: Command) -> None:
    first = says(root, cache=True)
    assert says.planned == [*STACKS]
    assert (says(root, cache=True), says.planned) == (first, [])
    assert (says(root), says.planned) == (first, [*STACKS])


def test_only_the_stacks_that_can_use_a_class_are_planned_when_it_changes(root: Path, says: Command) -> None:
    says(root, cache=True)
    edited(root / "components/alpha/class.yaml", lambda d: d["metadata"].update(labels={"tier": "gold"}))
    warm = says(root, cache=True)
    assert says.planned == ["a", "both"]
    assert warm == says(root)


def test_what_says_something_is_planned_each_time(root: Path, says: Command) -> None:
    edited(root / "stacks/a/claims/claims.yaml", lambda d: d["spec"].update(other="large"))
    texts = {says(root, cache=True) for _ in range(3)}
    assert (says.planned, len(texts)) == (["a"], 1)


def test_more_processes_say_the_same(root: Path, says: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(root / "stacks/a/claims/claims.yaml", lambda d: d["spec"].update(other="large"))
    (root / "stacks/b/claims/claims.yaml").write_text("kind: [")
    monkeypatch.setattr(many, "PAYS", 1)
    expected = says(root)
    assert (says(root, processes=2), says.planned) == (expected, []), "planned in other processes"


def test_a_function_of_the_project_is_never_hidden(root: Path, says: Command) -> None:
    files = {
        "components/bucket/composition.yaml": [definition(), piped({"step": "s", "functionRef": {"name": "store"}})],
        "stacks/plain/claims/bucket.yaml": {**XR, "spec": {"size": 1}},
        "functions/store/store.gotmpl": TEMPLATE,
    }
    write(root, files)
    generate(Project(root), check=False)
    bind(Project(root), "plain")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "function")
    before = says(root, cache=True)
    assert says(root, cache=True) == before
    (root / "functions/store/store.gotmpl").write_text(TEMPLATE + "{{ fail")
    assert says(root, cache=True) == says(root) != before


def test_a_folder_in_the_place_of_a_file_is_never_hidden(root: Path, says: Command) -> None:
    """A stack without claims needs no bindings: with and without the folder, its files are the same."""
    write(
        root,
        {"stacks/given/resources/given.yaml": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}},
    )
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "given")
    before = says(root, cache=True)
    (root / "stacks/given/bindings.yaml").mkdir()
    assert says(root, cache=True) == says(root) != before


def without_entry(path: Path) -> None:
    path.unlink()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def other_number(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b":[1", b":[7"))


def other_format(path: Path) -> None:
    body = path.read_bytes().partition(b"\n")[2].replace(b'"format":2', b'"format":3')
    path.write_bytes(sealed(body))


def other_entries(path: Path) -> None:
    body = path.read_bytes().partition(b"\n")[2].replace(b"[1", b'["1"')
    path.write_bytes(sealed(body))


def another_number_more(path: Path) -> None:
    body = path.read_bytes().partition(b"\n")[2].replace(b"[1", b"[1,1")
    path.write_bytes(sealed(body))


def negative_number(path: Path) -> None:
    body = path.read_bytes().partition(b"\n")[2].replace(b"[1", b"[-1")
    path.write_bytes(sealed(body))


def sealed(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def linked_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to("elsewhere")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(without_entry, id="gone"),
        pytest.param(lambda p: p.write_bytes(b""), id="empty"),
        pytest.param(lambda p: p.write_bytes(os.urandom(500)), id="noise"),
        pytest.param(truncated, id="truncated"),
        pytest.param(other_number, id="changed-without-its-digest"),
        pytest.param(other_format, id="another-format"),
        pytest.param(other_entries, id="entries-of-another-type"),
        pytest.param(another_number_more, id="entries-of-another-length"),
        pytest.param(negative_number, id="a-negative-number"),
        pytest.param(lambda p: p.write_bytes(sealed(b"[" * 100_000)), id="nested-too-deep"),
        pytest.param(lambda p: p.chmod(0o620), id="others-may-write"),
        pytest.param(lambda p: p.parent.chmod(0o770), id="others-may-write-the-folder"),
        pytest.param(linked, id="a-link"),
        pytest.param(linked_folder, id="a-link-as-the-folder"),
        pytest.param(folder, id="a-folder"),
        pytest.param(pipe, id="a-pipe"),
    ],
)
def test_what_is_wrong_with_a_cache_is_not_trusted(root: Path, says: Command, spoil: Callable[[Path], None]) -> None:
    expected = says(root, cache=True)
    spoil(cache_of(root, says))
    assert says(root, cache=True) == expected
    assert says.planned == [*STACKS]


def cache_of(root: Path, says: Command) -> Path:
    path = digest_cache.path_of(root, says.name)
    assert path
    return path


def test_entries_of_another_user_are_not_trusted(root: Path, says: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    says(root, cache=True)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    says(root, cache=True)
    assert says.planned == [*STACKS]


def test_entries_of_another_project_are_not_used(root: Path, says: Command) -> None:
    says(root, cache=True)
    other = Path(shutil.copytree(root, root.parent / "other", symlinks=True))
    says(other, cache=True)
    assert says.planned == [*STACKS]


@pytest.mark.parametrize("what", ["version", "code"])
def test_entries_of_another_program_are_not_used(
    root: Path, says: Command, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    says(root, cache=True)
    monkeypatch.setattr("claimsmith.project.stack_inputs.program", lambda: what)
    says(root, cache=True)
    assert says.planned == [*STACKS]


def test_a_cache_that_cannot_be_written_does_not_matter(
    root: Path, says: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root.parent / "file").write_text("")
    monkeypatch.setenv(digest_cache.PLACE, str(root.parent / "file" / "cache"))
    assert says(root, cache=True) == says(root)


def test_a_cache_that_is_off_is_not_used(root: Path, says: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    says(root, cache=True)
    monkeypatch.setenv(digest_cache.PLACE, digest_cache.OFF)
    says(root, cache=True)
    assert says.planned == [*STACKS]


def test_a_file_that_changes_meanwhile_is_not_kept(root: Path, says: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Project.planned

    def changed(project: Project, stack: str, *rest: Any, **more: Any) -> Any:
        path = root / f"stacks/{stack}/claims/claims.yaml"
        path.write_text(path.read_text() + "# later\n")
        return plan(project, stack, *rest, **more)

    monkeypatch.setattr(Project, "planned", changed)
    says(root, cache=True)
    assert not cache_of(root, says).exists() or '"entries":{}' in cache_of(root, says).read_text()


def test_a_cache_holds_a_bounded_number_of_entries_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest_cache, "MOST_ENTRIES", 3)
    monkeypatch.setattr(digest_cache, "MOST_FILES", 2)
    digests = [hashlib.sha256(bytes([n])).hexdigest() for n in range(5)]
    paths = [tmp_path / "cache" / f"{n}.json" for n in range(3)]
    for number, path in enumerate(paths):
        digest_cache.write(path, dict.fromkeys(digests, (number,)))
        if path.exists():
            os.utime(path, (number, number))
    assert [p.exists() for p in paths] == [False, True, True]
    assert digest_cache.read(paths[2], 1) == dict.fromkeys(digests[2:], (2,))
    assert paths[2].stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("seed", range(4))
def test_a_cache_never_changes_what_is_said(root: Path, says: Command, seed: int) -> None:
    chance = random.Random(seed)
    says(root, cache=True)
    for _ in range(12):
        change = chance.choice(CHANGES)
        change(root, chance)
        assert says(root, cache=True) == says(root), change.__name__
    undone(root, chance)
    says(root, cache=True)
    assert says.planned == [], "what was silent at first still is"
