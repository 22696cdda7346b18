"""Reads native children: resources of Pulumi providers, in the form of Pulumi YAML.

`type` stands in the place of apiVersion and kind; what the resource takes is below `properties`, and what it gives once
it exists is read from `outputs`. Texts of the class may name outputs of siblings, `${role.name}`. They become
`Interpolation`s here, where the class is read, and nowhere else: a claim's value that looks like one stays a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, EngineError, FieldPathError, ModelError, Problem, did_you_mean, suggest
from claimsmith.base.model import Model
from claimsmith.base.parse import parse
from claimsmith.base.values import Interpolation, SiblingOutput, mapped, walk
from claimsmith.dialects.common.klass import Detail, Patch, Side, Template
from claimsmith.dialects.common.metadata import Annotations, Labels
from claimsmith.providers.tokens import Token

PROPERTIES = "properties"
OPTIONS = "options"
OUTPUTS = "outputs"
TARGETS = "properties, options.provider or metadata.labels"
"""What a patch of a native resource may write."""
_DURATION = re.compile(r"([1-9][0-9]*(\.[0-9]+)?(s|m|h))+")
_INTERPOLATION = re.compile(r"\$\$\{|\$\{([^{}]*)\}")


def _token(text: str) -> str:
    try:
        Token.parse(text)
    except ModelError as error:
        raise ValueError(f"{error.problems[0].what}; fix: {error.problems[0].fix}") from error
    return text


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


def _property_paths(paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        try:
            fieldpath.parse(path)
        except FieldPathError as error:
            raise ValueError(f"{error.problems[0].what}; fix: {error.problems[0].fix}") from error
    return paths


_Paths = Annotated[tuple[str, ...], Field(strict=False), BeforeValidator(_listed), AfterValidator(_property_paths)]
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


class _Metadata(Model):
    labels: Labels = Field(default_factory=dict)
    annotations: Annotations = Field(default_factory=dict)


class NativeBase(Model):
    """The base of a native resource."""

    type: Annotated[str, AfterValidator(_token)]
    properties: dict[str, Any] = Field(default_factory=dict)
    options: NativeOptions = NativeOptions()
    metadata: _Metadata = _Metadata()


def read_base(base: Mapping[str, Any], document: Document, at: str) -> dict[str, Any]:
    """The base as a class keeps it: checked, with interpolations in its properties."""
    given = {key: value for key, value in base.items() if value is not None}
    raw = parse(NativeBase, document, data=given, at=fieldpath.parse(at))
    metadata = raw.metadata.model_dump(exclude_defaults=True)
    options = raw.options.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    return {
        "type": raw.type,
        **({"metadata": metadata} if metadata else {}),
        PROPERTIES: _interpolated(raw.properties, document, f"{at}.{PROPERTIES}"),
        **({OPTIONS: options} if options else {}),
    }


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


def interpolation(value: Any) -> Any:
    """A value of a class with its `${sibling.output}` parts taken apart; `$${` is a literal `${`."""
    if not isinstance(value, str) or "${" not in value:
        return value
    return _joined(_parts(value, _output))


def _parts(text: str, output: Callable[[str], SiblingOutput | None]) -> Iterator[str | SiblingOutput]:
    end = 0
    for match in _INTERPOLATION.finditer(text):
        yield text[end : match.start()]
        end = match.end()
        if match[1] is None:
            yield "${"
        else:
            yield output(match[1]) or match[0]
    if output is _output and "${" in text[end:]:
        raise _unreadable(text[end:], "it has no closing brace")
    yield text[end:]


def _joined(parts: Iterable[str | SiblingOutput]) -> Any:
    """The parts with neighbouring texts as one; a plain text where no part is an output."""
    joined: list[str | SiblingOutput] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    if all(isinstance(part, str) for part in joined):
        return "".join(map(str, joined))
    return Interpolation(tuple(joined))


def _output(text: str) -> SiblingOutput:
    """The output that the inside of `${…}` names."""
    try:
        path = fieldpath.parse(text.strip())
    except FieldPathError as error:
        raise _unreadable(f"${{{text}}}", error.problems[0].what) from error
    if not path or not isinstance(path[0], str):
        raise _unreadable(f"${{{text}}}", "it names no sibling")
    if len(path) == 1:
        raise _unreadable(f"${{{text}}}", f"it does not say which output of {path[0]!r} is meant")
    return SiblingOutput(path[0], path[1:])


def _unreadable(text: str, why: str) -> ModelError:
    fix = "write ${sibling.output}, like ${role.name}; a literal ${ is written $${"
    return ModelError(Problem(f"cannot read the interpolation {text!r}: {why}", fix=fix))


def check_natives(templates: Sequence[Template], document: Document) -> None:
    """Refuse what native templates cannot have: patches elsewhere, and siblings that do not exist."""
    problems = Collector()
    names = [template.name for template in templates]
    for template in templates:
        problems.problems += [*_strangers(template, names, document), *_detail_problems(template, names, document)]
        if template.native:
            problems.problems += _patch_problems(template, document)
    problems.raise_as(ModelError)


def _strangers(template: Template, names: Sequence[str], document: Document) -> Iterator[Problem]:
    """Interpolations and dependencies that name no sibling, or the template itself."""
    others = [name for name in names if name != template.name]
    for path, leaf in walk(dict(template.base)):
        for output in leaf.outputs if isinstance(leaf, Interpolation) else ():
            if output.template not in others:
                place = template.place_of(fieldpath.to_text(path))
                yield document.problem(
                    _no_sibling(f"${{{output}}}", output.template, template), place, _fix(output.template, others)
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
            if path[:1] not in ((OUTPUTS,), (PROPERTIES,)):
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


class NamedDetail(Model):
    """`connectionDetails` of a class: a key of the child's Secret, a field, a fixed text, or a setting of the stack."""

    name: str | None = None
    from_connection_secret_key: str | None = None
    from_field_path: str | None = None
    from_resource: str | None = None
    from_config: str | None = None
    value: str | None = None

    def detail(self, document: Document, at: str) -> Detail:
        """The detail as a class keeps it; one with no source, or with two, is refused."""
        key, config = self.from_connection_secret_key, self.from_config
        sources = {
            "fromConnectionSecretKey": key,
            "fromFieldPath": self.from_field_path,
            "fromConfig": config,
            "value": self.value,
        }
        given = [word for word, value in sources.items() if value is not None]
        if len(given) != 1:
            what = f"a connection detail has {' and '.join(given) if given else 'no source'}"
            raise ModelError(document.problem(what, at, f"keep one of: {', '.join(sources)}"))
        if self.from_resource is not None and given[0] in ("fromConfig", "value"):
            what = f"a connection detail with {given[0]} comes from no resource"
            raise ModelError(document.problem(what, f"{at}.fromResource", "remove it"))
        name = self.name or key
        if not name:
            raise ModelError(document.problem("a connection detail has no name", at, "add name:"))
        return Detail(name, key or "", self.from_field_path, self.value, self.from_resource, config)


def details_of(
    listed: Sequence[NamedDetail] | None, document: Document, at: str, *, native: bool
) -> tuple[Detail, ...] | None:
    """The connection details of a template; None, every key of its Secret, where a Kubernetes object lists none."""
    if listed is None:
        return () if native else None
    return tuple(d.detail(document, f"{at}.connectionDetails[{i}]") for i, d in enumerate(listed))
