"""Reads `connectionDetails` of classes: where each detail of a claim comes from."""

from __future__ import annotations

from collections.abc import Sequence

from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError
from claimsmith.base.model import Model
from claimsmith.dialects.common.klass import Detail


class NamedDetail(Model):
    """`connectionDetails` of a class: a key of the child's Secret, a field, a fixed text, or a setting of the stack."""

    name: str | None = None
    from_connection_secret_key: str | None = None
    from_field_path: str | None = None
    from_resource: str | None = None
    from_config: str | None = None
    value: str | None = None

    def detail(self, document: Document, at: str) -> Detail:
        """The detail as a class keeps it; one with no source, or with two, is refused."""
        key, config = self.from_connection_secret_key, self.from_config
        sources = {
            "fromConnectionSecretKey": key,
            "fromFieldPath": self.from_field_path,
            "fromConfig": config,
            "value": self.value,
        }
        given = [word for word, value in sources.items() if value is not None]
        if len(given) != 1:
            what = f"a connection detail has {' and '.join(given) if given else 'no source'}"
            raise ModelError(document.problem(what, at, f"keep one of: {', '.join(sources)}"))
        if self.from_resource is not None and given[0] in ("fromConfig", "value"):
            what = f"a connection detail with {given[0]} comes from no resource"
            raise ModelError(document.problem(what, f"{at}.fromResource", "remove it"))
        name = self.name or key
        if not name:
            raise ModelError(document.problem("a connection detail has no name", at, "add name:"))
        return Detail(name, key or "", self.from_field_path, self.value, self.from_resource, config)


def details_of(
    listed: Sequence[NamedDetail] | None, document: Document, at: str, *, native: bool
) -> tuple[Detail, ...] | None:
    """The connection details of a template; None, every key of its Secret, where a Kubernetes object lists none."""
    if listed is None:
        return () if native else None
    return tuple(d.detail(document, f"{at}.connectionDetails[{i}]") for i, d in enumerate(listed))
