"""From claims to a plan: identity, options, references, connections, the plan."""
