"""`bindings.yaml`: the record of bindings as text, and back. Reviewed like a lock file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import Field

from claimsmith.binding import Record, derive_uid
from claimsmith.documents import Document, read_documents
from claimsmith.errors import BindingError, Collector, LoadError, Problem, Source
from claimsmith.models.base import Model
from claimsmith.models.objects import ClaimKey, ClassKey
from claimsmith.models.parse import parse
from claimsmith.yaml_text import text_of

HEAD = """\
# The class that serves each claim, chosen once and kept.
# Written by: claimsmith bind {stack}. Review it like a lock file; do not edit it by hand.
"""


class _Binding(Model):
    claim: str = Field(pattern=r"^[^/]+(/[^/]+){1,2}$")
    uid: str = Field(min_length=1)
    class_: str = Field(alias="class", pattern=r"^[^/]+/[^/]+$")
    reason: str
    digest: str = Field(pattern="^sha256:[0-9a-f]{64}$")
    previous_class: str | None = Field(None, pattern=r"^[^/]+/[^/]+$")
    released: bool = False
    picks: dict[str, str] | None = None
    """None where all of its lines were dropped."""
    stack: str = Field("", pattern=r"^[A-Za-z0-9_.-]*$")


class _File(Model):
    api_version: str = Field(pattern="^claimsmith.io/v1alpha1$")
    kind: str = Field(pattern="^Bindings$")
    uids_from: str = Field("", pattern=r"^([^/]+/[^/]+)?$")
    bindings: tuple[_Binding, ...] = Field((), strict=False)


def read(text: str, *, file: str, origin: str = "") -> list[Record]:
    """The records in the text of a bindings file. One that is broken is refused with its line, never guessed at.

    `origin` is the project and stack that uids are derived from where the file does not name them.
    """
    return list(_read(text, file, origin))


def origin_of(text: str, *, file: str) -> str:
    """The project and stack that a file's uids were derived from; empty where it does not say."""
    return _parsed(text, file)[1].uids_from


@lru_cache(maxsize=2)
def _read(text: str, file: str, origin: str) -> Sequence[Record]:
    document, raw = _parsed(text, file)
    problems = Collector()
    records: dict[ClaimKey, Record] = {}
    places = document.sources_of_items("bindings") if raw.bindings else []
    for index, (b, where) in enumerate(zip(raw.bindings, places, strict=True)):
        claim = ClaimKey.parse(b.claim)
        if claim in records:
            problems.add(Problem(f"{claim} is bound twice", where, f"bindings[{index}]", "keep one of the two"))
        previous = ClassKey.parse(b.previous_class) if b.previous_class else None
        klass, picks = ClassKey.parse(b.class_), b.picks or {}
        derived = _is_derived(b, claim, raw.uids_from or origin)
        records[claim] = Record(
            claim, b.uid, klass, b.reason, b.digest, previous, where, b.released, picks, b.stack, derived
        )
    problems.raise_as(BindingError)
    return tuple(records.values())


def _is_derived(row: _Binding, claim: ClaimKey, origin: str) -> bool:
    """Whether a uid is the one that its claim was given; without an origin there is nothing to compare it with."""
    project, _, stack = origin.partition("/")
    return not origin or row.uid == derive_uid(claim, project=project, stack=row.stack or stack)


def _parsed(text: str, file: str) -> tuple[Document, _File]:
    try:
        documents = read_documents(text, file=file)
    except LoadError as error:
        raise BindingError(*error.problems) from error
    if len(documents) != 1:
        where = documents[1].source_of() if documents else Source(file)
        what = "a bindings file holds one document, and this holds more" if documents else "the bindings file is empty"
        fix = f"restore {file} from version control; where no claim was bound yet, remove it"
        raise BindingError(Problem(what, where, fix=fix))
    return documents[0], parse(_File, documents[0])


def write(records: Sequence[Record], *, stack: str, origin: str = "") -> str:
    """The text of the bindings file, the same for the same records.

    `origin` is the project and stack that the uids were derived from: after a rename, not those that it has now.
    """
    head = {"apiVersion": "claimsmith.io/v1alpha1", "kind": "Bindings", **({"uidsFrom": origin} if origin else {})}
    document = {**head, "bindings": list(_rows(records))}
    return HEAD.format(stack=stack) + text_of(document)


def _rows(records: Iterable[Record]) -> Iterable[dict[str, Any]]:
    for r in records:
        row = {"claim": str(r.claim), "uid": r.uid, "class": str(r.klass), "reason": r.reason, "digest": r.digest}
        more: dict[str, Any] = {"previousClass": str(r.previous)} if r.previous else {}
        if r.released:
            more["released"] = True
        if r.stack:
            more["stack"] = r.stack
        if r.picks:
            more["picks"] = dict(r.picks)
        yield {**row, **more}
