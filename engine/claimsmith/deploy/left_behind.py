"""Objects that another stack of the project left in the cluster on purpose: retained ones, once their stack has ended.

Such an object still names its stack as its owner. The state of that stack decides: what it does not hold, it has given
up, and a stack that is configured to may take it over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from claimsmith.base.errors import EngineError
from claimsmith.base.names import ObjectKey
from claimsmith.kubernetes.ownership import FORCE_ONCE

SETTING = "takeover"
"""The setting that names the stacks whose leftovers a stack takes over."""
_MISSING = "no stack named"

State = Collection[ObjectKey]


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Which objects other stacks of a project gave up."""

    project: str
    stack: str
    read: Callable[[str], State]
    """The objects that the state of a stack holds, by its name; raises if it cannot be read."""
    takes: frozenset[str] = frozenset()
    """The stacks whose leftovers this one takes over."""
    _states: dict[str, State | None] = field(default_factory=dict)
    _unknown: set[str] = field(default_factory=set)
    """The stacks that the backend does not have. Somebody with a state of their own may have them."""

    def by(self, owner: str, key: ObjectKey) -> str:
        """The stack that left an object behind; empty if it still has it, or if that cannot be known."""
        project, _, rest = owner.partition("/")
        stack = rest.partition("/")[0]
        if project != self.project or stack in ("", self.stack):
            return ""
        state = self._state(stack)
        return stack if state is not None and key not in state else ""

    def is_taken(self, owner: str, key: ObjectKey) -> bool:
        """Whether this stack takes an object over."""
        return bool(self.takes) and self.by(owner, key) in self.takes

    def story(self, stack: str) -> str:
        """What became of a stack that left something behind, as far as the states here tell."""
        if stack in self._unknown:
            return f"there is no state of the stack {stack} here: it was removed, or is deployed from elsewhere"
        if self._state(stack):
            return f"the stack {stack} no longer manages it"
        return f"the stack {stack} was destroyed and left it behind"

    def fix(self, stack: str) -> str:
        """The command that takes over what a stack left behind: its fields still have the manager of that stack."""
        command = f"{FORCE_ONCE} pulumi up --stack {self.stack} --config claimsmith:{SETTING}={stack}"
        gone = f"if {stack} is gone, " if stack in self._unknown else ""
        return f"{gone}take over what {stack} left behind: {command}"

    def _state(self, stack: str) -> State | None:
        if stack not in self._states:
            try:
                self._states[stack] = self.read(stack)
            except EngineError as error:
                # Of a stack that cannot be read nothing is known. One that does not exist holds nothing here.
                missing = _MISSING in str(error)
                self._states[stack] = () if missing else None
                if missing:
                    self._unknown.add(stack)
        return self._states[stack]


def named_stacks(setting: str | None) -> frozenset[str]:
    """The stacks in the setting, separated by commas."""
    return frozenset(name.strip() for name in (setting or "").split(",") if name.strip())
