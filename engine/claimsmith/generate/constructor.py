"""The constructor of a component: the values that get a name, the children in order, and the lines around them."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath, topological
from claimsmith.base.errors import at
from claimsmith.base.transform import MapTransform
from claimsmith.compose.native_types import Sdks
from claimsmith.compose.references import Table
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Class, Patch, Side, Template
from claimsmith.generate import loops, native, references, statements, tree
from claimsmith.generate.expression import Expression, Reader, identifier, literal, value_of
from claimsmith.generate.loops import Loops
from claimsmith.generate.native import Natives


@dataclass(frozen=True, slots=True)
class Named:
    """A value that is computed once, before the children."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class ChildCall:
    """The call that registers one child, with the lines around it."""

    variable: str
    template: Template
    fields: dict[str, Expression]
    statements: Sequence[tree.Statement]
    needed: bool
    awaits: Sequence[str] = ()
    before: Sequence[Expression] = ()
    """Statements that come before it."""
    after: Sequence[Expression] = ()
    """Its patches to the composite and the environment."""
    call: native.Call | None = None
    """The constructor of its SDK, if it is a native one."""
    name: str = ""
    """The expression for its name."""
    previous_name: str | None = None
    """The expression for the name that it had before."""
    known_as: str = ""
    """The expression for what it may have been beside that."""
    headers: Sequence[Expression] = ()
    """The lines that open the blocks around it: its loop, its condition."""

    @property
    def arguments(self) -> dict[str, Expression]:
        """Its fields that are keyword arguments."""
        return {name: value for name, value in self.fields.items() if _is_argument(name)}

    @property
    def others(self) -> dict[str, Expression]:
        """Its fields whose names are no keywords of Python's, or are those of other arguments."""
        return {name: value for name, value in self.fields.items() if not _is_argument(name)}

    @property
    def method(self) -> str:
        """The method that registers it."""
        return "composite" if self.template.composite else "child"

    @property
    def text(self) -> str:
        """The name of the constant that holds its template text."""
        return f"{self.variable.upper()}_TEMPLATE"

    @property
    def keywords(self) -> dict[str, str]:
        """The options of the call that are not the default."""
        t = self.template
        own = tuple(str(t.class_ref[k]) for k in ("apiVersion", "kind", "name")) if t.class_ref else None
        wanted = {
            "class_ref": (own, None),
            "managed": (t.managed or t.composite, True),
            "ready": (None if t.composite else ordering.ready(t), None),
            "awaits": (() if t.composite else tuple(self.awaits), ()),
        }
        previous = {"previous_name": self.previous_name} if self.previous_name else {}
        previous |= {"known_as": self.known_as} if self.known_as else {}
        return previous | {key: repr(value) for key, (value, usual) in wanted.items() if value != usual}

    @property
    def assigned(self) -> str:
        """The left side of the call: a name only if another statement uses it."""
        return f"{self.reference} = " if self.needed else ""

    @property
    def reference(self) -> str:
        """The expression by which siblings refer to it."""
        key = self.name.partition(".")[0]
        return f"{self.variable}[{key}.key]" if self.template.loop else self.variable

    @property
    def declared(self) -> str:
        """The statement that declares its variable before its blocks, where they may leave it unset."""
        constructed = self.call.constructor if self.call else "KubernetesObject"
        if not self.needed or not self.headers:
            return ""
        if self.template.loop:
            return f"{self.variable}: dict[str, {constructed}] = {{}}"
        return f"{self.variable}: {constructed} | None = None" if self.template.details != () else ""


@dataclass(frozen=True, slots=True)
class Constructor:
    """What the constructor of a component does, in its order."""

    named: Sequence[Named]
    children: Sequence[ChildCall]
    tail: Sequence[Expression]
    """Statements after the last child."""
    published: Sequence[ChildCall]
    """The children whose connection details the class publishes."""
    natives: Natives

    @property
    def uses(self) -> frozenset[str]:
        """The names that its code needs."""
        found = _uses(self.children, self.named).union(*(line.uses for line in self.tail))
        details = [d for child in self.published for d in child.template.details or ()]
        wanted = {
            "from_field": any(d.field_path for d in details),
            "from_value": any(d.value is not None for d in details),
            "Any": any(c.statements for c in self.children),
            "present": any(c.call and c.statements for c in self.children),
        }
        return found | {name for name, used in wanted.items() if used}


def constructor_of(klass: Class, taken: set[str], table: Table, sdks: Sdks | None, reader: Reader) -> Constructor:
    """The constructor of a class's component; `taken` are names that no variable may have."""
    taken |= native.aliases_of(klass)
    named, shared = _shared_values(klass, taken, reader)
    variables = {t.name: _variable(identifier(t.name), taken, "", "_fields", "_properties") for t in klass.templates}
    looped = Loops.of(klass, lambda wanted: _variable(wanted, taken))
    read_by = {t.name: looped.variable(t, variables[t.name]) for t in klass.templates}
    natives = Natives(klass, sdks, read_by, looped)
    needs: dict[str, list[tuple[str, str]]] = {t.name: [] for t in klass.templates}
    trees = {
        t.name: tree.grow(t, shared, looped.reader(t, reader), natives.base(t, needs[t.name])) for t in klass.templates
    }
    grown = {
        t.name: replace(
            trees[t.name], document=references.with_references(klass, t, trees, read_by, table, needs[t.name])
        )
        for t in klass.templates
    }
    referenced = {need for found in needs.values() for need, _ in found}
    operations = _ordered(klass, needs)
    read_later = referenced | {o.name for o in operations if o.template and o.outward} | native.detail_sources(klass)
    published = {t.name for t in klass.templates if statements.publishes(klass, t, grown[t.name].document)}
    waits = ordering.awaited(klass)
    before, after, tail = statements.statements(operations, natives.reader, reader)
    children = [
        _child_call(
            o.template,
            variables[o.name],
            grown[o.name],
            natives,
            needed=o.name in read_later | published,
            awaits=waits.get(o.name, ()),
            before=before.get(o.name, ()),
            after=after.get(o.name, ()),
        )
        for o in operations
        if o.template
    ]
    return Constructor(named, children, tail, [c for c in children if c.template.name in published], natives)


def _child_call(
    template: Template,
    variable: str,
    grown: tree.Tree,
    natives: Natives,
    *,
    needed: bool,
    awaits: Sequence[str],
    before: Sequence[Expression],
    after: Sequence[Expression],
) -> ChildCall:
    looped = natives.loops
    previous = template.previous_name
    return ChildCall(
        variable,
        template,
        {} if template.native else _fields(grown.document),
        grown.statements,
        needed,
        awaits,
        before,
        after,
        call=natives.call(template, grown) if template.native else None,
        name=looped.name(template, template.name),
        previous_name=looped.name(template, previous) if previous else None,
        known_as=looped.known_as(template),
        headers=looped.headers(template),
    )


def _ordered(klass: Class, needs: dict[str, list[tuple[str, str]]]) -> list[ordering.Operation]:
    """The operations for a claim, ordered by the references and the values that flow between children."""
    listed = ordering.operations(klass)
    for name, found in ordering.needs(klass).items():
        needs.setdefault(name, []).extend(found)
    with at(klass.document.source_of("spec"), prefix=f"{klass.key}: "):
        # The references of an opaque template are resolved while the program runs: their candidates come first.
        plain_first = sorted(listed, key=lambda o: bool(o.template and o.template.opaque))
        by_name = {o.name: o for o in listed}
        return [by_name[name] for name in topological.ordered([o.name for o in plain_first], needs)]


def _early(patch: Patch) -> bool:
    """Whether a patch reads only values that are known before any child is registered."""
    status = any(fieldpath.parse(path)[:1] == ("status",) for path in patch.reads)
    return patch.origin is Side.claim and patch.target is Side.resource and not status


def _shared_values(
    klass: Class, taken: set[str], reader: Reader
) -> tuple[list[Named], dict[tuple[str, str], Expression]]:
    """The values that get a variable: those that more than one patch writes, and lookups."""
    patches = [(t, p) for t in klass.templates for p in t.patches if _early(p) and not loops.reads_element(t, p)]
    count = Counter(value_of(p, reader).code for _, p in patches)
    named: dict[str, Named] = {}
    shared: dict[tuple[str, str], Expression] = {}
    for template, patch in patches:
        value = value_of(patch, reader)
        looked_up = any(isinstance(t, MapTransform) for t in patch.transforms)
        if not patch.transforms or not (looked_up or count[value.code] > 1):
            continue
        if value.code not in named:
            last = next((s for s in reversed(fieldpath.parse(patch.to)) if isinstance(s, str)), "value")
            named[value.code] = Named(_variable(identifier(last), taken), value)
        name = named[value.code].name
        shared[template.name, patch.at] = Expression(name, frozenset(), value.may_be_absent)
    return list(named.values()), shared


def _fields(document: dict[str, Any]) -> dict[str, Expression]:
    return {k: literal(v) for k, v in document.items() if k not in ("apiVersion", "kind")}


def _uses(children: Iterable[ChildCall], named: Iterable[Named]) -> frozenset[str]:
    found: set[str] = set()
    for child in children:
        for value in (*child.fields.values(), *(child.call.parts if child.call else ())):
            found |= value.uses
        for statement in child.call.statements if child.call else child.statements:
            found |= statement.uses
        for line in (*child.before, *child.after, *child.headers):
            found |= line.uses
        found |= {"KubernetesObject"} if "KubernetesObject" in child.declared else set()
    for item in named:
        found |= item.value.uses
    return frozenset(found)


def _variable(wanted: str, taken: set[str], *endings: str) -> str:
    """A name that is still free, with all of its endings."""
    name, number = wanted, 2
    while any(f"{name}{ending}" in taken for ending in endings or ("",)):
        name, number = f"{wanted}_{number}", number + 1
    taken.update(f"{name}{ending}" for ending in endings or ("",))
    return name


def _is_argument(name: str) -> bool:
    """Whether a field of a document can be a keyword argument beside `fields`.

    Python normalizes names that are not ASCII, and mangles names with two leading underscores within a class. The other
    arguments of `self.child` are no names of fields: a template with such a field is refused.
    """
    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    return plain and name != "fields"
