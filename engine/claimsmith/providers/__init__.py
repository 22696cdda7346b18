"""Pulumi packages: type tokens and URNs, and what the SDKs of providers declare."""
