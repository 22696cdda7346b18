"""`claimsmith recover`: what a killed run left behind, and the steps that fix it.

`look` finds locks without owners, interrupted operations, objects that no state knows, leftover processes and
half-written and temporary files; it changes nothing. `repair` does the steps for what was found.
"""

from claimsmith.tools.recover.recover import Interrupted, Report, Step, Stray, look, repair

__all__ = ["Interrupted", "Report", "Step", "Stray", "look", "repair"]
