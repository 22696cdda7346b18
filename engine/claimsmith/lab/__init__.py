"""A real control plane on this machine, and a simulated cloud behind it."""

from claimsmith.lab.control_plane import Part, Status, down, running, status, up
from claimsmith.lab.install import install_crds

__all__ = ["Part", "Status", "down", "install_crds", "running", "status", "up"]
