"""What all dialects share: the class that each of them becomes, and the parts of its documents."""
