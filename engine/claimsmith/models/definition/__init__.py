"""Document 002's definitions: kinds that a platform makes up, their publication, and their instances.

`reading` turns documents into a `Definition`, `publishing` joins definitions with publications, `injected` holds the
schema of what a definition adds to a kind's spec, and `instances` checks what teams write.
"""

from claimsmith.models.definition.injected import full_schema, spec_schema
from claimsmith.models.definition.instances import check_instance, defaulted, find, stranger
from claimsmith.models.definition.model import (
    API_VERSION,
    COMPOSITION,
    DEFINITIONS,
    PUBLICATION,
    Definition,
    Publication,
)
from claimsmith.models.definition.publishing import publish
from claimsmith.models.definition.reading import read, read_publication

__all__ = [
    "API_VERSION",
    "COMPOSITION",
    "DEFINITIONS",
    "PUBLICATION",
    "Definition",
    "Publication",
    "check_instance",
    "defaulted",
    "find",
    "full_schema",
    "publish",
    "read",
    "read_publication",
    "spec_schema",
    "stranger",
]
