"""`bindings.yaml`: the record of bindings as text, and back. Reviewed like a lock file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import Field, ValidationError

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import BindingError, Collector, FieldPathError, LoadError, ModelError, Problem, Source
from claimsmith.base.model import Model
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.base.parse import parse
from claimsmith.base.yaml_text import text_of
from claimsmith.platform.binding import Record, derive_uid

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
    resource: str = ""


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
    """The project and stack that a file's uids were derived from; empty where it has none."""
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
            problems.add(_twice(claim, where, f"bindings[{index}]", stack=_stack_of(file)))
        previous = ClassKey.parse(b.previous_class) if b.previous_class else None
        klass, picks = ClassKey.parse(b.class_), b.picks or {}
        derived = _is_derived(b, claim, raw.uids_from or origin)
        records[claim] = Record(
            claim, b.uid, klass, b.reason, b.digest, previous, where, b.released, picks, b.stack, b.resource, derived
        )
    problems.raise_as(BindingError)
    return tuple(records.values())


def _stack_of(file: str) -> str:
    """The stack whose record a file is: `stacks/<stack>/bindings.yaml`."""
    return file.rpartition("/")[0].rpartition("/")[2]


def _is_derived(row: _Binding, claim: ClaimKey, origin: str) -> bool:
    """Whether a uid is the one that was derived for its claim; without an origin every uid counts as derived."""
    project, _, stack = origin.partition("/")
    return not origin or row.uid == derive_uid(claim, project=project, stack=row.stack or stack)


def _parsed(text: str, file: str) -> tuple[Document, _File]:
    """The file as it is meant to be; what is wrong with one record names the command that removes it."""
    try:
        documents = read_documents(text, file=file)
    except LoadError as error:
        raise BindingError(*error.problems) from error
    if len(documents) != 1:
        where = documents[1].source_of() if documents else Source(file)
        what = "a bindings file holds one document, and this holds more" if documents else "the bindings file is empty"
        fix = f"restore {file} from version control; where no claim was bound yet, remove it"
        raise BindingError(Problem(what, where, fix=fix))
    try:
        return documents[0], parse(_File, documents[0])
    except ModelError as error:
        raise BindingError(*(_removable(p, documents[0], _stack_of(file)) for p in error.problems)) from error


def _removable(problem: Problem, document: Document, stack: str) -> Problem:
    try:
        claim = fieldpath.get(document.data, (*fieldpath.parse(problem.path)[:2], "claim"))
    except FieldPathError:
        return problem
    if not isinstance(claim, str):
        return problem
    return replace(
        problem, fix=f"{problem.fix}; or drop the record: claimsmith bind {stack or 'STACK'} --forget {claim}"
    )


def _twice(claim: ClaimKey, where: Source | None, path: str, *, stack: str) -> Problem:
    fix = f"run: claimsmith bind {stack or 'STACK'} --forget {claim}"
    return Problem(f"{claim} is bound twice", where, path, fix)


def repaired(text: str, claims: Collection[str], *, file: str, stack: str) -> str:
    """The text with at most one record of each of the claims: the first that can be read, so that its uid is kept.

    What is wrong elsewhere in the file stays, and is refused by `read`.
    """
    documents = read_documents(text, file=file)
    rows = documents[0].data.get("bindings") if len(documents) == 1 else None
    if not isinstance(rows, list):
        return text
    kept: list[Any] = []
    found: set[str] = set()
    for row in rows:
        claim = row.get("claim") if isinstance(row, dict) else None
        if claim in claims and (claim in found or not _is_sound(row)):
            continue
        found.add(str(claim))
        kept.append(row)
    if len(kept) == len(rows):
        return text
    return HEAD.format(stack=stack) + text_of({**documents[0].data, "bindings": kept})


def _is_sound(row: dict[str, Any]) -> bool:
    try:
        _Binding.model_validate(row)
    except ValidationError:
        return False
    return True


def write(records: Sequence[Record], *, stack: str, origin: str = "") -> str:
    """The text of the bindings file, the same for the same records. What `read` would refuse is not written.

    `origin` is the project and stack that the uids were derived from: after a rename, not those that it has now.
    """
    number = Counter(r.claim for r in records)
    doubled = [_twice(claim, None, "", stack=stack) for claim, count in number.items() if count > 1]
    if doubled:
        raise BindingError(*doubled)
    head = {"apiVersion": "claimsmith.io/v1alpha1", "kind": "Bindings", **({"uidsFrom": origin} if origin else {})}
    document = {**head, "bindings": list(_rows(records))}
    return HEAD.format(stack=stack) + text_of(document)


def _rows(records: Iterable[Record]) -> Iterable[dict[str, Any]]:
    for r in records:
        row = {"claim": str(r.claim), "uid": r.uid, "class": str(r.klass), "reason": r.reason, "digest": r.digest}
        previous = str(r.previous) if r.previous else ""
        more = {
            "resource": r.resource,
            "previousClass": previous,
            "released": r.released,
            "stack": r.stack,
            "picks": dict(r.picks),
        }
        yield {**row, **{key: value for key, value in more.items() if value}}
