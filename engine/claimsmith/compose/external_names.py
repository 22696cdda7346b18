"""External and physical names: what resources are called outside the stack, and that no claim takes another's.

A managed resource is known to its provider by its external name: the annotation, or its own name where there is none.
Whoever gives a resource the external name of another one gets that other one, with its connection details. So a name
that a claim chooses must not be the name of anything of that kind that belongs to somebody else. A name that is written
in a class is the platform's doing: names below a parent (a rule of a server) are rightly equal for all its claims.

A native resource has one of its properties as its physical name. Its provider refuses to create a second one of that
name, or takes it for the first. Names are compared within a stack only: another stack has its own accounts and servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, Source
from claimsmith.base.labels import EXTERNAL_NAME
from claimsmith.base.names import GroupKind
from claimsmith.base.values import is_later, known, object_at, value_at
from claimsmith.compose.drafts import Child
from claimsmith.compose.plan import GivenResource, Plan, PlannedClaim
from claimsmith.dialects.common.klass import Side
from claimsmith.dialects.common.native import OPTIONS, PROPERTIES

Key = tuple[GroupKind | str, ...]
NameOf = Callable[[str], str]
"""The property of a native type that is its physical name; empty where it is unknown."""
_OTHER_NAME = "choose another name; stacks on different clusters say so: claimsmith:kubeconfig or claimsmith:context"
_PARENTS = (
    *("account", "api", "bucket", "cluster", "database", "function", "group", "instance", "namespace", "network"),
    *("parent", "policy", "project", "queue", "resourceGroup", "restApi", "role", "schema", "server", "table", "topic"),
    *("user", "vpc", "workspace", "zone"),
)
_SCOPES = ("location", "region", *(f"{word}{ending}" for word in _PARENTS for ending in ("", "Id", "Name")))
"""The properties that say where a name is unique: a schema `app` may be in every database."""


@dataclass(frozen=True, slots=True)
class Named:
    """An object with the name that it has outside the cluster."""

    stack: str
    claim: str
    """The address of the claim at the root: what belongs to one claim may share a name."""
    address: str
    kind: GroupKind
    name: str
    chosen: bool
    """Whether the claim chose the name; else the class did, or it is generated."""
    where: Source
    place: tuple[str, ...] = ()
    """Where the name of a native resource is unique: provider, and what its properties tell."""
    path: str = f"metadata.annotations[{EXTERNAL_NAME}]"
    """The field of the claim that the name comes from."""


def external_name(child: Child) -> str | None:
    """The name of a child outside the cluster, as far as it is known before it exists."""
    given = object_at(child.document["metadata"], "annotations").get(EXTERNAL_NAME, child.name)
    return given if isinstance(given, str) else None


def names(plan: Plan) -> list[Named]:
    """Every managed resource of a plan by its external name, and what the stack's files give as it is."""
    given = [_given(plan.stack, resource) for resource in plan.resources]
    children = [
        found
        for root in plan.claims
        for claim in root.walk()
        for child in claim.children
        if child.template.managed and not child.template.native and (found := _named(plan.stack, root, child))
    ]
    return [*children, *given]


def physical_names(plan: Plan, name_of: NameOf) -> list[Named]:
    """Every native resource of a plan whose physical name is known before it exists."""
    return [
        found
        for root in plan.claims
        for claim in root.walk()
        for child in claim.children
        if child.template.native and (found := _physical(plan.stack, root, claim, child, name_of))
    ]


def taken(mine: Iterable[Named], others: Iterable[Named]) -> Iterator[Problem]:
    """One problem for each name that a claim chose and that belongs to another claim, here or in another stack."""
    named: dict[Key, list[Named]] = {}
    own = list(mine)
    for found in (*own, *others):
        named.setdefault(_outside(found), []).append(found)
    for name in own:
        other = next((o for o in named[_outside(name)] if _conflict(name, o)), None)
        if name.chosen and other:
            whose = other.claim if other.stack == name.stack else f"{other.claim} of the stack {other.stack!r}"
            word, fix = "external", _OTHER_NAME
            if name.place:
                word, fix = "physical", "choose another name, or leave it to the provider"
            what = f"{name.address} would get the {word} name {name.name!r}, which {other.address} has: it is {whose}'s"
            yield Problem(what, name.where, name.path, fix, rule="external-name-taken")


def _outside(named: Named) -> Key:
    """What an object is outside the cluster, as far as names tell: many providers know no upper case.

    A kind in namespaces and its twin at cluster scope, whose group lacks `.m.`, are one kind there.
    """
    if named.place:
        return named.kind, named.name, *named.place
    kind = GroupKind(named.kind.group.replace(".m.", ".", 1), named.kind.kind)
    return kind, named.name.casefold()


def _given(stack: str, resource: GivenResource) -> Named:
    annotations = object_at(object_at(resource.document, "metadata"), "annotations")
    name = str(annotations.get(EXTERNAL_NAME, resource.key.name))
    address = resource.address
    return Named(stack, "the platform", address, resource.key.group_kind, name, chosen=False, where=Source(""))


def _conflict(name: Named, other: Named) -> bool:
    return (name.stack, name.claim) != (other.stack, other.claim)


def _named(stack: str, root: PlannedClaim, child: Child) -> Named | None:
    name = external_name(child)
    if name is None:
        return None
    written = object_at(object_at(child.template.base, "metadata"), "annotations").get(EXTERNAL_NAME)
    chosen = name not in (child.name, written)
    where = root.binding.claim.document.source_of(("metadata", "annotations", EXTERNAL_NAME)) if chosen else Source("")
    return Named(stack, root.address, child.address, child.template.group_kind, name, chosen, where)


def physical_name(child: Child, name_of: NameOf) -> tuple[str, str]:
    """The property of a native child that is its physical name, and the name; empty where it is unknown."""
    property_ = name_of(str(child.document["type"]))
    name = _certain(object_at(child.document, PROPERTIES).get(property_)) if property_ else None
    return (property_, name) if isinstance(name, str) else ("", "")


def scope_of(child: Child) -> tuple[str, ...]:
    """Where the physical name of a native child is unique, as far as its properties tell."""
    properties = object_at(child.document, PROPERTIES)
    # Not as a reader sees it: the fields of two resources that do not exist yet are two values.
    scope = (f"{key}={_certain(properties[key]) or properties[key]!r}" for key in _SCOPES if key in properties)
    return f"provider={object_at(child.document, OPTIONS).get('provider', '')}", *scope


def origin_of(claim: PlannedClaim, child: Child, property_: str) -> tuple[Source, str]:
    """The field of the claim that a physical name comes from; its own name where the class decides."""
    document, template = claim.binding.claim.document, child.template
    annotation: fieldpath.Path = ("metadata", "annotations", EXTERNAL_NAME)
    name = object_at(child.document, PROPERTIES)[property_]
    if claim.identity.dialect.passes_external_name and value_at(document.data, annotation) == name:
        return document.source_of(annotation), f"metadata.annotations[{EXTERNAL_NAME}]"
    patches = [p for p in template.patches if p.target is Side.resource and p.to == f"{PROPERTIES}.{property_}"]
    reads = [path for patch in patches for path in patch.reads if path.startswith(("metadata.", "spec."))]
    read = reads[0] if reads else "metadata.name"
    return document.source_of(read), read


def _physical(stack: str, root: PlannedClaim, claim: PlannedClaim, child: Child, name_of: NameOf) -> Named | None:
    property_, name = physical_name(child, name_of)
    if not name:
        return None
    base = object_at(child.template.base, PROPERTIES).get(property_)
    annotated = object_at(object_at(child.template.base, "metadata"), "annotations").get(EXTERNAL_NAME)
    where, path = origin_of(claim, child, property_)
    kind, chosen = child.template.group_kind, name not in (base, annotated)
    return Named(stack, root.address, child.address, kind, name, chosen, where, scope_of(child), path)


def _certain(value: Any) -> Any:
    return known(value) if is_later(value) else value
