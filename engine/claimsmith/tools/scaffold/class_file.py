"""A new class as YAML, to be filled in: what it serves, what it makes, and how its parts find each other.

Takes names, the reference table and the types of native resources, gives text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from claimsmith.base.errors import LoadError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.compose.references import Table
from claimsmith.tools.scaffold import native_resource
from claimsmith.tools.scaffold.claim_file import flow
from claimsmith.tools.scaffold.native_resource import Native

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_API = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind in a version of its group."""

    api_version: str
    kind: str

    @property
    def group_kind(self) -> GroupKind:
        """The kind, whatever its version."""
        return GroupKind.of({"apiVersion": self.api_version, "kind": self.kind})

    @classmethod
    def parse(cls, text: str) -> Kind:
        """What `group/version/Kind`, or `version/Kind` for Kubernetes' own, names."""
        api_version, _, kind = text.rpartition("/")
        if not _KIND.fullmatch(kind) or not _API.fullmatch(api_version):
            fix = "write it as group/version/Kind, as in platform.example.org/v1alpha1/Database"
            raise LoadError(Problem(f"{text!r} is no kind", fix=fix))
        return cls(api_version, kind)


@dataclass(frozen=True, slots=True)
class NewClass:
    """What is known of a class before it is written."""

    name: str
    claim: Kind
    makes: Sequence[Kind | Native]
    labels: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    default: bool = False

    def __post_init__(self) -> None:
        if not _LABEL.fullmatch(self.name) or len(self.name) > 63:
            fix = "use small letters, digits and dashes, 63 at most"
            raise LoadError(Problem(f"{self.name!r} is no name for a class", fix=fix))
        if not self.makes:
            raise LoadError(
                Problem("the class makes nothing", fix="add --makes group/version/Kind, or package:module:Type")
            )


def class_text(new: NewClass, table: Table) -> str:
    """The class's file. Parts that refer to each other do so by selectors, where the table knows the fields."""
    return "\n".join([*_head(new), *_resources(new, table)]) + "\n"


def _head(new: NewClass) -> Iterator[str]:
    yield "apiVersion: infrastructure.crossplane.io/v1alpha1"
    yield "kind: CompositeResourceClass"
    yield f"metadata:\n  name: {new.name}"
    if new.labels:
        yield "  labels:"
        yield from (f"    {flow(k)}: {flow(v)}" for k, v in new.labels.items())
    if new.description or new.default:
        yield "  annotations:"
    if new.description:
        yield f"    claimsmith.io/description: {flow(new.description)}"
    if new.default:
        yield '    resourceclass.crossplane.io/is-default-class: "true"'
    yield f"spec:\n  claim:\n    apiVersion: {new.claim.api_version}\n    kind: {new.claim.kind}"
    yield "  resources:"


def _resources(new: NewClass, table: Table) -> Iterator[str]:
    natives = [made for made in new.makes if isinstance(made, Native)]
    names = iter(native_resource.names_of(natives))
    for made in new.makes:
        if isinstance(made, Native):
            others = [other for other in natives if other is not made]
            yield from native_resource.resource_lines(made, next(names), others)
        else:
            yield from _resource(new, made, table)


def _resource(new: NewClass, kind: Kind, table: Table) -> Iterator[str]:
    yield f"  - base:\n      apiVersion: {kind.api_version}\n      kind: {kind.kind}\n      spec:"
    selectors = _selectors(new, kind, table)
    deep = "alpha" not in kind.api_version
    yield "        # The provider's fields: those that are the same for every claim."
    if deep:
        yield "        forProvider:" if selectors else "        forProvider: {}"
    indent = "          " if deep else "        "
    yield from (f"{indent}{name}Selector:\n{indent}  matchComposite: true" for name in selectors)
    yield "        providerRef:\n          name: example\n        reclaimPolicy: Delete"
    yield "    # patches:"
    yield "    # - fromClaimFieldPath: spec.region"
    yield f"    #   toResourceFieldPath: spec.{'forProvider.' if deep else ''}region"


def _selectors(new: NewClass, kind: Kind, table: Table) -> list[str]:
    """The fields by which a part refers to others of the class."""
    others = {k.group_kind for k in new.makes if isinstance(k, Kind) and k is not kind}
    return [name for name, kinds in table.get(kind.group_kind, {}).items() if others & set(kinds)]
