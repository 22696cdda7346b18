"""Values are planted in Secrets, and then searched for in all that is written or printed: they are nowhere.

State, logs, previews, HTML, JSON, rendered YAML, generated code, bindings, temporary files, the user's home and the
texts of errors. A new command that prints something of a stack belongs into COMMANDS.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import urllib.parse
from pathlib import Path

import pytest
import yaml

from claimsmith.base.user_folders import cache_folder
from claimsmith.toolchain import engine_wrapper, parts
from tests.e2e.examples import claim, private_mysql
from tests.e2e.faults import Run
from tests.e2e.rig import SERVER, Rig, eventually
from tests.support.malformed_kubeconfigs import MALFORMED, ONE_LINE, UNUSABLE
from tests.support.malformed_kubeconfigs import PLANTED as IN_KUBECONFIGS

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


@pytest.fixture
def rig(rig: Rig) -> Rig:
    """A project whose commands write all that they write beside it: temporary files, and the user's home."""
    home, plugins = rig.root.parent / "home", parts.plugins_folder()
    (home / ".pulumi").mkdir(parents=True)
    (home / ".pulumi" / "plugins").symlink_to(plugins)
    (rig.root.parent / "tmp").mkdir()
    rig.settings |= {
        "TMPDIR": str(rig.root.parent / "tmp"),
        "HOME": str(home),
        "PULUMI_HOME": str(home / ".pulumi"),
        "CLAIMSMITH_CACHE": str(cache_folder()),
    }
    return rig


def temporary(rig: Rig) -> list[str]:
    """All temporary files, wherever they are."""
    folders = (rig.root.parent / "tmp", rig.root / ".claimsmith" / "tmp")
    return [str(p.relative_to(rig.root.parent)) for folder in folders for p in folder.rglob("*")]


def no_temporary_files(rig: Rig) -> bool:
    """Whether there are none. What a run leaves is removed as soon as the last of its processes has ended."""
    return bool(eventually(lambda: not temporary(rig)))


def found(rig: Rig, values: list[str]) -> list[str]:
    """Where any form of any value stands: names of files, and numbers of what was printed."""
    hidden = {form for value in values for form in forms(value)}
    all_of_it = rig.root.parent
    files = {p: p.read_bytes() for p in all_of_it.rglob("*") if p.is_file()}
    in_files = [str(p.relative_to(all_of_it)) for p, data in files.items() if any(h.encode() in data for h in hidden)]
    return in_files + [f"output {n}" for n, text in enumerate(rig.printed) if any(h in text for h in hidden)]


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
    assert no_temporary_files(rig)
    assert found(rig, values) == []
    assert [text for text in rig.printed if passphrase in text] == []


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


def deployed(rig: Rig) -> Rig:
    rig.namespace(rig.name)
    rig.write("components/private-mysql-server/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    return rig


def test_a_run_leaves_no_temporary_file(rig: Rig) -> None:
    deployed(rig)
    assert no_temporary_files(rig)
    for command in (("preview",), ("up", "--yes"), ("refresh", "--yes"), ("destroy", "--yes")):
        rig.ok(rig.pulumi(*command, "--stack", "dev"))
        assert no_temporary_files(rig)
    assert not [text for text in rig.printed if "leaves a copy of the kubeconfig" in text]


def test_two_runs_at_once_keep_their_own_files(rig: Rig) -> None:
    deployed(rig)
    rig.write("stacks/test/claims/sql.yaml", claim(rig.name, name="other"))
    rig.prepare("test")
    slow, quick = Run(rig, "dev", "--refresh"), Run(rig, "test")
    assert [slow.ended(), quick.ended()] == [0, 0], slow.text + quick.text
    assert no_temporary_files(rig)


def test_a_killed_run_leaves_no_temporary_file(rig: Rig) -> None:
    deployed(rig)
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name, storageGB=20))
    run = Run(rig, "dev")
    provider = eventually(lambda: run.part("provider"))
    eventually(lambda: any("kubeconfig" in name for name in temporary(rig)))
    for pid in (run.process.pid, provider):
        os.kill(pid, signal.SIGKILL)
    run.ended()
    rig.ok(rig.claimsmith("recover", "dev", "--yes"))
    assert no_temporary_files(rig)


def test_what_a_dead_run_left_is_removed_by_recover(rig: Rig) -> None:
    deployed(rig)
    assert no_temporary_files(rig)
    folder = rig.root / ".claimsmith" / "tmp" / "run-4711-abc"
    folder.mkdir(mode=0o700)
    (folder / "kubeconfig4711").write_text(rig.kubeconfig.read_text())
    assert "nothing to recover in dev" in rig.ok(rig.claimsmith("recover", "dev")).text
    assert no_temporary_files(rig)


def test_a_run_without_our_settings_is_warned_and_tidied_up_after(rig: Rig) -> None:
    deployed(rig)
    assert no_temporary_files(rig)
    with_wrapper = rig.environment
    bare = os.pathsep.join(f for f in with_wrapper["PATH"].split(os.pathsep) if f != str(engine_wrapper.write()))
    plain = {"PATH": bare, "CLAIMSMITH_PRIVATE": ""}

    first = rig.ok(rig.pulumi("up", "--stack", "dev", "--yes", "--skip-preview", env=plain))
    assert "leaves a copy of the kubeconfig" in first.text
    assert 'eval "$(claimsmith env)"' in first.text
    [copy] = temporary(rig)
    rig.ok(rig.pulumi("up", "--stack", "dev", "--yes", "--skip-preview", env=plain))
    assert len(temporary(rig)) == 1, "the next run removes what the last one left"
    assert temporary(rig) != [copy]
    assert "left by a provider that is gone" in rig.ok(rig.claimsmith("recover", "dev", "--yes")).text
    assert no_temporary_files(rig)


WRONG = {
    **{name: MALFORMED[name][0] for name in (
        "unbalanced-json-on-one-line", "token-that-is-an-alias", "control-character", "wrong-base64-of-the-key",
    )},
    "token-alone": ONE_LINE["token-alone"],
    "exec-that-fails": UNUSABLE["exec-that-fails"],
}  # fmt: skip
"""Settings that are wrong, each with planted secrets; all of them: tests/project/test_kubeconfig_setting.py."""
PLACES = {name: MALFORMED[name][1] for name in WRONG if name in MALFORMED}
CODES = {**dict.fromkeys(WRONG, (1, True)), "exec-that-fails": (0, True)}
"""How `recover` ends, which warns where nobody can log in just now; and whether a preview fails."""


def test_no_command_prints_a_wrong_kubeconfig(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/private-mysql-server/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    config = (rig.root / "stacks" / "Pulumi.dev.yaml").read_text()
    _commit(rig.root)
    rig.printed.clear()
    ran = {}
    for name, text in WRONG.items():
        rig.write("stacks/Pulumi.dev.yaml", _with_setting(config, text))
        ran[name] = (rig.claimsmith("recover", "dev"), rig.pulumi("preview", "--stack", "dev"))
    reviewed = rig.claimsmith("review", "--stack", "dev", "--preview", "--output", "json")
    rig.write("stacks/Pulumi.dev.yaml", config)

    assert {name: (r.code, p.code != 0) for name, (r, p) in ran.items()} == CODES
    assert reviewed.code == 1
    assert [n for n, place in PLACES.items() if not all(place in one.text for one in ran[n])] == []
    assert [text for text in rig.printed if any(secret in text for secret in IN_KUBECONFIGS)] == []
    assert [text for text in rig.printed if "Traceback" in text or "bug of claimsmith" in text] == []
    assert no_temporary_files(rig)


def _with_setting(config: str, text: str) -> dict[str, object]:
    """A stack's settings with another kubeconfig, not even declared as a secret: the engine masks nothing then."""
    settings = yaml.safe_load(config)
    return {**settings, "config": {**settings["config"], "claimsmith:kubeconfig": text}}


def _commit(root: Path) -> None:
    """What a review compares with."""
    for command in (
        ["init", "-q"],
        ["add", "-A", "components", "stacks", "Pulumi.yaml"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
