"""How fast claimsmith is, measured beside what it is compared with. Run with: make bench"""
