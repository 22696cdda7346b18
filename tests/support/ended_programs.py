"""Programs on mocks that end while something is still at work, as the hosts of Pulumi's Python programs end them."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pulumi
from pulumi.runtime import mocks, settings, stack
from pulumi.runtime.proto import resource_pb2

from claimsmith.lab import language_host
from tests.support.mocked import Monitor, Recorder

REFUSAL = "resource monitor shut down"


class ContinueOnError(Monitor):
    """An engine that reports the failure of one resource, goes on, and refuses another one."""

    def __init__(self, recorder: Recorder, *, failing: str, refused: str) -> None:
        super().__init__(recorder)
        self.failing, self.refused = failing, refused

    def RegisterResource(self, request: Any) -> Any:
        if request.name == self.refused:
            raise RuntimeError(REFUSAL)
        answer = super().RegisterResource(request)
        if request.name == self.failing:
            answer.result = resource_pb2.Result.FAIL
        return answer


def fail_after(output: pulumi.Output[Any]) -> None:
    """A registration that fails as soon as an output of a failed resource is there, as dependents do in SDK 3.255."""

    async def fail() -> None:
        await output.future()
        raise RuntimeError(REFUSAL)

    registration: pulumi.Input[Any] = settings._get_rpc_manager().do_rpc("register resource", fail)()
    pulumi.Output.from_input(registration)


def official_host(loop: asyncio.AbstractEventLoop, pool: ThreadPoolExecutor) -> None:
    """The end of a program in pulumi-language-python-exec: it awaits threads, and leaves tasks alone."""
    pool.shutdown(wait=True)
    language_host.cancel_tasks(loop)


def own_host(loop: asyncio.AbstractEventLoop, pool: ThreadPoolExecutor) -> None:
    """The end of a program in our own host."""
    language_host.cancel_tasks(loop)
    pool.shutdown(wait=True)


Host: TypeAlias = Callable[[asyncio.AbstractEventLoop, ThreadPoolExecutor], None]


def run_hosted(
    program: Callable[[], None],
    host: Host,
    ended: threading.Event,
    *,
    failing: str = "",
    refused: str = "",
    outputs_first: bool = False,
) -> None:
    """Run a program as a host does, and report its end. The SDK awaits outputs first, or registrations.

    In a thread of its own, the SDK has no context of other tests, such as a root resource of another event loop.
    """
    try:
        with ThreadPoolExecutor(1) as main:
            main.submit(_hosted, program, host, ended, failing, refused, outputs_first).result()
    finally:
        # What is left of a failed run complains when it is collected, and that must not be in the middle of a parse.
        gc.collect()


def _hosted(
    program: Callable[[], None], host: Host, ended: threading.Event, failing: str, refused: str, outputs_first: bool
) -> None:
    # Mocks need an event loop in each thread, and leave open those that they open.
    loops: list[asyncio.AbstractEventLoop] = []
    pool = ThreadPoolExecutor(4, initializer=lambda: loops.append(_new_loop()))
    loops.append(loop := _new_loop())
    loop.set_default_executor(pool)
    recorder = Recorder()
    monitor = ContinueOnError(recorder, failing=failing, refused=refused)
    mocks.set_mocks(recorder, project="p", stack="dev", preview=False, monitor=monitor)
    if outputs_first:
        # As with an engine: nothing of a root resource is under way when the program begins.
        loop.run_until_complete(_registered())
        settings.set_root_resource(None)  # type: ignore[arg-type]  # as before a program
    try:
        loop.run_until_complete((stack.run_in_stack if outputs_first else stack.run_pulumi_func)(program))
    finally:
        ended.set()
        host(loop, pool)
        for opened in loops:
            opened.close()


async def _registered() -> None:
    await asyncio.sleep(0)
    await stack.wait_for_rpcs()


def _new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop
