"""Which function runs a step: one that the project declares under the name, else a built-in one.

`dialects/crossplane/composition.py` recognises a built-in function by the group of its input or by its name; this table
has the module of each. Modules are imported when a step needs them, since most compositions need one or two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final, Protocol, cast, runtime_checkable

from claimsmith.base.documents import Document
from claimsmith.dialects.common.klass import Step
from claimsmith.dialects.crossplane.composition import function_of, unknown_function
from claimsmith.functions.protocol import Function

BUILT_IN: Final[Mapping[str, str]] = {
    "function-patch-and-transform": "patch_and_transform",
    "function-auto-ready": "auto_ready",
    "function-environment-configs": "environment_configs",
    "function-go-templating": "go_templating",
    "function-extra-resources": "extra_resources",
    "function-conditional-patch-and-transform": "conditional_patch_and_transform",
    "function-cel-filter": "cel_filter",
    "function-sequencer": "sequencer",
    "function-status-transformer": "status_transformer",
    "function-tag-manager": "tag_manager",
    "function-kro": "kro",
    "function-kcl": "kcl",
    "function-python": "python",
}
"""The module of each built-in function, which has `bind(place) -> Function`."""


Files = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Place:
    """The step that a function runs for, and the composition that contains the step."""

    step: Step
    document: Document
    files: Files | None = None
    """Reads the texts of a folder beside the composition, by their paths below it; None where no files are read."""
    timeout: float | None = None
    """The seconds that a function outside of this process may take."""


Bind = Callable[[Place], Function]
Declared = Mapping[str, Bind]
"""The functions that a project declares, by their names; each wins over a built-in one of that name."""


@runtime_checkable
class Limited(Protocol):
    """Declared functions with a limit of time for each call."""

    @property
    def seconds(self) -> float | None:
        """The limit; None for that of each engine."""
        ...


def function_for(place: Place, declared: Declared | None = None) -> Function:
    """The function of a step; refused by its name where there is none."""
    if place.timeout is None and isinstance(declared, Limited):
        place = replace(place, timeout=declared.seconds)
    step = place.step
    if declared and step.function in declared:
        return declared[step.function](place)
    name = function_of(step.function, step.input)
    if declared and name in declared:
        return declared[name](place)
    if name not in BUILT_IN:
        raise unknown_function(step, place.document)
    module = import_module(f"claimsmith.functions.{BUILT_IN[name]}")
    return cast("Bind", module.bind)(place)
