"""`Moved`: what became of the templates of a class, declared beside the class that they became a part of.

A template that was renamed, retyped, split or joined keeps its live object: the name of the object derives from the
oldest template of its line, and the engine learns under which names and types the state may hold it. The line counts in
both directions, so that claims can return to the class that they came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ModelError, Problem, suggest
from claimsmith.base.errors import at as at_
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.base.parse import parse, twice
from claimsmith.base.values import object_at
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Class, KnownAs, Template
from claimsmith.dialects.common.metadata import is_api_version
from claimsmith.platform.moved_document import Entry, Joined, MovedDocument, Retyped
from claimsmith.providers.tokens import Token

KIND = GroupKind("claimsmith.io", "Moved")
_IMPORT = (
    "To hand a native resource over, deploy the old class with options.retainOnDelete first, then import it: "
    "options.import, or claimsmith.io/import on a claim"
)
"""No alias reaches it, and its id is known to the state alone. Without the first step, the engine deletes it."""
_RETAINING = ("Retain", "Release")
_Id = tuple[ClassKey, GroupKind]
_Node = tuple[_Id, str]


@dataclass(frozen=True, slots=True)
class _Step:
    """A template, the template that it was before, and the line that says so."""

    before: str
    name: str
    at: str
    type: str = ""
    """The apiVersion or type that it had, where that changed."""


@dataclass(frozen=True, slots=True)
class _Lines:
    """All templates that are linked, with the document and the line that links each to the one before it."""

    before: dict[_Node, _Node] = field(default_factory=dict)
    """The template of another class that a template was before."""
    gone: dict[_Node, KnownAs] = field(default_factory=dict)
    """What a template was in a class, or a form of its class, that is no longer there."""
    places: dict[_Node, tuple[Document, str]] = field(default_factory=dict)
    """Only of the templates that are linked by a line; those of the same name are linked by themselves."""


def with_moves(
    classes: Mapping[_Id, Class], documents: Iterable[Document], problems: Collector, warnings: list[Problem]
) -> dict[_Id, Class]:
    """The classes, their templates with the names and types that the state may hold their objects under."""
    lines, seen = _Lines(), dict[tuple[str, str | None], Document]()
    for document in documents:
        with problems.catch():
            raw = parse(MovedDocument, document)
            first = seen.setdefault((raw.class_, raw.from_), document)
            if first is not document:
                raise twice(f"Moved of {raw.class_}", first, document)
            _read(raw, document, classes, lines, warnings)
    if not seen:
        return dict(classes)
    found = dict(classes)
    with problems.catch():
        _refuse_circles(lines)
        for key, klass in classes.items():
            with problems.catch():
                found[key] = _known(key, klass, classes, lines)
    return found


def _read(
    raw: MovedDocument, document: Document, classes: Mapping[_Id, Class], lines: _Lines, warnings: list[Problem]
) -> None:
    """Add what a document declares to the lines."""
    targets = {key: c for key, c in classes.items() if c.name == raw.class_}
    names = sorted({c.name for c in classes.values()})
    if not targets:
        raise ModelError(document.problem(f"there is no class {raw.class_!r}", "class", suggest(raw.class_, names)))
    if raw.from_ == raw.class_:
        what = f"{raw.class_!r} is both classes"
        raise ModelError(document.problem(what, "from", "remove from: templates of the class itself are meant without"))
    if raw.from_ and raw.from_ not in names:
        what = f"there is no class {raw.from_!r}: what it had is not checked"
        fix = suggest(raw.from_, names, "remove the line, if the class was removed")
        warnings.append(document.problem(what, "from", fix))
    # A name stands for a class of each kind of claim that it serves, and for one of each sort of class.
    sources = {(k[0].group_kind, k[1]): k for k, c in classes.items() if c.name == raw.from_}
    if sources and not any((k[0].group_kind, k[1]) in sources for k in targets):
        what = f"no claim can move from {raw.from_!r} to {raw.class_!r}: they serve other kinds, or are of other sorts"
        raise ModelError(document.problem(what, "from", "name a class of the same kind for the same kind of claim"))
    for key, target in targets.items():
        source = sources.get((key[0].group_kind, key[1]))
        _Reading(raw, document, target, classes[source] if source else None).add(key, source, lines)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One document, for one class and the class that its claims come from, if that is there."""

    raw: MovedDocument
    document: Document
    target: Class
    source: Class | None

    def add(self, key: _Id, source: _Id | None, lines: _Lines) -> None:
        """Add what the document declares to the lines."""
        for klass in (self.target, self.source):
            if klass and ordering.is_piped(klass):
                what = (
                    f"{klass.key} composes what its functions decide: what became of its templates cannot be declared"
                )
                raise self._refused(what, "moved", "keep the names of the resources that its functions compose")
        steps = self._steps()
        for step in steps.values():
            node = key, step.name
            if node in lines.before or node in lines.gone:
                what = f"{step.name!r} of {self.target.name} has two templates that it was before"
                raise self._refused(what, step.at, "name one class that claims come from for each template")
            lines.places[node] = self.document, step.at
            if source:
                lines.before[node] = source, step.before
            else:
                lines.gone[node] = KnownAs(step.before, step.type)
        if source and self.source:
            before = {t.name: t for t in self.source.templates}
            for template in self.target.templates:
                same = before.get(template.name)
                if template.name not in steps and same and type_of(same) == type_of(template):
                    lines.before.setdefault((key, template.name), (source, template.name))

    def _steps(self) -> dict[str, _Step]:
        """What each template was before, by its name now."""
        steps: dict[str, _Step] = {}
        retyped: dict[str, tuple[str, str]] = {}
        taken: dict[str, str] = {}
        for index, entry in enumerate(self.raw.moved):
            at = f"moved[{index}]"
            if entry.retyped:
                name = entry.retyped.template
                if name in retyped:
                    raise self._refused(f"{name!r} is retyped twice", f"{at}.retyped", "keep one entry")
                retyped[name] = self._checked_type(entry.retyped, f"{at}.retyped"), f"{at}.retyped"
                continue
            before, step = self._step(entry, at)
            if step.name in steps:
                what = f"{step.name!r} has two templates that it was before: {steps[step.name].before!r} and {before!r}"
                raise self._refused(what, step.at, "keep one of them, or write joined")
            # What is joined and not kept ends there.
            for name in entry.joined.from_ if entry.joined else (before,):
                if name in taken:
                    what = f"{name!r} became two templates: {taken[name]!r} and {step.name!r}"
                    raise self._refused(what, step.at, "keep one of them, or write split")
                taken[name] = step.name
            steps[step.name] = step
        for name, (type_, at) in retyped.items():
            steps[name] = replace(steps.get(name, _Step(name, name, at)), type=type_)
        for step in steps.values():
            self._check(step)
        return {name: step for name, step in steps.items() if step.before != name or step.type}

    def _step(self, entry: Entry, at: str) -> tuple[str, _Step]:
        """The template whose object is kept, and the one that keeps it."""
        if entry.renamed:
            if entry.renamed.from_ == entry.renamed.to:
                raise self._refused(f"{entry.renamed.to!r} has the same name", f"{at}.renamed", "remove the entry")
            return entry.renamed.from_, _Step(entry.renamed.from_, entry.renamed.to, f"{at}.renamed")
        if entry.split:
            for name in entry.split.into:
                self._template(self.target, name, f"{at}.split")
            return entry.split.from_, _Step(entry.split.from_, entry.split.keeps, f"{at}.split")
        joined = entry.joined
        assert joined, "an entry has one part"
        for name in joined.from_:
            self._check_joined(name, joined, f"{at}.joined")
        return joined.keeps, _Step(joined.keeps, joined.to, f"{at}.joined")

    def _check_joined(self, name: str, joined: Joined, at: str) -> None:
        """Refuse what would not happen to a template whose object is not kept."""
        if name == joined.keeps:
            return
        if any(t.name == name for t in self.target.templates):
            what = f"{name!r} is still a template of {self.target.name}, and its object stays"
            raise self._refused(what, at, "remove it from the entry, or from the class")
        if self.source is None:
            return
        template = self._template(self.source, name, at)
        spec = object_at(template.base, "spec").get("reclaimPolicy") in _RETAINING
        retains = spec or bool(object_at(template.base, "options").get("retainOnDelete"))
        if retains != (joined.then == "retain"):
            does = "is retained" if retains else "is deleted"
            what = f"the object of {name!r} {does}, as {self.source.name} says: then: {joined.then} changes nothing"
            fix = (
                "set reclaimPolicy or retainOnDelete in that class and deploy it first: the engine keeps what it stored"
            )
            raise self._refused(what, f"{at}.then", fix)

    def _check(self, step: _Step) -> None:
        """Refuse a step between templates that are not there, or that cannot have the same object."""
        now = self._template(self.target, step.name, step.at)
        if now.previous_name and now.previous_name != step.before:
            what = f"{step.name!r} was {step.before!r} here, and {now.previous_name!r} by its previousName"
            raise self._refused(what, step.at, "say it once")
        if self.source is None:
            return
        before = self._template(self.source, step.before, step.at)
        if (before.native, before.composite) != (now.native, now.composite) or bool(before.loop) != bool(now.loop):
            what = f"{step.before!r} of {self.source.name} and {step.name!r} are not of one sort: no alias joins them"
            fix = f"remove the entry: it is another object. {_IMPORT}"
            raise self._refused(what, step.at, fix)
        old, new = (kind_of(t) for t in (before, now))
        if old != new:
            what = f"{step.before!r} of {self.source.name} is a {old}, and {step.name!r} is a {new}: another object"
            raise self._refused(what, step.at, "remove the entry: the old object is deleted, and a new one is created")
        had, has = type_of(before), step.type or type_of(now)
        if not now.composite and had != has:
            what = f"{step.before!r} of {self.source.name} is of {had}, and not of {has}"
            raise self._refused(what, step.at, f"add: retyped: {{template: {step.name}, from: {had}}}")

    def _checked_type(self, retyped: Retyped, at: str) -> str:
        """The type that a template had; one that cannot be that of the same object is refused."""
        template = self._template(self.target, retyped.template, at)
        given = retyped.from_
        if template.native:
            with at_(lambda: self.document.source_of(f"{at}.from"), f"{at}.from"):
                was = Token.parse(given)
            now = Token.parse(str(template.base["type"]))
            if was.package != now.package:
                what = f"{was.short} is of another provider than {now.short}: no alias joins them"
                raise self._refused(what, f"{at}.from", f"remove the entry. {_IMPORT}")
            given = was.full
        elif template.composite:
            what = f"{template.name!r} is a composite, which the engine knows by its kind alone"
            raise self._refused(what, at, "remove the entry: nothing of it changes")
        elif not is_api_version(given):
            raise self._refused(f"{given!r} is not an apiVersion", f"{at}.from", "write it like example.org/v1alpha1")
        elif given.rpartition("/")[0] != template.group_kind.group:
            what = f"{template.kind} of {given} is another kind than {template.group_kind}: another object"
            raise self._refused(what, f"{at}.from", "remove the entry: the old object is deleted, a new one is created")
        if given == type_of(template):
            raise self._refused(f"{template.name!r} is of {given} already", f"{at}.from", "name the type that it had")
        return given

    def _template(self, klass: Class, name: str, at: str) -> Template:
        found = next((t for t in klass.templates if t.name == name), None)
        if found is None:
            names = [t.name for t in klass.templates]
            raise self._refused(f"{klass.key} has no template {name!r}", at, suggest(name, names))
        return found

    def _refused(self, what: str, at: str, fix: str) -> ModelError:
        return ModelError(self.document.problem(what, at, fix))


def kind_of(template: Template) -> str:
    """What an object is, whatever its version: the provider of a native one decides what its types have in common."""
    return Token.parse(str(template.base["type"])).package if template.native else str(template.group_kind)


def type_of(template: Template) -> str:
    """The apiVersion of what a template creates, or the whole type of a native resource."""
    return Token.parse(str(template.base["type"])).full if template.native else template.api_version


def _refuse_circles(lines: _Lines) -> None:
    for node in lines.before:
        way = [node]
        while (following := lines.before.get(way[-1])) is not None:
            if following in way:
                names = " ← ".join(f"{name} of {key.name}" for (key, _), name in (*way, following))
                document, at = next(lines.places[n] for n in (*way, *lines.places) if n in lines.places)
                raise ModelError(document.problem(f"a circle: {names}", at, "declare it in the newer class only"))
            way.append(following)


def _known(key: _Id, klass: Class, classes: Mapping[_Id, Class], lines: _Lines) -> Class:
    """The class, each template with the other names and types of its line."""
    names = {t.name for t in klass.templates}
    templates = []
    for template in klass.templates:
        node = key, template.name
        line = _line(node, lines)
        if len(line) == 1 and node not in lines.gone:
            templates.append(template)
            continue
        oldest = _oldest(node, classes, lines)
        others = [known for n in line for known in _names(n, classes, lines)]
        others = [k if k.type != type_of(template) else replace(k, type="") for k in others]
        others = [replace(k, type="") for k in others] if template.composite else others
        own = KnownAs(template.name), KnownAs(oldest if oldest != template.name else "")
        known = [k for k in dict.fromkeys(others) if k not in own]
        for other in sorted({k.name for k in known} | {oldest}):
            if other in names - {template.name}:
                _refuse_taken(klass, template, other, line, lines)
        previous = oldest if oldest != template.name else None
        templates.append(replace(template, previous_name=previous, known_as=tuple(known)))
    return replace(klass, templates=tuple(templates))


def _refuse_taken(klass: Class, template: Template, other: str, line: Sequence[_Node], lines: _Lines) -> None:
    document, at = next(lines.places[n] for n in line if n in lines.places)
    what = (
        f"{template.name!r} of {klass.name} has {other!r} as another name, which is a template of {klass.name} itself"
    )
    fix = f"the state would hold two objects under one name: give one of the templates {other!r} a new name"
    raise ModelError(document.problem(what, at, fix))


def _line(node: _Node, lines: _Lines) -> list[_Node]:
    """All templates that may have the same object, the given one first."""
    neighbours: dict[_Node, list[_Node]] = {}
    for one, other in lines.before.items():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    found, waiting = [node], [node]
    while waiting:
        fresh = [n for n in neighbours.get(waiting.pop(), ()) if n not in found]
        found += dict.fromkeys(fresh)
        waiting += fresh
    return found


def _oldest(node: _Node, classes: Mapping[_Id, Class], lines: _Lines) -> str:
    """The template that the name of the object derives from."""
    while node in lines.before:
        node = lines.before[node]
    if node in lines.gone:
        return lines.gone[node].name
    return next(t.named_after for t in classes[node[0]].templates if t.name == node[1])


def _names(node: _Node, classes: Mapping[_Id, Class], lines: _Lines) -> Iterator[KnownAs]:
    """The names and types that the state may hold an object under which a template has, or had."""
    template = next(t for t in classes[node[0]].templates if t.name == node[1])
    type_ = type_of(template)
    yield KnownAs(template.name, type_)
    if template.previous_name:
        yield KnownAs(template.previous_name, type_)
    if node in lines.gone:
        gone = lines.gone[node]
        yield KnownAs(gone.name, type_)
        yield KnownAs(gone.name, gone.type or type_)
