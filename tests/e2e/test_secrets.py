"""Values are planted in Secrets, and then searched for in all that is written or printed: they are nowhere.

State, logs, previews, HTML, JSON, rendered YAML, generated code, bindings and the texts of errors. A new command that
prints something of a stack belongs into COMMANDS.
"""

from __future__ import annotations

import base64
import json
import subprocess
import urllib.parse
from pathlib import Path

import pytest

from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import SERVER, Rig

pytestmark = pytest.mark.e2e

PLANTED = {
    "password": "kaleidoscope-4711-canary",
    "username": 'can\'ary "user" <&> $(x) {{ y }}',
    "endpoint": "canary-4712.example.org",
}
LOGGED = "-v=5"
"""How much the engine logs. From 9 on its own trace shows every property that it is sent, secret or not."""
COMMANDS = (
    ("render", "dev"),
    ("render", "dev", "--output", "json"),
    ("explain", "dev", "CLAIM"),
    ("explain", "dev", "CLAIM", "--output", "json"),
    ("validate", "dev"),
    ("validate", "dev", "--output", "json"),
    ("classes",),
    ("crds",),
    ("bind", "dev", "--check", "--output", "json"),
    ("generate", "--check", "--output", "json"),
    ("status", "dev"),
    ("status", "dev", "--output", "json"),
    ("env",),
    ("review", "--stack", "dev", "-o", "review.md", "-o", "review.html", "-o", "review.json"),
    ("review", "--stack", "dev", "--preview", "--output", "json"),
    ("graph", "dev", "-o", "graph.svg"),
    ("graph", "dev", "-o", "graph.html"),
    ("drift", "dev"),
    ("drift", "dev", "--output", "json"),
)
"""What tells something of a stack."""


def forms(value: str) -> set[str]:
    """The value as it could stand in a text: as it is, encoded, escaped, quoted."""
    encoded = base64.b64encode(value.encode()).decode()
    return {
        value,
        encoded,
        encoded.rstrip("="),
        json.dumps(value)[1:-1],
        urllib.parse.quote(value),
        value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        value.encode().hex(),
    }


def found(rig: Rig, values: list[str]) -> list[str]:
    """Where any form of any value stands: names of files, and numbers of what was printed."""
    hidden = {form for value in values for form in forms(value)}
    files = {p: p.read_bytes() for p in rig.root.rglob("*") if p.is_file()}
    in_files = [str(p.relative_to(rig.root)) for p, data in files.items() if any(h.encode() in data for h in hidden)]
    return in_files + [f"output {n}" for n, text in enumerate(rig.said) if any(h in text for h in hidden)]


def plant(rig: Rig, namespace: str) -> dict[str, str]:
    place: dict[str, str] = rig.one(SERVER, claim="sql", namespace=namespace)["spec"]["writeConnectionSecretToRef"]
    rig.set_secret(place["namespace"], place["name"], PLANTED)
    return place


def test_no_secret_in_plain_text_anywhere(rig: Rig) -> None:
    namespace = rig.name
    rig.namespace(namespace)
    rig.write("components/private-mysql-server/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.prepare("dev")
    _commit(rig.root)
    rig.ok(rig.up("dev"))
    place = plant(rig, namespace)
    key = rig.kubeconfig.read_text().split("client-key-data: ")[-1].split()[0]
    passphrase = (rig.root / ".claimsmith" / "passphrase").read_text()
    values = [*PLANTED.values(), base64.b64decode(key).decode()]

    rig.ok(rig.pulumi("preview", "--stack", "dev", "--diff"))
    rig.ok(rig.pulumi("preview", "--stack", "dev", "--json"))
    rig.ok(rig.pulumi("up", "--stack", "dev", "--yes", "--diff", "--logtostderr", LOGGED))
    assert rig.secret_values(namespace, "sql") == rig.secret_values(place["namespace"], place["name"])
    assert rig.secret_values(namespace, "sql")["username"] == PLANTED["username"]
    rig.ok(rig.pulumi("refresh", "--stack", "dev", "--yes", "--diff"))
    rig.ok(rig.pulumi("stack", "output", "--stack", "dev", "--json"))
    rig.ok(rig.pulumi("stack", "export", "--stack", "dev"))

    rig.write("stacks/dev/claims/sql.yaml", claim(namespace, storageGB=20))
    address = f"MySQLInstance.database.example.org/{namespace}/sql"
    for command in COMMANDS:
        ran = rig.claimsmith(*(word.replace("CLAIM", address) for word in command))
        assert ran.code != 2, f"no such command, or no such option: {ran.text}"

    state = [p for p in rig.root.rglob("*.json") if "state" in p.parts]
    assert state, "the state is among what is searched"
    assert found(rig, values) == []
    assert [text for text in rig.said if passphrase in text] == []


def test_no_secret_in_the_texts_of_errors(rig: Rig) -> None:
    namespace = rig.name
    rig.namespace(namespace)
    klass = private_mysql()
    rig.write("components/private-mysql-server/class.yaml", klass)
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    place = plant(rig, namespace)
    rig.ok(rig.up("dev"))

    # The claim's Secret is asked for under another name, which somebody else has taken.
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace, writeConnectionSecretToRef={"name": place["name"]}))
    rig.write("stacks/dev/claims/other.yaml", claim(namespace, name="other"))
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    other = rig.one(SERVER, claim="other", namespace=namespace)["spec"]["writeConnectionSecretToRef"]
    rig.set_secret(other["namespace"], other["name"], PLANTED)
    rig.delete_secret(place["namespace"], place["name"])
    failed = rig.up("dev", "--diff", "--logtostderr", LOGGED)
    assert failed.code != 0
    assert place["name"] in failed.text
    debugged = rig.pulumi("up", "--stack", "dev", "--yes", "--skip-preview", env={"CLAIMSMITH_DEBUG": "1"})
    assert debugged.code != 0
    assert found(rig, list(PLANTED.values())) == []


def _commit(root: Path) -> None:
    """What a review compares with."""
    for command in (
        ["init", "-q"],
        ["add", "-A", "components", "stacks", "Pulumi.yaml"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
