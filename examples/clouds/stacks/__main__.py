from claimsmith.deploy import program

program.run()
