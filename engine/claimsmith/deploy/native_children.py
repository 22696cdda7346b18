"""What a component offers to its native children: their names, their options, and the settings of the stack.

A generated component passes both to the constructors of the providers' SDKs. The constructed resource is a child like
any other from then on: its claim waits for it, lists it, and selectors find it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import pulumi

from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import DeployError, Problem, at
from claimsmith.base.names import ChildAddress
from claimsmith.compose.native_children import TagProperty, native_tags
from claimsmith.compose.options import RECLAIM
from claimsmith.compose.references import Candidate
from claimsmith.deploy.native import NativeChild, Timeouts, aliases_of, constructed_by, imported_id, timeouts_of
from claimsmith.deploy.values import is_output
from claimsmith.dialects.common.dialect import Identity
from claimsmith.providers import tokens

if TYPE_CHECKING:
    from claimsmith.deploy.context import Context


class NativeChildren(pulumi.ComponentResource):
    """The part of a component that serves its native children."""

    if TYPE_CHECKING:
        # Not at runtime: Pulumi's analyzer of components takes annotations for outputs.
        claim: Identity
        _context: Context
        _children: list[Any]

    def child_name(self, template: str) -> str:
        """The name of a native child for the engine: no slashes, since providers derive physical names from it."""
        return tokens.child_name(self.claim.namespace, self.claim.name, template)

    def child_options(
        self,
        template: str,
        *,
        provider: str | None = None,
        previous_name: str | None = None,
        known_as: Sequence[tuple[str, str]] = (),
        aliases: Sequence[str] = (),
        protect: bool | None = None,
        retain: bool | None = None,
        delete_before_replace: bool | None = None,
        depends_on: Sequence[pulumi.Resource | None] = (),
        ignore_changes: Sequence[str] = (),
        replace_on_changes: Sequence[str] = (),
        additional_secret_outputs: Sequence[str] = (),
        timeout: Timeouts | None = None,
        import_id: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> pulumi.ResourceOptions:
        """The options of a native child: those of its template, and what its claim and its class ask for.

        `provider` is one of the stack's providers by its name, `previous_name` the template that the child was created
        from before, `known_as` are others with the types that it had, and `labels` are those by which selectors find
        it. Properties have Pulumi's own names here.
        """
        child = NativeChild(self.child_name(template), template, labels or {})
        child.kept = self._retained(retain)
        self._children.append(child)
        before = [*([(previous_name, "")] if previous_name else []), *known_as]
        return pulumi.ResourceOptions(
            parent=self,
            provider=self._named_provider(template, provider),
            # None, and not an empty list: the SDK (3.272) has less to merge and to await for each child.
            aliases=aliases_of([(self.child_name(name), type_) for name, type_ in before], aliases) or None,
            # None, and not False: a resource takes `protect` from its parent only if it has none itself (SDK 3.272).
            protect=protect or self.claim.protect or None,
            retain_on_delete=child.kept or None,
            delete_before_replace=delete_before_replace,
            depends_on=[resource for resource in depends_on if resource is not None] if depends_on else None,
            ignore_changes=list(ignore_changes) or None,
            replace_on_changes=list(replace_on_changes) or None,
            additional_secret_outputs=list(additional_secret_outputs) or None,
            custom_timeouts=timeouts_of(timeout),
            import_=import_id or imported_id(self.claim.given_annotations, template),
        )

    @overload
    def external_name(self, own: pulumi.Input[str]) -> pulumi.Input[str]: ...
    @overload
    def external_name(self, own: pulumi.Input[str] | None = None) -> pulumi.Input[str] | None: ...
    def external_name(self, own: pulumi.Input[str] | None = None) -> pulumi.Input[str] | None:
        """The physical name of a native child: the external name of the claim, else its own."""
        return self.claim.external_name or own

    def claim_tags(self, own: Any = None) -> Any:
        """The tags of a native child: those that name its claim, and its own."""
        return self._tagged("tags", own)

    def claim_labels(self, own: Any = None) -> Any:
        """The labels of a native child, as Google Cloud takes them: those that name its claim, and its own."""
        return self._tagged("labels", own)

    def _tagged(self, where: TagProperty, own: Any) -> Any:
        tags = native_tags(self.claim, where)
        if isinstance(own, pulumi.Output):
            return own.apply(lambda known: {**tags, **(known or {})})
        return {**tags, **(own if own is not None and own is not ABSENT else {})}

    def config(self, name: str) -> Any:
        """A setting of the stack, like `postgresql:host`, or of a named provider, `main:host`; an Output if secret."""
        if name in self._context.provider_settings:
            return self._context.provider_settings[name]
        namespace, _, key = name.rpartition(":")
        settings = pulumi.Config(namespace or None)
        if settings.get(key) is None:
            what = f"{self.claim.key}: the stack has no setting {name!r}, which its connection details need"
            raise DeployError(Problem(what, fix=f"run: pulumi config set {name} …"))
        secret = pulumi.runtime.config.is_config_secret(settings.full_key(key))
        return settings.require_secret(key) if secret else settings.require(key)

    def _named_provider(self, template: str, name: Any) -> pulumi.ProviderResource | None:
        if name is None:
            return None
        with at(None, prefix=f"{self.claim.key}, child {template!r}: "):
            if is_output(name):
                what = "the name of its provider is an Output, and the engine must know it at once"
                raise DeployError(Problem(what, fix="pass it as a text"))
            return self._context.native_provider(name)

    def _retained(self, retain: bool | None) -> bool:
        """Whether a child stays when it leaves the stack: the policy of an instance rules all that it composes."""
        policy = self.claim.reclaim_policy
        return bool(retain) if policy is None else RECLAIM.get(policy, False)

    def _add_natives(self) -> None:
        """Add the native children that were constructed, as candidates of selectors."""
        natives = [child for child in self._children if isinstance(child, NativeChild)]
        if not natives:
            return
        constructed = constructed_by(self)
        key = self.claim.key
        parent = str(key)
        for child in natives:
            child.resource = constructed.get(child.name)
            if child.resource:
                address = ChildAddress(key, child.template)
                target = Candidate(address, child.group_kind, child.labels, parent, template=child.template)
                self._context.add(target, child)
