"""Generated components: each exists, is what `claimsmith generate` would write now, and can create what is planned."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from claimsmith import generate
from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.grouping import grouped
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.compose import references
from claimsmith.compose.drafts import Child
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.dialects.common.klass import Class
from claimsmith.platform.catalog import Catalog
from claimsmith.project import sdks
from claimsmith.project.project import Project

_FIX = "run: claimsmith generate"


@dataclass(frozen=True)
class Components:
    """The components of a project: one module for each folder of classes."""

    project: Project

    @cached_property
    def _catalog(self) -> Catalog:
        return self.project.catalog()

    @cached_property
    def _claims(self) -> dict[tuple[GroupKind, str], generate.ClaimType]:
        return generate.claim_types(self._catalog)

    @cached_property
    def folders(self) -> dict[Path, list[Class]]:
        """The classes of each module, by the module's path; those that only other stacks are offered count too."""
        return grouped(self._catalog.classes.values(), self.project.component_path)

    def source(self, path: Path) -> str:
        """What the generator writes into a module now, before the formatter."""
        classes = self.folders[path]
        files = ", ".join(sorted({c.document.file for c in classes}))
        return generate.generate(classes, self.project.table(), source=files, claims=self._claims, sdks=sdks.index_of)

    def problems(self, classes: Iterable[Class]) -> list[Problem]:
        """What is wrong with the modules of some classes: missing, stale or edited, each reported once."""
        modules = grouped(classes, self.project.component_path)
        return [problem for path, (first, *_) in modules.items() for problem in self._problems(path, first)]

    def _problems(self, path: Path, klass: Class) -> list[Problem]:
        shown = path.relative_to(self.project.root).as_posix()
        where = klass.document.source_of("metadata.name")
        written = self.project.content(path)
        if written is None:
            what = f"{klass.key} has no component: {shown} is missing"
            return [Problem(what, where, fix=_FIX, rule="missing-component")]
        try:
            source = self.source(path)
        except EngineError as error:
            return list(error.problems)
        if generate.digest_of(written) != generate.digest_of(source.encode()):
            what = f"{shown} is stale: generate would write something else now"
            return [Problem(what, where, fix=_FIX, rule="stale-component")]
        if not _same_code(written, source):
            what = f"{shown} is not what was generated: it was edited by hand"
            return [Problem(what, where, fix=f"change the class instead, then {_FIX}", rule="stale-component")]
        return []


def component_problems(project: Project, classes: Iterable[Class]) -> list[Problem]:
    """What is wrong with the components of some classes of a project."""
    return Components(project).problems(classes)


def order_problems(project: Project, plan: Plan) -> list[Problem]:
    """Selectors by labels that select a resource which is created only after the one that selects it.

    The order within a component is that of its class, for all claims and stacks; what such a selector selects is known
    only here. Compositions of Crossplane do not count: they leave the selector to the provider's controller.
    """
    doubtful = [c for c in plan.claims if _selects_own(c)]
    classes = project.catalog(plan.stack, refused=lambda _: None).classes if doubtful else {}
    places: dict[tuple[ClassKey, GroupKind], dict[str, int]] = {}

    def places_of(klass: Class) -> dict[str, int]:
        """When each template of a class is created; as a claim gets its class, loops and conditions are resolved."""
        key = (klass.key, klass.serves)
        if key not in places:
            whole = classes.get(key, klass)
            order = generate.creation_order(whole, project.table(), sdks.index_of) if klass.generated else []
            places[key] = {name: index for index, name in enumerate(order)}
        return places[key]

    def created(claim: PlannedClaim) -> Iterator[tuple[PlannedClaim, Child]]:
        """The children of a claim and of the composites below it, in the order of their creation."""
        place = places_of(claim.binding.klass)
        parts: list[tuple[str, Child | PlannedClaim]] = [(c.template, c) for c in claim.nested]
        parts += [(c.template.element[0] if c.template.element else c.template.name, c) for c in claim.children]
        for _, part in sorted(parts, key=lambda named: place.get(named[0], 0)):
            if isinstance(part, PlannedClaim):
                yield from created(part)
            else:
                yield claim, part

    found: list[Problem] = []
    for claim in doubtful:
        with suppress(EngineError):  # a class without a component: `component_problems` reports it
            found += _selected_later(list(created(claim)))
    return found


def _selects_own(claim: PlannedClaim) -> bool:
    """Whether a selector by labels selects a resource of its own claim."""
    children = [child for inner in claim.walk() for child in inner.children]
    selected = {address for child in children for address in child.picks.values()}
    return bool(selected) and not selected.isdisjoint(child.address for child in children)


def _selected_later(created: Sequence[tuple[PlannedClaim, Child]]) -> Iterator[Problem]:
    place: dict[str, int] = {child.address: index for index, (_, child) in enumerate(created)}
    for index, (claim, child) in enumerate(created):
        for path, address in child.picks.items():
            if place.get(address, index) > index and not claim.identity.dialect.static_siblings:
                problem = references.created_later(address, f"{path.removesuffix('Ref')}Selector")
                prefix = f"{claim.address}, child {child.template.name!r}: "
                yield from claim.binding.klass.located([problem], child.template, prefix=prefix)


def _same_code(written: bytes, source: str) -> bool:
    """Whether both are the same Python, however it is laid out: the file went through a formatter."""
    try:
        return ast.dump(ast.parse(written)) == ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return False
