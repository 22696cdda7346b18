"""The source of a class's component: the values that get a name, the order of the children, the imports."""

from __future__ import annotations

import hashlib
import itertools
import keyword
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from claimsmith.base import fieldpath, topological
from claimsmith.base.errors import GenerateError, at
from claimsmith.base.names import GroupKind
from claimsmith.base.transform import MapTransform
from claimsmith.compose.native_types import Sdks
from claimsmith.compose.references import Table
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.dialect import BoundBy
from claimsmith.dialects.common.klass import Class, Patch, Side, Template
from claimsmith.generate import loops, naming, native, references, statements, text, tree, types
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
from claimsmith.generate.loops import Loops
from claimsmith.generate.native import Natives
from claimsmith.generate.types import Names

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
    """Its patches to the composite and the environment."""
    call: native.Call | None = None
    """The constructor of its SDK, if it is a native one."""
    name: str = ""
    """The expression for its name."""
    previous_name: str | None = None
    """The expression for the name that it had before."""
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
        made = self.call.constructor if self.call else "KubernetesObject"
        if not self.needed or not self.headers:
            return ""
        if self.template.loop:
            return f"{self.variable}: dict[str, {made}] = {{}}"
        return f"{self.variable}: {made} | None = None" if self.template.details != () else ""


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
    sdks: Sdks | None = None,
) -> str:
    """The Python module with one component for each class that a folder's YAML describes.

    `claims` are the kinds of claim that they serve, and `sdks` finds the SDKs of their native children. The module's
    head has a digest of the rest: it shows whether a module on disk is up to date.
    """
    names = class_names(classes)
    _refuse_doubles(classes, names)
    free = Names((*IMPORTED, *(f"{name}{word}" for name in names for word in ("", "Spec", "Args"))))
    known = claims or {}
    components = [
        _component(
            klass, name, table, known.get((klass.serves, klass.claim_api_version)) or _unknown(klass), free, sdks
        )
        for klass, name in zip(classes, names, strict=True)
    ]
    uses = frozenset().union(*(c["uses"] for c in components)) - {SPEC}
    kinds = list(dict.fromkeys(c.serves.kind for c in classes))
    written = _template().render(
        title="\n".join(textwrap.wrap(f"Components for {_listed(kinds)}.", width=100)),
        components=components,
        typing=sorted(uses & _TYPING | {"TypedDict"}, key=_isort),
        enums="StrEnum" in uses,
        imports=sorted({pair for c in components for pair in c["imports"].items()}),
        uses=sorted(uses - _TYPING - {"StrEnum"} | _ALWAYS, key=_isort),
    )
    head = f"{_head(source)}\n"
    digest = hashlib.sha256(f"{head}{written}".encode()).hexdigest()
    return f"{head}{_DIGEST}{digest}\n{written}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _unknown(klass: Class) -> ClaimType:
    """A kind of claim without a definition: only its dialect is known."""
    return ClaimType(klass.dialect.spec_type(namespaced=bool(klass.namespaced)))


def digest_of(module: bytes) -> str | None:
    """The digest in the head of a generated module; None if it has none."""
    head = itertools.takewhile(lambda line: line.startswith(b"#"), module.splitlines())
    return next((line.decode("ascii", "replace") for line in head if line.startswith(_DIGEST.encode())), None)


def _head(source: str) -> str:
    """The comment that names the source of the module, on one line if it fits."""
    comment = f"Generated by claimsmith from {text.one_line(source)}. Edit that, then run: claimsmith generate"
    return "\n".join(f"# {line}" for line in textwrap.wrap(comment, width=116, break_on_hyphens=False))


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
        *("BoundBy", "Composite", "CrossplaneComposite", "KubernetesObject", "MergePolicy", "StrEnum"),
        *(
            "default",
            "field",
            "from_field",
            "from_value",
            "is_set",
            "optional",
            "present",
            "require",
            "unless",
            "write",
        ),
    ),
    _TRANSFORMS,
    _TYPING,
    RESERVED,
)
"""The names that a component may import: no variable or class of its own has such a name."""
_TAKEN = IMPORTED | {"self", "args", "opts", "name", "context", SPEC, "pulumi", "super", "dict", "str"}


def _refuse_doubles(classes: Sequence[Class], names: Sequence[str]) -> None:
    for index in sorted(naming.doubled(names)):
        klass = classes[index]
        what = f"two classes of one folder would both become {names[index]}"
        raise GenerateError(klass.document.problem(what, "metadata.name", "rename one, or give it its own folder"))


def _component(
    klass: Class, name: str, table: Table, claim: ClaimType, free: Names, sdks: Sdks | None
) -> dict[str, Any]:
    taken = {*_TAKEN, *native.aliases_of(klass)}
    reader = composite_reader(namespaced=bool(klass.namespaced)) if klass.dialect.pipelined else claim_reader
    named, shared = _shared_values(klass, taken, reader)
    variables = {t.name: _variable(identifier(t.name), taken, "", "_fields", "_properties") for t in klass.templates}
    needs: dict[str, list[tuple[str, str]]] = {t.name: [] for t in klass.templates}
    looped = Loops.of(klass, lambda wanted: _variable(wanted, taken))
    read_by = {t.name: looped.variable(t, variables[t.name]) for t in klass.templates}
    natives = Natives(klass, sdks, read_by, looped)
    trees = {
        t.name: tree.grow(t, shared, looped.reader(t, reader), natives.base(t, needs[t.name])) for t in klass.templates
    }
    documents = {
        t.name: references.with_references(klass, t, trees, read_by, table, needs[t.name]) for t in klass.templates
    }
    siblings = {need for found in needs.values() for need, _ in found}
    operations = _ordered(klass, needs)
    templates = {t.name: t for t in klass.templates}
    order = [o.name for o in operations if o.template]
    publishers = [name for name in order if statements.publishes(klass, templates[name], documents[name])]
    telling = {o.name for o in operations if o.template and o.outward}
    wanted = siblings | set(publishers) | telling | native.detail_sources(klass)
    waits = ordering.awaited(klass)
    before, after, tail = statements.statements(operations, natives.reader, reader)
    children = [
        _Child(
            variables[n],
            templates[n],
            {} if templates[n].native else _fields(documents[n]),
            trees[n].statements,
            n in wanted,
            waits.get(n, ()),
            before.get(n, ()),
            after.get(n, ()),
            natives.call(templates[n], replace(trees[n], document=documents[n])) if templates[n].native else None,
            looped.name(templates[n], n),
            looped.name(templates[n], previous) if (previous := templates[n].previous_name) else None,
            looped.headers(templates[n]),
        )
        for n in order
    ]
    specs = types.types_of(klass, name, claim, free)
    secret, secret_uses = statements.secret(klass, reader)
    values = literal(native.details_of(natives))
    sources = [statements.publisher(templates[n], variables[n]) for n in publishers]
    if values.code != "{}":
        secret, secret_uses = [f"details={values.code}", *secret], secret_uses | values.uses
    base = "CrossplaneComposite" if klass.dialect.crossplane else "Composite"
    uses = _uses(children, named) | secret_uses | {base} | frozenset().union(*(t.uses for t in tail))
    details = [d for name in publishers for d in templates[name].details or ()]
    uses |= {"from_field"} if any(d.field_path for d in details) else set()
    uses |= {"from_value"} if any(d.value is not None for d in details) else set()
    uses |= {"Any"} if any(c.statements for c in children) else set()
    uses |= {"present"} if any(c.call and c.statements for c in children) else set()
    options = _class_options(klass, claim)
    uses |= {"BoundBy"} if "bound_by" in options else set()
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
        "imports": natives.imports,
        "publishes": _publishing(klass, name, sources, secret),
        "options": options,
        "uses": uses,
        "pipeline": _pipeline(klass) if ordering.is_piped(klass) else "",
    }


def _publishing(klass: Class, name: str, sources: Sequence[str], more: Sequence[str]) -> str:
    """The statement that publishes the connection details; none if there cannot be any."""
    if ordering.is_piped(klass):
        sources = [f"*self.pipeline({name}.PIPELINE)", *sources]
    match sources, more:
        case [], [str(only)] if only.startswith("details="):
            return f"self.publish_details({only.removeprefix('details=')})"
        case [], [] if klass.templates and all(t.native for t in klass.templates):
            return ""
        case _:
            return f"self.publish_connection({', '.join((*sources, *more))})"


def _pipeline(klass: Class) -> str:
    """The steps of a composition as they are written, as Python: a template is one literal for each of its lines."""
    return "(" + "".join(f"{_code(step)}," for step in klass.document.data["spec"]["pipeline"]) + ")"


def _code(value: Any) -> str:
    match value:
        case dict():
            return "{" + "".join(f"{key!r}: {_code(item)}," for key, item in value.items()) + "}"
        case list():
            return "[" + "".join(f"{_code(item)}," for item in value) + "]"
        case str() if "\n" in value:
            return _text_block(value)
        case _:
            return repr(value)


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
) -> tuple[list[_Named], dict[tuple[str, str], Expression]]:
    """The values that get a variable: those that more than one patch writes, and lookups."""
    patches = [(t, p) for t in klass.templates for p in t.patches if _early(p) and not loops.reads_element(t, p)]
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
    """The options of the class that are not the default."""
    wanted: dict[str, tuple[Any, Any]] = {
        "namespaced": (klass.namespaced, None),
        "secret_namespace": (klass.secret_namespace, None),
        "service_account": (klass.service_account, None),
        "protect": (klass.protect, False),
        "retain": (klass.retain, False),
        "connection_keys": (klass.connection_keys, ()),
        "defaults": (claim.defaults, {}),
    }
    bound = klass.dialect.bound_by
    bound_by = {} if bound is BoundBy.COMPOSITE else {"bound_by": f"BoundBy.{bound.name}"}
    return bound_by | {key: repr(value) for key, (value, usual) in wanted.items() if value != usual}


def _fields(document: dict[str, Any]) -> dict[str, Expression]:
    return {k: literal(v) for k, v in document.items() if k not in ("apiVersion", "kind")}


def _uses(children: Iterable[_Child], named: Iterable[_Named]) -> frozenset[str]:
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


def _sentence(klass: Class) -> str:
    """The first line of the component's docstring; nothing in it can end the string."""
    claimed = klass.templates[0].kind if klass.dialect.composite_status else ""
    usual = f"What {text.article(klass.serves.kind)} claims: {text.article(claimed)}"
    description = text.docstring(klass.annotations.get(DESCRIPTION) or "")
    return description or text.docstring(usual if claimed else f"The class {klass.name}")


def _isort(name: str) -> tuple[int, str]:
    """The formatter's order of imported names: constants, classes, functions."""
    rank = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return rank, name


def _text_block(template: str) -> str:
    """A text of several lines as Python: one literal for each line, so that a diff shows the lines that change."""
    lines = template.splitlines(keepends=True)
    return "(" + "\n".join(repr(line) for line in lines) + ")"


@cache
def _template() -> jinja2.Template:
    # Imported late: a deployment only needs the names of components, and no template.
    import jinja2

    source = resources.files("claimsmith.generate").joinpath("templates/component.py.j2").read_text(encoding="utf-8")
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
