"""What is converted, rendered: claims become composites as in Crossplane, and these are composed offline.

Both forms are reduced to what a class says of a child: `old` and `new` leave out what each dialect's engine writes
by itself. Old: the generated name; the labels and references by which a child knows its claim, composite or aggregate,
and its class; the prefix of its Secret's keys, which is in the names of the connection details there. New:
`generateName`, owner references, the labels of composite, claim and class, the annotation with the template's name. A
reference to a sibling is compared by the sibling's template, and a Secret that is named after its resource by that
fact, since the names themselves are generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith import render
from claimsmith.base import fieldpath
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.labels import CLAIM_LABELS
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.values import Ref, mapped, object_at
from claimsmith.compose import references
from claimsmith.compose.drafts import Child
from claimsmith.compose.expand import expand
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.planning import build_plan
from claimsmith.compose.references import Candidate, Selection, Table
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.crossplane import composition, xrd
from claimsmith.dialects.crossplane.xrd import Xrd
from claimsmith.dialects.definitions.dialect import REQUIREMENTS
from claimsmith.functions import pipeline
from claimsmith.platform.catalog import Catalog
from claimsmith.project.project import Project
from claimsmith.tools.convert import Conversion, Converted, paths
from tests.support.paths import ROOT

PROJECT = Project(ROOT)
PARENTS = ("claimRef", "classRef", "compositeRef", "aggregateRef")
OWN = (
    *CLAIM_LABELS,
    *("crossplane.io/composite", "crossplane.io/claim-name", "crossplane.io/claim-namespace"),
    "claimsmith.io/parent-uid",
    *("claimsmith.io/class", pipeline.RESOURCE_NAME, "aggregation.crossplane.io/connection-secret-prefix"),
)
NOT_THE_CLASSES = ("name", "generateName", "ownerReferences")
GENERATED = "<generated>"

Children = dict[str, dict[str, Any]]


def documents(converted: tuple[Converted, ...]) -> list[Document]:
    """The documents as they are read again from their text."""
    return [d for c in converted for d in read_documents(render.yaml_text(c.document), file=c.file)]


@dataclass(frozen=True)
class Platform:
    """Definitions and Crossplane compositions."""

    xrds: Mapping[GroupKind, Xrd]
    compositions: Mapping[str, Class]
    claims: Mapping[ClaimKey, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, conversion: Conversion) -> Platform:
        read = documents(conversion.platform)
        xrds = [xrd.read(d) for d in read if xrd.is_definition(d)]
        compositions = [composition.read(d) for d in read if composition.is_composition(d)]
        assert len(xrds) + len(compositions) == len(read)
        assert [warning for _, warnings in compositions for warning in warnings] == []
        claims = {_key(d.data): d.data for d in documents(conversion.claims)}
        return cls({x.kind: x for x in xrds}, {c.name: c for c, _ in compositions}, claims)

    def composite(self, document: dict[str, Any], planned: PlannedClaim) -> dict[str, Any]:
        """The composite of a claim, as the core makes it; or the document itself, where it is a composite."""
        kind = GroupKind.of(document)
        name = {"name": planned.identity.composite_name, "uid": planned.identity.uid}
        if kind in self.xrds:
            return self._defaulted({**document, "metadata": {**document["metadata"], **name}})
        definition = next(x for x in self.xrds.values() if x.claim == kind)
        metadata, spec = object_at(document, "metadata"), object_at(document, "spec")
        namespace = metadata.get("namespace", "default")
        labels = {"crossplane.io/claim-name": metadata["name"], "crossplane.io/claim-namespace": namespace}
        kept = {k: v for k, v in spec.items() if k != "writeConnectionSecretToRef"}
        claim = {"apiVersion": document["apiVersion"], "kind": kind.kind, "namespace": namespace}
        version = next(iter(self.compositions_for(definition.kind))).claim_api_version
        made = {
            "apiVersion": version,
            "kind": definition.kind.kind,
            "metadata": {
                **name,
                "labels": {**object_at(metadata, "labels"), **labels},
                **({"annotations": metadata["annotations"]} if metadata.get("annotations") else {}),
            },
            "spec": {**kept, "claimRef": {**claim, "name": metadata["name"]}},
        }
        return self._defaulted(made)

    def compositions_for(self, kind: GroupKind) -> list[Class]:
        return [c for c in self.compositions.values() if c.serves == kind]

    def chosen(self, composite: dict[str, Any]) -> Class:
        """The one composition that serves a composite: enforced, named, selected, or the default."""
        definition = self.xrds[GroupKind.of(composite)]
        spec = composite["spec"]
        words = object_at(spec, "crossplane") if definition.modern else spec
        named = definition.enforced_composition or object_at(words, "compositionRef").get("name")
        if not named and "compositionSelector" in words:
            labels = words["compositionSelector"]["matchLabels"]
            found = [
                c
                for c in self.compositions_for(definition.kind)
                if all(c.labels.get(k) == v for k, v in labels.items())
            ]
            [one] = found
            return one
        return self.compositions[named or str(definition.default_composition)]

    def _defaulted(self, composite: dict[str, Any]) -> dict[str, Any]:
        return self.xrds[GroupKind.of(composite)].defaulted(Document(composite, "composite.yaml"))


@dataclass(frozen=True)
class Pair:
    """A claim or composite of the plan, with the composition that serves it there and what that makes."""

    planned: PlannedClaim
    klass: Class
    children: Children
    below: Sequence[tuple[PlannedClaim, dict[str, Any]]] = ()
    """Composites that it is made of, which are claims again, each as the composition makes it."""


def pairs(planned: PlannedClaim, platform: Platform, document: dict[str, Any]) -> Iterator[Pair]:
    """A claim of the plan and all composites below it, each with its counterpart."""
    if planned.binding.klass.dialect is REQUIREMENTS:
        # There, a claim's composite is made by the core, not by a composition.
        [inner] = planned.nested
        yield from pairs(inner, platform, document)
        return
    composite = platform.composite(document, planned)
    klass = platform.chosen(composite)
    rendered = pipeline.render(klass, composite)
    children = {d["metadata"]["annotations"][pipeline.RESOURCE_NAME]: d for d in rendered.composed}
    below = [(inner, children.pop(inner.template)) for inner in planned.nested]
    yield Pair(planned, klass, children, below)
    for inner, made in below:
        metadata = {**made["metadata"], "name": inner.binding.claim.key.name}
        yield from pairs(inner, platform, {**made, "metadata": metadata})


def candidates_of(found: Sequence[Pair]) -> list[Candidate]:
    """What selectors may pick, under the addresses that the plan has for them."""
    return [
        Candidate(f"{p.planned.address}/{n}", GroupKind.of(d), d["metadata"]["labels"], p.planned.address, template=n)
        for p in found
        for n, d in p.children.items()
    ]


def old(planned: PlannedClaim, unsaid: Sequence[str] = ()) -> Children:
    """A claim's children as the plan has them; `unsaid` are the places in the class of what could not be said."""
    made: Children = {}
    for child in planned.children:
        if f"{child.template.at}.template" in unsaid:
            continue
        document = mapped(child.document, lambda leaf: f"<{leaf.resource}>" if isinstance(leaf, Ref) else leaf)
        for patch in child.template.patches:
            if patch.at in unsaid:
                fieldpath.delete(document, patch.to)
        made[child.template.name] = _bare(document, secret=child.name)
    return made


def new(pair: Pair, table: Table, targets: Sequence[Candidate]) -> Children:
    """The same children as the converted composition makes them, with selectors followed as the plan follows them."""
    made: Children = {}
    for name, document in pair.children.items():
        own = next(t for t in targets if t.address == f"{pair.planned.address}/{name}")

        def picked(selection: Selection, own: Candidate = own) -> dict[str, str]:
            return {"name": f"<{references.pick(selection, own=own, candidates=targets).address}>"}

        followed = references.replace_selectors(document, table, picked)
        made[name] = _bare(followed, secret=f"{pair.planned.identity.uid}-{name}")
    return made


def asked(document: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """What a composite within another asks for, in Crossplane: its own fields, and its Secret's name."""
    spec = object_at(document, "spec")
    own = {k: v for k, v in spec.items() if k not in (*paths.TAKEN, "crossplane")}
    return own, object_at(spec, "writeConnectionSecretToRef").get("name")


def asked_before(planned: PlannedClaim, fields: Iterable[str]) -> tuple[dict[str, Any], str | None]:
    """The same as the plan has it, without the defaults that are filled in there already."""
    claim = planned.binding.claim
    return {k: claim.data["spec"].get(k) for k in fields}, claim.secret_name


def _bare(document: dict[str, Any], *, secret: str) -> dict[str, Any]:
    """A child without what its engine writes by itself; `secret` is the name that its engine gives its Secret."""
    metadata = {k: v for k, v in document["metadata"].items() if k not in NOT_THE_CLASSES}
    for key in ("labels", "annotations"):
        metadata[key] = {k: v for k, v in (metadata.get(key) or {}).items() if k not in OWN}
    spec = {k: v for k, v in (document.get("spec") or {}).items() if k not in PARENTS}
    place = spec.get("writeConnectionSecretToRef") or {}
    if place.get("name") == secret:
        spec["writeConnectionSecretToRef"] = {**place, "name": GENERATED}
    return {**document, "metadata": metadata, "spec": spec}


def trees(plan: Plan, unsaid: Sequence[str] = ()) -> dict[str, Any]:
    """What each claim of a plan is made of, level by level, whichever dialect the plan is of.

    A level that only stands for what is asked for (a requirement, a Crossplane claim) is passed over. What
    another resource or uid gives is named by the way to it, since names and uids are generated.
    """
    roots = {str(c.binding.claim.key): _asked_for(c) for c in plan.claims if not c.binding.klass.static}
    ways = {f"{p.address}/{c.template.name}": w for k, r in roots.items() for w, p, c in _ways(r, k)}
    return {key: _tree(root, ways, unsaid) for key, root in roots.items()}


def _asked_for(planned: PlannedClaim) -> PlannedClaim:
    while planned.binding.klass.dialect.publishing:
        [planned] = planned.nested
    return planned


def _ways(planned: PlannedClaim, way: str) -> Iterator[tuple[str, PlannedClaim, Child]]:
    yield from ((f"{way}/{c.template.name}", planned, c) for c in planned.children)
    for inner in planned.nested:
        yield from _ways(_asked_for(inner), f"{way}/{inner.template}")


def _tree(planned: PlannedClaim, ways: Mapping[str, str], unsaid: Sequence[str]) -> dict[str, Any]:
    def readable(leaf: Any) -> Any:
        if isinstance(leaf, Ref):
            return f"<{ways.get(leaf.resource, leaf.resource)}>"
        return leaf.replace(planned.identity.uid, "<uid>") if isinstance(leaf, str) else leaf

    made: dict[str, Any] = {}
    for child in planned.children:
        name = child.template.name
        document = mapped(child.document, readable)
        for patch in child.template.patches:
            if patch.at in unsaid:
                fieldpath.delete(document, patch.to)
        secret = f"<uid>-{name}" if planned.binding.klass.steps else child.name
        made[name] = _without_idle(_bare(document, secret=secret))
    return made | {inner.template: _tree(_asked_for(inner), ways, unsaid) for inner in planned.nested}


def _without_idle(value: Any) -> Any:
    """The document without selectors beside a reference, which wins over them: Crossplane keeps them."""
    match value:
        case dict():
            idle = {k for k in value if k.endswith("Selector") and f"{k.removesuffix('Selector')}Ref" in value}
            return {k: _without_idle(v) for k, v in value.items() if k not in idle}
        case list():
            return [_without_idle(item) for item in value]
        case _:
            return value


def _key(data: Mapping[str, Any]) -> ClaimKey:
    metadata = data["metadata"]
    return ClaimKey(GroupKind.of(dict(data)), str(metadata.get("namespace", "")), metadata["name"])


def planned(catalog: Catalog, table: Table) -> Plan:
    """The plan of a catalog with nothing recorded, in whichever format its classes are."""
    expansion = expand(catalog, [], project="shop", stack="dev", scopes=PROJECT.scopes(catalog))
    return build_plan(expansion, project="shop", stack="dev", table=table, given=PROJECT.given(catalog))
