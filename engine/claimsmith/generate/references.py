"""A template's selectors in its component: a sibling by its name, any other resource by a look-up in the stack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ReferenceError_
from claimsmith.base.labels import PARENT_UID
from claimsmith.base.names import GroupKind
from claimsmith.compose import references
from claimsmith.compose.references import Candidate, Selection, Table
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.generate import tree
from claimsmith.generate.expression import Expression, either, literal


def with_references(
    klass: Class,
    template: Template,
    trees: dict[str, tree.Tree],
    variables: dict[str, str],
    table: Table,
    needs: list[tuple[str, str]],
) -> dict[str, Any]:
    """The template's document with each selector replaced by the name of the sibling that it picks.

    What the template needs for it is added to `needs`.
    """
    targets = _targets(klass, trees)
    own = next(t for t in targets if t.address == template.name)
    resolver = _Resolver(template, own, targets, variables, needs, crossplane=klass.dialect.static_siblings)
    try:
        return resolver.document(trees[template.name].document, table)
    except ReferenceError_ as error:
        prefix = f"{klass.key}, template {template.name!r}: "
        raise ReferenceError_(*klass.located(error.problems, template, prefix=prefix)) from error


def _targets(klass: Class, trees: dict[str, tree.Tree]) -> list[Candidate]:
    """The class's templates as candidates of a selector, with the labels that no patch of a composite changes."""
    found = []
    for template in klass.templates:
        document = trees[template.name].document
        labels = ordering.static_labels(template) if klass.dialect.static_siblings else _labels(document)
        class_name = str((template.class_ref or {}).get("name", ""))
        found.append(
            Candidate(template.name, GroupKind.of(document), labels, "", template=template.name, class_name=class_name)
        )
    return found


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Resolves the selectors of one template."""

    template: Template
    own: Candidate
    targets: list[Candidate]
    variables: dict[str, str]
    needs: list[tuple[str, str]]
    crossplane: bool
    """Whether selectors that do not resolve are left to the provider's controller, as in Crossplane."""

    def document(self, document: dict[str, Any], table: Table) -> dict[str, Any]:
        """The document with its selectors resolved."""
        siblings = {PARENT_UID: Expression("self.claim.uid", may_be_absent=False)}
        return references.replace_selectors(
            document,
            table,
            self._ref,
            maybe=_may_be_absent,
            siblings=siblings if self.crossplane else None,
            fits=self._fits,
            also=self._left,
        )

    def _fits(self, selection: Selection) -> bool:
        if not self.crossplane or not selection.same_parent:
            return True
        patched = ordering.is_patched(self.template, selection.path)
        return not patched and bool(references.fitting(selection, own=self.own, candidates=self.targets))

    def _ref(self, selection: Selection) -> Expression:
        resolved = self._resolved(selection)
        if isinstance(selection.unless, Expression):
            uses = resolved.uses | selection.unless.uses | {"unless"}
            resolved = Expression(f"unless({selection.unless.code}, {resolved.code})", uses)
        return either(selection.ref, resolved) if isinstance(selection.ref, Expression) else resolved

    def _resolved(self, selection: Selection) -> Expression:
        if selection.same_parent:
            picked = references.pick(selection, own=self.own, candidates=self.targets)
            self.needs.append((picked.address, fieldpath.to_text(selection.path)))
            return literal({"name": Expression(f"{self.variables[picked.address]}.name", may_be_absent=False)})
        if self.crossplane:
            return self._looked_up("selected", selection)
        return literal({"name": replace(self._looked_up("select", selection), may_be_absent=False)})

    def _left(self, selection: Selection, value: Any) -> Expression | None:
        """The selector that is left to a controller, if nothing in the stack is selected."""
        if not self.crossplane or selection.same_parent:
            return None
        selected, left = self._looked_up("selected", selection), literal(value)
        return Expression(f"unless({selected.code}, {left.code})", selected.uses | left.uses | {"unless"})

    def _looked_up(self, method: str, selection: Selection) -> Expression:
        """A look-up among all resources of the stack."""
        labels = literal(selection.labels)
        kinds = [str(kind) for kind in selection.targets]
        path = fieldpath.to_text(selection.ref_path)
        code = f"self.{method}({self.template.name!r}, {path!r}, {kinds!r}, {labels.code})"
        return Expression(code, labels.uses)


def _may_be_absent(value: Any) -> bool:
    return isinstance(value, Expression) and value.may_be_absent


def _labels(document: dict[str, Any]) -> dict[str, str]:
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}
