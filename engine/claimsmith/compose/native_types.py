"""What the SDKs of the providers declare of tags and physical names, for the native children of a plan."""

from __future__ import annotations

from collections.abc import Callable

from claimsmith.base.errors import ProviderError
from claimsmith.compose.native_children import NativeTypes, TagProperty
from claimsmith.providers.index import Index
from claimsmith.providers.resource_types import AnyType, MapOf, ResourceType, Scalar
from claimsmith.providers.tokens import Token

Sdks = Callable[[str], Index]
"""The index of a provider's SDK, by the name of its package."""
NAMES = {
    "aws:elasticache/cluster:Cluster": "clusterId",
    "aws:elasticache/replicationGroup:ReplicationGroup": "replicationGroupId",
    "aws:rds/cluster:Cluster": "clusterIdentifier",
    "aws:rds/clusterInstance:ClusterInstance": "identifier",
    "aws:rds/instance:Instance": "identifier",
    "aws:redshift/cluster:Cluster": "clusterIdentifier",
    "aws:s3/bucket:Bucket": "bucket",
    "aws:s3/bucketV2:BucketV2": "bucket",
    "aws:s3/directoryBucket:DirectoryBucket": "bucket",
    "azure-native:storage:StorageAccount": "accountName",
    "gcp:organizations/project:Project": "projectId",
    "gcp:serviceaccount/account:Account": "accountId",
    "postgresql:index/extension:Extension": "",
}
"""The types whose physical name the rule does not find, or whose `name` selects something that exists already."""


def native_types(sdks: Sdks) -> NativeTypes:
    """What is known of types by their SDKs; of those that are not installed, nothing."""

    def tags(token: str) -> TagProperty:
        kind = _type(sdks, token)
        return tag_property(kind) if kind else ""

    def name(token: str) -> str:
        kind = _type(sdks, token)
        return name_property(kind) if kind else ""

    return NativeTypes(tags, name)


def tag_property(kind: ResourceType) -> TagProperty:
    """The property of a type that takes tags as a map of texts; empty where it has none."""
    found: tuple[TagProperty, ...] = ("tags", "labels")
    return next((name for name in found if name in kind.inputs and _is_map(kind, name)), "")


def name_property(kind: ResourceType) -> str:
    """The property that is the physical name: `name`, else `<kind>Name`; empty where the type has none that is known.

    Of Azure's types, which have no `name`, the second is the rule: `resourceGroupName` of a ResourceGroup.
    """
    usual = f"{kind.python_class[:1].lower()}{kind.python_class[1:]}Name"
    listed = [NAMES[kind.token]] if kind.token in NAMES else ["name", usual]
    return next((n for n in listed if n in kind.inputs and kind.inputs[n].type == Scalar("string")), "")


def _is_map(kind: ResourceType, name: str) -> bool:
    declared = kind.inputs[name].type
    return isinstance(declared, MapOf) and declared.item in (Scalar("string"), AnyType())


def _type(sdks: Sdks, token: str) -> ResourceType | None:
    try:
        return sdks(Token.parse(token).package).resource(token)
    except ProviderError:
        return None
