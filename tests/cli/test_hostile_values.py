"""What a claim's author wrote, in every output of every command: shown, never sent.

Each project has all hostile texts at one place of its claims; each command prints it in each of its formats.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from claimsmith.base.errors import Source
from claimsmith.cli import console
from claimsmith.cli.app import app
from claimsmith.cli.completion import _offered
from claimsmith.cli.queries import _drift_text
from claimsmith.tools.drift.changes import ClaimDrift, Drift, FieldDrift, ResourceDrift
from tests.support import comment, hostile, json_schemas
from tests.support.review_files import CLASS, changed, sql, write
from tests.support.samples import class_data, patch

Files = dict[str, Any]
Claim = dict[str, Any]
Place = Callable[[list[str]], Files]
HOSTILE = list(hostile.ALL.values())
HARMLESS = [f"word{number}" for number in range(len(HOSTILE))]
COPIED = patch("spec.extra", "spec.forProvider.extra")


def claims(change: Callable[[Claim, str], object]) -> Place:
    """One claim for each text, with the text somewhere in it."""

    def made(texts: list[str]) -> Files:
        found: Files = {}
        for number, text in enumerate(texts):
            claim = sql(f"c{number}")
            change(claim, text)
            found[f"stacks/dev/claims/c{number}.yaml"] = claim
        return found

    return made


def file_name(text: str) -> str:
    return re.sub(r"[/\0]", "", text)[:60]


def spec(name: str) -> Callable[[Claim, str], object]:
    return lambda claim, text: claim["spec"].update({name: text})


def metadata(**fields: Callable[[str], Any]) -> Callable[[Claim, str], object]:
    return lambda claim, text: claim["metadata"].update({name: make(text) for name, make in fields.items()})


def secret(claim: Claim, text: str) -> None:
    claim["spec"]["writeConnectionSecretToRef"]["name"] = text


def class_ref(claim: Claim, text: str) -> None:
    claim["spec"]["classRef"]["name"] = text


def selector(claim: Claim, text: str) -> None:
    del claim["spec"]["classRef"]
    claim["spec"]["classSelector"] = {"matchLabels": {"a": text, text: "a"}}


def kind(claim: Claim, text: str) -> None:
    claim["kind"] = text


def api_version(claim: Claim, text: str) -> None:
    claim["apiVersion"] = text


def labelled(texts: list[str]) -> Files:
    """A class with hostile labels and names in it: the platform's own, but they are printed too."""
    return {
        f"components/l{number}/class.yaml": class_data(f"l{number}", labels={"a": text}, kind="Other")
        for number, text in enumerate(texts)
    }


def named(texts: list[str]) -> Files:
    names = [f"stacks/dev/claims/{file_name(t)}{n}.yaml" for n, t in enumerate(texts)]
    return {name: sql(f"c{n}", klass="none" if n % 2 else "db") for n, name in enumerate(names)}


def broken(form: str) -> Place:
    """Files that cannot be read; harmless ones for harmless texts."""

    def made(texts: list[str]) -> Files:
        rows = [(f"stacks/dev/claims/c{n}.yaml", t) for n, t in enumerate(texts)]
        wrong = {name: form.format(json.dumps(t), t.replace("\0", "")) for name, t in rows}
        return {HARMLESS[0]: {}}.get(texts[0], wrong)

    return made


def stacks(texts: list[str]) -> Files:
    return {f"stacks/{file_name(t)}/claims/c.yaml": sql(f"c{n}") for n, t in enumerate(texts[::5])}


PLACES: dict[str, Place] = {
    "value": claims(spec("version")),
    "nested-values-and-keys": claims(lambda c, t: c["spec"].update(extra={t: [t, {t: t}], "text": t})),
    "unknown-field": claims(lambda c, t: c["spec"].update({t: 1})),
    "annotation": claims(metadata(annotations=lambda t: {"note": t, t: "note"})),
    "external-name": claims(metadata(annotations=lambda t: {"crossplane.io/external-name": t})),
    "label": claims(metadata(labels=lambda t: {"note": t, t: "note"})),
    "name": claims(metadata(name=str)),
    "namespace": claims(metadata(namespace=str)),
    "kind": claims(kind),
    "api-version": claims(api_version),
    "class": claims(class_ref),
    "selector": claims(selector),
    "secret": claims(secret),
    "file-name": named,
    "broken-file": broken("{0}: [{0}, *{1}\n"),
    "doubled-key": broken("{0}: 1\n{0}: 2\n"),
    "stack": stacks,
    "class-label": labelled,
}
DOCUMENTS = ("render", "convert")
"""What is YAML: a value of several lines may have several there, none of them at the beginning of a line."""
OUTPUTS: dict[str, list[str]] = {
    "validate": ["validate"],
    "validate-json": ["validate", "--output", "json"],
    "validate-sarif": ["validate", "--output", "sarif"],
    "bind": ["bind", "dev", "--check"],
    "bind-json": ["bind", "dev", "--check", "--output", "json"],
    "render": ["render", "dev"],
    "render-json": ["render", "dev", "--output", "json"],
    "explain": ["explain", "dev"],
    "explain-json": ["explain", "dev", "--output", "json"],
    "explain-field": ["explain", "dev", "c1", "--field", "spec.forProvider.version"],
    "explain-child": ["explain", "dev", "c1", "--child", "my-sql-server"],
    "classes": ["classes"],
    "classes-json": ["classes", "--output", "json"],
    "crds": ["crds", "--stack", "dev"],
    "convert": ["convert"],
    "convert-json": ["convert", "--output", "json"],
    "graph-svg": ["graph", "dev", "--output", "svg"],
    "graph-html": ["graph", "dev", "--output", "html"],
    "graph-class": ["graph", "--class", "l1", "--output", "html"],
    "review": ["review"],
    "review-json": ["review", "--output", "json"],
    "review-html": ["review", "--output", "html"],
    "generate": ["generate", "--check"],
    "no-such-stack": ["render", "\x1b[31m::x"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The project of each place, made once: a harmless base in git, the hostile texts in the working tree."""

    @functools.cache
    def of(place: str) -> Path:
        files = changed()
        files[CLASS]["spec"]["resources"][1]["patches"].append(COPIED)
        root = write(tmp_path_factory.mktemp(place), {**files, **PLACES[place](HARMLESS)})
        for words in (["init", "--quiet", "."], ["add", "--all"], ["commit", "--quiet", "--message", "base"]):
            who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
            subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
        write(root, PLACES[place](HOSTILE))
        return root

    return of


def run(monkeypatch: pytest.MonkeyPatch, root: Path, *words: str) -> Result:
    monkeypatch.chdir(root)
    ran = CliRunner().invoke(app, list(words))
    assert ran.exit_code in (0, 1, 10, 11), ran.output
    assert "this is a bug" not in ran.output
    return ran


@pytest.mark.parametrize("output", list(OUTPUTS))
@pytest.mark.parametrize("place", list(PLACES))
def test_nothing_is_hidden_forged_or_a_command(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], place: str, output: str
) -> None:
    ran = run(monkeypatch, project(place), *OUTPUTS[output])
    for text in (ran.stdout, ran.stderr):
        assert hostile.hidden(text) == set()
        assert hostile.COMMAND.findall(text) == []
        assert [line for line in hostile.forged(text) if output not in DOCUMENTS or line == line.lstrip()] == []
    if output.endswith("-json"):
        json_schemas.answer(OUTPUTS[output], ran.stdout)


@pytest.mark.parametrize("place", list(PLACES))
def test_workflow_commands_are_ours_alone(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], place: str
) -> None:
    ran = run(monkeypatch, project(place), "validate", "--output", "github")
    lines = ran.stdout.splitlines()
    found = json.loads(run(monkeypatch, project(place), "validate", "--output", "json").stdout)
    assert len(lines) == len(found["errors"]) + len(found["warnings"])
    assert [
        line for line in lines if not re.match(r"::(error|warning) (file=[^,:]*,line=\d+,col=\d+,)?title=", line)
    ] == []
    assert [line for line in lines if "##[" in line] == []
    assert hostile.hidden(ran.output) == set()


@pytest.mark.parametrize("place", ["class", "name", "selector"])
def test_sarif_has_no_link_of_a_claim(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], place: str
) -> None:
    ran = run(monkeypatch, project(place), "validate", "--output", "sarif")
    messages = [result["message"]["text"] for result in json.loads(ran.stdout)["runs"][0]["results"]]
    assert any("approved" in message for message in messages)
    assert [message for message in messages if "](" in message] == []


@pytest.mark.parametrize("place", list(PLACES))
def test_a_comment_has_nothing_live_of_a_claim(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], place: str
) -> None:
    ran = run(monkeypatch, project(place), "review", "--output", "markdown")
    found = comment.shown(ran.stdout)
    assert found.live == []
    assert found.comments == [" claimsmith review "]
    assert {name.removeprefix("/") for name, _ in found.tags} <= {
        "h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong", "details", "summary", "br",
        "sub", "pre",
    }  # fmt: skip
    assert [attributes for _, attributes in found.tags if attributes] == []
    # Signs of our own have a character that nobody sees.
    assert hostile.hidden(ran.stdout) <= {"\ufe0f"}
    assert hostile.forged(re.sub(r"```.*?```", "", ran.stdout, flags=re.DOTALL)) == []
    assert hostile.COMMAND.findall(ran.stdout) == []


@pytest.mark.parametrize("output", ["terminal", "markdown", "html"])
def test_a_review_shows_what_was_written(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], output: str
) -> None:
    """The attack is seen, not swallowed: the values are there, as escapes."""
    text = run(monkeypatch, project("value"), "review", "--output", output).stdout
    for shown in (r"\u001b[2J", r"\u202eapproved", r"app\u200broved", "**approved**", r"\x9b31m"):
        assert shown in text


def test_rendered_yaml_says_what_the_claims_say(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path]
) -> None:
    ran = run(monkeypatch, project("value"), "render", "dev")
    documents = [d for d in yaml.safe_load_all(ran.stdout) if d["kind"] == "MySQLServer"]
    assert {d["spec"]["forProvider"]["version"] for d in documents} == {*hostile.ALL.values(), "5.7"}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in hostile.ALL.items()])
def test_tables_drift_and_what_is_said_beside_them(capsys: pytest.CaptureFixture[str], text: str) -> None:
    console.print_table(("A", "B"), [(text, text)])
    console.say(text)
    console.print_line(text)
    field = FieldDrift(text, text, text, Source(text))
    urn = "urn:pulumi:dev::p::kubernetes:v1:Secret::sql"
    drift = Drift(text, (ClaimDrift(text, (ResourceDrift(text, text, text, urn, "changed", (field,)),)),), 1)
    printed = capsys.readouterr()
    shown = f"{printed.out}{printed.err}{_drift_text(drift)}{_drift_text(Drift(text, (), 0))}"
    assert len(shown.splitlines()) == 4 + 6 + 1
    assert hostile.hidden(shown) == set()
    assert hostile.COMMAND.findall(shown) == []


def test_a_shell_is_offered_what_it_can_print() -> None:
    offered = _offered("", lambda: ["plain", *hostile.TERMINAL.values(), *hostile.RUNNER.values()])
    assert hostile.hidden("".join(offered)) == set()
    assert "plain" in offered


def test_only_the_console_writes_to_the_terminal(root: Path) -> None:
    """One place makes text visible, so that no command can forget it."""
    writers = [
        path.name
        for path in (root / "engine" / "claimsmith" / "cli").glob("*.py")
        if re.search(r"typer\.(echo|secho)|\bprint\(|sys\.std(out|err)\.write", path.read_text("utf-8"))
    ]
    assert writers == ["console.py"]
