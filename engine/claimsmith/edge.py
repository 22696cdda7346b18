"""The old name of `claimsmith.deploy`. It works until 0.3, with a warning."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from claimsmith import deploy

_MODULES = ("program",)


def __getattr__(name: str) -> Any:
    if name not in (*_MODULES, *deploy.RENAMED, *deploy.__all__):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new, value = deploy.RENAMED.get(name) or (name, None)
    what = f"claimsmith.edge.{name} is deprecated: import {new} from claimsmith.deploy (claimsmith generate writes it)"
    warnings.warn(what, DeprecationWarning, stacklevel=2)
    if name in deploy.RENAMED:
        return value
    return importlib.import_module(f"claimsmith.deploy.{name}") if name in _MODULES else getattr(deploy, name)
