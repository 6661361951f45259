# make demo: learn real streams end to end.  make test: all tests.  make quick: two minutes of them.
# make papers: the papers' quick tables.  make docs: the site, in site/.  Each makes .venv if it is
# missing.  make lowest: quick tests with the lowest versions of all libraries.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# tests start hundreds of processes: without bytecode each of them compiles all sources anew
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick lowest lint types docs serve-docs coverage ci bench papers clean

demo: $(STAMP)
	$(BIN)/onkel demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

quick: $(STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --quick tests $(PYTEST_ARGS)

# the lower bounds of pyproject.toml, in an environment of their own
lowest: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)/lowest
	grep -oE '"[a-z0-9-]+(\[[a-z]+\])?>=[0-9.]+' $< | sed 's/"//; s/\[[a-z]*\]//; s/>=/==/' > $(VENV)/lowest/bounds
	$(VENV)/lowest/bin/python -m pip install --quiet --disable-pip-version-check -c $(VENV)/lowest/bounds -e '.[dev]'
	$(VENV)/lowest/bin/python -m pytest -q -n 2 --dist worksteal --quick tests $(PYTEST_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff check --quiet --preview --select PLW1514 .  # a text file says its encoding
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(STAMP)
	$(BIN)/mypy

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "built: site/index.html"

serve-docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

# loops that Numba compiles run outside of Python: they are left out here, and tested without the
# compiler in .ci/run
coverage: $(STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --cov --cov-report=term --cov-report=html $(PYTEST_ARGS)

bench: $(STAMP)
	$(BIN)/python -m benchmarks.speed

papers: $(STAMP)
	$(BIN)/python -m papers 'lsokl.table?' --runs 3 --within 0.2

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "onkel needs Python 3.11 or newer; this is $$($(PYTHON) --version). Set PYTHON=python3.12, say."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist site .gallery htmlcov .coverage demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
