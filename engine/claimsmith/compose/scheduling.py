"""Where each application goes: the scheduling of applications to targets, and its record.

An application is scheduled once, to a target of its own namespace: the one that it names, else of those that its
selector matches the heaviest, then a stable choice. That is recorded as a binding is, and from then on the record
rules: a target that appears later changes nothing, one that is gone or leads elsewhere is an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from claimsmith.base.errors import BindingError, Collector, NotPermitted, Problem, suggest
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.base.regexp import matches
from claimsmith.compose.drafts import Expansion
from claimsmith.compose.workload_targets import Published, published
from claimsmith.dialects.workloads.reading import TARGET, Application
from claimsmith.platform import binding, selection
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Placement:
    """An application with the target that it is scheduled to."""

    application: Application
    target: Published
    uid: str
    reason: str
    recorded: bool = True
    composed: bool = False
    """Whether it is part of another application: then it is deployed within that."""

    @property
    def target_key(self) -> ClassKey:
        """The target as a record names it."""
        return ClassKey(TARGET, self.target.target.key.name)

    @property
    def address(self) -> str:
        """The application's address in the plan."""
        return str(self.application.key)


@dataclass(frozen=True, slots=True)
class Schedule:
    """All applications of a stack with their targets, and why some have none."""

    placements: tuple[Placement, ...] = ()
    unscheduled: tuple[Problem, ...] = ()
    targets: tuple[Published, ...] = ()


def schedule(
    catalog: Catalog,
    expansion: Expansion,
    records: Iterable[Record],
    *,
    project: str,
    stack: str,
    rebind: frozenset[ClaimKey] = frozenset(),
) -> Schedule:
    """Every application of a stack with its target, as recorded or selected now; one without a target is reported."""
    targets = published(catalog, expansion)
    known = {r.claim: r for r in records}
    composed = [a for root in expansion.drafts for d in root.walk() for a in d.applications]
    placements: list[Placement] = []
    unscheduled: list[Problem] = []
    problems = Collector()
    authored = [(a, False) for a in catalog.workloads.applications.values()]
    for application, inner in [*authored, *((a, True) for a in composed)]:
        record = known.get(application.key)
        with problems.catch():
            if record:
                record.refuse_changed_uid()
            kept = record is not None and application.key not in rebind
            found = _held(application, record, targets, stack) if record and kept else _choose(application, targets)
            if isinstance(found, Problem):
                if record:
                    raise BindingError(found)
                unscheduled.append(found)
                continue
            uid = record.uid if record else binding.new_uid(application.key, catalog, project=project, stack=stack)
            target, reason = found
            placements.append(Placement(application, target, uid, reason, kept, inner))
    problems.raise_as(BindingError)
    return Schedule(tuple(placements), tuple(unscheduled), tuple(targets.values()))


def to_records(placements: Iterable[Placement], before: Iterable[Record]) -> list[Record]:
    """The records to write for scheduled applications; a changed target keeps the one before."""
    known = {r.claim: r for r in before}
    records = []
    for p in placements:
        new = Record(p.application.key, p.uid, p.target_key, p.reason, digest(p.target))
        old = known.get(new.claim)
        if old:
            new = replace(new, previous=old.klass if old.klass != new.klass else old.previous)
        records.append(new)
    return records


def unrecorded(placements: Iterable[Placement], stack: str) -> list[Problem]:
    """One problem for each scheduled application that is not in the record."""
    return [
        Problem(
            f"{p.address} is not scheduled yet; {p.target_key} would take it ({p.reason})",
            p.application.document.source_of("kind"),
            "",
            f"run: claimsmith bind {stack}",
            rule=binding.UNRECORDED,
        )
        for p in placements
        if not p.recorded
    ]


def digest(target: Published) -> str:
    """A fingerprint of what an application relies on: the cluster behind its target, not the target's labels."""
    content = {"target": str(target.target.key), "cluster": target.cluster.identity}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _choose(application: Application, targets: Mapping[ClaimKey, Published]) -> tuple[Published, str] | Problem:
    """The target for an application that has none yet; only those of its namespace are seen."""
    key = application.key
    here = [
        t for k, t in sorted(targets.items()) if k.namespace == key.namespace and matches(k.name, application.may_use)
    ]
    if application.target:
        return _by_name(application, application.target, targets, here)
    path = application.selector_path
    if application.selector is None:
        what = f"{key} names no target and selects none: it is not scheduled"
        return application.document.problem(what, "spec", _offer(here, key))
    matching = [t for t in here if application.selector.matches(t.target.labels)]
    if not matching:
        what = f"no target in {key.namespace} matches {application.selector}: {key} is not scheduled"
        return application.document.problem(what, path, _offer(here, key))
    chosen, how = selection.heaviest(str(key), [t.target for t in matching])
    why = f"{path.rpartition('.')[2]} {application.selector}"
    return targets[chosen.key], f"{why}; {how}" if how else why


def _by_name(
    application: Application, name: str, targets: Mapping[ClaimKey, Published], here: Sequence[Published]
) -> tuple[Published, str] | Problem:
    key = application.key
    found = targets.get(ClaimKey(TARGET, key.namespace, name))
    if found and not matches(name, application.may_use):
        what = f"applications of this folder may not be sent to the target {name!r}"
        raise NotPermitted(application.document.problem(what, "spec.targetRef.name", _offer(here, key)))
    if found:
        return found, "targetRef"
    elsewhere = sorted(k.namespace for k in targets if k.name == name)
    what = f"there is no target {name!r} in {key.namespace}: {key} is not scheduled"
    fix = suggest(name, [t.target.key.name for t in here], _offer(here, key))
    if elsewhere:
        fix = f"that of {', '.join(elsewhere)} is not seen from here: have the cluster published in {key.namespace}"
    return application.document.problem(what, "spec.targetRef.name", fix)


def _held(
    application: Application, record: Record, targets: Mapping[ClaimKey, Published], stack: str
) -> tuple[Published, str]:
    """The recorded target, if the record still holds. What was deployed must not silently go elsewhere."""
    key = application.key
    found = targets.get(ClaimKey(TARGET, key.namespace, record.klass.name))
    again = f"claimsmith bind {stack} --rebind {key}"
    if found is None:
        what = f"{key} is scheduled to {record.klass}, which is gone"
        fix = f"bring the target back, or schedule anew on purpose: {again}"
        raise BindingError(Problem(what, record.where, "class", fix))
    if not matches(record.klass.name, application.may_use):
        what = f"applications of this folder may not be sent to the target {record.klass.name!r}, as {key} is"
        fix = "have the platform team permit the target in claimsmith.yaml again; what is deployed stays until then"
        raise BindingError(Problem(what, record.where, "class", fix))
    if application.target and application.target != record.klass.name:
        what = f"{key} is scheduled to {record.klass}, but its targetRef now names {application.target!r}"
        fix = f"put it back, or schedule anew on purpose: {again}"
        raise BindingError(application.document.problem(what, "spec.targetRef.name", fix))
    if digest(found) != record.digest:
        target = found.target
        what = f"{target.key} leads to another cluster ({found.cluster.identity}) than when {key} was scheduled to it"
        fix = f"put it back and make a new target, or schedule anew on purpose: {again}"
        raise BindingError(target.document.problem(what, target.path, fix))
    return found, record.reason


def _offer(here: Sequence[Published], key: ClaimKey) -> str:
    if not here:
        return f"have a cluster published in {key.namespace}: a WorkloadTarget in that namespace"
    names = (
        f"{t.target.key.name} ({', '.join(f'{k}={v}' for k, v in t.target.labels.items())})"
        if t.target.labels
        else t.target.key.name
        for t in here
    )
    return f"use one of: {', '.join(names)}"
