"""Reads native children: resources of Pulumi providers, in the form of Pulumi YAML.

`type` replaces apiVersion and kind; what the resource takes is below `properties`, and what it gives once
it exists is read from `outputs`. Texts of the class may name outputs of siblings, `${role.name}`. They become
`Interpolation`s here, where the class is read, and nowhere else: a claim's value that looks like one stays a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, EngineError, ModelError, Problem, did_you_mean, suggest
from claimsmith.base.labels import CONTROLLER_OWNED, EXTERNAL_NAME, PROTECT, TAGS, TIMEOUT
from claimsmith.base.model import Model
from claimsmith.base.parse import parse
from claimsmith.base.values import Interpolation, SiblingOutput, mapped, object_at, walk
from claimsmith.dialects.common.checked import FieldPath, TypeToken
from claimsmith.dialects.common.interpolations import interpolated_natives, interpolation
from claimsmith.dialects.common.klass import Patch, Side, Template
from claimsmith.dialects.common.metadata import Annotations, Labels
from claimsmith.providers.tokens import Token

PROPERTIES = "properties"
OPTIONS = "options"
OUTPUTS = "outputs"
TARGETS = "properties, options.provider or metadata.labels"
"""What a patch of a native resource may write."""
ANNOTATIONS = (CONTROLLER_OWNED, EXTERNAL_NAME, PROTECT, TAGS, TIMEOUT)
"""The annotations of a native template that count."""
SELECTOR = "Selector"
_SAME_PARENT = ("matchComposite", "matchControllerRef")
_OF_NATIVES = ("id", "urn", OUTPUTS)
_DURATION = re.compile(r"([1-9][0-9]*(\.[0-9]+)?(s|m|h))+")


def _listed(value: Any) -> Any:
    """A list of what may stand alone."""
    return [value] if isinstance(value, str) else value


def _sibling(text: str) -> str:
    """The sibling that an entry of dependsOn names: `role`, or `${role}` as in Pulumi YAML."""
    return text.removeprefix("${").removesuffix("}") if text.startswith("${") else text


def _siblings(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_sibling, names))


def _duration(text: str) -> str:
    if not _DURATION.fullmatch(text):
        raise ValueError(f"the timeout {text!r} is no duration; fix: write it like 90s, 20m or 1h30m")
    return text


_Paths = Annotated[tuple[FieldPath, ...], Field(strict=False), BeforeValidator(_listed)]
_Names = Annotated[tuple[str, ...], Field(strict=False), BeforeValidator(_listed)]
_Duration = Annotated[str, AfterValidator(_duration)]


class Timeouts(Model):
    """`customTimeouts`: how long the engine waits for each operation."""

    create: _Duration | None = None
    update: _Duration | None = None
    delete: _Duration | None = None


class NativeOptions(Model):
    """`options` of a native resource, as Pulumi YAML has them."""

    additional_secret_outputs: _Names = ()
    aliases: _Names = ()
    custom_timeouts: Timeouts | None = None
    delete_before_replace: bool | None = None
    depends_on: Annotated[_Names, AfterValidator(_siblings)] = ()
    ignore_changes: _Paths = ()
    import_: str | None = Field(default=None, alias="import")
    protect: bool | None = None
    provider: str | None = None
    replace_on_changes: _Paths = ()
    retain_on_delete: bool | None = None


class NativeSelector(Model):
    """`xSelector` among properties: which sibling gives the value of `x`, and which of its outputs."""

    match_composite: bool = False
    match_controller_ref: bool = False
    match_labels: dict[str, str] = Field(default_factory=dict)
    type: TypeToken | None = None
    output: FieldPath = "id"


class _Metadata(Model):
    labels: Labels = Field(default_factory=dict)
    annotations: Annotations = Field(default_factory=dict)


class NativeBase(Model):
    """The base of a native resource."""

    type: TypeToken
    properties: dict[str, Any] = Field(default_factory=dict)
    options: NativeOptions = Field(default_factory=NativeOptions)
    metadata: _Metadata = Field(default_factory=_Metadata)


def read_base(base: Mapping[str, Any], document: Document, at: str) -> dict[str, Any]:
    """The base as a class keeps it: checked, with interpolations in its properties."""
    given = {key: value for key, value in base.items() if value is not None}
    raw = parse(NativeBase, document, data=given, at=fieldpath.parse(at))
    _check_annotations(raw.metadata.annotations, document, f"{at}.metadata.annotations")
    metadata = {k: v for k, v in (("labels", raw.metadata.labels), ("annotations", raw.metadata.annotations)) if v}
    options = _annotated(raw.options, raw.metadata.annotations)
    return {
        "type": raw.type,
        **({"metadata": metadata} if metadata else {}),
        PROPERTIES: _interpolated(raw.properties, document, f"{at}.{PROPERTIES}"),
        **({OPTIONS: options} if options else {}),
    }


def _check_annotations(annotations: Mapping[str, str], document: Document, at: str) -> None:
    """Refuse annotations that nothing reads: a native resource has none itself."""
    problems = Collector()
    for key, value in annotations.items():
        place = (*fieldpath.parse(at), key)
        if key not in ANNOTATIONS:
            what = f"a native resource has no annotations, and {key} directs nothing here"
            problems.add(document.problem(what, place, suggest(key, ANNOTATIONS)))
        elif key == TIMEOUT and not _DURATION.fullmatch(value):
            what = f"the timeout {value!r} is no duration"
            problems.add(document.problem(what, place, "write it like 90s, 20m or 1h30m"))
    problems.raise_as(ModelError)


def _annotated(given: NativeOptions, annotations: Mapping[str, str]) -> dict[str, Any]:
    """The options as a class keeps them: what annotations ask for is the same option in another form."""
    options = given.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    owned = [path.strip() for path in annotations.get(CONTROLLER_OWNED, "").split(",") if path.strip()]
    if owned:
        options["ignoreChanges"] = [*options.get("ignoreChanges", ()), *owned]
    if annotations.get(PROTECT) == "true":
        options["protect"] = True
    if timeout := annotations.get(TIMEOUT):
        same = dict.fromkeys(("create", "update", "delete"), timeout)
        options["customTimeouts"] = same | options.get("customTimeouts", {})
    return {key: options[key] for key in sorted(options)}


def _interpolated(properties: Mapping[str, Any], document: Document, at: str) -> dict[str, Any]:
    """The properties with an `Interpolation` for each text that names a sibling; all bad ones are refused together."""
    problems = Collector()
    for path, leaf in walk(dict(properties)):
        try:
            interpolation(leaf)
        except EngineError as error:
            place = (*fieldpath.parse(at), *path)
            problems.problems += [document.problem(p.what, place, p.fix) for p in error.problems]
    problems.raise_as(ModelError)
    found: dict[str, Any] = mapped(dict(properties), interpolation)
    return found


def wired(templates: Sequence[Template], document: Document, *, closed: bool = True) -> tuple[Template, ...]:
    """The templates of a class with their connections: selectors of native ones resolved, interpolations checked.

    In a Kubernetes object, only a text that names an output of a native sibling is an interpolation: scripts and
    policies are full of `${…}`. The siblings are all there are, unless the class is not `closed`: another function
    may add some. Whatever native templates cannot have is refused.
    """
    if not any(t.is_wired for t in templates):
        return tuple(templates)
    natives = [t.name for t in templates if t.native]
    problems = Collector()
    found: list[Template] = []
    for template in templates:
        with problems.catch():
            found.append(replace(template, base=_wired_base(template, templates, natives, document)))
    problems.raise_as(ModelError)
    problems.problems += [p for t in found for p in _problems(t, found, document, closed=closed)]
    problems.raise_as(ModelError)
    return tuple(found)


def _wired_base(
    template: Template, templates: Sequence[Template], natives: Sequence[str], document: Document
) -> Mapping[str, Any]:
    base = template.base
    if template.native:
        return {**base, PROPERTIES: _selected(base.get(PROPERTIES, {}), (PROPERTIES,), template, templates, document)}
    others = set(natives) - {template.name}
    kept = ("apiVersion", "kind", "metadata")
    return {k: v if k in kept else mapped(v, partial(interpolated_natives, natives=others)) for k, v in base.items()}


def _selected(
    value: Any, path: fieldpath.Path, template: Template, templates: Sequence[Template], document: Document
) -> Any:
    """The properties with the picked sibling's output in the place of each selector; a value wins over its selector."""
    match value:
        case list():
            return [_selected(v, (*path, i), template, templates, document) for i, v in enumerate(value)]
        case dict():
            found: dict[str, Any] = {}
            for key, item in value.items():
                here = (*path, key)
                if not _is_selector(key, item):
                    found[key] = _selected(item, here, template, templates, document)
                elif (name := key.removesuffix(SELECTOR)) not in value:
                    found[name] = Interpolation((_picked(item, here, template, templates, document),))
            return found
        case _:
            return value


def _is_selector(key: str, value: Any) -> bool:
    """Whether a property is a selector of ours, and not one that the provider itself has (a label selector)."""
    named = key.endswith(SELECTOR) and key != SELECTOR
    return named and isinstance(value, Mapping) and any(word in value for word in _SAME_PARENT)


def _picked(
    selector: Mapping[str, Any],
    path: fieldpath.Path,
    template: Template,
    templates: Sequence[Template],
    document: Document,
) -> SiblingOutput:
    """The output that a selector means: there must be one sibling that fits, whichever claim it is for."""
    place = template.place_of(fieldpath.to_text(path))
    raw = parse(NativeSelector, document, data=dict(selector), at=fieldpath.parse(place))
    if not (raw.match_composite or raw.match_controller_ref):
        what = "a selector of a native resource picks among the siblings"
        raise ModelError(document.problem(what, place, "add matchComposite: true"))
    if is_patched(template, path):
        what = (
            f"{template.name}: a patch writes {fieldpath.to_text(path)}, and a sibling is picked once, for all claims"
        )
        fix = f"patch {fieldpath.to_text(path).removesuffix(SELECTOR)} instead, or write matchLabels in the base"
        raise ModelError(document.problem(what, place, fix))
    wanted = Token.parse(raw.type) if raw.type else None
    fitting = list(
        dict.fromkeys(
            t.name
            for t in templates
            if t.native
            and t.name != template.name
            and (wanted is None or Token.parse(str(t.base["type"])) == wanted)
            and all(labels_of(t).get(k) == v for k, v in raw.match_labels.items())
        )
    )
    if len(fitting) == 1:
        return SiblingOutput(fitting[0], fieldpath.parse(raw.output))
    if fitting:
        what = f"{template.name}: the selector fits {', '.join(fitting)}"
        fix = (
            f"add type: or matchLabels:, or name one: {path[-1].removesuffix(SELECTOR)}: ${{{fitting[0]}.{raw.output}}}"  # type: ignore[union-attr]
        )
    else:
        what = f"{template.name}: the selector fits no native sibling"
        types = sorted({Token.parse(str(t.base["type"])).short for t in templates if t.native and t is not template})
        fix = suggest(raw.type or "", types, none="none: it has no native sibling")
    raise ModelError(document.problem(what, place, fix))


def labels_of(template: Template) -> Mapping[str, Any]:
    """The labels of a template."""
    return object_at(object_at(template.base, "metadata"), "labels")


def is_patched(template: Template, path: fieldpath.Path) -> bool:
    """Whether a patch writes a field, or something in it."""
    written = (fieldpath.parse_or_root(p.to) for p in template.patches if p.target is Side.resource)
    return any(to[: len(path)] == path for to in written)


def _problems(
    template: Template, templates: Sequence[Template], document: Document, *, closed: bool
) -> Iterator[Problem]:
    if closed:
        yield from _strangers(template, templates, document)
        yield from _detail_problems(template, [t.name for t in templates], document)
    if template.native:
        yield from _patch_problems(template, document)
        if any(check.type != "None" for check in template.checks):
            what = f"{template.name}: a native resource has no readiness checks: its provider waits until it is there"
            yield document.problem(what, f"{template.at}.readinessChecks", "remove them")


def _strangers(template: Template, templates: Sequence[Template], document: Document) -> Iterator[Problem]:
    """Interpolations and dependencies that name no sibling, or the template itself, or what a sibling never has."""
    others = [t.name for t in templates if t.name != template.name]
    objects = [t.name for t in templates if not t.native]
    for path, leaf in walk(dict(template.base)):
        place = template.place_of(fieldpath.to_text(path))
        for output in leaf.outputs if isinstance(leaf, Interpolation) else ():
            if output.template not in others:
                what = _no_sibling(f"${{{output}}}", output.template, template)
                yield document.problem(what, place, _fix(output.template, others))
            elif output.template in objects and output.path[0] in _OF_NATIVES:
                what = f"{template.name}: ${{{output}}} reads {output.path[0]} of a Kubernetes object, which has none"
                yield document.problem(
                    what, place, f"read one of its fields, like ${{{output.template}.metadata.name}}"
                )
    for index, name in enumerate(template.base.get(OPTIONS, {}).get("dependsOn", ()) if template.native else ()):
        if name not in others:
            place = f"{template.at}.base.{OPTIONS}.dependsOn[{index}]"
            yield document.problem(_no_sibling(f"dependsOn {name!r}", name, template), place, _fix(name, others))


def _no_sibling(shown: str, name: str, template: Template) -> str:
    what = "names its own template" if name == template.name else f"names {name!r}, and no sibling has that name"
    return f"{template.name}: {shown} {what}"


def _fix(name: str, others: Sequence[str]) -> str:
    return suggest(name, others, none="none: the class has one resource")


def _detail_problems(template: Template, names: Sequence[str], document: Document) -> Iterator[Problem]:
    for index, detail in enumerate(template.details or ()):
        here = f"{template.at}.connectionDetails[{index}]"
        source = detail.from_resource
        if source is not None and source not in names:
            what = (
                f"{template.name}: the connection detail {detail.name!r} is taken from {source!r}, which is no sibling"
            )
            yield document.problem(what, f"{here}.fromResource", suggest(source, names))
        if template.native and source is None and detail.key and detail.field_path is None:
            what = f"{template.name} is a native resource and has no connection Secret"
            yield document.problem(what, here, "take the detail from an output: fromFieldPath: outputs.<name>")


def _patch_problems(template: Template, document: Document) -> Iterator[Problem]:
    for patch in template.patches:
        if patch.target is Side.resource and not is_target(fieldpath.parse_or_root(patch.to)):
            what = f"{template.name}: a patch of a native resource cannot write {patch.to}"
            yield document.problem(what, patch.at, _target_fix(patch))
        for read in patch.reads if patch.origin is Side.resource else ():
            path = fieldpath.parse_or_root(read)
            if path[:1] != (OUTPUTS,) or len(path) < 2:
                what = f"{template.name}: a native resource has no {read} to read"
                yield document.problem(what, patch.at, f"read {OUTPUTS}.<name>: what it has once it exists")


def _target_fix(patch: Patch) -> str:
    first = str(fieldpath.parse_or_root(patch.to)[:1] or "")
    hint = did_you_mean(first, (PROPERTIES, OPTIONS))
    return f"{hint} write below {TARGETS}".strip()


def is_target(path: fieldpath.Path) -> bool:
    """Whether a patch of a native resource may write a field."""
    return (
        (path[:1] == (PROPERTIES,) and len(path) > 1)
        or path == (OPTIONS, "provider")
        or (path[:2] == ("metadata", "labels") and len(path) > 2)
    )
