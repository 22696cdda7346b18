"""The connection to an API server by a kubeconfig: certificates, tokens, credential plugins.

Errors of the client libraries are not passed on where they may quote the kubeconfig: a header, a path, or what a
credential plugin printed.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2 as httpx
import msgspec
from lightkube.config.client_adapter import ConnectionParams
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ConfigError

from claimsmith.base.errors import ControlPlaneError, Problem, Source
from claimsmith.kubernetes import kubeconfig as kubeconfigs

_QUOTES_NOTHING = (httpx.NetworkError, httpx.RemoteProtocolError)
"""Errors whose text is of the network or of the server. Others may quote what was to be sent, such as a token."""


class Unreachable(ControlPlaneError):
    """An API server that does not answer, or breaks off."""

    def __init__(self, why: str) -> None:
        self.why = why
        fix = "is it running? for the local one: claimsmith local up"
        super().__init__(Problem(f"the cluster cannot be reached: {why}", fix=fix))


def opened(kubeconfig: str, context: str | None, *, file: str, timeout: float) -> httpx.Client:
    """The connections to the cluster of a kubeconfig, with its certificates and the way to log in."""
    selected = kubeconfigs.select(kubeconfig, context, file=file)
    one = {"name": "one", "context": {"cluster": "one", "user": "one"}}
    try:
        # lightkube writes inline certificates to files of its own, which stay open until a garbage collection where
        # the TLS library refuses one (lightkube 1.0.1): ours are gone when the block ends.
        with TemporaryDirectory(prefix="claimsmith-tls-") as folder:
            cluster, user = (_in_files(part, Path(folder)) for part in (selected.cluster, selected.user))
            clusters, users = [{"name": "one", "cluster": cluster}], [{"name": "one", "user": user}]
            config = KubeConfig.from_dict({"contexts": [one], "clusters": clusters, "users": users}).get("one")
            assert config, "it was named above"
            parameters = ConnectionParams(timeout=httpx.Timeout(timeout), trust_env=False).httpx_params(config)
        # Each watch occupies a connection, and a lab may watch more kinds than the 100 connections of the default.
        return httpx.Client(**parameters, limits=httpx.Limits(max_keepalive_connections=20))
    except (ConfigError, msgspec.ValidationError, httpx.InvalidURL, OSError, ValueError, TypeError):
        # TLS errors are OSErrors. The text may name a file that is none, but a key in the wrong field.
        what = "the kubeconfig's certificates, keys or way to log in cannot be used"
        fix = "check the selected user, and the files that it names, with: kubectl get namespaces"
        raise ControlPlaneError(Problem(what, Source(file), fix=fix)) from None


@contextmanager
def errors(file: str) -> Iterator[None]:
    """What goes wrong on the way to the server, without what may quote a credential."""
    try:
        yield
    except httpx.HTTPError as error:
        why = str(error) if isinstance(error, _QUOTES_NOTHING) else type(error).__name__
        why = "it gave no answer in time" if isinstance(error, httpx.TimeoutException) else why
        raise Unreachable(why) from None
    except (ConfigError, OSError, ValueError, KeyError, TypeError):
        # Raised on the first request: a token file, or a program that prints a token, is read no sooner.
        what = "the kubeconfig's user cannot log in: its token file or the program that prints its token fails"
        fix = "see why with: kubectl get namespaces"
        raise ControlPlaneError(Problem(what, Source(file), fix=fix)) from None


def _in_files(part: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A cluster or user of a kubeconfig whose inline certificates and keys are files of a folder."""
    files = {}
    for name in ("certificate-authority", "client-certificate", "client-key"):
        if (data := part.get(f"{name}-data")) is not None:
            (folder / name).write_bytes(base64.b64decode(data))
            files[name] = str(folder / name)
    return {key: value for key, value in part.items() if key.removesuffix("-data") not in files} | files
