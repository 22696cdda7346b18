"""What is fuzzed: each target takes one input and may raise nothing but an `EngineError`."""

from __future__ import annotations

import ast
import contextlib
import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pydantic import ValidationError

from claimsmith import generate, render, templating
from claimsmith.base import fieldpath
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError, ModelError, ProviderError
from claimsmith.base.merge import MergePolicy
from claimsmith.base.transform import parse_transform
from claimsmith.compose import scheduling
from claimsmith.compose.expand import expand
from claimsmith.compose.native_types import native_types
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.compose.reference_table import read_table
from claimsmith.compose.references import Table
from claimsmith.dialects.common.bindable import Bindable, read_bindable
from claimsmith.kubernetes.scope import Scopes
from claimsmith.patching import patches, transforms
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project.sdks import index_of
from claimsmith.providers.index import Index, missing
from claimsmith.templating import limits
from tests.fuzz import seeds
from tests.fuzz.safe_code import refuse_foreign


@dataclass(frozen=True)
class Transformed:
    """Transforms as data, and what they are given."""

    transforms: tuple[Any, ...]
    value: Any


def documents(text: str) -> None:
    """The YAML loader: what is read is plain, finite data, and each field has a place."""
    for document in read_documents(text, file="fuzz.yaml"):
        document.source_of("metadata.name")
        _refuse_odd(document.data)


def paths(text: str) -> None:
    """The field path parser: what is printed parses back, and reading, writing and expanding end."""
    path = fieldpath.parse(text)
    assert all(isinstance(step, str | int) for step in path)
    for step in (_get, _put, _expand):
        with contextlib.suppress(EngineError):
            step(copy.deepcopy(seeds.DATA), text)


def _get(data: dict[str, Any], text: str) -> None:
    fieldpath.get(data, text)


def _put(data: dict[str, Any], text: str) -> None:
    patches.write(data, text, {"x": [1]}, policy=MergePolicy.ForceMergeObjectsAppendArrays)


def _expand(data: dict[str, Any], text: str) -> None:
    fieldpath.expand(data, text)


def transformed(case: Transformed) -> None:
    """Transforms: those that are read give a plain value or refuse."""
    try:
        wanted = [parse_transform(data) for data in case.transforms]
    except ValidationError as error:  # what `models.parse` makes problems of
        raise ModelError(str(error)) from error
    _refuse_odd(transforms.apply_all(wanted, case.value))


def jinja(text: str) -> None:
    """Templates of jinja2."""
    _template("jinja2", text)


def go_template(text: str) -> None:
    """Templates of Go."""
    _template("go-sprig", text)


def _template(engine: str, text: str) -> None:
    templating.check(engine, text)
    data = copy.deepcopy(seeds.CLAIM)
    made = templating.render(engine, text, data)
    assert data == seeds.CLAIM, "a template changed the claim"
    assert len(made) <= limits.MAX_OUTPUT, "a template made more than it may"
    templating.fields_read(engine, text)
    with contextlib.suppress(EngineError):
        templating.render_documents(engine, text, data)


def generated(text: str) -> None:
    """The generator: whatever classes say, their components are Python of the usual shape."""
    platform = read_documents(text, file="components/x/class.yaml")
    catalog = read_catalog(platform, bindable=_bindable())
    for klass in catalog.classes.values():
        source = generate.generate([klass], _table(), source="components/x/class.yaml", sdks=_sdk)
        compile(source, "component.py", "exec", dont_inherit=True)
        refuse_foreign(ast.parse(source))


def planned(text: str) -> None:
    """Claims: whatever they say, the platform makes a plan of them, or refuses."""
    claims = read_documents(text, file="stacks/dev/claims/c.yaml")
    catalog = read_catalog(_platform(), claims, bindable=_bindable())
    scopes = _scopes(catalog)
    found = expand(catalog, [], project="shop", stack="dev", scopes=scopes, types=native_types(_sdk))
    scheduled = scheduling.schedule(catalog, found, [], project="shop", stack="dev")
    plan = build_plan(found, project="shop", stack="dev", table=_table(), schedule=scheduled, scopes=scopes)
    for part in render.stream(plan):
        part.encode("utf-8", "surrogatepass")


_CLASS = {"apiVersion": "infrastructure.crossplane.io/v1alpha1", "kind": "CompositeResourceClass"}


def interpolated(text: str) -> None:
    """A claim's text in native children and loops: it arrives as it is, and never names a sibling.

    As the key of an element it is refused where it cannot be part of a name.
    """
    if text:
        _is_read(text)
    for key in ("a", text):
        _arrives(text, key)


def _is_read(text: str) -> None:
    """As the id of an existing resource it names that one, and nothing is created."""
    spec, plan = _fuzzed({"resourceRef": {"type": "postgresql:Database", "id": text}})
    [child] = plan.claims[0].children
    assert (child.document["get"], child.document["properties"]) == ({"id": spec["resourceRef"]["id"]}, {})


def _arrives(text: str, key: str) -> None:
    spec, plan = _fuzzed({"text": text, "zones": [{"name": key, "text": text}]})
    text = spec["text"]
    [planned_claim] = plan.claims
    children = {c.address.template: c.document for c in planned_claim.children}
    assert children["role"]["properties"]["name"] == text
    assert children["database"]["properties"]["name"] == text
    assert children["database"]["properties"]["template"] == f"{text}-${{role.name}}"
    assert children["config"]["data"]["text"] == text
    assert all(d["properties"]["prefix"] == text for n, d in children.items() if n.startswith("zone"))


def _fuzzed(spec: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """The spec of a claim as it is read, since YAML folds some line breaks, and its plan, which can be printed."""
    claim = {
        "apiVersion": "fuzz.example.org/v1alpha1",
        "kind": "Fuzzed",
        "metadata": {"namespace": "default", "name": "fuzzed"},
        "spec": {**spec, "classRef": {"name": "fuzzed", **_CLASS}},
    }
    [document] = read_documents(json.dumps(claim, ensure_ascii=False), file="stacks/dev/claims/c.yaml")
    catalog = read_catalog(
        read_documents(seeds.NATIVE, file="components/x/class.yaml"),
        [document],
        bindable=_bindable(),
    )
    scopes = _scopes(catalog)
    found = expand(catalog, [], project="shop", stack="dev", scopes=scopes, types=native_types(_sdk))
    plan = build_plan(found, project="shop", stack="dev", table=_table(), scopes=scopes)
    for part in render.stream(plan):
        part.encode("utf-8", "surrogatepass")
    return document.data["spec"], plan


def _sdk(package: str) -> Index:
    """The SDK of a small provider; the large ones take seconds to read, and count as not installed."""
    if package not in ("random", "postgresql"):
        raise ProviderError(missing(package))
    return index_of(package)


@cache
def _table() -> Table:
    return read_table([*_built_in("references.yaml"), *read_documents(seeds.REFERENCES, file="references.yaml")])


def _scopes(catalog: Catalog) -> Scopes:
    managed = dict.fromkeys((k for fields in _table().values() for kinds in fields.values() for k in kinds), False)
    defined = {d.group_kind: d.namespaced for d in catalog.definitions.values()}
    required = {d.requirement: True for d in catalog.definitions.values() if d.requirement}
    return Scopes({**dict.fromkeys(_table(), False), **managed, **defined, **required})


@cache
def _bindable() -> Bindable:
    return read_bindable(_built_in("bindable.yaml"))


@cache
def _platform() -> tuple[Document, ...]:
    found = tuple(d for text in seeds.CLASSES for d in read_documents(text, file="components/x/class.yaml"))
    checked: Catalog = read_catalog(found, bindable=_bindable())
    assert checked.classes
    return found


def _built_in(name: str) -> list[Document]:
    text = resources.files("claimsmith").joinpath(f"data/{name}").read_text(encoding="utf-8")
    return read_documents(text, file=name)


def _refuse_odd(value: Any) -> None:
    """Nothing comes out that JSON and YAML cannot hold."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        assert item is None or isinstance(item, str | bool | int | float | list | dict), f"not plain: {type(item)}"
        waiting.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())


TARGETS: Mapping[str, Callable[[Any], None]] = {
    "documents": documents,
    "fieldpath": paths,
    "transforms": transformed,
    "jinja2": jinja,
    "go-template": go_template,
    "generate": generated,
    "plan": planned,
    "native": interpolated,
}
