"""`AggregateResourceClass` (design document 003)."""
