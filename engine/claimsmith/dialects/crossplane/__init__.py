"""Crossplane v1 and v2: definitions, compositions, claims and composites."""
