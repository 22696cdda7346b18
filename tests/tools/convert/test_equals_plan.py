"""What is converted makes the same children: the plan of the older form, and the offline render of Crossplane's.

Each class of this repository's components, of the documents and of the golden cases that can be said is compared, for
the claims that stand beside it, for one that fills every field that it reads, and for one that fills none. What is left
out of the comparison stands at the top of `tests/support/converted.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import FieldPathError
from claimsmith.base.names import ClaimKey
from claimsmith.base.transform import MapTransform, MathTransform
from claimsmith.compose.plan import candidate_of_given
from claimsmith.compose.reference_table import kinds_of
from claimsmith.compose.references import Table
from claimsmith.dialects.common.klass import Class, Patch, Template
from claimsmith.dialects.definitions import Definition
from claimsmith.dialects.resource_classes.reading import oversized
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project.layout import TABLES
from claimsmith.project.load import load
from claimsmith.tools.convert import Conversion, Stack, convert, kinds
from claimsmith.tools.convert.kinds import old_classes
from tests.support.aggregate_documents import aggregate, parsed
from tests.support.converted import (
    PROJECT,
    Pair,
    Platform,
    asked,
    asked_before,
    candidates_of,
    documents,
    new,
    old,
    pairs,
    planned,
    trees,
)
from tests.support.golden_cases import GOOD
from tests.support.paths import ROOT
from tests.support.platform_files import AGGREGATE, CLAIMS, DEFINITIONS, REDIS, SITE, STORE
from tests.support.samples import SHARED, claim_data, class_data, class_ref, documents_of, sharing


@dataclass(frozen=True)
class Example:
    """A platform with claims: files of this repository."""

    name: str
    platform: tuple[Path, ...]
    claims: tuple[Path, ...]
    given: tuple[Path, ...] = ()

    @property
    def table(self) -> Table:
        return PROJECT.table()

    @cached_property
    def documents(self) -> list[Document]:
        found = load(self.platform, root=ROOT)
        return [d for d in found if Path(d.file).name not in TABLES]

    def catalog(self, claims: list[Document]) -> Catalog:
        known = kinds_of(self.table)
        given = load(self.given, root=ROOT)
        return read_catalog(self.documents, claims, bindable=PROJECT.bindable(), managed=known, resources=given)

    @cached_property
    def beside(self) -> Catalog:
        """With the claims that stand beside the platform."""
        return self.catalog(load(self.claims, root=ROOT))


def folder(name: str, *, platform: str, claims: str, given: str) -> Example:
    root = ROOT / name
    return Example(name, (root / platform,), (root / claims,), (root / given,) if (root / given).exists() else ())


def stack(name: str) -> Example:
    place = ROOT / "stacks" / name
    given = place / "resources"
    return Example(f"stacks/{name}", (ROOT / "components",), (place / "claims",), (given,) if given.exists() else ())


def _is_convertible(klass: Class) -> bool:
    """Whether Crossplane has all that a class has: no native resources, no loops, no conditions."""
    return not any(t.native or t.loop or t.when for t in klass.templates)


STACKS = [stack(name) for name in ("dev", "prod", "showcase")]
DOCUMENTS = [
    folder(f"tests/documents/{n}", platform="platform.yaml", claims="claims.yaml", given="resources.yaml")
    for n in ("000", "001", "002", "003")
]
GOLDEN = [
    folder(f"tests/golden/{c.name}", platform="platform.yaml", claims="claim.yaml", given="resources.yaml")
    for c in GOOD
    if not c.catalog.crossplane.xrds and all(map(_is_convertible, c.catalog.classes.values()))
]
EXAMPLES = [*STACKS, *DOCUMENTS, *GOLDEN]
ROWS = [pytest.param(e, id=e.name) for e in EXAMPLES]


def compared(catalog: Catalog, table: Table) -> tuple[Conversion, list[Pair]]:
    """Both forms of every claim, after an assertion that they make the same; the classes that were compared."""
    plan = planned(catalog, table)
    conversion = convert(catalog, table, [Stack(catalog)])
    platform = Platform.of(conversion)
    bound = [c for c in plan.claims if not c.binding.klass.static]
    found = [pair for c in bound for pair in pairs(c, platform, _converted(platform, c.binding.claim.key))]
    targets = [*candidates_of(found), *(candidate_of_given(g) for g in plan.resources)]
    unsaid = [p.path for p in conversion.unsupported]
    for pair in found:
        assert new(pair, table, targets) == old(pair.planned, unsaid)
        assert pair.klass.name == conversion.names[pair.planned.binding.klass]
        for inner, document in pair.below:
            assert asked(document) == asked_before(inner, asked(document)[0])
    return conversion, found


def _converted(platform: Platform, key: ClaimKey) -> dict[str, Any]:
    """A claim after its conversion, which writes down no namespace that was not written before."""
    return platform.claims.get(key) or platform.claims[ClaimKey(key.group_kind, "", key.name)]


@pytest.mark.parametrize("example", ROWS)
def test_the_claims_beside_a_platform(example: Example) -> None:
    _, found = compared(example.beside, example.table)
    assert found


# A step of another function than those that a stack knows is rendered offline only.
DEPLOYABLE = [e for e in EXAMPLES if "opaque" not in e.name]


@pytest.mark.parametrize("example", [pytest.param(e, id=e.name) for e in DEPLOYABLE])
def test_what_is_converted_is_planned_alike(example: Example) -> None:
    conversion = convert(example.beside, example.table, [Stack(example.beside)])
    again = read_catalog(
        documents(conversion.platform),
        documents(conversion.claims),
        managed=kinds_of(example.table),
        resources=load(example.given, root=ROOT),
    )
    unsaid = [p.path for p in conversion.unsupported]
    wanted = trees(planned(example.beside, example.table), unsaid)
    assert trees(planned(again, example.table)) == wanted
    assert wanted


AGGREGATED_CLAIM = {
    "apiVersion": "database.crossplane.io/v1alpha1",
    "kind": "MySQLInstance",
    "metadata": {"name": "sql", "namespace": "team"},
    "spec": {
        "engineVersion": "5.6",
        "classRef": {
            "apiVersion": "aggregation.crossplane.io/v1alpha1",
            "kind": "AggregateResourceClass",
            "name": "all",
        },
    },
}
TEXT = """\
apiVersion: database.azure.crossplane.io/v1beta1
kind: MySQLServer
metadata:
  labels:
    of: {{ .metadata.namespace }}-{{ $.metadata.name }}
spec:
  forProvider:
    {{- with .spec }}
    version: {{ .version | quote }}
    {{- end }}
    resourceGroupNameSelector:
      matchComposite: true
  writeConnectionSecretsToRef:
    namespace: system
"""
TEMPLATED = class_data(
    "text",
    {"template": {"engine": "go-sprig", "source": {"type": "inline", "inline": TEXT}}},
    {"base": {"apiVersion": "azure.crossplane.io/v1alpha3", "kind": "ResourceGroup", "spec": {}}},
)
NAMED = claim_data("named", classRef=class_ref("text"), version="5.7")
NAMED["metadata"]["annotations"] = {"crossplane.io/external-name": "outside"}


@pytest.mark.parametrize(
    ("platform", "claims"),
    [
        pytest.param([TEMPLATED], [NAMED], id="opaque-template-that-reads-the-claims-name"),
        pytest.param(SHARED, sharing("a", "b"), id="selectors-over-the-whole-stack"),
        *(
            pytest.param(
                aggregate(matchAggregate=True, matchClassRef={"name": name}),
                [AGGREGATED_CLAIM],
                id=f"sibling-of-class-{name}",
            )
            for name in ("one", "two")
        ),
        pytest.param(parsed(DEFINITIONS, STORE, SITE, REDIS, AGGREGATE), parsed(CLAIMS), id="platform-of-all-dialects"),
    ],
)
def test_platforms_of_our_own(platform: list[dict[str, Any]], claims: list[dict[str, Any]]) -> None:
    catalog = read_catalog(
        documents_of(*platform),
        documents_of(*claims, file="claims.yaml"),
        bindable=PROJECT.bindable(),
        managed=kinds_of(PROJECT.table()),
    )
    _, found = compared(catalog, PROJECT.table())
    assert found


# Golden cases have claims for all that they hold; the platforms of all stacks are one.
@pytest.mark.parametrize("example", [pytest.param(e, id=e.name) for e in (STACKS[0], *DOCUMENTS)])
@pytest.mark.parametrize("filled", [True, False], ids=["every-field", "no-field"])
def test_each_class(example: Example, filled: bool) -> None:
    platform = example.catalog([])
    wanted = [c for c in old_classes(platform) if _is_convertible(c) and not _is_refused(c)]
    claims = [claim_for(c, platform, filled=filled) for c in wanted]
    _, found = compared(example.catalog(claims), example.table)
    assert {p.planned.binding.klass.key for p in found} == {c.key for c in wanted}


def _is_refused(klass: Class) -> bool:
    """Whether no claim may bind to a class: document 000 has one with a number that no API server takes."""
    return any(oversized(t.base) for t in klass.templates)


def claim_for(klass: Class, catalog: Catalog, *, filled: bool) -> Document:
    """A claim that names a class, with something in every field that it reads, or in none that need not be there."""
    found = catalog.defined(klass.serves)
    spec: dict[str, Any] = {}
    for path, value in _values(klass, found[0] if found else None, filled=filled):
        fieldpath.put(spec, path[1:], value)
    name = f"{klass.name}-{klass.serves.kind}-{klass.key.group_kind.kind}".lower()
    reference: dict[str, Any] = {"classRef": klass.reference()}
    if found:
        reference = {found[0].injected: {"compositionRef": {"name": klass.name}}}
        secret = {"namespace": "team", "name": name}
        reference[found[0].injected] |= {"writeConnectionSecretToRef": secret} if found[0].connection_details else {}
    metadata: dict[str, Any] = {"name": name, "annotations": {"crossplane.io/external-name": "outside"}}
    metadata |= {"namespace": "team"} if not found or found[0].namespaced else {}
    metadata = metadata if filled else {k: v for k, v in metadata.items() if k != "annotations"}
    data = {
        "apiVersion": klass.claim_api_version,
        "kind": klass.serves.kind,
        "metadata": metadata,
        "spec": {**spec, **reference},
    }
    return Document(data, "claims.yaml")


def _values(klass: Class, definition: Definition | None, *, filled: bool) -> Iterator[tuple[fieldpath.Path, Any]]:
    properties: Mapping[str, Any] = (definition.schema.get("properties") or {}) if definition else {}
    needed = (definition.schema.get("required") or ()) if definition else ()
    for name, schema in properties.items():
        if filled or name in needed:
            yield ("spec", name), (schema.get("enum") or [{"string": "text"}.get(schema["type"], 8)])[0]
    for template in klass.templates:
        for patch in template.patches:
            path = fieldpath.parse(patch.reads[0])
            known = len(path) > 1 and path[1] in properties
            looked_up = any(isinstance(t, MapTransform) for t in patch.transforms[:1])
            if path[0] == "spec" and (filled or patch.required) and (looked_up or not known):
                yield path, _fitting(patch, template)


def _fitting(patch: Patch, template: Template) -> Any:
    """A value that the patch takes, and that is not what the base says already."""
    match patch.transforms:
        case (MapTransform(map=pairs_), *_):
            return next(iter(pairs_))
        case (MathTransform(), *_):
            return 7
        case _:
            pass
    try:
        there = fieldpath.get(template.base, patch.to.replace("[*]", "[0]"))
    except FieldPathError:
        return "text"
    return {bool: True, int: 77, float: 7.5, list: ["x"], dict: {"k": "v"}}.get(type(there), "text")


def test_the_documents_of_files_are_told_apart() -> None:
    for example in DOCUMENTS:
        everything = [*example.documents, *load((*example.claims, *example.given), root=ROOT)]
        platform = [d for d in everything if kinds.is_platform(d, PROJECT.bindable())]
        claims, _ = kinds.claims_among(everything, kinds.claimed_kinds(example.catalog([])))
        assert platform == example.documents
        assert claims == load(example.claims, root=ROOT)
