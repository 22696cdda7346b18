"""`--help` of every command: values that people can read, whole sentences, and flags that mean one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from claimsmith.cli.app import app

VALUE = re.compile(r"[A-Z][A-Z0-9%|=/:-]*(\|cluster)?|<[a-z0-9-]+(\|[a-z0-9-]+)+>|\[[a-z0-9-]+(\|[a-z0-9-]+)+\]")
"""A word that says what a value is, or the list of what it may be; how typer brackets a list differs by version."""
FILES = {"connection", "graph", "review"}
"""The commands that write their result to the file of `-o`."""
WIDTHS = (40, 60, 80, 120, 200)


def commands() -> Iterator[tuple[list[str], typer.core.TyperCommand]]:
    """Every command and group, by its words."""
    todo = [([], typer.main.get_command(app))]
    while todo:
        words, command = todo.pop(0)
        yield words, command
        todo += [([*words, name], inner) for name, inner in getattr(command, "commands", {}).items()]


COMMANDS = [pytest.param(words, command, id=" ".join(words) or "all") for words, command in commands()]
LONE = [pytest.param(command, id=" ".join(words) or "all") for words, command in commands()]


def help_of(command: typer.core.TyperCommand, width: int = 80) -> str:
    """What `--help` prints on a terminal of this width."""
    context = typer.Context(command, info_name="x", help_option_names=["-h", "--help"], terminal_width=width)
    return command.get_help(context)


def sections(command: typer.core.TyperCommand, width: int = 80) -> dict[str, str]:
    """The parts of a help by their headings, each on one line."""
    found = {"": ""}
    for line in help_of(command, width).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            found[line[:-1]] = ""
        else:
            last = [*found][-1]
            found[last] = f"{found[last]} {line.strip()}".strip()
    return found


def flags(command: typer.core.TyperCommand) -> dict[str, str]:
    """The flags of a command as its help writes them, each with its value."""
    shown = help_of(command).partition("\nOptions:\n")[2]
    found = {}
    for line in shown.splitlines():
        if match := re.match(r"  (-[^\s,]+(?:, -[^\s,]+)*)(?: (\S+))?(?:  |$)", line):
            found |= dict.fromkeys(match[1].split(", "), match[2] or "")
    return found


@pytest.mark.parametrize("command", LONE)
def test_values_are_shown_by_words_that_people_read(command: typer.core.TyperCommand) -> None:
    shown = flags(command)
    for parameter in command.params:
        if parameter.param_type_name == "argument" and not getattr(parameter, "hidden", False):
            assert VALUE.fullmatch(parameter.metavar or ""), parameter.name
    values = {flag: value for flag, value in shown.items() if value}
    assert "--help" in shown
    assert {flag: value for flag, value in values.items() if not VALUE.fullmatch(value)} == {}


def test_values_of_types_would_be_noticed() -> None:
    wrong = ("TEXT...", "<str>", "<list[str]>", "<path>", "text", "<lambda>", "[DIR]", "<int range>")
    assert [value for value in wrong if VALUE.fullmatch(value)] == []


@pytest.mark.parametrize("command", LONE)
def test_the_usage_names_each_argument(command: typer.core.TyperCommand) -> None:
    usage = help_of(command).partition("\n\n")[0]
    shown = [p for p in command.params if p.param_type_name == "argument" and not getattr(p, "hidden", False)]
    assert all((p.metavar if p.required else f"[{p.metavar}]") in usage for p in shown)
    assert re.findall(r"[{}a-z]", usage.removeprefix("Usage: x").replace("|cluster", "")) == []
    assert "[[" not in usage


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_each_flag_means_one_thing(words: list[str], command: typer.core.TyperCommand) -> None:
    """`--output` is the format of what is printed; `-o` is a path, and the file to write but for Crossplane's flags."""
    short = {opt: parameter for parameter in command.params for opt in parameter.opts}
    shown = flags(command)
    assert "|" in shown.get("--output", "a|b")
    if " ".join(words) == "render":
        assert "--observed-resources" in short["-o"].opts
    elif " ".join(words) in FILES:
        assert shown["-o"] == shown["--file"] == "FILE"
        assert "|" in shown["--output"]
    else:
        assert "-o" not in shown


def test_a_format_behind_the_flag_of_files_is_refused() -> None:
    result = CliRunner().invoke(app, ["render", "dev", "-o", "json"])
    assert result.exit_code == 2
    assert "use --output json" in result.stderr


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", LONE)
def test_sentences_are_whole_at_every_width(command: typer.core.TyperCommand, width: int) -> None:
    """What a help says is the same at every width: nothing is cut off, and only the breaks differ."""
    widest, shown = (sections(command, columns) for columns in (400, width))
    assert {heading: _letters(text) for heading, text in shown.items()} == {
        heading: _letters(text) for heading, text in widest.items()
    }
    assert "..." not in "".join(text for heading, text in shown.items() if heading).replace("]...", "")


def _letters(text: str) -> str:
    return "".join(text.split())
