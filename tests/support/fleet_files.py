"""Projects of many stacks, and a stand-in for the engine's program that does to each what a test wants."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from claimsmith.project.project import Project
from claimsmith.tools.generate import generate
from tests.support.samples import NETWORK, claim_data, class_data, class_ref, write_files

GIVEN_BY = "claimsmith.io/given-by"


def fleet(
    root: Path,
    stacks: Sequence[str],
    *,
    after: Mapping[str, Any] | None = None,
    given_by: Mapping[str, str] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> Project:
    """A project with one claim in each stack, bound by the way."""
    files: dict[str, str | bytes] = {"components/plain/class.yaml": yaml.safe_dump(class_data())}
    for stack in stacks:
        config: dict[str, Any] = {"claimsmith:bind": "auto"}
        config |= {"claimsmith:after": (after or {})[stack]} if stack in (after or {}) else {}
        config |= {"claimsmith:labels": (labels or {})[stack]} if stack in (labels or {}) else {}
        files[f"stacks/Pulumi.{stack}.yaml"] = yaml.safe_dump({"config": config})
        files[f"stacks/{stack}/claims/claim.yaml"] = yaml.safe_dump(claim_data(classRef=class_ref("plain")))
    for stack, other in (given_by or {}).items():
        metadata = {"name": "shared", "annotations": {GIVEN_BY: other}}
        files[f"stacks/{stack}/resources/shared.yaml"] = yaml.safe_dump({**NETWORK, "metadata": metadata})
    project = Project(write_files(root, files))
    generate(project, check=False)
    return project


def committed(root: Path) -> None:
    """Make the files of a project the first commit of a repository."""
    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    (root / ".gitignore").write_text(".claimsmith/\n")
    for words in (["init", "-q", "-b", "main"], ["add", "--all"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], cwd=root, check=True)


def named_lock(pid: int, host: str = "") -> str:
    """What the engine prints when it meets a lock in a backend that is no folder."""
    owner = f"ann@{host or socket.gethostname()} (pid {pid}) at 2126-01-01T00:00:00Z"
    key = "postgres://me@db/.pulumi/locks/organization/shop/a/1.json?table=shop"
    return f"error: the stack is currently locked by 1 lock(s). Either wait …\n  {key}: created by {owner}\n"


_PROGRAM = """\
import json, pathlib, signal, sys, time

words = sys.argv[1:]
here = pathlib.Path(__file__).parent
command, stack = words[0], words[words.index("--stack") + 1]
with (here / "calls.txt").open("a") as calls:
    calls.write(f"{command} {stack}\\n")
wanted = json.loads((here / "wanted.json").read_text()).get(stack) or {}
runs = (here / "calls.txt").read_text().split("\\n").count(f"{command} {stack}")
ops = wanted.get("ops", [["create"]])
ops = wanted.get("previews", ops) if command == "preview" else ops
ops = ops[min(runs, len(ops)) - 1]
stopped = []
signal.signal(signal.SIGINT, lambda *_: stopped.append(1))
print(f"this is {command} of {stack}", flush=True)
if wanted.get("locked", 0) >= runs:
    print("error: the stack is currently locked by 1 lock(s).")
    sys.exit(255)
with open(words[words.index("--event-log") + 1], "a") as log:
    def event(**what):
        log.write(json.dumps(what) + "\\n")
        log.flush()
    changes = {}
    for number, op in enumerate(ops):
        changes[op] = changes.get(op, 0) + 1
        metadata = {"op": op, "urn": f"urn:pulumi:{stack}::shop::random:Pet::p{number}", "old": {}}
        event(resourcePreEvent={"metadata": metadata})
        event(resOutputsEvent={"metadata": metadata})
    (here / f"{stack}.began").touch()
    until = time.monotonic() + wanted.get("seconds", 0)
    while time.monotonic() < until and not stopped:
        time.sleep(0.02)
    if stopped:
        sys.exit(255)
    if wanted.get("fails") == command:
        event(diagnosticEvent={"severity": "error", "message": "error: " + wanted.get("says", "no such database")})
        sys.exit(1)
    event(summaryEvent={"resourceChanges": changes})
"""


def engine_program(folder: Path, wanted: Mapping[str, Mapping[str, Any]]) -> Path:
    """A folder for PATH whose `pulumi` writes the events that are wanted of each stack.

    `ops` are the operations of each run, the last for all that follow, and `previews` those of previews where they
    differ; `fails` is the command that fails, `seconds` how long it takes, `locked` how often it finds a lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wanted.json").write_text(json.dumps(wanted))
    (folder / "calls.txt").write_text("")
    program = folder / "pulumi"
    program.write_text(f"#!{sys.executable} -IS\n{_PROGRAM}")
    program.chmod(0o755)
    return folder
