# One command sets up and runs: make demo. One sets up and passes the tests: make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.8
ENGINE := $(shell nvidia-smi -L >/dev/null 2>&1 && echo gpu || echo cpu)
STAMP := $(VENV)/.installed-$(ENGINE)
# A folder of local wheels (PIP_FIND_LINKS) is used as it is; without one the CPU build of torch comes from its
# own index. Naming both would ask the network although the wheel lies there.
TORCH := $(if $(PIP_FIND_LINKS),$(foreach place,$(PIP_FIND_LINKS),--find-links "$(place)"),--torch-backend $(if $(filter gpu,$(ENGINE)),auto,cpu))
EXCLUDES := $(if $(filter cpu,$(ENGINE)),--excludes requirements/excludes-cpu.txt)
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --no-python-downloads $(TORCH) $(EXCLUDES) \
	--constraints requirements/constraints-$(ENGINE).txt
# Many short processes import torch: compiling it anew in each (11 s measured) would be most of their time.
unexport PYTHONDONTWRITEBYTECODE
# One worker: engines, cages and their time limits share the cores with it already.
SLOW_WORKERS ?= 1

.PHONY: help setup demo test check schema bench system clean

help:
	@echo "make demo   set up, sample two tiny models with a real vLLM engine, print the comparison"
	@echo "make test   set up, check the code, run the whole test suite"
	@echo "make setup  set up alone ($(ENGINE) build, into $(VENV)/)"
	@echo "make check  ruff, mypy --strict, import-linter"
	@echo "make schema generate docs/json.schema.json and suites/suite.schema.json from the models"
	@echo "make bench  what measures speed; figures in benchmarks/RESULTS.md"

setup: system $(STAMP)

$(STAMP): pyproject.toml $(wildcard requirements/*.txt)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "genbench needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ echo "no venv module: install it (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(UV) --editable ".[$(ENGINE),dev]"
	@touch $@

system:
	@sh requirements/system.sh

demo: setup
	@$(BIN)/genbench run quickstart --run-dir runs/quickstart
	@$(BIN)/genbench compare runs/quickstart/base runs/quickstart/tuned

test: setup check
	@sh requirements/system.sh dev
	@$(BIN)/python -m pytest -n $(SLOW_WORKERS) --dist loadfile

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

schema: setup
	@$(BIN)/python -m genbench.reports.schemas

bench: setup
	@for script in benchmarks/*.py; do echo "== $$script"; case $$script in \
		*/math_answers.py) set -- "$(or $(GENBENCH_GOLD),../shared)/data/hub/HuggingFaceH4/MATH-500/default/test.jsonl" ;; \
		*) set -- ;; esac; $(BIN)/python $$script "$$@" || exit 1; done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
