# Two targets for everybody: `make demo` and `make test`. Each makes its own environment first and repeats quickly.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO   ?= aoe-reports-demo
LOWEST  = $(VENV)/lowest
LOWEST_TESTS = tests/test_lowest.py tests/cli/test_commands.py tests/cli/test_report.py tests/renderers tests/site tests/store/test_findings.py \
	tests/store/test_care.py tests/readers/test_exports.py tests/readers/test_results.py tests/readers/test_timeline.py tests/regression/test_series.py

.PHONY: demo test lint types contracts browser tests lowest coverage docs snapshots benchmarks clean

demo: $(VENV)/.installed
	$(BIN)/aoe-reports demo -o $(DEMO)

test: lint types contracts tests

lint: $(VENV)/.tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.tools
	$(BIN)/mypy

contracts: $(VENV)/.tools
	$(BIN)/lint-imports

# Debian's chromium and axe-core, where they can be had; without them the tests in tests/browser are skipped
browser:
	tests/browser/install.sh

tests: $(VENV)/.tools browser
	$(BIN)/pytest --numprocesses auto

# The lower bounds in pyproject.toml hold: tests that go through every dependency, with the lowest version of each
lowest: $(VENV)/.tools
	$(BIN)/python -m venv --clear $(LOWEST)
	$(BIN)/uv pip install --quiet --system-certs --python $(LOWEST)/bin/python --resolution lowest-direct --editable . --group test
	AOE_REPORTS_LOWEST=1 $(LOWEST)/bin/pytest --quiet --numprocesses auto $(LOWEST_TESTS)

# The same with what they reach; counting lines takes almost as long as the tests themselves
coverage: $(VENV)/.tools browser
	$(BIN)/pytest --numprocesses auto --cov --cov-report=term

docs: $(VENV)/.tools
	$(BIN)/python docs/generate.py

snapshots: $(VENV)/.tools browser
	$(BIN)/python docs/snapshots.py

benchmarks: $(VENV)/.tools
	$(BIN)/python benchmarks/hotspots.py
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/advise.py
	$(BIN)/python benchmarks/verdicts.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/discovery.py
	$(BIN)/python benchmarks/timeline.py
	$(BIN)/python benchmarks/breakdown.py
	$(BIN)/python benchmarks/database.py
	$(BIN)/python benchmarks/results.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/site.py
	$(BIN)/python benchmarks/regressions.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"

$(VENV)/.installed: pyproject.toml $(VENV)/bin/python
	$(PIP) install --editable .
	touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.installed
	$(PIP) install --group dev
	touch $@

clean:
	rm -rf $(VENV) $(DEMO) dist tests/browser/node_modules .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
