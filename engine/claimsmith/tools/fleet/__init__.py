"""`claimsmith up`, `preview`, `refresh` and `destroy`: many stacks at once, in the order of their needs."""
