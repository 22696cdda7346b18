"""How something begins: a new project (`skeleton`), a new class or claim in one (`class_file`, `claim_file`)."""
