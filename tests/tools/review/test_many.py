"""The reviews of many stacks: a cache changes what is planned, and never what is said."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.project import digest_cache
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.generate import generate
from claimsmith.tools.review import many, outputs
from claimsmith.tools.review.project import review
from tests.support.review_files import committed, git
from tests.support.samples import BUCKET, DEFAULT_CLASS, claim_data, class_data, patch

STACKS = ("a", "b", "both", "plain")
KINDS = {"a": ["Alpha"], "b": ["Beta"], "both": ["Alpha", "Beta"], "plain": ["Beta"]}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Gadget", "plural": "gadgets"},
        "scope": "Cluster",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def klass(name: str, kind: str, region: str = "eu") -> dict[str, Any]:
    base = {**BUCKET, "metadata": {"labels": {"region": region}}}
    resource = {"base": base, "patches": [patch("spec.size", "metadata.labels.size")]}
    return class_data(name, resource, kind=kind, annotations=DEFAULT_CLASS)


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which nothing is wrong, committed."""
    files: dict[str, Any] = {
        "components/alpha/class.yaml": klass("alpha", "Alpha"),
        "components/beta/class.yaml": klass("beta", "Beta"),
    }
    for stack in STACKS:
        claims = [claim_data(f"{kind.lower()}-{stack}", kind=kind, size="small") for kind in KINDS[stack]]
        files[f"stacks/{stack}/claims/claims.yaml"] = claims
        files[f"stacks/Pulumi.{stack}.yaml"] = {"config": {"claimsmith:labels": {"team": stack}}}
    root = committed(tmp_path_factory.mktemp("bound") / "project", files)
    project = Project(root)
    generate(project, check=False)
    for stack in STACKS:
        bind(project, stack)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "bound")
    return root


@pytest.fixture
def root(bound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, and a cache of its own."""
    monkeypatch.setenv("CLAIMSMITH_REVIEW_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(bound, tmp_path / "project", symlinks=True))


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stacks that are planned."""
    stacks: list[str] = []
    plan = many.reviewed

    def noted(before: Project, after: Project, stack: str, **more: Any) -> Any:
        stacks.append(stack)
        return plan(before, after, stack, **more)

    monkeypatch.setattr(many, "reviewed", noted)
    return stacks


def said(root: Path, **more: Any) -> str:
    found = review(Project(root), "HEAD", **more)
    return "".join(outputs.WRITERS[form](found) for form in ("json", "markdown"))


def edited(path: Path, change: Callable[[Any], None]) -> None:
    documents = list(yaml.safe_load_all(path.read_text()))
    change(documents[0])
    path.write_text(yaml.safe_dump_all(documents))


def test_what_is_silent_is_planned_once(root: Path, planned: list[str]) -> None:
    first, again = (said(root, cache=True) for _ in range(2))
    assert (planned, first == again) == ([*STACKS], True)
    assert said(root) == first


def test_only_the_stacks_that_can_use_a_class_are_planned_when_it_changes(root: Path, planned: list[str]) -> None:
    said(root, cache=True)
    planned.clear()
    edited(root / "components/alpha/class.yaml", lambda d: d["metadata"].update(labels={"tier": "gold"}))
    warm = said(root, cache=True)
    assert planned == ["a", "both"]
    assert warm == said(root)


def test_what_says_something_is_planned_each_time(root: Path, planned: list[str]) -> None:
    edited(root / "stacks/a/claims/claims.yaml", lambda d: d["spec"].update(size="large"))
    texts = {said(root, cache=True) for _ in range(3)}
    assert (planned, len(texts)) == ([*STACKS, "a", "a"], 1)


def test_more_processes_say_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(root / "stacks/a/claims/claims.yaml", lambda d: d["spec"].update(size="large"))
    (root / "stacks/b/claims/claims.yaml").write_text("kind: [")
    monkeypatch.setattr(many, "PAYS", 1)
    assert said(root, processes=2) == said(root)


def without_entry(path: Path) -> None:
    path.unlink()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def other_number(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b":1", b":7"))


def other_format(path: Path) -> None:
    body = path.read_bytes().partition(b"\n")[2].replace(b'"format":1', b'"format":2')
    path.write_bytes(sealed(body))


def other_entries(path: Path) -> None:
    body = path.read_bytes().partition(b"\n")[2].replace(b":1}", b':"1"}')
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
        pytest.param(lambda p: p.write_bytes(sealed(b"[" * 100_000)), id="nested-too-deep"),
        pytest.param(lambda p: p.chmod(0o620), id="others-may-write"),
        pytest.param(lambda p: p.parent.chmod(0o770), id="others-may-write-the-folder"),
        pytest.param(linked, id="a-link"),
        pytest.param(linked_folder, id="a-link-as-the-folder"),
        pytest.param(folder, id="a-folder"),
        pytest.param(pipe, id="a-pipe"),
    ],
)
def test_what_is_wrong_with_a_cache_is_not_trusted(
    root: Path, planned: list[str], spoil: Callable[[Path], None]
) -> None:
    expected = said(root, cache=True)
    path = digest_cache.path_of(root)
    assert path
    spoil(path)
    planned.clear()
    assert said(root, cache=True) == expected
    assert planned == [*STACKS]


def test_entries_of_another_user_are_not_trusted(
    root: Path, planned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(root, cache=True)
    planned.clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    said(root, cache=True)
    assert planned == [*STACKS]


@pytest.mark.parametrize("what", ["version", "code"])
def test_entries_of_another_program_are_not_used(
    root: Path, planned: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    said(root, cache=True)
    planned.clear()
    monkeypatch.setattr("claimsmith.tools.review.inputs.program", lambda: what)
    said(root, cache=True)
    assert planned == [*STACKS]


def test_a_cache_that_cannot_be_written_does_not_matter(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root.parent / "file").write_text("")
    monkeypatch.setenv("CLAIMSMITH_REVIEW_CACHE", str(root.parent / "file" / "cache"))
    assert said(root, cache=True) == said(root)


def test_a_file_that_changes_meanwhile_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = many.reviewed

    def changed(before: Project, after: Project, stack: str, **more: Any) -> Any:
        result = plan(before, after, stack, **more)
        path = root / f"stacks/{stack}/claims/claims.yaml"
        path.write_text(path.read_text() + "# later\n")
        return result

    monkeypatch.setattr(many, "reviewed", changed)
    said(root, cache=True)
    path = digest_cache.path_of(root)
    assert path
    assert digest_cache.read(path) == {}


def test_a_cache_holds_a_bounded_number_of_entries_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest_cache, "MOST_ENTRIES", 3)
    monkeypatch.setattr(digest_cache, "MOST_FILES", 2)
    digests = [hashlib.sha256(bytes([n])).hexdigest() for n in range(5)]
    paths = [tmp_path / "cache" / f"{n}.json" for n in range(3)]
    for number, path in enumerate(paths):
        digest_cache.write(path, dict.fromkeys(digests, number))
        if path.exists():
            os.utime(path, (number, number))
    assert [p.exists() for p in paths] == [False, True, True]
    assert digest_cache.read(paths[2]) == dict.fromkeys(digests[2:], 2)
    assert paths[2].stat().st_mode & 0o777 == 0o600


# Each changes a project that others may have changed already.
def _claim(root: Path, chance: random.Random) -> None:
    stack = chance.choice(STACKS)
    kind = chance.choice(["Alpha", "Beta", "Gamma"])
    data = claim_data(f"more-{chance.randrange(3)}", kind=kind, size=chance.choice(["small", "large"]))
    path = root / f"stacks/{stack}/claims/more-{chance.randrange(2)}.yaml"
    path.write_text(yaml.safe_dump(data))


def _escaped(root: Path, chance: random.Random) -> None:
    text = yaml.safe_dump(claim_data("escaped", kind="KIND", size="small"))
    path = root / f"stacks/{chance.choice(STACKS)}/claims/escaped.yaml"
    path.write_text(text.replace("KIND", chance.choice(['"\\x41lpha"', "!!binary QWxwaGE="])))


def _class(root: Path, chance: random.Random) -> None:
    name = chance.choice(["alpha", "beta"])
    region = chance.choice(["eu", "us"])
    path = root / f"components/{name}/class.yaml"
    path.write_text(yaml.safe_dump(klass(name, name.title(), region)))


def _another_class(root: Path, chance: random.Random) -> None:
    name, kind = chance.choice(["alpha", "gamma", "zeta"]), chance.choice(["Alpha", "Beta", "Gamma"])
    path = root / f"components/more-{chance.randrange(2)}/class.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(klass(name, kind)))


def _definition(root: Path, chance: random.Random) -> None:
    (root / f"components/{chance.choice(['alpha', 'crds'])}").mkdir(exist_ok=True)
    folder = chance.choice([p for p in (root / "components").iterdir() if p.is_dir()])
    (folder / "crd.yaml").write_text(yaml.safe_dump(CRD))


def _table(root: Path, chance: random.Random) -> None:
    kind = {"kind": "Bucket", "group": chance.choice(["one", "two"])}
    name = chance.choice(["references.yaml", "review.yaml"])
    (root / "components" / name).write_text(chance.choice(["", yaml.safe_dump(kind)]))


def _setting(root: Path, chance: random.Random) -> None:
    path = root / f"stacks/Pulumi.{chance.choice(STACKS)}.yaml"
    name = chance.choice(["strict", "records", "bind", "context"])
    path.write_text(yaml.safe_dump({"config": {f"claimsmith:{name}": chance.choice(["true", "auto"])}}))


def _ignored(root: Path, chance: random.Random) -> None:
    (root / ".gitignore").write_text(f"stacks/Pulumi.{chance.choice(STACKS)}.yaml\n")
    git(root, "rm", "--quiet", "--cached", "--ignore-unmatch", "stacks/Pulumi.a.yaml")


def _permissions(root: Path, chance: random.Random) -> None:
    edited(root / "claimsmith.yaml", lambda d: d.update(claims=[{"folder": ".", "namespaces": [chance.choice("*x")]}]))


def _annotation(root: Path, chance: random.Random) -> None:
    note = chance.choice(["crossplane.io/external-name", "claimsmith.io/protect", "claimsmith.io/adopt"])
    path = root / f"stacks/{chance.choice(STACKS)}/claims/claims.yaml"
    if path.is_file():
        edited(path, lambda d: d["metadata"].update(annotations={note: chance.choice(["true", "same"])}))


def _bindings(root: Path, chance: random.Random) -> None:
    (root / f"stacks/{chance.choice(STACKS)}/bindings.yaml").unlink(missing_ok=True)


def _broken(root: Path, chance: random.Random) -> None:
    folder = root / chance.choice(["components/beta", f"stacks/{chance.choice(STACKS)}/claims"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "broken.yaml"
    path.write_text(chance.choice(["", "kind: [", "# nothing\n"]))


def _link(root: Path, chance: random.Random) -> None:
    link = root / f"stacks/{chance.choice(STACKS)}/claims/linked.yaml"
    (root / "shared.yaml").write_text(yaml.safe_dump(claim_data("linked", kind="Alpha", size=str(chance.random()))))
    if link.parent.is_dir() and not link.is_symlink():
        link.symlink_to("../../../shared.yaml")


def _undone(root: Path, _: random.Random) -> None:
    git(root, "checkout", "--quiet", "--force", "HEAD", ".")
    git(root, "clean", "--quiet", "-d", "--force")


CHANGES = (
    *(_claim, _escaped, _class, _another_class, _definition, _table, _setting, _ignored, _permissions, _annotation),
    *(_bindings, _broken, _link, _undone, _undone, _undone),
)


@pytest.mark.parametrize("seed", range(6))
def test_a_cache_never_changes_what_is_said(root: Path, planned: list[str], seed: int) -> None:
    chance = random.Random(seed)
    said(root, cache=True)
    for _ in range(12):
        change = chance.choice(CHANGES)
        change(root, chance)
        assert said(root, cache=True) == said(root), change.__name__
    _undone(root, chance)
    planned.clear()
    said(root, cache=True)
    assert planned == [], "what was silent at first still is"
