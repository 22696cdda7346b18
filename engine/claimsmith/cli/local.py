"""`claimsmith local`: a real control plane on this machine, with a simulated cloud behind it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimsmith.cli import completion, console

if TYPE_CHECKING:
    from claimsmith.local import Status

app = typer.Typer(
    no_args_is_help=True,
    help="Run a control plane on this machine, with a simulated cloud.",
    rich_markup_mode=None,
)


@app.command()
@console.command
def up(
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack", help="Install the definitions that this stack needs.", autocompletion=completion.stacks
        ),
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate/--no-simulate", help="Run the simulated cloud, which plays the providers.")
    ] = True,
    output: console.Output = console.Format.text,
) -> None:
    """Start the control plane in the background.

    Does nothing where it runs already.

    Example: claimsmith local up --stack dev && export KUBECONFIG=$PWD/.claimsmith/local/kubeconfig
    """
    from claimsmith import local, project

    signal.signal(signal.SIGTERM, _interrupt)
    root = project.find_root()
    crds = project.crds_needed(root, stack)
    with console.steps("local control plane") as report:
        status = local.up(root, crds=crds, simulate=simulate, report=report)
    _show(status, output)


@app.command()
@console.command
def down(
    wipe: Annotated[bool, typer.Option("--wipe", help="Remove its data, ports and identity too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before removing.")] = False,
    output: console.Output = console.Format.text,
) -> None:
    """Stop the control plane. Its data stays unless --wipe is given.

    Example: claimsmith local down --wipe --yes
    """
    from claimsmith import local, project

    root = project.find_root()
    if wipe and not yes:
        where = local.status(root).kubeconfig.parent
        typer.confirm(f"Remove everything in {where}, and what is deployed there with it?", abort=True, err=True)
    with console.steps("local control plane") as report:
        done = local.down(root, wipe=wipe, report=report)
    if output == console.Format.json:
        console.print_json({"stopped": done, "wiped": wipe})
    else:
        console.say("stopped and wiped" if wipe else "stopped" if done else "nothing was running")


@app.command()
@console.command
def status(output: console.Output = console.Format.text) -> None:
    """Show whether the control plane runs.

    Exit code 0 where it runs, 1 where it does not.

    Example: claimsmith local status --output json
    """
    from claimsmith import local, project

    told = local.status(project.find_root())
    _show(told, output)
    if not told.running:
        raise typer.Exit(1)


def _show(status: Status, output: console.Format) -> None:
    if output == console.Format.json:
        console.print_json(status.to_dict())
        return
    rows = [
        (
            part.name,
            "running" if part.running else "stopped",
            str(part.pid or "-"),
            str(part.port or "-"),
            str(part.log),
        )
        for part in status.parts
    ]
    console.print_table(("PART", "STATE", "PID", "PORT", "LOG"), rows)
    if status.running:
        console.say("")
        console.say(f"API server:  {status.endpoint}")
        console.say(f"kubeconfig:  {status.kubeconfig}")
        console.say(f"identity:    {status.identity}")
    else:
        console.say("")
        console.say("not running; to start it: claimsmith local up")


def _interrupt(_number: int, _frame: Any) -> None:
    """End as Ctrl-C does, so that what was started is stopped."""
    raise KeyboardInterrupt
