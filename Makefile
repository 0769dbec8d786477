# `make demo` and `make test` are all a newcomer types: each makes the environment it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
# One cache of compiled kernels for everything that is tested, so that each kernel is compiled once.
TEST_CACHE := $(CURDIR)/.cache/arcreach
# CI installs the versions of .ci/constraints.txt, which `make lock` writes; elsewhere the newest that pyproject.toml allows.
LOCK := $(if $(CI),--constraint .ci/constraints.txt)

# What runs a second time as plain Python, where coverage sees into kernels: the layers that call them.
PLAIN := kernels robots scenes ik planning

.PHONY: demo test lint docs clean benchmark peers lock

demo: .venv/core
	$(BIN)/python examples/01_first_robot.py

# Kernels for a GPU run in numba's simulator; `pytest -m gpu` runs those that need a real one.
test: .venv/dev
	ARCREACH_CACHE_DIR=$(TEST_CACHE) $(BIN)/arcreach warm-up
	ARCREACH_CACHE_DIR=$(TEST_CACHE) NUMBA_ENABLE_CUDASIM=1 $(BIN)/pytest -q -n auto --dist loadgroup --durations=25
	NUMBA_DISABLE_JIT=1 NUMBA_ENABLE_CUDASIM=1 $(BIN)/pytest -q -n auto --durations=25 -m "not compiled" \
	    $(PLAIN:%=--cov=src/arcreach/%) --cov-report=term --cov-fail-under=90 $(PLAIN:%=tests/%) tests/gpu

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/dev
	ARCREACH_CACHE_DIR=$(TEST_CACHE) $(BIN)/sphinx-build -W --keep-going -b html -d build/doctrees docs build/docs

# In an environment of the lowest Python that is supported: what its packages need holds for later ones too.
lock: .venv/dev
	$(BIN)/python -m pip freeze --exclude-editable > .ci/constraints.txt

benchmark: .venv/dev
	$(BIN)/python benchmarks/kinematics.py

peers: build/peers-venv/done
	build/peers-venv/bin/python -m benchmarks.peers --page

clean:
	rm -rf .venv .cache build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Python compiles modules when they are first imported, which most of those installed never are, and keeps them.
unexport PYTHONDONTWRITEBYTECODE
.venv/core: WANTED := ".[studio,figures]"
.venv/dev: WANTED := ".[all]" --group dev
.venv/core .venv/dev: pyproject.toml $(if $(CI),.ci/constraints.txt)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile $(LOCK) --editable $(WANTED)
	touch .venv/core $@

# Apart from .venv: the packages compared with bring half a hundred others.
build/peers-venv/done: pyproject.toml
	$(PYTHON) -m venv build/peers-venv
	build/peers-venv/bin/python -m pip install --quiet --upgrade pip
	build/peers-venv/bin/python -m pip install --quiet --editable . --group peers
	touch $@
