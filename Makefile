# Every target sets up what it needs in .venv, from a fresh clone.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers/.ready

.PHONY: test lint types imports unit siege bench bench-check docs release reproduce serve demo pictures mutate clean

# The linter takes a second; the rest goes side by side.
test: lint
	$(MAKE) --no-print-directory --jobs 3 types imports unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports --no-cache

unit: $(READY)
	$(BIN)/pytest --numprocesses logical --dist loadfile --no-loadscope-reorder

# Attacks on three servers at once, ten minutes on each database: make siege SECONDS_EACH=60.
SECONDS_EACH ?= 600
siege: $(READY)
	$(BIN)/python -m tests.siege $(SECONDS_EACH)

bench: $(READY) $(PEERS)
	$(BIN)/python -m benchmarks

bench-check: $(READY)
	$(BIN)/python -m benchmarks.check

docs: $(READY)
	$(BIN)/sphinx-build --fail-on-warning --quiet --builder html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# Wheel and sdist, tried in clean environments: make release PYTHONS="python3.11 python3.13".
PYTHONS ?= $(PYTHON)
release: $(READY)
	tests/release.sh $(PYTHONS)

reproduce: $(READY)
	$(BIN)/evenhand reproduce

serve: $(READY)
	$(BIN)/evenhand serve

demo: $(READY)
	$(BIN)/evenhand demo

pictures: $(READY)
	for example in examples/*.py; do $(BIN)/python $$example docs; done
	$(BIN)/python docs/pictures.py

mutate: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt cosmic-ray
	$(BIN)/python -m tests.mutation

$(READY): pyproject.toml constraints.txt
	@echo "setting up .venv: this takes a minute or two the first time"
	$(PYTHON) -m venv .venv
	@echo "installing what constraints.txt pins"
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev]' | grep --line-buffered -E "^(Collecting|Installing|Successfully)" | cut -c1-100
	touch $(READY)

# Other people's libraries, measured beside ours, have an environment of their own.
$(PEERS): benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers/requirements.txt
	touch $(PEERS)

clean:
	rm -rf .venv .venv-peers .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
