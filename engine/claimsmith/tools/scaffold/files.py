"""New files in a project: written once, never over something, and only where the project can read them afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from claimsmith.base.documents import read_documents
from claimsmith.base.errors import CatalogError, LoadError, Problem
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.platform import offers
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project import sdks
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.providers.tokens import Token
from claimsmith.tools.scaffold.claim_fields import is_namespaced
from claimsmith.tools.scaffold.class_file import Kind, NewClass, class_text
from claimsmith.tools.scaffold.native_resource import Native


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


def write_class(project: Project, new: NewClass) -> Path:
    """Write a class's file, where the platform has no such file, and can be read with it."""
    text = class_text(new, project.table())
    path = project.components / new.name / "class.yaml"
    documents = read_documents(text, file=path.relative_to(project.root).as_posix())
    known = project.catalog().classes
    for (key, _), klass in read_catalog(documents, bindable=project.bindable()).classes.items():
        same = next((c for c in known.values() if c.key == klass.key), None)
        if same:
            where = same.document.source_of("metadata.name")
            raise LoadError(Problem(f"there is a class {key} already", where, fix="choose another name"))
    write_new(path, text)
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
