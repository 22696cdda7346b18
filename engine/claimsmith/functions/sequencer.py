"""function-sequencer: a resource is desired only once the resources before it in a sequence are ready.

What exists already stays desired, whatever becomes of the resources before it. With deletion sequencing, each pair of
existing resources also gets a Usage, which keeps the earlier one from being deleted before the later one.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import Field

from claimsmith.base.values import object_at
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import cel_view, inputs
from claimsmith.functions.protocol import Function, Ready, Request, Resource, Response, Result, Severity, State
from claimsmith.functions.registry import Place
from claimsmith.golang import strconv

_LONGEST_NAME = 63
_USAGE = {
    "v1": ("apiextensions.crossplane.io/v1beta1", ("Usage",)),
    "v2": ("protection.crossplane.io/v1beta1", ("ClusterUsage", "Usage")),
}


class _Rule(Lenient):
    sequence: tuple[str, ...] = Field((), strict=False)
    condition: str = ""
    create_only: bool = False
    delete_only: bool = False


class _Sequences(inputs.FunctionInput):
    rules: tuple[_Rule, ...] = Field((), strict=False)
    cache_ttl: str = Field("", alias="cacheTTL")
    enable_deletion_sequencing: bool = False
    replay_deletion: bool = False
    usage_version: Literal["v1", "v2"] = "v2"
    reset_composite_readiness: bool = False


@dataclass(slots=True)
class _Run:
    place: Place
    settings: _Sequences
    request: Request
    desired: dict[str, Resource]
    ready: Ready
    usages: dict[str, Resource] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def run(self) -> None:
        for index, rule in enumerate(self.settings.rules):
            self._apply(rule, index)

    def _apply(self, rule: _Rule, index: int) -> None:
        at = f"rules[{index}]"
        if rule.create_only and rule.delete_only:
            what = "a rule is either for creation only or for deletion only"
            raise inputs.problem(self.place, what, at, "remove createOnly or deleteOnly")
        skipped = bool(rule.condition) and not inputs.is_true(
            self.place, rule.condition, cel_view.values(self.request), f"{at}.condition", checked_late=True
        )
        if skipped:
            listed = f"[{' '.join(rule.sequence)}]"
            self.messages.append(
                f"Skipping sequence {listed}: condition {strconv.quote(rule.condition)} evaluated to false"
            )
        patterns = [self._pattern(name, f"{at}.sequence[{i}]") for i, name in enumerate(rule.sequence)]
        if self.settings.enable_deletion_sequencing and not rule.create_only:
            self._protect(patterns)
        if skipped or rule.delete_only:
            return
        for position, name in enumerate(rule.sequence):
            if position and name not in self.request.observed.resources:
                self._delay(rule.sequence, patterns, position)

    def _pattern(self, name: str, path: str) -> Any:
        whole = name if name.startswith("^") or name.endswith("$") else f"^{name}$"
        return inputs.pattern(self.place, whole, path)

    def _delay(self, names: tuple[str, ...], patterns: list[Any], position: int) -> None:
        """Leave out what matches, unless all that stands before it is ready."""
        for name, pattern in zip(names[:position], patterns[:position], strict=True):
            before = [r for n, r in self.desired.items() if pattern.search(n)]
            ready = sum(r.ready is Ready.true for r in before)
            if before and ready == len(before):
                continue
            state = f"is not fully ready ({ready} of {len(before)})" if before else "does not exist yet"
            after, first = strconv.quote(names[position]), strconv.quote(name)
            message = f"Delaying creation of resource(s) matching {after} because {first} {state}"
            self.messages.append(message)
            self._leave_out(patterns[position])
            return

    def _leave_out(self, pattern: Any) -> None:
        existing = self.request.observed.resources
        absent = [n for n in self.desired if pattern.search(n) and n not in existing]
        for name in absent:
            del self.desired[name]
        if absent and self.settings.reset_composite_readiness:
            self.ready = Ready.false

    def _protect(self, patterns: list[Any]) -> None:
        """A Usage for each pair of neighbours that exist."""
        for before, after in itertools.pairwise(patterns):
            for name, by in self._existing(after):
                for of_name in self.desired:
                    of = self.request.observed.resources.get(of_name)
                    if of and before.search(of_name):
                        self.usages[f"{name}-{of_name}-usage"] = Resource(
                            self._usage(of.document, by.document), ready=Ready.true
                        )

    def _existing(self, pattern: Any) -> Iterator[tuple[str, Resource]]:
        version, kinds = _USAGE[self.settings.usage_version]
        for name, resource in self.request.observed.resources.items():
            document = resource.document
            is_usage = document.get("apiVersion") == version and document.get("kind") in kinds
            if pattern.search(name) and not is_usage:
                yield name, resource

    def _usage(self, of: Mapping[str, Any], by: Mapping[str, Any]) -> dict[str, Any]:
        api_version, kinds = _USAGE[self.settings.usage_version]
        parts = (by.get("kind", ""), _name(by), of.get("kind", ""), _name(of))
        metadata = {"name": _usage_name("-".join(str(part) for part in parts).lower())}
        namespace = object_at(of, "metadata").get("namespace")
        kind = kinds[0]
        if self.settings.usage_version == "v2" and namespace:
            kind, metadata["namespace"] = kinds[1], str(namespace)
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": metadata,
            "spec": {
                "by": _reference(by),
                "of": _reference(of),
                "reason": "dependency",
                "replayDeletion": self.settings.replay_deletion,
            },
        }


def bind(place: Place) -> Function:
    """The function for one step."""
    settings = inputs.read(_Sequences, place)
    inputs.check_duration(place, settings.cache_ttl, "cacheTTL")

    def run(request: Request) -> Response:
        desired = request.desired
        state = _Run(place, settings, request, dict(desired.resources), desired.composite.ready)
        state.run()
        return replace(
            Response.to(request),
            desired=State(replace(desired.composite, ready=state.ready), {**state.desired, **state.usages}),
            results=tuple(Result(Severity.normal, message) for message in state.messages),
        )

    return run


def _name(document: Mapping[str, Any]) -> str:
    return str(object_at(document, "metadata").get("name", ""))


def _reference(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": document.get("apiVersion", ""),
        "kind": document.get("kind", ""),
        "resourceRef": {"name": _name(document)},
    }


def _usage_name(name: str) -> str:
    """A name for a Usage, cut to what Kubernetes takes; its hash keeps it unique."""
    suffix = f"{hashlib.sha256(name.encode()).hexdigest()[:6]}-dependency"
    if len(name) + 1 + len(suffix) <= _LONGEST_NAME:
        return f"{name}-{suffix}"
    cut = name[: _LONGEST_NAME - len(suffix) - 1]
    return f"{cut}{suffix}" if cut.endswith("-") else f"{cut}-{suffix}"
