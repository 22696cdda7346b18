"""The scheduler on jobs that stand in for stacks: order, limits, failures, interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from claimsmith.base.errors import DeployError, Problem, ReferenceError_
from claimsmith.tools.fleet import schedule
from claimsmith.tools.fleet.schedule import Outcome, State

DIAMOND = {"net": (), "left": ("net",), "right": ("net",), "top": ("left", "right")}
Needs = Mapping[str, Sequence[str]]


def ran(needs: Needs, job: Callable[[str], Outcome], *, parallel: int = 2, **options: Any) -> dict[str, Outcome]:
    with ThreadPoolExecutor(parallel) as executor:
        return schedule.run(needs, job, executor=executor, parallel=parallel, **options)


def ending(**states: State) -> Callable[[str], Outcome]:
    """A job that ends as is wanted of it; else it is done."""
    return lambda stack: Outcome(stack, states.get(stack, State.done))


DONE, FAILED, REFUSED, SKIPPED = State.done, State.failed, State.refused, State.skipped


@pytest.mark.parametrize(
    ("needs", "states", "want"),
    [
        pytest.param({}, {}, {}, id="none"),
        pytest.param({"a": (), "b": ()}, {}, {"a": DONE, "b": DONE}, id="independent"),
        pytest.param(DIAMOND, {}, dict.fromkeys(DIAMOND, DONE), id="diamond"),
        pytest.param(
            DIAMOND,
            {"left": FAILED},
            {"net": DONE, "left": FAILED, "right": DONE, "top": SKIPPED},
            id="a-failure-skips-what-needs-it-and-nothing-else",
        ),
        pytest.param(
            DIAMOND,
            {"net": REFUSED},
            {"net": REFUSED, "left": SKIPPED, "right": SKIPPED, "top": SKIPPED},
            id="a-refusal-reaches-far",
        ),
        pytest.param({"a": ("elsewhere",)}, {}, {"a": DONE}, id="a-need-outside-of-the-run-is-no-need"),
    ],
)
def test_outcomes(needs: Needs, states: dict[str, State], want: dict[str, State]) -> None:
    for parallel in (1, 2, 8):
        found = ran(needs, ending(**states), parallel=parallel)
        assert {stack: outcome.state for stack, outcome in found.items()} == want
        assert list(found) == list(needs)


def test_a_skipped_stack_names_what_it_needs() -> None:
    found = ran({"a": (), "b": ("a",)}, ending(a=State.failed))
    assert found["b"].problem
    assert found["b"].problem.what == "not run: it needs 'a', which is failed"


@pytest.mark.parametrize("parallel", [1, 2, 3])
def test_no_job_starts_before_its_needs_and_not_too_many_at_once(parallel: int) -> None:
    needs = {f"s{i}": tuple(f"s{j}" for j in range(i) if (i * j) % 3 == 1) for i in range(12)}
    lock = threading.Lock()
    running: set[str] = set()
    most, done = 0, set[str]()

    def job(stack: str) -> Outcome:
        nonlocal most
        with lock:
            assert done >= set(needs[stack])
            running.add(stack)
            most = max(most, len(running))
        threading.Event().wait(0.005)
        with lock:
            running.discard(stack)
            done.add(stack)
        return Outcome(stack, State.done)

    found = ran(needs, job, parallel=parallel)
    assert {o.state for o in found.values()} == {State.done}, [o.problem for o in found.values()]
    assert most == parallel


def test_a_job_that_raises_fails_alone() -> None:
    def job(stack: str) -> Outcome:
        match stack:
            case "a":
                raise DeployError(Problem("the backend is away", fix="wait"))
            case "b":
                raise BrokenProcessPool("a worker died")
            case _:
                return Outcome(stack, State.done)

    found = ran({"a": (), "b": (), "c": ()}, job)
    assert found["a"].problem == Problem("the backend is away", fix="wait")
    assert found["b"].problem
    assert found["b"].problem.what == "the job of 'b' ended without a result: BrokenProcessPool: a worker died"
    assert found["c"].state is State.done


def test_an_interrupt_lets_end_what_runs_and_starts_nothing() -> None:
    stop = threading.Event()

    def job(stack: str) -> Outcome:
        stop.set()
        return Outcome(stack, State.done)

    found = ran({"a": (), "b": (), "c": ("a",)}, job, parallel=1, stopping=stop.is_set)
    assert {s: o.state for s, o in found.items()} == {"a": State.done, "b": State.stopped, "c": State.stopped}


def test_what_ended_before_is_not_run_and_still_stops_others() -> None:
    calls: list[str] = []

    def job(stack: str) -> Outcome:
        calls.append(stack)
        return Outcome(stack, State.done)

    before = {"a": Outcome("a", State.refused), "c": Outcome("c", State.done)}
    found = ran({"a": (), "b": ("a",), "c": (), "d": ("c",)}, job, before=before)
    assert calls == ["d"]
    assert {s: o.state.value for s, o in found.items()} == {"a": "refused", "b": "skipped", "c": "done", "d": "done"}


def test_every_change_is_reported() -> None:
    seen: list[tuple[str, str]] = []
    ran({"a": (), "b": ("a",)}, ending(), report=lambda o: seen.append((o.stack, o.state.value)))
    assert seen == [("a", "running"), ("a", "done"), ("b", "running"), ("b", "done")]


def test_any_executor_runs_the_jobs() -> None:
    """The scheduler asks for `concurrent.futures.Executor` and nothing more."""

    class AtOnce(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(fn(*args, **kwargs))
            return future

    with AtOnce() as executor:
        found = schedule.run(DIAMOND, ending(), executor=executor, parallel=4)
    assert {o.state for o in found.values()} == {State.done}


@pytest.mark.parametrize(
    ("needs", "want"),
    [
        pytest.param({}, [], id="none"),
        pytest.param({"a": (), "b": ()}, [["a", "b"]], id="one"),
        pytest.param(DIAMOND, [["net"], ["left", "right"], ["top"]], id="diamond"),
        pytest.param({"z": ("a",), "a": (), "b": ("elsewhere",)}, [["a", "b"], ["z"]], id="needs-outside"),
    ],
)
def test_waves(needs: Needs, want: list[list[str]]) -> None:
    assert schedule.waves(needs) == want


def test_the_longest_chain_starts_first() -> None:
    assert schedule.by_weight({"x": (), "a": (), "b": ("a",), "c": ("b",)}) == ["a", "b", "x", "c"]


def test_a_circle_is_refused() -> None:
    with pytest.raises(ReferenceError_, match="circle"):
        ran({"a": ("b",), "b": ("a",)}, ending())
