"""The record of a run in the project's private folder, so that it can go on after a kill."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from claimsmith.base import posix
from claimsmith.base.errors import EngineError, LoadError, Problem
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.project.writing import private_folder, write_atomically
from claimsmith.tools.fleet.schedule import Outcome, State
from claimsmith.tools.fleet.stack import FOLDER, Command
from claimsmith.tools.review.stack import files_of

_LOCK = "run.lock"
_BEGUN = (State.running, State.failed, State.stopped)


@dataclass
class Journal:
    """How each stack of a run stands. Every change is on disk before the next."""

    path: Path
    command: Command
    states: dict[str, State]
    digests: dict[str, str] = field(default_factory=dict)
    """The files of each stack, in short, when the run began."""

    @property
    def undone(self) -> list[str]:
        """The stacks that are not done."""
        return [s for s, state in self.states.items() if state is not State.done]

    @property
    def begun(self) -> frozenset[str]:
        """The stacks that may have something that nobody finished: of a run that was killed, failed or stopped."""
        return frozenset(s for s, state in self.states.items() if state in _BEGUN)

    def left(self, project: Project) -> list[str]:
        """The stacks that are still to do; one that was done is among them again if its files have changed since."""
        present = set(project.stacks())
        return [
            s
            for s, state in self.states.items()
            if s in present and (state is not State.done or self.digests[s] != digest(project, s))
        ]

    def gone(self, project: Project) -> list[Problem]:
        """A problem for each stack that was not done, and that no run can reach any more."""
        present = set(project.stacks())
        gone = [s for s, state in self.states.items() if s not in present and state is not State.done]
        fix = "destroy it from a revision that has it, or ignore this if nothing of it exists"
        return [
            Problem(f"the stack {s!r} of the last run is gone from the files; its resources stay", fix=fix)
            for s in gone
        ]

    def note(self, outcome: Outcome) -> None:
        """Keep how a stack stands."""
        self.states[outcome.stack] = outcome.state
        self.write()

    def write(self) -> None:
        """Put it on disk."""
        stacks = {s: {"state": state.value, "files": self.digests.get(s, "")} for s, state in self.states.items()}
        text = json.dumps({"command": self.command.value, "stacks": stacks}, indent=2)
        write_atomically(self.path, f"{text}\n", mode=0o600)


def begin(project: Project, command: Command, stacks: Sequence[str], last: Journal | None = None) -> Journal:
    """The journal of a new run, on disk; with `last`, of one that goes on, whose other stacks stay as they are.

    A new one keeps the stacks that the last one left undone: they can still be resumed.
    """
    last = last or unfinished(project, command)
    # Until a stack runs again, what a kill left behind stays known: this run may be killed before.
    begun = last.begun if last else frozenset()
    states = dict(last.states) if last else {}
    states |= {s: State.waiting for s in stacks if s not in begun}
    digests = {**(last.digests if last else {}), **{s: digest(project, s) for s in stacks}}
    journal = Journal(_path(project, command), command, states, digests)
    journal.write()
    return journal


def read(project: Project, command: Command) -> Journal:
    """The journal of the last run."""
    path = _path(project, command)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        rows = dict(data["stacks"])
        states = {s: State(row["state"]) for s, row in rows.items()}
        digests = {s: str(row["files"]) for s, row in rows.items()}
    except FileNotFoundError:
        raise LoadError(
            Problem(f"there is no `claimsmith {command}` to resume", fix=f"start one: claimsmith {command} --all")
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        what = f"the record of the last run cannot be read: {error}"
        raise LoadError(Problem(what, fix=f"remove {path}, and start the run anew")) from None
    return Journal(path, command, states, digests)


def unfinished(project: Project, command: Command) -> Journal | None:
    """The journal of the last run with those of its stacks alone that are to be resumed; None if there are none.

    A journal that cannot be read is none: a new run replaces it.
    """
    with suppress(LoadError):
        last = read(project, command)
        present = set(project.stacks())
        states = {s: last.states[s] for s in last.undone if s in present}
        if states:
            return replace(last, states=states, digests={s: last.digests[s] for s in states})
    return None


def digest(project: Project, stack: str) -> str:
    """The files that a stack is deployed from, in short."""
    files = files_of(project, stack)
    config = f"stacks/Pulumi.{stack}.yaml"
    if config in files:
        # The engine writes this file too, and in its own style.
        with suppress(EngineError):
            entries = [d.data.get("config") for d in project.configs(stack) if d.file == config]
            files[config] = json.dumps(entries, sort_keys=True, default=str).encode()
    found = hashlib.sha256()
    for path, content in sorted(files.items()):
        found.update(f"{len(path)} {path} {len(content)} ".encode())
        found.update(content)
    return found.hexdigest()


@contextmanager
def alone(project: Project) -> Iterator[None]:
    """Hold the right to run many stacks in this project; a second run is refused."""
    workspace.prepare(project)
    folder = private_folder(project.private / FOLDER)
    with posix.alone(folder / _LOCK, "another claimsmith runs many stacks in this project"):
        # Of a run that was killed: whole resources stand in them, and only a run of the same stack would remove them.
        for events in folder.glob("*.events"):
            events.unlink(missing_ok=True)
        yield


def _path(project: Project, command: Command) -> Path:
    """Each command has a record of its own: a preview in between does not end an `up` that is to be resumed."""
    return project.private / FOLDER / f"{command.value}.json"
