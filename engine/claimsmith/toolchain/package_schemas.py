"""The schemas of installed provider plugins: asked once for each plugin, then kept. Nothing is downloaded for it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from claimsmith.base.errors import ProviderError
from claimsmith.base.user_folders import cache_folder
from claimsmith.providers.package_schema import PackageSchema, from_text, read_schema, to_text
from claimsmith.toolchain import discovery, parts, process
from claimsmith.toolchain.host import put
from claimsmith.toolchain.parts import Failure

SECONDS = 300.0
"""A large provider takes ten; only one that hangs takes this long."""
_NUMBER = re.compile(r"\d+")


@lru_cache(maxsize=64)
def package_schema(package: str, plugin: Path | None = None) -> PackageSchema | None:
    """What the plugin of a provider says: the one that the project names, else an installed one.

    None where no plugin, or no engine to ask it, is installed.
    """
    plugin = plugin or next(_plugins(package, os.environ), None)
    if plugin is None:
        return None
    kept = _kept(package, plugin, os.environ)
    try:
        found = from_text(kept.read_text(encoding="utf-8")) if kept.is_file() else None
    except (OSError, UnicodeDecodeError):
        found = None
    return found or _asked(plugin, kept)


def _plugins(package: str, env: Mapping[str, str]) -> Iterator[Path]:
    """The installed plugins of a provider as the engine finds them, the newest one first."""
    program = f"pulumi-resource-{package}"
    folders = parts.plugins_folder(env).glob(f"resource-{package}-v*/{program}")
    yield from sorted(folders, key=lambda p: [int(n) for n in _NUMBER.findall(p.parent.name)], reverse=True)
    on_path = shutil.which(program, path=env.get("PATH"))
    if on_path:
        yield Path(on_path)


def _kept(package: str, plugin: Path, env: Mapping[str, str]) -> Path:
    """Where the marks of this very plugin are kept."""
    state = plugin.stat()
    digest = hashlib.sha256(f"{plugin} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]
    return cache_folder(env) / "package-schemas" / f"{package}-{digest}.json"


def _asked(plugin: Path, kept: Path) -> PackageSchema | None:
    engine = discovery.find(parts.PULUMI)
    if engine is None:
        return None
    env = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    with tempfile.TemporaryDirectory() as folder:
        command = [str(engine.path), "package", "get-schema", str(plugin)]
        try:
            printed = process.run(
                command, output=Path(folder) / "schema.json", cwd=Path(folder), env=env, seconds=SECONDS
            )
            found = read_schema(printed)
        except (Failure, ProviderError, OSError):
            return None
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        put(kept, to_text(found).encode(), 0o644)
    except OSError:
        pass  # a cache that cannot be written is asked again
    return found
