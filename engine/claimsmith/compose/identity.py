"""Who a claim is, and who its children are: names, labels, external names and references to the parent.

Pure functions over documents. Both the offline plan and a generated component build the identity of a claim with
`identity_of` and put each child through `dress`, so there is one meaning of identity. A deployed resource must never
change its identity: the engine would delete the object under its old name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from claimsmith.base.labels import ADOPT, EXTERNAL_NAME, PROTECT
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.dialects.common.dialect import Dialect, Identity, Naming


class _BoundClass(Protocol):
    """What the identity of a claim takes from its class, as it is read or as a generated component names it."""

    @property
    def dialect(self) -> Dialect: ...
    @property
    def namespaced(self) -> bool | None: ...
    @property
    def secret_namespace(self) -> str | None: ...
    @property
    def protect(self) -> bool: ...
    def reference(self) -> dict[str, Any]: ...


def identity_of(
    key: ClaimKey, claim: Mapping[str, Any], klass: _BoundClass, *, project: str, stack: str, uid: str
) -> Identity:
    """The identity of a bound claim; `claim` is its document."""
    metadata = claim.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    infrastructure = (claim.get("spec") or {}).get("infrastructure")
    policy = infrastructure.get("reclaimPolicy") if isinstance(infrastructure, Mapping) else None
    return Identity(
        project=project,
        stack=stack,
        api_version=claim["apiVersion"],
        kind=key.group_kind.kind,
        namespace=key.namespace,
        name=key.name,
        uid=uid,
        external_name=annotations.get(EXTERNAL_NAME),
        class_ref=klass.reference(),
        dialect=klass.dialect,
        namespaced=klass.namespaced,
        secret_namespace=klass.secret_namespace,
        reclaim_policy=policy if klass.dialect.one_reclaim_policy and not klass.namespaced else None,
        protect=klass.protect or annotations.get(PROTECT) == "true",
        given_labels=metadata.get("labels") or {},
        given_annotations=annotations,
    )


def is_adopting(document: Mapping[str, Any]) -> bool:
    """Whether a document asks to take over an existing object of its name, whoever created it."""
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    return bool(annotations.get(ADOPT) == "true")


def joined(*parts: str) -> str:
    """The parts of an external name as one."""
    return "".join(map(str, parts))


def dress(
    document: Mapping[str, Any],
    template: str,
    identity: Identity,
    *,
    class_ref: Mapping[str, Any] | None = None,
    named_after: str | None = None,
    composite: bool = False,
    join: Callable[..., Any] = joined,
) -> dict[str, Any]:
    """The document with its generated name, labels, external name and the reference to its parent.

    `class_ref` is the child's own class, where that is not the claim's. `named_after` is the template that its name is
    derived from, where that is not its own template. A `composite` is composed in turn. `join` joins the parts of
    an external name, of which one may be an Output. A kind of Kubernetes itself has no field for the reference, and
    the API server refuses an unknown one: its labels alone name the claim.
    """
    dialect = identity.dialect
    metadata = dialect.metadata(document, identity, Naming(template, named_after or template, composite, join))
    rest = {k: v for k, v in document.items() if k not in ("apiVersion", "kind", "metadata")}
    unbound = GroupKind.of(document).built_in and not composite
    spec = None if unbound else dialect.bound(rest.get("spec"), metadata["name"], identity, class_ref)
    if spec is not None:
        rest = {"spec": spec, **{k: v for k, v in rest.items() if k != "spec"}}
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata, **rest}
