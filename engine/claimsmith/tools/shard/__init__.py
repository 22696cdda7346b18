"""`claimsmith shard`: cut a stack into several."""
