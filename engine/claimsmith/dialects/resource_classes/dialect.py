"""Classes of one resource: the resource is bound to its claim directly, by references in its spec."""

from claimsmith.dialects.common.dialect import BoundBy, Dialect

RESOURCE_CLASSES = Dialect(bound_by=BoundBy.CLAIM, class_word="resource class")
