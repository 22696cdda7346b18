"""The definitions format: kinds that a platform defines, their publication, and their instances.

`reading` turns documents into a `Definition`, `publishing` joins definitions with publications, `injected` holds the
schema of what a definition adds to a kind's spec, and `instances` checks what teams write.
"""

from claimsmith.dialects.definitions.injected import full_schema, spec_schema
from claimsmith.dialects.definitions.instances import check_instance, defaulted, find, undefined_kind
from claimsmith.dialects.definitions.model import (
    API_VERSION,
    COMPOSITION,
    DEFINITIONS,
    PUBLICATION,
    Definition,
    Publication,
)
from claimsmith.dialects.definitions.publishing import publish
from claimsmith.dialects.definitions.reading import read, read_publication

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
    "undefined_kind",
]
