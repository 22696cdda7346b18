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
    _open_streams()
    try:
        if _renders_files(sys.argv[1:]):
            # Words that are used as they are need no parser: `composite.py` starts without it.
            from claimsmith.cli import composite

            composite.run(sys.argv[2:])
        else:
            from claimsmith.cli import app

            app.main()
    except KeyboardInterrupt:
        # Before there was a command that could end in order.
        sys.exit(130)
    finally:
        # The interpreter looks for circles once more when it ends, and nobody needs the memory then.
        gc.freeze()


def _open_streams() -> None:
    """Open the standard streams that a shell closed (`<&-`) or a supervisor does not open; Python has None for them.

    In their order: each takes the lowest free number, which the first file of ours, or of the engine, would get.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - lives until the process ends


def _renders_files(words: Sequence[str]) -> bool:
    """Whether the command is `render XR COMPOSITION [FUNCTIONS]`, without any option, and no completion of a shell."""
    return (
        len(words) in (3, 4)
        and words[0] == "render"
        and not any(word.startswith("-") or not word for word in words)
        and os.path.isfile(words[1])
        and "_CLAIMSMITH_COMPLETE" not in os.environ
    )
