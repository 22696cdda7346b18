"""The only package that imports `pulumi`: the vocabulary of generated components, and the program of a stack."""

import warnings
from typing import Any

from claimsmith.base.absent import ABSENT as _ABSENT
from claimsmith.base.merge import MergePolicy
from claimsmith.deploy.claim_types import (
    ApplicationSpec,
    ClaimMetadata,
    ClaimSpec,
    CompositeClaimSpec,
    CompositeSpec,
    CrossplaneSpec,
    InfrastructureSpec,
    RequirementSpec,
)
from claimsmith.deploy.component import Composite
from claimsmith.deploy.context import Context
from claimsmith.deploy.crossplane_composite import CrossplaneComposite
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.deploy.secrets import from_field, from_value
from claimsmith.deploy.served import ClaimKind, ClassRef
from claimsmith.deploy.values import (
    adler32,
    clamp_max,
    clamp_min,
    converted,
    default,
    field,
    formatted,
    from_base64,
    joined,
    lookup,
    matched,
    multiply,
    optional,
    present,
    regexp,
    replaced,
    require,
    sha1,
    sha256,
    sha512,
    to_base64,
    to_json,
    to_lower,
    to_upper,
    trim_prefix,
    trim_suffix,
    unless,
    write,
)
from claimsmith.dialects.common.dialect import BoundBy

__all__ = [
    "ApplicationSpec",
    "BoundBy",
    "ClaimKind",
    "ClaimMetadata",
    "ClaimSpec",
    "ClassRef",
    "Composite",
    "CompositeClaimSpec",
    "CompositeSpec",
    "Context",
    "CrossplaneComposite",
    "CrossplaneSpec",
    "InfrastructureSpec",
    "KubernetesObject",
    "MergePolicy",
    "RequirementSpec",
    "adler32",
    "clamp_max",
    "clamp_min",
    "converted",
    "default",
    "field",
    "formatted",
    "from_base64",
    "from_field",
    "from_value",
    "joined",
    "lookup",
    "matched",
    "multiply",
    "optional",
    "present",
    "regexp",
    "replaced",
    "require",
    "sha1",
    "sha256",
    "sha512",
    "to_base64",
    "to_json",
    "to_lower",
    "to_upper",
    "trim_prefix",
    "trim_suffix",
    "unless",
    "write",
]

RENAMED: dict[str, tuple[str, Any]] = {
    "ABSENT": ("field", _ABSENT),
    "Composition": ("CrossplaneComposite", CrossplaneComposite),
    "Managed": ("KubernetesObject", KubernetesObject),
    "first": ("default", default),
    "read": ("field", field),
}
"""Names that components of 0.1 import, each with its new name. They work until 0.3, with a warning."""


def __getattr__(name: str) -> Any:
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new, value = RENAMED[name]
    what = f"claimsmith.deploy.{name} is deprecated: use {new} (claimsmith generate writes it)"
    warnings.warn(what, DeprecationWarning, stacklevel=2)
    return value
