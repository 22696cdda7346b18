"""Deploys the claims of the stack that Pulumi is asked for."""

from claimsmith.deploy import program

program.run()
