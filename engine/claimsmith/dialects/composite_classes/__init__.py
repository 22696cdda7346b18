"""`ResourceClass` and `CompositeResourceClass` (design document 001)."""
