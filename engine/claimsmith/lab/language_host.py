"""Serves Pulumi's language protocol for Python programs where the official host is not there.

The engine starts it, reads a port from the first line of its output and calls the LanguageRuntime service there. A
program runs in the main thread of this process, on the public runtime of the Pulumi SDK, and fails as it does under
the official host: a RunError is one plain line, anything else a traceback that begins in the user's own code.
It stands alone (no import of claimsmith), because a copy of it is kept beside the engine; see `host.py`.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import queue
import runpy
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib import metadata
from typing import Any

try:
    import grpc  # type: ignore[import-untyped]  # it has no types
    import pulumi
    from pulumi.automation._server import LanguageServer
    from pulumi.runtime import proto, reset_options, run_in_stack, set_all_config, settings, stack
    from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2
except ImportError as missing:
    sys.exit(
        f"{missing}: the Python that runs Pulumi programs, {sys.executable}, lacks the Pulumi SDK\n"
        "fix: pip install pulumi there, or activate the project's virtual environment, or set CLAIMSMITH_PYTHON"
    )

PR_SET_PDEATHSIG = 1
# Of some SDKs (3.255, not 3.272): raised by the outputs of a resource that failed while the engine goes on with others.
REGISTRATION_FAILED: tuple[type[Exception], ...] = tuple(
    filter(None, [getattr(stack, "ResourceRegistrationFailed", None)])
)


class Host(LanguageServer):
    """The SDK's own server, with programs taken from the request and run by the main thread."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.runs: queue.SimpleQueue[tuple[Any, Future[Any]]] = queue.SimpleQueue()

    def Run(self, request: Any, context: Any) -> Any:  # noqa: ARG002 - the protocol's signature
        """Give the program to the main thread (signals and asyncio expect it there) and wait for its end."""
        answer: Future[Any] = Future()
        self.runs.put((request, answer))
        return answer.result()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        """The version of the SDK that runs the programs."""
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        """The packages of this interpreter, for `pulumi about`."""
        found = {d.name: d.version for d in metadata.distributions()}
        rows = [language_pb2.DependencyInfo(name=name, version=found[name]) for name in sorted(found)]
        return language_pb2.GetProgramDependenciesResponse(dependencies=rows)

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: ARG002
        """Say that packages are the user's own to install."""
        note = f"programs run under {sys.executable}; install their packages there, with pip\n"
        yield language_pb2.InstallDependenciesResponse(stdout=note.encode())


def main() -> None:
    """Serve until the engine interrupts us or is gone."""
    end_with(os.getppid())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    # Flags (tracing, verbosity) come before the engine's address, which is last.
    engine = sys.argv[-1] if len(sys.argv) > 1 else ""
    host = Host()
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", -1)])
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while True:
        request, answer = host.runs.get()
        try:
            answer.set_result(run(request, engine))
        except BaseException as error:
            answer.set_exception(error)


def end_with(parent: int) -> None:
    """End this process soon after its parent: killed outright, the engine cannot stop it."""

    def check(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(1)

    def watch() -> None:
        while True:
            check()
            time.sleep(0.5)

    threading.Thread(target=watch, daemon=True).start()
    if sys.platform == "linux":
        # At once, where the kernel reports it. It also does when only the starting thread ended: hence the check.
        signal.signal(signal.SIGUSR1, check)
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGUSR1)


def run(request: Any, engine: str) -> Any:
    """Run a program to its end; `bail` reports to the engine that the error has been shown already."""
    folder = request.info.program_directory or request.pwd
    program = os.path.join(folder, request.info.entry_point or request.program or ".")
    file = os.path.join(program, "__main__.py") if os.path.isdir(program) else program
    os.chdir(folder)
    sys.path.insert(0, os.path.dirname(os.path.normpath(file)))
    sys.argv = [program, *request.args]
    reset_options(
        project=request.project,
        stack=request.stack,
        root_directory=request.info.root_directory or None,
        parallel=request.parallel,
        engine_address=engine,
        monitor_address=request.monitor_address,
        preview=request.dryRun,
        organization=request.organization or "organization",
    )
    set_all_config(dict(request.config), list(request.configSecretKeys))
    # As in the official host: tasks that nobody awaits are normal in a program that failed half-way.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with ThreadPoolExecutor(max(request.parallel, 1) * 4) as pool:
        loop.set_default_executor(pool)
        try:
            return outcome(loop, os.path.normpath(file))
        finally:
            cancel_tasks(loop)
            sys.stdout.flush()
            sys.stderr.flush()


def outcome(loop: asyncio.AbstractEventLoop, file: str) -> Any:
    """The engine's answer for a program: silence, or an error shown and a request to stop."""
    try:
        if not os.path.exists(file):
            raise pulumi.RunError(f"unable to find main python program {os.path.basename(file)!r} in {os.getcwd()!r}")
        loop.run_until_complete(run_program(file))
        return proto.RunResponse()
    except pulumi.RunError as error:
        show(str(error))
    except SystemExit as exit_:
        if exit_.code in (None, 0):
            return proto.RunResponse()
        show(f"program exited with {exit_.code!r}")
    except grpc.RpcError as error:
        # The monitor goes away when the engine is interrupted or a resource failed: the engine reports that.
        if error.code() != grpc.StatusCode.UNAVAILABLE:
            show(f"RPC error: {error.details()}")
    except Exception as error:
        show("Program failed with an unhandled exception:\n" + user_traceback(error, file))
    return proto.RunResponse(bail=True)


async def run_program(file: str) -> None:
    """Run a program inside a stack.

    Where a resource failed and the engine goes on, those that need its outputs fail too, and the SDK stops at the
    first of them: then wait for all the others. It stays an error, or the engine would delete what was left out.
    """
    try:
        await run_in_stack(lambda: run_file(file))
    except REGISTRATION_FAILED as error:
        while settings.SETTINGS.rpc_manager.rpcs or settings.SETTINGS.outputs:
            settings.SETTINGS.rpc_manager.unhandled_exception = None
            with suppress(*REGISTRATION_FAILED):
                await stack.wait_for_rpcs()
        raise pulumi.RunError(f"{error}: what depends on it was left out") from error


def run_file(file: str) -> None:
    """Run a program's file as the main module. Its globals are not a result: the SDK would await them."""
    runpy.run_path(file, run_name="__main__")


def user_traceback(error: BaseException, file: str) -> str:
    """The traceback from the user's own file on; whole where that file is not in it; none where it cannot be read."""
    step = error.__traceback__
    while step and os.path.normpath(step.tb_frame.f_code.co_filename) != file:
        step = step.tb_next
    if not step and not isinstance(error, SyntaxError):
        step = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, step))


def show(message: str) -> None:
    """Log an error to the engine, as long as there is one."""
    with suppress(grpc.RpcError):
        pulumi.log.error(message)


def cancel_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Let what is left of a failed program end quietly, and close the loop."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    with suppress(BaseException):
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()


if __name__ == "__main__":
    main()
