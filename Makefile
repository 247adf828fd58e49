# What people do daily, one command each.
PYTHON ?= python

.PHONY: setup check platforms test test-all test-rest embedded lock docs

setup:  ## install everything for development
	$(PYTHON) -m pip install -r requirements-dev.txt

check:  ## style and types
	$(PYTHON) -m ruff check . && $(PYTHON) -m ruff format --check . && $(PYTHON) -m mypy

LINUX_ONLY = --exclude 'agents/sandbox/(backends|conformance|host)/' --exclude 'agents/sandbox/container/server.py' --exclude /inside/
platforms:  ## types of what runs on macOS and Windows too
	$(PYTHON) -m mypy --cache-dir .mypy_cache/platforms --platform darwin --follow-imports silent $(LINUX_ONLY) agents main.py
	$(PYTHON) -m mypy --cache-dir .mypy_cache/platforms --platform win32 --follow-imports silent $(LINUX_ONLY) agents main.py

test:  ## the offline suite without what takes minutes
	$(PYTHON) -m pytest

test-all:  ## the offline suite with attacks, verdict cases and faults
	$(PYTHON) -m pytest -n 0 -m "not embedded and not slow"

OPTIONAL = tests/bench tests/cli/test_bench.py tests/batch/reports tests/conformance tests/sandbox tests/ui tests/verifier --ignore tests/verifier/static
test-rest:  ## what `make test` leaves out, and what it skips without bubblewrap, chromium, podman, EvalPlus and axe
	$(PYTHON) -m pytest $(OPTIONAL)
	$(PYTHON) -m pytest -m "thorough and not slow"

embedded:  ## the README's specs, end to end, on the embedded model
	$(PYTHON) -m pytest -n 0 -m embedded tests/test_main_job.py

LOCK = uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

lock:  ## requirements*.txt from pyproject.toml; add --upgrade for new versions: make lock LOCK_FLAGS=--upgrade
	$(LOCK) $(LOCK_FLAGS) --output-file requirements.txt
	$(LOCK) $(LOCK_FLAGS) --extra dev --output-file requirements-dev.txt

docs:  ## the generated parts of docs/
	$(PYTHON) docs/generate.py
