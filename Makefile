# Every target sets up what it needs in .venv, from a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: test lint types imports unit bench reproduce mutate clean

test: lint types imports unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports --no-cache

unit: $(READY)
	$(BIN)/pytest

bench: $(READY)
	$(BIN)/python -m benchmarks

reproduce: $(READY)
	$(BIN)/evenhand reproduce

mutate: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt cosmic-ray
	$(BIN)/python -m tests.mutation

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
