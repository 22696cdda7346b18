"""Long runs that look for what short ones miss. `make soak`."""
