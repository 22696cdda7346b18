"""`claimsmith validate`: everything that can be told without an engine or a cluster, all at once.

`rules` names the checks, `known` holds the schemas, `flow` follows values through transforms. Each family of checks
has a module: `components` (generated code), `choices` (defaults, weights, names that lead nowhere), `today` (today's
definitions and compositions), `bases`, `required` and `patches` (classes under definitions), `references` (selectors),
`fields` (claims and results), `names` (external names). `sarif` and `workflow` write a report for other programs.
"""

from claimsmith.checks.components import component_problems
from claimsmith.checks.sarif import sarif
from claimsmith.checks.validation import Report, validate
from claimsmith.checks.workflow import commands

__all__ = ["Report", "commands", "component_problems", "sarif", "validate"]
