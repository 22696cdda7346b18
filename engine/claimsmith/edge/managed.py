"""A Kubernetes object of any kind as a Pulumi resource.

pulumi-kubernetes' own CustomResource knows neither core kinds nor a status, so this is a small
class of our own: the whole document goes in, metadata, spec and status come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from claimsmith.edge.provider import import_id, provider_version
from claimsmith.urns import resource_type


class Managed(pulumi.CustomResource):
    """One object in the cluster, or with `patch` some fields of one that somebody else owns.

    Its URN outlives its class: the type comes from its kind, the name from claim and template.
    """

    kept = False
    """Whether it stays in the cluster when it leaves the stack."""
    existing = False
    """Whether it is only read: it was there before the stack, and stays after it."""
    metadata: pulumi.Output[Any]
    spec: pulumi.Output[Any]
    status: pulumi.Output[Any]

    def __init__(
        self, resource_name: str, document: Mapping[str, Any], opts: pulumi.ResourceOptions, *, patch: bool = False
    ) -> None:
        self.document = document
        self.existing = opts.id is not None
        self.template = resource_name.rpartition("/")[2]
        # What is taken over is imported: creating would be refused, or with older providers merge in silence.
        owned = not patch and opts.id is None
        taken = import_id(opts.provider, document) if owned else None
        whole = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=provider_version(), import_=taken))
        token = resource_type(document) + ("Patch" if patch else "")
        super().__init__(token, resource_name, {"status": None, **document}, whole)

    @property
    def ready(self) -> pulumi.Output[str]:
        """Something that is known once it was created and became ready.

        Where it was created and did not become ready, and the engine goes on with the others, Pulumi's SDK 3.255 lets
        all outputs fail; 3.272 resolves the id all the same, and every other output as unknown. Of what is only read, a
        preview with 3.272 knows not even the id, and whatever waits for that would seem to change.
        """
        if self.existing:
            return self.urn
        return pulumi.Output.all(self.id, self.metadata).apply(lambda both: str(both[0]))

    @property
    def name(self) -> pulumi.Output[str]:
        """The object's name in the cluster: whoever uses it is made after it."""
        return self.metadata.apply(lambda metadata: str(metadata["name"]))
