"""From a base to a composed document: transforms, patches, identity, options."""
