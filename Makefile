# `make demo`, `make test` and `make docs` need only Python >= 3.11 and make; each prepares .venv when it must.
PYTHON ?= python3
BIN := .venv/bin

GRAPHS ?= ../shared/data/graphs
TPCH ?= tpch.duckdb

# the laws' profile (tests/support/profiles.py): quick, whole, ci or nightly; and how many processes test at once
PROFILE ?= quick
WORKERS ?= $(shell $(PYTHON) -c "import os; print(min(4, os.cpu_count() or 1))")
# compiled modules are kept: tests start many processes
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
INNER := -m "not slow and not engine and not server and not people" --ignore tests/server --ignore tests/people
QUICK := $(INNER) --ignore tests/lab

.PHONY: demo test quick lint test-slow test-lab test-engines test-server test-people coverage mutate docs bench bench-tpch accuracy reproduce clean

demo: .venv/installed
	$(BIN)/recuse demo

test: .venv/installed-test
	@echo "ruff, mypy and all tests but the slow ones: about seven minutes on two idle cores; this is with $(WORKERS) processes"
	@date +%s > .venv/began
	$(MAKE) --no-print-directory --jobs=2 lint quick
	@echo "make test took $$(( $$(date +%s) - $$(cat .venv/began) )) seconds with $(WORKERS) processes and the profile $(PROFILE)"

# beside lint, so that no core waits for mypy
quick: .venv/installed-test
	HYPOTHESIS_PROFILE=$(PROFILE) $(PYTEST) $(QUICK)

lint: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# comparators and experiments, which are no part of an answer: nothing outside imports them
test-lab: .venv/installed-test
	HYPOTHESIS_PROFILE=$(PROFILE) $(PYTEST) $(INNER) tests/lab

# what needs a server of another engine: a wheel brings PostgreSQL, else the system's is started, else it is skipped
test-engines: .venv/installed-engines
	HYPOTHESIS_PROFILE=$(PROFILE) $(BIN)/python -m pytest -m "engine and not slow" -r s tests/engines

# a server and its clients, in processes of their own
test-server: .venv/installed-server
	HYPOTHESIS_PROFILE=$(PROFILE) $(BIN)/python -m pytest -m "server and not slow" -r s tests/server

# notebooks and guides that are executed, and the tools that people ask with
test-people: .venv/installed-people
	HYPOTHESIS_PROFILE=$(PROFILE) $(BIN)/python -m pytest -m "people and not slow" -r s tests/people tests/test_docs.py

# large inputs, and a thousand examples a law: for the night
test-slow: .venv/installed-test
	HYPOTHESIS_PROFILE=nightly $(PYTEST) -m "slow and not engine"

# which lines and branches the tests reach; fails if one of a privacy-critical module is not (tests/support/coverage.py)
coverage: .venv/installed-test
	HYPOTHESIS_PROFILE=whole $(PYTEST) $(INNER) --cov --cov-report= --cov-report=json:.venv/coverage.json
	$(BIN)/python tests/support/coverage.py .venv/coverage.json

# ten privacy-critical lines, each broken in turn: the quick tests must notice (tests/support/mutate.py)
mutate: .venv/installed-test
	$(BIN)/python tests/support/mutate.py

# the site, into site/; a link that leads nowhere fails the build
docs: .venv/installed-docs
	$(BIN)/python docs/generate_api.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict   # not --quiet: it would pass over warnings, and strictness with them

.venv/created:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Recuse needs Python 3.11 or newer; try: make PYTHON=python3.11')"
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/created pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test]"
	touch $@

.venv/installed-engines: .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,engines]"
	touch $@

.venv/installed-server: .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,server-test]"
	touch $@

.venv/installed-people: .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,server-test,people-test,browser-test]"
	touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	touch $@

# GRAPHS: a folder of graph files; without it only generated relations are timed
bench: .venv/installed-test
	$(BIN)/python -m recuse.lab.experiments.bench $(if $(wildcard $(GRAPHS)),--graphs $(GRAPHS)) --out bench-results

# TPC-H at scale 1, for `bench-tpch`, `accuracy` and `reproduce`; nothing else makes it, and `reproduce` does without
tpch.duckdb: | .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check tpchgen-cli
	$(BIN)/tpchgen-cli parquet -s 1 --output-dir=tpch-parquet
	$(BIN)/python -m recuse.lab.experiments.tpch load tpch-parquet $@
	rm -r tpch-parquet

# TPCH: a database made by `make tpch.duckdb`, or by `python -m recuse.lab.experiments.tpch load PARQUET_FOLDER DATABASE`
bench-tpch: .venv/installed
	$(BIN)/python -m recuse.lab.experiments.tpch bench $(TPCH)

# the table of docs/results/accuracy.md: hours; a stopped run continues
accuracy: .venv/installed-test
	$(BIN)/python -m recuse.lab.experiments.accuracy_report --graphs $(GRAPHS) --tpch $(TPCH) --out accuracy-results --page docs/results

# every figure and table of the paper, reduced; `recuse lab reproduce all --full` runs them at full size
reproduce: .venv/installed-test
	$(BIN)/recuse lab reproduce all --out reproduction $(if $(wildcard $(GRAPHS)),--graphs $(GRAPHS)) $(if $(wildcard $(TPCH)),--tpch $(TPCH))

clean:
	rm -rf .venv .hypothesis .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.* site
