"""The source of a class's component: which values get a name, which child comes first, what is imported."""

from __future__ import annotations

import hashlib
import itertools
import keyword
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from claimsmith import fieldpath, flow, reference
from claimsmith.compose.identity import PROTECT
from claimsmith.errors import GenerateError, Problem, at
from claimsmith.generate import naming, references, statements, text, tree, types
from claimsmith.generate.claim_types import RESERVED, ClaimType
from claimsmith.generate.expression import (
    SPEC,
    Expression,
    Reader,
    claim_reader,
    composite_reader,
    identifier,
    literal,
    value_of,
)
from claimsmith.generate.types import Names
from claimsmith.models.klass import Class, Parent, Patch, Side, Template
from claimsmith.models.objects import GroupKind
from claimsmith.models.transform import MapTransform
from claimsmith.reference import Table

if TYPE_CHECKING:
    import jinja2

DESCRIPTION = "claimsmith.io/description"


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
    awaits: Sequence[str] = ()
    before: Sequence[Expression] = ()
    """Statements that come before it."""
    after: Sequence[Expression] = ()
    """What it tells the composite and the environment."""

    @property
    def spread(self) -> bool:
        """Whether its fields are written down first: statements change them, or a name is none of Python's."""
        return bool(self.statements) or not all(_is_plain_name(f) for f in self.fields)

    @property
    def method(self) -> str:
        """What makes it: a composite is composed in turn."""
        return "composite" if self.template.composite else "child"

    @property
    def text(self) -> str:
        """The name of the constant that holds its template text."""
        return f"{self.variable.upper()}_TEMPLATE"

    @property
    def keywords(self) -> dict[str, str]:
        """What the call says beside kind and fields, as far as it is not the usual."""
        t = self.template
        own = tuple(str(t.class_ref[k]) for k in ("apiVersion", "kind", "name")) if t.class_ref else None
        wanted = {
            "class_ref": (own, None),
            "managed": (t.managed or t.composite, True),
            "previous_name": (t.previous_name, None),
            "ready": (None if t.composite else flow.ready(t), None),
            "awaits": (() if t.composite else tuple(self.awaits), ()),
        }
        return {key: repr(value) for key, (value, usual) in wanted.items() if value != usual}

    @property
    def assigned(self) -> str:
        """The left side of the call: a name only where somebody needs it."""
        return f"{self.variable} = " if self.needed else ""


def class_name(klass: Class) -> str:
    """The Python name of a class's component, where it has a folder of its own."""
    return class_names([klass])[0]


def class_names(classes: Sequence[Class]) -> list[str]:
    """The Python names of the components of one folder, in the order of its classes."""
    return naming.class_names(classes, IMPORTED)


def generate(
    classes: Sequence[Class],
    table: Table,
    *,
    source: str,
    claims: Mapping[tuple[GroupKind, str], ClaimType] | None = None,
) -> str:
    """The Python module with one component for each class that a folder's YAML describes.

    `claims` is what is known of the kinds of claim that they serve. The module's head carries a digest of all the
    rest, so that a module on disk tells whether this would be written again.
    """
    names = class_names(classes)
    _refuse_doubles(classes, names)
    free = Names((*IMPORTED, *(f"{name}{word}" for name in names for word in ("", "Spec", "Args"))))
    known = claims or {}
    components = [
        _component(klass, name, table, known.get((klass.serves, klass.claim_api_version)) or _unknown(klass), free)
        for klass, name in zip(classes, names, strict=True)
    ]
    uses = frozenset().union(*(c["uses"] for c in components)) - {SPEC}
    kinds = list(dict.fromkeys(c.serves.kind for c in classes))
    written = _template().render(
        title="\n".join(textwrap.wrap(f"Components for {_listed(kinds)}.", width=100)),
        components=components,
        typing=sorted(uses & _TYPING | {"TypedDict"}, key=_isort),
        enums="StrEnum" in uses,
        uses=sorted(uses - _TYPING - {"StrEnum"} | _ALWAYS, key=_isort),
    )
    head = f"{_head(source)}\n"
    digest = hashlib.sha256(f"{head}{written}".encode()).hexdigest()
    return f"{head}{_DIGEST}{digest}\n{written}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _unknown(klass: Class) -> ClaimType:
    """A kind of claim of which no more is known than its dialect."""
    bases = {
        Parent.instance: "ApplicationSpec" if klass.namespaced else "InfrastructureSpec",
        Parent.requirement: "RequirementSpec",
        Parent.xr: "CrossplaneSpec" if klass.namespaced else "CompositeSpec",
        Parent.xr_claim: "CompositeClaimSpec",
    }
    return ClaimType(bases.get(klass.parent, "ClaimSpec"))


def digest_of(module: bytes) -> str | None:
    """The digest that the head of a generated module carries; None where it carries none."""
    head = itertools.takewhile(lambda line: line.startswith(b"#"), module.splitlines())
    return next((line.decode("ascii", "replace") for line in head if line.startswith(_DIGEST.encode())), None)


def _head(source: str) -> str:
    """The comment that says where the module comes from, on one line where it fits."""
    told = f"Generated by claimsmith from {text.one_line(source)}. Edit that, then run: claimsmith generate"
    return "\n".join(f"# {line}" for line in textwrap.wrap(told, width=116, break_on_hyphens=False))


_DIGEST = "# Digest: sha256:"
_ALWAYS = frozenset({"ClaimKind", "ClaimMetadata", "ClassRef", "Context"})
_TYPING = frozenset({"Any", "NotRequired", "TypedDict"})
_TRANSFORMS = (
    "adler32", "clamp_max", "clamp_min", "converted", "formatted", "from_base64", "joined", "lookup", "matched",
    "multiply", "regexp", "replaced", "sha1", "sha256", "sha512", "to_base64", "to_json", "to_lower", "to_upper",
    "trim_prefix", "trim_suffix",
)  # fmt: skip
IMPORTED = _ALWAYS.union(
    (
        *("ABSENT", "Composite", "Composition", "MergePolicy", "StrEnum", "first", "from_field"),
        *("from_value", "read", "require", "unless", "write"),
    ),
    _TRANSFORMS,
    _TYPING,
    RESERVED,
)
"""What a component may import: no variable or class of its own has such a name."""
_TAKEN = IMPORTED | {"self", "args", "opts", "name", "context", SPEC, "pulumi", "super", "dict", "str"}


def _refuse_doubles(classes: Sequence[Class], names: Sequence[str]) -> None:
    for index in sorted(naming.doubled(names)):
        klass = classes[index]
        what = f"two classes of one folder would both become {names[index]}"
        where = klass.document.source_of("metadata.name")
        raise GenerateError(Problem(what, where, "metadata.name", "rename one, or give it its own folder"))


def _component(klass: Class, name: str, table: Table, claim: ClaimType, free: Names) -> dict[str, Any]:
    taken = set(_TAKEN)
    reader = claim_reader if klass.parent is not Parent.xr else composite_reader(namespaced=bool(klass.namespaced))
    named, shared = _shared_values(klass, taken, reader)
    variables = {t.name: _variable(identifier(t.name), taken, "", "_fields") for t in klass.templates}
    trees = {t.name: tree.grow(t, shared, reader) for t in klass.templates}
    needs: dict[str, list[tuple[str, str]]] = {t.name: [] for t in klass.templates}
    documents = {
        t.name: references.with_references(klass, t, trees, variables, table, needs[t.name]) for t in klass.templates
    }
    siblings = {need for found in needs.values() for need, _ in found}
    operations = _ordered(klass, needs)
    templates = {t.name: t for t in klass.templates}
    order = [o.name for o in operations if o.template]
    publishers = [name for name in order if statements.publishes(klass, templates[name], documents[name])]
    telling = {o.name for o in operations if o.template and o.outward}
    wanted = siblings | set(publishers) | telling
    waits = flow.awaited(klass)
    before, after, tail = statements.statements(operations, variables, reader)
    children = [
        _Child(
            variables[n],
            templates[n],
            _fields(documents[n]),
            trees[n].statements,
            n in wanted,
            waits.get(n, ()),
            before.get(n, ()),
            after.get(n, ()),
        )
        for n in order
    ]
    specs = types.types_of(klass, name, claim, free)
    secret, secret_uses = statements.secret(klass, reader)
    base = "Composition" if klass.parent in (Parent.xr, Parent.xr_claim) else "Composite"
    uses = _uses(children, named) | secret_uses | {base} | frozenset().union(*(t.uses for t in tail))
    details = [d for name in publishers for d in templates[name].details or ()]
    uses |= {"from_field"} if any(d.field_path for d in details) else set()
    uses |= {"from_value"} if any(d.value is not None for d in details) else set()
    uses |= {"Any"} if any(c.spread for c in children) else set()
    uses = uses.union(*(t.uses for t in specs))
    return {
        "base": base,
        "tail": tail,
        "name": name,
        "klass": klass,
        "claim": klass.serves,
        "claim_api_version": klass.claim_api_version,
        "description": _sentence(klass),
        "types": specs,
        "args_doc": text.sentence(f"{text.article(klass.serves.kind)}."),
        "reads_spec": SPEC in uses,
        "named": named,
        "children": children,
        "publishers": [*(statements.publisher(templates[n], variables[n]) for n in publishers), *secret],
        "options": _class_options(klass, claim),
        "uses": uses,
    }


def _ordered(klass: Class, needs: dict[str, list[tuple[str, str]]]) -> list[flow.Operation]:
    """What is done for a claim, in order: references and values that flow between children are followed."""
    listed = flow.operations(klass)
    for name, found in flow.needs(klass).items():
        needs.setdefault(name, []).extend(found)
    with at(klass.document.source_of("spec"), prefix=f"{klass.key}: "):
        # A template's references are followed while the program runs: what it may refer to comes first.
        plain_first = sorted(listed, key=lambda o: bool(o.template and o.template.opaque))
        by_name = {o.name: o for o in listed}
        return [by_name[name] for name in reference.ordered([o.name for o in plain_first], needs)]


def _early(patch: Patch) -> bool:
    """Whether what a patch reads is known before any child is made."""
    told = any(fieldpath.parse(path)[:1] == ("status",) for path in patch.reads)
    return patch.origin is Side.claim and patch.target is Side.resource and not told


def _shared_values(
    klass: Class, taken: set[str], reader: Reader
) -> tuple[list[_Named], dict[tuple[str, str], Expression]]:
    """Values that more than one patch writes, and lookups, under a name of their own."""
    patches = [(t, p) for t in klass.templates for p in t.patches if _early(p)]
    count = Counter(value_of(p, reader).code for _, p in patches)
    named: dict[str, _Named] = {}
    shared: dict[tuple[str, str], Expression] = {}
    for template, patch in patches:
        value = value_of(patch, reader)
        looked_up = any(isinstance(t, MapTransform) for t in patch.transforms)
        if not patch.transforms or not (looked_up or count[value.code] > 1):
            continue
        if value.code not in named:
            last = next((s for s in reversed(fieldpath.parse(patch.to)) if isinstance(s, str)), "value")
            named[value.code] = _Named(_variable(identifier(last), taken), value)
        name = named[value.code].name
        shared[template.name, patch.at] = Expression(name, frozenset(), value.may_be_absent)
    return list(named.values()), shared


def _class_options(klass: Class, claim: ClaimType) -> dict[str, str]:
    """What a component says of its class beside its name, as far as it is not the usual."""
    wanted: dict[str, tuple[Any, Any]] = {
        "bound_by": (klass.parent.value, Parent.composite.value),
        "namespaced": (klass.namespaced, None),
        "secret_namespace": (klass.secret_namespace, None),
        "service_account": (klass.service_account, None),
        "protect": (klass.annotations.get(PROTECT) == "true", False),
        "retain": (klass.retain, False),
        "connection_keys": (klass.connection_keys, ()),
        "defaults": (claim.defaults, {}),
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
            found |= statement.uses
        for line in (*child.before, *child.after):
            found |= line.uses
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


def _is_plain_name(text: str) -> bool:
    """Whether the text is a name of Python's, and stays itself.

    Other letters may be read as their likes, and in a class two underscores in front make another name of it.
    """
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("__")


def _sentence(klass: Class) -> str:
    """The component's docstring, nothing of which can end the string; the claims it serves below what it is."""
    claimed = klass.templates[0].kind if klass.parent is Parent.xr_claim else ""
    usual = f"What {text.article(klass.serves.kind)} claims: {text.article(claimed)}"
    given = text.docstring(klass.annotations.get(DESCRIPTION) or "")
    return given or text.docstring(usual if claimed else f"The class {klass.name}")


def _isort(name: str) -> tuple[int, str]:
    """The formatter's order of imported names: constants, classes, functions."""
    rank = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return rank, name


def _text_block(given: str) -> str:
    """A text of several lines as Python: one literal a line, so that a change of a line is a change of a line."""
    lines = given.splitlines(keepends=True)
    return "(" + "\n".join(repr(line) for line in lines) + ")"


@cache
def _template() -> jinja2.Template:
    # Deployments name components only, and load no template.
    import jinja2

    source = resources.files("claimsmith").joinpath("templates/component.py.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["repr"] = repr
    environment.filters["text_block"] = _text_block
    return environment.from_string(source)


__all__ = ["class_name", "class_names", "digest_of", "generate"]
