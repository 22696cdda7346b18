"""Patches, transforms, connection details and readiness: what a template does with values."""
