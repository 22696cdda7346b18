"""Pulumi packages: type tokens and URNs."""
