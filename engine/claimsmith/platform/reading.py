"""Classes of claims that name an existing native resource: it is read, and nothing of the class is created.

The class still serves such a claim: its template of that type has the provider that the resource is read with, and the
connection details that its outputs give. Neither is for the claim to choose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claimsmith.base import fieldpath
from claimsmith.base.errors import BindingError, Problem, suggest
from claimsmith.base.values import object_at
from claimsmith.dialects.common.claim import Claim, NativeRef
from claimsmith.dialects.common.klass import Class, Detail, Side, Template
from claimsmith.dialects.common.native import OPTIONS, PROPERTIES
from claimsmith.providers.tokens import Token

_KEPT = ("additionalSecretOutputs", "provider")
"""The options of a template that count for a resource which is only read."""


def read_only(klass: Class, claim: Claim) -> Class:
    """The class as it serves a claim: with one template that reads the resource which the claim names, if it names one.

    The digest stays that of the class.
    """
    wanted = claim.native_ref
    if wanted is None:
        return klass
    template = _template(klass, claim, wanted)
    found = replace(klass, templates=(_reading(template, klass, wanted),), contract=())
    found.memo["digest"] = klass.digest()
    return found


def _template(klass: Class, claim: Claim, wanted: NativeRef) -> Template:
    """The template whose resource the claim names; the class must have one, and the claim say which of several."""
    fitting = [t for t in klass.templates if t.native and not t.loop and _token(t) == wanted.token]
    named = [t for t in fitting if wanted.template in (None, t.name)]
    if len(named) == 1:
        return named[0]
    if problem := _looped(klass, claim, wanted, fitting):
        raise BindingError(problem)
    path = f"{claim.resource_path}.type"
    if not fitting:
        types = sorted({_token(t).short for t in klass.templates if t.native and not t.loop})
        what = f"{claim.key} cannot bind to a {wanted.token.short}: {klass.key} composes none"
        fix = suggest(wanted.token.short, types, none="none: it composes no native resources")
    else:
        path = f"{claim.resource_path}.template"
        names = [t.name for t in fitting]
        what = f"{klass.key} has no template {wanted.template!r} of the type {wanted.token.short}"
        if wanted.template is None:
            what = f"{klass.key} has several templates of the type {wanted.token.short}: {', '.join(names)}"
        fix = suggest(wanted.template or "", names) if wanted.template else f"name one: template: {names[0]}"
    raise BindingError(claim.document.problem(what, path, fix))


def _looped(klass: Class, claim: Claim, wanted: NativeRef, fitting: Sequence[Template]) -> Problem | None:
    """The problem of a claim whose resource only a template with `forEach` composes: one id is that of one element."""
    looped = (t for t in klass.templates if t.native and t.loop and _token(t) == wanted.token)
    template = next((t for t in looped if wanted.template == t.name or (not wanted.template and not fitting)), None)
    if template is None or template.loop is None:
        return None
    each = f"its template {template.name!r} composes one for each of {template.loop.path}"
    what = f"{claim.key} cannot bind to a {wanted.token.short} of {klass.key}: {each}"
    fix = f"name a class that composes one {wanted.token.short} without forEach"
    if fitting:
        fix = f"name another template: template: {fitting[0].name}"
    return claim.document.problem(what, f"{claim.resource_path}.{'template' if wanted.template else 'type'}", fix)


def _token(template: Template) -> Token:
    return Token.parse(str(template.base["type"]))


def _reading(template: Template, klass: Class, wanted: NativeRef) -> Template:
    """The template that reads a resource: of its properties none counts, of its options and patches the provider."""
    options = {key: value for key, value in object_at(template.base, OPTIONS).items() if key in _KEPT}
    base = {key: value for key, value in template.base.items() if key in ("type", "metadata")}
    provider = (OPTIONS, "provider")
    patches = (p for p in template.patches if p.target is Side.resource)
    return replace(
        template,
        base={**base, PROPERTIES: {}, **({OPTIONS: options} if options else {})},
        patches=tuple(p for p in patches if fieldpath.parse_or_root(p.to) == provider),
        previous_name=None,
        known_as=(),
        details=tuple(_details(klass, template.name)),
        when="",
        existing_id=wanted.id,
    )


def _details(klass: Class, name: str) -> Iterator[Detail]:
    """The connection details of a class that need no other resource than that of one template."""
    for template in klass.templates:
        for detail in template.details or ():
            free = detail.config is not None or (template.native and detail.value is not None)
            if free or (detail.from_resource or template.name) == name:
                yield replace(detail, from_resource=None)
