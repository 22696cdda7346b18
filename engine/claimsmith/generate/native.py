"""A native child in its component: a call of the provider's own SDK, as a Pulumi program writes it.

The names of properties and outputs come from the SDK's index. One that the SDK does not have is refused with the
nearest, so that no name of a class becomes code by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import GenerateError, Problem, ProviderError, suggest
from claimsmith.base.labels import EXTERNAL_NAME
from claimsmith.base.merge import MergePolicy
from claimsmith.base.values import Interpolation, SiblingOutput, mapped, object_at
from claimsmith.compose.native_children import TagProperty, is_named_outside, is_tagged
from claimsmith.compose.native_types import Sdks, name_property, tag_property
from claimsmith.dialects.common.klass import Class, Patch, Template
from claimsmith.dialects.common.native import OPTIONS, OUTPUTS, PROPERTIES
from claimsmith.generate import tree
from claimsmith.generate.expression import Expression, Reader, child_reader, literal
from claimsmith.generate.loops import Loops
from claimsmith.generate.native_values import Writer, optional, present
from claimsmith.providers.index import Index, import_name_of
from claimsmith.providers.outputs import Attribute, UnknownOutput, way_to
from claimsmith.providers.resource_types import (
    Property,
    ResourceType,
)
from claimsmith.providers.tokens import Token

_OPTIONS = {
    "provider": "provider",
    "aliases": "aliases",
    "protect": "protect",
    "retainOnDelete": "retain",
    "deleteBeforeReplace": "delete_before_replace",
    "ignoreChanges": "ignore_changes",
    "replaceOnChanges": "replace_on_changes",
    "additionalSecretOutputs": "additional_secret_outputs",
    "import": "import_id",
}
"""The options of a native resource that become an argument as they are."""
_TIMEOUTS = ("create", "update", "delete")


@dataclass(frozen=True, slots=True)
class Call:
    """The constructor of a native child, and what is passed to it."""

    constructor: str
    arguments: Mapping[str, Expression]
    options: Expression
    statements: Sequence[tree.Statement] = ()

    @property
    def parts(self) -> list[Expression]:
        """Everything that is passed."""
        return [*self.arguments.values(), self.options]


@dataclass(frozen=True, slots=True)
class Natives:
    """The native children of one class, and how others read them."""

    klass: Class
    sdks: Sdks | None
    variables: Mapping[str, str]
    """The expressions by which siblings refer to them."""
    loops: Loops
    imports: dict[str, str] = field(default_factory=dict)
    """The SDKs that are imported, each under its alias."""

    @property
    def templates(self) -> dict[str, Template]:
        """The templates of the class, by their names."""
        return {t.name: t for t in self.klass.templates}

    def base(self, template: Template, needs: list[tuple[str, str]]) -> dict[str, Any]:
        """The template's base with each interpolation as an expression; what it needs for that is added to `needs`."""

        def written(leaf: Any) -> Any:
            if not isinstance(leaf, Interpolation):
                return leaf
            needs.extend((output.template, f"${{{output}}}") for output in leaf.outputs)
            return self._interpolated(leaf, template)

        document: dict[str, Any] = mapped(dict(template.base), written)
        if template.native:
            needs.extend((name, "dependsOn") for name in document.get(OPTIONS, {}).get("dependsOn", ()))
            if not document.get(PROPERTIES):
                # A mapping that is empty in the base stays; this one is no value of its own.
                document.pop(PROPERTIES, None)
        return document

    def reader(self, template: Template) -> Reader:
        """How a patch reads a child once it is created."""
        if not template.native:
            return child_reader(self.variables[template.name])

        def read(patch: Patch, path: str) -> Expression:  # noqa: ARG001 - such a patch reads the child
            return self.output(template, fieldpath.parse(path))

        return read

    def output(self, template: Template, path: fieldpath.Path, *, of: Template | None = None) -> Expression:
        """A field of a child, once it exists: an attribute of a native one. `of` is the template that reads it."""
        variable = self.variables[template.name]
        text = fieldpath.to_text(path)
        if not template.native:
            code = f"{variable}.name" if path == ("metadata", "name") and not template.composite else ""
            return Expression(code or f"self.observed({variable}, {text!r})", may_be_absent=not code)
        steps = path[1:] if path[:1] in ((OUTPUTS,), (PROPERTIES,)) else path
        try:
            way = list(way_to(steps, self._type(template), self._sdk(template)))
        except UnknownOutput as error:
            what = f"{template.name!r} ({template.base['type']}) has no output {text!r}"
            problem = Problem(what, fix=suggest(error.step, error.known))
            raise GenerateError(*self._located([problem], of or template)) from None
        code = "".join(f".{s.name}" if isinstance(s, Attribute) else f"[{s.key!r}]" for s in way)
        return Expression(f"{variable}{code}", may_be_absent=False)

    def call(self, template: Template, grown: tree.Tree) -> Call:
        """The constructor's call: the patched properties by the SDK's names, and the options of the child."""
        kind = self._type(template)
        properties = grown.document.get(PROPERTIES) or {}
        sdk = self._sdk(template)
        alias = self._imported(kind)
        writer = Writer(sdk, alias, lambda path, known: self._refusal(template, (PROPERTIES, *path), known))
        arguments = {}
        for name, value in properties.items():
            property_ = writer.property(kind.inputs, (), name)
            typed = literal(value) if grown.statements else writer.written(value, property_.type, (name,))
            arguments[property_.python] = typed if grown.statements else optional(typed, value)
        statements = [self._statement(s, kind, writer) for s in grown.statements]
        if (name := name_property(kind)) and is_named_outside(template, name):
            python = writer.property(kind.inputs, (), name).python
            self._add_name(template, python, arguments, statements)
        tags = tag_property(kind) if is_tagged(template, self.klass) else ""
        if tags and not isinstance(properties.get(tags, {}), list):
            _add_tags(tags, kind.inputs[tags].python, self._properties_variable(template), arguments, statements)
        path = ".".join(part for part in (alias, kind.module, kind.python_class) if part)
        return Call(path, arguments, self._options(template, grown.document), statements)

    def _interpolated(self, text: Interpolation, template: Template) -> Expression:
        """A text with outputs of siblings: the output itself if there is nothing else."""
        siblings = self.templates
        read = [self.output(siblings[o.template], o.path, of=template) for o in text.outputs]
        uses = frozenset().union(*(r.uses for r in read))
        if len(text.parts) == 1:
            return replace(read[0], uses=uses)
        form = "".join("{}" if isinstance(p, SiblingOutput) else _escaped(p) for p in text.parts)
        code = f"pulumi.Output.format({form!r}, {', '.join(r.code for r in read)})"
        return Expression(code, uses, may_be_absent=False)

    def _statement(self, statement: tree.Statement, kind: ResourceType, writer: Writer) -> tree.Statement:
        """The statement for a dictionary of arguments: below these, names stay Pulumi's, as claims write them."""
        first, *rest = fieldpath.parse(statement.path)
        if first != PROPERTIES or not rest or not isinstance(rest[0], str):
            problem = Problem(f"a patch with a merge policy cannot write {statement.path}", path=statement.path)
            raise GenerateError(replace(problem, fix="remove the policy"))
        python = writer.property(kind.inputs, (), rest[0]).python
        return replace(statement, path=fieldpath.to_text((python, *rest[1:])))

    def _properties_variable(self, template: Template) -> str:
        """The dictionary that the statements of a child write; siblings refer to one of a loop by its key."""
        return f"{self.variables[template.name].partition('[')[0]}_properties"

    def _add_name(
        self,
        template: Template,
        argument: str,
        arguments: dict[str, Expression],
        statements: list[tree.Statement],
    ) -> None:
        """Let the external name of the claim, else of the template, be the physical name before that of the class."""
        written = object_at(object_at(template.base, "metadata"), "annotations").get(EXTERNAL_NAME)
        own = literal(written) if written else arguments.get(argument)
        if statements and not written:
            own = Expression(f"field({self._properties_variable(template)}, {argument!r})", frozenset({"field"}))
        if self.klass.dialect.passes_external_name:
            own_code, uses = (own.code, own.uses) if own else ("", frozenset[str]())
            own = Expression(f"self.external_name({own_code})", uses, may_be_absent=False)
        elif not written:
            return
        assert own, "an external name of the template"
        if statements:
            statements.append(tree.Statement(argument, own, MergePolicy.Replace))
        else:
            arguments[argument] = own

    def _options(self, template: Template, document: Mapping[str, Any]) -> Expression:
        """The call of `self.child_options`."""
        given = document.get(OPTIONS) or {}
        metadata = document.get("metadata") or {}
        labels = metadata.get("labels") or {}
        wanted: dict[str, Expression] = {}
        if template.previous_name:
            wanted["previous_name"] = Expression(self.loops.name(template, template.previous_name))
        if template.known_as:
            wanted["known_as"] = Expression(self.loops.known_as(template))
        wanted |= {python: optional(literal(given[name])) for name, python in _OPTIONS.items() if name in given}
        if timeouts := given.get("customTimeouts"):
            same = len(timeouts) == len(_TIMEOUTS) and len(set(timeouts.values())) == 1
            wanted["timeout"] = literal(next(iter(timeouts.values())) if same else timeouts)
        if names := given.get("dependsOn"):
            wanted["depends_on"] = literal([Expression(self.variables[n], may_be_absent=False) for n in names])
        if labels:
            wanted["labels"] = present(literal(labels), labels)
        code = ", ".join([self.loops.name(template, template.name), *(f"{k}={v.code}" for k, v in wanted.items())])
        uses = frozenset().union(*(v.uses for v in wanted.values()))
        return Expression(f"self.child_options({code})", uses, may_be_absent=False)

    def _imported(self, kind: ResourceType) -> str:
        alias = _alias(kind.import_name)
        self.imports[kind.import_name] = alias
        return alias

    def _sdk(self, template: Template) -> Index:
        token = Token.parse(str(template.base["type"]))
        if self.sdks is None:
            raise GenerateError(Problem(f"the SDK of {token.package!r} is unknown", fix="pass the SDKs to generate"))
        try:
            return self.sdks(token.package)
        except ProviderError as error:
            raise GenerateError(*self._located(error.problems, template)) from error

    def _type(self, template: Template) -> ResourceType:
        token = str(template.base["type"])
        sdk = self._sdk(template)
        kind = sdk.resource(token)
        if kind is None:
            raise GenerateError(*self._located([replace(sdk.unknown(token), path="type")], template))
        return kind

    def _located(self, problems: Sequence[Problem], template: Template) -> list[Problem]:
        prefix = f"{self.klass.key}, template {template.name!r}: "
        return self.klass.located(problems, template, prefix=prefix)

    def _refusal(self, template: Template, path: fieldpath.Path, known: Mapping[str, Property]) -> GenerateError:
        what = f"{template.base['type']} has no property {fieldpath.to_text(path[1:])!r}"
        problem = Problem(what, path=fieldpath.to_text(path), fix=suggest(str(path[-1]), known))
        return GenerateError(*self._located([problem], template))


def _add_tags(
    tags: TagProperty,
    argument: str,
    properties: str,
    arguments: dict[str, Expression],
    statements: list[tree.Statement],
) -> None:
    """Let a child carry the tags of its claim beside its own; those that statements write are known once these ran."""
    own = arguments.get(argument)
    if statements:
        own = Expression(f"field({properties}, {argument!r})", frozenset({"field"}))
    code = f"self.claim_{tags}({own.code if own else ''})"
    value = Expression(code, own.uses if own else frozenset(), may_be_absent=False)
    if statements:
        statements.append(tree.Statement(argument, value, MergePolicy.Replace))
    else:
        arguments[argument] = value


def details_of(natives: Natives) -> dict[str, Expression]:
    """The connection details of the class that are values: outputs, fields of siblings, settings and fixed texts."""
    found: dict[str, Expression] = {}
    templates = natives.templates
    for template in natives.klass.templates:
        for detail in template.details or ():
            source = templates[detail.from_resource or template.name]
            if detail.config is not None:
                found[detail.name] = Expression(f"self.config({detail.config!r})", may_be_absent=False)
            elif not template.native and not detail.from_resource:
                continue  # the child's own: its Secret is read
            elif detail.value is not None:
                found[detail.name] = literal(detail.value)
            elif detail.field_path:
                found[detail.name] = natives.output(source, fieldpath.parse(detail.field_path), of=template)
    return found


def aliases_of(klass: Class) -> set[str]:
    """The names under which the SDKs of a class are imported: no variable has such a name."""
    packages = (Token.parse(str(t.base["type"])).package for t in klass.templates if t.native)
    return {_alias(import_name_of(package)) for package in packages}


def _alias(import_name: str) -> str:
    return import_name.removeprefix("pulumi_")


def detail_sources(klass: Class) -> set[str]:
    """The templates that connection details are read from."""
    return {
        d.from_resource or t.name
        for t in klass.templates
        for d in t.details or ()
        if d.field_path and (t.native or d.from_resource)
    }


def _escaped(text: str) -> str:
    """A text that `format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")
