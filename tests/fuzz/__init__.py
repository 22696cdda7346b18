"""Random input for every reader of what a user writes: `make fuzz`. Nothing here is part of the package."""
