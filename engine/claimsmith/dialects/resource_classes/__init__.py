"""Classes of one kind of managed resource (design document 000)."""
