"""Claims move from one class to another in waves, and back; only files change."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from claimsmith.base.errors import EngineError, LoadError
from claimsmith.cli.app import app
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.fleet.rollout import Rollout, Wave, rollout
from claimsmith.tools.fleet.usage import usage
from claimsmith.tools.generate import generate
from claimsmith.tools.review import snapshot
from tests.support.crossplane_documents import BUCKET as COMPOSED
from tests.support.crossplane_documents import composition, definition
from tests.support.fleet_files import committed
from tests.support.samples import BUCKET, claim_data, class_data, class_ref, contents, write_files

QUEUE = {"apiVersion": "storage.example.org/v1", "kind": "Queue", "spec": {}}
V1 = class_data("v1", {"name": "bucket", "base": BUCKET}, labels={"tier": "small", "current": "yes"})
V2 = class_data(
    "v2",
    {"name": "bucket", "base": {**BUCKET, "spec": {"forProvider": {"region": "us"}}}},
    labels={"tier": "small"},
)
OTHER = class_data("other", {"name": "queue", "base": QUEUE}, labels={"tier": "small"})
FOREIGN = class_data("foreign", {"name": "bucket", "base": BUCKET}, kind="Cache")
SELECTOR = {"matchLabels": {"current": "yes"}}
STACKS = ("a", "b", "c")


def claims(stack: str) -> list[dict[str, Any]]:
    """Four claims by a selector, one of them with a label, and one in `a` that names its class."""
    found = [claim_data(f"c{i}", classSelector=SELECTOR) for i in range(4)]
    found[0]["metadata"]["labels"] = {"canary": "yes"}
    named = claim_data("named", classRef=class_ref("v1"))
    return [*found, *([named] if stack == "a" else [])]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files: dict[str, str | bytes] = {
        f"components/{klass['metadata']['name']}/class.yaml": yaml.safe_dump(klass)
        for klass in (V1, V2, OTHER, FOREIGN)
    }
    for stack in STACKS:
        files[f"stacks/{stack}/claims/claims.yaml"] = yaml.safe_dump_all(claims(stack), sort_keys=False)
        region = "eu" if stack == "a" else "us"
        files[f"stacks/Pulumi.{stack}.yaml"] = yaml.safe_dump({"config": {"claimsmith:labels": {"region": region}}})
    return bound(tmp_path, files)


def bound(root: Path, files: dict[str, str | bytes]) -> Project:
    """A project with its claims bound, committed."""
    made = Project(write_files(root, files))
    generate(made, check=False)
    for stack in made.stacks():
        bind(made, stack)
    committed(root)
    return made


def on(project: Project, klass: str) -> int:
    """How many claims are on a class."""
    return sum(r.klass.name == klass for stack in project.stacks() for r in project.records(stack))


def roll(project: Project, wave: str = "100%", *, to: str = "v2", **options: Any) -> Rollout:
    return rollout(project, "v1", to, Wave.parse(wave), **options)


@pytest.mark.parametrize(
    ("wave", "moved"),
    [
        pytest.param("5%", 1, id="a-part-is-rounded-up"),
        pytest.param("50%", 7, id="half-of-thirteen"),
        pytest.param("100%", 12, id="all-but-the-one-that-names-its-class"),
        pytest.param("3", 3, id="a-number"),
        pytest.param("canary=yes", 3, id="a-label-of-claims"),
        pytest.param("label=region=eu", 4, id="a-label-of-a-stack"),
        pytest.param("region=asia", 0, id="nobody"),
    ],
)
def test_a_wave(project: Project, wave: str, moved: int) -> None:
    found = roll(project, wave)
    assert (len(found.moved), found.total, found.written) == (moved, 13, moved > 0)
    assert (on(project, "v1"), on(project, "v2")) == (13 - moved, moved)
    assert [str(item.claim) for item in found.left] == ["Database.database.example.org/default/named"]
    for stack in STACKS:
        assert not bind(project, stack, check=True).changed


def test_waves_go_on_and_every_uid_is_kept(project: Project) -> None:
    before = {(s, r.claim): r.uid for s in STACKS for r in project.records(s)}
    numbers = [len(roll(project, "25%").moved) for _ in range(4)]
    assert numbers == [4, 4, 4, 0]
    assert {(s, r.claim): r.uid for s in STACKS for r in project.records(s)} == before
    assert {r.previous.name for s in STACKS for r in project.records(s) if r.previous} == {"v1"}


def test_back_is_as_it_was_byte_for_byte(project: Project) -> None:
    before = contents(project.root / "stacks")
    roll(project, "25%")
    first = contents(project.root / "stacks")
    roll(project, "25%")
    second = roll(project, "4", back=True)
    assert (second.source, second.target, len(second.moved), second.total) == ("v2", "v1", 4, 8)
    assert Counter(r.klass.name for s in STACKS for r in project.records(s)) == {"v1": 9, "v2": 4}
    roll(project, back=True)
    assert contents(project.root / "stacks") == before != first
    assert roll(project, back=True).moved == ()


def test_back_over_two_rollouts_and_a_class_chosen_by_hand(project: Project) -> None:
    """Each way back restores what stood there: also the class before, and the reason of it."""
    rebind(project, "other", "v1")
    states = [contents(project.root / "stacks")]
    rollout(project, "v1", "v2", Wave(), allow_destructive=True)
    states.append(contents(project.root / "stacks"))
    rollout(project, "v2", "other", Wave(), allow_destructive=True)
    rollout(project, "v2", "other", Wave(), back=True, allow_destructive=True)
    assert contents(project.root / "stacks") == states[1]
    rollout(project, "v1", "v2", Wave(), back=True, allow_destructive=True)
    assert contents(project.root / "stacks") == states[0]


def rebind(project: Project, *classes: str) -> None:
    """Bind the claim c1 of `a` by hand, to one class after the other."""
    path = project.root / "stacks/a/claims/claims.yaml"
    before = path.read_text()
    for klass in classes:
        documents = list(yaml.safe_load_all(before))
        documents[1]["spec"] = {"classRef": class_ref(klass)}
        path.write_text(yaml.safe_dump_all(documents, sort_keys=False))
        bind(project, "a", rebind=["c1"])
    path.write_text(before)
    bind(project, "a")


def test_only_what_a_rollout_moved_counts_and_returns(project: Project) -> None:
    """A claim that somebody moved by hand is none of the rollout's: neither of its parts, nor of its way back."""
    rebind(project, "v2")
    assert on(project, "v2") == 1
    assert roll(project, back=True).moved == ()
    assert len(roll(project, "25%").moved) == 3
    assert len(roll(project, back=True).moved) == 3
    assert on(project, "v2") == 1


@pytest.mark.parametrize(
    ("text", "total", "number"),
    [
        pytest.param("1.1%", 3000, 33, id="without-an-error-of-binary-fractions"),
        pytest.param("5%", 240, 12, id="whole"),
        pytest.param("0.1%", 240, 1, id="one-at-least"),
        pytest.param("100%", 7, 7, id="all"),
    ],
)
def test_how_many_a_part_is(project: Project, text: str, total: int, number: int) -> None:
    [one, *_] = roll(project, check=True).moved
    assert len(Wave.parse(text).of([one] * total, total)) == number


def test_a_wave_that_cannot_be_written_leaves_nothing_behind(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three files fails, as after Ctrl-C or on a full disk."""
    before = contents(project.root)
    replaced: list[Path] = []

    def replace(partial: Path, target: Path) -> Path:
        if target.is_relative_to(project.root) and target not in replaced:
            replaced.append(target)
            if len(replaced) == 2:
                raise KeyboardInterrupt
        return Path(os.rename(partial, target) or target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        roll(project)
    assert len(replaced) == 2
    assert contents(project.root) == before


@pytest.mark.parametrize("check", [False, True], ids=["written", "check"])
def test_a_wave_after_one_whose_process_was_killed_is_refused(project: Project, check: bool) -> None:
    """It may have written the files of some stacks alone: a second wave of 50% would move others."""
    part = project.root / f"stacks/b/.bindings.yaml.{2**22 + 1}.partial"
    part.write_text("")
    before = contents(project.root)
    with pytest.raises(LoadError) as error:
        roll(project, "50%", check=check)
    assert part.relative_to(project.root).as_posix() in str(error.value)
    assert "git diff stacks" in str(error.value)
    assert contents(project.root) == before
    part.unlink()
    assert roll(project, "50%").written


def test_a_claim_that_is_added_between_two_waves_joins_the_next(project: Project) -> None:
    roll(project, "50%")
    more = yaml.safe_dump(claim_data("new", classSelector=SELECTOR))
    (project.root / "stacks/b/claims/new.yaml").write_text(more)
    bind(project, "b")
    moved = roll(project).moved
    assert (len(moved), on(project, "v1"), on(project, "v2")) == (6, 1, 13)
    assert "new" in {c.record.claim.name for c in moved}


def test_claims_that_name_the_class_are_edited_on_request(project: Project) -> None:
    path = project.root / "stacks/a/claims/claims.yaml"
    before = path.read_text()
    found = roll(project, "region=eu", edit_claims=True)
    assert (len(found.moved), found.left) == (5, ())
    changed = [
        (old, new) for old, new in zip(before.splitlines(), path.read_text().splitlines(), strict=True) if old != new
    ]
    assert changed == [("    name: v1", "    name: v2")]
    roll(project, back=True, edit_claims=True)
    assert path.read_text() == before


def test_a_wave_that_deletes_is_refused_unless_allowed(project: Project) -> None:
    before = contents(project.root)
    found = roll(project, "3", to="other")
    assert (found.destructive, found.written) == (True, False)
    assert contents(project.root) == before
    assert roll(project, "3", to="other", allow_destructive=True).written
    assert on(project, "other") == 3


def test_check_writes_nothing(project: Project) -> None:
    before = contents(project.root)
    assert len(roll(project, check=True).moved) == 12
    assert contents(project.root) == before


def test_the_review_counts_the_wave(project: Project) -> None:
    roll(project, "25%")
    ran = CliRunner().invoke(app, ["-C", str(project.root), "review", "--output", "json"])
    assert ran.exit_code == 10, ran.output
    [note] = json.loads(ran.stdout)["warnings"]
    assert (note["rule"], note["level"]) == ("rollout", "note")
    assert note["what"] == "4 of 13 claims move now, from v1 to v2"
    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "commit", "-qam", "wave"]
    subprocess.run(git, cwd=project.root, check=True)
    roll(project, back=True)
    ran = CliRunner().invoke(app, ["-C", str(project.root), "review"])
    assert "4 of 4 claims move now, from v2 to v1" in ran.stdout


@pytest.mark.parametrize(
    ("names", "what"),
    [
        pytest.param(("v1", "v3"), "there is no class 'v3'\n  fix: use one of: foreign, other, v1, v2", id="no-target"),
        pytest.param(("v9", "v2"), "there is no class 'v9'", id="no-source"),
        pytest.param(("v1", "v1"), "is both classes", id="the-same"),
    ],
)
def test_refused_classes(project: Project, names: tuple[str, str], what: str) -> None:
    with pytest.raises(EngineError) as error:
        rollout(project, *names, Wave())
    assert what in str(error.value)


def test_a_class_of_another_kind_moves_nobody(project: Project) -> None:
    found = roll(project, to="foreign")
    assert found.moved == ()
    assert "foreign does not serve Database.database.example.org in this stack" in {item.reason for item in found.left}


@pytest.mark.parametrize("text", ["", "0%", "101%", "0", "five", "=x", "-5%"])
def test_refused_waves(text: str) -> None:
    with pytest.raises(EngineError, match="is no wave"):
        Wave.parse(text)


def test_bindings_that_are_not_up_to_date_are_refused(project: Project) -> None:
    more = yaml.safe_dump(claim_data("new", classSelector=SELECTOR))
    (project.root / "stacks/b/claims/new.yaml").write_text(more)
    with pytest.raises(EngineError, match="run first: claimsmith bind b"):
        roll(project)
    (project.root / "components/v2/component.py").unlink()
    (project.root / "stacks/b/claims/new.yaml").unlink()
    with pytest.raises(EngineError, match="run: claimsmith generate"):
        roll(project)
    assert on(project, "v2") == 0


def run(project: Project, *words: str) -> Result:
    return CliRunner().invoke(app, ["-C", str(project.root), *words])


def test_the_commands(project: Project) -> None:
    ran = run(project, "rollout", "v1", "--to", "v2", "--wave", "canary=yes")
    assert ran.exit_code == 0, ran.output
    assert "3 of 13 claims move now, from v1 to v2" in ran.stderr
    refused = run(project, "rollout", "v1", "--to", "other", "--output", "json")
    assert refused.exit_code == 11
    assert json.loads(refused.stdout)["destructive"] == ["a", "b", "c"]
    assert "nothing was written\n  fix: " in refused.stderr
    shown = run(project, "classes", "--usage")
    assert shown.exit_code == 0, shown.output
    assert [line.split() for line in shown.stdout.splitlines() if " v2 " in line] == [
        ["Database.database.example.org", "v2", "3", "a", "(1),", "b", "(1),", "c", "(1)", "3", "from", "v1"]
    ]
    listed = json.loads(run(project, "classes", "Cache", "--usage", "--output", "json").stdout)
    assert [(row["class"].rpartition("/")[2], row["claims"]) for row in listed["classes"]] == [("foreign", 0)]


def test_usage_names_older_texts_and_classes_that_are_gone(project: Project) -> None:
    (project.root / "components/v1/class.yaml").write_text(
        yaml.safe_dump(class_data("v1", {"name": "bucket", "base": QUEUE}))
    )
    rows = {u.klass.name: u for u in usage(project)}
    assert (rows["v1"].claims, rows["v1"].changed, rows["v1"].stacks["a"]) == (13, 13, 5)
    (project.root / "components/v1/class.yaml").unlink()
    (project.root / "components/v1/component.py").unlink()
    assert [u.exists for u in usage(project) if u.klass.name == "v1"] == [False]


def test_nobody_returns_to_a_class_that_is_gone(project: Project) -> None:
    roll(project, edit_claims=True)
    (project.root / "components/v1/class.yaml").unlink()
    (project.root / "components/v1/component.py").unlink()
    with pytest.raises(EngineError, match="the class 'v1' is gone, and claims cannot move to it"):
        roll(project, back=True)


def test_a_class_that_is_gone_is_brought_back_first(project: Project) -> None:
    """A wave leaves claims on the class, and no stack can be planned then."""
    (project.root / "components/v1/class.yaml").unlink()
    (project.root / "components/v1/component.py").unlink()
    before = contents(project.root)
    with pytest.raises(EngineError, match="bring the class back"):
        roll(project, "canary=yes")
    assert contents(project.root) == before


HALF = "apiVersion: claimsmith.io/v1alpha1\nkind: Bindings\nbindings: [{claim: x}]\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("bindings: [", "bindings.yaml", id="no-yaml"),
        pytest.param(HALF, "uid", id="no-record"),
    ],
)
def test_a_broken_record_of_any_stack_writes_nothing(project: Project, text: str, what: str) -> None:
    (project.root / "stacks/c/bindings.yaml").write_text(text)
    before = contents(project.root)
    with pytest.raises(EngineError, match=what):
        roll(project, "canary=yes")
    assert contents(project.root) == before


CLAIMED = {"claimNames": {"kind": "BucketClaim", "plural": "bucketclaims"}, "defaultCompositionRef": {"name": "c1"}}


def composed(name: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """A composition of buckets."""
    data = composition(resources=[*parts])
    return {**data, "metadata": {"name": name}}


def bucket(region: str) -> dict[str, Any]:
    return {"name": "bucket", "base": {**COMPOSED, "spec": {"forProvider": {"region": region}}}}


def asked(name: str, kind: str = "BucketClaim", labels: Any = None, **spec: Any) -> dict[str, Any]:
    namespace = {} if kind.startswith("X") else {"namespace": "default"}
    metadata = {"name": name, **namespace, **({"labels": labels} if labels else {})}
    return {"apiVersion": "example.org/v1", "kind": kind, "metadata": metadata, "spec": {"size": 1, **spec}}


def crossplane(root: Path, *claims: dict[str, Any], more: Any = None, **defined: Any) -> Project:
    """A definition with two compositions, and claims of it in the stack `a`."""
    files: dict[str, Any] = {
        "components/x/definition.yaml": [definition(**{**CLAIMED, **defined})],
        "components/c1/composition.yaml": [composed("c1", bucket("eu"))],
        "components/c2/composition.yaml": [composed("c2", bucket("us"))],
        "stacks/a/claims/claims.yaml": claims,
        **(more or {}),
    }
    return bound(root, {path: yaml.safe_dump_all(data, sort_keys=False) for path, data in files.items()})


def test_claims_of_a_definition_move_with_their_composites(tmp_path: Path) -> None:
    ref: Any = {"compositionRef": {"name": "c1"}}
    made = crossplane(tmp_path, asked("one", labels={"canary": "yes"}), asked("two", **ref), asked("x", "XBucket"))
    before = contents(made.root / "stacks")
    found = rollout(made, "c1", "c2", Wave.parse("canary=yes"))
    assert [c.record.claim.name.partition("-")[0] for c in found.moved] == ["one"], "a label of the claim"
    assert [item.reason for item in found.left] == ["its compositionRef names the class: use --edit-claims"]
    found = rollout(made, "c1", "c2", Wave(), edit_claims=True)
    assert (len(found.moved), found.left, on(made, "c2")) == (2, (), 3)
    assert "name: c1" not in (made.root / "stacks/a/claims/claims.yaml").read_text()
    ran = run(made, "review", "--output", "json")
    review = json.loads(ran.stdout)
    assert [w["what"] for w in review["warnings"]] == ["3 of 3 claims move now, from c1 to c2"]
    rows = {(c["change"], c["classBefore"].rpartition("/")[2], c["reason"]) for c in review["stacks"][0]["claims"]}
    default = "rollout from c1; default of its definition"
    assert rows == {("rebound", "c1", default), ("rebound", "c1", "rollout from c1; compositionRef")}
    rollout(made, "c1", "c2", Wave(), back=True, edit_claims=True)
    assert contents(made.root / "stacks") == before


PARENT: Any = {"group": "example.org", "names": {"kind": "XParent", "plural": "xparents"}}
NESTED: Any = {"name": "nested", "base": {"apiVersion": "example.org/v1", "kind": "XBucket"}}
SINGLE = {
    "apiVersion": "infrastructure.crossplane.io/v1alpha1",
    "kind": "ResourceClass",
    "metadata": {"name": "single"},
    "spec": {
        "claim": {"apiVersion": "database.example.org/v1alpha1", "kind": "Database"},
        "resource": {"base": BUCKET},
    },
}


def test_composites_within_a_composition_move_unless_it_names_their_class(tmp_path: Path) -> None:
    named = {**NESTED, "name": "named", "base": {**NESTED["base"], "spec": {"compositionRef": {"name": "c1"}}}}
    parent = composed("parent", NESTED, named)
    parent["spec"]["compositeTypeRef"]["kind"] = "XParent"
    xrd = definition(**PARENT)
    xrd["metadata"]["name"] = "xparents.example.org"
    more = {"components/parent/platform.yaml": [xrd, parent]}
    made = crossplane(tmp_path, asked("p", "XParent"), more=more)
    found = rollout(made, "c1", "c2", Wave(), edit_claims=True)
    reason = "its compositionRef, in components/parent/platform.yaml, names the class: change it there"
    assert (len(found.moved), [item.reason for item in found.left]) == (1, [reason])


def test_a_class_that_a_definition_forces(tmp_path: Path) -> None:
    """Forced later, it applies to claims that are bound already only by a rollout or a rebinding."""
    made = crossplane(tmp_path, asked("one"), asked("two"))
    path = made.root / "components/x/definition.yaml"
    path.write_text(path.read_text().replace("defaultCompositionRef", "enforcedCompositionRef"))
    assert [item.reason for item in rollout(made, "c1", "c2", Wave()).left] == ["its definition forces c1"] * 2
    path.write_text(path.read_text().replace("name: c1", "name: c2"))
    before = contents(made.root / "stacks")
    assert len(rollout(made, "c1", "c2", Wave.parse("1")).moved) == 1
    assert len(rollout(made, "c1", "c2", Wave(), back=True).moved) == 1
    assert contents(made.root / "stacks") == before


def test_a_class_of_another_sort_moves_nobody(tmp_path: Path) -> None:
    ref = {**class_ref("single"), "kind": "ResourceClass"}
    files = {
        "components/single/class.yaml": yaml.safe_dump(SINGLE),
        "components/v2/class.yaml": yaml.safe_dump(V2),
        "stacks/a/claims/claims.yaml": yaml.safe_dump(claim_data("x", classRef=ref)),
    }
    [left] = rollout(bound(tmp_path, {**files}), "single", "v2", Wave(), edit_claims=True).left
    assert left.reason.startswith("its class is a ResourceClass, and v2 is a CompositeResourceClass")


def test_a_wave_asks_the_plugins_of_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that leads out of the project leads elsewhere from a copy: into a folder where anybody may write."""
    program = project.root.parent / "plugins" / "pulumi-resource-pets"
    program.parent.mkdir()
    program.write_text("")
    plugins = {"providers": [{"name": "pets", "path": "../plugins"}]}
    (project.root / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "shop", "runtime": "python", "plugins": plugins}))
    asked_for: list[Any] = []
    read = snapshot.read_snapshot

    def noted(*rest: Any, **more: Any) -> Any:
        asked_for.append(more["plugins"])
        return read(*rest, **more)

    monkeypatch.setattr(snapshot, "read_snapshot", noted)
    roll(project, "1", check=True)
    assert asked_for == [{"pets": program.resolve()}] * 2
