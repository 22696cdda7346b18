"""New files in a project: written once, never over something, and only where the project can read them afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import CatalogError, EngineError, LoadError, Problem
from claimsmith.base.names import ClaimKey, GroupKind, kebab
from claimsmith.kubernetes import schema as schemas
from claimsmith.platform import crd_set, offers
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project import sdks
from claimsmith.project.components import Components
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.providers.tokens import Token
from claimsmith.tools.generate import format_source
from claimsmith.tools.scaffold.claim_fields import is_namespaced
from claimsmith.tools.scaffold.claim_file import flow
from claimsmith.tools.scaffold.class_file import Format, Kind, NewClass, class_text
from claimsmith.tools.scaffold.definition_file import DefinitionFormat, NewField, definition_text
from claimsmith.tools.scaffold.native_resource import Native

_STACK = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def claim_key(catalog: Catalog, text: str) -> ClaimKey:
    """The claim that `Kind/namespace/name`, or `Kind/name` at cluster scope or in `default`, is to be."""
    word, *place = text.split("/")
    if not 1 <= len(place) <= 2 or not all(place):
        raise LoadError(Problem(f"{text!r} is no claim", fix="write it as KIND/NAMESPACE/NAME"))
    kind = one_kind(catalog, word)
    namespaced = is_namespaced(catalog, kind)
    if not namespaced and len(place) == 2:
        raise LoadError(Problem(f"{kind} is in no namespace", fix=f"write it as {word}/{place[-1]}"))
    namespace = (place[0] if len(place) == 2 else "default") if namespaced else ""
    return ClaimKey(kind, namespace, place[-1])


def one_kind(catalog: Catalog, word: str) -> GroupKind:
    """The one kind that can be claimed under a name, with or without its group."""
    found = offers.find_kinds(catalog, word)
    if len(found) > 1:
        fix = f"use one of: {', '.join(str(k) for k in found)}"
        raise CatalogError(Problem(f"{word!r} names {len(found)} kinds", fix=fix))
    return found[0]


def write_claim(project: Project, stack: str, key: ClaimKey, text: str) -> Path:
    """Write a claim's file, where the stack has no such claim and no such file, and the claim can be read."""
    project.check_stack(stack)
    catalog = project.catalog(stack)
    if key in catalog.claims:
        where = catalog.claims[key].document.source_of("metadata.name")
        raise LoadError(Problem(f"there is a claim {key} already", where, fix="choose another name, or edit that one"))
    path = project.root / "stacks" / stack / "claims" / f"{key.name}.yaml"
    for document in read_documents(text, file=path.relative_to(project.root).as_posix()):
        catalog.read_claim(document)
    write_new(path, text)
    return path


def write_class(project: Project, new: NewClass) -> list[Path]:
    """Write a class's file and its component, where the platform has no such file, and can be read with it."""
    catalog = project.catalog()
    text = class_text(new, project.table(), _schemas(catalog, new))
    name = "composition.yaml" if new.format in (Format.crossplane, Format.definitions) else "class.yaml"
    path = project.components / new.name / name
    documents = read_documents(text, file=path.relative_to(project.root).as_posix())
    read = read_catalog([*_platform(catalog), *documents], bindable=project.bindable())
    classes = [c for c in read.classes.values() if c.document.file == documents[0].file]
    for klass in classes:
        same = next((c for c in catalog.classes.values() if c.key == klass.key), None)
        if same:
            where = same.document.source_of("metadata.name")
            raise LoadError(Problem(f"there is a class {klass.key} already", where, fix="choose another name"))
    if not any(c.serves == new.claim.group_kind for c in classes):
        what = f"a class of the format {new.format} with these kinds does not serve {new.claim.group_kind}"
        raise LoadError(Problem(what, fix="leave out --format; or add the kinds to components/bindable.yaml"))
    write_new(path, text)
    return [path, *_component(project, path)]


def _platform(catalog: Catalog) -> list[Document]:
    """The definitions of the platform: a composition can only be read beside the definition of its kind."""
    defined = [d.document for d in catalog.definitions.values()]
    return [*defined, *(x.document for x in catalog.crossplane.xrds.values())]


def _component(project: Project, path: Path) -> list[Path]:
    """Generate the component of a new class; where that is refused, the class is there to be completed first."""
    with suppress(EngineError):
        components = Components(Project(project.root))
        component = path.parent / "component.py"
        text = format_source(components.source(component))
        write_atomically(component, text)
        return [component]
    return []


def _schemas(catalog: Catalog, new: NewClass) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The schemas of the kinds that a class is to make, as far as the platform has their definitions."""
    given = crd_set.given_crds(catalog)
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for kind in new.makes:
        crd = given.get(kind.group_kind) if isinstance(kind, Kind) else None
        schema = schemas.crd_schema(crd.data, kind.version) if crd and isinstance(kind, Kind) else None
        if isinstance(kind, Kind) and schema:
            found[kind.api_version, kind.kind] = schema
    return found


def format_of(catalog: Catalog, kind: Kind) -> tuple[Format, Kind]:
    """The format in which a class serves a kind, and the kind that it names: that of the kind's definition, if any."""
    crossplane = catalog.crossplane.defined(kind.group_kind)
    if crossplane:
        return Format.crossplane, Kind(kind.api_version, crossplane[0].kind.kind)
    defined = catalog.defined(kind.group_kind)
    if defined:
        return Format.definitions, Kind(kind.api_version, defined[0].group_kind.kind)
    return Format.composite, kind


def write_definition(project: Project, kind: Kind, fields: Sequence[NewField], written_as: DefinitionFormat) -> Path:
    """Write the definition of a kind that the platform does not have yet."""
    catalog = project.catalog()
    if format_of(catalog, kind)[0] != Format.composite:
        raise LoadError(Problem(f"{kind.group_kind} is defined already", fix="choose another kind, or edit that one"))
    text = definition_text(kind, fields, written_as)
    path = project.components / kebab(kind.kind) / "definition.yaml"
    read_catalog(read_documents(text, file=path.relative_to(project.root).as_posix()), bindable=project.bindable())
    write_new(path, text)
    return path


def write_stack(project: Project, stack: str, like: str | None = None) -> list[Path]:
    """Create an environment, with the claims and resources of another one if it is to be like that."""
    if not _STACK.fullmatch(stack):
        fix = "use letters, digits, dots, dashes and underscores, a hundred at most"
        raise LoadError(Problem(f"{stack!r} is no name for a stack", fix=fix))
    if stack in project.stacks():
        raise LoadError(Problem(f"there is a stack {stack!r} already", fix="choose another name"))
    folder = project.root / "stacks" / stack
    if like is None:
        # git keeps no empty folders.
        write_new(folder / "claims" / ".gitkeep", "")
        return [folder / "claims" / ".gitkeep"]
    project.check_stack(like)
    source = project.root / "stacks" / like
    copied = [p for name in ("claims", "resources") for p in sorted((source / name).rglob("*")) if p.is_file()]
    for path in copied:
        project.own(path)
        write_new(folder / path.relative_to(source), path.read_text(encoding="utf-8"))
    return [folder / path.relative_to(source) for path in copied]


def provides_namespace(project: Project, stack: str, name: str) -> bool:
    """Whether a namespace is among the resources that a stack provides."""
    namespace = GroupKind("", "Namespace")
    return any(key.group_kind == namespace and key.name == name for key in project.catalog(stack).resources)


def write_namespace(project: Project, stack: str, name: str) -> Path:
    """Let a stack create a namespace: write it among the resources that the stack provides."""
    project.check_stack(stack)
    if not _LABEL.fullmatch(name) or len(name) > 63:
        fix = "use small letters, digits and dashes, 63 at most"
        raise LoadError(Problem(f"{name!r} is no name for a namespace", fix=fix))
    path = project.root / "stacks" / stack / "resources" / f"namespace-{name}.yaml"
    if provides_namespace(project, stack, name):
        raise LoadError(Problem(f"{stack} creates the namespace {name!r} already", fix="choose another name"))
    write_new(path, f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {flow(name)}\n")
    return path


def made_by(text: str) -> Kind | Native:
    """What a class is to make: `package:module:Type` of a Pulumi provider, or `group/version/Kind`."""
    if ":" not in text:
        return Kind.parse(text)
    return Native.of(text, sdks.index_of(Token.parse(text).package))


def add_requirements(project: Project, natives: Iterable[Native]) -> tuple[list[str], list[str]]:
    """Add the SDKs of native resources to the project's requirements: lines that were added, and lines to add by hand.

    A file in which every package has its hash is compiled from another one: a line without a hash would break it.
    """
    path = project.root / "requirements.txt"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    known = {_distribution(line) for line in text.splitlines()}
    missing = list(dict.fromkeys(n.requirement for n in natives if _distribution(n.requirement) not in known))
    if not missing or "--hash=" in text or not text:
        return [], missing
    write_atomically(path, text + ("" if text.endswith("\n") else "\n") + "".join(f"{line}\n" for line in missing))
    return missing, []


def _distribution(line: str) -> str:
    """The package that a line of a requirements file names, as indexes compare names."""
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", line.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet; another one is never touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise LoadError(Problem(f"{path} is there already", fix="choose another name, or edit that file")) from error
