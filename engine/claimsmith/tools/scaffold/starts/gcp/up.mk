up: $(STAMP) ## Deploy dev to Google Cloud with your own credentials; shows the preview, and asks before it changes anything
	command -v pulumi > /dev/null || $(CLAIMSMITH) toolchain install --for native
	eval "$$($(CLAIMSMITH) env)" && pulumi stack select dev --create && pulumi up --stack dev --suppress-outputs
	$(CLAIMSMITH) status dev

down: $(STAMP) ## Remove what is deployed, after a question
	eval "$$($(CLAIMSMITH) env)" && pulumi destroy --stack dev
