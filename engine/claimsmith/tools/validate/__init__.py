"""`claimsmith validate`: every check that needs neither an engine nor a cluster, all at once.

`rules` names the checks and collects findings, `schemas` holds the schemas of kinds, `value_flow` follows values
through transforms. Each family of checks has a module: `choices` (defaults, weights, missing names), `crossplane`
(definitions and compositions), `native` (types and outputs of native resources), `bases`, `required` and `patches`
(classes against schemas), `references` (selectors), `fields` (claims and results), `external_names`, `files`
(folders and tables). `formats` writes a report for other programs.
"""

from claimsmith.tools.validate.formats import commands, sarif
from claimsmith.tools.validate.validation import Report, validate

__all__ = ["Report", "commands", "sarif", "validate"]
