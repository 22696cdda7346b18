"""Print which folders of the engine import which, for docs/internals/architecture.md.

    python scripts/import_graph.py [--format text|mermaid]

A folder is a direct child of `claimsmith`; the number is that of imports between their modules. Imports of
`claimsmith/__init__.py`, the public names, are left out. Exits 1 if folders import each other in a cycle, and names it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import groupby

import grimp

ROOT = "claimsmith"

Edges = Mapping[tuple[str, str], int]
"""The number of imports by importing and imported folder."""


def folder_imports(graph: grimp.ImportGraph, root: str = ROOT) -> Counter[tuple[str, str]]:
    """The imports between different folders of the package."""
    folders = graph.find_children(root)
    edges: Counter[tuple[str, str]] = Counter()
    for module in sorted(graph.modules):
        for imported in sorted(graph.find_modules_directly_imported_by(module)):
            ends = tuple(".".join(name.split(".")[:2]) for name in (module, imported))
            if ends[0] != ends[1] and folders.issuperset(ends):
                edges[ends[0].removeprefix(f"{root}."), ends[1].removeprefix(f"{root}.")] += 1
    return edges


def cycle(edges: Edges) -> list[str]:
    """Folders that import each other in a circle, the first repeated at the end; empty if there is none."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for importer, imported in sorted(edges):
        sorter.add(importer, imported)
    try:
        sorter.prepare()
    except CycleError as error:
        # graphlib lists the way from imported to importer.
        return [str(folder) for folder in reversed(error.args[1])]
    return []


def as_text(edges: Edges) -> str:
    """A line for each folder, with the folders that it imports."""
    return "\n".join(
        f"{importer}: {', '.join(f'{imported} ({edges[importer, imported]})' for _, imported in pairs)}"
        for importer, pairs in groupby(sorted(edges), key=lambda pair: pair[0])
    )


def as_mermaid(edges: Edges) -> str:
    """A Mermaid flowchart of the imports that no others imply: A to C is left out where A imports B and B imports C."""
    imports: dict[str, set[str]] = {}
    for importer, imported in edges:
        imports.setdefault(importer, set()).add(imported)

    def reached(folder: str) -> set[str]:
        return {found for other in imports.get(folder, ()) for found in (other, *reached(other))}

    shown = [(a, b) for a, b in sorted(edges) if not any(b in reached(other) for other in imports[a] - {b})]
    return "\n".join(("flowchart TD", *(f"  {importer} --> {imported}" for importer, imported in shown)))


FORMATS = {"text": as_text, "mermaid": as_mermaid}


def main() -> int:
    """Print the graph; 1 if it has a cycle."""
    parser = argparse.ArgumentParser(description="Print which folders of the engine import which.")
    parser.add_argument("--format", choices=sorted(FORMATS), default="text")
    form = parser.parse_args().format
    edges = folder_imports(grimp.build_graph(ROOT, cache_dir=None))
    circle = cycle(edges)
    if circle:
        print(f"import cycle: {' -> '.join(circle)}", file=sys.stderr)
        return 1
    print(FORMATS[form](edges))
    return 0


if __name__ == "__main__":
    sys.exit(main())
