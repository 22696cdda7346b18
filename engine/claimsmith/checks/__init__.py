"""`claimsmith validate`: everything that can be told without an engine or a cluster, all at once.

One module for each family of checks: `components` (generated code), `choices` (defaults, weights, names that lead
nowhere), `fields` (bases, patches and results under their definitions), `names` (external names).
"""

from claimsmith.checks.components import component_problems
from claimsmith.checks.validation import Report, validate

__all__ = ["Report", "component_problems", "validate"]
