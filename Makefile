# `make` alone prints the targets. Everything is installed into .venv; nothing outside the checkout
# is touched but the embedded server's data in ~/.qwf (or QWF_HOME).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$$p" && break; done)

.PHONY: help demo up down deploy revert verify test gpu-check bench bench-peers docs sqitch-scripts lint clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.run ## Run the example on real photographs to its end (PHOTOS=folder for your own)
	@$(BIN)/qwf demo $(if $(PHOTOS),--photos "$(PHOTOS)")

up: $(VENV)/.run ## Start the embedded Postgres under ~/.qwf and migrate it
	@$(BIN)/qwf up

down: $(VENV)/.run ## Stop the embedded Postgres
	@$(BIN)/qwf down

deploy: $(VENV)/.run ## Bring the database of QWF_DSN (or of `make up`) up to date
	@$(BIN)/qwf migrate deploy

verify: $(VENV)/.run ## Check that the database is as it was deployed
	@$(BIN)/qwf migrate verify

revert: $(VENV)/.run ## Take everything out of the database again (asks first)
	@$(BIN)/qwf migrate revert

test: lint $(VENV)/.test ## Run every check there is; ARGS="-k claim" for some of the tests
	@$(BIN)/python tests/get_pgtap.py
	@$(BIN)/python -m pytest -n 2 $(ARGS)

gpu-check: $(VENV)/.test ## Try the agent on a real NVIDIA card; skips where there is none
	@$(BIN)/python -m pytest -s tests/gpu $(ARGS)

bench: $(VENV)/.bench ## Measure qwf, five minutes; ARGS="--only drain" for some of it
	@$(BIN)/python -m bench all $(ARGS)

bench-peers: $(VENV)/.bench ## Measure qwf and its peers in turn, on the same server
	@$(BIN)/python -m bench peers $(ARGS)

docs: $(VENV)/.test ## Write the generated parts of docs/ again
	@$(BIN)/python tools/include_examples.py
	@$(BIN)/python tools/generate_sql_api.py

sqitch-scripts: $(VENV)/.run ## Write build/sqitch, a tree for stock sqitch
	@$(BIN)/python tools/sqitch_scripts.py

lint: $(VENV)/.test ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy

clean: ## Remove what make made in the checkout
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer is needed: install it, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: apt-get install python3-venv" >&2; exit 1; }
	@echo "making $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv --clear $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.made pyproject.toml
	@echo "installing qwf and what the demo needs"
	@$(PIP) install -e '.[embedded,demo]'
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	@echo "installing qwf and what the benchmark needs"
	@$(PIP) install -e '.[bench]'
	@touch $@ $(VENV)/.run

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo "installing qwf and what the tests need"
	@$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/.run
