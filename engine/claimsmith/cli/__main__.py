"""`python -m claimsmith.cli` is `claimsmith`."""

from claimsmith.cli import main

main()
