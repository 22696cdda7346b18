"""What a component publishes to its claimant: connection Secrets, filled with the details of its children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pulumi

from claimsmith.compose.connections import Connection, SecretSource, connections_of, secret_document
from claimsmith.compose.options import FIELD_MANAGER, field_manager
from claimsmith.deploy import secrets
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.deploy.served import ClassRef
from claimsmith.deploy.values import pruned
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.klass import SecretDestination
from claimsmith.dialects.crossplane.xrd import SECRET_NAMESPACE
from claimsmith.patching import details as connection_details

if TYPE_CHECKING:
    from claimsmith.deploy.context import Context


class PublishedConnections(pulumi.ComponentResource):
    """The part of a component that publishes connection details."""

    if TYPE_CHECKING:
        # Not at runtime: Pulumi's analyzer of components takes annotations for outputs.
        CLASS: ClassRef
        claim: Identity
        details: pulumi.Output[dict[str, str]] | None
        _context: Context
        _args: dict[str, Any]
        _address: str
        _keys: list[str] | None
        _secrets: list[Connection]
        _secret_resources: list[KubernetesObject]
        _secret_by_default: bool

        @property
        def _in_cluster(self) -> bool: ...

    def publish_details(self, details: Mapping[str, Any]) -> None:
        """Publish these values as the connection details of the claim, each of them as a secret."""
        self.publish_connection(details=details)

    def publish_connection(
        self,
        *sources: secrets.Source,
        details: Mapping[str, Any] | None = None,
        place: Mapping[str, str] | None = None,
        patched: Mapping[str, Any] | None = None,
    ) -> None:
        """Merge the children's connection Secrets into the Secrets that the claim and its class ask for.

        `details` are others, by their values. `place` is where the class writes the Secret of a composite that names
        none, and `patched` its patches.
        """
        present = [found for source in sources if (found := secrets.source_of(source))]
        values = secrets.published(self._address, details or {}, only=self.CLASS.connection_keys)
        requested = self._requested_secret() if place is None else None
        if place is not None and (present or values):
            requested = self._composed_secret(place, patched or {})
        self._secrets = connections_of(self.claim, requested, [p for p, _ in present], only=self.CLASS.connection_keys)
        if not present and not values:
            # The API server stores an empty Secret without data: it would differ for ever.
            self._secrets = []
        # A program of one's own may have no cluster, and does not say so: without an object in one, and where nobody
        # named a Secret, there is none.
        unasked = self._secret_by_default and self._context.cluster is None and not self._in_cluster
        if unasked or not self._context.has_cluster:
            # There is nothing that a Secret could be written to: an output has the details.
            self._secrets = []
        if not self._secrets and not values:
            return
        later_wins = self.claim.dialect.lenient_details
        wanted = self._secrets[-1] if self._secrets else None
        self._publish(wanted, present, values, later_wins=later_wins)

    def _publish(
        self,
        wanted: Connection | None,
        sources: Sequence[tuple[SecretSource, Any]],
        values: Mapping[str, pulumi.Output[str]] | None = None,
        *,
        later_wins: bool = False,
    ) -> None:
        """Register the Secrets of the claim, with the details of its sources as data."""
        values = values or {}
        data: Any = values
        if sources:
            data = secrets.united(
                self._context, self._address, wanted, sources, values, parent=self, later_wins=later_wins
            )
        self.details = secrets.secret_once_known(data)
        self._keys = None if sources else sorted(values)
        for secret in self._secrets:
            word = "connection" if secret is self._secrets[-1] else "composite-connection"
            self._secret_resources.append(self._secret(secret, word, sources, data))

    def _composed_secret(self, place: Mapping[str, str], patched: Mapping[str, Any]) -> tuple[str, str]:
        """Namespace and name of the Secret that the class composes for a composite which names none."""
        name, namespace = connection_details.secret_destination(
            self._args, SecretDestination(place.get("name", ""), place.get("namespace", ""))
        )
        secret = {"name": name, "namespace": namespace, **(pruned(dict(patched)) if patched else {})}
        return str(secret["namespace"] or self.claim.namespace), str(secret["name"])

    def _requested_secret(self) -> tuple[str, str] | None:
        """Namespace and name of the Secret that the claim asks for, wherever its dialect writes that."""
        infrastructure = self._args["spec"].get("infrastructure")
        spec = infrastructure if isinstance(infrastructure, dict) else self._args["spec"]
        requested = spec.get("writeConnectionSecretToRef")
        usual = self.claim.namespace or self.CLASS.secret_namespace or SECRET_NAMESPACE
        return (requested.get("namespace") or usual, requested["name"]) if requested else None

    def _secret(
        self, secret: Connection, word: str, sources: Sequence[tuple[SecretSource, Any]], data: Any
    ) -> KubernetesObject:
        self._context.connections[secret.namespace, secret.name] = self.details
        document = {**secret_document(self.claim, secret), "data": secrets.stored(data) if sources else data}
        children = [child for _, child in sources]
        # The API server never changes the type of a Secret: one that is taken over keeps its own, and is not replaced.
        return self._write(
            word,
            document,
            depends_on=children,
            ignore_changes=["type"],
            additional_secret_outputs=["data", "stringData"],
        )

    def _write(
        self, word: str, document: dict[str, Any], *, depends_on: Sequence[Any] = (), **options: Any
    ) -> KubernetesObject:
        """Register an object of ours that is no child: a record, or a connection Secret."""
        document["metadata"]["annotations"][FIELD_MANAGER] = field_manager(self.claim.project, self.claim.stack)
        self._context.refuse_twice(document, self, self._context.provider)
        needs = [*depends_on, *self._context.needs(document)]
        opts = pulumi.ResourceOptions(parent=self, provider=self._context.provider, depends_on=needs, **options)
        return KubernetesObject(f"{self._name}/{word}", document, opts)
