"""The keys of connection Secrets: today's compositions list each, where the older dialects pass on all there are.

What a kind of resource writes is not known, but what it serves is: each portable kind of claim has keys that its
applications rely on. Where nothing is known, all keys are listed that the providers' runtime has a name for.
"""

from __future__ import annotations

from claimsmith.models.bindable import Bindable
from claimsmith.models.objects import GroupKind

ALL = ("username", "password", "endpoint", "port", "clusterCA", "clientCert", "clientKey", "token", "kubeconfig")
_DATABASE = ("username", "password", "endpoint", "port")
_CLUSTER = ("username", "password", "endpoint", "clusterCA", "clientCert", "clientKey", "kubeconfig")
_RELIED_ON = {
    "MySQLInstance.database.crossplane.io": _DATABASE,
    "PostgreSQLInstance.database.crossplane.io": _DATABASE,
    "RedisCluster.cache.crossplane.io": ("password", "endpoint", "port"),
    "KubernetesCluster.compute.crossplane.io": _CLUSTER,
    "Bucket.storage.crossplane.io": ("username", "password", "endpoint"),
}


def keys_of(kind: GroupKind, bindable: Bindable) -> tuple[str, ...]:
    """The keys to list for a kind of resource."""
    if bindable.is_cluster(kind):
        return _CLUSTER
    claims = [str(claim) for claim in bindable.claims_for(kind)]
    return next((_RELIED_ON[claim] for claim in claims if claim in _RELIED_ON), ALL)
