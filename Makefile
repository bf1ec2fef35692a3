# `make` without a target prints the targets. Everything is installed into .venv. Outside the
# checkout, only the embedded server's data in ~/.qwf (or QWF_HOME) is written.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
SANDBOX_PORT := 5689
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$$p" && break; done)

.PHONY: help demo up down deploy revert verify check watch test chaos gpu-check engine bench bench-peers bench-workflows docs pictures film release \
  sandbox sandbox-build site sqitch-scripts lint clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.run ## Run the whole example on real photographs (PHOTOS=folder for your own)
	@$(BIN)/qwf demo $(if $(PHOTOS),--photos "$(PHOTOS)")

up: $(VENV)/.run ## Start the embedded Postgres in ~/.qwf and migrate it
	@$(BIN)/qwf up

down: $(VENV)/.run ## Stop the embedded Postgres
	@$(BIN)/qwf down

deploy: $(VENV)/.run ## Bring the database in QWF_DSN (or of `make up`) to these sources; its data stays
	@$(BIN)/qwf migrate deploy

verify: $(VENV)/.run ## Check that the database is still as deployed
	@$(BIN)/qwf migrate verify

revert: $(VENV)/.run ## Remove everything from the database (asks first)
	@$(BIN)/qwf migrate revert --all

check: $(VENV)/.dev ## Test what you changed, in seconds; ARGS=claim/is_first for these, SINCE=main
	@$(BIN)/python tests/support/get_pgtap.py
	@SINCE="$(SINCE)" $(BIN)/python tools/check.py $(ARGS)

watch: $(VENV)/.dev ## The same after each change of a file, on a server that stays
	@$(BIN)/python tests/support/get_pgtap.py
	@SINCE="$(SINCE)" $(BIN)/python tools/check.py --watch $(ARGS)

test: $(VENV)/.test ## Run all checks and tests; ARGS="-k claim" to select tests
	@$(BIN)/python tests/support/get_pgtap.py
	@$(BIN)/python -m pytest -n 4 --dist worksteal $(ARGS)

chaos: $(VENV)/.test ## Strike a fleet with faults of every kind, then cross options: SECONDS=60 SEED=1
	@PYTHONPATH=python:tests $(BIN)/python -m support.chaos --seconds $(or $(SECONDS),60) \
	  --seed $(or $(SEED),1) $(ARGS)
	@PYTHONPATH=python:tests $(BIN)/python -m support.crossings --seconds $(or $(SECONDS),60) \
	  --seed $(or $(SEED),1)

gpu-check: $(VENV)/.test ## Test the agent on a real NVIDIA card; skips without one
	@$(BIN)/python -m pytest -s tests/gpu $(ARGS)

engine: $(VENV)/.test ## Judge a server that calls itself Postgres: DSN=postgresql://.../name_test
	@$(BIN)/python tests/support/get_pgtap.py
	@DSN="$(DSN)" $(BIN)/python tools/judge_engine.py $(ARGS)

bench: $(VENV)/.bench ## Measure qwf, in fifteen minutes; ARGS="--only drain" to select scenarios
	@$(BIN)/python -m bench all $(ARGS)

bench-peers: $(VENV)/.bench ## Measure qwf and its peers in turn, on the same server
	@$(BIN)/python -m bench peers $(ARGS)

bench-workflows: $(VENV)/.bench ## Measure workflows on qwf, DBOS, Celery and Prefect in turn
	@$(BIN)/python -m bench workflows $(ARGS)

docs: $(VENV)/.test ## Regenerate the generated parts of docs/
	@$(BIN)/python tools/include_examples.py
	@$(BIN)/python tools/definition_tables.py
	@$(BIN)/python tools/generate_sql_api.py
	@$(BIN)/python tools/contents.py

pictures: $(VENV)/.test ## Take the pictures of the page in docs/pictures again
	@$(BIN)/python tools/pictures.py

sandbox: sandbox-build ## Open the page with Postgres in the browser (needs node and npm)
	@echo "http://127.0.0.1:$(SANDBOX_PORT)/"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/sandbox $(SANDBOX_PORT)

sandbox-build: $(VENV)/.run ## Build that page in build/sandbox, for any static web server
	@npm ci --prefix sandbox --no-audit --no-fund --loglevel=error >/dev/null
	@$(BIN)/qwf migrate sql | node sandbox/build.mjs build/sandbox

film: sandbox-build $(VENV)/.test ## Make the film of that page in docs/pictures again
	@$(BIN)/python tools/film.py

site: sandbox-build $(VENV)/.test ## Build the documentation as a site in build/site, with the sandbox
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/site/index.html"

release: $(VENV)/.test ## Write the scripts of a release: VERSION=0.2.0; YES=1 lets public views be made again
	@$(BIN)/python tools/release.py "$(VERSION)" $(YES)

sqitch-scripts: $(VENV)/.run ## Write build/sqitch, a tree for stock sqitch
	@$(BIN)/python tools/sqitch_scripts.py

lint: $(VENV)/.test ## Run ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy

clean: ## Remove everything make created in the checkout
	@rm -rf $(VENV) build dist sandbox/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer is needed: install it, or run make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot create virtual environments: apt-get install python3-venv" >&2; exit 1; }
	@echo "creating $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv --clear $(VENV)
	@touch $@

# A stamp means that all packages of its extra are there: `test` has those of all but `bench`.
$(VENV)/.run: $(VENV)/.made pyproject.toml
	@echo "installing qwf and the demo's dependencies"
	@$(PIP) install -e '.[embedded,demo,web]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	@echo "installing qwf and what most tests need"
	@$(PIP) install -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	@echo "installing qwf and the benchmark's dependencies"
	@$(PIP) install -e '.[bench]'
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo "installing qwf and the tests' dependencies"
	@$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/.run $(VENV)/.dev
