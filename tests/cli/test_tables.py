"""Tables: fitted to a terminal without breaking a word, one line for a row everywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from claimsmith.cli import tables
from tests.support.paths import ROOT

Rows = Sequence[Sequence[str]]
BIND = ("CLAIM", "CLASS", "REASON", "CHANGE")
BOUND = [
    (
        "Database/default/orders",
        "private-mysql-server",
        "its labels match, and it has the greatest weight of the three classes that do",
        "bound",
    ),
    ("Database/default/users", "small", "classRef names it", "moved from private-mysql-server"),
]
STATUS = ("CLAIM AND CHILDREN", "CLASS OR NAME", "PHASE", "CONNECTION SECRET")
DEPLOYED = [
    ("Database/default/orders", "private-mysql-server", "Bound", "orders-conn (host, password, port, username)"),
    ("  MySQLServer", "default-orders-my-sql-server-1a2b3", "ready", ""),
    ("    MySQLServerVirtualNetworkRule", "default-orders-rule", "waiting for MySQLServer", ""),
]
RECOVER = ("FOUND", "STEP")
LEFT = [("a lock of process 4711 on this machine, which is gone", "remove .pulumi/locks/organization/shop/dev/1.json")]
FLEET = ("STACK", "STATE", "CHANGES", "TIME")
RAN = [(f"region-{n}-customer-{n}", "done", "12 create, 3 update, 1 replace, 140 same", "118 s") for n in range(3)]
PARTS = ("PART", "VERSION", "FROM", "PATH")
FOUND = [("pulumi-resource-kubernetes", "4.25.0", "plugins", "/data/somebody/.pulumi/plugins/kubernetes-v4.25.0/k8s")]
CLASSES = ("CLAIM", "CLASS", "IS A", "LABELS", "DEFAULT", "WEIGHT", "MAKES")
OFFERED = [
    (
        "MySQLDatabaseRequirement.acme.example.org",
        "mysqldatabases.acme.example.org",
        "composition",
        "cloud=azure, connectivity=private",
        "-",
        "0",
        "MySQLDatabaseRequirement, Deployment, Service",
    )
]
TABLES = [
    pytest.param(BIND, BOUND, id="bind"),
    pytest.param(STATUS, DEPLOYED, id="status"),
    pytest.param(RECOVER, LEFT, id="recover"),
    pytest.param(FLEET, RAN, id="fleet"),
    pytest.param(PARTS, FOUND, id="toolchain"),
    pytest.param(CLASSES, OFFERED, id="classes"),
]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(("columns", "rows"), TABLES)
def test_a_table_fits_and_breaks_no_word(columns: Sequence[str], rows: Rows, width: int) -> None:
    table = tables.lines(columns, rows, width)
    shown = [*table.header, *table.body]
    assert [line for line in shown if len(line) > width] == []
    printed = {word for line in shown for word in line.split()}
    wanted = {word for row in rows for cell in row if cell != "-" for word in cell.split() if not word.startswith("/")}
    assert wanted - printed == set()


@pytest.mark.parametrize(("columns", "rows"), TABLES)
def test_elsewhere_a_row_is_a_line_with_all_of_it(columns: Sequence[str], rows: Rows) -> None:
    table = tables.lines(columns, rows)
    assert [line.split() for line in table.header] == [" ".join(columns).split()]
    assert [line.split() for line in table.body] == [" ".join(row).split() for row in rows]


def test_wrapped_cells_stay_in_their_columns() -> None:
    table = tables.lines(("A", "B"), [("x", "one two three four"), ("  indented words here", "y")], 20)
    assert (table.header, table.body) == (
        ["A           B"],
        ["x           one two", "            three", "            four", "  indented  y", "  words", "  here"],
    )


def test_a_table_that_cannot_fit_is_a_list_of_blocks() -> None:
    table = tables.lines(
        ("CLAIM", "CLASS", "NOTE"), [("a-long-claim", "a-long-class", "it has two words"), ("b", "c", "-")], 24
    )
    assert (table.header, table.body) == (
        [],
        ["a-long-claim", "  CLASS  a-long-class", "  NOTE   it has two", "         words", "b", "  CLASS  c"],
    )


@pytest.mark.parametrize(
    ("width", "want"),
    [
        pytest.param(40, "/data/me/.cache/tools/bin/pulumi", id="it-fits"),
        pytest.param(30, "/data/me/.cache/tools/…/pulumi", id="one-folder-less"),
        pytest.param(18, "/data/me/…/pulumi", id="more-folders-less"),
        pytest.param(3, "…/pulumi", id="the-last-part-stays"),
    ],
)
def test_paths_are_shortened_in_their_middle(width: int, want: str) -> None:
    assert tables.shortened("/data/me/.cache/tools/bin/pulumi", width) == want


def printed(width: int | None, *words: str) -> str:
    """What a command prints to a terminal of this width, or to a pipe."""
    command = [sys.executable, "-m", "claimsmith.cli", *words]
    environment = {**os.environ, "COLUMNS": str(width or 80), "TERM": "xterm-256color", "NO_COLOR": "1"}
    if width is None:
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    ours, theirs = os.openpty()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(ours)
    return shown.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("words", [("classes",), ("classes", "--usage")], ids=" ".join)
def test_a_terminal_is_never_too_narrow(words: tuple[str, ...], width: int) -> None:
    piped, shown = printed(None, *words), printed(width, *words)
    assert [line for line in shown.splitlines() if len(line) > width] == []
    assert set(piped.split()) - set(shown.split()) <= {*piped.partition("\n")[0].split(), "-"}


def test_a_pipe_gets_whole_rows() -> None:
    header, *rows = printed(None, "classes").splitlines()
    assert header.startswith("CLAIM ")
    assert max(map(len, rows)) > 120
    assert all(len(row) > header.index("MAKES") for row in rows)
