# What people do daily, one command each.
PYTHON ?= python

.PHONY: setup test embedded lint lock docs

setup:  ## install everything for development
	$(PYTHON) -m pip install -r requirements-dev.txt

test:  ## the whole offline suite: types, style, import rules included
	$(PYTHON) -m pytest

embedded:  ## the README's specs, end to end, on the embedded model
	$(PYTHON) -m pytest -m embedded

lint:  ## style and types alone
	$(PYTHON) -m ruff check . && $(PYTHON) -m ruff format --check . && $(PYTHON) -m mypy

LOCK = uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

lock:  ## requirements*.txt from pyproject.toml; add --upgrade for new versions: make lock LOCK_FLAGS=--upgrade
	$(LOCK) $(LOCK_FLAGS) --output-file requirements.txt
	$(LOCK) $(LOCK_FLAGS) --extra dev --output-file requirements-dev.txt

docs:  ## the generated parts of docs/
	$(PYTHON) docs/generate.py
