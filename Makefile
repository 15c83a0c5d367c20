# Knowledge Gateway. `make up` and `make test` do their own set-up; nothing else has to be run first.
PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 8787
# More than there are cores: much of a test is waiting, for processes to start and for time-outs.
WORKERS ?= 3
BIN    := $(VENV)/bin
# The locks name all that is needed: there is nothing to work out. LEAN: of what tests need, most is never imported, and
# what is gets compiled then. That saves two thirds of the time.
PIP     = $(BIN)/python -m pip --quiet --disable-pip-version-check
LOCKED  = install --no-deps --require-hashes
LEAN    = --no-compile

.DEFAULT_GOAL := help
.PHONY: help up test environments suite check lint types types-ahead format faces release-widget chromium bench bench-environments peers rehearse openapi snapshot lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- environments, each made from its hash-checked lock file -------------------------------------
$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Knowledge Gateway needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements/runtime.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) $(LOCKED) -r requirements/runtime.lock
	$(PIP) install --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	$(PIP) $(LOCKED) $(LEAN) -r requirements/dev.lock
	@touch $@

$(VENV)/.emulator: requirements/emulator.lock | $(VENV)/bin/python
	$(PYTHON) -m venv --without-pip $(VENV)/emulator
	$(PIP) --python $(VENV)/emulator/bin/python $(LOCKED) $(LEAN) -r requirements/emulator.lock
	@touch $@

# Other ways to ask many sources, beside which `make bench` measures ours. Nothing else needs them.
$(VENV)/peers/.installed: requirements/peers.lock | $(VENV)/bin/python
	@rm -f $@
	$(PYTHON) -m venv --without-pip $(VENV)/peers
	$(PIP) --python $(VENV)/peers/bin/python $(LOCKED) $(LEAN) -r requirements/peers.lock
	@touch $@

$(VENV)/.cdk: infra/package-lock.json $(VENV)/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix infra --loglevel=error --no-audit --no-fund
	@touch $@

# esbuild comes as a program inside its package: no script of a package has to run.
$(VENV)/.faces: infra/faces/package-lock.json $(VENV)/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix infra/faces --ignore-scripts --loglevel=error --no-audit --no-fund
	@touch $@

# Clients of the MCP endpoint, without what they bring along for other platforms and for browsers.
$(VENV)/.peers: tests/peers/package-lock.json $(VENV)/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix tests/peers --omit=optional --ignore-scripts --loglevel=error --no-audit --no-fund
	@touch $@

# --- the commands --------------------------------------------------------------------------------
up: $(VENV)/.runtime $(VENV)/.emulator ## Run the whole gateway on this machine (PORT=8787)
	$(BIN)/kgw up --port $(PORT)

# Side by side, as most steps keep one core busy. Types are read beside the tests, in what time these leave of two cores,
# and told after them, from the cache.
test: ## Check, and run every test
	+@$(MAKE) --no-print-directory -j2 environments
	+@$(MAKE) --no-print-directory lint
	+@$(MAKE) --no-print-directory -j2 suite types-ahead
	+@$(MAKE) --no-print-directory types

environments: $(VENV)/.dev $(VENV)/.emulator $(VENV)/.faces $(VENV)/.peers chromium

suite: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests

types-ahead: $(VENV)/.dev
	@nice $(BIN)/mypy >/dev/null 2>&1 || true

check: lint types ## Format, lint, import contracts, strict types

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/.dev
	$(BIN)/mypy

format: $(VENV)/.dev ## Rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

faces: $(VENV)/.faces ## Check and build the widget and the console into functions/assets/static
	PATH="$(CURDIR)/$(BIN):$$PATH" npm run --prefix infra/faces --silent types
	PATH="$(CURDIR)/$(BIN):$$PATH" npm run --prefix infra/faces --silent check
	PATH="$(CURDIR)/$(BIN):$$PATH" npm run --prefix infra/faces --silent build
	$(BIN)/python -m infra.bundles.widget_document

release-widget: $(VENV)/.runtime ## Keep the widget's present build, for pages that pin it
	$(BIN)/python -m infra.bundles.keep_widget

chromium: | $(VENV)/bin/python # the browser that tests drive: found, or installed where that may be done
	@$(BIN)/python -m tests.browser.find_chromium >/dev/null

# What is made first goes to standard error: with ARGS="--json" there is a document on standard output, and nothing else.
bench: ## Measure against a baseline in the same run (ARGS="--only search")
	@$(MAKE) --no-print-directory bench-environments >&2
	-@$(MAKE) --no-print-directory peers >&2 # without them, it names what it cannot measure
	@$(BIN)/python -m tests.bench $(ARGS)

bench-environments: $(VENV)/.dev $(VENV)/.emulator
	@:

peers: $(VENV)/peers/.installed
	@:

rehearse: $(VENV)/.cdk $(VENV)/.emulator ## Deploy the real stack to the embedded backend and call it
	$(BIN)/python -m infra.rehearsal

openapi: $(VENV)/.dev ## Write docs/openapi.json, the schemas of the contract and those of the MCP tools from the code
	$(BIN)/python -m infra.openapi
	$(BIN)/python -m infra.contract_schemas
	$(BIN)/python -m infra.mcp_tools

snapshot: $(VENV)/.dev ## Take the snapshot of the template anew; then read git diff
	KG_REWRITE_SNAPSHOT=1 $(BIN)/python -m pytest -n 0 -q tests/infra/test_snapshot.py

lock: $(VENV)/.dev ## Resolve the lock files again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/runtime.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml --extra dev -c requirements/runtime.lock -o requirements/dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/emulator.in -o requirements/emulator.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/peers.in -o requirements/peers.lock

clean: ## Remove environments and build output
	rm -rf $(VENV) cdk.out .kgw infra/node_modules infra/faces/node_modules tests/peers/node_modules build *.egg-info
