"""Reading a cluster: who owns an object, what a connection Secret holds, what is there already. It never writes.

Used before the engine runs, to refuse what is not ours, and while it runs, to gather connection
details. The kubeconfig is the one that the engine's Kubernetes provider gets. Errors of the client libraries are not
passed on where they may quote it: a header, a path, or what a credential plugin printed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import httpx2 as httpx
import msgspec
import yaml
from lightkube.config import client_adapter
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ConfigError

from claimsmith import kubeconfig as kubeconfigs
from claimsmith.compose.identity import OWNER
from claimsmith.errors import ControlPlaneError, Problem, Source
from claimsmith.models.objects import GroupKind

Object = dict[str, Any]
# A cluster that is only busy answers in this time; lightkube's ten seconds are too few for a laptop at work.
ANSWER_SECONDS = 30.0
Place = tuple[str, str]
"""Namespace, empty at cluster scope, and name."""

FEW = 20
"""So many objects of a kind are read one by one rather than listed."""
PAGE = 500
_METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
_METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_QUOTES_NOTHING = (httpx.NetworkError, httpx.RemoteProtocolError)
"""Errors whose text is of the network or of the server. Others may quote what was to be sent, such as a token."""


class Cluster:
    """A cluster, by the text of a kubeconfig."""

    def __init__(self, kubeconfig: str, context: str | None = None, *, file: str = "kubeconfig") -> None:
        self.kubeconfig = kubeconfig
        self.context = context
        self.file = file
        """Where the kubeconfig comes from, for messages."""
        self._plurals: dict[str, dict[str, str]] = {}
        self._served: dict[str, tuple[str, ...]] = {}

    def identity(self) -> str:
        """The cluster's identity: the uid of its kube-system namespace, whatever its address."""
        found = self._get("/api/v1/namespaces/kube-system")
        if found is None:
            raise ControlPlaneError(Problem("the cluster has no kube-system namespace", fix="check the kubeconfig"))
        return str(found["metadata"]["uid"])

    def secret(self, namespace: str, name: str) -> Object | None:
        """A Secret, None where there is none."""
        return self._get(f"/api/v1/namespaces/{namespace}/secrets/{name}")

    def secret_data(self, namespace: str, name: str) -> dict[str, str] | None:
        """The keys and encoded values of a Secret, None where there is none."""
        found = self.secret(namespace, name)
        return None if found is None else dict(found.get("data") or {})

    def read(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """An object of any kind; None where there is none, or where the cluster does not know the kind."""
        root = _root(api_version)
        plural = self._plural(root, kind)
        if plural is None:
            return None
        within = f"/namespaces/{namespace}" if namespace else ""
        return self._get(f"{root}{within}/{plural}/{name}")

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the cluster knows a kind."""
        return self._plural(_root(api_version), kind) is not None

    def metadata(self, kind: GroupKind) -> list[Object]:
        """The metadata of all objects of a kind, nothing else of them: no value of a Secret is read."""
        for api_version in self._versions(kind.group):
            root = _root(api_version)
            plural = self._plural(root, kind.kind)
            if plural:
                found = self._get(f"{root}/{plural}", accept=_METADATA_LIST)
                return [*((found or {}).get("items") or [])]
        return []

    def find(self, api_version: str, kind: str, wanted: Collection[Place]) -> dict[Place, Object]:
        """Those of these objects that are there, by namespace and name, and nothing but their metadata.

        A few are read one by one. Many are listed at once, where the user may list them: a stack of thousands of
        objects takes one request for each kind.
        """
        root = _root(api_version)
        plural = self._plural(root, kind)
        if plural is None or not wanted:
            return {}
        if len(wanted) > FEW:
            try:
                listed = {_place(item): item for item in self._listed(f"{root}/{plural}")}
                return {place: listed[place] for place in wanted if place in listed}
            except ControlPlaneError:
                pass  # Who may not list them all may still read each; whatever else is wrong shows again.
        with ThreadPoolExecutor(max_workers=8) as pool:
            found = pool.map(lambda place: self._one(root, plural, place), wanted)
            return {place: item for place, item in zip(wanted, found, strict=True) if item is not None}

    def _one(self, root: str, plural: str, place: Place) -> Object | None:
        namespace, name = place
        within = f"/namespaces/{namespace}" if namespace else ""
        return self._get(f"{root}{within}/{plural}/{name}", accept=_METADATA)

    def _listed(self, path: str) -> Iterator[Object]:
        """The metadata of all objects below a path, page by page."""
        following = ""
        while True:
            query = urlencode({"limit": PAGE, **({"continue": following} if following else {})})
            page = self._get(f"{path}?{query}", accept=_METADATA_LIST) or {}
            yield from page.get("items") or ()
            following = (page.get("metadata") or {}).get("continue") or ""
            if not following:
                return

    def list(self, kind: GroupKind, labels: Mapping[str, str] | None = None) -> list[Object]:
        """The objects of a kind that carry these labels, in its preferred version; none where it is not known here."""
        for api_version in self._versions(kind.group):
            root = _root(api_version)
            plural = self._plural(root, kind.kind)
            if plural:
                wanted = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
                query = f"?{urlencode({'labelSelector': wanted})}" if wanted else ""
                found = self._get(f"{root}/{plural}{query}") or {}
                head = {"apiVersion": api_version, "kind": kind.kind}
                return [{**head, **item} for item in found.get("items") or []]
        return []

    def impersonating(self, account: tuple[str, str]) -> str:
        """The kubeconfig for acting as a service account, given by namespace and name."""
        config = kubeconfigs.read(self.kubeconfig, file=self.file).data
        for user in config.get("users") or []:
            user["user"] = {**(user.get("user") or {}), "as": f"system:serviceaccount:{account[0]}:{account[1]}"}
        text: str = yaml.safe_dump(config)
        return text

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    @cached_property
    def _http(self) -> httpx.Client:
        selected = kubeconfigs.select(self.kubeconfig, self.context, file=self.file)
        one = {"name": "one", "context": {"cluster": "one", "user": "one"}}
        clusters, users = [{"name": "one", "cluster": selected.cluster}], [{"name": "one", "user": selected.user}]
        try:
            config = KubeConfig.from_dict({"contexts": [one], "clusters": clusters, "users": users}).get("one")
            assert config, "it was named above"
            return client_adapter.Client(
                config, client_adapter.ConnectionParams(timeout=httpx.Timeout(ANSWER_SECONDS), trust_env=False)
            )
        except (ConfigError, msgspec.ValidationError, httpx.InvalidURL, OSError, ValueError, TypeError):
            # TLS errors are OSErrors. The text may name a file that is none, but a key in the wrong field.
            what = "the kubeconfig's certificates, keys or way to log in cannot be used"
            fix = "check the selected user, and the files that it names, with: kubectl get namespaces"
            raise ControlPlaneError(Problem(what, Source(self.file), fix=fix)) from None

    def _versions(self, group: str) -> tuple[str, ...]:
        """The apiVersions of a group that the cluster serves, the preferred one first."""
        if not group:
            return ("v1",)
        if group not in self._served:
            found = self._get(f"/apis/{group}") or {}
            preferred = (found.get("preferredVersion") or {}).get("groupVersion")
            listed = [str(v["groupVersion"]) for v in found.get("versions") or []]
            self._served[group] = tuple(sorted(listed, key=lambda v: v != preferred))
        return self._served[group]

    def _plural(self, root: str, kind: str) -> str | None:
        if root not in self._plurals:
            found = self._get(root) or {}
            self._plurals[root] = {r["kind"]: r["name"] for r in found.get("resources", []) if "/" not in r["name"]}
        return self._plurals[root].get(kind)

    def _get(self, path: str, *, accept: str = "application/json") -> Object | None:
        try:
            answer = self._http.get(path, headers={"Accept": accept})
        except httpx.HTTPError as error:
            why = str(error) if isinstance(error, _QUOTES_NOTHING) else type(error).__name__
            why = "it gave no answer in time" if isinstance(error, httpx.TimeoutException) else why
            fix = "is it running? for the local one: claimsmith local up"
            raise ControlPlaneError(Problem(f"the cluster cannot be reached: {why}", fix=fix)) from None
        except (ConfigError, OSError, ValueError, KeyError, TypeError):
            # Raised on the first request: a token file, or a program that prints a token, is read no sooner.
            what = "the kubeconfig's user cannot log in: its token file or the program that prints its token fails"
            fix = "see why with: kubectl get namespaces"
            raise ControlPlaneError(Problem(what, Source(self.file), fix=fix)) from None
        if answer.status_code == 404:
            return None
        if answer.status_code == 429 or answer.is_server_error:
            what = f"the cluster cannot show {path} now: {_message(answer)}"
            raise ControlPlaneError(Problem(what, fix="wait until it is well again, and run it again"))
        if answer.is_error:
            what = f"the cluster refused to show {path}: {_message(answer)}"
            raise ControlPlaneError(Problem(what, fix="check the rights of the kubeconfig's user"))
        return _object(answer, path)


def controller_of(found: Object) -> str | None:
    """What controls an object and would put back or delete what we write, as its owner references say."""
    for reference in found["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return f"{reference.get('kind')} {reference.get('name')}"
    return None


def owner_of(found: Object) -> str | None:
    """Whose an object is, as its owner annotation says."""
    owner = (found["metadata"].get("annotations") or {}).get(OWNER)
    return None if owner is None else str(owner)


def _object(answer: httpx.Response, path: str) -> Object:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        what = f"what answers to {path} is not an API server of Kubernetes"
        raise ControlPlaneError(Problem(what, fix="check the kubeconfig's server"))
    return found


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} {answer.reason_phrase}"


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _place(item: Object) -> Place:
    return str(item["metadata"].get("namespace") or ""), str(item["metadata"]["name"])
