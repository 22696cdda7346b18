"""Deploys the claims of the stack that Pulumi is asked for."""

from claimsmith.edge import program

program.run()
