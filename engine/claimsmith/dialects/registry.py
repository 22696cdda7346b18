"""All dialects, by the value that generated components and digests name them with."""

from claimsmith.dialects.aggregates.dialect import AGGREGATES
from claimsmith.dialects.common.dialect import BoundBy, Dialect
from claimsmith.dialects.composite_classes.dialect import COMPOSITE_CLASSES
from claimsmith.dialects.crossplane.dialect import CLAIMS, COMPOSITES
from claimsmith.dialects.definitions.dialect import INSTANCES, REQUIREMENTS
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES

DIALECTS: dict[BoundBy, Dialect] = {
    d.bound_by: d
    for d in (RESOURCE_CLASSES, COMPOSITE_CLASSES, AGGREGATES, INSTANCES, REQUIREMENTS, COMPOSITES, CLAIMS)
}
