"""Python files as syntax trees, whatever an earlier test left to the garbage collector."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file.

    In CPython 3.11 a parse fails with "AST constructor recursion depth mismatch" if the collector runs a finalizer
    within it, such as that of a future that a mocked Pulumi run left behind.
    """
    text = path.read_text(encoding="utf-8")
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()
