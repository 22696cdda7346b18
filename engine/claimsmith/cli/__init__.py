"""The command line: `claimsmith`."""

import gc

_ALLOCATIONS = 500_000


def main() -> None:
    """Run the command line."""
    # A command is short and what it makes holds no circles: looking for some, again and again among ten thousand
    # claims, takes longer than making them.
    gc.set_threshold(_ALLOCATIONS, 50, 50)
    from claimsmith.cli import app

    try:
        app.main()
    finally:
        # The interpreter looks for circles once more when it ends, and nobody needs the memory then.
        gc.freeze()
