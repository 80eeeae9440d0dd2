# `make demo` and `make test` need only Python >= 3.11 and make; each prepares .venv when it must.
PYTHON ?= python3
BIN := .venv/bin

GRAPHS ?= ../shared/data/graphs
TPCH ?= tpch.duckdb

.PHONY: demo test test-slow bench bench-tpch accuracy reproduce clean

demo: .venv/installed
	$(BIN)/recuse demo

test: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not slow"

test-slow: .venv/installed-test
	$(BIN)/python -m pytest -m slow

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

# GRAPHS: a folder of graph files; without it only generated relations are timed
bench: .venv/installed-test
	$(BIN)/python -m recuse.experiments.bench $(if $(wildcard $(GRAPHS)),--graphs $(GRAPHS)) --out bench-results

# TPC-H at scale 1, for `bench-tpch`, `accuracy` and `reproduce`; nothing else makes it, and `reproduce` does without
tpch.duckdb: | .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check tpchgen-cli
	$(BIN)/tpchgen-cli parquet -s 1 --output-dir=tpch-parquet
	$(BIN)/python -m recuse.experiments.tpch load tpch-parquet $@
	rm -r tpch-parquet

# TPCH: a database made by `make tpch.duckdb`, or by `python -m recuse.experiments.tpch load PARQUET_FOLDER DATABASE`
bench-tpch: .venv/installed
	$(BIN)/python -m recuse.experiments.tpch bench $(TPCH)

# the table of docs/accuracy.md: hours; a stopped run continues
accuracy: .venv/installed-test
	$(BIN)/python -m recuse.experiments.accuracy_report --graphs $(GRAPHS) --tpch $(TPCH) --out accuracy-results --page docs

# every figure and table of the paper, reduced; `recuse lab reproduce all --full` runs them at full size
reproduce: .venv/installed-test
	$(BIN)/recuse lab reproduce all --out reproduction $(if $(wildcard $(GRAPHS)),--graphs $(GRAPHS)) $(if $(wildcard $(TPCH)),--tpch $(TPCH))

clean:
	rm -rf .venv .hypothesis .mypy_cache .ruff_cache .pytest_cache
