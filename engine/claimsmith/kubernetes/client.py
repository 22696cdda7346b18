"""The one client of a Kubernetes API server: plain dicts in and out.

A deployment only reads: who owns an object, what a connection Secret holds, what exists already. The lab also writes
and watches, with a field manager; a cluster without one refuses to write. Errors of the client libraries are not
passed on where they may quote the kubeconfig: a header, a path, or what a credential plugin printed.

lightkube opens the connection: kubeconfig, TLS, tokens, credential plugins. Its resource classes are not used, because
of lightkube 1.0.1:
- a process has one class for an apiVersion and kind, but two clusters may serve it with another plural or scope;
- it cannot discover kinds, request metadata alone, or read paths such as /readyz;
- its watch has no bookmarks and no read timeout, and takes U+0085 in a text for the end of an event.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx2 as httpx
import yaml

from claimsmith.base.errors import ControlPlaneError, Problem
from claimsmith.base.labels import OWNER
from claimsmith.base.names import GroupKind
from claimsmith.kubernetes import connection
from claimsmith.kubernetes import kubeconfig as kubeconfigs
from claimsmith.kubernetes.connection import Unreachable

Object = dict[str, Any]
# A cluster that is only busy answers in this time; lightkube's ten seconds are too few for a laptop at work.
ANSWER_SECONDS = 30.0
Place = tuple[str, str]
"""Namespace, empty at cluster scope, and name."""

FEW = 20
"""So many objects of a kind are read one by one rather than listed."""
PAGE = 500
WATCH_SECONDS = 290
_JSON = "application/json"
_METADATA = f"{_JSON};as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
_METADATA_LIST = f"{_JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_VERBS = {"GET": "show", "POST": "create an object at", "PUT": "replace", "DELETE": "delete"}


class ApiError(ControlPlaneError):
    """A request that the API server refused, with its own code, reason and message."""

    def __init__(self, code: int, reason: str, message: str, *, request: str = "answer") -> None:
        self.code, self.reason, self.message = code, reason, message
        if code == 429 or code >= 500:
            what, fix = f"the cluster cannot {request} now", "wait until it is available, and run the command again"
        else:
            what, fix = f"the cluster refused to {request}", "check the rights of the kubeconfig's user"
        super().__init__(Problem(f"{what}: {message}", fix=fix))


@dataclass(frozen=True, slots=True)
class Resource:
    """The path below which the objects of one kind are served."""

    api_version: str
    plural: str

    def path(self, name: str = "", *, namespace: str = "", subresource: str = "") -> str:
        """The path of one object, or of all of a namespace or of the cluster."""
        within = ("namespaces", namespace) if namespace else ()
        parts = (*within, self.plural, name, subresource)
        return "/".join((_root(self.api_version), *(quote(part, safe=":") for part in parts if part)))


CRDS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions")
NAMESPACES = Resource("v1", "namespaces")
SECRETS = Resource("v1", "secrets")


class Cluster:
    """A cluster, by the text of a kubeconfig; all threads may use one, and a `with` block closes it at its end."""

    def __init__(
        self,
        kubeconfig: str,
        context: str | None = None,
        *,
        file: str = "kubeconfig",
        manager: str = "",
        timeout: float = ANSWER_SECONDS,
    ) -> None:
        self.kubeconfig = kubeconfig
        self.context = context
        self.file = file
        """Where the kubeconfig comes from, for messages."""
        self._manager = manager
        self._timeout = timeout
        self._plurals: dict[str, dict[str, str]] = {}
        self._served: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of_file(cls, kubeconfig: Path, *, manager: str = "", timeout: float = 60.0) -> Cluster:
        """The cluster of a kubeconfig file, to be written to as a field manager."""
        try:
            return cls(kubeconfig.read_text(), file=kubeconfig.name, manager=manager, timeout=timeout)
        except (OSError, ValueError):
            raise Unreachable(f"{kubeconfig.name} is missing or damaged") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections."""
        if "_http" in self.__dict__:
            self._http.close()

    # Objects of a resource, as a controller reads, writes and watches them.

    def get(self, resource: Resource, name: str, *, namespace: str = "") -> Object | None:
        """The object, None where there is none."""
        return self._get(resource.path(name, namespace=namespace))

    def snapshot(self, resource: Resource) -> tuple[list[Object], str]:
        """All objects, and the resourceVersion to watch from."""
        listed = self.request("GET", resource.path())
        return listed.get("items") or [], listed["metadata"]["resourceVersion"]

    def create(self, resource: Resource, body: Object) -> Object:
        """The object as it was created."""
        path = resource.path(namespace=body["metadata"].get("namespace", ""))
        return self.request("POST", path, body, fieldManager=self._manager)

    def replace(self, resource: Resource, body: Object, *, subresource: str = "") -> Object:
        """The object as it is after an update of the whole; `subresource="status"` for its status alone."""
        meta = body["metadata"]
        path = resource.path(meta["name"], namespace=meta.get("namespace", ""), subresource=subresource)
        return self.request("PUT", path, body, fieldManager=self._manager)

    def delete(self, resource: Resource, name: str, *, namespace: str = "", policy: str = "Background") -> None:
        """Request the object's deletion; gone already is fine."""
        try:
            self.request("DELETE", resource.path(name, namespace=namespace), {"propagationPolicy": policy})
        except ApiError as error:
            if error.code != 404:
                raise

    def watch(self, resource: Resource, version: str) -> Iterator[tuple[str, Object]]:
        """The events since a resourceVersion, until the server ends the watch."""
        query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
        query["timeoutSeconds"] = str(WATCH_SECONDS)
        # Longer than the server's own limit: silence beyond it means that the server is gone.
        timeout = httpx.Timeout(self._timeout, read=WATCH_SECONDS + 10)
        path, http = resource.path(), self._http
        with connection.errors(self.file), http.stream("GET", path, params=query, timeout=timeout) as answer:
            if answer.is_error:
                answer.read()
                raise _refusal(answer, f"watch {path}")
            for event in _events(answer):
                if event["type"] == "ERROR":
                    status = event["object"]
                    code, reason, message = status.get("code", 500), status.get("reason", ""), status.get("message", "")
                    raise ApiError(code, reason, message, request=f"watch {path}")
                yield event["type"], event["object"]

    def ready(self) -> bool:
        """Whether the API server reports that it is ready."""
        return self._send("GET", "/readyz").is_success

    # Objects of any kind, by apiVersion and kind: the cluster is asked for the path.

    def identity(self) -> str:
        """The cluster's identity: the uid of its kube-system namespace, whatever its address."""
        system = self.get(NAMESPACES, "kube-system")
        if system is None:
            raise ControlPlaneError(Problem("the cluster has no kube-system namespace", fix="check the kubeconfig"))
        return str(system["metadata"]["uid"])

    def secret(self, namespace: str, name: str) -> Object | None:
        """A Secret, None where there is none."""
        return self.get(SECRETS, name, namespace=namespace)

    def secret_data(self, namespace: str, name: str) -> dict[str, str] | None:
        """The keys and encoded values of a Secret, None where there is none."""
        secret = self.secret(namespace, name)
        return None if secret is None else dict(secret.get("data") or {})

    def read(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """An object of any kind; None where there is none, or where the cluster does not serve the kind."""
        resource = self._resource(api_version, kind)
        return None if resource is None else self.get(resource, name, namespace=namespace or "")

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the cluster serves a kind."""
        return self._resource(api_version, kind) is not None

    def metadata(self, kind: GroupKind) -> list[Object]:
        """The metadata of all objects of a kind, nothing else of them: no value of a Secret is read."""
        resource = self._preferred(kind)
        listed = None if resource is None else self._get(resource.path(), accept=_METADATA_LIST)
        return [*((listed or {}).get("items") or [])]

    def find(self, api_version: str, kind: str, wanted: Collection[Place]) -> dict[Place, Object]:
        """Those of these objects that exist, by namespace and name, and nothing but their metadata.

        A few are read one by one. Many are listed at once, where the user may list them: a stack of thousands of
        objects takes one request for each kind.
        """
        resource = self._resource(api_version, kind)
        if resource is None or not wanted:
            return {}
        if len(wanted) > FEW:
            try:
                listed = {_place(item): item for item in self._pages(resource.path())}
                return {place: listed[place] for place in wanted if place in listed}
            except ControlPlaneError:
                pass  # Who may not list them all may still read each; whatever else is wrong shows again.
        paths = [resource.path(name, namespace=namespace) for namespace, name in wanted]
        with ThreadPoolExecutor(max_workers=8) as pool:
            existing = pool.map(lambda path: self._get(path, accept=_METADATA), paths)
            return {place: item for place, item in zip(wanted, existing, strict=True) if item is not None}

    def list(self, kind: GroupKind, labels: Mapping[str, str] | None = None) -> list[Object]:
        """The objects of a kind that carry these labels, in its preferred version; none where it is not served."""
        resource = self._preferred(kind)
        if resource is None:
            return []
        wanted = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        listed = self._get(resource.path(), **({"labelSelector": wanted} if wanted else {})) or {}
        head = {"apiVersion": resource.api_version, "kind": kind.kind}
        return [{**head, **item} for item in listed.get("items") or []]

    def impersonating(self, account: tuple[str, str]) -> str:
        """The kubeconfig for acting as a service account, provided by namespace and name."""
        config = kubeconfigs.read(self.kubeconfig, file=self.file).data
        for user in config.get("users") or []:
            user["user"] = {**(user.get("user") or {}), "as": f"system:serviceaccount:{account[0]}:{account[1]}"}
        text: str = yaml.safe_dump(config)
        return text

    def request(
        self, method: str, path: str, body: Object | None = None, *, accept: str = _JSON, **query: str
    ) -> Object:
        """The JSON object that the API server answers to one request."""
        answer = self._send(method, path, body, accept=accept, **query)
        if answer.is_error:
            raise _refusal(answer, f"{_VERBS[method]} {path}")
        return _object(answer, path)

    def _get(self, path: str, *, accept: str = _JSON, **query: str) -> Object | None:
        try:
            return self.request("GET", path, None, accept=accept, **query)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def _send(
        self, method: str, path: str, body: Object | None = None, *, accept: str = _JSON, **query: str
    ) -> httpx.Response:
        assert method == "GET" or self._manager, "who writes has a field manager"
        headers = {"Accept": accept, **({} if body is None else {"Content-Type": _JSON})}
        content = None if body is None else json.dumps(body).encode()
        http = self._http
        with connection.errors(self.file):
            return http.request(method, path, params=query or None, content=content, headers=headers)

    @cached_property
    def _http(self) -> httpx.Client:
        return connection.opened(self.kubeconfig, self.context, file=self.file, timeout=self._timeout)

    def _pages(self, path: str) -> Iterator[Object]:
        """The metadata of all objects below a path, page by page."""
        query = {"limit": str(PAGE)}
        while True:
            page = self._get(path, accept=_METADATA_LIST, **query) or {}
            yield from page.get("items") or ()
            query["continue"] = (page.get("metadata") or {}).get("continue") or ""
            if not query["continue"]:
                return

    def _preferred(self, kind: GroupKind) -> Resource | None:
        """The resource of a kind in the first version that has it, the preferred one first."""
        served = (self._resource(api_version, kind.kind) for api_version in self._versions(kind.group))
        return next((resource for resource in served if resource is not None), None)

    def _versions(self, group: str) -> tuple[str, ...]:
        """The apiVersions of a group that the cluster serves, the preferred one first."""
        if not group:
            return ("v1",)
        if group not in self._served:
            described = self._get(f"/apis/{group}") or {}
            preferred = (described.get("preferredVersion") or {}).get("groupVersion")
            listed = [str(v["groupVersion"]) for v in described.get("versions") or []]
            self._served[group] = tuple(sorted(listed, key=lambda v: v != preferred))
        return self._served[group]

    def _resource(self, api_version: str, kind: str) -> Resource | None:
        if api_version not in self._plurals:
            listed = (self._get(_root(api_version)) or {}).get("resources", [])
            self._plurals[api_version] = {r["kind"]: r["name"] for r in listed if "/" not in r["name"]}
        plural = self._plurals[api_version].get(kind)
        return None if plural is None else Resource(api_version, plural)


def live_object(cluster: Cluster, document: Mapping[str, Any]) -> Object | None:
    """The object that a document describes, as it is in the cluster now."""
    metadata = document["metadata"]
    return cluster.read(str(document["apiVersion"]), str(document["kind"]), metadata["name"], metadata.get("namespace"))


def controller_of(live: Object) -> str | None:
    """What controls an object and would put back or delete what we write, by its owner references."""
    for reference in live["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return f"{reference.get('kind')} {reference.get('name')}"
    return None


def owner_of(live: Object) -> str | None:
    """Whose an object is, by its owner annotation."""
    owner = (live["metadata"].get("annotations") or {}).get(OWNER)
    return None if owner is None else str(owner)


def _object(answer: httpx.Response, path: str) -> Object:
    try:
        content = answer.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        what = f"what answers to {path} is not an API server of Kubernetes"
        raise ControlPlaneError(Problem(what, fix="check the kubeconfig's server"))
    return content


def _refusal(answer: httpx.Response, request: str) -> ApiError:
    try:
        status = answer.json()
        reason, message = str(status.get("reason", "")), str(status["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        reason, message = "", f"{answer.status_code} {answer.reason_phrase}"
    return ApiError(answer.status_code, reason, message, request=request)


def _events(answer: httpx.Response) -> Iterator[Object]:
    """The events of a watch: one JSON object a line, of which only the line feed is the end."""
    rest = b""
    for chunk in answer.iter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                raise Unreachable("it sends something else than events") from None


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _place(item: Object) -> Place:
    return str(item["metadata"].get("namespace") or ""), str(item["metadata"]["name"])
