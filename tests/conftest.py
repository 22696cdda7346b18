"""What tests share: golden files that can be rewritten, and the repository's own root."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.browser import Browser
from tests.support.paths import ROOT

# How long an example takes says something of the machine, not of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Started in the background of a shell, or by nohup: what is tested must end at these signals, and inherits them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected files of golden cases")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many of the peers' own cases agree, wherever they were run."""
    counts = dict.fromkeys(("passed", "failed", "xfailed"), 0)
    for outcome in counts:
        reports = terminalreporter.stats.get(outcome, [])
        counts[outcome] = sum(r.when == "call" and "test_conformance_" in r.nodeid for r in reports)
    total = sum(counts.values())
    if total:
        terminalreporter.write_line(f"conformance: {counts['passed']} of {total} cases agree with the peers")


@pytest.fixture(autouse=True)
def no_review_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own cache of reviews."""
    monkeypatch.setenv("CLAIMSMITH_STACK_CACHE", "off")


@pytest.fixture(scope="session", autouse=True)
def event_loop() -> None:
    """Pulumi's mocks need the event loop of the main thread; Python 3.12 and newer warn where they open one themselves.

    It stays open, as theirs does: what is left of a failed run may still use it.
    """
    asyncio.set_event_loop(asyncio.new_event_loop())


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A real browser, one for each test process."""
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compare a text with a file beside the case, or rewrite that file."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path} is missing: run pytest --update-golden and read the diff"
        assert text == path.read_text(encoding="utf-8")

    return check
