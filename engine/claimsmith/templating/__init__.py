"""Opaque templates, beside base and patches: text with a template engine's marks in, one resource out.

An engine sees the claim (apiVersion, kind, metadata, spec) and nothing else: no file, clock, randomness, environment,
network or other template. What it may do is listed in `subset` and bounded by `limits`. The only error is
`TemplateError`; its places are lines of the template, or of its output where that is not a resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from claimsmith.base import errors
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import Source
from claimsmith.templating import insertions
from claimsmith.templating.problems import Finding, TemplateError, raised_at, refusal

__all__ = [
    "ENGINES",
    "Finding",
    "TemplateError",
    "check",
    "fields_read",
    "reads",
    "render",
    "render_document",
    "render_documents",
    "subset_table",
]

ENGINES: Final = ("go-sprig", "jinja2")


def render(engine: str, text: str, data: Mapping[str, Any], *, file: str = "template") -> str:
    """The text that a template makes of the data, which stays as it is."""
    rendered, _ = insertions.unmarked(_engine(engine).render(text, data, file=file))
    return rendered


def render_document(engine: str, text: str, data: Mapping[str, Any], *, file: str = "template") -> dict[str, Any]:
    """The one resource that a template makes."""
    output = f"{file} (output)"
    found = _documents(_engine(engine).render(text, data, file=file), output)
    if len(found) != 1:
        where = Source(output, found[1].line) if found else Source(output)
        what = f"a template must make one resource, not {len(found) or 'none'}"
        raise refusal(what, "make one document; write further resources as templates of their own", where)
    return found[0].data


def render_documents(
    engine: str, text: str, data: Mapping[str, Any], *, file: str = "template"
) -> list[dict[str, Any]]:
    """The resources that a template makes, one or several or none."""
    found = _documents(_engine(engine).render(text, data, file=file), f"{file} (output)")
    return [document.data for document in found]


def fields_read(engine: str, text: str) -> list[str]:
    """The field paths of the data that a template reads, as far as its text shows, each once and in order."""
    return _engine(engine).fields_read(text)


def reads(engine: str, text: str) -> list[tuple[str, ...]]:
    """All that a template may read of the data, each path with everything below it; the empty path is all of it.

    Other than `fields_read`, it may name more than the template needs, and never less.
    """
    return _engine(engine).reads(text)


def check(engine: str, text: str, *, file: str = "template") -> list[Finding]:
    """The problems of a template that can be found before any data exists."""
    try:
        return _engine(engine).check(text, file=file)
    except TemplateError as error:
        return [Finding(p.what, p.where, p.path, p.fix) for p in error.problems]


class _Engine(Protocol):
    """What a module of an engine has."""

    def render(self, text: str, data: Mapping[str, Any], *, file: str) -> str: ...

    def check(self, text: str, *, file: str) -> list[Finding]: ...

    def fields_read(self, text: str) -> list[str]: ...

    def reads(self, text: str) -> list[tuple[str, ...]]: ...


def subset_table() -> str:
    """What templates may use, as a Markdown table."""
    from claimsmith.templating import subset

    return subset.subset_table()


def _engine(name: str) -> _Engine:
    # Few platforms have templates, and fewer of both kinds: an engine is loaded when it is wanted.
    match name:
        case "go-sprig":
            from claimsmith.templating import gotemplate

            return gotemplate
        case "jinja2":
            from claimsmith.templating import jinja

            return jinja
        case _:
            raise refusal(f"there is no template engine {name!r}", errors.suggest(str(name), ENGINES))


def _documents(marked: str, file: str) -> list[Document]:
    """The documents of a template's output, each with the fields that every resource has.

    Nothing that was printed of the data can be more than a value in them.
    """
    text, inserted = insertions.unmarked(marked)
    insertions.refuse_strays(text, inserted, file)
    with raised_at():
        found = read_documents(text, file=file)
    for document in found:
        for name in ("apiVersion", "kind"):
            if not isinstance(document.data.get(name), str) or not document.data[name]:
                what = f"the template's output has no {name}" if name not in document.data else f"{name} must be text"
                raise refusal(what, f"write {name}: at the start of the template", document.source_of((name,)))
    return found
