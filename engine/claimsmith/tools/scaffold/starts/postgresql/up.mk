up: $(STAMP) ## Deploy dev to a PostgreSQL server on this machine
	$(CLAIMSMITH) toolchain --for postgresql > /dev/null 2>&1 || $(CLAIMSMITH) toolchain install --for postgresql
	$(CLAIMSMITH) local up --postgresql --stack dev
	eval "$$($(CLAIMSMITH) env)" && pulumi up --stack dev --yes --continue-on-error --suppress-outputs
	$(CLAIMSMITH) status dev

down: $(STAMP) ## Stop that server
	$(CLAIMSMITH) local down
