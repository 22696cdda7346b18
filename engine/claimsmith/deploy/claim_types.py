"""The fields that every claim of a dialect may set beside its own, as types: the bases of generated specs.

Names and choices are plain values, never Outputs: they are needed before anything is registered.
"""

from typing import Any, NotRequired, Required, TypedDict


class ClaimMetadata(TypedDict, total=False):
    """A claim's metadata."""

    name: Required[str]
    namespace: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]


class ObjectRef(TypedDict):
    """A reference to an object."""

    apiVersion: str
    kind: str
    name: str


class CompositionRef(TypedDict):
    """A reference to a composition, or to a revision of one."""

    apiVersion: NotRequired[str]
    kind: NotRequired[str]
    name: str


class LabelExpression(TypedDict):
    """One condition on labels."""

    key: str
    operator: str
    """One of: In, NotIn, Exists, DoesNotExist."""
    values: NotRequired[list[str]]


class LabelSelector(TypedDict, total=False):
    """A selection by labels."""

    matchLabels: dict[str, str]
    matchExpressions: list[LabelExpression]


class SecretRef(TypedDict):
    """A Secret in the claim's own namespace."""

    name: str


class SecretPlaceRef(TypedDict):
    """A Secret in any namespace."""

    namespace: NotRequired[str]
    name: str


class ClaimSpec(TypedDict):
    """The fields that every claim of a resource class may set."""

    classRef: NotRequired[ObjectRef]
    classSelector: NotRequired[LabelSelector]
    resourceRef: NotRequired[ObjectRef]
    writeConnectionSecretToRef: NotRequired[SecretRef]


class ApplicationChoice(TypedDict):
    """How an instance of an application definition is composed."""

    compositionRef: NotRequired[CompositionRef]
    compositionSelector: NotRequired[LabelSelector]
    composedRefs: NotRequired[list[dict[str, Any]]]


class InfrastructureChoice(TypedDict):
    """How an instance of an infrastructure definition is composed, and what becomes of it."""

    compositionRef: NotRequired[CompositionRef]
    compositionSelector: NotRequired[LabelSelector]
    composedRefs: NotRequired[list[dict[str, Any]]]
    requirementRef: NotRequired[dict[str, Any]]
    reclaimPolicy: NotRequired[str]
    """One of: Delete, Retain."""
    writeConnectionSecretToRef: NotRequired[SecretPlaceRef]


class RequirementChoice(TypedDict):
    """How what is required is composed, or which existing one is meant."""

    compositionRef: NotRequired[CompositionRef]
    compositionSelector: NotRequired[LabelSelector]
    resourceRef: NotRequired[ObjectRef]
    writeConnectionSecretToRef: NotRequired[SecretRef]


class ApplicationSpec(TypedDict):
    """The fields that every instance of an application definition may set."""

    application: NotRequired[ApplicationChoice]


class InfrastructureSpec(TypedDict):
    """The fields that every instance of an infrastructure definition may set."""

    infrastructure: NotRequired[InfrastructureChoice]


class RequirementSpec(TypedDict):
    """The fields that every requirement may set."""

    infrastructure: NotRequired[RequirementChoice]


class CompositionChoice(TypedDict):
    """How a composite is composed."""

    compositionRef: NotRequired[CompositionRef]
    compositionSelector: NotRequired[LabelSelector]
    compositionRevisionRef: NotRequired[CompositionRef]
    compositionRevisionSelector: NotRequired[LabelSelector]
    compositionUpdatePolicy: NotRequired[str]
    """One of: Automatic, Manual."""
    resourceRefs: NotRequired[list[dict[str, Any]]]


class CompositeSpec(TypedDict):
    """The fields that every composite of Crossplane v1 may set."""

    compositionRef: NotRequired[CompositionRef]
    compositionSelector: NotRequired[LabelSelector]
    compositionRevisionRef: NotRequired[CompositionRef]
    compositionRevisionSelector: NotRequired[LabelSelector]
    compositionUpdatePolicy: NotRequired[str]
    """One of: Automatic, Manual."""
    compositeDeletePolicy: NotRequired[str]
    """One of: Background, Foreground."""
    claimRef: NotRequired[dict[str, Any]]
    resourceRefs: NotRequired[list[dict[str, Any]]]
    publishConnectionDetailsTo: NotRequired[dict[str, Any]]
    writeConnectionSecretToRef: NotRequired[SecretPlaceRef]


class CompositeClaimSpec(TypedDict):
    """The fields that every claim of Crossplane v1 may set."""

    compositionRef: NotRequired[CompositionRef]
    compositionSelector: NotRequired[LabelSelector]
    compositionRevisionRef: NotRequired[CompositionRef]
    compositionRevisionSelector: NotRequired[LabelSelector]
    compositionUpdatePolicy: NotRequired[str]
    """One of: Automatic, Manual."""
    compositeDeletePolicy: NotRequired[str]
    """One of: Background, Foreground."""
    resourceRef: NotRequired[dict[str, Any]]
    publishConnectionDetailsTo: NotRequired[dict[str, Any]]
    writeConnectionSecretToRef: NotRequired[SecretRef]


class CrossplaneSpec(TypedDict):
    """The fields that every composite of Crossplane v2 may set."""

    crossplane: NotRequired[CompositionChoice]
