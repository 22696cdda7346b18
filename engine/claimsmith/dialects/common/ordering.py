"""The order of a class's operations, derived from its bases and patches alone.

A value that a child's status gives to the composite, and the composite to another child, makes the second come after
the first, in whatever order they are listed; so does an output of a sibling in a base. What reads and writes the
environment keeps its order. Values that run in a circle are refused, naming the patches. The offline plan and the
generated component follow this one order.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith.base import fieldpath, topological
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ComposeError, ModelError, Problem, at
from claimsmith.base.fieldpath import parse_or_root
from claimsmith.base.values import Interpolation, SiblingOutput, object_at, walk
from claimsmith.dialects.common.klass import Check, Class, Patch, Side, Step, Template
from claimsmith.dialects.common.template import checked
from claimsmith.dialects.crossplane.composition import function_of, unknown_function

STATUS = "status"
READY = "condition=Ready"
_CONFIGS = "function-environment-configs"
_DEPLOYED = ("function-patch-and-transform", "function-auto-ready", _CONFIGS)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that is done for a composite: a child, a patch of the environment, or how the environment starts."""

    name: str
    template: Template | None = None
    patch: Patch | None = None
    sources: Mapping[str, Any] = field(default_factory=dict)
    """The configurations of which the environment is merged."""
    at: str = ""

    @property
    def inward(self) -> tuple[Patch, ...]:
        """The patches that make the child's document."""
        return tuple(p for p in self.patches if p.target is Side.resource)

    @property
    def outward(self) -> tuple[Patch, ...]:
        """The patches that read the child, once it is there."""
        return tuple(p for p in self.patches if p.origin is Side.resource)

    @property
    def patches(self) -> tuple[Patch, ...]:
        """All its patches."""
        return self.template.patches if self.template else (self.patch,) if self.patch else ()

    def of_environment(self) -> Iterator[tuple[fieldpath.Path, bool]]:
        """The fields of the environment that it reads or writes, and whether it writes them."""
        if self.template is None and self.patch is None:
            yield (), True
        for patch in self.patches:
            if patch.origin is Side.environment:
                yield from ((path, False) for path in map(parse_or_root, patch.reads))
            if patch.target is Side.environment:
                yield parse_or_root(patch.to), True

    def siblings(self) -> Iterator[tuple[str, str]]:
        """The siblings of which its base has fields, or after which it is created, and where it names them."""
        base = dict(self.template.base) if self.template else {}
        for path, leaf in walk(base):
            if isinstance(leaf, Interpolation):
                yield from ((output.template, fieldpath.to_text(path)) for output in leaf.outputs)
        if self.template and self.template.native:
            yield from ((name, "options.dependsOn") for name in object_at(base, "options").get("dependsOn", ()))

    def reads(self) -> Iterator[tuple[Patch, fieldpath.Path]]:
        """The fields of the composite's status that it reads."""
        for patch in self.patches:
            if patch.origin is Side.claim:
                yield from ((patch, path) for path in map(parse_or_root, patch.reads) if path[:1] == (STATUS,))

    def writes(self) -> Iterator[tuple[Patch, fieldpath.Path]]:
        """The fields of the composite's status that it writes."""
        for patch in self.patches:
            path = parse_or_root(patch.to)
            if patch.target is Side.claim and path[:1] == (STATUS,):
                yield patch, path


def is_piped(klass: Class) -> bool:
    """Whether the resources of a composition are known only once its pipeline has run."""
    return any(step.declared or function_of(step.function, step.input) not in _DEPLOYED for step in klass.steps)


def deployable(klass: Class, functions: Container[str] = ()) -> tuple[Class, list[Problem]]:
    """The composition with the templates of all its steps as one list, and warnings. Unknown functions are refused.

    One with other functions than patches has no templates: its pipeline makes them for each composite. `functions` are
    those that the project declares.
    """
    problems = Collector()
    klass = replace(klass, steps=tuple(replace(s, declared=_is_declared(s, functions)) for s in klass.steps))
    for step in klass.steps:
        with problems.catch():
            if not step.declared and not function_of(step.function, step.input):
                raise unknown_function(step, klass.document)
    if is_piped(klass):
        problems.raise_as(ModelError)
        return replace(klass, templates=()), []
    for template in (t for step in klass.steps for t in step.templates):
        with problems.catch():
            checked(template.base, klass.document, f"{template.at}.base")
            _refuse_reserved_fields(template, klass.document)
    problems.raise_as(ModelError)
    flat = replace(klass, templates=tuple(o.template for o in _listed(klass) if o.template))
    operations(flat)
    return flat, list(_lost(klass))


def _is_declared(step: Step, functions: Container[str]) -> bool:
    return step.function in functions or function_of(step.function, step.input) in functions


def _refuse_reserved_fields(template: Template, document: Document) -> None:
    """Refuse patches to fields that no component can express."""
    for patch in template.patches:
        path = parse_or_root(patch.to)
        if patch.target is Side.resource and path and isinstance(path[0], str):
            with at(document.source_of(patch.at), patch.at):
                checked({path[0]: None}, document, "")


def operations(klass: Class) -> list[Operation]:
    """What is done for a claim or composite, in order; the templates are those of the class."""
    if "operations" not in klass.memo:
        klass.memo["operations"] = _operations(klass)
    found: list[Operation] = klass.memo["operations"]
    return found


def _operations(klass: Class) -> list[Operation]:
    found = _own(klass)
    if not klass.dialect.pipelined and not any(True for o in found for _ in o.siblings()):
        return found
    with at(klass.document.source_of("spec"), prefix=f"{klass.key}: "):
        by_name = {o.name: o for o in found}
        return [by_name[name] for name in topological.ordered(list(by_name), needs(klass))]


def needs(klass: Class) -> dict[str, list[tuple[str, str]]]:
    """What each operation of a class comes after, and why."""
    found = _own(klass)
    if not klass.dialect.pipelined:
        return {o.name: needed for o in found if (needed := list(o.siblings()))}
    wanted = {o.name: [*_status_needs(o, found), *o.siblings()] for o in found}
    for before, after in itertools.combinations(found, 2):
        wanted[after.name] += [(before.name, why) for why in _environment_needs(before, after)]
    return wanted


def _own(klass: Class) -> list[Operation]:
    """The operations as they are listed, with the templates of the class."""
    if not klass.dialect.pipelined:
        return [Operation(t.name, template=t, at=t.at) for t in klass.templates]
    if is_piped(klass):
        return []
    own = {t.name: t for t in klass.templates}
    return [replace(o, template=own[o.name]) if o.template else o for o in _listed(klass)]


def awaited(klass: Class) -> dict[str, tuple[str, ...]]:
    """The status fields of each child that something else depends on: these are waited for."""
    if "awaited" not in klass.memo:
        klass.memo["awaited"] = _awaited(klass)
    found: dict[str, tuple[str, ...]] = klass.memo["awaited"]
    return found


def _awaited(klass: Class) -> dict[str, tuple[str, ...]]:
    done = operations(klass)
    wanted = [path for o in done for _, path in o.reads()] if klass.dialect.pipelined else []
    named = [output for o in done if o.template for output in _outputs(o.template)]
    found: dict[str, tuple[str, ...]] = {}
    for operation in done:
        template = operation.template
        if template is None:
            continue
        used = [
            read
            for patch in operation.outward
            for read in patch.reads
            if patch.target is Side.environment
            or any(fieldpath.overlap(parse_or_root(patch.to), path) for path in wanted)
        ]
        used += [fieldpath.to_text(output.path) for output in named if output.template == template.name]
        # Of a native resource there is nothing to wait for: all its outputs are there once it exists.
        kept = tuple(dict.fromkeys(u for u in used if parse_or_root(u)[:1] == (STATUS,) and not template.native))
        if kept or klass.dialect.pipelined:
            found[template.name] = kept
    return found


def _outputs(template: Template) -> Iterator[SiblingOutput]:
    """The fields of siblings in a template's base."""
    for _, leaf in walk(dict(template.base)):
        if isinstance(leaf, Interpolation):
            yield from leaf.outputs


def _listed(klass: Class) -> list[Operation]:
    """The operations as the steps list them; a resource that a later step speaks of again stands there."""
    found: dict[str, Operation] = {}
    for step in klass.steps:
        if function_of(step.function, step.input) == _CONFIGS:
            found[f"step {step.name!r}"] = Operation(
                f"step {step.name!r}", sources=dict(step.input.get("spec") or {}), at=step.at
            )
        for patch in step.environment:
            name = f"the environment patch at {patch.at}"
            found[name] = Operation(name, patch=patch, at=patch.at)
        for template in step.templates:
            earlier = found.pop(template.name, None)
            whole = template if template.based else _joined(earlier, template, klass.document)
            found[template.name] = Operation(template.name, template=whole, at=template.at)
    return list(found.values())


def _joined(operation: Operation | None, later: Template, document: Document) -> Template:
    """A resource of an earlier step with what a later one adds to it."""
    earlier = operation.template if operation else None
    if earlier is None:
        what = f"the resource {later.name!r} has no base, and no earlier step composes it"
        raise ModelError(document.problem(what, later.at, "give it a base"))
    return replace(
        earlier,
        patches=(*earlier.patches, *later.patches),
        details=(*(earlier.details or ()), *(later.details or ())),
        checks=later.checks or earlier.checks,
    )


def _status_needs(operation: Operation, others: Sequence[Operation]) -> Iterator[tuple[str, str]]:
    """What must come first, with the patches on both sides."""
    for patch, read in operation.reads():
        for other in others:
            for writer, written in other.writes():
                if other is operation and not patch.required:
                    continue  # reported by `_lost`: there is nothing to read yet
                if fieldpath.overlap(read, written):
                    how = f"{patch.type} {fieldpath.to_text(read)}, which {writer.type} of {other.name} writes"
                    yield other.name, how


def _environment_needs(before: Operation, after: Operation) -> Iterator[str]:
    """Why the second must stay behind the first: one writes of the environment what the other reads or writes."""
    for one, writes in before.of_environment():
        for other, rewrites in after.of_environment():
            if (writes or rewrites) and fieldpath.overlap(one, other):
                yield f"the environment's {fieldpath.to_text(other or one) or 'start'}"


def _lost(klass: Class) -> Iterator[Problem]:
    """Patches to the composite that nobody can read: only its status is kept, and no child depends on itself."""
    for operation in _listed(klass):
        written = [path for _, path in operation.writes()]
        for patch, path in operation.reads():
            if not patch.required and any(fieldpath.overlap(path, own) for own in written):
                what = f"{operation.name} reads {fieldpath.to_text(path)}, which it writes itself: nothing at first"
                yield klass.document.problem(what, patch.at, "leave one of the two patches out")
        for patch in operation.patches:
            if patch.target is Side.claim and parse_or_root(patch.to)[:1] != (STATUS,):
                what = f"{patch.type} writes {patch.to} of the composite, of which only the status is kept"
                yield klass.document.problem(what, patch.at, f"write to {STATUS}. instead")


def static_labels(template: Template) -> dict[str, str]:
    """The labels of a template that no patch writes: a component knows them before there is a composite."""
    given = (template.base.get("metadata") or {}).get("labels") or {}
    kept = {k: v for k, v in given.items() if not is_patched(template, ("metadata", "labels", k))}
    return {k: v for k, v in kept.items() if isinstance(v, str)}


def is_patched(template: Template, path: fieldpath.Path) -> bool:
    """Whether a patch writes a field, something in it, or something that it is in."""
    return any(fieldpath.overlap(path, parse_or_root(p.to)) for p in template.patches if p.target is Side.resource)


def waits(path: str) -> str:
    """What the engine waits for: that a field is there."""
    return f"jsonpath={{{jsonpath(path)}}}"


def jsonpath(path: str) -> str:
    """A field path as the engine's conditions write it."""
    return "$" + "".join(f"[{s}]" if isinstance(s, int) else f"[{s!r}]" for s in fieldpath.parse(path))


def wait_for(
    *, managed: bool, ready: Sequence[str] | None = None, awaits: Sequence[str] = ()
) -> tuple[str, ...] | None:
    """What the engine waits for before a child counts as created; None for the usual.

    `ready` are the conditions that its template gives, None where it gives none, and `awaits` the fields that others
    are made of.
    """
    if ready is None and not awaits:
        return None
    usual = (READY,) if managed else ()
    return (*(usual if ready is None else ready), *map(waits, awaits))


def ready(template: Template) -> tuple[str, ...] | None:
    """The conditions under which a template counts its child as ready; None where it has none."""
    if not template.checks:
        return None
    return tuple(condition for check in template.checks if (condition := _condition(check, template)))


def _condition(check: Check, template: Template) -> str:
    value = {"MatchTrue": "true", "MatchFalse": "false"}.get(check.type, str(check.expected))
    if check.type == "None":
        return ""
    if check.type == "MatchCondition":
        return f"condition={check.condition[0]}={check.condition[1]}"
    if check.type == "NonEmpty":
        return waits(check.field_path)
    if value == "" or "=" in value:
        what = f"the engine cannot wait for {check.field_path} to be {value!r}"
        raise ComposeError(Problem(what, path=f"{template.at}.readinessChecks", fix="check another field"))
    return f"{waits(check.field_path)}={value}"
