"""`claimsmith drift`: what has changed in the cluster behind the engine's back."""
