"""The statements around the children of a component: the environment, outward patches, connection details."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Class, Detail, Template
from claimsmith.generate import tree
from claimsmith.generate.expression import Expression, Reader, literal, value_of

Statements = dict[str, list[Expression]]


def statements(
    operations: Sequence[ordering.Operation], observed: Callable[[Template], Reader], reader: Reader
) -> tuple[Statements, Statements, list[Expression]]:
    """The statements before and after each child, and at the end. `observed` is how a child is read."""
    before: Statements = {}
    after: Statements = {}
    pending: list[Expression] = []
    for operation in operations:
        if operation.template is None:
            pending += _of_environment(operation, reader)
            continue
        before[operation.name], pending = pending, []
        child = observed(operation.template)
        after[operation.name] = [s for p in operation.outward if (s := tree.outward(p, child))]
    return before, after, pending


def _of_environment(operation: ordering.Operation, reader: Reader) -> list[Expression]:
    if operation.patch:
        return [s for s in [tree.outward(operation.patch, reader)] if s]
    return [Expression(f"self.start_environment({literal(dict(operation.sources)).code})")]


def secret(klass: Class, reader: Reader) -> tuple[list[str], frozenset[str]]:
    """Where the class writes the Secret of a composite that names none, as keywords of `publish_connection`."""
    if klass.secret is None:
        return [], frozenset()
    place = {k: v for k, v in (("name", klass.secret.name), ("namespace", klass.secret.namespace)) if v}
    patched = {p.to: value_of(p, reader) for p in klass.secret.patches}
    written = literal(patched)
    more = [f"patched={written.code}"] if patched else []
    return [f"place={place!r}", *more], written.uses


def publishes(klass: Class, template: Template, document: dict[str, Any]) -> bool:
    """Whether the child has connection details that the class publishes."""
    if template.native or template.details == ():
        return False
    if template.opaque or klass.dialect.lenient_details:
        return True
    spec = document.get("spec")
    return template.composite or (isinstance(spec, dict) and isinstance(spec.get("writeConnectionSecretToRef"), dict))


def publisher(template: Template, variable: str) -> str:
    """The child as `publish_connection` takes it: alone, or with the names and keys of its details."""
    if template.details is None:
        return variable
    own = [d for d in template.details if d.from_resource is None and d.config is None]
    details = ", ".join(f"{d.name!r}: {_detail(d)}" for d in own)
    return f"({variable}, {{{details}}})"


def _detail(detail: Detail) -> str:
    """A connection detail as a component names it: by its key, or by where it comes from."""
    if detail.value is not None:
        return f"from_value({detail.value!r})"
    return f"from_field({detail.field_path!r})" if detail.field_path else repr(detail.key)
