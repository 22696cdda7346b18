"""The settings by which a stack deploys to the PostgreSQL server on this machine."""

from __future__ import annotations

import json

from claimsmith.base.errors import DeployError, Problem
from claimsmith.lab.postgresql import Server
from claimsmith.project import workspace
from claimsmith.project.project import Project

PACKAGE = "postgresql"
_SECRET = f"{PACKAGE}:password"


def configure(project: Project, stack: str, server: Server) -> bool:
    """Create the stack where it is missing, and let it deploy to the server; returns whether a setting changed."""
    project.check_stack(stack)
    _run(project, stack, "stack", "select", stack, "--create")
    wanted = {
        f"{PACKAGE}:host": server.host,
        f"{PACKAGE}:port": str(server.port),
        f"{PACKAGE}:username": server.user,
        f"{PACKAGE}:sslmode": "disable",
        _SECRET: server.password_file.read_text(encoding="utf-8").strip(),
    }
    entries = json.loads(_run(project, stack, "config", "--json", "--show-secrets", "--stack", stack))
    if all(entries.get(name, {}).get("value") == value for name, value in wanted.items()):
        # A secret that is set again is encrypted again: the file of a stack would change for nothing.
        return False
    plain = [word for name, value in wanted.items() if name != _SECRET for word in ("--plaintext", f"{name}={value}")]
    _run(project, stack, "config", "set-all", "--stack", stack, *plain)
    # By standard input: arguments are visible to all users of a machine.
    _run(project, stack, "config", "set", "--stack", stack, "--secret", _SECRET, stdin=wanted[_SECRET])
    return True


def _run(project: Project, stack: str, *words: str, stdin: str | None = None) -> str:
    done = workspace.pulumi(project, *words, stdin=stdin)
    if not done.returncode:
        return done.stdout
    workspace.refuse_unfit(project, stack)
    what = f"the settings of {stack!r} cannot be written: {workspace.errors_in(done.stderr)}"
    raise DeployError(Problem(what, fix=f"see its output: pulumi {' '.join(words[:2])} --stack {stack}"))
