"""`claimsmith render XR COMPOSITION`: composes the resources of one composite. No project is needed."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import Collector, ComposeError, LoadError, ModelError, Problem
from claimsmith.base.names import GroupKind, kebab
from claimsmith.base.values import object_at
from claimsmith.compose.identity import dress
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.exported import bare
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.crossplane import composition as crossplane_composition
from claimsmith.dialects.crossplane import documents as crossplane_documents
from claimsmith.dialects.crossplane import xrd
from claimsmith.dialects.crossplane.dialect import CLAIMS
from claimsmith.dialects.crossplane.xrd import Xrd
from claimsmith.functions import pipeline
from claimsmith.functions.requirements import Sources
from claimsmith.patching import environments
from claimsmith.project import functions
from claimsmith.project.load import load
from claimsmith.project.load import read_text as load_text
from claimsmith.project.template_files import template_files
from claimsmith.render import native

FUNCTION = GroupKind("pkg.crossplane.io", "Function")


@dataclass(frozen=True, slots=True)
class Files:
    """The files of the command, the same as those of `crossplane render`."""

    composite: Path
    composition: Path
    functions: Path | None = None
    observed: Path | None = None
    environment: Sequence[Path] = ()
    extra: Sequence[Path] = ()
    definition: Path | None = None
    schemas: Path | None = None
    credentials: Path | None = None
    context: Mapping[str, Path] = field(default_factory=dict)
    """Files with JSON or YAML for keys of the context."""
    context_values: Mapping[str, str] = field(default_factory=dict)
    """JSON or YAML for keys of the context, which wins over the files."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What is printed beside the composite and its resources."""

    full: bool = False
    """The composite's own spec and metadata."""
    results: bool = False
    context: bool = False


JUST_RESOURCES = Parts()


def render(
    files: Files, parts: Parts = JUST_RESOURCES, *, timeout: float | None = None
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The composite, what it is composed of, and warnings."""
    composite = _one(files.composite, "a composite")
    documents = [bare(d) for d in _load([files.composition])]
    warnings: list[Problem] = []
    problems = Collector()
    found, _ = crossplane_documents.read(documents, problems, warnings)
    definitions = dict(found.xrds)
    if files.definition:
        with problems.catch():
            given = xrd.read(bare(_one(files.definition, "a definition")))
            definitions[given.kind] = given
    problems.raise_as(ModelError)
    klass = _composition(list(found.compositions.values()), composite, files.composition, documents)
    if files.functions:
        _check_functions(klass, _load([files.functions]), files.functions)
    if is_claim(composite, klass, definitions):
        composite = claimed(composite, klass)
    definition = definitions.get(GroupKind.of(composite.data))
    data = definition.defaulted(composite) if definition else composite.data
    rendered = pipeline.render(
        klass,
        data,
        observed=[d.data for d in _load([files.observed])] if files.observed else [],
        environment=_environment(_load(files.environment)),
        around=_around(files, timeout),
    )
    output = rendered.documents()
    if parts.full:
        output[0] = {**output[0], "metadata": data.get("metadata", {}), "spec": data.get("spec", {})}
    warnings += [problem for _, problem in rendered.warnings]
    output = native.gathered(output, data)
    output += rendered.results() if parts.results else []
    output += [rendered.context_document()] if parts.context else []
    return output, warnings


def _around(files: Files, timeout: float | None) -> pipeline.Surroundings:
    context = {key: _plain(key, load_text(path, root=Path.cwd())) for key, path in files.context.items()}
    context |= {key: _plain(key, text) for key, text in files.context_values.items()}
    secrets = _load([files.credentials]) if files.credentials else []
    schemas = _schemas(files.schemas) if files.schemas else []
    return pipeline.Surroundings(
        context=context,
        sources=Sources([d.data for d in _load(files.extra)], schemas),
        credentials=dict(map(_secret, secrets)),
        files=template_files(files.composition.parent),
        timeout=timeout,
        declared=functions.beside(files.composition, files.functions),
    )


def _plain(key: str, text: str) -> Any:
    """The value of a key of the context, JSON or YAML of any kind."""
    [found] = read_documents(yaml.safe_dump({"value": _parsed(key, text)}), file=key)
    return found.data["value"]


def _parsed(key: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        what = f"the context value of {key!r} is neither JSON nor YAML"
        raise LoadError(Problem(what, fix=f"write --context-values '{key}={{…}}'")) from error


def _secret(document: Document) -> tuple[tuple[str, str], dict[str, bytes]]:
    """Namespace, name and data of a Secret."""
    data = document.data
    if (data.get("apiVersion"), data.get("kind")) != ("v1", "Secret"):
        raise LoadError(document.problem("credentials are Secrets", "kind", "give Secrets of v1 and nothing else"))
    metadata = object_at(data, "metadata")
    try:
        decoded = {k: base64.b64decode(str(v), validate=True) for k, v in object_at(data, "data").items()}
    except ValueError as error:
        what = "the data of the Secret is not in base64"
        raise LoadError(document.problem(what, "data", "encode it, or write it as stringData")) from error
    plain = {k: str(v).encode() for k, v in object_at(data, "stringData").items()}
    return (str(metadata.get("namespace", "")), str(metadata.get("name", ""))), {**decoded, **plain}


def _schemas(path: Path) -> list[dict[str, Any]]:
    """OpenAPI documents, from a file or the files of a folder."""
    files = sorted(p for p in path.rglob("*") if p.suffix in (".json", ".yaml", ".yml")) if path.is_dir() else [path]
    found: list[dict[str, Any]] = []
    for file in files:
        if file.suffix == ".json":
            try:
                found.append(json.loads(load_text(file, root=Path.cwd())))
            except ValueError as error:
                raise LoadError(Problem(f"{file} is not JSON: {error}", fix="give an OpenAPI document")) from error
        else:
            found += [d.data for d in _load([file])]
    return found


def is_claim(document: Document, klass: Class, definitions: Mapping[GroupKind, Xrd]) -> bool:
    """Whether a document is a claim for what a composition serves: by the definition, else by its group."""
    kind = GroupKind.of(document.data)
    if klass.serves in definitions:
        return kind == definitions[klass.serves].claim
    return kind != klass.serves and document.data.get("apiVersion") == klass.claim_api_version


def claimed(claim: Document, klass: Class) -> Document:
    """The composite that Crossplane creates for a claim."""
    metadata = object_at(claim.data, "metadata")
    name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace") or "default")
    uid = str(metadata.get("uid") or uuid.uuid5(uuid.NAMESPACE_URL, f"{klass.serves}/{namespace}/{name}"))
    identity = Identity(
        project="",
        stack="",
        api_version=str(claim.data["apiVersion"]),
        kind=str(claim.data["kind"]),
        namespace=namespace,
        name=name,
        uid=uid,
        external_name=None,
        class_ref={},
        dialect=CLAIMS,
        given_labels=dict(object_at(metadata, "labels")),
        given_annotations=dict(object_at(metadata, "annotations")),
    )
    head = {"apiVersion": klass.claim_api_version, "kind": klass.serves.kind, "spec": claim.data.get("spec") or {}}
    identified = dress(head, kebab(klass.serves.kind), identity)
    own = str(uuid.uuid5(uuid.UUID(uid), klass.serves.kind)) if _is_uuid(uid) else uid
    data = {**identified, "metadata": {**identified["metadata"], "uid": own}}
    return replace(claim, data=data)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _load(paths: Sequence[Path]) -> list[Document]:
    return load(list(paths), root=Path.cwd())


def _one(path: Path, what: str) -> Document:
    found = _load([path])
    if len(found) != 1:
        fix = f"give a file with {what} and nothing else"
        raise LoadError(Problem(f"{path} holds {len(found)} documents, not {what}", fix=fix))
    return found[0]


def _composition(
    compositions: Sequence[Class], composite: Document, path: Path, documents: Sequence[Document]
) -> Class:
    """The composition that the file gives for a composite."""
    wanted = GroupKind.of(composite.data)
    serving = [c for c in compositions if c.serves == wanted] or list(compositions)
    if len(serving) == 1:
        return serving[0]
    if serving:
        what = f"{path} holds {len(serving)} compositions for {wanted}"
        raise LoadError(Problem(what, fix=f"keep one of: {', '.join(c.name for c in serving)}"))
    old = next((d for d in documents if d.data.get("kind") == crossplane_composition.KIND.kind), None)
    what = f"{path} holds no Crossplane composition"
    fix = "the old from/to form is rendered as part of a stack" if old else "give a Composition with compositeTypeRef"
    raise LoadError(Problem(what, old.source_of("spec") if old else None, "spec" if old else "", fix))


def _check_functions(klass: Class, documents: Sequence[Document], path: Path) -> None:
    """Refuse steps whose function the file of functions does not name."""
    kinds = [d for d in documents if GroupKind.of(d.data) == FUNCTION]
    known = {str((d.data.get("metadata") or {}).get("name")) for d in kinds}
    problems = Collector()
    for step in klass.steps:
        if step.at.startswith("spec.pipeline") and step.function not in known:
            place = f"{step.at.removesuffix('.input')}.functionRef.name"
            what = f"the step {step.name!r} runs {step.function}, which {path} does not name"
            fix = f"add it there, or use one of: {', '.join(sorted(known)) or 'none yet'}"
            problems.add(Problem(what, klass.document.source_of(place), place, fix))
    problems.raise_as(ComposeError)


def _environment(documents: Sequence[Document]) -> dict[str, Any]:
    """The environment that files give: plain data, or the data of EnvironmentConfigs, later ones over earlier ones."""
    merged: dict[str, Any] = {}
    for document in documents:
        config = document.data.get("kind") == environments.KIND
        environments.merge_into(merged, (document.data.get("data") or {}) if config else document.data)
    return merged
