"""The source of a class's component: which values get a name, which child comes first, what is imported."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import jinja2

from claimsmith import fieldpath, reference
from claimsmith.errors import GenerateError, Problem, ReferenceError_, at
from claimsmith.generate import arguments, tree
from claimsmith.generate.expression import SPEC, Expression, either, identifier, literal, value_of
from claimsmith.models.klass import Class, Parent, Template
from claimsmith.models.objects import GroupKind
from claimsmith.models.transform import MapTransform
from claimsmith.reference import Selection, Table, Target

DESCRIPTION = "claimsmith.io/description"

_WORDS = {
    "mysql": "MySQL", "postgresql": "PostgreSQL", "sql": "SQL", "gke": "GKE", "eks": "EKS", "aks": "AKS",
    "rds": "RDS", "s3": "S3", "vpc": "VPC", "iam": "IAM", "dns": "DNS", "gcp": "GCP", "aws": "AWS", "ha": "HA",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Named:
    """A value that is computed once, before the children."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class _Child:
    """One call of `self.child`."""

    variable: str
    template: Template
    fields: dict[str, Expression]
    statements: Sequence[tree.Statement]
    needed: bool

    @property
    def spread(self) -> bool:
        """Whether its fields are written down first: statements change them, or a name is none of Python's."""
        return bool(self.statements) or any(not f.isidentifier() or keyword.iskeyword(f) for f in self.fields)

    @property
    def method(self) -> str:
        """What makes it: a composite is composed in turn."""
        return "composite" if self.template.composite else "child"

    @property
    def keywords(self) -> dict[str, str]:
        """What the call says beside kind and fields, as far as it is not the usual."""
        t = self.template
        own = tuple(str(t.class_ref[k]) for k in ("apiVersion", "kind", "name")) if t.class_ref else None
        wanted = {
            "class_ref": (own, None),
            "managed": (t.managed or t.composite, True),
            "previous_name": (t.previous_name, None),
        }
        return {key: repr(value) for key, (value, usual) in wanted.items() if value != usual}

    @property
    def assigned(self) -> str:
        """The left side of the call: a name only where somebody needs it."""
        return f"{self.variable} = " if self.needed else ""


def class_name(klass: Class) -> str:
    """The component's Python name: private-mysql-server gives PrivateMySQLServer.

    A class that may serve several kinds of claim has a component for each, named after both.
    """
    if klass.parent is Parent.requirement:
        return klass.serves.kind
    words = re.split(r"[^A-Za-z0-9]+", klass.name)
    name = "".join(_WORDS.get(w, w[:1].upper() + w[1:]) for w in words)
    name = name if name[0].isalpha() else f"Class{name}"
    name = f"{name}Class" if keyword.iskeyword(name) or name in IMPORTED else name
    return f"{name}{klass.makes}For{klass.serves.kind}" if klass.shared else f"{name}{klass.makes}"


def generate(classes: Sequence[Class], table: Table, *, source: str) -> str:
    """The Python module with one component for each class that a folder's YAML describes."""
    _refuse_doubles(classes)
    components = [_component(klass, table) for klass in classes]
    uses = frozenset().union(*(c["uses"] for c in components)) - {SPEC}
    needs_any = any(c["needs_any"] for c in components)
    return _template().render(
        source=_one_line(source), components=components, uses=sorted(uses | _ALWAYS, key=_isort), needs_any=needs_any
    )


_ALWAYS = frozenset({"ClaimKind", "ClaimMetadata", "ClassRef", "Composite"})
_TRANSFORMS = (
    "adler32", "clamp_max", "clamp_min", "converted", "formatted", "from_base64", "joined", "lookup", "matched",
    "multiply", "regexp", "replaced", "sha1", "sha256", "sha512", "to_base64", "to_json", "to_lower", "to_upper",
    "trim_prefix", "trim_suffix",
)  # fmt: skip
IMPORTED = _ALWAYS.union(
    ("ABSENT", "Any", "MergePolicy", "TypedDict", "first", "read", "require", "unless", "write"), _TRANSFORMS
)
"""What a component may import: no variable or class of its own has such a name."""
_TAKEN = IMPORTED | {"self", "args", "opts", "name", SPEC, "pulumi", "super", "dict", "str"}


def _refuse_doubles(classes: Sequence[Class]) -> None:
    names = Counter(n for c in classes for n in (class_name(c), f"{class_name(c)}Spec", f"{class_name(c)}Args"))
    for klass in classes:
        if any(names[f"{class_name(klass)}{word}"] > 1 for word in ("", "Spec", "Args")):
            what = f"two classes of one folder would both become {class_name(klass)}"
            where = klass.document.source_of("metadata.name")
            raise GenerateError(Problem(what, where, "metadata.name", "rename one, or give it its own folder"))


def _component(klass: Class, table: Table) -> dict[str, Any]:
    taken = set(_TAKEN)
    named, shared = _shared_values(klass, taken)
    variables = {t.name: _variable(identifier(t.name), taken, "", "_fields") for t in klass.templates}
    trees = {t.name: tree.grow(t, shared) for t in klass.templates}
    needs: dict[str, list[tuple[str, str]]] = {t.name: [] for t in klass.templates}
    documents = {t.name: _with_references(klass, t, trees, variables, table, needs[t.name]) for t in klass.templates}
    with at(klass.document.source_of("spec"), prefix=f"{klass.key}: "):
        order = reference.ordered([t.name for t in klass.templates], needs)
    templates = {t.name: t for t in klass.templates}
    publishers = [name for name in order if _publishes(templates[name], documents[name])]
    wanted = {need for found in needs.values() for need, _ in found} | set(publishers)
    children = [
        _Child(variables[n], templates[n], _fields(documents[n]), trees[n].statements, n in wanted) for n in order
    ]
    args = arguments.fields_of(klass)
    uses = _uses(children, named)
    return {
        "name": class_name(klass),
        "klass": klass,
        "digest": klass.digest(),
        "claim": klass.serves,
        "claim_api_version": klass.claim_api_version,
        "description": _sentence(klass),
        "arguments": args,
        "reads_spec": SPEC in uses,
        "named": named,
        "children": children,
        "publishers": [_publisher(templates[n], variables[n]) for n in publishers],
        "options": _class_options(klass),
        "uses": uses,
        "needs_any": any("Any" in a.type for a in args) or any(c.spread for c in children),
    }


def _shared_values(klass: Class, taken: set[str]) -> tuple[list[_Named], dict[tuple[str, str], Expression]]:
    """Values that more than one patch writes, and lookups, under a name of their own."""
    patches = [(t, p) for t in klass.templates for p in t.patches]
    count = Counter(value_of(p).code for _, p in patches)
    named: dict[str, _Named] = {}
    shared: dict[tuple[str, str], Expression] = {}
    for template, patch in patches:
        value = value_of(patch)
        looked_up = any(isinstance(t, MapTransform) for t in patch.transforms)
        if not patch.transforms or not (looked_up or count[value.code] > 1):
            continue
        if value.code not in named:
            last = next((s for s in reversed(fieldpath.parse(patch.to)) if isinstance(s, str)), "value")
            named[value.code] = _Named(_variable(identifier(last), taken), value)
        name = named[value.code].name
        shared[template.name, patch.at] = Expression(name, frozenset(), value.may_be_absent)
    return list(named.values()), shared


def _with_references(
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
    own = next(t for t in targets if t.address == template.name)

    def name_of(selection: Selection) -> Expression:
        if not selection.same_parent:
            labels = literal(dict(selection.labels))
            kinds = " or ".join(map(str, selection.targets))
            code = f"self.select({template.name!r}, {kinds!r}, {labels.code})"
            return Expression(code, labels.uses, may_be_absent=False)
        picked = reference.pick(selection, own=own, candidates=targets)
        needs.append((picked.address, fieldpath.to_text(selection.path)))
        return Expression(f"{variables[picked.address]}.name", may_be_absent=False)

    def ref_of(selection: Selection) -> Any:
        made = literal({"name": name_of(selection)})
        if isinstance(selection.unless, Expression):
            uses = made.uses | selection.unless.uses | {"unless"}
            made = Expression(f"unless({selection.unless.code}, {made.code})", uses)
        return either(selection.ref, made) if isinstance(selection.ref, Expression) else made

    try:
        return reference.replace_selectors(document, table, ref_of, maybe=_may_be_absent)
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
    labels = (document.get("metadata") or {}).get("labels") or {}
    return {k: v for k, v in labels.items() if isinstance(v, str)}


def _publishes(template: Template, document: dict[str, Any]) -> bool:
    """Whether the child has connection details that count."""
    if template.details == ():
        return False
    spec = document.get("spec")
    return template.composite or (isinstance(spec, dict) and isinstance(spec.get("writeConnectionSecretToRef"), dict))


def _publisher(template: Template, variable: str) -> str:
    """The child as `publish_connection` takes it: alone, or with the names and keys of its details."""
    if template.details is None:
        return variable
    return f"({variable}, { ({d.name: d.key for d in template.details})!r})"


def _class_options(klass: Class) -> dict[str, str]:
    """What a component says of its class beside its name, as far as it is not the usual."""
    wanted = {
        "bound_by": (klass.parent.value, Parent.composite.value),
        "namespaced": (klass.namespaced, None),
        "secret_namespace": (klass.secret_namespace, None),
        "service_account": (klass.service_account, None),
    }
    return {key: repr(value) for key, (value, usual) in wanted.items() if value != usual}


def _fields(document: dict[str, Any]) -> dict[str, Expression]:
    return {k: literal(v) for k, v in document.items() if k not in ("apiVersion", "kind")}


def _uses(children: Iterable[_Child], named: Iterable[_Named]) -> frozenset[str]:
    found: set[str] = set()
    for child in children:
        for value in child.fields.values():
            found |= value.uses
        for statement in child.statements:
            found |= statement.value.uses | {"write"}
            if statement.policy is not statement.policy.Replace:
                found.add("MergePolicy")
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


def _one_line(text: str) -> str:
    """The text in one line, without what cannot be seen: nothing of it can end a comment."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def _sentence(klass: Class) -> str:
    """The component's docstring, nothing of which can end the string; the claims it serves below what it is."""
    given = klass.annotations.get(DESCRIPTION) or f"The class {klass.name}"
    text = _one_line(given).rstrip(".").replace("\\", "\\\\").replace('"', "'")
    return "\n".join(textwrap.wrap(f"{text}.", width=100))


def _isort(name: str) -> tuple[int, str]:
    """The formatter's order of imported names: constants, classes, functions."""
    rank = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return rank, name


@cache
def _template() -> jinja2.Template:
    text = resources.files("claimsmith").joinpath("templates/component.py.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["repr"] = repr
    return environment.from_string(text)


__all__ = ["class_name", "generate"]
