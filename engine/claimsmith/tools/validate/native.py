"""Native resources against the installed SDKs of their providers: types, outputs, and what is deprecated.

Properties and patches are checked like those of Kubernetes objects, by the schema that `Rules` derives from the SDK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, ProviderError
from claimsmith.base.values import Interpolation, SiblingOutput, has, walk
from claimsmith.dialects.common.klass import Class, Side, Template
from claimsmith.dialects.common.native import OPTIONS, OUTPUTS, PROPERTIES, SELECTOR
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema import Schema
from claimsmith.platform.catalog import Catalog
from claimsmith.providers.property_schema import DEPRECATED
from claimsmith.tools.validate import value_flow
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules, classes


def check_natives(catalog: Catalog, rules: Rules) -> Findings:
    """What is wrong with the native resources of the classes, beside their properties and patches."""
    findings = Findings()
    missing: set[str] = set()
    for klass in classes(catalog):
        for template in klass.templates:
            if template.native:
                _check_type(template, klass, rules, missing, findings)
                _check_deprecated(template, klass, rules, findings)
                findings.wrong("unknown-output", _listed_outputs(template, klass, rules))
                findings.wrong("base-invalid", _listed_properties(template, klass, rules))
            _check_interpolations(template, klass, rules, findings)
            findings.wrong("unknown-output", _detail_problems(template, klass, rules))
    return findings


def _at(template: Template, klass: Class, place: str, what: str, fix: str) -> Problem:
    return (template.document or klass.document).problem(what, place, fix)


def _check_type(template: Template, klass: Class, rules: Rules, missing: set[str], findings: Findings) -> None:
    """The type itself; a missing SDK is reported once, at the first class that needs it."""
    written = str(template.base["type"])
    package = written.partition(":")[0]
    place = template.place_of("type")
    try:
        index = rules.sdk(package)
    except ProviderError as error:
        if package not in missing:
            missing.add(package)
            findings.wrong("missing-sdk", [_at(template, klass, place, p.what, p.fix) for p in error.problems])
        return
    found = index.resource(written)
    if found is None:
        problem = index.unknown(written)
        findings.wrong("unknown-resource-type", [_at(template, klass, place, problem.what, problem.fix)])
    elif found.deprecated:
        what = f"{template.name}: {written} is deprecated: {found.deprecated}"
        findings.odd("deprecated-type", [_at(template, klass, place, what, "use the type that replaces it")])


def _check_deprecated(template: Template, klass: Class, rules: Rules, findings: Findings) -> None:
    """Properties that the provider will remove, in the base and in patches."""
    found = rules.of_template(template)
    if found is None:
        return
    places = {path: template.place_of(fieldpath.to_text(path)) for path in _paths(template.base, (PROPERTIES,))}
    for patch in template.patches:
        path = fieldpath.parse_or_root(patch.to)
        if patch.target is Side.resource and path[:1] == (PROPERTIES,):
            places.update({path[:depth]: patch.at for depth in range(2, len(path) + 1) if path[:depth] not in places})
    for path, place in places.items():
        why = _deprecation(found, path)
        if why:
            what = f"{template.name}: {fieldpath.to_text(path)} is deprecated: {why}"
            findings.odd("deprecated-property", [_at(template, klass, place, what, "use what replaces it")])


def _paths(base: Mapping[str, Any], start: fieldpath.Path) -> Iterator[fieldpath.Path]:
    """Every field of a base below a path, objects before what is in them."""
    seen: dict[fieldpath.Path, None] = {}
    for path, _ in walk(dict(base)):
        if path[: len(start)] == start:
            seen.update(dict.fromkeys(path[:depth] for depth in range(len(start) + 1, len(path) + 1)))
    yield from seen


def _deprecation(found: Schema, path: fieldpath.Path) -> str:
    holder = schemas.at_path(found, path[:-1])
    notes = (holder or {}).get(DEPRECATED) or {}
    return str(notes.get(path[-1], ""))


def _check_interpolations(template: Template, klass: Class, rules: Rules, findings: Findings) -> None:
    """Outputs of siblings that the base names: whether there are such, and whether they fit."""
    own = rules.of_template(template) if template.native else None
    for path, leaf in walk(dict(template.base)):
        if not isinstance(leaf, Interpolation):
            continue
        place = _place(path, template, klass)
        unknown = [p for o in leaf.outputs for p in _output_problems(o, template, klass, rules, place)]
        findings.wrong("unknown-output", unknown)
        if not unknown and own is not None:
            findings.wrong("output-type-mismatch", _misfits(leaf, path, own, template, klass, rules))


def _place(path: fieldpath.Path, template: Template, klass: Class) -> str:
    """Where the file has an output: at the field, or at the selector that picks the sibling."""
    place = template.place_of(fieldpath.to_text(path))
    data = (template.document or klass.document).data
    return f"{place}{SELECTOR}.output" if not has(data, place) and has(data, f"{place}{SELECTOR}") else place


def _output_problems(
    output: SiblingOutput, template: Template, klass: Class, rules: Rules, place: str
) -> Iterator[Problem]:
    sibling = _sibling(klass, output.template)
    found = rules.of_template(sibling) if sibling else None
    if sibling is None or found is None:
        return
    path = _full(output, sibling)
    if not schemas.knows(found, path):
        shown = fieldpath.to_text(output.path)
        what = f"{template.name}: ${{{output}}}: {_type_of(sibling)} has no {_word(sibling)} {shown!r}"
        yield _at(template, klass, place, what, _nearest(found, path, sibling))


def _misfits(
    leaf: Interpolation, path: fieldpath.Path, own: Schema, template: Template, klass: Class, rules: Rules
) -> Iterator[Problem]:
    """An interpolation whose value can never be of the property's type: text beside an output makes it a text."""
    wanted = value_flow.of_schema(schemas.at_path(own, path)).types
    provided = value_flow.TEXT.types if len(leaf.parts) > 1 else _type_names(leaf.outputs[0], klass, rules)
    if wanted is None or provided is None or provided & wanted or ("integer" in wanted and "number" in provided):
        return
    want, have = " or ".join(sorted(wanted)), " or ".join(sorted(provided))
    what = f"{template.name}: {fieldpath.to_text(path)} is {want}, and {str(leaf)!r} gives {have}"
    yield _at(template, klass, _place(path, template, klass), what, f"name an output that is {want}")


def _type_names(output: SiblingOutput, klass: Class, rules: Rules) -> frozenset[str] | None:
    sibling = _sibling(klass, output.template)
    found = rules.of_template(sibling) if sibling else None
    if sibling is None or found is None:
        return None
    return value_flow.of_schema(schemas.at_path(found, _full(output, sibling))).types


def _detail_problems(template: Template, klass: Class, rules: Rules) -> Iterator[Problem]:
    """Connection details from outputs that there are not."""
    for index, detail in enumerate(template.details or ()):
        source = _sibling(klass, detail.from_resource) if detail.from_resource else template
        found = rules.of_template(source) if source is not None and source.native else None
        path = fieldpath.parse_or_root(detail.field_path or "")
        if source is None or found is None or not path or schemas.knows(found, path):
            continue
        place = f"{template.at}.connectionDetails[{index}].fromFieldPath"
        what = f"{template.name}: the connection detail {detail.name!r} reads {detail.field_path}"
        fix = _nearest(found, path, source) if path[0] == OUTPUTS else f"read {OUTPUTS}.<name>"
        yield _at(template, klass, place, f"{what}, and {_type_of(source)} has no such output", fix)


def _listed_outputs(template: Template, klass: Class, rules: Rules) -> Iterator[Problem]:
    """Outputs that options name."""
    found = rules.of_template(template)
    if found is None:
        return
    for index, name in enumerate(template.base.get(OPTIONS, {}).get("additionalSecretOutputs", ())):
        if not schemas.knows(found, (OUTPUTS, name)):
            place = f"{template.place_of(OPTIONS)}.additionalSecretOutputs[{index}]"
            what = f"{template.name}: {_type_of(template)} has no output {name!r}"
            yield _at(template, klass, place, what, _nearest(found, (OUTPUTS, name), template))


def _listed_properties(template: Template, klass: Class, rules: Rules) -> Iterator[Problem]:
    """Properties that options name."""
    found = rules.of_template(template)
    if found is None:
        return
    for word in ("ignoreChanges", "replaceOnChanges"):
        for index, name in enumerate(template.base.get(OPTIONS, {}).get(word, ())):
            path = (PROPERTIES, *fieldpath.parse_or_root(name))
            if not schemas.knows(found, path):
                place = f"{template.place_of(OPTIONS)}.{word}[{index}]"
                close = schemas.nearest_field(found, path)
                near = close.removeprefix(f"{PROPERTIES}.") if close else ""
                fix = f"did you mean {near!r}?" if near else "name a property of the type"
                yield _at(template, klass, place, f"{template.name}: {word} names the unknown property {name!r}", fix)


def _sibling(klass: Class, name: str) -> Template | None:
    return next((t for t in klass.templates if t.name == name), None)


def _full(output: SiblingOutput, sibling: Template) -> fieldpath.Path:
    """The path of an output in the sibling's document."""
    return (OUTPUTS, *output.path) if sibling.native else output.path


def _type_of(template: Template) -> str:
    return str(template.base["type"]) if template.native else template.kind


def _word(template: Template) -> str:
    return "output" if template.native else "field"


def _nearest(found: Schema, path: fieldpath.Path, sibling: Template) -> str:
    close = schemas.nearest_field(found, path)
    if close and sibling.native:
        close = close.removeprefix(f"{OUTPUTS}.") if path[:1] == (OUTPUTS,) and close.startswith(OUTPUTS) else None
    return f"did you mean {close!r}?" if close else f"name one that {_type_of(sibling)} has"
