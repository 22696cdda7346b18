"""Refusals of children that no cluster can hold: names that are no names, numbers and documents that are too large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import MAX_NODES
from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.values import Mix, Ref, is_later, walk
from claimsmith.dialects.common.klass import Template
from claimsmith.dialects.common.metadata import is_name
from claimsmith.patching.compiled import INT64, Composed
from claimsmith.platform.binding import Binding


def refuse_name(document: Mapping[str, Any]) -> None:
    """Refuse a name that is no name, or is known only once something else exists.

    The identity of a child is certain in every preview.
    """
    for key in ("name", "namespace"):
        value = document["metadata"].get(key)
        if value is None:
            continue
        path = f"metadata.{key}"
        if is_later(value):
            fix = "derive it from fields of the claim"
            raise ComposeError(Problem(f"the {key} {value} is known only later", path=path, fix=fix))
        if not isinstance(value, str) or not is_name(value):
            fix = "use lower case letters, digits, '-' and '.', at most 253"
            raise ComposeError(Problem(f"{value!r} is not a Kubernetes name", path=path, fix=fix))


def refuse_huge(composed: Composed, template: Template, binding: Binding) -> None:
    """Refuse what no cluster can hold: numbers that the engine would round, and documents that are too large."""
    for number, (path, leaf) in enumerate(_all_leaves(composed.document)):
        if number > MAX_NODES or len(path) > fieldpath.MAX_STEPS:
            what = f"{binding.claim.key}, child {template.name!r}: the patches make it too large or too deep"
            raise ComposeError(Problem(what, binding.klass.source_of(template), template.at, "copy less with patches"))
        if not isinstance(leaf, int) or leaf in INT64:
            continue
        written = (
            o.patch for o in composed.outcomes if o.applied and path[: len(to := fieldpath.parse(o.patch.to))] == to
        )
        patch = next(written, None)
        text = fieldpath.to_text(path)
        where = (
            binding.claim.document.source_of(patch.reads[0])
            if patch
            else (template.document or binding.klass.document).source_of(template.place_of(text))
        )
        what = f"{binding.claim.key}, child {template.name!r}: {leaf} needs more than 64 bits"
        raise ComposeError(Problem(what, where, text, "use a smaller number, or quote it"))


def _all_leaves(document: dict[str, Any]) -> Iterator[tuple[fieldpath.Path, Any]]:
    """Every leaf of a document, and of what its later values are known to be."""
    for path, leaf in walk(document):
        yield path, leaf
        if isinstance(leaf, Ref | Mix) and leaf.known is not None:
            yield from walk(leaf.known, path)
