"""A template's selectors in its component: siblings by name, what is elsewhere by a look-up, the rest as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claimsmith import fieldpath, flow, reference
from claimsmith.compose.identity import COMPOSITE_LABEL
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
    """The template's document with each selector replaced by the name of the sibling that it picks."""
    document = trees[template.name].document
    classes = {t.name: str((t.class_ref or {}).get("name", "")) for t in klass.templates}
    targets = [
        Target(n, GroupKind.of(t.document), _labels(t.document), "", template=n, class_name=classes[n])
        for n, t in trees.items()
    ]
    if klass.parent is Parent.xr:
        static = {t.name: flow.static_labels(t) for t in klass.templates}
        targets = [replace(t, labels=static[t.address]) for t in targets]
    own = next(t for t in targets if t.address == template.name)

    todays = klass.parent is Parent.xr

    def fits(selection: Selection) -> bool:
        if not todays or not selection.same_parent:
            return True
        return not flow.is_patched(template, selection.path) and bool(
            reference.fitting(selection, own=own, candidates=targets)
        )

    def selected(selection: Selection) -> Expression:
        labels = literal(selection.labels)
        kinds = " or ".join(map(str, selection.targets))
        path = fieldpath.to_text(selection.ref_path)
        return Expression(f"self.selected({template.name!r}, {path!r}, {kinds!r}, {labels.code})", labels.uses)

    def also(selection: Selection, value: Any) -> Any:
        """What a controller is told, where nothing in the stack is selected."""
        if not todays or selection.same_parent:
            return None
        chosen, left = selected(selection), literal(value)
        return Expression(f"unless({chosen.code}, {left.code})", chosen.uses | left.uses | {"unless"})

    def name_of(selection: Selection) -> Expression:
        if not selection.same_parent:
            labels = literal(dict(selection.labels))
            kinds = " or ".join(map(str, selection.targets))
            path = fieldpath.to_text(selection.ref_path)
            code = f"self.select({template.name!r}, {path!r}, {kinds!r}, {labels.code})"
            return Expression(code, labels.uses, may_be_absent=False)
        picked = reference.pick(selection, own=own, candidates=targets)
        needs.append((picked.address, fieldpath.to_text(selection.path)))
        return Expression(f"{variables[picked.address]}.name", may_be_absent=False)

    def ref_of(selection: Selection) -> Any:
        todays_own = todays and not selection.same_parent
        made = selected(selection) if todays_own else literal({"name": name_of(selection)})
        if isinstance(selection.unless, Expression):
            uses = made.uses | selection.unless.uses | {"unless"}
            made = Expression(f"unless({selection.unless.code}, {made.code})", uses)
        return either(selection.ref, made) if isinstance(selection.ref, Expression) else made

    try:
        siblings = {COMPOSITE_LABEL: Expression("self.composite_label", may_be_absent=False)}
        mine = siblings if klass.parent is Parent.xr else None
        return reference.replace_selectors(
            document, table, ref_of, maybe=_may_be_absent, siblings=mine, fits=fits, also=also
        )
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


def _may_be_absent(value: Any) -> bool:
    return isinstance(value, Expression) and value.may_be_absent


def _labels(document: dict[str, Any]) -> dict[str, str]:
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}
