"""The built-in table of which kinds of claim are served by which kinds of resource, and the kinds in it."""

from __future__ import annotations

from importlib import resources
from typing import Any

from claimsmith.base.documents import read_documents
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.bindable import Bindable, read_bindable
from tests.support.samples import documents_of

REDIS = GroupKind.parse("RedisCluster.cache.crossplane.io")
MYSQL = GroupKind.parse("MySQLInstance.database.crossplane.io")
POSTGRES = GroupKind.parse("PostgreSQLInstance.database.crossplane.io")
CLUSTER = GroupKind.parse("KubernetesCluster.compute.crossplane.io")
BUCKET = GroupKind.parse("Bucket.storage.crossplane.io")


def built_in(*more: dict[str, Any]) -> Bindable:
    """The built-in table, with more documents of its form."""
    text = resources.files("claimsmith").joinpath("data/bindable.yaml").read_text(encoding="utf-8")
    return read_bindable([*read_documents(text, file="bindable.yaml"), *documents_of(*more, file="own.yaml")])
