"""`claimsmith local`: real servers on this machine: a control plane with a simulated cloud, or PostgreSQL."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import arguments, completion, console
from claimsmith.cli.help import App

if TYPE_CHECKING:
    from claimsmith.lab import Status
    from claimsmith.lab.postgresql import Server

app = App(no_args_is_help=True, help="Run a control plane with a simulated cloud, or PostgreSQL, here.")


@app.command()
@console.command
def up(
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            metavar="STACK",
            help="Install the definitions that this stack needs; with --postgresql, let it deploy to the server.",
            autocompletion=completion.stacks,
        ),
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate/--no-simulate", help="Run the simulated cloud, which plays the providers.")
    ] = True,
    postgresql: Annotated[
        bool, typer.Option("--postgresql", help="Start a PostgreSQL server instead; no cluster, no toolchain.")
    ] = False,
    output: arguments.Output = console.Format.text,
) -> None:
    """Start the control plane in the background, or a PostgreSQL server.

    Does nothing where it runs already.

    Example: claimsmith local up --stack dev && export KUBECONFIG=$PWD/.claimsmith/local/kubeconfig
    """
    from claimsmith import lab
    from claimsmith.project import project

    # End as Ctrl-C does, so that what was started is stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    root = project.find_root()
    if stack:
        project.Project(root).check_stack(stack)
    if postgresql:
        from claimsmith.lab import postgresql as database

        with console.steps("local PostgreSQL") as report:
            server = database.up(root, report=report)
        if stack:
            from claimsmith.lab import postgresql_settings

            postgresql_settings.configure(project.Project(root), stack, server)
        _show_server(server, output)
        return
    crds = project.crds_needed(root, stack)
    with console.steps("local control plane") as report:
        status = lab.up(root, crds=crds, simulate=simulate, report=report)
    _show(status, output)


@app.command()
@console.command
def down(
    wipe: Annotated[bool, typer.Option("--wipe", help="Remove its data, ports and identity too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before removing.")] = False,
    output: arguments.Output = console.Format.text,
) -> None:
    """Stop the control plane and PostgreSQL. Their data stays unless --wipe is given.

    Example: claimsmith local down --wipe --yes
    """
    from claimsmith import lab
    from claimsmith.lab import postgresql

    root = console.find_project().root
    if wipe and not yes:
        where = (lab.status(root).kubeconfig.parent, postgresql.status(root).log.parent)
        folders = " and ".join(str(folder) for folder in where if folder.exists()) or where[0]
        typer.confirm(f"Remove everything in {folders}, and what is deployed there with it?", abort=True, err=True)
    with console.steps("local control plane") as report:
        done = lab.down(root, wipe=wipe, report=report)
        done = postgresql.down(root, wipe=wipe, report=report) or done
    if output == console.Format.json:
        console.print_json(Answer("local-down", {"stopped": done, "wiped": wipe}))
    else:
        console.say("stopped and wiped" if wipe else "stopped" if done else "nothing was running")


@app.command()
@console.command
def status(output: arguments.Output = console.Format.text) -> None:
    """Show whether the control plane runs, or PostgreSQL.

    Exit code 0 where one of them runs, 1 where neither does.

    Example: claimsmith local status --output json
    """
    from claimsmith import lab
    from claimsmith.lab import postgresql

    root = console.find_project().root
    status, server = lab.status(root), postgresql.status(root)
    if output == console.Format.json:
        console.print_json(Answer("local-status", {**status.to_dict(), "postgresql": server.to_dict()}))
    else:
        # One of them is enough for most projects: the other is shown only where it was started once.
        used = server.running or server.log.parent.is_dir()
        if status.running or not used or (status.kubeconfig.is_file() and not server.running):
            _show(status, output)
        if used:
            _show_server(server, output)
    if not status.running and not server.running:
        raise typer.Exit(1)


def _show_server(server: Server, output: console.Format) -> None:
    if output == console.Format.json:
        console.print_json(Answer("local-up-postgresql", server.to_dict()))
        return
    if not server.running:
        console.say("PostgreSQL:  not running; to start it: claimsmith local up --postgresql")
        return
    console.say(f"PostgreSQL:  {server.host}:{server.port}, user {server.user}")
    console.say(f"password:    {server.password_file}")
    console.say(f"log:         {server.log}")


def _show(status: Status, output: console.Format) -> None:
    if output == console.Format.json:
        console.print_json(Answer("local-up", status.to_dict()))
        return
    rows = [
        (p.name, "running" if p.running else "stopped", str(p.pid or "-"), str(p.port or "-"), str(p.log))
        for p in status.parts
    ]
    console.print_table(("PART", "STATE", "PID", "PORT", "LOG"), rows)
    console.say("")
    if status.running:
        console.say(f"API server:  {status.endpoint}")
        console.say(f"kubeconfig:  {status.kubeconfig}")
        console.say(f"identity:    {status.identity}")
    else:
        console.say("not running; to start it: claimsmith local up")
