"""A class as a readable Pulumi component: the same patches, as Python.

Pure: classes in, source text out. A component registers the resources of the plan; a test compares the two, class by
class.
"""

from claimsmith.generate.claim_types import ClaimType, claim_types
from claimsmith.generate.component import class_name, class_names, creation_order, digest_of, generate

__all__ = ["ClaimType", "claim_types", "class_name", "class_names", "creation_order", "digest_of", "generate"]
