"""Schemas, custom resource definitions, kubeconfigs and the client of a cluster."""
