"""The simulated cloud: plays the provider controllers where there is no cloud account.

Run as `python -m claimsmith.local.simulated_cloud --kubeconfig FILE`. It looks after every kind whose definition
has the category `managed`, and does to its objects what real controllers do: adds a finalizer, names the thing
outside, resolves references, late-initialises, rewrites, writes the connection secret, then says Ready.
What it does to which kind stands in `data/simulated-cloud.yaml`; how, in `behaviour`. Every cluster that it
"makes" is the one that it runs in, so that a cluster's connection secret really leads to one.

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

from claimsmith import crds
from claimsmith.kubeconfig import select
from claimsmith.local import api, behaviour
from claimsmith.local.agenda import Agenda
from claimsmith.local.follow import Follower
from claimsmith.local.kinds import Key, Kind, key_of, kind_of
from claimsmith.local.profiles import Profiles, load

NAME = "simulated-cloud"
log = logging.getLogger(NAME)

_RETRY = 1.0
_LOOK_AGAIN = 2.0
_WORKERS = 4


class Cloud:
    """Everything that the simulated cloud holds, and its work on it."""

    def __init__(self, client: api.Api, profiles: Profiles, *, delay: float, cluster: Mapping[str, str]) -> None:
        self._client = client
        self._profiles = profiles
        self._delay = delay
        self._cluster = cluster
        self._kinds: dict[str, Kind] = {}
        self._followers: dict[str, Follower] = {}
        self._objects: dict[Key, api.Object] = {}
        self._since: dict[str, float] = {}
        self._told: dict[Key, str] = {}
        self._lock = threading.Lock()
        self._agenda: Agenda[Key] = Agenda(self._attend, workers=_WORKERS)

    def start(self) -> None:
        """Begin to look after what there is and what comes."""
        self._agenda.start()
        Follower(self._client, api.CRDS, seen=self._define, gone=lambda crd: self._forget_kind(crd)).start()

    # Definitions

    def _define(self, crd: api.Object) -> None:
        name = crd["metadata"]["name"]
        kind = kind_of(crd, self._profiles) if crds.is_managed(crd) else None
        if self._kinds.get(name) == kind:
            return
        self._forget_kind(crd)
        if kind is None:
            return
        log.info("looks after %s", name)
        self._kinds[name] = kind
        follower = self._followers[name] = Follower(
            self._client,
            kind.resource,
            seen=lambda seen: self._notice(key_of(name, seen), seen),
            gone=lambda seen: self._forget(key_of(name, seen)),
        )
        follower.start()

    def _forget_kind(self, crd: api.Object) -> None:
        name = crd["metadata"]["name"]
        self._kinds.pop(name, None)
        follower = self._followers.pop(name, None)
        if follower is not None:
            follower.stop()
        for key in [key for key in list(self._objects) if key.crd == name]:
            self._forget(key)

    # Objects

    def _notice(self, key: Key, seen: api.Object) -> None:
        self._remember(key, seen)
        self._agenda.add(key)

    def _remember(self, key: Key, seen: api.Object) -> None:
        with self._lock:
            known = self._objects.get(key)
            if known is None or int(known["metadata"]["resourceVersion"]) <= int(seen["metadata"]["resourceVersion"]):
                self._objects[key] = seen

    def _forget(self, key: Key) -> None:
        with self._lock:
            gone = self._objects.pop(key, None)
            self._told.pop(key, None)
            for phase in ("making", "deleting") if gone else ():
                self._since.pop(f"{gone['metadata']['uid']}/{phase}", None)  # type: ignore[index]  # there is one

    def _attend(self, key: Key) -> float | None:
        """Work on one object; gives when to look again. Nothing that goes wrong ends the worker."""
        kind, seen = self._kinds.get(key.crd), self._objects.get(key)
        if kind is None or seen is None:
            return None
        try:
            if seen["metadata"].get("deletionTimestamp"):
                return self._delete(key, kind, seen)
            return self._reconcile(key, kind, seen)
        except api.Unreachable as error:
            self._tell(key, f"the API server is out of reach: {error}")
            return _RETRY
        except api.ApiError as error:
            return self._recover(key, kind, error)
        except Exception:  # a worker that ends would leave its objects alone for ever
            log.exception("%s", key)
            return 5.0

    def _recover(self, key: Key, kind: Kind, error: api.ApiError) -> float | None:
        if error.code not in (404, 409):
            self._tell(key, f"the API server refuses: {error}")
            return _RETRY
        fresh = self._client.get(kind.resource, key.name, namespace=key.namespace)
        if fresh is None:
            self._forget(key)
            return None
        self._remember(key, fresh)
        return 0.05

    def _reconcile(self, key: Key, kind: Kind, seen: api.Object) -> float | None:
        wanted, missing, unresolved = behaviour.desired(seen, kind.profile, self._find, kind.schema)
        if wanted != seen:
            seen = self._client.replace(kind.resource, wanted)
            self._remember(key, seen)
        after = behaviour.ready_after(seen, self._delay)
        age = self._age(seen, "making")
        made = not missing and after is not None and (behaviour.is_ready(seen) or age >= after)
        problem = "; ".join(missing) or (self._publish(kind, seen) if made else "")
        phase = "Available" if made and (not problem or behaviour.is_ready(seen)) else "Creating"
        self._write_status(key, kind, seen, phase=phase, problem=problem)
        if problem:
            self._tell(key, problem)
            return _RETRY
        if not made:
            return None if after is None else max(after - age, 0.01)
        return _LOOK_AGAIN if unresolved else None

    def _delete(self, key: Key, kind: Kind, seen: api.Object) -> float | None:
        if behaviour.FINALIZER not in seen["metadata"].get("finalizers", ()):
            return None
        left = self._delay - self._age(seen, "deleting")
        if left > 0:
            self._write_status(key, kind, seen, phase="Deleting")
            return left
        self._client.replace(kind.resource, behaviour.without_finalizer(seen))
        log.info("%s %s is gone", seen["kind"], key.name)
        return None

    def _write_status(self, key: Key, kind: Kind, seen: api.Object, *, phase: str, problem: str = "") -> None:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = behaviour.status(seen, kind.profile, phase=phase, problem=problem, now=now)
        if told == seen.get("status"):
            return
        sub = "status" if kind.has_status else ""
        self._remember(key, self._client.replace(kind.resource, {**seen, "status": told}, sub=sub))
        log.info("%s %s is %s", seen["kind"], key.name, phase.lower())

    def _publish(self, kind: Kind, seen: api.Object) -> str:
        """Write the connection secret where there is one to write; gives what stands in the way."""
        target = behaviour.secret_target(seen)
        if target is None:
            return ""
        namespace, name = target
        if not namespace or not name:
            return "writeConnectionSecretToRef has no " + ("name" if namespace else "namespace")
        there = self._client.get(api.SECRETS, name, namespace=namespace)
        if there is not None and (refusal := behaviour.refusal(seen, there)):
            return refusal
        kept = ((there or {}).get("data") or {}).get("password", "")
        password = base64.b64decode(kept).decode() or secrets.token_urlsafe(20)
        details = behaviour.connection_details(seen, kind.profile, password=password, cluster=self._cluster)
        body = behaviour.secret(seen, target, details, there)
        try:
            if there is None:
                self._client.create(api.SECRETS, body)
            elif body != there:
                self._client.replace(api.SECRETS, body)
        except api.ApiError as error:
            if error.reason == "AlreadyExists" or error.code == 409:
                return self._publish(kind, seen)
            return f"cannot write secret {namespace}/{name}: {error}"
        return ""

    def _find(self, field: str, ref: Mapping[str, Any]) -> behaviour.Target:
        """The external name of what a reference points to."""
        kinds = self._profiles.targets(field)
        with self._lock:
            named = [(key, seen) for key, seen in self._objects.items() if key.name == ref["name"]]
        fitting = [(k, s) for k, s in named if not kinds or s["kind"] in kinds]
        if not fitting:
            served = {kind.name for kind in self._kinds.values()}
            return behaviour.Target(required=any(kind in served for kind in kinds))
        # Where several kinds have an object of that name, the one that the field is called after.
        fitting.sort(key=lambda f: (f[1]["kind"].lower() not in field.lower(), f[0].crd, f[0].namespace))
        return behaviour.Target(behaviour.external_name(fitting[0][1]), required=True)

    def _age(self, seen: api.Object, phase: str) -> float:
        with self._lock:
            since = self._since.setdefault(f"{seen['metadata']['uid']}/{phase}", time.monotonic())
        return time.monotonic() - since

    def _tell(self, key: Key, message: str) -> None:
        if self._told.get(key) != message:
            self._told[key] = message
            log.warning("%s %s: %s", key.crd, key.name, message)


def cluster_details(kubeconfig: str) -> dict[str, str]:
    """How to connect to the cluster of a kubeconfig, the way a cluster's connection secret says it."""
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
    parser.add_argument("--delay", type=float, default=0.3, help="Seconds until a thing is made, or gone.")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    client = api.Api.of(given.kubeconfig, manager=NAME)
    Cloud(client, load(), delay=given.delay, cluster=cluster_details(given.kubeconfig.read_text())).start()
    log.info("is up; nothing that it says exists does")
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


if __name__ == "__main__":
    main()
