"""`claimsmith recover`: what a killed run left behind, and the steps that mend it.

`look` finds locks without owners, interrupted operations, objects that no state knows, leftover processes and
half-written and temporary files; it changes nothing. `mend` does the steps for what was found.
"""

from claimsmith.recovery.recover import Interrupted, Report, Step, Stray, look, mend

__all__ = ["Interrupted", "Report", "Step", "Stray", "look", "mend"]
