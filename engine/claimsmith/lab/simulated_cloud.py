"""The simulated cloud: plays the provider controllers where there is no cloud account.

Run as `python -m claimsmith.lab.simulated_cloud --kubeconfig FILE`. It looks after every kind whose definition
has the category `managed`, and does to its objects what real controllers do: adds a finalizer, names the thing
outside, resolves references, late-initialises, rewrites, writes the connection secret, then sets Ready.
`data/simulated-cloud.yaml` lists what it does to which kind, `behaviour` does it. Every cluster that it "creates"
is the one that it runs in, so that a cluster's connection secret really leads to one.

It writes as field manager `simulated-cloud`, whole objects, as controllers do. Secrets are looked at when their
object changes, never for their own sake. For tests, annotations on an object:

    simulated-cloud.claimsmith.io/never-ready: "true"   it never becomes ready
    simulated-cloud.claimsmith.io/ready-after: "2s"     it takes that long
    simulated-cloud.claimsmith.io/no-secret: "true"     it writes no connection secret
"""

from __future__ import annotations

import argparse
import base64
import datetime
import logging
import secrets
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claimsmith.kubernetes import crds
from claimsmith.kubernetes.client import CRDS, SECRETS, ApiError, Cluster, Object
from claimsmith.kubernetes.connection import Unreachable
from claimsmith.kubernetes.kubeconfig import select
from claimsmith.lab import behaviour
from claimsmith.lab.controller import Informer, WorkQueue
from claimsmith.lab.kinds import Key, Kind, Profiles, key_of, kind_of, load_profiles

NAME = "simulated-cloud"
log = logging.getLogger(NAME)

_RETRY = 1.0
_LOOK_AGAIN = 2.0
_WORKERS = 4


class Cloud:
    """Everything that the simulated cloud holds, and its work on it."""

    def __init__(self, cluster: Cluster, profiles: Profiles, *, delay: float, details: Mapping[str, str]) -> None:
        self._cluster = cluster
        self._profiles = profiles
        self._delay = delay
        self._details = details
        self._kinds: dict[str, Kind] = {}
        self._informers: dict[str, Informer] = {}
        self._objects: dict[Key, Object] = {}
        self._since: dict[str, float] = {}
        self._reported: dict[Key, str] = {}
        self._lock = threading.Lock()
        self._queue: WorkQueue[Key] = WorkQueue(self._attend, workers=_WORKERS)

    def start(self) -> None:
        """Start to look after the objects that exist, and after later ones."""
        self._queue.start()
        Informer(self._cluster, CRDS, updated=self._define, deleted=self._forget_kind).start()

    # Definitions

    def _define(self, crd: Object) -> None:
        name = crd["metadata"]["name"]
        kind = kind_of(crd, self._profiles) if crds.is_managed(crd) else None
        if self._kinds.get(name) == kind:
            return
        self._forget_kind(crd)
        if kind is None:
            return
        log.info("looks after %s", name)
        self._kinds[name] = kind
        informer = self._informers[name] = Informer(
            self._cluster,
            kind.resource,
            updated=lambda live: self._notice(key_of(name, live), live),
            deleted=lambda live: self._forget(key_of(name, live)),
        )
        informer.start()

    def _forget_kind(self, crd: Object) -> None:
        name = crd["metadata"]["name"]
        self._kinds.pop(name, None)
        informer = self._informers.pop(name, None)
        if informer is not None:
            informer.stop()
        for key in [key for key in list(self._objects) if key.crd == name]:
            self._forget(key)

    # Objects

    def _notice(self, key: Key, live: Object) -> None:
        self._remember(key, live)
        self._queue.add(key)

    def _remember(self, key: Key, live: Object) -> None:
        with self._lock:
            before = self._objects.get(key)
            if before is None or int(before["metadata"]["resourceVersion"]) <= int(live["metadata"]["resourceVersion"]):
                self._objects[key] = live

    def _forget(self, key: Key) -> None:
        with self._lock:
            gone = self._objects.pop(key, None)
            self._reported.pop(key, None)
            for phase in ("creating", "deleting") if gone else ():
                self._since.pop(f"{gone['metadata']['uid']}/{phase}", None)  # type: ignore[index]  # there is one

    def _attend(self, key: Key) -> float | None:
        """Work on one object; returns the seconds until it is due again. No error ends the worker."""
        kind, live = self._kinds.get(key.crd), self._objects.get(key)
        if kind is None or live is None:
            return None
        try:
            if live["metadata"].get("deletionTimestamp"):
                return self._delete(key, kind, live)
            return self._reconcile(key, kind, live)
        except Unreachable as error:
            self._report(key, f"the API server is out of reach: {error.why}")
            return _RETRY
        except ApiError as error:
            return self._recover(key, kind, error)
        except Exception:  # a worker that ends would never touch its objects again
            log.exception("%s", key)
            return 5.0

    def _recover(self, key: Key, kind: Kind, error: ApiError) -> float | None:
        if error.code not in (404, 409):
            self._report(key, f"the API server refuses: {error.message}")
            return _RETRY
        fresh = self._cluster.get(kind.resource, key.name, namespace=key.namespace)
        if fresh is None:
            self._forget(key)
            return None
        self._remember(key, fresh)
        return 0.05

    def _reconcile(self, key: Key, kind: Kind, live: Object) -> float | None:
        wanted, missing, unresolved = behaviour.desired(live, kind.profile, self._find, kind.schema)
        if wanted != live:
            live = self._cluster.replace(kind.resource, wanted)
            self._remember(key, live)
        after = behaviour.ready_after(live, self._delay)
        age = self._age(live, "creating")
        created = not missing and after is not None and (behaviour.is_ready(live) or age >= after)
        problem = "; ".join(missing) or (self._publish(kind, live) if created else "")
        phase = "Available" if created and (not problem or behaviour.is_ready(live)) else "Creating"
        self._write_status(key, kind, live, phase=phase, problem=problem)
        if problem:
            self._report(key, problem)
            return _RETRY
        if not created:
            return None if after is None else max(after - age, 0.01)
        return _LOOK_AGAIN if unresolved else None

    def _delete(self, key: Key, kind: Kind, live: Object) -> float | None:
        if behaviour.FINALIZER not in live["metadata"].get("finalizers", ()):
            return None
        left = self._delay - self._age(live, "deleting")
        if left > 0:
            self._write_status(key, kind, live, phase="Deleting")
            return left
        self._cluster.replace(kind.resource, behaviour.without_finalizer(live))
        log.info("%s %s is gone", live["kind"], key.name)
        return None

    def _write_status(self, key: Key, kind: Kind, live: Object, *, phase: str, problem: str = "") -> None:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = behaviour.status(live, kind.profile, phase=phase, problem=problem, now=now)
        if status == live.get("status"):
            return
        subresource = "status" if kind.has_status else ""
        self._remember(key, self._cluster.replace(kind.resource, {**live, "status": status}, subresource=subresource))
        log.info("%s %s is %s", live["kind"], key.name, phase.lower())

    def _publish(self, kind: Kind, live: Object) -> str:
        """Write the connection secret where the object wants one; returns what prevents it."""
        target = behaviour.secret_target(live)
        if target is None:
            return ""
        namespace, name = target
        if not namespace or not name:
            return "writeConnectionSecretToRef has no " + ("name" if namespace else "namespace")
        there = self._cluster.get(SECRETS, name, namespace=namespace)
        if there is not None and (refusal := behaviour.refusal(live, there)):
            return refusal
        kept = ((there or {}).get("data") or {}).get("password", "")
        password = base64.b64decode(kept).decode() or secrets.token_urlsafe(20)
        details = behaviour.connection_details(live, kind.profile, password=password, cluster=self._details)
        body = behaviour.secret(live, target, details, there)
        try:
            if there is None:
                self._cluster.create(SECRETS, body)
            elif body != there:
                self._cluster.replace(SECRETS, body)
        except ApiError as error:
            if error.reason == "AlreadyExists" or error.code == 409:
                return self._publish(kind, live)
            return f"cannot write secret {namespace}/{name}: {error.message}"
        return ""

    def _find(self, field: str, ref: Mapping[str, Any]) -> behaviour.Target:
        """The external name of what a reference points to."""
        kinds = self._profiles.targets(field)
        with self._lock:
            named = [(key, live) for key, live in self._objects.items() if key.name == ref["name"]]
        fitting = [(k, s) for k, s in named if not kinds or s["kind"] in kinds]
        if not fitting:
            served = {kind.name for kind in self._kinds.values()}
            return behaviour.Target(required=any(kind in served for kind in kinds))
        # Where several kinds have an object of that name, the one that the field is called after.
        fitting.sort(key=lambda f: (f[1]["kind"].lower() not in field.lower(), f[0].crd, f[0].namespace))
        return behaviour.Target(behaviour.external_name(fitting[0][1]), required=True)

    def _age(self, live: Object, phase: str) -> float:
        with self._lock:
            since = self._since.setdefault(f"{live['metadata']['uid']}/{phase}", time.monotonic())
        return time.monotonic() - since

    def _report(self, key: Key, message: str) -> None:
        if self._reported.get(key) != message:
            self._reported[key] = message
            log.warning("%s %s: %s", key.crd, key.name, message)


def cluster_details(kubeconfig: str) -> dict[str, str]:
    """How to connect to the cluster of a kubeconfig, under the keys of a cluster's connection secret."""
    selected = select(kubeconfig, file="kubeconfig")
    fields = {"clusterCA": "certificate-authority-data", "clientCert": "client-certificate-data"}
    fields["clientKey"] = "client-key-data"
    decoded = {
        key: base64.b64decode({**selected.cluster, **selected.user}[name]).decode() for key, name in fields.items()
    }
    return {"endpoint": selected.cluster["server"], "kubeconfig": kubeconfig, **decoded}


def main() -> None:
    """Run until asked to end."""
    parser = argparse.ArgumentParser(prog=NAME, description="Plays the provider controllers of a cloud.")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="The cluster whose managed kinds to look after.")
    parser.add_argument("--delay", type=float, default=0.3, help="Seconds until a thing is created, or gone.")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    cluster = Cluster.of_file(options.kubeconfig, manager=NAME)
    Cloud(
        cluster, load_profiles(), delay=options.delay, details=cluster_details(options.kubeconfig.read_text())
    ).start()
    log.info("is up; nothing that it reports exists")
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


if __name__ == "__main__":
    main()
