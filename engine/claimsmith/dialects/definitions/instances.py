"""Instances of defined kinds, and requirements of them, checked against their definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem, in_order
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.selector import Selector
from claimsmith.dialects.definitions import injected
from claimsmith.dialects.definitions.model import GROUP, PUBLICATION, Definition
from claimsmith.kubernetes import schema

_HINTS = {
    "compositeSelector": "compositionSelector",
    "compositeRef": "compositionRef",
    "classSelector": "compositionSelector",
    "classRef": "compositionRef",
}
"""Other names of these fields: in claims, and in comments of the format's own examples."""


def find(definitions: Iterable[Definition], kind: GroupKind) -> tuple[Definition, bool] | None:
    """The definition of a kind, and whether the kind is its requirement; None where nothing defines it."""
    for definition in definitions:
        if kind == definition.group_kind:
            return definition, False
        if kind == definition.requirement:
            return definition, True
    return None


def undefined_kind(definitions: Iterable[Definition], document: Document) -> Problem | None:
    """Why a document of an undefined kind was most likely meant for a defined one, if it was."""
    kind = GroupKind.of(document.data)
    for definition in definitions:
        if kind == definition.requirement_kind:
            what = f"{definition.group_kind} is not published, so nothing can require it"
            fix = f"add an {PUBLICATION.kind} named {definition.name}"
            return document.problem(what, "kind", fix)
        if kind.kind in (definition.group_kind.kind, definition.requirement_kind.kind):
            return _wrong_version(definition, document)
    return None


def defaulted(definition: Definition, data: dict[str, Any], *, requirement: bool) -> dict[str, Any]:
    """An instance's document as an API server would keep it: with the definition's defaults, without needless nulls."""
    full = _with_spec(data)
    rules = _checked_schema(definition, _block(full, definition), requirement=requirement)
    result: dict[str, Any] = schema.defaulted(full, rules)
    return result


def check_instance(definition: Definition, document: Document, *, requirement: bool) -> list[Problem]:
    """All that is wrong with an instance of a definition, or with a requirement of one."""
    data = _with_spec(document.data)
    rules = _checked_schema(definition, _block(data, definition), requirement=requirement)
    found = schema.check(data, rules, document=document)
    block = _block(schema.defaulted(data, rules), definition)
    found += _kind_problems(definition, document, requirement=requirement)
    found += _metadata_problems(definition, document, requirement=requirement)
    found += _secret_problems(definition, block, document, requirement=requirement)
    here = f"spec.{definition.injected}"
    if not any(problem.path.startswith(here) for problem in found):
        found += _reference_problems(definition, block, document)
        found += _selector_problems(block, document, f"{here}.compositionSelector")
    return in_order(_with_hint(problem, definition, requirement=requirement) for problem in found)


def _block(data: dict[str, Any], definition: Definition) -> dict[str, Any]:
    """The object that the definition adds, empty where it is not given, or is no object."""
    spec = data["spec"] if isinstance(data["spec"], dict) else {}
    block = spec.get(definition.injected)
    return block if isinstance(block, dict) else {}


def _with_spec(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "spec": {}} if data.get("spec") is None else data


def _checked_schema(definition: Definition, block: dict[str, Any], *, requirement: bool) -> dict[str, Any]:
    """The schema of an instance, saying of references what fits the way in which this one writes them."""
    full = injected.full_schema(definition, requirement=requirement)
    spec = full["properties"]["spec"]
    inner = spec["properties"][definition.injected]
    references = {"compositionRef": injected.COMPOSITION_REF}
    if requirement:
        references["resourceRef"] = injected.resource_ref(definition)
    for key, reference in references.items():
        listed = {"type": "array", "items": reference, "maxItems": 1}
        inner["properties"][key] = listed if isinstance(block.get(key), list) else reference
    # Said in words of its own by `_secret_problems`.
    inner.pop("required", None)
    spec["required"] = list(definition.schema.get("required") or ())
    full.pop("required", None)
    return {**full, "x-kubernetes-embedded-resource": True}


def _kind_problems(definition: Definition, document: Document, *, requirement: bool) -> Iterator[Problem]:
    kind = (definition.requirement_kind if requirement else definition.group_kind).kind
    # The schema reports what is missing, or no text.
    if document.data.get("kind", kind) != kind:
        what = f"the kind is {document.data.get('kind')!r}, not {kind!r}"
        yield document.problem(what, "kind", f"write kind: {kind}")
    if document.data.get("apiVersion", definition.api_version) != definition.api_version:
        yield _wrong_version(definition, document)


def _wrong_version(definition: Definition, document: Document) -> Problem:
    what = f"the kind {document.data.get('kind')!r} is not defined in {document.data.get('apiVersion')!r}"
    fix = f"did you mean apiVersion: {definition.api_version}?"
    return document.problem(what, "apiVersion", fix)


def _metadata_problems(definition: Definition, document: Document, *, requirement: bool) -> Iterator[Problem]:
    metadata = document.data.get("metadata") or {}
    if not isinstance(metadata, dict):
        return
    if metadata.get("name") is None:
        yield document.problem("the field 'name' is missing", "metadata.name", "add name:")
    if metadata.get("namespace") is not None and not (requirement or definition.namespaced):
        what = f"{definition.group_kind.kind} is infrastructure, which is in no namespace"
        fix = f"remove it; from a namespace, ask with a {definition.requirement_kind.kind}"
        fix = fix if definition.published else "remove it"
        yield document.problem(what, "metadata.namespace", fix)


def _secret_problems(
    definition: Definition, block: dict[str, Any], document: Document, *, requirement: bool
) -> Iterator[Problem]:
    if definition.connection_details and block.get("writeConnectionSecretToRef") is None:
        path = f"spec.{definition.injected}.writeConnectionSecretToRef"
        what = f"there is no place for the connection details {', '.join(definition.connection_details)}"
        fields = "name" if requirement else "namespace and name"
        yield document.problem(what, path, f"add writeConnectionSecretToRef: with {fields}")


def _reference_problems(definition: Definition, block: dict[str, Any], document: Document) -> Iterator[Problem]:
    """References to objects of another kind than they must be of."""
    for key, wanted in (("resourceRef", definition.group_kind), ("requirementRef", definition.requirement_kind)):
        value = block.get(key)
        path = f"spec.{definition.injected}.{key}" + ("[0]" if isinstance(value, list) else "")
        one = value[0] if isinstance(value, list) and value else value
        if isinstance(one, dict) and GroupKind.of(one) != wanted:
            what = f"{key} names a {GroupKind.of(one)}"
            fix = f"name a {wanted.kind} of {definition.api_version}"
            yield document.problem(what, path, fix)
    reference = block.get("compositionRef")
    one = reference[0] if isinstance(reference, list) and reference else reference
    if isinstance(one, dict) and GroupKind.of({"apiVersion": f"{GROUP}/", **one}).group != GROUP:
        path = f"spec.{definition.injected}.compositionRef"
        what = f"compositionRef names an object of {one['apiVersion']}"
        yield document.problem(what, path, f"write apiVersion: {GROUP}/v1alpha1, or leave it out")


def _selector_problems(block: dict[str, Any], document: Document, path: str) -> Iterator[Problem]:
    given = block.get("compositionSelector")
    if given is None:
        return
    try:
        Selector.model_validate(given)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            what, _, fix = str(found["msg"]).removeprefix("Value error, ").partition("; fix: ")
            yield document.problem(what, path, fix or "fix the selector")


def _with_hint(problem: Problem, definition: Definition, *, requirement: bool) -> Problem:
    """The problem with the field that was most likely meant, where the format's own examples mislead."""
    word = definition.injected
    other = "infrastructure" if word == "application" else "application"
    hints = {f"spec.{word}.{wrong}": f"did you mean {right!r}?" for wrong, right in _HINTS.items()}
    if other not in (definition.schema.get("properties") or {}):
        hints[f"spec.{other}"] = f"did you mean {word!r}?"
    if requirement:
        place = f"spec.{word}.writeConnectionSecretToRef.namespace"
        hints[place] = "remove it: the Secret goes to the requirement's own namespace"
    return replace(problem, fix=hints.get(problem.path, problem.fix))
