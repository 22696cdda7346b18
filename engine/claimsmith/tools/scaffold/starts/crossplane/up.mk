up: $(STAMP) ## Deploy dev to a control plane on this machine, with a simulated cloud behind it
	$(CLAIMSMITH) toolchain --for kubernetes > /dev/null 2>&1 || $(CLAIMSMITH) toolchain install --for kubernetes
	$(CLAIMSMITH) local up --stack dev
	eval "$$($(CLAIMSMITH) env)" && pulumi stack select dev --create && \
	  pulumi up --stack dev --yes --continue-on-error --suppress-outputs
	$(CLAIMSMITH) status dev

down: $(STAMP) ## Stop that control plane
	$(CLAIMSMITH) local down
