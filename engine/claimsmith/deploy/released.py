"""Composites whose claims were removed: their records stay, and are marked as released."""

from __future__ import annotations

import pulumi

from claimsmith.compose.cluster_records import released_record
from claimsmith.compose.options import FIELD_MANAGER, field_manager
from claimsmith.compose.released import Released
from claimsmith.deploy.context import Context
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.providers.tokens import component_type


class ReleasedComposite(pulumi.ComponentResource):
    """The record that is left of a claim, under the name that its component had."""

    def __init__(self, released: Released, context: Context) -> None:
        identity = released.identity
        super().__init__(component_type(identity.key.group_kind), released.component_name, {})
        document = released_record(identity, released.resources)
        document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(identity.project, identity.stack)
        opts = pulumi.ResourceOptions(parent=self, provider=context.provider, retain_on_delete=True)
        KubernetesObject(f"{released.component_name}/composite", document, opts)
        self.register_outputs({})
