"""A template's selectors in its component: siblings by name, what is elsewhere by a look-up, the rest as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from claimsmith import fieldpath, flow, reference
from claimsmith.compose.identity import PARENT_UID
from claimsmith.errors import Problem, ReferenceError_
from claimsmith.generate import tree
from claimsmith.generate.expression import Expression, either, literal
from claimsmith.models.klass import Class, Parent, Template
from claimsmith.models.objects import GroupKind
from claimsmith.reference import Selection, Table, Target


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
    follow = _Follow(template, own, targets, variables, needs, todays=klass.parent is Parent.xr)
    try:
        return follow.document(trees[template.name].document, table)
    except ReferenceError_ as error:
        problems = (
            Problem(
                f"{klass.key}, template {template.name!r}: {p.what}",
                (template.document or klass.document).source_of(template.place_of(p.path)),
                p.path,
                p.fix,
            )
            for p in error.problems
        )
        raise ReferenceError_(*problems) from error


def _targets(klass: Class, trees: dict[str, tree.Tree]) -> list[Target]:
    """The class's templates as what a selector among them may mean; by labels that no composite has a say in."""
    found = []
    for template in klass.templates:
        document = trees[template.name].document
        labels = flow.static_labels(template) if klass.parent is Parent.xr else _labels(document)
        class_name = str((template.class_ref or {}).get("name", ""))
        found.append(
            Target(template.name, GroupKind.of(document), labels, "", template=template.name, class_name=class_name)
        )
    return found


@dataclass(frozen=True, slots=True)
class _Follow:
    """The selectors of one template, followed."""

    template: Template
    own: Target
    targets: list[Target]
    variables: dict[str, str]
    needs: list[tuple[str, str]]
    todays: bool
    """Whether what is not known here is left to the controller, as today's compositions expect it."""

    def document(self, document: dict[str, Any], table: Table) -> dict[str, Any]:
        """The document with what its selectors mean."""
        siblings = {PARENT_UID: Expression("self.claim.uid", may_be_absent=False)}
        return reference.replace_selectors(
            document,
            table,
            self._ref,
            maybe=_may_be_absent,
            siblings=siblings if self.todays else None,
            fits=self._fits,
            also=self._left,
        )

    def _fits(self, selection: Selection) -> bool:
        if not self.todays or not selection.same_parent:
            return True
        patched = flow.is_patched(self.template, selection.path)
        return not patched and bool(reference.fitting(selection, own=self.own, candidates=self.targets))

    def _ref(self, selection: Selection) -> Expression:
        made = self._made(selection)
        if isinstance(selection.unless, Expression):
            uses = made.uses | selection.unless.uses | {"unless"}
            made = Expression(f"unless({selection.unless.code}, {made.code})", uses)
        return either(selection.ref, made) if isinstance(selection.ref, Expression) else made

    def _made(self, selection: Selection) -> Expression:
        if selection.same_parent:
            picked = reference.pick(selection, own=self.own, candidates=self.targets)
            self.needs.append((picked.address, fieldpath.to_text(selection.path)))
            return literal({"name": Expression(f"{self.variables[picked.address]}.name", may_be_absent=False)})
        if self.todays:
            return self._looked_up("selected", selection)
        return literal({"name": replace(self._looked_up("select", selection), may_be_absent=False)})

    def _left(self, selection: Selection, value: Any) -> Expression | None:
        """What a controller is told, where nothing in the stack is selected."""
        if not self.todays or selection.same_parent:
            return None
        chosen, left = self._looked_up("selected", selection), literal(value)
        return Expression(f"unless({chosen.code}, {left.code})", chosen.uses | left.uses | {"unless"})

    def _looked_up(self, method: str, selection: Selection) -> Expression:
        """A look-up among all resources of the stack."""
        labels = literal(selection.labels)
        kinds = " or ".join(map(str, selection.targets))
        path = fieldpath.to_text(selection.ref_path)
        code = f"self.{method}({self.template.name!r}, {path!r}, {kinds!r}, {labels.code})"
        return Expression(code, labels.uses)


def _may_be_absent(value: Any) -> bool:
    return isinstance(value, Expression) and value.may_be_absent


def _labels(document: dict[str, Any]) -> dict[str, str]:
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}
