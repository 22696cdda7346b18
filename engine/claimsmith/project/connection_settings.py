"""`claimsmith:connections` of a stack's config: where connection details go beside the stack's output.

    claimsmith:connections:
      file: {format: dotenv, folder: .claimsmith/connections}
      sink: true

`file` writes a file for each claim, which only the user can read. `sink` creates the native resource that
`components/connection-sink.yaml` describes, for each claim.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base.errors import ModelError, Problem, suggest
from claimsmith.project.layout import PRIVATE
from claimsmith.project.settings import found_setting

CONNECTIONS = "connections"
CONFIG_KEY = f"claimsmith:{CONNECTIONS}"
FORMATS = ("dotenv", "json")
FOLDER = f"{PRIVATE}/{CONNECTIONS}"
_FIX = f"write it as {CONFIG_KEY}: {{file: {{format: dotenv}}, sink: true}}"


@dataclass(frozen=True, slots=True)
class FileSink:
    """Files of connection details: their format, and the folder that they are in."""

    format: str = FORMATS[0]
    folder: str = FOLDER
    """Relative to the project's root, or absolute."""


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Where connection details go beside the stack's output: by default nowhere."""

    file: FileSink | None = None
    sink: bool = False


def read_connection_settings(value: Any) -> ConnectionSettings:
    """The setting, from its value as the engine has it; None where there is none."""
    if value is None:
        return ConnectionSettings()
    entries = _object(_parsed(value), "", ("file", "sink"))
    file = entries.get("file")
    return ConnectionSettings(None if file in (None, False) else _file(file), _truth(entries.get("sink", False)))


def wants_sink(root: Path, stack: str) -> bool:
    """Whether a stack's config files ask for a sink; not where only the engine can read them."""
    found = found_setting(root, stack, CONNECTIONS)
    if found is None or (isinstance(found[2], dict) and "secure" in found[2]):
        return False
    return read_connection_settings(found[2]).sink


def _parsed(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise _refused("it is neither an object nor JSON", "") from None


def _file(value: Any) -> FileSink:
    if value is True:
        return FileSink()
    entries = _object(value, "file", ("format", "folder"))
    form, folder = entries.get("format", FORMATS[0]), entries.get("folder", FOLDER)
    if form not in FORMATS:
        raise _refused("its format is no format of a file", "file.format", suggest(str(form), FORMATS))
    if not isinstance(folder, str) or not folder:
        raise _refused("its folder is no path", "file.folder", f"leave it out, or write it as folder: {PRIVATE}/dev")
    return FileSink(str(form), folder)


def _truth(value: Any) -> bool:
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise _refused("sink is neither true nor false", "sink")


def _object(value: Any, path: str, fields: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refused(f"{path or 'it'} is not an object", path)
    for key in value:
        if key not in fields:
            raise _refused(f"it has an unknown field {key!r}", f"{path}.{key}".lstrip("."), suggest(key, fields))
    return value


def _refused(why: str, path: str, fix: str = _FIX) -> ModelError:
    return ModelError(Problem(f"{CONFIG_KEY} cannot be read: {why}", path=f"{CONFIG_KEY}.{path}".rstrip("."), fix=fix))
