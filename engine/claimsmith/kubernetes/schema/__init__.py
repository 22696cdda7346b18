"""OpenAPI v3 schemas as custom resource definitions carry them: checked against, defaulted by, asked what they know.

Takes plain data and plain schemas; returns problems, data or parts of a schema. What is accepted and what is filled in
is what a real API server accepts and fills in (`tests/kubernetes/test_schema.py` compares them); errors are ours.
"""

from claimsmith.kubernetes.schema.checking import check
from claimsmith.kubernetes.schema.defaults import defaulted
from claimsmith.kubernetes.schema.layout import crd_schema, normalised, refuse_unreadable_crd
from claimsmith.kubernetes.schema.lookup import Schema, at_path, knows, nearest_field
from claimsmith.kubernetes.schema.pruning import pruned
from claimsmith.kubernetes.schema.structure import check_schema, refuse_unreadable

__all__ = [
    "Schema",
    "at_path",
    "check",
    "check_schema",
    "crd_schema",
    "defaulted",
    "knows",
    "nearest_field",
    "normalised",
    "pruned",
    "refuse_unreadable",
    "refuse_unreadable_crd",
]
