"""Which kinds the reference fields of managed resources point to, by the conventions of their definitions.

Providers give a field `vpcId` two others beside it: `vpcIdRef` names another managed resource, `vpcIdSelector` selects
one. Definitions that upjet generates name the target in the description of both. Otherwise the field's own name does:
`vpcId` is the id of a VPC of the same provider. Only kinds that are defined count as targets, and no field that two of
them fit. A field for a list, with `…Refs` beside it, is left to its controller: its selector means all that match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.kubernetes import crds

References = dict[GroupKind, dict[str, tuple[GroupKind, ...]]]

_SELECTOR, _REF = "Selector", "Ref"
_DESCRIBED = re.compile(r"(?:Reference to|Selector for) an? (\w+) in (\w+) to populate")
_WHAT = re.compile(r"(?:Ids?|ID|IDs|Arns?|ARN|ARNs|Names?)$")


def reference_fields(definitions: Iterable[Mapping[str, Any]]) -> References:
    """The reference fields of each kind that the definitions of managed resources have, with what they point to."""
    managed = [crd for crd in definitions if crds.is_managed(dict(crd))]
    kinds = sorted({crds.kind_of(crd) for crd in managed}, key=str)
    found: References = {}
    for crd in managed:
        owner = crds.kind_of(crd)
        for name, described in _fields_of(crd):
            targets = _described(described, owner, kinds) or _by_name(name, owner, kinds)
            if len(targets) == 1:
                found.setdefault(owner, {})[name] = tuple(targets)
    return found


def is_reference(name: str) -> bool:
    """Whether a field of this name may hold a reference or a selector."""
    return name.endswith((_REF, f"{_REF}s", _SELECTOR))


def _fields_of(crd: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The reference fields of a definition, without `Ref` or `Selector`, each with what is written about it."""
    for version in object_at(crd, "spec").get("versions") or ():
        schema = object_at(object_at(version, "schema"), "openAPIV3Schema")
        yield from _fields(object_at(object_at(schema, "properties"), "spec"))


def _fields(schema: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping):
        return
    properties = object_at(schema, "properties")
    for key, inner in properties.items():
        name = key.removesuffix(_SELECTOR)
        selects = "matchControllerRef" in object_at(inner, "properties") if isinstance(inner, Mapping) else False
        if key.endswith(_SELECTOR) and selects:
            ref = properties.get(f"{name}{_REF}")
            if isinstance(ref, Mapping):
                yield name, f"{ref.get('description', '')} {inner.get('description', '')}"
        else:
            yield from _fields(inner)
    yield from _fields(schema.get("items"))


def _described(text: str, owner: GroupKind, kinds: Iterable[GroupKind]) -> list[GroupKind]:
    match = _DESCRIBED.search(text)
    if match is None:
        return []
    kind, service = match.groups()
    return [k for k in _family(owner, kinds) if k.kind == kind and k.group.partition(".")[0] == service]


def _by_name(name: str, owner: GroupKind, kinds: Iterable[GroupKind]) -> list[GroupKind]:
    """`vpcId` is that of a VPC, `kmsKeyArn` that of a Key of the service kms; the owner's own service comes first."""
    word = _WHAT.sub("", name).lower()
    fitting = [
        k for k in _family(owner, kinds) if word in (k.kind.lower(), f"{k.group.partition('.')[0]}{k.kind.lower()}")
    ]
    return [k for k in fitting if k.group == owner.group] or fitting


def _family(owner: GroupKind, kinds: Iterable[GroupKind]) -> list[GroupKind]:
    """The kinds of the same provider: `ec2.aws.upbound.io` and `s3.aws.upbound.io`, not `s3.aws.m.upbound.io`."""
    return [k for k in kinds if _provider(k.group) == _provider(owner.group)]


def _provider(group: str) -> tuple[str, ...]:
    labels = group.split(".")
    namespaced = labels[-3:-2] == ["m"]
    return tuple(labels[-4:] if namespaced else labels[-3:])
