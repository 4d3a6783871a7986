# Two targets for everybody: `make demo` and `make test`. Each makes its own environment first and repeats quickly.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip --disable-pip-version-check --quiet
UV      = $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python
# uv takes a quarter of the time; where it reaches no index that pip is configured for, pip installs
install = $(UV) $(1) || $(PIP) install $(1)
DEMO   ?= aoe-reports-demo
LOWEST  = $(VENV)/lowest
LOWEST_TESTS = tests/test_lowest.py tests/cli/test_commands.py tests/cli/test_progress.py tests/jobs/test_report.py tests/store/test_findings.py tests/store/test_care.py \
	$(addprefix tests/present/test_,figures.py plots.py notebook.py screen.py renderers.py check_report.py) tests/site/pages/test_series_pages.py tests/site/test_odd_records.py \
	tests/formats/test_exports.py tests/formats/test_results.py tests/formats/test_timeline.py tests/history/series/test_series.py tests/engine/test_remote_captures.py

LOCK = $(BIN)/uv pip compile --quiet --system-certs --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" $(UPGRADE)

# What Python compiles is kept: else each of the thousands of interpreters that tests start, and each worker with its tests, compiles all anew
unexport PYTHONDONTWRITEBYTECODE

# a file of tests stays with one worker: what its tests share is made once; files with slow tests come first (tests/conftest.py)
PYTEST = $(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# the files that name a marker: each worker would import all others only to leave them out
MARKED = $(shell grep --recursive --files-with-matches --word-regexp --include='test_*.py' 'mark\.$(1)' tests)
# what has a group of its own is no part of `make test`
PLAIN  = not browser and not integrations and not notebooks and not site_docs and not torture
READER = src/aoe_reports/formats/libreader.so
# what reads timelines, which is all that the compiled reader does
READING_TESTS = $(addprefix tests/formats/test_,native.py events.py timeline.py one_pass.py one_verdict.py cut.py mindspore_files.py device_events.py profile.py) \
	tests/damage/test_kinds_of_damage.py $(addprefix tests/real/test_,cases.py critical_path.py every_file.py explain.py host.py pipeline.py timelines.py trace.py) \
	tests/facts/test_timing.py

.PHONY: demo test quick with-reader lint types contracts tests slow-tests everything browser browser-tests integrations notebooks torture goldens goldens-update lowest coverage docs site-docs site-docs-checks docs-catalogue lock release catalogues snapshots benchmarks lines clean

demo: $(VENV)/.installed
	$(BIN)/aoe-reports demo -o $(DEMO)

test: lint types contracts tests

# While you edit: without the tests that take more than a second each
quick: lint
	$(PYTEST) -m "$(PLAIN) and not slow"

# The compiled reader gives what is read without it: the tests of reading, and what commands print of timelines, once more with it
with-reader: $(VENV)/.tools
	AOE_REPORTS_WITHOUT_READER= $(PIP) install --editable . --no-deps
	if test -f $(READER); then \
		$(PYTEST) -m "$(PLAIN)" $(READING_TESTS) && $(BIN)/pytest --numprocesses auto --dist worksteal tests/goldens -k timelines; \
	elif cargo --version 2>/dev/null; then echo "the compiled reader was not built"; exit 1; \
	else echo "no usable cargo on this machine: there is no compiled reader to test"; fi

lint: $(VENV)/.tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec examples/containers/compose.yaml

types: $(VENV)/.tools
	$(BIN)/mypy

contracts: $(VENV)/.tools
	$(BIN)/lint-imports

tests: $(VENV)/.tools
	$(PYTEST) -m "$(PLAIN)"

# The tests that took most CPU seconds in the runs since `make clean`, and their share of all
slow-tests: $(VENV)/.tools
	$(BIN)/python tests/cpu_seconds.py

# What any group of tests installs, at once: then several of them can run beside each other
everything: $(VENV)/.tools browser
	$(call install,--group docs --group notebooks)
	touch $(VENV)/.docs $(VENV)/.notebooks

# Debian's chromium and axe-core, where they can be had; without them the tests that drive a browser are skipped
browser:
	tests/browser/install.sh

browser-tests: $(VENV)/.tools browser
	$(PYTEST) -m browser $(call MARKED,browser)

# The notebooks of examples/, in kernels of their own
notebooks: $(VENV)/.notebooks
	$(PYTEST) -m notebooks tests/notebooks

# Races, kills, daemons, damage anywhere: many processes, and waits
torture: $(VENV)/.tools
	$(PYTEST) -m torture $(call MARKED,torture)

# What integrations/ ships, by the schemas and tools of its systems; those of Debian (promtool, systemd-analyze) where they are
integrations: $(VENV)/.tools
	$(BIN)/pytest --numprocesses auto -m integrations tests/integrations

# What every command prints for every fixture is what it printed before; a group of its own beside `tests`
goldens: $(VENV)/.tools
	$(BIN)/pytest --numprocesses auto --dist worksteal tests/goldens

# After a change of what is printed, on purpose: writes all of it down anew
goldens-update: $(VENV)/.tools
	$(BIN)/python tests/goldens/run.py --update

# The lower bounds in pyproject.toml hold: tests that go through every dependency, with the lowest version of each
lowest: $(VENV)/.tools
	$(BIN)/python -m venv --clear --without-pip $(LOWEST)
	$(BIN)/uv pip install --quiet --system-certs --python $(LOWEST)/bin/python --resolution lowest-direct --editable . --group test
	AOE_REPORTS_LOWEST=1 $(LOWEST)/bin/pytest --quiet --numprocesses auto --dist loadfile -m "$(PLAIN) and not slow" $(LOWEST_TESTS)

# The same with what they reach; counting lines takes almost as long as the tests themselves
coverage: $(VENV)/.tools browser
	$(PYTEST) --cov --cov-report=term

docs: $(VENV)/.tools
	$(BIN)/python docs/generate.py

# The documentation as a site, in English and in Chinese, each with an example site of simulated nights in it; a warning is an error
SPHINX = $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going

SITE_en = docs/_build/site
SITE_zh = $(SITE_en)/zh
LOCALE_en = en
LOCALE_zh = zh_CN

site-docs: $(VENV)/.docs
	rm -rf docs/_build
	$(MAKE) --jobs 2 pages-zh pages-en example-en example-zh

pages-%:
	$(SPHINX) --doctree-dir docs/_build/trees-$* --define language=$(LOCALE_$*) docs $(SITE_$*)

example-%:
	$(BIN)/python docs/example.py $(SITE_$*)/example $*

# What was built: whole, translated, readable by everybody, in a browser too
site-docs-checks: site-docs browser
	$(SPHINX) --builder gettext --doctree-dir docs/_build/trees-gettext docs docs/_build/gettext
	$(PYTEST) -m site_docs tests/test_site_docs.py tests/browser/test_docs.py

# What the pages say now, into the catalogue of their translations
docs-catalogue: $(VENV)/.docs
	$(SPHINX) --builder gettext --doctree-dir docs/_build/trees-gettext docs docs/_build/gettext
	$(BIN)/python docs/translate.py

# What an image installs, to the byte: for every platform and Python, without an address. `make lock UPGRADE=--upgrade` takes the newest of all
lock: $(VENV)/.tools
	$(LOCK) pyproject.toml --output-file requirements/runtime.txt
	$(LOCK) pyproject.toml --extra fleet --output-file requirements/fleet.txt
	$(LOCK) --group build --output-file requirements/build.txt
	$(BIN)/python release/wheels.py

# Wheel, sdist, SBOM and sums in dist/, of what is committed: built twice, checked, and tried in fresh environments of every Python that is here
release: $(VENV)/.tools
	$(UV) --group release
	$(BIN)/python release/build.py

# The texts that people read, from the source into what translators write
catalogues: $(VENV)/.tools
	$(BIN)/python docs/catalogues.py

# How many lines each room has, and its tests
lines:
	$(PYTHON) docs/lines.py

snapshots: $(VENV)/.tools browser
	$(BIN)/python docs/snapshots.py

benchmarks: $(VENV)/.tools
	$(BIN)/python benchmarks/hotspots.py
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/advise.py
	$(BIN)/python benchmarks/verdicts.py
	$(BIN)/python benchmarks/tuning_jobs.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/discovery.py
	$(BIN)/python benchmarks/timeline.py
	$(BIN)/python benchmarks/timeline_questions.py
	$(BIN)/python benchmarks/trace.py
	$(BIN)/python benchmarks/database.py
	$(BIN)/python benchmarks/results.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/site.py
	$(BIN)/python benchmarks/regressions.py
	$(BIN)/python benchmarks/stragglers.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1" uv

$(VENV)/.installed: pyproject.toml $(VENV)/bin/python
	$(UV) --requirements pyproject.toml || true # what is missing then pip gets
	$(PIP) install --editable .
	touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.installed
	$(call install,--group dev)
	touch $@

$(VENV)/.docs: $(VENV)/.tools
	$(call install,--group docs)
	touch $@

$(VENV)/.notebooks: $(VENV)/.tools
	$(call install,--group notebooks)
	touch $@

clean:
	rm -rf $(VENV) $(DEMO) build dist docs/_build tests/browser/node_modules .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
