"""Permissions of the application teams' files: the one place that decides them.

Application teams select among what the platform offers, in their own namespaces. Everything that decides who owns an
object, which object is meant or how it is protected belongs to the platform's files, and is refused below
`stacks/<stack>/claims/` unless the settings (`claimsmith.yaml`) permit it. The list names what a claim may contain, not
what it may not: an annotation of ours, or of the engine, that nobody thought of is refused.

Takes documents as they were read; knows which kinds are composites from the catalog. Touches no file and no cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, Collector, NotPermitted, Problem, Refused, suggest
from claimsmith.base.labels import ADOPT, COMPOSITE_LABEL, DIRECTING, EXTERNAL_NAME, IMPORT, PROTECT
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.regexp import matches
from claimsmith.base.values import has, object_at
from claimsmith.dialects.common.metadata import is_name
from claimsmith.dialects.composite_classes import reading as composite_classes
from claimsmith.dialects.crossplane.documents import is_crossplane
from claimsmith.dialects.definitions import composition
from claimsmith.dialects.definitions.model import DEFINITIONS, PUBLICATION
from claimsmith.dialects.workloads.reading import APPLICATION, APPLICATION_RESOURCE, AUTOMATIC, WorkloadTarget
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.settings import FILE, Grant, Permission, Settings, covers

WORKLOAD_NAMESPACES = "claimsmith.io/workload-namespaces"
"""On the platform's WorkloadTarget: the namespaces of its cluster that applications may use, beside their own."""
WORKLOAD_ALLOW = "claimsmith.io/workload-allow"
"""On the platform's WorkloadTarget: what applications may do there beside that, separated by commas."""
CLUSTER_SCOPE = "cluster-scope"
ENGINE_ANNOTATIONS = "engine-annotations"
HARMLESS = {AUTOMATIC: "", PROTECT: "true"}
"""Annotations of ours that a claim may have, with the one value that they may have; empty: any.

A target of its own leads to a cluster of the claim's own namespace. A claim may ask for protection, never against it.
"""
IDENTITY_LABELS = ("crossplane.io/", "resourceclaim.crossplane.io/", "claimsmith.io/")
_NEEDED = {ADOPT: Permission.adopt, IMPORT: Permission.imports}
_OF_COMPOSITES = ("claimRef", "resourceRef", "resourceRefs")
_OWNERSHIP = ("uid", "ownerReferences", "finalizers")


@dataclass(frozen=True, slots=True)
class _File:
    """One document below `claims/`, with its permissions."""

    document: Document
    grant: Grant
    catalog: Catalog

    @property
    def kind(self) -> GroupKind:
        return GroupKind.of(self.document.data)

    @property
    def metadata(self) -> Mapping[str, Any]:
        return object_at(self.document.data, "metadata")

    @property
    def spec(self) -> Mapping[str, Any]:
        return object_at(self.document.data, "spec")

    def may(self, permission: Permission) -> bool:
        return permission in self.grant.allow

    def problem(self, what: str, path: str | fieldpath.Path, fix: str) -> Problem:
        text = path if isinstance(path, str) else fieldpath.to_text(path)
        return Problem(what, self.document.source_of(path), text, fix, rule="not-permitted")


def permitted(
    catalog: Catalog, documents: Iterable[Document], settings: Settings, stack: str, *, refused: Refused | None = None
) -> Catalog:
    """The catalog with each claim limited to the classes and targets that its file may use.

    Refuses every document of `claims/` that its file's permissions do not cover; all problems are reported together.
    `refused` takes them where the catalog is to hold the rest.
    """
    problems = Collector()
    wrong: set[str] = set()
    grants: dict[str, Grant] = {}
    for document in documents:
        grant = settings.grant(stack, document.file.removeprefix(f"stacks/{stack}/claims/"))
        found = [_uncovered(document)] if grant is None else list(_refusals(_File(document, grant, catalog)))
        problems.problems += found
        wrong |= {document.file} if found else set()
        if grant:
            grants[document.file] = grant
    problems.raise_as(NotPermitted, refused)
    claims = {
        k: replace(c, may_use=grants[c.document.file].classes)
        for k, c in catalog.claims.items()
        if c.document.file not in wrong
    }
    applications = {
        k: replace(a, may_use=grants[a.document.file].targets)
        for k, a in catalog.workloads.applications.items()
        if a.document.file not in wrong
    }
    return replace(catalog, claims=claims, workloads=replace(catalog.workloads, applications=applications))


def _uncovered(document: Document) -> Problem:
    what = f"no entry of {FILE} covers this file: claims may stand only in the folders that it names"
    fix = f"move it to one of those folders, or have the platform team add its folder to {FILE}"
    return Problem(what, document.source_of("kind"), "", fix, rule="not-permitted")


def _refusals(file: _File) -> Iterator[Problem]:
    """Everything in a document that is not permitted."""
    if _is_platforms(file):
        what = f"{file.kind} is for the platform team to write"
        yield file.problem(what, "kind", "move it to components/ or stacks/<stack>/resources/")
        return
    yield from _kind(file)
    yield from _namespaces(file)
    yield from _ownership(file)
    yield from _annotations(file, ("metadata", "annotations"), (*DIRECTING, EXTERNAL_NAME))
    yield from _labels(file)
    yield from _references(file)
    if file.kind in (APPLICATION, APPLICATION_RESOURCE):
        yield from _templates(file)


def _is_platforms(file: _File) -> bool:
    """Whether documents of this kind describe what is offered, and so are never an application team's."""
    kinds = {*composite_classes.KINDS, *DEFINITIONS, PUBLICATION}
    return file.kind in kinds or composition.is_composition(file.document) or is_crossplane(file.document)


def _is_composite(file: _File) -> bool:
    """Whether the kind is a composite at cluster scope: what a claim creates, not what a team claims with."""
    crossplane = file.catalog.crossplane.defined(file.kind)
    if crossplane:
        return not crossplane[1] and not crossplane[0].namespaced
    defined = file.catalog.defined(file.kind)
    return bool(defined and not defined[1] and not defined[0].namespaced)


def _kind(file: _File) -> Iterator[Problem]:
    if not matches(str(file.kind), file.grant.kinds):
        what = f"claims of this folder may not be of kind {file.kind}"
        yield file.problem(what, "kind", _listed("kinds", file.grant.kinds, file.grant))
    if _is_composite(file) and not file.may(Permission.composites):
        asked = _claim_kind(file)
        fix = f"ask with a {asked}; or " if asked else ""
        what = f"{file.kind} is a composite at cluster scope, which only the platform team writes"
        yield file.problem(what, "kind", f"{fix}{_allowing(Permission.composites)}")


def _claim_kind(file: _File) -> str:
    crossplane = file.catalog.crossplane.defined(file.kind)
    if crossplane:
        return crossplane[0].claim.kind if crossplane[0].claim else ""
    defined = file.catalog.defined(file.kind)
    return defined[0].requirement.kind if defined and defined[0].requirement else ""


def _namespaces(file: _File) -> Iterator[Problem]:
    """Every namespace that a document names is one that its file may use."""
    named: list[tuple[str, Any]] = []
    if not _is_composite(file):
        named.append(("metadata.namespace", file.metadata.get("namespace") or "default"))
    for key in ("claimRef", "writeConnectionSecretToRef"):
        if namespace := object_at(file.spec, key).get("namespace"):
            named.append((f"spec.{key}.namespace", namespace))
    if namespace := object_at(object_at(file.spec, "infrastructure"), "writeConnectionSecretToRef").get("namespace"):
        named.append(("spec.infrastructure.writeConnectionSecretToRef.namespace", namespace))
    for path, namespace in named:
        # What is no name at all is refused by the document's own model, with a better reason.
        if isinstance(namespace, str) and is_name(namespace) and not file.grant.may_use_namespace(namespace):
            what = f"claims of this folder may not use the namespace {namespace!r}"
            yield file.problem(what, path, _listed("namespaces", file.grant.namespaces, file.grant))


def _ownership(file: _File) -> Iterator[Problem]:
    """Metadata that identifies a composite. Of an exported claim nobody reads it, and it is ignored."""
    crossplane = file.catalog.crossplane.defined(file.kind)
    if not crossplane or crossplane[1] or file.may(Permission.composites):
        return
    for key in _OWNERSHIP:
        if key in file.metadata:
            what = f"a composite of an application team does not choose its metadata.{key}"
            yield file.problem(what, f"metadata.{key}", "remove it; an exported object carries it, this one needs none")


def _annotations(file: _File, path: fieldpath.Path, prefixes: tuple[str, ...]) -> Iterator[Problem]:
    """The annotations under a path that begin with one of these prefixes, and are not permitted."""
    given = fieldpath.get(file.document.data, path) if has(file.document.data, fieldpath.to_text(path)) else {}
    for key, value in given.items() if isinstance(given, Mapping) else ():
        harmless = key in HARMLESS and HARMLESS[key] in ("", value)
        if str(key).startswith(prefixes) and not harmless:
            yield from _annotation(file, str(key), path)


def _annotation(file: _File, key: str, path: fieldpath.Path) -> Iterator[Problem]:
    needed = Permission.external_names if key.startswith(EXTERNAL_NAME) else _NEEDED.get(key)
    if needed and file.may(needed):
        return
    fix = suggest(key, HARMLESS, "the platform team can set it on the class")
    what = f"the annotation {key} counts in the platform's files only"
    yield file.problem(what, (*path, key), f"remove it; {f'or {_allowing(needed)}' if needed else fix}")


def _labels(file: _File) -> Iterator[Problem]:
    if file.may(Permission.composites):
        return
    for key, value in object_at(file.metadata, "labels").items():
        own = key == COMPOSITE_LABEL and value == file.metadata.get("name")
        if str(key).startswith(IDENTITY_LABELS) and not own:
            what = f"the label {key} says which composite an object belongs to: a claim does not choose it"
            yield file.problem(what, ("metadata", "labels", str(key)), "remove it")


def _references(file: _File) -> Iterator[Problem]:
    """References by which a document would take hold of objects of others."""
    crossplane = file.catalog.crossplane.defined(file.kind)
    if crossplane:
        if not crossplane[1] and not file.may(Permission.composites):
            yield from _composite_references(file)
        return
    claim = file.catalog.claims.get(_key(file))
    if claim is None or file.may(Permission.existing_resources):
        return
    if claim.native_ref:
        what = f"{claim.native_ref} is not created by this stack: a claim does not choose what to read"
        yield file.problem(what, claim.resource_path, _allowing(Permission.existing_resources))
    if claim.object_ref is None:
        return
    wanted = claim.object_ref.key
    provided = any(k.group_kind == wanted.group_kind and k.name == wanted.name for k in file.catalog.resources)
    shared = any(t.published and t.cluster.key == wanted for t in file.catalog.workloads.targets.values())
    if provided and not shared:
        return
    # Who claims a cluster may do everything there: one that is shared by a target is not for one team to claim.
    why = "is shared by a WorkloadTarget of the platform" if shared else "is not among what the platform provides"
    what = f"{wanted} {why} in this stack"
    fix = f"have it provided in stacks/<stack>/resources/; or {_allowing(Permission.existing_resources)}"
    yield file.problem(what, claim.resource_path, fix)


def _composite_references(file: _File) -> Iterator[Problem]:
    for path in ((), ("crossplane",)):
        given = object_at(file.spec, "crossplane") if path else file.spec
        for key in _OF_COMPOSITES:
            if key in given:
                what = f"{key} says what a composite holds: only the platform team writes it"
                yield file.problem(what, ("spec", *path, key), f"remove it; or {_allowing(Permission.composites)}")


def _key(file: _File) -> ClaimKey:
    namespace = "" if _is_composite(file) else str(file.metadata.get("namespace") or "default")
    return ClaimKey(file.kind, namespace, str(file.metadata.get("name")))


def _templates(file: _File) -> Iterator[Problem]:
    """The annotations of ours on what an application deploys; those of the engine are the target's to permit."""
    given = file.spec.get("resourceTemplates")
    templates: list[fieldpath.Path] = [("spec", "resourceTemplates", i) for i in range(len(given or ()))]
    inner: fieldpath.Path = ("spec", "template", "metadata", "annotations")
    for path in [inner, *((*t, "metadata", "annotations") for t in templates), *((*t, *inner) for t in templates)]:
        yield from _annotations(file, path, ("claimsmith.io/",))


@dataclass(frozen=True, slots=True)
class TargetGrant:
    """What an application may deploy to a target."""

    namespaces: tuple[str, ...] | None = None
    """Patterns for the namespaces that it may use; None where it may use all, those of the system too."""
    cluster_scope: bool = True
    engine_annotations: bool = True

    def refusal(self, kind: GroupKind, namespace: str, *, namespaced: bool | None) -> str:
        """Why an object may not be deployed; empty where it may."""
        if not self.cluster_scope and namespaced is None:
            return f"it is not known whether {kind} is at cluster scope, which this target does not allow"
        if not self.cluster_scope and not namespaced:
            return f"{kind} is at cluster scope, which this target does not allow"
        if namespaced and self.namespaces is not None and not covers(namespace, self.namespaces):
            return f"this target does not allow the namespace {namespace!r}"
        return ""

    def cleaned(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The object without the annotations that direct the engine, unless the target allows them.

        `pulumi.com/patchForce` would overwrite what others own, `pulumi.com/deletionPropagationPolicy` orphan it.
        """
        metadata = object_at(document, "metadata")
        given = object_at(metadata, "annotations")
        kept = {k: v for k, v in given.items() if not str(k).startswith("pulumi.com/")}
        if self.engine_annotations or len(kept) == len(given):
            return dict(document)
        rest = {k: v for k, v in metadata.items() if k != "annotations"}
        return {**document, "metadata": {**rest, **({"annotations": kept} if kept else {})}}


def target_grant(target: WorkloadTarget, namespace: str) -> TargetGrant:
    """What applications of a namespace may deploy to a target. A cluster that a team claimed itself is its own."""
    if not target.published:
        return TargetGrant()
    allowed = _annotated(target, WORKLOAD_ALLOW)
    unknown = sorted(set(allowed) - {CLUSTER_SCOPE, ENGINE_ANNOTATIONS})
    if unknown:
        path = ("metadata", "annotations", WORKLOAD_ALLOW)
        what = f"{WORKLOAD_ALLOW} knows no {unknown[0]!r}"
        fix = f"use {CLUSTER_SCOPE}, {ENGINE_ANNOTATIONS} or both, separated by commas"
        raise CatalogError(Problem(what, target.document.source_of(path), fieldpath.to_text(path), fix))
    return TargetGrant(
        namespaces=(namespace, *_annotated(target, WORKLOAD_NAMESPACES)),
        cluster_scope=CLUSTER_SCOPE in allowed,
        engine_annotations=ENGINE_ANNOTATIONS in allowed,
    )


def _annotated(target: WorkloadTarget, annotation: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in target.annotations.get(annotation, "").split(",") if word.strip())


def _listed(word: str, patterns: tuple[str, ...], grant: Grant) -> str:
    if not grant.entry:
        return f"use another of the {word}: this one is reserved; {FILE} can permit it by name"
    allowed = ", ".join(patterns) or "none"
    return f"use one of: {allowed}; or have the platform team change {grant.entry}"


def _allowing(permission: Permission) -> str:
    return f"have the platform team permit it: allow: [{permission}] in {FILE}"
