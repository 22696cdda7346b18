"""The objects that claimsmith adds for a claim: connection Secrets, records, the mark on a resource that it holds.

Their fields come from no base and no patch. Of a Secret only the keys are shown, never a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import Source
from claimsmith.base.labels import OWNER
from claimsmith.compose.cluster_records import records_of, reference
from claimsmith.compose.connections import secret_document
from claimsmith.compose.drafts import Child, claim_data
from claimsmith.compose.options import FIELD_MANAGER, WAIT_FOR, engine_annotations
from claimsmith.tools.drift.changes import MASKED
from claimsmith.tools.explain.children import SecretSource, Step, explain_secrets
from claimsmith.tools.explain.facts import Place, document_of, value_at

_PURPOSES = {
    OWNER: "written by claimsmith: the owner, so that no other claim writes it",
    FIELD_MANAGER: "written by claimsmith: who manages our fields, always the same",
    WAIT_FOR: "what the engine waits for",
}


@dataclass(frozen=True, slots=True)
class AddedObject:
    """An object that is written for a claim, and that no template composes."""

    here: Place
    word: str
    document: dict[str, Any]
    by: str
    what: str
    sources: tuple[SecretSource, ...] | None = None
    """Where a Secret's keys come from; None for what is no Secret."""

    @property
    def urn(self) -> str:
        """What the engine calls it."""
        return self.here.urn(self.document, self.word, patch=self.word == "hold")

    def steps(self, path: fieldpath.Path) -> Iterator[Step]:
        """Where a field comes from."""
        claim = self.here.draft.binding.claim.document
        if self.sources is not None and path[:1] == ("data",):
            yield from self._keys(str(path[1]) if len(path) > 1 else None)
            return
        value = value_at(self.document, path)
        if value is not ABSENT:
            yield Step(self.by, self.what, value, claim.source_of(path))

    def _keys(self, key: str | None) -> Iterator[Step]:
        for source in self.sources or ():
            where = self._place(source)
            origin = f"Secret {source.secret} of {source.child} ({source.kind})"
            if source.keys is None:
                own = key.removeprefix(source.prefix) if key and key.startswith(source.prefix) else None
                which = f"the key {own!r}, where there is one," if own else "every key"
                if own or key is None:
                    yield Step("secret", f"{which} of the {origin}", MASKED, where)
                continue
            for index, (name, original) in enumerate(source.keys):
                if key in (None, f"{source.prefix}{name}"):
                    detail = self._place(source, f".connectionDetails[{index}]")
                    yield Step("secret", f"{source.prefix}{name}: the key {original!r} of the {origin}", MASKED, detail)

    def _place(self, source: SecretSource, within: str = "") -> Source | None:
        templates = {t.name: t for t in self.here.draft.templates}
        template = templates.get(source.child)
        return document_of(self.here, template).source_of(f"{template.at}{within}") if template else None


def added_objects(here: Place) -> Iterator[AddedObject]:
    """The objects that are written for one claim or composite beside its children."""
    planned, draft = here.planned, here.draft
    klass = draft.binding.klass
    secrets = planned.connections if planned else ()
    for secret, explained in zip(secrets, explain_secrets(here), strict=True):
        word = "connection" if secret is secrets[-1] else "composite-connection"
        document = secret_document(draft.identity, secret)
        yield AddedObject(here, word, document, "identity", "written by claimsmith for the claim", explained.sources)
    if klass.static:
        head = {key: klass.static[key] for key in ("apiVersion", "kind")}
        document = {
            **head,
            "metadata": {"name": klass.static["name"]},
            "spec": {"claimRef": {**draft.identity.claim_reference(), "uid": draft.identity.uid}},
        }
        yield AddedObject(here, "hold", document, "identity", "marks the existing resource as held by the claim")
    if here.facts.keeps_records:
        yield from _records(here)


def _records(here: Place) -> Iterator[AddedObject]:
    draft, planned = here.draft, here.planned
    references = [reference(child.document) for child in draft.children]
    references += [dict(inner.identity.claim_reference()) for inner in draft.nested]
    if draft.binding.klass.static:
        references = [dict(draft.binding.klass.static)]
    secrets = planned.connections if planned else ()
    for word, document in records_of(draft.identity, claim_data(draft.binding), references, secrets):
        yield AddedObject(here, word, document, "record", "written by claimsmith as a record of the claim")


def engine_annotations_of(child: Child, here: Place) -> Mapping[str, tuple[str, str]]:
    """The annotations that the engine and its provider read, each with its value and what it is for."""
    annotations = engine_annotations(child.options, here.draft.identity)
    return {key: (text, _PURPOSES[key]) for key, text in annotations.items()}
