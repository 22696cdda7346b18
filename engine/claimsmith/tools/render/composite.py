"""`claimsmith render XR COMPOSITION`: composes the resources of one composite. No project is needed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from claimsmith.base.documents import Document
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
from claimsmith.patching import environments
from claimsmith.project.load import load
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


def render(files: Files, *, full: bool = False, results: bool = False) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The composite, what it is composed of, and warnings.

    `full` adds the composite's own spec and metadata, `results` the warnings as documents.
    """
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
        extra=[d.data for d in _load(files.extra)],
    )
    made = rendered.documents()
    if full:
        made[0] = {**made[0], "metadata": data.get("metadata", {}), "spec": data.get("spec", {})}
    warnings += [problem for _, problem in rendered.warnings]
    return [*native.gathered(made, data), *(rendered.results() if results else [])], warnings


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
    made = dress(head, kebab(klass.serves.kind), identity)
    own = str(uuid.uuid5(uuid.UUID(uid), klass.serves.kind)) if _is_uuid(uid) else uid
    data = {**made, "metadata": {**made["metadata"], "uid": own}}
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
