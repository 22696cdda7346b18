"""YAML to `Class`: one folder for each dialect."""
