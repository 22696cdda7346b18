"""Workload targets and applications (design document 004)."""
