"""`claimsmith rollout`: moves the claims of a class to another one, a wave at a time, and back.

Only files change: `bindings.yaml`, and the claims that name the class themselves if that is asked for. Everything is
done in a copy of the project first and reviewed there; the files are written once the review has nothing against it.
"""

from __future__ import annotations

import hashlib
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import BindingError, LoadError, Problem, suggest
from claimsmith.base.names import ClaimKey, ClassKey
from claimsmith.base.values import object_at
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Class
from claimsmith.platform import bindings_file
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.project.load import read_text
from claimsmith.project.project import Project
from claimsmith.project.settings import outside_plugins
from claimsmith.project.writing import write_atomically, write_together
from claimsmith.toolchain.leftovers import half_written
from claimsmith.tools.bind import bind
from claimsmith.tools.fleet import links
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.changes import ROLLOUT
from claimsmith.tools.review.project import wave_text
from claimsmith.tools.review.stack import review_stack

_COPIED = ("components", "stacks", "functions")
_BEFORE = re.compile(r"before that ([^/; ]+/[^/; ]+); ")
"""What a rollout writes of the class that a claim had before that from which it moves."""
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


@dataclass(frozen=True, slots=True)
class Wave:
    """Which claims move now: a part of all, a number, or those with a label; all by default."""

    percent: Fraction | None = None
    """Exact: 1.1% of 3000 are 33, and 34 with a binary fraction."""
    number: int | None = None
    label: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> Wave:
        """The wave that `5%`, `12`, `KEY=VALUE` or `label=KEY=VALUE` names."""
        if found := _PERCENT.fullmatch(text):
            if 0 < Fraction(found[1]) <= 100:
                return cls(percent=Fraction(found[1]))
        elif text.isdecimal() and int(text) > 0:
            return cls(number=int(text))
        else:
            key, sign, value = text.removeprefix("label=").partition("=")
            if key and sign:
                return cls(label=(key, value))
        raise LoadError(Problem(f"{text!r} is no wave", fix="write it as 5%, 12 or KEY=VALUE (a label)"))

    def of(self, candidates: Sequence[Candidate], total: int) -> list[Candidate]:
        """Those of the candidates that move; `total` is how many there are of which a part is asked for."""
        if self.label:
            key, value = self.label
            return [c for c in candidates if c.labels.get(key) == value]
        if self.percent is not None:
            return list(candidates[: math.ceil(total * self.percent / 100)])
        return list(candidates if self.number is None else candidates[: self.number])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim that may move."""

    stack: str
    record: Record
    claim: Claim
    to: Class
    labels: Mapping[str, str]
    """Those of its stack, and its own."""
    named: bool = False
    """Whether the claim names its class itself."""


@dataclass(frozen=True, slots=True)
class Left:
    """A claim that cannot move, and why."""

    stack: str
    claim: ClaimKey
    reason: str


@dataclass(frozen=True, slots=True)
class Rollout:
    """What a wave does."""

    source: str
    target: str
    moved: tuple[Candidate, ...]
    left: tuple[Left, ...]
    total: int
    """How many claims are on the class that they move from, before the wave."""
    reviews: Mapping[str, StackReview] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    """The files that change."""
    written: bool = False

    @property
    def destructive(self) -> bool:
        """Whether something is deleted or replaced."""
        return any(review.destructive for review in self.reviews.values())

    @property
    def summary(self) -> str:
        """The wave in one sentence."""
        return wave_text(len(self.moved), self.total, self.source, self.target)

    def to_dict(self) -> dict[str, Any]:
        """The wave for a machine to read."""
        return {
            "from": self.source,
            "to": self.target,
            "total": self.total,
            "moved": [{"stack": c.stack, "claim": str(c.record.claim)} for c in self.moved],
            "left": [{"stack": x.stack, "claim": str(x.claim), "reason": x.reason} for x in self.left],
            "destructive": sorted(stack for stack, review in self.reviews.items() if review.destructive),
            "files": list(self.files),
            "written": self.written,
        }


def rollout(
    project: Project,
    source: str,
    target: str,
    wave: Wave,
    *,
    back: bool = False,
    edit_claims: bool = False,
    allow_destructive: bool = False,
    check: bool = False,
) -> Rollout:
    """Move a wave of claims from one class to another; `back` returns those that came from there.

    Nothing is written if the review finds a problem, or something that is deleted or replaced and not allowed.
    """
    start, end = (target, source) if back else (source, target)
    _refuse_half_written(project)
    _check_names(project, source, target, end)
    found = list(_candidates(project, start, end, back=back, edit_claims=edit_claims))
    left = tuple(item for item in found if isinstance(item, Left))
    movable = sorted((c for c in found if isinstance(c, Candidate)), key=lambda c: _turn(c, source, target))
    moved = tuple(wave.of(movable, len(found) + (0 if back else _moved_before(project, source, target))))
    result = Rollout(start, end, moved, left, len(found))
    if not moved:
        return result
    with _copied(project) as copy:
        files = _changed(project, copy, moved)
        # A path of a plugin that leads out of the project leads elsewhere from the copy.
        plugins = outside_plugins(project.root)
        reviews = {
            stack: review_stack(project, copy, stack, plugins=plugins) for stack in sorted({c.stack for c in moved})
        }
        problems = [p for review in reviews.values() for p in (*review.problems, *review.refusals)]
        if problems:
            raise BindingError(*problems)
        result = replace(result, reviews=reviews, files=tuple(sorted(files)))
        if check or (result.destructive and not allow_destructive):
            return result
    write_together({project.root / path: text for path, text in files.items()})
    return replace(result, written=True)


def _refuse_half_written(project: Project) -> None:
    """Refuse a wave after one whose process was killed: it may have written the files of some stacks alone."""
    for path in half_written(project.root / "stacks"):
        file = path.relative_to(project.root).as_posix()
        what = f"{file} is left from a killed process, which may have written only some files of a wave"
        fix = f"see: git diff stacks; undo the part of that wave, remove {file}, and run it again"
        raise LoadError(Problem(what, fix=fix))


def _moved_before(project: Project, source: str, target: str) -> int:
    """How many claims a rollout moved to a class: a part of a rollout is one of all its claims."""
    records = (r for stack in project.stacks() for r in project.records(stack) if not r.released)
    return sum(r.klass.name == target and _came_from(r, source) for r in records)


def _came_from(record: Record, name: str) -> bool:
    """Whether the last move of a claim was a rollout's, from the class of this name."""
    return record.reason.startswith(f"{ROLLOUT} {name}; ")


def _turn(candidate: Candidate, source: str, target: str) -> str:
    """When a claim's turn is: the same on every machine, and spread over the stacks."""
    return hashlib.sha256(f"{source}|{target}|{candidate.stack}|{candidate.record.claim}".encode()).hexdigest()


def _check_names(project: Project, source: str, target: str, end: str) -> None:
    """Refuse names of no class; claims can leave a class that is gone, and not move to it."""
    names = sorted({key.name for key, _ in project.catalog().classes})
    records = [r for stack in project.stacks() for r in project.records(stack)]
    recorded = {key.name for r in records for key in (r.klass, r.previous) if key}
    if source == target:
        raise LoadError(Problem(f"{source!r} is both classes", fix="name the class that the claims move to"))
    for name in (target, source):
        if name not in {*names, *recorded}:
            raise LoadError(Problem(f"there is no class {name!r}", fix=suggest(name, names)))
    if end not in names:
        what = f"the class {end!r} is gone, and claims cannot move to it"
        raise LoadError(Problem(what, fix=f"bring its files back; or name another class: {', '.join(names)}"))


def _candidates(project: Project, start: str, end: str, *, back: bool, edit_claims: bool) -> Iterator[Candidate | Left]:
    """Every claim on the class, as one that may move or as one that cannot."""
    for stack in project.stacks():
        records = [r for r in project.records(stack) if r.klass.name == start and not r.released]
        records = [r for r in records if not back or _came_from(r, end)]
        if not records:
            continue
        known = _known(project, stack, [record.claim for record in records])
        own = links.labels(project, stack)
        for record in records:
            yield _candidate(stack, record, known, end, own, back=back, edit_claims=edit_claims)


@dataclass(frozen=True, slots=True)
class _Known:
    """The claims of a stack, and where rollouts need them the composites within them."""

    catalog: Catalog
    claims: Mapping[ClaimKey, Claim]
    above: Mapping[ClaimKey, Claim]
    """For each of them, the claim of the stack's files that it is a part of, or is."""


def _known(project: Project, stack: str, wanted: Iterable[ClaimKey]) -> _Known:
    catalog = project.catalog(stack)
    if catalog.claims.keys() >= set(wanted):
        return _Known(catalog, catalog.claims, catalog.claims)
    # What a claim of a definition gets its resources from is the class of a composite within it.
    catalog, expansion = project.expand(stack)
    within = [(draft.binding.claim, root.binding.claim) for root in expansion.drafts for draft in root.walk()]
    claims = {**{claim.key: claim for claim, _ in within}, **catalog.claims}
    return _Known(catalog, claims, {**{claim.key: root for claim, root in within}, **catalog.claims})


def _candidate(
    stack: str,
    record: Record,
    known: _Known,
    end: str,
    labels: Mapping[str, str],
    *,
    back: bool,
    edit_claims: bool,
) -> Candidate | Left:
    claim = known.claims.get(record.claim)
    serving = [c for c in known.catalog.serving(record.claim.group_kind) if c.name == end]
    klass = next((c for c in serving if c.key.group_kind == record.klass.group_kind), None)
    if claim is None:
        return Left(stack, record.claim, "its claim is gone")
    if klass is None and serving:
        kinds = f"a {record.klass.group_kind.kind}, and {end} is a {serving[0].key.group_kind.kind}"
        return Left(stack, record.claim, f"its class is {kinds}: rebind it (claimsmith bind --rebind)")
    if klass is None:
        return Left(stack, record.claim, f"{end} does not serve {record.claim.group_kind} in this stack")
    named = bool(claim.class_ref and not claim.force)
    field_ = f"{claim.word.rpartition('.')[2]}Ref"
    if named and claim.document.file.startswith("components/"):
        return Left(stack, record.claim, f"its {field_}, in {claim.document.file}, names the class: change it there")
    if named and not edit_claims:
        return Left(stack, record.claim, f"its {field_} names the class: use --edit-claims")
    if claim.force and claim.force != klass.key and not back:
        return Left(stack, record.claim, f"its definition forces {claim.force.name}")
    given: dict[str, str] = {}
    for part in (known.above[record.claim], claim):
        metadata = object_at(part.document.data, "metadata")
        given |= {str(k): str(v) for k, v in object_at(metadata, "labels").items()}
    return Candidate(stack, record, claim, klass, {**labels, **given}, named)


@contextmanager
def _copied(project: Project) -> Iterator[Project]:
    """The project in a folder that is removed at the end of the block."""
    with TemporaryDirectory(prefix="claimsmith-rollout-") as folder:
        root = Path(folder)
        for path in project.root.glob("*.yaml"):
            shutil.copy2(path, root, follow_symlinks=False)
        for name in _COPIED:
            if (project.root / name).is_dir():
                shutil.copytree(project.root / name, root / name, symlinks=True)
        yield Project(root)


def _changed(project: Project, copy: Project, moved: Iterable[Candidate]) -> dict[str, str]:
    """Move the claims in the copy; gives the files that differ afterwards, by path."""
    by_stack: dict[str, list[Candidate]] = {}
    for candidate in moved:
        by_stack.setdefault(candidate.stack, []).append(candidate)
    files: dict[str, str] = {}
    for stack, candidates in by_stack.items():
        if bind(project, stack, check=True).changed:
            what = f"stacks/{stack}/bindings.yaml is not up to date, and the wave would record more than itself"
            raise BindingError(Problem(what, fix=f"run first: claimsmith bind {stack}"))
        for candidate in candidates:
            if candidate.named:
                path = candidate.claim.document.file
                files[path] = _renamed(copy, candidate)
                write_atomically(copy.root / path, files[path])
        goes = {c.record.claim: _moved(c) for c in candidates}
        records = [goes.get(r.claim, r) for r in project.records(stack)]
        bindings = copy.bindings_path(stack)
        write_atomically(bindings, bindings_file.write(records, stack=stack, origin=project.uids_from(stack)))
        # What selectors pick may differ with the class.
        if errors := bind(copy, stack).errors:
            raise BindingError(*errors)
        files[bindings.relative_to(copy.root).as_posix()] = bindings.read_text(encoding="utf-8")
    return files


def _moved(candidate: Candidate) -> Record:
    """The record after the move; after the way back it is as it was before."""
    record, klass = candidate.record, candidate.to
    before = record.klass
    if _came_from(record, klass.name):
        reason, previous = _reason_before(record.reason.partition("; ")[2])
    else:
        was = f"before that {record.previous}; " if record.previous else ""
        reason, previous = f"{ROLLOUT} {before.name}; {was}{record.reason}", before
    return replace(record, klass=klass.key, digest=klass.digest(), reason=reason, previous=previous)


def _reason_before(reason: str) -> tuple[str, ClassKey | None]:
    """The reason and the class before that a record had, by the rest of the reason that a rollout wrote."""
    found = _BEFORE.match(reason)
    return (reason[found.end() :], ClassKey.parse(found[1])) if found else (reason, None)


def _renamed(copy: Project, candidate: Candidate) -> str:
    """The text of a claim's file in the copy, with the name of the class changed; all else stays as it is written."""
    document: Document = candidate.claim.document
    where = document.source_of(f"{candidate.claim.word}Ref.name")
    lines = read_text(copy.root / document.file, root=copy.root).splitlines(keepends=True)
    line = lines[where.line - 1]
    pattern = rf"""(name:\s*)(["']?){re.escape(candidate.record.klass.name)}\2(?=[\s,}}#]|$)"""
    changed, number = re.subn(pattern, rf"\g<1>\g<2>{candidate.to.name}\g<2>", line)
    if number != 1:
        what = f"the class of {candidate.record.claim} cannot be changed in its file"
        raise BindingError(Problem(what, where, f"{candidate.claim.word}Ref.name", "change it there by hand"))
    lines[where.line - 1] = changed
    return "".join(lines)
