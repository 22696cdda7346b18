"""`claimsmith crds`: the definitions of the kinds of a platform, and those of providers that it takes in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import LoadError, Problem, Source, suggest
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.base.yaml_text import text_of
from claimsmith.kubernetes import crds as definitions
from claimsmith.kubernetes.reference_fields import is_reference
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import CRD, Catalog
from claimsmith.project.project import Project
from claimsmith.project.writing import write_together

CLUSTER = "cluster"
"""The source that means: what the cluster has."""
FOLDER = "crds"
"""The folder below components/ that definitions of providers are written to."""
_SEPARATOR = "\n---"
_SUFFIXES = (".yaml", ".yml", ".json")
_LARGEST = 256 * 1024 * 1024
_HEAD = "# The definition of a provider, without its descriptions. Written by: claimsmith crds add.\n"


def crds(project: Project, stack: str | None = None) -> list[dict[str, Any]]:
    """The definitions of the kinds that a platform makes up; with a stack, of those that it claims too."""
    if stack:
        project.check_stack(stack)
    return crd_set.own_crds(project.catalog(stack))


@dataclass(frozen=True, slots=True)
class AddedCrd:
    """A definition that was taken into the platform."""

    kind: GroupKind
    versions: tuple[str, ...]
    file: str
    change: str
    """`new`, `changed` or `none`."""

    def to_dict(self) -> dict[str, Any]:
        """The definition for a machine to read."""
        return {"kind": str(self.kind), "versions": list(self.versions), "file": self.file, "change": self.change}


@dataclass(frozen=True, slots=True)
class Added:
    """What `crds add` took into the platform, and how many definitions of the source it left."""

    crds: tuple[AddedCrd, ...]
    left: int

    def to_dict(self) -> dict[str, Any]:
        """The result for a machine to read."""
        return {"crds": [c.to_dict() for c in self.crds], "left": self.left}


def add(
    project: Project, source: str, *, kinds: Sequence[str] = (), everything: bool = False, stack: str | None = None
) -> Added:
    """Write definitions of a file, a folder or the cluster to components/crds: those in use, of some kinds, or all."""
    found = {definitions.kind_of(d.data): d for d in _definitions(project, source, stack)}
    if not found:
        raise LoadError(Problem(f"there is no CustomResourceDefinition in {source}", fix="name a file that has some"))
    wanted = set(found) if everything else _wanted(project.catalog(), project, kinds, found)
    taken = {k: compact(d.data) for k, d in sorted(found.items(), key=lambda item: str(item[0])) if k in wanted}
    if not taken:
        what = f"no class composes a kind that {source} defines"
        fix = "name kinds with --kind, or take all of them with --all"
        raise LoadError(Problem(what, fix=fix))
    paths = {k: project.own(project.components / FOLDER / f"{_name(crd)}.yaml") for k, crd in taken.items()}
    texts = {paths[k]: f"{_HEAD}{text_of(crd)}" for k, crd in taken.items()}
    rows = [_row(project, k, taken[k], paths[k], texts[paths[k]]) for k in taken]
    write_together(texts)
    return Added(tuple(rows), len(found) - len(taken))


def compact(crd: Mapping[str, Any]) -> dict[str, Any]:
    """A definition with what validation, references and reviews read: served versions, without descriptions.

    The descriptions of reference fields stay: they name the target.
    """
    spec = dict(crd["spec"])
    versions = [v for v in spec.get("versions") or () if v.get("served", True)]
    kept = ("name", "served", "storage", "subresources", "additionalPrinterColumns")
    spec["versions"] = [
        {**{k: v[k] for k in kept if k in v}, "schema": {"openAPIV3Schema": _bare(_schema(v))}} for v in versions
    ]
    if not any(v.get("storage") for v in spec["versions"]) and spec["versions"]:
        spec["versions"][-1]["storage"] = True
    head = {"apiVersion": crd["apiVersion"], "kind": crd["kind"], "metadata": {"name": _name(crd)}}
    parts = {k: spec[k] for k in ("group", "names", "scope", "versions") if k in spec}
    return {**head, "spec": parts}


def _schema(version: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_at(object_at(version, "schema"), "openAPIV3Schema")


def _bare(schema: Any, *, described: bool = False) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    kept = {k: v for k, v in schema.items() if described or k != "description"}
    for word in ("items", "additionalProperties", "not"):
        if word in kept:
            kept[word] = _bare(kept[word])
    for word in ("allOf", "anyOf", "oneOf"):
        if isinstance(kept.get(word), list):
            kept[word] = [_bare(item) for item in kept[word]]
    if isinstance(kept.get("properties"), Mapping):
        kept["properties"] = {
            name: _bare(inner, described=is_reference(name)) for name, inner in kept["properties"].items()
        }
    return kept


def _name(crd: Mapping[str, Any]) -> str:
    spec = crd["spec"]
    return f"{spec['names']['plural']}.{spec['group']}"


def _row(project: Project, kind: GroupKind, crd: Mapping[str, Any], path: Path, text: str) -> AddedCrd:
    old = project.content(path)
    change = "new" if old is None else "none" if old == text.encode() else "changed"
    versions = tuple(str(v["name"]) for v in crd["spec"]["versions"])
    return AddedCrd(kind, versions, path.relative_to(project.root).as_posix(), change)


def _wanted(catalog: Catalog, project: Project, kinds: Sequence[str], found: Collection[GroupKind]) -> set[GroupKind]:
    """The kinds of these names; without names, those that classes compose and stacks provide."""
    if not kinds:
        composed = {t.group_kind for c in catalog.classes.values() for t in c.templates if not t.native}
        provided = {GroupKind.of(d.data) for stack in project.stacks() for d in project.given_documents(stack)}
        return composed | provided
    wanted: set[GroupKind] = set()
    for text in kinds:
        matching = {k for k in found if text in (str(k), k.kind)}
        if not matching:
            names = sorted({k.kind for k in found} if "." not in text else {str(k) for k in found})
            raise LoadError(Problem(f"there is no definition of {text!r}", fix=suggest(text, names)))
        wanted |= matching
    return wanted


def _definitions(project: Project, source: str, stack: str | None) -> Iterator[Document]:
    documents = _in_cluster(project, stack) if source == CLUSTER else _in_files(Path(source))
    for document in documents:
        if GroupKind.of(document.data) == CRD:
            definitions.refuse_unsound(document)
            yield document


def _in_cluster(project: Project, stack: str | None) -> Iterable[Document]:
    from claimsmith.project import workspace

    if stack:
        project.check_stack(stack)
    settings = [project.setting(stack, name) if stack else None for name in ("kubeconfig", "context")]
    with workspace.stack_cluster(project, settings[0], settings[1]) as cluster:
        return [Document(crd, CLUSTER) for crd in cluster.list(CRD)]


def _in_files(path: Path) -> Iterator[Document]:
    if not path.exists():
        raise LoadError(Problem(f"no such file or folder: {path}", fix=f"name a file, a folder, or {CLUSTER}"))
    files = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES and p.is_file()) if path.is_dir() else [path]
    for file in files:
        if file.stat().st_size > _LARGEST:
            raise LoadError(Problem("the file is too large", Source(str(file)), fix="split it"))
        text = file.read_text(encoding="utf-8", errors="replace")
        # A provider's package is one long stream: what is no definition is not parsed.
        for part in text.split(_SEPARATOR):
            if CRD.kind in part:
                for document in read_documents(part, file=str(file)):
                    yield from (d for d in document.unrolled() if isinstance(d.data.get("kind"), str))
