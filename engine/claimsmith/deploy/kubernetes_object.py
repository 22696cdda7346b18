"""A Kubernetes object of any kind as a Pulumi resource, and the options with which the engine treats it.

The CustomResource of pulumi-kubernetes (4.25) has neither core kinds nor a status, so this is a small class of our own:
the whole document goes in; metadata, spec and status come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pulumi

from claimsmith.compose.options import Options, engine_annotations
from claimsmith.deploy.provider import import_id, provider_version
from claimsmith.dialects.common.dialect import Identity
from claimsmith.providers.tokens import resource_type


class KubernetesObject(pulumi.CustomResource):
    """One object in the cluster, or with `patch` some fields of one that somebody else owns.

    Its URN outlives its class: the type comes from its kind, the name from claim and template.
    """

    kept = False
    """Whether it stays in the cluster when it leaves the stack."""
    existing = False
    """Whether it is only read: it existed before the stack, and stays after it."""
    if TYPE_CHECKING:
        # The SDK (3.272) evaluates the annotations of a resource's class again for each resource. All of these are Any,
        # which it treats as no annotation at all.
        metadata: pulumi.Output[Any]
        spec: pulumi.Output[Any]
        status: pulumi.Output[Any]

    def __init__(
        self, resource_name: str, document: Mapping[str, Any], opts: pulumi.ResourceOptions, *, patch: bool = False
    ) -> None:
        self.document = document
        self.existing = opts.id is not None
        self.template = _template_of(resource_name, opts.parent)
        # What is taken over is imported: a create is refused, or merges without notice with providers before 4.29.
        owned = not patch and opts.id is None
        taken = import_id(opts.provider, document) if owned else None
        whole = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=provider_version(), import_=taken))
        token = resource_type(document) + ("Patch" if patch else "")
        # The SDK resolves only those outputs that are among the inputs, so the status must be one.
        super().__init__(token, resource_name, {"status": None, **document}, whole)

    @cached_property
    def ready(self) -> pulumi.Output[str]:
        """An output that is known once the object is created and ready.

        If the object is created and does not become ready, and the engine goes on with the others, all outputs fail
        with SDK 3.255; with 3.272 the id is known, and every other output is unknown. For an object that is only read,
        not even the id is known in a preview with 3.272: whatever depends on it would be shown as changed.
        """
        if self.existing:
            return self.urn
        # Not by Output.all, which lifts every nested value of what it joins: only that the metadata is known counts.
        return self.metadata.apply(lambda _: self.id)

    @property
    def name(self) -> pulumi.Output[str]:
        """The object's name in the cluster. A resource that uses it is created after this one."""
        return self.metadata.apply(lambda metadata: str(metadata["name"]))


def _template_of(name: str, parent: pulumi.Resource | None) -> str:
    """The template's name in the name of a resource: it follows that of the component, and may have slashes itself."""
    prefix = f"{parent._name}/" if parent else ""
    return name.removeprefix(prefix) if prefix and name.startswith(prefix) else name.rpartition("/")[2]


def engine_document(document: Mapping[str, Any], options: Options, identity: Identity) -> dict[str, Any]:
    """The document with the annotations that the engine and its Kubernetes provider read."""
    metadata = document["metadata"]
    annotations = {**metadata.get("annotations", {}), **engine_annotations(options, identity)}
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def resource_options(
    options: Options, *, parent: pulumi.Resource, provider: Any, **more: Any
) -> pulumi.ResourceOptions:
    """A child's options as Pulumi takes them, with others beside them."""
    return pulumi.ResourceOptions(
        parent=parent,
        provider=provider,
        retain_on_delete=options.retain or None,
        # None, and not False: a resource takes `protect` from its parent only if it has none itself (SDK 3.272).
        protect=options.protect or None,
        ignore_changes=list(options.ignore_changes),
        custom_timeouts=pulumi.CustomTimeouts(create=options.timeout, update=options.timeout, delete=options.timeout),
        **more,
    )


def aliases(
    component: str,
    kind: str,
    previous_name: str | None,
    previous_api_version: str = "",
    known_as: Sequence[tuple[str, str]] = (),
) -> list[pulumi.Alias]:
    """What the state may hold a child as: under another template's name, of another apiVersion, or both.

    Each combination is an alias of its own: Pulumi fills in the parts that an alias leaves out from the resource as it
    is now, not from the other aliases. `known_as` are other templates that it was, each with its apiVersion,
    empty where that is as it is now.
    """
    name = {"name": f"{component}/{previous_name}"} if previous_name else {}
    type_ = {"type_": resource_type({"apiVersion": previous_api_version, "kind": kind})} if previous_api_version else {}
    own = [parts for parts in (name, type_, {**name, **type_} if name and type_ else {}) if parts]
    others = [
        {"name": f"{component}/{template}"}
        | ({"type_": resource_type({"apiVersion": version, "kind": kind})} if version else {})
        for template, version in known_as
    ]
    return [pulumi.Alias(**parts) for parts in (*own, *others)]
