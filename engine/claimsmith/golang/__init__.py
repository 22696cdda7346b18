"""Values printed and read as Go does. No domain knowledge."""
