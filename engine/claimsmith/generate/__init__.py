"""A class as a readable Pulumi component: the same patches, written out as Python.

Pure: classes in, source text out. What the text does is what `plan` says; a test compares the
two, class by class.
"""

from claimsmith.generate.claim_types import ClaimType, claim_types
from claimsmith.generate.component import class_name, class_names, digest_of, generate

__all__ = ["ClaimType", "claim_types", "class_name", "class_names", "digest_of", "generate"]
