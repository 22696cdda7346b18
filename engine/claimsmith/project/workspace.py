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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claimsmith import toolchain
from claimsmith.base.documents import MAX_TEXT
from claimsmith.base.errors import ConnectionError_, DeployError, EngineError, Problem
from claimsmith.base.printable import one_line
from claimsmith.kubernetes import kubeconfig as kubeconfigs
from claimsmith.project import backend_errors
from claimsmith.project.encryption import JOIN, LOCAL, PASSPHRASE, unfit
from claimsmith.project.load import shown
from claimsmith.project.project import Project
from claimsmith.project.writing import private_folder, write_atomically
from claimsmith.toolchain import engine_wrapper, private_runs

if TYPE_CHECKING:
    from claimsmith.kubernetes.client import Cluster

KUBECONFIG = "claimsmith:kubeconfig"
"""The setting that holds or names a stack's kubeconfig. Its value is never printed: it may be a secret, wherever it
was meant to be a path."""
STATE = "state"
BACKEND_URL = "PULUMI_BACKEND_URL"
"""The engine's variable, which comes before the backend of Pulumi.yaml."""
PARALLEL = "PULUMI_DIY_BACKEND_PARALLEL"
"""How many stacks the engine reads at once. In PostgreSQL each holds a connection while it waits for a second one, and
there are twice as many as processors: with eight stacks and two processors, `stack ls` hangs (seen in 3.259)."""
# Engines from 3.257 on refuse `state upgrade` itself without the variable; older ones do not read Pulumi.yaml for it.
UPGRADE = "PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=true pulumi state upgrade --yes"
_NO_STACK = "no stack named"
"""In what the engine prints where a stack was never created."""
LOGIN = "log in: pulumi login; or name a backend in Pulumi.yaml"


def prepare(project: Project) -> None:
    """Create the private folder: a place for local state, and a passphrase that only this user can read."""
    state = private_folder(private_folder(project.private) / STATE)
    if not (state / ".pulumi").exists():
        # Stacks by project, whatever PULUMI_DIY_BACKEND_LEGACY_LAYOUT says: engines from 3.257 on refuse the other one.
        write_atomically(state / ".pulumi" / "meta.yaml", "version: 1\n")
    passphrase = project.private / PASSPHRASE
    if not passphrase.exists():
        write_atomically(passphrase, secrets.token_urlsafe(32), mode=0o600)


def is_legacy(state: Path) -> bool:
    """Whether local state has the layout from before stacks belonged to projects."""
    meta = state / ".pulumi" / "meta.yaml"
    if meta.exists():
        return "version: 0" in meta.read_text(encoding="utf-8").splitlines()
    return any((state / ".pulumi" / "stacks").glob("*.json*"))


def legacy_state(project: Project) -> Problem | None:
    """The problem of local state that has the older layout, which engines from 3.257 on refuse to read."""
    if not is_legacy(project.private / STATE):
        return None
    folder = (project.private / STATE).relative_to(project.root)
    what = f"the state in {folder} has the layout from before stacks belonged to projects, which newer engines refuse"
    return Problem(
        what, fix=f'upgrade it once: eval "$(claimsmith env)" && PULUMI_BACKEND_URL=file://./{folder} {UPGRADE}'
    )


def settings(project: Project, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment variables that `pulumi` needs here, beside those that are set already."""
    base = dict(os.environ if base is None else base)
    prepare(project)
    wanted = toolchain.environment(base)
    wanted |= _private_runs(project, wanted)
    if not {"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"} & base.keys():
        wanted["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(project.private / PASSPHRASE)
    if _in_postgresql(project, base) and PARALLEL not in base:
        wanted[PARALLEL] = "1"
    return {name: value for name, value in wanted.items() if base.get(name) != value}


def _in_postgresql(project: Project, env: Mapping[str, str]) -> bool:
    """Whether the state is in a PostgreSQL database, by the variable or by Pulumi.yaml."""
    file = project.root / "Pulumi.yaml"
    place = env.get(BACKEND_URL) or (file.read_text(encoding="utf-8") if file.is_file() else "")
    return "postgres://" in place or "postgresql://" in place


def _private_runs(project: Project, env: Mapping[str, str]) -> dict[str, str]:
    """The variables by which each run uses a temporary folder of its own; none where the cache cannot be written to."""
    try:
        folder = str(engine_wrapper.write(env))
    except OSError:
        return {}
    rest = [f for f in env["PATH"].split(os.pathsep) if f != folder]
    return {"PATH": os.pathsep.join([folder, *rest]), private_runs.PRIVATE: str(project.private.absolute())}


def environment(project: Project, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment to run `pulumi` in."""
    base = dict(os.environ if base is None else base)
    return {**base, **settings(project, base)}


def require(project: Project) -> None:
    """Make sure that there is an engine, and that it can read the project's local state."""
    toolchain.require("pulumi")
    if problem := legacy_state(project):
        raise DeployError(problem)


def refresh_preview(project: Project, stack: str) -> dict[str, Any]:
    """What a refresh of the stack would change, as the engine reports it. Nothing is changed."""
    done = pulumi(project, "refresh", "--preview-only", "--json", "--stack", stack)
    if done.returncode:
        reason = _reason(done)
        if _NO_STACK in reason:
            raise unreadable(stack, reason)
        what = f"the engine cannot preview a refresh of {stack!r}: {reason}"
        raise DeployError(Problem(what, fix=f"see its output: pulumi refresh --preview-only --stack {stack}"))
    preview: dict[str, Any] = json.loads(done.stdout)
    return preview


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Why a command of the engine failed: its standard error, else its diagnostics."""
    if done.stderr.strip():
        return one_line(done.stderr.strip().removeprefix("error: "))
    try:
        diagnostics = json.loads(done.stdout).get("diagnostics") or ()
    except ValueError:
        return one_line(done.stdout[-1000:]) or f"exit code {done.returncode}"
    errors = [one_line(str(d.get("message", ""))) for d in diagnostics if d.get("severity") == "error"]
    return "; ".join(dict.fromkeys(errors)) or f"exit code {done.returncode}"


def pulumi(
    project: Project, *arguments: str, stdin: str | None = None, url: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `pulumi` in the project, without prompts; `stdin` is its standard input, `url` a backend to use instead."""
    require(project)
    command = ["pulumi", *arguments, "--non-interactive"]
    env = environment(project, {**os.environ, BACKEND_URL: url} if url else None)
    return subprocess.run(command, cwd=project.root, env=env, capture_output=True, text=True, input=stdin)


def export_state(project: Project, stack: str, *, show_secrets: bool = False, url: str = "") -> dict[str, Any]:
    """The stack's state. With its secrets it is for reading in memory alone: never printed, never written."""
    return _read(project, stack, "stack", "export", *(["--show-secrets"] if show_secrets else []), url=url)


def import_state(project: Project, stack: str, state: Mapping[str, Any], *, url: str = "") -> None:
    """Make this the stack's state. The engine checks it, and keeps the one before in its history."""
    done = pulumi(project, "stack", "import", "--stack", stack, stdin=json.dumps(state), url=url)
    if done.returncode:
        fix = "nothing was changed; fix that and run the command again"
        raise refused(f"the state of {stack!r} cannot be written", done.stderr, fix=fix)


def settings_of(project: Project, stack: str) -> dict[str, str]:
    """The stack's settings of claimsmith, by name. They may hold secrets: they are not for printing."""
    entries = _read(project, stack, "config", "--json", "--show-secrets")
    config = {key: str(entry.get("value", "")) for key, entry in entries.items()}
    return {key.partition(":")[2]: value for key, value in config.items() if key.startswith("claimsmith:")}


def stack_cluster(project: Project, kubeconfig: str | None, context: str | None) -> Cluster:
    """The cluster of a stack, by its settings; the one that kubectl would use where there are none."""
    from claimsmith.kubernetes.client import Cluster

    text, file = read_kubeconfig(project, kubeconfig)
    kubeconfigs.select(text, context, file=file)
    return Cluster(text, context, file=file)


def read_kubeconfig(project: Project, setting: str | None) -> tuple[str, str]:
    """The text of a stack's kubeconfig, and where it comes from: what its setting holds or names, else kubectl's."""
    if setting and kubeconfigs.is_text(setting):
        return setting, KUBECONFIG
    fix = "for the local control plane run: claimsmith local up; else set claimsmith:kubeconfig for the stack"
    refusal: type[EngineError] = DeployError
    if setting:
        refusal, path = ConnectionError_, project.root / setting
        what = f"{KUBECONFIG} is neither the text of a kubeconfig nor a file that can be read"
    else:
        named = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
        path = Path(named or Path.home() / ".kube" / "config")
        what = f"{'the file that KUBECONFIG names' if named else '~/.kube/config'} cannot be read"
    try:
        with path.open(encoding="utf-8") as file:
            # One more than is allowed: what is too large is refused by its length, and not read to its end.
            return file.read(MAX_TEXT + 1), shown(path, project.root)
    except OSError as error:
        raise refusal(Problem(f"{what}: {error.strerror}", fix=fix)) from None
    except ValueError:
        raise refusal(Problem(f"{what}: it is not UTF-8 text", fix=fix)) from None


def backend(project: Project) -> str:
    """The address of the backend that keeps the state."""
    done = pulumi(project, "whoami", "--verbose", "--json")
    if done.returncode:
        raise refused("the backend cannot be read", done.stderr, fix=LOGIN)
    return str(json.loads(done.stdout).get("url", ""))


def refused(what: str, output: str, *, fix: str) -> DeployError:
    """The error of a command that the backend refused, by its cause where that is known."""
    reason, remedy = backend_errors.explained(output) or (errors_in(output), fix)
    return DeployError(Problem(f"{what}: {reason}", fix=remedy))


def errors_in(output: str) -> str:
    """The errors in what the engine printed, on one line; all of it where it names none."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return "; ".join(dict.fromkeys(named or lines)) or "it printed nothing"


def refuse_unfit(project: Project, stack: str) -> None:
    """Refuse a passphrase that does not fit the stack: until it does, no other command of the engine works there."""
    if problems := unfit(project, os.environ, stack):
        raise DeployError(*problems)


def unreadable(stack: str, output: str) -> DeployError:
    """The error of a stack that the engine cannot read."""
    if "Legacy DIY state" in output:
        what = f"the stack {stack!r} cannot be read: the backend has the layout from before stacks belonged to projects"
        return DeployError(Problem(what, fix=f"upgrade it once: {UPGRADE}"))
    reason, fix = errors_in(output), f"run: pulumi up --stack {stack}"
    if found := backend_errors.explained(output):
        reason, fix = found
    if _NO_STACK in output:
        fix = f"create it: pulumi stack select {stack} --create; then run: pulumi up --stack {stack}"
    if "failed to load checkpoint" in output:
        fix = f"if a run was killed, see what it left behind: claimsmith recover {stack}"
    if "passphrase" in output:
        fix = (
            f"with the passphrase that the stack was created with, run: {JOIN}, or set PULUMI_CONFIG_PASSPHRASE; "
            f"for a stack of your own on this machine, run: {LOCAL}"
        )
    return DeployError(Problem(f"the stack {stack!r} cannot be read: {reason}", fix=fix))


def stack_outputs(project: Project, stack: str, *, show_secrets: bool = False) -> dict[str, Any]:
    """What the stack's last `up` exported. With its secrets it is for whoever asked for them: never for a log."""
    return _read(project, stack, "stack", "output", "--json", *(["--show-secrets"] if show_secrets else []))


def _read(project: Project, stack: str, *arguments: str, url: str = "") -> dict[str, Any]:
    """What a command of the engine prints of a stack as JSON."""
    if "--show-secrets" in arguments:
        # Older engines (3.215) leave out what they cannot decrypt, and succeed.
        refuse_unfit(project, stack)
    done = pulumi(project, *arguments, "--stack", stack, url=url)
    if done.returncode:
        refuse_unfit(project, stack)
        raise unreadable(stack, done.stderr)
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
