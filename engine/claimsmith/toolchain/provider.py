"""Providers: asks one for its version, and shows a cached one to Pulumi as an installed plugin.

A provider has no flag for its version; it is started and asked over its own protocol. Installing is a link into
Pulumi's plugin folder, not a copy: the one of Kubernetes has 300 MB.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from claimsmith.toolchain import parts, process
from claimsmith.toolchain.parts import PROVIDER, Failure

# Only a program that hangs takes this long; see PROBE_SECONDS.
START_SECONDS = 300.0


def version(path: Path) -> str:
    """The version that a provider reports; Failure where it does not answer."""
    started: subprocess.Popen[str] | None = None
    try:
        with process.held():
            started = subprocess.Popen(
                [path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert started.stdout
        ready, _, _ = select.select([started.stdout], [], [], START_SECONDS)
        line = started.stdout.readline().strip() if ready else ""
        if not line.isdigit():
            raise Failure("does not serve the provider protocol")
        return _ask(f"127.0.0.1:{line}")
    except OSError as error:
        raise Failure(f"cannot be run: {error.strerror or error}") from error
    finally:
        if started:
            started.kill()
            started.communicate()


def _ask(address: str) -> str:
    import grpc  # type: ignore[import-untyped]  # it has no types

    with grpc.insecure_channel(address) as channel:
        try:
            answer = channel.unary_unary("/pulumirpc.ResourceProvider/GetPluginInfo")(b"", timeout=START_SECONDS)
        except grpc.RpcError as error:
            raise Failure(f"does not report its version: {error.details()}") from error
    # A message with one field, a short text: its tag, its length, its bytes.
    return str(answer[2 : 2 + answer[1]].decode()) if answer[:1] == b"\n" else ""


def link(name: str = PROVIDER, env: Mapping[str, str] = os.environ) -> Path:
    """Make a cached provider an installed plugin of Pulumi; the folder appears whole or not at all."""
    version = parts.release(name, env) if name in parts.BRIDGED else parts.pinned(name, env).version
    folder, cached = parts.plugin_folder(version, env, name), parts.home_of(name, env)
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".claimsmith-"))
    try:
        stage.chmod(0o755)
        try:
            os.link(cached, stage / name)
        except OSError:
            # Another file system, or one without hard links.
            os.symlink(cached, stage / name)
        folder.mkdir(exist_ok=True)
        os.replace(stage / name, folder / name)
        with suppress(FileNotFoundError):
            folder.with_name(folder.name + ".partial").unlink()
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return folder / name
