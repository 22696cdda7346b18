"""What a shell may complete: stacks, claims, kinds and classes of the project, read from its files as they are.

A shell asks at every press of a key, so only file names and YAML are read, nothing is checked, and what cannot be read
completes to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from claimsmith.base.printable import visible

Found = Iterable[str]


def stacks(context: typer.Context, incomplete: str) -> list[str]:
    """The project's environments."""
    return _offered(incomplete, lambda: _stacks(_root(context)))


def claims(context: typer.Context, incomplete: str) -> list[str]:
    """The claims of the stack that stands before, by name and as Kind.group/namespace/name; of all where none does."""
    # While an option's value is typed, click has not parsed the words before it.
    named = context.params.get("stack") or next(iter(context.args), None)
    return _offered(incomplete, lambda: _by_name(_claims(_root(context), [named] if named else None)))


def kinds(context: typer.Context, incomplete: str) -> list[str]:
    """The kinds of claim that classes name."""
    return _offered(incomplete, lambda: _kinds(_root(context)))


def class_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names of the platform's classes and compositions."""
    return _offered(incomplete, lambda: (name for _, name in _classes(_root(context))))


def fields(context: typer.Context, incomplete: str) -> list[str]:
    """The field paths that classes write to their children: those of bases, and the targets of patches."""
    return _offered(incomplete, lambda: _fields(_root(context)))


def made_types(context: typer.Context, incomplete: str) -> list[str]:
    """The types of the providers whose SDKs are installed: first packages, then modules, then types."""
    del context
    return _offered(incomplete, lambda: _types(incomplete))


def _types(incomplete: str) -> Iterator[str]:
    from claimsmith.project import sdks

    package, colon, rest = incomplete.partition(":")
    if not colon:
        yield from (f"{name}:" for name in sdks.installed())
        return
    for token in sdks.index_of(package).tokens():
        module, deeper, _ = token.removeprefix(f"{package}:").rpartition(":")
        yield token if not deeper or rest.startswith(f"{module}:") else f"{package}:{module}:"


def _offered(incomplete: str, found: Callable[[], Found]) -> list[str]:
    try:
        # A shell prints what it is offered: names with invisible characters are not offered.
        return sorted({text for text in found() if text.startswith(incomplete) and visible(text) == text})
    except Exception:  # a shell must never be disturbed by what it asks for
        return []


def _root(context: typer.Context) -> Path:
    """The project's folder: here or above, or that of --project."""
    given = context.find_root().params.get("project")
    start = Path(given) if given else Path.cwd()
    return next(folder for folder in (start.resolve(), *start.resolve().parents) if (folder / "Pulumi.yaml").is_file())


def _stacks(root: Path) -> Iterator[str]:
    return (p.parent.name for p in (root / "stacks").glob("*/claims"))


def _by_name(claims: Iterable[str]) -> Iterator[str]:
    """Each claim, and before it its name alone where no other claim has it."""
    whole = sorted(set(claims))
    names = [claim.rpartition("/")[2] for claim in whole]
    yield from (name for name in names if names.count(name) == 1)
    yield from whole


def _claims(root: Path, names: list[str] | None) -> Iterator[str]:
    for stack in names or list(_stacks(root)):
        for document in _documents(root / "stacks" / stack / "bindings.yaml"):
            yield from (str(record["claim"]) for record in document.get("bindings") or ())
        for file in _files(root / "stacks" / stack / "claims"):
            for document in _documents(file):
                metadata = document.get("metadata") or {}
                if metadata.get("namespace"):
                    kind = _kind(str(document["apiVersion"]), str(document["kind"]))
                    yield f"{kind}/{metadata['namespace']}/{metadata['name']}"


def _classes(root: Path) -> Iterator[tuple[dict[str, Any], str]]:
    for file in _files(root / "components"):
        for document in _documents(file):
            kind = str(document.get("kind", ""))
            if kind.endswith("Class") or kind == "Composition":
                yield document, str(document["metadata"]["name"])


def _kinds(root: Path) -> Iterator[str]:
    for document, _ in _classes(root):
        spec = document.get("spec") or {}
        for word in ("claim", "from", "compositeTypeRef"):
            if spec.get(word):
                yield _kind(str(spec[word]["apiVersion"]), str(spec[word]["kind"]))


def _fields(root: Path) -> Iterator[str]:
    for document, _ in _classes(root):
        yield from _written(document.get("spec"))


def _written(part: Any) -> Iterator[str]:
    """The field paths of all bases below a part of a class, and where patches write."""
    from claimsmith.base import fieldpath

    if isinstance(part, dict):
        if isinstance(part.get("base"), dict):
            yield from (fieldpath.to_text(path) for path in _leaves(part["base"], ()))
        if not str(part.get("type", "")).startswith("ToComposite"):
            targets = (part.get(word) for word in ("toFieldPath", "toResourceFieldPath"))
            yield from (target for target in targets if isinstance(target, str))
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _written(inner)


def _leaves(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner:
        yield path
    for key, part in inner:
        yield from _leaves(part, (*path, key))


def _kind(api_version: str, kind: str) -> str:
    group, slash, _ = api_version.partition("/")
    return f"{kind}.{group}" if slash else kind


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.suffix in (".yaml", ".yml"))


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a file, not checked; what is no YAML has none."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if not path.is_file():
        return
    try:
        found = list(yaml.load_all(path.read_text(encoding="utf-8"), Loader=loader))
    except (yaml.YAMLError, UnicodeDecodeError):
        return
    yield from (document for document in found if isinstance(document, dict))
