"""Composition functions: the pipeline and the built-in functions."""
