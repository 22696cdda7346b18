"""Claims for existing native resources: the resource is read through its provider's SDK, and never owned.

The engine reads it in every run and keeps what it read. It updates nothing, and deletes nothing when the claim ends.
"""

from __future__ import annotations

import importlib
from functools import partial, reduce
from typing import Any

import pulumi

from claimsmith.base import fieldpath
from claimsmith.base.errors import DeployError, Problem, at, suggest
from claimsmith.base.names import GET
from claimsmith.base.values import object_at
from claimsmith.compose.drafts import Child
from claimsmith.compose.plan import PlannedClaim
from claimsmith.deploy.component import Composite
from claimsmith.deploy.native import NativeChild
from claimsmith.deploy.served import ClaimKind, ClassRef
from claimsmith.dialects.common.klass import Detail
from claimsmith.dialects.common.native import OPTIONS, OUTPUTS
from claimsmith.project import sdks
from claimsmith.providers.outputs import Attribute, Element, UnknownOutput, way_to
from claimsmith.providers.resource_types import ResourceType
from claimsmith.providers.tokens import Token


class ReadingClaim(Composite):
    """A claim for an existing native resource."""

    READ: Child

    def _begin(self) -> None:
        child = self.READ
        with at(None, prefix=f"{self.claim.key}, child {child.template.name!r}: "):
            kind = _type(str(child.document["type"]))
            resource = _class(kind).get(child.name, child.document[GET]["id"], opts=self._options(child))
            details = {d.name: self._detail(d, resource, kind) for d in child.template.details or ()}
        [read] = (c for c in self._children if isinstance(c, NativeChild))
        read.existing, read.resource = True, resource
        # Nothing is published of a resource that could not be read.
        self.publish_details({name: read.ready.apply(partial(_second, value)) for name, value in details.items()})

    def _options(self, child: Child) -> pulumi.ResourceOptions:
        options = object_at(child.document, OPTIONS)
        opts = self.child_options(
            child.template.name,
            provider=options.get("provider"),
            additional_secret_outputs=options.get("additionalSecretOutputs", ()),
            labels=object_at(object_at(child.document, "metadata"), "labels"),
        )
        # What is not owned is neither kept nor protected by us: the engine only forgets it.
        opts.protect = opts.retain_on_delete = None
        return opts

    def _detail(self, detail: Detail, resource: pulumi.CustomResource, kind: ResourceType) -> Any:
        if detail.config is not None:
            return self.config(detail.config)
        if detail.value is not None:
            return detail.value
        return _output(resource, detail.field_path or "", kind)


def reading_component(planned: PlannedClaim) -> type[Composite]:
    """The component of a claim that names an existing native resource."""
    klass, claim = planned.binding.klass, planned.binding.claim
    [child] = planned.children
    members = {
        "CLAIM": ClaimKind(claim.api_version, claim.key.group_kind.kind),
        "CLASS": ClassRef(klass.api_version, klass.key.group_kind.kind, klass.name, bound_by=klass.dialect.bound_by),
        "READ": child,
    }
    return type("ReadingClaim", (ReadingClaim,), members)


def _type(token: str) -> ResourceType:
    sdk = sdks.index_of(Token.parse(token).package)
    kind = sdk.resource(token)
    if kind is None:
        raise DeployError(sdk.unknown(token))
    return kind


def _class(kind: ResourceType) -> Any:
    """The class of a type in its SDK."""
    module = importlib.import_module(".".join(filter(None, (kind.import_name, kind.module))))
    return getattr(module, kind.python_class)


def _output(resource: pulumi.CustomResource, path: str, kind: ResourceType) -> Any:
    """An output of a resource, by its path in a class."""
    _, *steps = fieldpath.parse(path)
    try:
        way = list(way_to(tuple(steps), kind, sdks.index_of(Token.parse(kind.token).package)))
    except UnknownOutput as error:
        what = f"{kind.token} has no output {path.removeprefix(f'{OUTPUTS}.')!r}"
        raise DeployError(Problem(what, fix=suggest(error.step, error.known))) from None
    return reduce(_step, way, resource)


def _second(value: Any, _: object) -> Any:
    return value


def _step(value: Any, step: Attribute | Element) -> Any:
    return getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
