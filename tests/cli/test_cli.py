from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from claimsmith import __version__
from claimsmith.cli.app import app
from claimsmith.cli.outline import outline
from tests.support.refusal_files import CLASS, FILES, KEY, PATH_BINDINGS, PATH_CLASS, claim, spoilt
from tests.support.samples import contents, write_files

COMPONENT = "components/x/component.py"


def commands() -> list[list[str]]:
    """Every command, by its words."""
    root = typer.main.get_command(app)
    found: list[list[str]] = []
    todo = [([], root)]
    while todo:
        words, command = todo.pop(0)
        inner = getattr(command, "commands", {})
        todo += [([*words, name], c) for name, c in inner.items()]
        found += [words] * (not inner)
    return found


COMMANDS = [pytest.param(words, id=" ".join(words)) for words in commands()]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    return tmp_path


@pytest.fixture
def ready(project: Path) -> Path:
    """A project that is bound and generated."""
    assert run("bind", "dev").exit_code == 0
    assert run("generate").exit_code == 0
    return project


def run(*words: str):
    return CliRunner().invoke(app, list(words))


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 8


@pytest.mark.parametrize("words", COMMANDS)
def test_help_has_an_example(words: list[str]) -> None:
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert "claimsmith " in result.stdout


GROUPS = {
    "Start": ["init"],
    "Write": ["new", "classes", "generate", "convert", "schema"],
    "Check and review": ["validate", "render", "review", "accept", "explain", "graph"],
    "Deploy": ["bind", "crds", "env", "backend", "preview", "up", "refresh", "destroy", "ci", "operator"],
    "Operate": ["status", "connection", "drift", "recover", "shard", "rollout"],
    "Tools": ["toolchain", "local"],
}


def listed(*words: str) -> dict[str, dict[str, str]]:
    """The commands that a help lists, by their headings, each with what is said of it."""
    found: dict[str, dict[str, str]] = {}
    heading = ""
    for line in CliRunner(env={"COLUMNS": "80"}).invoke(app, [*words, "--help"]).stdout.splitlines():
        heading = line[:-1] if line.endswith(":") and not line.startswith(" ") else heading
        name, _, text = line.strip().partition(" ")
        found.setdefault(heading, {}).update({name: text.strip()} if line.startswith("  ") else {})
    return {h: rows for h, rows in found.items() if h not in ("", "Options")}


def test_help_groups_the_commands() -> None:
    assert {heading: list(rows) for heading, rows in listed().items()} == GROUPS


def test_every_command_has_a_group() -> None:
    groups = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # an app with several commands
    assert set(groups) == {name for names in GROUPS.values() for name in names}


HELPS = [(), *dict.fromkeys(tuple(words[:-1]) for words in commands() if len(words) > 1)]


@pytest.mark.parametrize("words", [pytest.param(w, id=" ".join(w) or "all") for w in HELPS])
def test_each_command_has_one_whole_sentence_on_one_line(words: tuple[str, ...]) -> None:
    """At 80 columns nothing is cut off or wrapped."""
    said = [text for rows in listed(*words).values() for text in rows.values()]
    assert said
    assert [text for text in said if not (text[:1].isupper() and text.endswith(".") and not text.endswith(".."))] == []


@pytest.mark.parametrize("words", [*COMMANDS, pytest.param([], id="all")])
def test_no_line_of_a_help_is_cut_off(words: list[str]) -> None:
    lines = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*words, "--help"]).stdout.splitlines()
    assert [line for line in lines if line.rstrip().endswith(("...", "…")) and not line.startswith("Usage:")] == []


def test_the_help_of_all_commands_needs_none_of_their_options() -> None:
    short = outline(app)
    assert CliRunner().invoke(short, ["--help"]).stdout == run("--help").stdout
    assert not any(inspect.signature(c.callback).parameters for c in short.registered_commands)
    assert all(c.callback.__name__ in run("--help").stdout for c in app.registered_commands)


@pytest.mark.parametrize("words", COMMANDS)
def test_an_unknown_flag_is_a_usage_error(words: list[str]) -> None:
    result = run(*words, "--no-such-flag")
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("no-such-command",), id="command"),
        pytest.param(("bind",), id="missing-argument"),
        pytest.param(("render", "dev", "a", "b"), id="too-many-arguments"),
        pytest.param(("validate", "--output", "xml"), id="unknown-format"),
        pytest.param(("render", "dev", "--output", "text"), id="format-of-another-command"),
        pytest.param(("--project", "/no/such/folder", "validate"), id="no-such-folder"),
    ],
)
def test_usage_errors(words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2


def test_a_value_that_is_refused_is_reported_without_the_words_of_a_library() -> None:
    refused = "Invalid value for '--output': 'xml' is not one of 'text', 'json', 'sarif', 'github'."
    assert refused in run("validate", "--output", "xml").stderr


def test_version() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"claimsmith {__version__}\n")


# Results


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("validate",), id="validate"),
        pytest.param(("bind", "dev"), id="bind"),
        pytest.param(("bind", "dev", "--check"), id="bind-check"),
        pytest.param(("render", "dev"), id="render"),
        pytest.param(("render", "dev", KEY), id="render-one"),
        pytest.param(("generate",), id="generate"),
        pytest.param(("generate", "--check"), id="generate-check"),
    ],
)
def test_json_is_all_there_is_on_standard_output(ready: Path, words: tuple[str, ...]) -> None:
    result = run(*words, "--output", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)


@pytest.mark.parametrize(
    ("words", "path"),
    [
        pytest.param(("render", "dev"), ("problems", 0), id="render"),
        pytest.param(("validate",), ("errors", 0), id="validate"),
    ],
)
def test_problems_are_json_too(project: Path, words: tuple[str, ...], path: tuple[str, int]) -> None:
    write_files(project, claim("us-west", "us-wst"))
    result = run(*words, "--output", "json")
    problem = json.loads(result.stdout)[path[0]][path[1]]
    assert result.exit_code == 1
    assert problem["where"]["file"].endswith(".yaml")
    assert problem["fix"]


def test_render_says_the_same_twice_and_as_json(ready: Path) -> None:
    assert run("render", "dev").stdout == run("render", "dev").stdout
    kinds = [d["kind"] for d in json.loads(run("render", "dev", "--output", "json").stdout)["items"]]
    assert kinds == ["ResourceGroup", "MySQLServer", "Secret"]


@pytest.mark.parametrize(
    ("words", "file"),
    [pytest.param(("bind", "dev"), PATH_BINDINGS, id="bind"), pytest.param(("generate",), COMPONENT, id="generate")],
)
def test_the_second_time_changes_nothing(ready: Path, words: tuple[str, ...], file: str) -> None:
    before, moment = contents(ready), (ready / file).stat().st_mtime_ns
    result = run(*words)
    assert result.exit_code == 0
    assert result.stdout.rstrip().endswith(("none", "no change: 1 record"))
    assert contents(ready) == before
    assert (ready / file).stat().st_mtime_ns == moment


@pytest.mark.parametrize("words", [("bind", "dev", "--check"), ("generate", "--check")], ids=["bind", "generate"])
def test_check_writes_nothing_and_fails_before(project: Path, words: tuple[str, ...]) -> None:
    before = contents(project)
    assert run(*words).exit_code == 1
    assert contents(project) == before


@pytest.mark.parametrize("words", [("bind", "dev", "--check"), ("generate", "--check")], ids=["bind", "generate"])
def test_check_writes_nothing_and_succeeds_after(ready: Path, words: tuple[str, ...]) -> None:
    before = contents(ready)
    assert run(*words).exit_code == 0
    assert contents(ready) == before


def test_check_fails_where_a_component_is_stale(ready: Path) -> None:
    write_files(ready, {PATH_CLASS: spoilt(CLASS, "location: West US", "location: North US")})
    result = run("generate", "--check")
    assert (result.exit_code, "changed" in result.stdout) == (1, True)


def test_a_comment_makes_nothing_stale(ready: Path) -> None:
    write_files(ready, {PATH_CLASS: "# A comment.\n" + CLASS})
    assert run("generate", "--check").exit_code == 0
    assert run("validate").exit_code == 0


def test_a_claim_that_is_removed_is_told_and_forgotten(ready: Path) -> None:
    (ready / "stacks/dev/claims/c.yaml").unlink()
    result = run("bind", "dev")
    assert (result.exit_code, "removed" in result.stdout) == (0, True)
    assert KEY not in (ready / PATH_BINDINGS).read_text()


def test_a_valid_project(ready: Path) -> None:
    result = run("validate")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "dev: 1 claim bound, 0 unbound, 2 resources" in result.stdout


def test_rebind_moves_a_claim_and_says_from_where(ready: Path) -> None:
    write_files(
        ready,
        {
            "components/y/class.yaml": spoilt(CLASS, "name: small", "name: big"),
            **claim("name: small", "name: big"),
        },
    )
    assert run("bind", "dev").exit_code == 1
    result = run("bind", "dev", "--rebind", KEY)
    assert (result.exit_code, "moved from small" in result.stdout) == (0, True)
    assert "previousClass" in (ready / PATH_BINDINGS).read_text()


def test_all_claims_of_a_class_that_was_changed_are_bound_anew(ready: Path) -> None:
    write_files(ready, {PATH_CLASS: spoilt(CLASS, "location: West US", "location: North US")})
    assert "has changed since" in run("bind", "dev").stderr
    assert run("bind", "dev", "--rebind-class", "small").exit_code == 0
    assert run("bind", "dev", "--check").exit_code == 0


def test_a_class_that_serves_nobody_is_not_bound_anew(ready: Path) -> None:
    result = run("bind", "dev", "--rebind-class", "smal")
    assert (result.exit_code, "did you mean 'small'?" in result.stderr) == (1, True)


@pytest.mark.parametrize("name", ["sql", "default/sql", "Database/default/sql", KEY])
@pytest.mark.parametrize(
    "words",
    [
        ["explain", "dev"],
        ["render", "dev"],
        ["bind", "dev", "--rebind"],
        ["bind", "dev", "--repick"],
        ["graph", "dev", "--claim"],
    ],
    ids=" ".join,
)
def test_a_claim_is_named_the_same_way_everywhere(ready: Path, words: list[str], name: str) -> None:
    assert run(*words, name).exit_code == 0
    wrong = run(*words, "sqll")
    assert (wrong.exit_code, "there is no claim 'sqll' in dev" in wrong.stderr) == (1, True)


def test_bind_shows_what_changes(project: Path) -> None:
    assert "bound" in run("bind", "dev").stdout
    assert run("bind", "dev").stdout == "no change: 1 record\n"
    assert len(json.loads(run("bind", "dev", "--output", "json").stdout)["bindings"]) == 1


# How it looks


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
@pytest.mark.parametrize("words", [["render", "nowhere"], ["classes"], ["review"]], ids=" ".join)
def test_no_color_means_none(ready: Path, words: list[str]) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "claimsmith.cli", *words]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm-256color"}
    subprocess.run(command, cwd=ready, env=environment, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert shown
    assert "\x1b[1m" not in shown
    assert "\x1b[3" not in shown


def test_no_colours_where_nobody_looks(project: Path) -> None:
    write_files(project, claim("us-west", "us-wst"))
    assert "\x1b" not in run("render", "dev").output
    assert "\x1b" not in run("validate").output


def real(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "claimsmith.cli", *words],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_colours_on_a_terminal(project: Path) -> None:
    write_files(project, claim("us-west", "us-wst"))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "claimsmith.cli", "render", "dev"]
    done = subprocess.run(command, cwd=project, stderr=theirs, stdout=subprocess.PIPE, check=False)
    os.close(theirs)
    said = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 1
    assert said.startswith("\x1b[31m")


def test_a_mistake_shows_no_traceback_in_a_real_process(project: Path) -> None:
    write_files(project, claim("us-west", "us-wst"))
    done = real(project, "render", "dev")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: stacks/dev/claims/c.yaml:7:3: ")
    assert "Traceback" not in done.stderr


def test_from_below_the_project(ready: Path) -> None:
    done = real(ready / "stacks" / "dev", "validate")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_same_whatever_the_hash_seed(ready: Path) -> None:
    assert len({real(ready, "render", "dev", PYTHONHASHSEED=seed).stdout for seed in "123"}) == 1


def test_a_reader_that_stops_early_is_no_error(ready: Path) -> None:
    command = f"{sys.executable} -m claimsmith.cli render dev | head -1"
    done = subprocess.run(command, shell=True, cwd=ready, capture_output=True, text=True, check=False)
    assert (done.stdout.startswith("# Database"), done.stderr) == (True, "")
