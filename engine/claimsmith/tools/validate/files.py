"""Folders and tables of a project: stacks that hold nothing, and names in tables that nothing has."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from claimsmith.base.errors import Problem, Source, nearest
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.kubernetes import crds
from claimsmith.platform.catalog import Catalog
from claimsmith.project.load import load, shown, yaml_files
from claimsmith.project.project import Project

TABLES = {"references.yaml": ("references",), "review.yaml": ("replaced", "immutable")}
"""The tables of a project whose sections have kinds as keys."""


def empty_stacks(project: Project) -> Iterator[Problem]:
    """Folders below stacks/ that hold no claims and no resources, and never held any."""
    folder = project.root / "stacks"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not path.is_dir() or path.is_symlink() or path.name.startswith((".", "__")):
            continue
        parts = [path / name for name in ("claims", "resources") if (path / name).is_dir()]
        if (
            not any(yaml_files(part, root=project.root) for part in parts)
            and not project.bindings_path(path.name).exists()
        ):
            what = f"the stack {path.name!r} has no claims"
            place = shown(path / "claims", project.root)
            fix = f"write its claims to {place}/, with claimsmith new claim --stack {path.name}; or remove the folder"
            yield Problem(what, Source(shown(path, project.root)), "", fix)


def unknown_kinds(project: Project, catalog: Catalog) -> Iterator[Problem]:
    """Kinds in the project's tables that nothing composes or defines, and that are almost the name of one that is."""
    known = _kinds(project, catalog)
    for name, sections in TABLES.items():
        path = project.components / name
        read = path.exists() and name not in project.left_out
        for document in load([path], root=project.root) if read else ():
            for section in sections:
                for text in object_at(document.data, section):
                    kind = GroupKind.parse(str(text))
                    close = _nearest(kind, known)
                    if close and kind not in known:
                        where = document.source_of((section, text))
                        fix = f"did you mean {str(close)!r}?"
                        yield Problem(f"no class composes {kind}", where, f"{section}[{kind}]", fix)


def _nearest(kind: GroupKind, known: Collection[GroupKind]) -> GroupKind | None:
    """The kind that was probably meant: another kind of the same group, or the same kind of another group."""
    by_kind = {k.kind: k for k in known if k.group == kind.group}
    by_group = {k.group: k for k in known if k.kind == kind.kind}
    return by_kind.get(nearest(kind.kind, by_kind) or "") or by_group.get(nearest(kind.group, by_group) or "")


def _kinds(project: Project, catalog: Catalog) -> set[GroupKind]:
    """The kinds that classes compose, CRDs define and stacks provide; with those that built-in tables have."""
    composed = {t.group_kind for c in catalog.classes.values() for t in c.templates if not t.native}
    defined = {crds.kind_of(d.data) for d in catalog.crds}
    provided = {GroupKind.of(d.data) for stack in project.stacks() for d in project.given_documents(stack)}
    return composed | defined | provided | project.built_in_kinds()
