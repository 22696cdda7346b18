"""`claimsmith accept`: generate, rebind and record after classes changed, in all stacks, as one change of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from claimsmith.base.errors import BindingError, Problem, suggest
from claimsmith.base.names import ClassKey
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.project.project import Project
from claimsmith.project.writing import write_together
from claimsmith.tools.bind import BindResult, bound
from claimsmith.tools.generate import component_texts
from claimsmith.tools.render.stack import rendered


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The files that accepting changed classes writes, and what they record."""

    project: Project
    """The project as it will be: the files are pending in it."""
    classes: Mapping[ClassKey, Mapping[str, int]]
    """The number of claims of each accepted class, by stack."""
    stacks: tuple[BindResult, ...] = ()
    files: Mapping[Path, str] = field(default_factory=dict)
    """The text of each file that changes."""

    @property
    def names(self) -> list[str]:
        """The files that change, by their paths in the project."""
        return [path.relative_to(self.project.root).as_posix() for path in self.files]

    def to_dict(self) -> dict[str, Any]:
        """The acceptance for a machine to read."""
        return {
            "classes": [{"class": str(key), "claims": dict(stacks)} for key, stacks in self.classes.items()],
            "files": self.names,
            "bindings": [
                {"stack": s.stack, "claim": str(r.claim), "class": str(r.klass), "change": r.change}
                for s in self.stacks
                for r in s.rows
                if r.change != "none"
            ],
        }


def accepted(project: Project, classes: Sequence[str] = ()) -> Acceptance:
    """What to write so that changed classes serve their claims: those of these names, or all. Nothing is written.

    Claims keep their classes. Components are generated, and every stack whose resources are recorded in tests/golden is
    rendered again.
    """
    stacks = project.stacks()
    served = {stack: _served(project.records(stack), project.catalog(stack)) for stack in stacks}
    changed = _changed(served)
    selected = frozenset(classes) or frozenset(key.name for key in changed)
    _refuse_unknown(classes, served.values())
    results = tuple(bound(project, stack, accept=selected) for stack in stacks)
    if errors := [p for r in results for p in r.errors]:
        raise BindingError(*errors)
    texts = {**component_texts(project), **{r.path: r.text for r in results}}
    after = replace(project, pending=texts)
    texts |= {path: "".join(rendered(after, stack)) for stack, path in _goldens(project, stacks).items()}
    files = {path: text for path, text in texts.items() if project.content(path) != text.encode()}
    counts = {key: number for key, number in changed.items() if key.name in selected}
    return Acceptance(replace(project, pending=files), counts, results, files)


def write(acceptance: Acceptance) -> None:
    """Write all files of an acceptance, or none."""
    write_together(acceptance.files)


def _served(records: Iterable[Record], catalog: Catalog) -> list[tuple[ClassKey, bool]]:
    """The class of each bound claim, and whether it changed since then."""
    digests = {key: klass.digest() for key, klass in catalog.classes.items()}
    return [
        (r.klass, digests.get((r.klass, r.claim.group_kind), r.digest) != r.digest) for r in records if not r.released
    ]


def _changed(served: Mapping[str, Iterable[tuple[ClassKey, bool]]]) -> dict[ClassKey, dict[str, int]]:
    found: dict[ClassKey, dict[str, int]] = {}
    for stack, classes in served.items():
        for key, number in sorted(Counter(key for key, changed in classes if changed).items()):
            found.setdefault(key, {})[stack] = number
    return found


def _refuse_unknown(classes: Iterable[str], served: Iterable[Iterable[tuple[ClassKey, bool]]]) -> None:
    names = {key.name for stack in served for key, _ in stack}
    unknown = [name for name in classes if name not in names]
    if unknown:
        raise BindingError(
            *(Problem(f"no claim is bound to a class {n!r}", fix=suggest(n, sorted(names))) for n in unknown)
        )


def _goldens(project: Project, stacks: Iterable[str]) -> dict[str, Path]:
    """Where the resources of each stack are recorded; nowhere in a project that has recorded none."""
    folder = project.root / "tests" / "golden"
    paths = {
        stack: folder / f"{stack}.yaml" for stack in stacks if (project.root / "stacks" / stack / "claims").is_dir()
    }
    if not any(path.is_file() for path in paths.values()):
        return {}
    return {stack: project.own(path) for stack, path in paths.items()}
