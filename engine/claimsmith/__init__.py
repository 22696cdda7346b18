"""claimsmith: claims and compositions for Pulumi."""

__version__ = "0.1.0"
