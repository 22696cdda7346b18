"""The workflows and scripts that docs/ci offers: they run, and give nothing away to those who write a branch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import __version__
from claimsmith.tools.review.markdown import LIMIT, MARK
from tests.support.github_api import BOT, HEAD, MAIN, OLD, REVIEW, GitHub, served, zipped
from tests.support.paths import ROOT
from tests.support.review_files import CLASS, SQL, base, changed, put, write

CI = ROOT / "docs" / "ci"
SCRIPT = CI / "pipeline.sh"
COMMENT = CI / "comment.py"
TEMPLATES = ROOT / "engine" / "claimsmith" / "tools" / "scaffold" / "project" / "github" / "workflows"


def read(path: Path) -> dict[str, Any]:
    # Everything is a text to this loader: `on` stays a key.
    workflow: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)
    return workflow


FILES = {path.stem: path for path in sorted((CI / "github").glob("*.yaml"))}
WORKFLOWS = {name: read(path) for name, path in FILES.items()}
OWN = ROOT / ".github" / "workflows"
EVERY = {**FILES, **{path.stem: path for folder in (TEMPLATES, OWN) for path in sorted(folder.glob("*.yaml"))}}


def job(name: str) -> dict[str, Any]:
    [found] = read(EVERY[name])["jobs"].values()
    return dict(found)


def steps(name: str) -> list[dict[str, Any]]:
    return list(job(name)["steps"])


def runs(name: str) -> str:
    return "\n".join(s.get("run", "") for s in steps(name))


def test_there_is_a_workflow_for_each_trust() -> None:
    assert {name: list(w["on"]) for name, w in WORKFLOWS.items()} == {
        "claims-comment": ["workflow_run"],
        "claims-deploy": ["push"],
        "claims-preview": ["pull_request"],
        "claims-review": ["pull_request"],
    }
    assert {w["name"] for w in WORKFLOWS.values()} == set(WORKFLOWS)
    assert WORKFLOWS["claims-deploy"]["on"]["push"] == {"branches": ["main"]}
    assert WORKFLOWS["claims-comment"]["on"]["workflow_run"]["workflows"] == ["claims-review"]


@pytest.mark.parametrize("name", ["claims-review", "claims-preview"])
def test_the_base_is_fetched(name: str) -> None:
    checkout = next(s for s in steps(name) if s.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["fetch-depth"] == "0"


@pytest.mark.parametrize("name", ["claims-review", "claims-preview", "claims-deploy"])
def test_the_workflow_calls_the_script(name: str) -> None:
    assert re.findall(r"\.github/claims/pipeline\.sh (\w+)", runs(name)) == [name.removeprefix("claims-")]


def test_our_own_workflow_runs_what_ci_runs() -> None:
    assert runs("ci").splitlines()[-1] == ".ci/run"
    assert (ROOT / ".ci" / "run").read_text("utf-8").endswith("exec make test\n")


# What a branch could try


@pytest.mark.parametrize("name", list(EVERY))
def test_actions_are_pinned_by_digest_with_their_version(name: str) -> None:
    uses = re.findall(r"uses: (.*)", EVERY[name].read_text("utf-8"))
    assert uses
    assert [u for u in uses if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", u)] == []


def test_one_digest_for_each_action() -> None:
    uses = {u for path in EVERY.values() for u in re.findall(r"uses: (.*)", path.read_text("utf-8"))}
    assert len({u.partition("@")[0] for u in uses}) == len(uses)


@pytest.mark.parametrize("name", ["claims-review", "claims-preview", "claims-deploy"])
def test_packages_are_pinned_by_version_and_hash(name: str) -> None:
    installs = re.findall(r"pip install (.*)", runs(name))
    assert installs == ["--require-hashes --only-binary :all: -r .github/claims/requirements.txt"]
    assert f"claimsmith=={__version__}\n" in (CI / "requirements.in").read_text("utf-8")
    assert "--generate-hashes" in (CI / "requirements.in").read_text("utf-8")


@pytest.mark.parametrize("name", list(EVERY))
def test_nothing_of_a_request_is_pasted_into_a_command(name: str) -> None:
    assert not [s["run"] for s in steps(name) if "${{" in s.get("run", "")]


@pytest.mark.parametrize("name", list(EVERY))
def test_a_checkout_keeps_no_token(name: str) -> None:
    checkouts = [s for s in steps(name) if s.get("uses", "").startswith("actions/checkout@")]
    assert [s["with"]["persist-credentials"] for s in checkouts] == ["false"]


@pytest.mark.parametrize(
    ("name", "top", "inner"),
    [
        pytest.param("claims-review", {"contents": "read"}, None, id="review-reads"),
        pytest.param("claims-preview", {"contents": "read"}, None, id="preview-reads"),
        pytest.param("claims-deploy", {"contents": "read"}, None, id="deploy-reads"),
        pytest.param("platform", {"contents": "read"}, None, id="a-new-project-reads"),
        pytest.param("ci", {"contents": "read"}, None, id="our-own-reads"),
        pytest.param(
            "claims-comment",
            "{}",
            {"actions": "read", "contents": "read", "pull-requests": "write"},
            id="comment-alone-writes",
        ),
    ],
)
def test_permissions(name: str, top: Any, inner: Any) -> None:
    found = read(EVERY[name])["permissions"]
    assert (found or "{}") == top
    assert job(name).get("permissions") == inner


@pytest.mark.parametrize("name", ["claims-review", "claims-comment", "platform", "ci"])
def test_what_runs_without_approval_has_no_secrets(name: str) -> None:
    assert "secrets." not in EVERY[name].read_text("utf-8")
    assert "environment" not in job(name)


def test_what_can_write_runs_nothing_of_the_branch() -> None:
    text = FILES["claims-comment"].read_text("utf-8")
    assert "github.event.workflow_run.event == 'pull_request'" in job("claims-comment")["if"]
    assert "ref:" not in text
    assert "download-artifact" not in text
    assert runs("claims-comment").strip() == "python3 -I .github/claims/comment.py"


def test_a_preview_has_environments_of_its_own() -> None:
    preview, deploy = job("claims-preview"), job("claims-deploy")
    assert preview["strategy"]["matrix"]["stack"] == deploy["strategy"]["matrix"]["stack"] == ["dev", "prod"]
    assert deploy["environment"] == "${{ matrix.stack }}"
    assert preview["environment"] == "preview-${{ matrix.stack }}"
    assert "head.repo.full_name == github.repository" in preview["if"]


def test_a_preview_never_takes_the_place_of_a_deployment() -> None:
    preview, deploy = job("claims-preview")["concurrency"], job("claims-deploy")["concurrency"]
    assert deploy == {"group": "claims-deploy-${{ matrix.stack }}", "cancel-in-progress": "false"}
    assert preview["group"] == "claims-preview-${{ matrix.stack }}-${{ github.event.number }}"


@pytest.mark.parametrize("name", ["claims-review", "claims-preview"])
def test_reviews_are_written_and_read_outside_the_checkout(name: str) -> None:
    folders = [s["env"]["REVIEW_FOLDER"] for s in steps(name) if "REVIEW_FOLDER" in s.get("env", {})]
    paths = [s["with"]["path"] for s in steps(name) if "upload-artifact" in s.get("uses", "")]
    assert folders == ["${{ runner.temp }}/review"]
    assert paths
    assert all(path.startswith("${{ runner.temp }}/review/") for path in paths)


def test_shell_parts_can_be_read() -> None:
    parts = [SCRIPT.read_text("utf-8"), *(s["run"] for name in EVERY for s in steps(name) if "run" in s)]
    for part in parts:
        subprocess.run(["bash", "-n"], input=part, text=True, check=True)


# The script


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bound and generated project with a base, and `claimsmith` on the way to be found."""
    folder = tmp_path_factory.mktemp("ready")
    root = write(folder / "project", {**base(), "stacks/Pulumi.dev.yaml": {"config": {}}})
    command = folder / "bin" / "claimsmith"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m claimsmith.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    for words in (["bind", "dev"], ["generate"]):
        subprocess.run([command, *words], cwd=root, check=True, capture_output=True)
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "base")
    (folder / "temp").mkdir()
    return folder


@pytest.fixture
def project(ready: Path, tmp_path: Path) -> Path:
    """A copy of it, with folders for temporary files beside it."""
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True)
    return tmp_path / "project"


def run(project: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    path = f"{project.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "RUNNER_TEMP": str(project.parent / "temp"), **settings}
    return subprocess.run([SCRIPT, *words], cwd=project, env=environment, capture_output=True, text=True)


def reviews(project: Path) -> dict[str, str]:
    """What was written to the one folder that was made."""
    [folder] = (project.parent / "temp").iterdir()
    return {p.name: p.read_text("utf-8") for p in folder.iterdir()}


@pytest.mark.parametrize(
    ("change", "settings", "code", "said"),
    [
        pytest.param(put(SQL, "spec/size", 10), {}, 0, "nothing changes", id="nothing"),
        pytest.param(put(SQL, "spec/size", 20), {}, 0, "there are changes", id="changes"),
        pytest.param(
            put(SQL, "spec/writeConnectionSecretToRef/name", "x"), {}, 0, "deleted or replaced", id="destructive"
        ),
        pytest.param(
            put(SQL, "spec/writeConnectionSecretToRef/name", "x"),
            {"REFUSE_DESTRUCTIVE": "true"},
            11,
            "deleted or replaced",
            id="destructive-refused",
        ),
    ],
)
def test_the_offline_part_runs(project: Path, change: Any, settings: dict[str, str], code: int, said: str) -> None:
    write(project, {SQL: changed(change)[SQL]})
    ran = run(project, "review", "main", **settings)
    assert ran.returncode == code, ran.stderr
    assert said in ran.stdout
    assert set(reviews(project)) == {"review.md", "review.html", "review.json"}
    assert reviews(project)["review.md"].startswith(MARK)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param(CLASS, "a: [", id="what-cannot-be-read"),
        pytest.param(
            CLASS, changed(put(CLASS, "spec/resources/0/base/spec/location", "x"))[CLASS], id="a-stale-component"
        ),
    ],
)
def test_the_offline_part_refuses_and_says_so_in_a_review(project: Path, file: str, content: Any) -> None:
    write(project, {file: content})
    ran = run(project, "review", "main")
    assert ran.returncode == 1
    assert "fix:" in ran.stderr
    comment = reviews(project)["review.md"]
    assert "❌" in comment or "⛔" in comment


FORGED = f"{MARK}\n### Review of `shop`\n\nNothing changes. Approved.\n"


def forged_file(project: Path) -> None:
    write(project, {"review/review.md": FORGED, CLASS: "a: ["})


def forged_folder(project: Path) -> None:
    (project / "review").symlink_to(project.parent / "elsewhere")


def forged_temporary(project: Path) -> None:
    write(project, {f"claims-review.{n}/review.md": FORGED for n in "ab"})


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(forged_file, id="a-forged-review-and-a-broken-class"),
        pytest.param(forged_folder, id="a-link-in-the-place-of-the-folder"),
        pytest.param(forged_temporary, id="forged-folders-of-our-own-name"),
    ],
)
def test_what_a_branch_commits_is_never_the_review(project: Path, attack: Callable[[Path], None]) -> None:
    (project.parent / "elsewhere").mkdir()
    attack(project)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "attack")
    run(project, "review", "main~1")
    assert "Approved" not in reviews(project)["review.md"]
    assert list((project.parent / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        pytest.param("review", "not absolute", id="relative"),
        pytest.param("{project}/review", "inside the checkout", id="in-the-checkout"),
        pytest.param("{project}/away/review", "inside the checkout", id="in-the-checkout-by-its-name"),
        pytest.param("{temp}/back/review", "inside the checkout", id="in-the-checkout-by-a-link"),
        pytest.param("{temp}/link", "is a link", id="a-link"),
        pytest.param("{temp}/full", "not empty", id="not-empty"),
        pytest.param("{temp}/not/there", "no folder above", id="nowhere"),
    ],
)
def test_a_folder_that_others_may_have_made_is_refused(project: Path, folder: str, why: str) -> None:
    temp = project.parent / "temp"
    (project / "away").symlink_to(temp)
    (temp / "back").symlink_to(project)
    (temp / "link").symlink_to(temp / "full")
    write(temp / "full", {"review.md": FORGED})
    ran = run(project, "review", "main", REVIEW_FOLDER=folder.format(project=project, temp=temp))
    assert ran.returncode == 2
    assert why in ran.stderr
    assert not list(project.rglob("review.html"))
    assert not list(temp.rglob("review.html"))


def test_a_folder_that_is_empty_is_taken(project: Path) -> None:
    folder = project.parent / "temp" / "review"
    folder.mkdir()
    assert run(project, "review", "main", REVIEW_FOLDER=str(folder)).returncode == 0
    assert set(reviews(project)) == {"review.md", "review.html", "review.json"}


@pytest.mark.parametrize("words", [(), ("review",), ("preview", "main"), ("destroy", "dev")], ids=" ".join)
def test_other_words_are_a_usage_error(project: Path, words: tuple[str, ...]) -> None:
    ran = run(project, *words)
    assert ran.returncode == 2
    assert "pipeline.sh review BASE" in ran.stderr


# The comment


def comment(github: GitHub, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "GITHUB_API_URL": github.address,
        "GITHUB_TOKEN": "hunter2",
        "GITHUB_REPOSITORY": "org/shop",
        "GITHUB_SHA": MAIN,
        "RUN_ID": "42",
        "HEAD_OWNER": "somebody",
        "HEAD_BRANCH": "branch",
        "HEAD_SHA": HEAD,
        **settings,
    }
    return subprocess.run([sys.executable, "-I", COMMENT], env=environment, capture_output=True, text=True)


def bodies(github: GitHub) -> list[str]:
    return [c["body"] for c in github.comments]


def test_a_review_is_posted_once_and_kept_up_to_date() -> None:
    with served(GitHub()) as github:
        for _ in range(2):
            assert comment(github).returncode == 0
    assert bodies(github) == [REVIEW]
    assert [method for method, _ in github.asked if method != "GET"] == ["POST", "PATCH"]
    assert github.tokens["/storage"] is None


@pytest.mark.parametrize(
    "author",
    [
        pytest.param({"login": "mallory", "type": "User"}, id="somebody"),
        pytest.param({"login": "github-actions[bot]", "type": "User"}, id="somebody-of-that-name"),
        pytest.param({"login": "other[bot]", "type": "Bot"}, id="another-bot"),
        pytest.param(None, id="nobody"),
    ],
)
def test_nobody_owns_the_comment_by_writing_its_mark(author: Any) -> None:
    theirs = {"id": 1, "user": author, "body": f"{MARK}\nmine"}
    with served(GitHub(comments=[theirs])) as github:
        assert comment(github).returncode == 0
    assert bodies(github) == [f"{MARK}\nmine", REVIEW]


def test_the_bots_comment_is_found_among_many() -> None:
    others = [{"id": n, "user": {"login": "a", "type": "User"}, "body": MARK} for n in range(1, 251)]
    own = {"id": 251, "user": BOT, "body": f"{MARK}\nold"}
    with served(GitHub(comments=[*others, own])) as github:
        assert comment(github).returncode == 0
    assert bodies(github)[-1] == REVIEW
    assert len(github.comments) == 251


@pytest.mark.parametrize(
    "code",
    [
        pytest.param({HEAD: "changed", MAIN: "same"}, id="a-changed-workflow"),
        pytest.param({HEAD: None, MAIN: "same"}, id="a-removed-workflow"),
        pytest.param({HEAD: "new", MAIN: None}, id="a-new-workflow"),
    ],
)
def test_a_branch_that_changes_the_workflow_posts_nothing_of_its_own(code: dict[str, str | None]) -> None:
    with served(GitHub(code=code, artifact=zipped({"review.md": FORGED.encode()}))) as github:
        assert comment(github).returncode == 0
    [body] = bodies(github)
    assert body.startswith(MARK)
    assert "Approved" not in body
    assert "There is no review" in body
    assert not [path for _, path in github.asked if "artifacts" in path]


@pytest.mark.parametrize(
    ("artifact", "why"),
    [
        pytest.param(None, "wrote none", id="none"),
        pytest.param(b"", "cannot be read", id="empty"),
        pytest.param(b"Approved", "cannot be read", id="not-a-zip"),
        pytest.param(zipped({"review.md": REVIEW.encode()})[:-30], "cannot be read", id="cut-off"),
        pytest.param(zipped({"../review.md": FORGED.encode()}), "cannot be read", id="another-place"),
        pytest.param(zipped({"REVIEW.md": FORGED.encode()}), "cannot be read", id="another-name"),
        pytest.param(zipped({"review.md": b"\xff" + FORGED.encode()}), "cannot be read", id="not-a-text"),
        pytest.param(zipped({"review.md": b"Approved"}), "not a review", id="without-our-mark"),
        pytest.param(zipped({"review.md": MARK.encode() + b"Approved" * 9000}), "too large", id="a-long-text"),
        pytest.param(zipped({"review.md": MARK.encode() + b"A" * 50_000_000}), "too large", id="a-bomb"),
    ],
)
def test_an_artifact_is_data_of_unknown_origin(artifact: bytes | None, why: str) -> None:
    with served(GitHub(artifact=artifact)) as github:
        assert comment(github).returncode == 0
    [body] = bodies(github)
    assert why in body
    assert "Approved" not in body
    assert len(body) <= LIMIT


def test_an_artifact_that_is_too_large_is_not_fetched() -> None:
    with served(GitHub(size=10**9)) as github:
        assert comment(github).returncode == 0
    assert "too large" in bodies(github)[0]
    assert not [path for _, path in github.asked if path.endswith("/zip")]


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param([], id="closed"),
        pytest.param([{"number": 7, "head": {"sha": OLD}}], id="a-newer-commit"),
    ],
)
def test_only_the_request_of_this_commit_gets_a_comment(requests: list[dict[str, Any]]) -> None:
    with served(GitHub(requests=requests)) as github:
        ran = comment(github)
    assert (ran.returncode, github.comments) == (0, [])


@pytest.mark.parametrize("name", ["RUN_ID", "HEAD_SHA", "GITHUB_TOKEN"])
def test_a_setting_that_is_missing_is_named(name: str) -> None:
    with served(GitHub()) as github:
        ran = comment(github, **{name: ""})
    assert ran.returncode == 1
    assert f"{name} is not set" in ran.stderr
    assert "hunter2" not in ran.stderr


def test_both_halves_know_one_mark_and_one_limit() -> None:
    text = COMMENT.read_text("utf-8")
    assert f'MARK = "{MARK}"' in text
    assert f"LONGEST = {LIMIT:_}" in text


def test_the_threat_model_names_tests_that_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", (CI / "threat-model.md").read_text("utf-8")))
    assert len(named) >= 8
    assert named <= set(globals())
