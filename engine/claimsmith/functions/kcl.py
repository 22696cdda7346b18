"""function-kcl: resources that a KCL program returns, which gets the request as `option("params")`.

The program is in the composition, or in a folder of the project. Modules come from folders of the project too;
nothing is fetched in a run. The child process in which it runs reads these folders and no other file.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import Field

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.merge import MergePolicy, merge
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import inputs, worker
from claimsmith.functions.protocol import (
    Condition,
    Function,
    Ready,
    Request,
    Requirements,
    Resource,
    Response,
    Result,
    Selector,
    Severity,
    State,
    Target,
)
from claimsmith.functions.registry import Place

META: Final = "meta.krm.kcl.dev/v1alpha1"
_NAME: Final = "krm.kcl.dev/composition-resource-name"
_READY: Final = "krm.kcl.dev/ready"
_VERDICTS: Final = {"True": Ready.true, "False": Ready.false, "Unspecified": Ready.unspecified}
_VERDICT_TEXTS: Final = {verdict: text for text, verdict in _VERDICTS.items()}
_SYSTEM_CONDITIONS: Final = frozenset({"Ready", "Synced", "Healthy"})
_REMOTE: Final = ("oci://", "git://", "git::", "http://", "https://", "ssh://", "github.com/")


@dataclass(frozen=True, slots=True)
class Program:
    """The KCL files of a function, and the folders of the modules that they import."""

    files: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    """What the program may read."""


class _Base(Lenient):
    name: str
    base: dict[str, Any]


class _Spec(Lenient):
    source: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    credentials: Any = None
    dependencies: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    resources: tuple[_Base, ...] = Field((), strict=False)
    target: str = "Default"


class _Input(inputs.FunctionInput):
    spec: _Spec = Field(default_factory=lambda: _Spec(resources=()))


def bind(place: Place) -> Function:
    """The function for one step whose program is in the composition."""
    return of_program(Program())(place)


def of_program(program: Program) -> Callable[[Place], Function]:
    """The function with files or modules of a project."""

    def bound(place: Place) -> Function:
        spec = inputs.read(_Input, place).spec

        def run(request: Request) -> Response:
            _check(place, spec, program)
            composed = _Composed(place, request)
            composed.apply(spec, _documents(place, spec, program, request))
            return composed.response()

        return run

    return bound


def _check(place: Place, spec: _Spec, program: Program) -> None:
    if not spec.source and not program.files:
        raise inputs.problem(place, "the step has no KCL program", "spec.source", "write one")
    if spec.source.strip().startswith(_REMOTE):
        what = f"the KCL program is elsewhere: {spec.source.strip()}"
        fix = "copy it into the project as functions/NAME/main.k, and call the step's function NAME"
        raise inputs.problem(place, what, "spec.source", fix)
    missing = [name for name in dependencies(spec.dependencies) if name not in program.packages]
    if missing:
        what = f"the KCL program needs the module {missing[0]!r}, which the project does not have"
        fix = f"copy the module to functions/modules/{missing[0]}: nothing is fetched in a run"
        raise inputs.problem(place, what, "spec.dependencies", fix)
    if spec.target == "PatchResources" and not spec.resources:
        raise inputs.problem(place, "the target PatchResources needs resources", "spec.resources", "add one")


def dependencies(text: str) -> list[str]:
    """The names of the modules that a list of dependencies in the format of kcl.mod has."""
    return [line.partition("=")[0].strip().strip('"') for line in text.splitlines() if "=" in line.partition("#")[0]]


def _documents(place: Place, spec: _Spec, program: Program, request: Request) -> list[dict[str, Any]]:
    """What the program returns: `items`, or else its whole output."""
    files = {"prog.k": spec.source} if spec.source else dict.fromkeys(program.files)
    answer = worker.worker(worker.KCL, program.folders).call(
        {
            "files": files,
            "arguments": _arguments(spec, request),
            "packages": dict(program.packages),
            "config": spec.config,
        },
        place.timeout,
    )
    if "failed" in answer:
        raise ComposeError(_failure(place, spec, str(answer["failed"])))
    output = answer["documents"]
    if len(output) == 1 and isinstance(output[0], dict) and "items" in output[0]:
        output = output[0]["items"]
    if not isinstance(output, list) or not all(isinstance(document, dict) for document in output):
        raise inputs.problem(place, "the KCL program's items are no list of resources", "spec.source", "fix items")
    return list(output)


def _failure(place: Place, spec: _Spec, message: str) -> Problem:
    """The compiler's or the program's own message, at the line of the composition where it can be found."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    at = next((line for line in lines if line.startswith("---> File ")), "")
    position, _, reason = at.removeprefix("---> File ").partition(": ")
    head = lines[0].partition("]: ")[2] or lines[0] if lines else "no reason given"
    what = f"the KCL program fails: {head}: {reason} ({position})" if reason else f"the KCL program fails: {head}"
    path = f"{place.step.at}.spec.source" if spec.source else place.step.at
    return Problem(what, place.document.source_of(path), path, "fix the program")


def _arguments(spec: _Spec, request: Request) -> dict[str, str]:
    params = {**spec.params, **_params(request)}
    config = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLRun", "spec": {"source": spec.source, "params": params}}
    resources = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [], "functionConfig": config}
    # The environment of the process stays its own: a program that reads it would not render the same elsewhere.
    return {"params": _json(params), "resource_list": _json(resources), "items": "[]", "env": "{}"}


def _params(request: Request) -> dict[str, Any]:
    observed, desired = request.observed, request.desired
    head = {key: observed.composite.document.get(key) for key in ("apiVersion", "kind")}
    return {
        "oxr": observed.composite.document,
        "dxr": {**desired.composite.document, **head},
        "ocds": {name: _observed(resource) for name, resource in observed.resources.items()},
        "dcds": {n: {"Resource": r.document, "Ready": _VERDICT_TEXTS[r.ready]} for n, r in desired.resources.items()},
        "ctx": request.context,
        "extraResources": _listed(request.extra_resources),
        "requiredResources": _listed(request.required_resources or {}),
    }


def _observed(resource: Resource) -> dict[str, Any]:
    details = {name: base64.b64encode(value).decode() for name, value in resource.details.items()}
    return {"Resource": resource.document, "ConnectionDetails": details, "Ready": _VERDICT_TEXTS[resource.ready]}


def _listed(resources: Mapping[str, Sequence[Resource]]) -> dict[str, Any]:
    return {name: [{"Resource": r.document} for r in found] for name, found in resources.items()}


def _json(value: Any) -> str:
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":"))


def _whole(value: Any) -> Any:
    """A value as Go writes it: a whole number has no point."""
    match value:
        case float() if value.is_integer() and abs(value) < 1e15:  # a float holds such numbers exactly
            return int(value)
        case Mapping():
            return {str(key): _whole(item) for key, item in value.items()}
        case list() | tuple():
            return [_whole(item) for item in value]
        case _:
            return value


@dataclass(slots=True)
class _Composed:
    """The response, while the program's documents are read into it."""

    place: Place
    request: Request
    composite: dict[str, Any] = field(init=False)
    resources: dict[str, Resource] = field(init=False)
    details: dict[str, bytes] = field(init=False)
    context: dict[str, Any] = field(init=False)
    extra: dict[str, Selector] = field(default_factory=dict)
    required: dict[str, Selector] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What the program returned under each name."""

    def __post_init__(self) -> None:
        desired, own = self.request.desired, self.request.observed.composite.document
        head = {key: own[key] for key in ("apiVersion", "kind") if key in own}
        self.composite = {**copied(dict(desired.composite.document)), **head}
        self.resources = dict(desired.resources)
        self.details = dict(desired.composite.details)
        self.context = dict(self.request.context)

    def response(self) -> Response:
        composite = replace(self.request.desired.composite, document=self.composite, details=self.details)
        return Response(
            State(composite, self.resources),
            self.context,
            tuple(self.results),
            tuple(self.conditions),
            Requirements(self.extra, self.required),
        )

    def apply(self, spec: _Spec, documents: Sequence[dict[str, Any]]) -> None:
        match spec.target:
            case "XR":
                for document in documents:
                    _write(document, self.composite, ())
            case "Resources":
                for document in documents:
                    name, ready, kept = self._named(document)
                    before = self.resources[name].document if name in self.resources else {}
                    self._add(name, Resource({**before, **kept}, ready=ready))
            case "PatchDesired":
                self._patch(documents)
            case "PatchResources":
                for each in spec.resources:
                    self.resources[each.name] = Resource(copied(each.base))
                self._patch(documents)
            case _:
                for document in documents:
                    self._default(document)

    def _default(self, document: dict[str, Any]) -> None:
        kind = (document.get("apiVersion"), document.get("kind"))
        if kind == (self.composite.get("apiVersion"), self.composite.get("kind")):
            status = {"status": dict(object_at(document, "status"))}
            own = {"status": copied(dict(object_at(self.composite, "status")))}
            self.composite |= merge(own, status, MergePolicy.ForceMergeObjects)
        elif kind[0] == META:
            self._meta(document)
        else:
            name, ready, kept = self._named(document)
            self._add(name, Resource(kept, ready=ready))

    def _add(self, name: str, resource: Resource) -> None:
        if not all(isinstance(resource.document.get(key), str) for key in ("apiVersion", "kind")):
            what = "the KCL program returns a document without apiVersion or kind"
            raise inputs.problem(self.place, what, "spec.source", "let items hold resources only")
        resource_name = f"{resource.document.get('kind')}/{object_at(resource.document, 'metadata').get('name', '')}"
        if name in self.names:
            what = f"the KCL program returns two resources named {name!r}: {self.names[name]} and {resource_name}"
            fix = f"set metadata.name, or the annotation {_NAME}"
            raise inputs.problem(self.place, what, "spec.source", fix)
        self.names[name] = resource_name
        self.resources[name] = resource

    def _patch(self, documents: Sequence[dict[str, Any]]) -> None:
        for document in documents:
            name, ready, kept = self._named(document)
            if name not in self.resources:
                what = f"the KCL program patches {name!r}, which is no desired resource"
                raise inputs.problem(self.place, what, "spec.source", "name one that is desired")
            target: dict[str, Any] = copied(dict(self.resources[name].document))
            _write(kept, target, (), skipped=(("apiVersion",), ("kind",), ("metadata", "name")))
            verdict = self.resources[name].ready if _READY not in _annotations(document) else ready
            self.resources[name] = replace(self.resources[name], document=target, ready=verdict)

    def _named(self, document: Mapping[str, Any]) -> tuple[str, Ready, dict[str, Any]]:
        """A resource's name and readiness, and the document without the annotations that gave them."""
        annotations = dict(_annotations(document))
        metadata = {key: value for key, value in object_at(document, "metadata").items() if key != "annotations"}
        name = annotations.pop(_NAME, None) or metadata.get("name") or ""
        verdict = annotations.pop(_READY, "Unspecified")
        if verdict not in _VERDICTS:
            what = f"the annotation {_READY} is {verdict!r}"
            raise inputs.problem(self.place, what, "spec.source", "use True, False or Unspecified")
        if annotations:
            metadata["annotations"] = annotations
        kept = {key: value for key, value in document.items() if key != "metadata"}
        return str(name), _VERDICTS[verdict], {**kept, **({"metadata": metadata} if metadata else {})}

    def _meta(self, document: Mapping[str, Any]) -> None:
        match document.get("kind"):
            case "CompositeConnectionDetails":
                for name, value in object_at(document, "data").items():
                    self.details[str(name)] = self._decoded(str(name), value)
            case "ExtraResources":
                self._require(self.extra, document, "matchName", "matchNamespace")
            case "RequiredResources":
                self._require(self.required, document, "name", "namespace")
            case "Conditions":
                self._conditions(document.get("conditions"))
            case "Events":
                self._events(document.get("events"))
            case "Context":
                self.context = merge(self.context, dict(object_at(document, "data")), MergePolicy.ForceMergeObjects)
            case kind:
                what = f"the KCL program returns a {kind} of {META}, which is unknown"
                fix = "use CompositeConnectionDetails, Conditions, Context, Events, ExtraResources or RequiredResources"
                raise inputs.problem(self.place, what, "spec.source", fix)

    def _decoded(self, name: str, value: Any) -> bytes:
        try:
            return base64.b64decode(str(value), validate=True)
        except (binascii.Error, ValueError) as error:
            what = f"the connection detail {name!r} is not base64"
            raise inputs.problem(self.place, what, "spec.source", "encode it: base64.encode(…)") from error

    def _require(self, into: dict[str, Selector], document: Mapping[str, Any], name: str, namespace: str) -> None:
        for key, wanted in object_at(document, "requirements").items():
            if key in into or not isinstance(wanted, Mapping):
                raise inputs.problem(self.place, f"the requirement {key!r} is doubled or no object", "spec.source")
            labels = {str(k): str(v) for k, v in object_at(wanted, "matchLabels").items()}
            into[str(key)] = Selector(
                str(wanted.get("apiVersion", "")),
                str(wanted.get("kind", "")),
                name=str(wanted.get(name) or ""),
                labels=None if wanted.get(name) else labels,
                namespace=str(wanted.get(namespace) or ""),
            )

    def _conditions(self, listed: Any) -> None:
        for each in _objects(listed):
            condition = object_at(each, "condition")
            kind = str(condition.get("type", ""))
            if kind in _SYSTEM_CONDITIONS:
                what = f"the KCL program sets the condition {kind}, which is Crossplane's own"
                raise inputs.problem(self.place, what, "spec.source", "use another type")
            if any(c.type == kind for c in self.conditions) and not each.get("force"):
                continue
            status = str(condition.get("status", ""))
            self.conditions.append(
                Condition(
                    kind,
                    status if status in ("True", "False") else "Unknown",
                    str(condition.get("reason") or ""),
                    str(condition.get("message") or ""),
                    _target(each),
                )
            )

    def _events(self, listed: Any) -> None:
        for each in _objects(listed):
            event = object_at(each, "event")
            kind = event.get("type") or "Normal"
            if kind not in ("Normal", "Warning"):
                what = f"the KCL program returns an event of the type {kind}"
                raise inputs.problem(self.place, what, "spec.source", "use Normal or Warning")
            severity = Severity.normal if kind == "Normal" else Severity.warning
            reason = str(event.get("reason") or "")
            self.results.append(Result(severity, str(event.get("message") or ""), reason, _target(each)))


def _objects(listed: Any) -> Iterator[Mapping[str, Any]]:
    yield from (each for each in (listed if isinstance(listed, list) else ()) if isinstance(each, Mapping))


def _annotations(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_at(object_at(document, "metadata"), "annotations")


def _target(data: Mapping[str, Any]) -> Target:
    return Target.composite_and_claim if data.get("target") == "CompositeAndClaim" else Target.composite


def _write(value: Any, into: dict[str, Any], path: fieldpath.Path, skipped: Sequence[fieldpath.Path] = ()) -> None:
    """Write each leaf of a value at its path; what is empty writes nothing."""
    match value:
        case Mapping():
            for key, item in value.items():
                _write(item, into, (*path, str(key)), skipped)
        case list():
            for index, item in enumerate(value):
                _write(item, into, (*path, index), skipped)
        case _ if path not in skipped:
            fieldpath.put(into, path, value)
