"""A class as a readable Pulumi component: the same patches, written out as Python.

Pure: classes in, source text out. What the text does is what `plan` says; a test compares the
two, class by class.
"""

from claimsmith.generate.component import class_name, digest_of, generate

__all__ = ["class_name", "digest_of", "generate"]
