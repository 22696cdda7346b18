"""Runs without a private temporary folder: a plain `pulumi up` in a shell without the settings of `claimsmith env`.

A program cannot choose where the engine's plugins put their files, and ends before they do. So it removes what the
Kubernetes providers of earlier runs left of this stack's kubeconfig, and reports how to leave nothing.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pulumi

from claimsmith.base.errors import Problem
from claimsmith.kubernetes.client import Cluster
from claimsmith.toolchain import leftovers, private_runs


def tidy(stack: str, cluster: Cluster) -> None:
    """Remove copies of the kubeconfig that ended runs left, and warn of the one that this run leaves."""
    folder = Path(tempfile.gettempdir())
    private = os.environ.get(private_runs.PRIVATE)
    if private and folder.parent == Path(private) / private_runs.FOLDER:
        return
    for copy in leftovers.kubeconfigs(folder, lambda: [cluster.kubeconfig]):
        copy.unlink(missing_ok=True)
    what = f"this run leaves a copy of the kubeconfig in {folder}: it has no temporary folder of its own"
    fix = (
        f'set one up before you run pulumi: eval "$(claimsmith env)"; remove the copy: claimsmith recover {stack} --yes'
    )
    pulumi.log.warn(str(Problem(what, fix=fix)))
