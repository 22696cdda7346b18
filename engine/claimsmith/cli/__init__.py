"""The command line: `claimsmith`."""

import gc
import os
import sys
from collections.abc import Sequence

_ALLOCATIONS = 500_000


def main() -> None:
    """Run the command line."""
    # A command is short and what it makes holds no circles: looking for some, again and again among ten thousand
    # claims, takes longer than making them.
    gc.set_threshold(_ALLOCATIONS, 50, 50)
    try:
        if _renders_files(sys.argv[1:]):
            # Words that are used as they are need no parser: `composite.py` starts without it.
            from claimsmith.cli import composite

            composite.run(sys.argv[2:])
        else:
            from claimsmith.cli import app

            app.main()
    finally:
        # The interpreter looks for circles once more when it ends, and nobody needs the memory then.
        gc.freeze()


def _renders_files(words: Sequence[str]) -> bool:
    """Whether the command is `render XR COMPOSITION [FUNCTIONS]`, without any option, and no completion of a shell."""
    return (
        len(words) in (3, 4)
        and words[0] == "render"
        and not any(word.startswith("-") or not word for word in words)
        and os.path.isfile(words[1])
        and "_CLAIMSMITH_COMPLETE" not in os.environ
    )
