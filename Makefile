# What is missing is brought by the targets themselves: a virtual environment, the engine, a local control plane.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo demo-kubernetes test test-oldest test-newest test-engine test-sdks test-versions check soak bench bench-check features fuzz generate toolchain browser pythonic down clean help

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

demo: $(STAMP) ## Claim a database on this machine: the real engine, a real PostgreSQL, no cluster
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/demo.sh

demo-kubernetes: $(STAMP) ## Claim a database of a cloud: Kubernetes objects on a local control plane, a simulated cloud
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/demo-kubernetes.sh

test: $(STAMP) pythonic toolchain browser ## Run all tests, on the real engine too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/claimsmith generate --check
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Each set of versions is built once and kept in a folder of its own (engine/claimsmith/toolchain/parts.py, SETS).
test-oldest: export CLAIMSMITH_TOOLCHAIN = oldest
test-oldest: test-engine ## The tests of the real engine, on the oldest engine and provider that are supported
test-newest: export CLAIMSMITH_TOOLCHAIN = newest
test-newest: test-engine ## The same, on the newest engine and provider that can be built

test-engine: $(STAMP) toolchain
	$(BIN)/python -m pytest -n 2 --dist worksteal -m e2e

check: $(STAMP) pythonic ## The quick part of the tests: lint, types and what needs no engine
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/claimsmith generate --check
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not e2e"

test-sdks: $(STAMP) $(VENV)/.sdks ## Generated components against the SDKs of the large providers; 0.4 GB of packages
	$(BIN)/python -m pytest -n 2 --dist worksteal -m sdks

$(VENV)/.sdks: $(STAMP) requirements-sdks.txt
	@$(BIN)/python -m pip install -q --no-deps --require-hashes -r requirements-sdks.txt
	@touch $@

test-versions: $(STAMP) ## The wheel with the lowest and the newest packages that it allows: commands and unit tests
	scripts/versions.sh

soak: $(STAMP) toolchain ## Kill parts of many runs at random moments: SEED=… replays, MINUTES=90 bounds it
	$(BIN)/python -m tests.soak

SEED ?= 0
INPUTS ?= 1000000
fuzz: $(STAMP) $(VENV)/.fuzz ## Give a million random inputs to what reads input; SEED=… repeats a run
	PYTHONPATH=engine:. $(BIN)/python -m tests.fuzz --seed $(SEED) --inputs $(INPUTS)

$(VENV)/.fuzz: $(STAMP) requirements-fuzz.txt
	@$(BIN)/python -m pip install -q --no-deps --require-hashes -r requirements-fuzz.txt
	@touch $@

# ONLY=render names one, REPEATS=9 runs each pair more often; LAST=1 looks at the last results instead of running.
# PEER=crossplane PEER_FUNCTIONS=functions.yaml compares `functions` with Crossplane's render command.
BENCH = $(BIN)/python -m benchmarks $(ONLY) $(if $(REPEATS),--repeats $(REPEATS)) $(if $(LAST),--last) \
	$(if $(PEER),--peer "$(PEER)" --peer-functions "$(PEER_FUNCTIONS)")

bench: $(STAMP) toolchain ## Measure speed and growth beside what they are compared with, about a quarter of an hour
	$(BENCH)

bench-check: $(STAMP) toolchain ## The same, and fail where a goal is missed
	$(BENCH) --check

generate: $(STAMP) ## Write the components anew from their classes
	$(BIN)/claimsmith generate

features: ## Show what must work, and the tests that prove it
	@sed -n 's/<br>/ /g; /^[|#]/p' docs/internals/features.md

browser:
	@bash scripts/browser.sh

pythonic: $(STAMP)
	@bash scripts/pythonic.sh

toolchain: $(STAMP)
	@$(BIN)/claimsmith toolchain > /dev/null 2>&1 || $(BIN)/claimsmith toolchain install

down: $(STAMP) ## Stop the servers of the demos
	$(BIN)/claimsmith local down

$(STAMP): pyproject.toml requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; give it with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing Python packages into $(VENV) …"
	@# The lock is complete, and is not resolved again: pip before 23.3 finds no hash for `httpx2[ws]`, which lightkube
	@# asks for, if an index has a newer httpx2 than the one that is locked.
	@$(BIN)/python -m pip install -q --no-deps --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $(STAMP)

clean: ## Stop what runs and remove what was made here; state and local servers too
	@test ! -x $(BIN)/claimsmith || $(BIN)/claimsmith local down || true
	rm -rf .claimsmith .venv build *.egg-info engine/*.egg-info
