"""function-go-templating: the resources, status, context and requirements that a Go template renders.

The template sees the request as JSON has it. Its output is a stream of documents: composed resources by their
annotation, the composite with its status, and documents of the function's own group.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, EngineError, Problem, Source, suggest
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.crossplane.composition import TEMPLATING
from claimsmith.functions.protocol import (
    EXTRA_RESOURCES,
    Condition,
    Function,
    Later,
    Origin,
    Ready,
    Request,
    Requirements,
    Resource,
    Response,
    Result,
    Severity,
    State,
    Target,
)
from claimsmith.functions.registry import Bind, Place
from claimsmith.functions.requirements import selector_of
from claimsmith.patching import environments
from claimsmith.templating import gofunction, golex
from claimsmith.templating.readings import Scalar

NAME = f"{TEMPLATING}/composition-resource-name"
READY = f"{TEMPLATING}/ready"
_META = f"meta.{TEMPLATING}/v1alpha1"
_META_KINDS = ("ClaimConditions", "CompositeConnectionDetails", "Context", "ExtraResources")
_VERDICTS = {"True": Ready.true, "False": Ready.false, "Unspecified": Ready.unspecified}
_SYSTEM_CONDITIONS = ("Ready", "Synced", "Healthy")
_SEPARATOR = "\n---\n"
_BLOCK = re.compile(r"\|[-+0-9]*\s*(#.*)?$")
"""The end of the line above a block of text that is kept as it is."""


def bind(place: Place) -> Function:
    """The function for one step."""
    return lambda request: _respond(place, request, *_text(place, request))


def of_templates(texts: Mapping[str, str]) -> Bind:
    """The function of a folder of templates, which needs no input."""
    return lambda place: lambda request: _respond(place, request, _joined(texts), None)


def _respond(place: Place, request: Request, text: str, start: Source | None) -> Response:
    seed = f"{_uid(request)}/{place.step.name}"
    try:
        rendering = gofunction.render(
            text,
            data(request),
            file=_TEMPLATE,
            seed=seed,
            missing=_missing_key(place),
            delimiters=_delimiters(place),
        )
        found = gofunction.documents(rendering, file=_OUTPUT)
    except EngineError as error:
        raise ComposeError(*(_in_composition(p, start) for p in error.problems)) from error
    answer = _Answer(request)
    origins: dict[str, Origin] = {}
    later: dict[str, Later] = {}
    for index, document in enumerate(found):
        name = answer.take(document)
        if name is not None:
            origins[name] = partial(_origin, place, rendering, document, start)
            later[name] = partial(_later, rendering, index, len(found))
    results = tuple(_derived(name, _moved(where, start)) for name, where in rendering.derived)
    return replace(answer.response(results), origins=origins, later=later)


def _later(rendering: gofunction.Rendering, index: int, count: int) -> Mapping[fieldpath.Path, Scalar]:
    """The fields of one document that are nothing but a field of another resource."""
    found = gofunction.followed(rendering)
    return found[index] if len(found) == count else {}


def _origin(
    place: Place, rendering: gofunction.Rendering, document: Document, start: Source | None, path: fieldpath.Path
) -> Source:
    """The line of the composition that writes a field of a document; that of the step where it is not known."""
    line = _moved(rendering.origin(document.source_of(path)), start)
    return line or place.document.source_of(place.step.at)


# The template


_TEMPLATE, _OUTPUT = "template", "output of the template"


def _text(place: Place, request: Request) -> tuple[str, Source | None]:
    """The text of the template, and the line before its first, where that is known."""
    step = place.step
    source = step.input.get("source")
    match source:
        case "Inline":
            inline = object_at(step.input, "inline")
            if inline.get("template"):
                return str(inline["template"]), _start(place, f"{step.at}.inline.template", str(inline["template"]))
            if inline.get("templates"):
                return _SEPARATOR.join(map(str, inline["templates"])), None
            raise _invalid(place, "inline", "has no template", "write it: inline: {template: …}")
        case "FileSystem":
            return _from_files(place), None
        case "Environment":
            key = str(object_at(step.input, "environment").get("key", ""))
            found = request.environment()
            if not isinstance(found.get(key), str):
                fix = suggest(key, sorted(found), "put the template into an EnvironmentConfig, and read that first")
                raise _invalid(place, "environment.key", f"names {key!r}, which is no text of the environment", fix)
            return str(found[key]), None
        case _:
            raise _invalid(place, "source", f"is {source!r}", "use Inline, FileSystem or Environment")


def _from_files(place: Place) -> str:
    """The templates of a folder, in the order in which they are found."""
    directory = str(object_at(place.step.input, "fileSystem").get("dirPath", ""))
    if not directory:
        raise _invalid(place, "fileSystem.dirPath", "is missing", "name the folder of the templates")
    files = place.files(directory) if place.files else None
    if not files:
        fix = "put the templates into a folder beside the composition, or write them inline"
        raise _invalid(place, "fileSystem.dirPath", f"names {directory!r}, where no templates are", fix)
    return _joined(files)


def _joined(texts: Mapping[str, str]) -> str:
    return "".join(f"{text}{_SEPARATOR}" for text in texts.values())


def _start(place: Place, path: str, text: str) -> Source | None:
    """The line before a template's first one: that of the key, since a block of text starts below it.

    None where the template is no such block: then its lines are not those of the file.
    """
    if "\n" not in text:
        return None
    where, lines = place.document.source_of(path), place.document.text.splitlines()
    line = lines[where.line - place.document.line] if where.line - place.document.line < len(lines) else "|"
    return where if _BLOCK.search(line) else None


def _moved(where: Source | None, start: Source | None) -> Source | None:
    """A place in the template as a place in the composition."""
    if where is None or start is None or where.file != _TEMPLATE:
        return None
    return Source(start.file, start.line + where.line, where.column)


def _in_composition(problem: Problem, start: Source | None) -> Problem:
    moved = _moved(problem.where, start)
    if moved or problem.where is None:
        return replace(problem, where=moved)
    return replace(problem, what=f"{problem.what} ({problem.where.file}, line {problem.where.line})", where=None)


def _missing_key(place: Place) -> str:
    """The value of Go's option missingkey."""
    chosen = "default"
    for option in place.step.input.get("options") or ():
        key, _, value = str(option).partition("=")
        if key != "missingkey" or value not in gofunction.MISSING:
            fix = f"use missingkey={'|'.join(gofunction.MISSING)}"
            raise _invalid(place, "options", f"has {option!r}, which Go's templates do not know", fix)
        chosen = value
    return chosen


def _delimiters(place: Place) -> tuple[str, str]:
    given = object_at(place.step.input, "delims")
    left, right = given.get("left"), given.get("right")
    return (str(left), str(right)) if left and right else golex.DELIMITERS


def _invalid(place: Place, field_: str, what: str, fix: str) -> ComposeError:
    return ComposeError(place.document.problem(f"{field_} {what}", f"{place.step.at}.{field_}", fix))


def _uid(request: Request) -> str:
    metadata = object_at(request.observed.composite.document, "metadata")
    return str(metadata.get("uid") or f"{metadata.get('namespace', '')}/{metadata.get('name', '')}")


def _derived(function: str, where: Source | None) -> Result:
    message = f"{function} gives a value that is derived from the composite's uid and this place, not a random one"
    fix = "do not use it as a secret: whoever knows the uid can derive it"
    return Result(Severity.normal, message, where=where, fix=fix, remark=True)


# What a template sees


def data(request: Request) -> dict[str, Any]:
    """The request as JSON has it; what is empty is left out."""
    extra = {name: _items(found) for name, found in request.extra_resources.items()}
    required = {name: _items(found) for name, found in (request.required_resources or {}).items()}
    credentials = {
        name: {"credentialData": {"data": _encoded(content)}} for name, content in request.credentials.items()
    }
    seen: dict[str, Any] = {
        "meta": {"tag": request.tag} if request.tag else {},
        "observed": _state(request.observed),
        "desired": _state(request.desired),
        "input": dict(request.input),
        "context": dict(request.context),
        "extraResources": extra or required,
        "requiredResources": required,
        "credentials": credentials,
    }
    return {key: value for key, value in seen.items() if value or key == "observed"}


def _state(state: State) -> dict[str, Any]:
    composite = _resource(state.composite)
    resources = {name: _resource(r) for name, r in state.resources.items()}
    return {**({"composite": composite} if composite else {}), **({"resources": resources} if resources else {})}


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        **({"resource": dict(resource.document)} if resource.document else {}),
        **({"connectionDetails": _encoded(resource.details)} if resource.details else {}),
        **({"ready": resource.ready.value} if resource.ready is not Ready.unspecified else {}),
    }


def _items(found: Sequence[Resource]) -> dict[str, Any]:
    return {"items": [_resource(r) for r in found]} if found else {}


def _encoded(details: Mapping[str, bytes]) -> dict[str, str]:
    return {key: base64.b64encode(value).decode() for key, value in details.items()}


# What it renders


@dataclass
class _Answer:
    """The response, document by document."""

    request: Request
    composite: dict[str, Any] = field(init=False)
    resources: dict[str, Resource] = field(init=False)
    details: dict[str, bytes] = field(init=False)
    ready: Ready = field(init=False)
    context: dict[str, Any] = field(init=False)
    conditions: list[Condition] = field(default_factory=list)
    requirements: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        desired = self.request.desired
        self.composite = copied(dict(desired.composite.document))
        self.resources = dict(desired.resources)
        self.details = dict(desired.composite.details)
        self.ready = desired.composite.ready
        self.context = copied(dict(self.request.context))

    def take(self, document: Document) -> str | None:
        """Add one document of the output; returns the name of a resource."""
        produced = document.data
        for key in ("apiVersion", "kind"):
            if not isinstance(produced.get(key), str) or not produced[key]:
                what = f"the template renders a document without {key} (output of the template, line {document.line})"
                raise ComposeError(Problem(what, fix=f"write {key}: into it, or leave the document out"))
        if produced["apiVersion"] == _META:
            self._take_meta(produced)
            return None
        annotations = _annotations(produced)
        verdict = annotations.pop(READY, None)
        if verdict is not None and verdict not in _VERDICTS:
            what = f"the annotation {READY} is {verdict!r}"
            raise ComposeError(Problem(what, fix=f"use one of: {', '.join(_VERDICTS)}"))
        name = annotations.pop(NAME, None)
        own = self.request.observed.composite.document
        if name is None and (produced["apiVersion"], produced["kind"]) == (own.get("apiVersion"), own.get("kind")):
            self._take_composite(produced, verdict)
            return None
        if name is None:
            what = f"the template makes a {produced['kind']} without the annotation {NAME}"
            raise ComposeError(Problem(what, fix="name it: {{ setResourceNameAnnotation … }} among its annotations"))
        ready = _VERDICTS[verdict] if verdict else Ready.unspecified
        self.resources[name] = Resource(_with_annotations(produced, annotations), ready=ready)
        return name

    def _take_composite(self, produced: Mapping[str, Any], verdict: str | None) -> None:
        """The composite itself: only its status and its readiness count."""
        if "status" in produced:
            environments.merge_into(self.composite, {"status": object_at(produced, "status")})
        if verdict:
            self.ready = _VERDICTS[verdict]

    def _take_meta(self, produced: Mapping[str, Any]) -> None:
        match produced["kind"]:
            case "CompositeConnectionDetails":
                for key, value in object_at(produced, "data").items():
                    self.details[key] = _decoded(str(value))
            case "ClaimConditions":
                self.conditions += [_condition(c) for c in produced.get("conditions") or () if isinstance(c, Mapping)]
            case "Context":
                environments.merge_into(self.context, object_at(produced, "data"))
            case "ExtraResources":
                for name, wanted in object_at(produced, "requirements").items():
                    if name in self.requirements:
                        what = f"two ExtraResources require something under the name {name!r}"
                        raise ComposeError(Problem(what, fix="give each requirement its own name"))
                    self.requirements[name] = wanted if isinstance(wanted, Mapping) else {}
            case kind:
                what = f"there is no kind {kind!r} of {_META}"
                raise ComposeError(Problem(what, fix=suggest(str(kind), _META_KINDS)))

    def response(self, results: tuple[Result, ...]) -> Response:
        """All of it."""
        selectors = {name: selector_of(wanted) for name, wanted in self.requirements.items()}
        extra = {name: s for name, s in selectors.items() if not s.namespace}
        found = {name: _items(r) for name, r in self.request.extra_resources.items()}
        found |= {name: _items(r) for name, r in (self.request.required_resources or {}).items()}
        if found:
            self.context[EXTRA_RESOURCES] = {**object_at(self.context, EXTRA_RESOURCES), **found}
        return Response(
            State(Resource(self.composite, self.details, self.ready), self.resources),
            self.context,
            results,
            tuple(self.conditions),
            Requirements(extra_resources=extra, resources=selectors),
        )


def _annotations(produced: Mapping[str, Any]) -> dict[str, str]:
    annotations = object_at(object_at(produced, "metadata"), "annotations")
    odd = sorted(key for key, value in annotations.items() if not isinstance(value, str))
    if odd:
        what = f"the annotations of {produced['kind']} {annotations.get(NAME, '')!r} are not all text: {', '.join(odd)}"
        raise ComposeError(Problem(what, fix="quote them in the template: {{ … | quote }}"))
    return dict(annotations)


def _with_annotations(produced: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    metadata = {k: v for k, v in object_at(produced, "metadata").items() if k != "annotations"}
    kept = {**metadata, **({"annotations": dict(annotations)} if annotations else {})}
    return {**produced, **({"metadata": kept} if kept or "metadata" in produced else {})}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _condition(data_: Mapping[str, Any]) -> Condition:
    kind, status = str(data_.get("type", "")), str(data_.get("status", ""))
    if kind in _SYSTEM_CONDITIONS:
        what = f"the condition {kind} is Crossplane's own"
        raise ComposeError(Problem(what, fix="use another type of condition"))
    target = Target.composite_and_claim if data_.get("target") == "CompositeAndClaim" else Target.composite
    return Condition(
        kind,
        status if status in ("True", "False") else "Unknown",
        str(data_.get("reason", "")),
        str(data_.get("message") or ""),
        target,
    )
