"""Composites whose claims are gone: their record stays, and says so."""

from __future__ import annotations

import pulumi

from claimsmith.compose.options import FIELD_MANAGER, field_manager
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.records import released_record
from claimsmith.released import Released
from claimsmith.urns import component_type


class ReleasedComposite(pulumi.ComponentResource):
    """What is left of a claim, under the name that its component had."""

    def __init__(self, released: Released, deployment: Deployment) -> None:
        identity = released.identity
        super().__init__(component_type(identity.key.group_kind), released.component_name, {})
        document = released_record(identity, released.resources)
        document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(identity.project, identity.stack)
        opts = pulumi.ResourceOptions(parent=self, provider=deployment.provider, retain_on_delete=True)
        Managed(f"{released.component_name}/composite", document, opts)
        self.register_outputs({})
