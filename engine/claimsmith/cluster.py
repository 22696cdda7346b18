"""Reading a cluster: who owns an object, what a connection Secret holds. It never writes.

Used before the engine runs, to refuse what is not ours, and while it runs, to gather connection
details. The kubeconfig is the one that the engine's Kubernetes provider gets.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import httpx2 as httpx
import yaml
from lightkube import Client
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.resources.core_v1 import Namespace, Secret

from claimsmith.compose.identity import OWNER
from claimsmith.errors import ControlPlaneError, Problem


class Cluster:
    """A cluster, by the text of a kubeconfig."""

    def __init__(self, kubeconfig: str, context: str | None = None) -> None:
        self.kubeconfig = kubeconfig
        self.context = context

    @cached_property
    def _client(self) -> Any:
        try:
            config = KubeConfig.from_dict(yaml.safe_load(self.kubeconfig)).get(self.context)
            return Client(config=config, trust_env=False)
        except (ConfigError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
            raise ControlPlaneError(Problem(f"the kubeconfig cannot be read: {error}", fix="check it with: kubectl config view")) from error

    def identity(self) -> str:
        """The cluster's identity: the uid of its kube-system namespace, whatever its address."""
        found = self._get(Namespace, "kube-system", None)
        if found is None:
            raise ControlPlaneError(Problem("the cluster has no kube-system namespace", fix="check the kubeconfig"))
        return str(found.metadata.uid)

    def secret_data(self, namespace: str, name: str) -> dict[str, str] | None:
        """The keys and encoded values of a Secret, None where there is none."""
        found = self._get(Secret, name, namespace)
        return None if found is None else dict(found.data or {})

    def secret_owner(self, namespace: str, name: str) -> tuple[bool, str | None]:
        """Whether a Secret is there, and whose it is, as its owner annotation says."""
        found = self._get(Secret, name, namespace)
        if found is None:
            return False, None
        return True, (found.metadata.annotations or {}).get(OWNER)

    def _get(self, kind: Any, name: str, namespace: str | None) -> Any:
        try:
            return self._client.get(kind, name, namespace=namespace)
        except ApiError as error:
            if error.status.code == 404:
                return None
            what = f"the cluster refused to read {kind.__name__} {namespace or ''}/{name}: {error.status.message}"
            raise ControlPlaneError(Problem(what, fix="check the rights of the kubeconfig's user")) from error
        except httpx.HTTPError as error:
            raise ControlPlaneError(Problem(f"the cluster cannot be reached: {error}", fix="is it running? for the local one: claimsmith local up")) from error
