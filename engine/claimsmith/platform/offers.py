"""What a platform offers for a kind of claim: its classes and compositions, and which of them claims get by default.

Takes a catalog, gives `Offer`s; nothing is bound here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import CatalogError, Problem, suggest
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.platform import selection
from claimsmith.platform.catalog import Catalog
from claimsmith.providers.tokens import resource_type

DESCRIPTION = "claimsmith.io/description"


@dataclass(frozen=True, slots=True)
class Offer:
    """One class, as something that claims of a kind may be served by."""

    klass: Class
    weight: int
    default: str = ""
    """`default`, `forced` or `published` where claims get it without asking; empty where they do not."""

    @property
    def makes(self) -> list[str]:
        """The kinds that it composes, each with how many of it where there are several."""
        kinds = Counter(t.kind for t in self.klass.templates)
        return [k if n == 1 else f"{n} × {k}" for k, n in kinds.items()]

    def to_dict(self) -> dict[str, Any]:
        """The offer for a machine to read."""
        klass = self.klass
        where = klass.document.source_of("metadata.name")
        children = [{"template": t.name, **_kind(t)} for t in klass.templates]
        return {
            "serves": str(klass.serves),
            "class": str(klass.key),
            "name": klass.name,
            "dialect": dialect_of(klass),
            "labels": dict(klass.labels),
            "default": self.default or None,
            "weight": self.weight,
            "makes": children,
            "description": klass.annotations.get(DESCRIPTION),
            "where": {"file": where.file, "line": where.line, "column": where.column},
        }


def _kind(template: Template) -> dict[str, str]:
    if template.native:
        return {"type": resource_type(template.base)}
    return {"apiVersion": template.api_version, "kind": template.kind}


def offers(catalog: Catalog, kind: GroupKind) -> list[Offer]:
    """What may serve claims of a kind, in the order of the classes' keys."""
    found = catalog.defined(kind)
    defaults: dict[ClassKey | None, str] = {}
    if found and not found[1]:
        defaults = {found[0].default_composition: "default", found[0].force_composition: "forced"}
    return [Offer(c, selection.weight_of(c), defaults.get(c.key) or _by_itself(c)) for c in catalog.serving(kind)]


def kinds(catalog: Catalog) -> list[GroupKind]:
    """Every kind that a class serves or a definition defines, in order."""
    defined = {k for d in catalog.definitions.values() for k in (d.group_kind, d.requirement) if k}
    return sorted({*(c.serves for c in catalog.classes.values()), *defined})


def find_kinds(catalog: Catalog, text: str) -> list[GroupKind]:
    """The kinds that `Kind.group`, or a kind alone, names; one that nothing serves is refused."""
    known = kinds(catalog)
    found = [k for k in known if text in (str(k), k.kind)]
    if not found:
        offered = ", ".join(str(k) for k in known) or "none yet; add classes below components/"
        names = [*(str(k) for k in known), *(k.kind for k in known)]
        fix = suggest(text, names, f"the kinds that can be claimed are: {offered}")
        raise CatalogError(Problem(f"no class serves claims of the kind {text!r}", fix=fix))
    return found


def dialect_of(klass: Class) -> str:
    """What the documents call such a class."""
    if klass.static:
        return "existing resource"
    if klass.revision:
        return "revision"
    return "class of its kind" if klass.makes else klass.dialect.class_word


def _by_itself(klass: Class) -> str:
    if klass.dialect.publishing:
        return "published"
    return "default" if klass.annotations.get(selection.IS_DEFAULT) == "true" else ""
