"""What runs in child processes of the functions; these modules import nothing else of claimsmith."""
