"""A project's private folder: local state, passphrase, and the settings with which `pulumi` runs here.

Local state is the default, so that nobody needs an account; a team that sets a backend, a secrets
provider or a passphrase of its own keeps it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Mapping
from typing import Any

from claimsmith import toolchain
from claimsmith.errors import DeployError, Problem
from claimsmith.project import Project, write_atomically

STATE = "state"
PASSPHRASE = "passphrase"


def prepare(project: Project) -> None:
    """Make the private folder: a place for local state, and a passphrase that only this user can read."""
    project.private.mkdir(mode=0o700, exist_ok=True)
    (project.private / STATE).mkdir(mode=0o700, exist_ok=True)
    passphrase = project.private / PASSPHRASE
    if not passphrase.exists():
        write_atomically(passphrase, secrets.token_urlsafe(32), mode=0o600)


def settings(project: Project, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment variables that `pulumi` needs here, beside those that are set already."""
    base = dict(os.environ if base is None else base)
    prepare(project)
    wanted = toolchain.environment(base)
    if not {"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"} & base.keys():
        wanted["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(project.private / PASSPHRASE)
    return {name: value for name, value in wanted.items() if base.get(name) != value}


def environment(project: Project, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment to run `pulumi` in."""
    base = dict(os.environ if base is None else base)
    return {**base, **settings(project, base)}


def refresh_preview(project: Project, stack: str) -> dict[str, Any]:
    """What a refresh of the stack would find, as the engine tells it. Nothing is changed."""
    toolchain.require("pulumi")
    command = ["pulumi", "refresh", "--preview-only", "--json", "--stack", stack, "--non-interactive"]
    done = subprocess.run(command, cwd=project.root, env=environment(project), capture_output=True, text=True)
    if done.returncode:
        raise DeployError(
            Problem(
                f"the engine cannot tell what a refresh of {stack!r} would find: {_reason(done)}",
                fix=f"see what it says: pulumi refresh --preview-only --stack {stack}",
            )
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Why a command of the engine failed: what it says on standard error, else its diagnostics."""
    if done.stderr.strip():
        return done.stderr.strip().removeprefix("error: ")
    try:
        diagnostics = json.loads(done.stdout).get("diagnostics") or ()
    except ValueError:
        return done.stdout.strip()[-1000:] or f"exit code {done.returncode}"
    told = [str(d.get("message", "")).strip() for d in diagnostics if d.get("severity") == "error"]
    return "; ".join(dict.fromkeys(told)) or f"exit code {done.returncode}"


def stack_outputs(project: Project, stack: str) -> dict[str, Any]:
    """What the stack's last `up` exported."""
    toolchain.require("pulumi")
    command = ["pulumi", "stack", "output", "--json", "--stack", stack, "--non-interactive"]
    done = subprocess.run(command, cwd=project.root, env=environment(project), capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().removeprefix("error: ")
        raise DeployError(
            Problem(f"the stack {stack!r} cannot be read: {reason}", fix=f"run: pulumi up --stack {stack}")
        )
    outputs: dict[str, Any] = json.loads(done.stdout)
    return outputs
