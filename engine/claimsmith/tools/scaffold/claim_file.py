"""A new claim as YAML: the fields that it must have are filled, the others stand as comments with what they may be.

Takes a `Form`, gives text; the same form and answers give the same bytes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from claimsmith.base.errors import LoadError, Problem, suggest
from claimsmith.base.names import ClaimKey
from claimsmith.base.values import object_at
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.kubernetes.schema.checking import type_names
from claimsmith.platform.offers import Offer
from claimsmith.tools.scaffold.claim_fields import Field, Form

_SECRET = "writeConnectionSecretToRef"


def claim_text(form: Form, key: ClaimKey, *, values: Mapping[str, Any] | None = None, klass: str | None = None) -> str:
    """The claim's file. `values` are the values of fields, `klass` is the name of the class to select."""
    values = values or {}
    _refuse_unknown(form, values)
    _refuse_open(form.fields, values)
    place = f"  namespace: {flow(key.namespace)}\n" if key.namespace else ""
    head = f"apiVersion: {form.api_version}\nkind: {form.kind.kind}\nmetadata:\n{place}  name: {flow(key.name)}\n"
    lines = [*_lines(form.fields, values, "  "), *_choice(form, key, klass)]
    # A spec of comments alone is an empty one, and stays right when some of them become fields.
    return "\n".join([f"{head}spec:" if lines else f"{head}spec: {{}}", *lines, ""])


def questions(form: Form, values: Mapping[str, Any]) -> list[Field]:
    """The required fields that have no value yet; an object only where it cannot be proposed."""
    return [f for f in form.fields if f.required and f.name not in values and (not f.inner or is_open(f))]


def read_value(form: Form, text: str) -> tuple[str, Any]:
    """The field and value that `name=value` gives, of the field's type."""
    name, found, written = text.partition("=")
    if not found:
        raise LoadError(Problem(f"{text!r} has no value", fix="write it as name=value"))
    field = next((f for f in form.fields if f.name == name), None)
    return name, read_as(field, written) if field else written


def read_as(field: Field, text: str) -> Any:
    """The value that a text means for a field."""
    try:
        value = text if field.type == "string" else yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LoadError(Problem(f"{text!r} is no value for {field.name}", fix="quote it as in YAML")) from error
    wrong = field.type and field.type not in type_names(value)
    if wrong or (field.values and value not in field.values):
        fix = f"use one of: {', '.join(map(flow, field.values))}" if field.values else f"it is of the type {field.type}"
        raise LoadError(Problem(f"{text!r} is no value for {field.name}", fix=fix))
    return value


def _lines(fields: Sequence[Field], values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for field in fields:
        words = note(field)
        if words:
            yield from textwrap.wrap(words, 110, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")
        if field.name in values:
            yield f"{indent}{field.name}: {flow(values[field.name])}"
        elif field.required and field.inner and field.proposal is None:
            yield f"{indent}{field.name}:"
            yield from _lines(field.inner, {}, indent + "  ")
        elif field.required:
            yield f"{indent}{field.name}: {flow(field.proposal)}"
        else:
            yield f"{indent}# {field.name}: {flow(field.proposal) if field.proposal is not None else '…'}"


def note(field: Field) -> str:
    """What a reader should know of a field: what it is, what it may be, its default."""
    words = [field.description.strip().rstrip(".")]
    if field.values:
        words.append(f"one of: {', '.join(map(flow, field.values))}")
    elif field.type not in ("", "object"):
        words.append(" ".join(filter(None, (f"{_article(field.type)} {field.type}", field.bounds))))
    if field.default is not None and not field.required:
        words.append(f"default: {flow(field.default)}")
    return "; ".join(filter(None, words))


def _choice(form: Form, key: ClaimKey, klass: str | None) -> list[str]:
    """Which class serves it, and where the connection details go."""
    chosen = [*_served(form, klass), *(_secret(form, key, klass) if form.secret else [])]
    if not form.within:
        return [f"  {line}" for line in chosen]
    filled = any(not line.startswith("#") for line in chosen)
    head = [f"  {form.within}:"] if filled else []
    return [*head, *(f"    {line}" if filled else f"  {line}" for line in chosen)]


def _secret(form: Form, key: ClaimKey, klass: str | None) -> list[str]:
    """The line that asks for a Secret, where the class has connection details.

    A comment for a class of native resources, whose stack may have no cluster.
    """
    place = flow({**({} if key.namespace else {"namespace": "default"}), "name": key.name})
    line = f"{_SECRET}: {place}"
    proposed = _proposed(form)
    name = klass or (proposed.klass.name if proposed else "")
    selected = [o.klass for o in form.offers if o.klass.name == name]
    if selected and not any(map(_may_have_details, selected)):
        return []
    templates = [t for k in selected for t in k.templates]
    if not templates or not all(t.native for t in templates):
        return [line]
    return ["# Its connection details are in the stack's output. For a Secret in a cluster as well:", f"# {line}"]


def _may_have_details(klass: Class) -> bool:
    """Whether a class has connection details, or has steps or a contract that may bring some."""
    return bool(klass.steps or klass.contract or not klass.templates) or any(map(_has_details, klass.templates))


def _has_details(template: Template) -> bool:
    """Whether a template has connection details; one that lists none delivers the keys of its child's Secret."""
    if template.details is not None or template.native:
        return bool(template.details)
    written = _SECRET in object_at(template.base, "spec") or any(_SECRET in patch.to for patch in template.patches)
    return template.composite or written


def _proposed(form: Form) -> Offer | None:
    """The class that serves a claim which names none: the default one, else the one with the highest weight."""
    by_itself = next((o for o in form.offers if o.default), None)
    return by_itself or max(form.offers, key=lambda o: o.weight, default=None)


def _served(form: Form, klass: str | None) -> list[str]:
    """The line that selects a class, where one is needed, below comments with the selectors of the others."""
    if klass:
        return [f"{form.word}Ref: {_reference(form, klass)}"]
    chosen = _proposed(form)
    if chosen is None:
        return ["# No class serves this kind yet: claimsmith new class"]
    needless = bool(chosen.default) or (form.any_class and len(form.offers) == 1)
    others = [f"#   {_offer(form, o)}  # {o.klass.name}" for o in form.offers if o is not chosen]
    served = f"# Served by {chosen.klass.name}{f' ({chosen.default})' if chosen.default else ''}"
    head = [f"{served}; select another by one of:", *others] if others else [served]
    return [*head, *([] if needless else [_offer(form, chosen)])]


def _offer(form: Form, offer: Offer) -> str:
    """The line by which a claim chooses a class: by its labels where it has some, else by its name."""
    if offer.klass.labels:
        return f"{form.word}Selector: {{matchLabels: {flow(dict(offer.klass.labels))}}}"
    return f"{form.word}Ref: {_reference(form, offer.klass.name)}"


def _reference(form: Form, name: str) -> str:
    found = next((o.klass for o in form.offers if o.klass.name == name), None)
    if found is None:
        names = [o.klass.name for o in form.offers]
        raise LoadError(Problem(f"no class {name!r} serves {form.kind}", fix=suggest(name, names)))
    return flow({"name": found.name} if form.word == "composition" else found.reference())


def _refuse_unknown(form: Form, values: Mapping[str, Any]) -> None:
    names = [f.name for f in form.fields]
    for name in values:
        if name not in names:
            raise LoadError(Problem(f"{form.kind} has no field {name!r}", fix=suggest(name, names, none="none")))


def _refuse_open(fields: Sequence[Field], values: Mapping[str, Any]) -> None:
    problems = [
        Problem(f"{f.name} is required, and has no candidate value", fix=f"add --set {f.name}=…; {note(f)}")
        for f in fields
        if f.required and f.name not in values and is_open(f)
    ]
    if problems:
        raise LoadError(*problems)


def is_open(field: Field) -> bool:
    """Whether nothing can be proposed for a field."""
    if field.proposal is not None:
        return False
    return any(f.required and is_open(f) for f in field.inner) if field.inner else True


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def flow(value: Any) -> str:
    """A value on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return text.strip().removesuffix("...").strip()
