"""`claimsmith render`: a stack, or one composite with its composition, as YAML."""
