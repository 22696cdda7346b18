"""What the YAML says, as frozen data: one module for each family of kinds."""
