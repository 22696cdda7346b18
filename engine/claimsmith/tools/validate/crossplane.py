"""Crossplane definitions and compositions: undefined kinds, unused patch sets, promised keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, nearest, suggest
from claimsmith.dialects.common.klass import Class, Step
from claimsmith.dialects.crossplane.xrd import Xrd
from claimsmith.kubernetes import schema as schemas
from claimsmith.platform.catalog import Catalog
from claimsmith.tools.validate import choices
from claimsmith.tools.validate.bases import quotable
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules

_QUIET = ("auto-ready", "environment-configs", "sequencer", "tag-manager", "unit-test")
"""Functions, by a part of their names, that deliver no connection details."""


def check_crossplane(catalog: Catalog, rules: Rules) -> Findings:
    """Problems of Crossplane compositions and their definitions."""
    findings = Findings()
    compositions = list(catalog.crossplane.compositions.values())
    for klass in compositions:
        definition = catalog.crossplane.xrds.get(klass.serves)
        if definition is None:
            findings.odd("undefined-kind", _undefined(klass, catalog, rules))
        else:
            findings.wrong("version-not-served", _not_served(klass, definition))
            findings.odd("connection-key-missing", _missing_keys(klass, definition))
            findings.odd("connection-key-dropped", _dropped_keys(klass, definition))
        findings.odd("patch-set-unused", (p for s in klass.steps for p in _unused_sets(klass, s)))
    for definition in catalog.crossplane.xrds.values():
        for problem in _unsound(definition):
            findings.report("definition-unsound", problem, never=problem.rule == "unquoted-text")
        serving = [c for c in compositions if c.serves == definition.kind]
        findings.odd("missing-composition", _missing_compositions(definition, serving))
        forced = next((c.key for c in serving if c.name == definition.enforced_composition), None)
        if forced:
            findings.odd("class-never-selected", choices.never_selected(serving, forced))
    return findings


def _unsound(definition: Xrd) -> Iterator[Problem]:
    """What an API server would not read as it is written. Types of the outermost objects are added by the core."""
    spec = definition.document.data["spec"]
    for name, written in definition.versions.items():
        listed = [str(v.get("name")) for v in spec.get("versions") or ()]
        old: fieldpath.Path = ("spec", "crdSpecTemplate", "validation")
        at = (*(("spec", "versions", listed.index(name), "schema") if name in listed else old), "openAPIV3Schema")
        outer = {fieldpath.to_text((*at, *rest)) for rest in ((), ("properties", "spec"), ("properties", "status"))}
        found = schemas.check_schema(written, document=definition.document, at=at)
        yield from (quotable(p) for p in found if p.path not in outer)


def _undefined(klass: Class, catalog: Catalog, rules: Rules) -> Iterator[Problem]:
    """A composition for a kind that no definition defines. Who gives a CRD of the kind defines it otherwise."""
    if rules.versions(klass.serves) is not None and not rules.is_composite(klass.serves):
        return
    path = "spec.compositeTypeRef.kind"
    known = {x.kind.kind: x for x in catalog.crossplane.xrds.values()}
    close = known.get(nearest(klass.serves.kind, known) or "")
    fix = "define it by a CompositeResourceDefinition"
    if close:
        versions = ", ".join(f"{close.kind.group}/{v}" for v in close.versions)
        fix = f"did you mean kind: {close.kind.kind} of apiVersion: {versions}?"
    claims = [x for x in catalog.crossplane.xrds.values() if x.claim == klass.serves]
    if claims:
        fix = f"that is the claim; compose {claims[0].kind.kind}"
    what = f"{klass.key} composes {klass.serves}, which nothing defines"
    yield Problem(what, klass.document.source_of(path), path, fix)


def _not_served(klass: Class, definition: Xrd) -> Iterator[Problem]:
    version = klass.claim_api_version.rpartition("/")[2]
    if version not in definition.versions:
        path = "spec.compositeTypeRef.apiVersion"
        what = f"{klass.serves} has no version {version}"
        fix = f"write one of: {', '.join(f'{klass.serves.group}/{v}' for v in definition.versions)}"
        yield Problem(what, klass.document.source_of(path), path, fix)


def _missing_compositions(definition: Xrd, serving: list[Class]) -> Iterator[Problem]:
    names = [c.name for c in serving]
    for word, name in (("enforced", definition.enforced_composition), ("default", definition.default_composition)):
        if name is None or name in names:
            continue
        path = f"spec.{word}CompositionRef.name"
        offer = f"name one of: {', '.join(names)}" if names else "add it"
        fix = suggest(name, names, f"{offer}; or remove it")
        what = f"the {word}CompositionRef of {definition.kind} names {name!r}, which composes no such kind"
        yield Problem(what, definition.document.source_of(path), path, fix)


def _missing_keys(klass: Class, definition: Xrd) -> Iterator[Problem]:
    """Keys of the composite's Secret that no resource delivers; a step that is not read here may deliver any."""
    if any(not s.templates and not any(word in s.function for word in _QUIET) for s in klass.steps):
        return
    delivered = {d.name for t in klass.templates for d in t.details or ()}
    missing = [repr(key) for key in definition.connection_keys if key not in delivered]
    if missing:
        place = definition.document.source_of("spec.connectionSecretKeys")
        what = (
            f"{klass.key} delivers no connection detail {', '.join(missing)}: {definition.kind} promises it ({place})"
        )
        fix = "add it to the connectionDetails of one of the resources, or take it out of the definition's keys"
        yield Problem(what, klass.document.source_of("spec"), "spec", fix)


def _dropped_keys(klass: Class, definition: Xrd) -> Iterator[Problem]:
    promised = definition.connection_keys
    for template in klass.templates if promised else ():
        for index, detail in enumerate(template.details or ()):
            if detail.name not in promised:
                path = f"{template.at}.connectionDetails[{index}]"
                what = f"{klass.key} delivers the connection detail {detail.name!r}, which {definition.kind} drops"
                fix = f"remove it, or add it to the definition's connectionSecretKeys: {', '.join(promised)}"
                yield Problem(what, klass.document.source_of(path), path, fix)


def _unused_sets(klass: Class, step: Step) -> Iterator[Problem]:
    """Patch sets of a step that none of its resources names."""
    used = {p.get("patchSetName") for r in _listed(step.input, "resources") for p in _listed(r, "patches")}
    for index, patch_set in enumerate(_listed(step.input, "patchSets")):
        if patch_set.get("name") not in used:
            path = f"{step.at}.patchSets[{index}].name"
            what = f"no resource of {klass.key} uses the patch set {patch_set.get('name')!r}"
            fix = "add a patch of type PatchSet that names it, or remove it"
            yield Problem(what, klass.document.source_of(path), path, fix)


def _listed(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [item for item in data.get(key) or () if isinstance(item, Mapping)]
