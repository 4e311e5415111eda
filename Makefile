# `make demo` sets up and runs. `make test` sets up and runs all checks and tests. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.8
ENGINE := $(shell nvidia-smi -L >/dev/null 2>&1 && echo gpu || echo cpu)
STAMP := $(VENV)/.installed-$(ENGINE)
# With a folder of local wheels (PIP_FIND_LINKS) no index is named, since uv would ask the network in spite of the
# local wheel. Without one, the CPU build of torch comes from its own index.
TORCH := $(if $(PIP_FIND_LINKS),$(foreach place,$(PIP_FIND_LINKS),--find-links "$(place)"),--torch-backend $(if $(filter gpu,$(ENGINE)),auto,cpu))
EXCLUDES := $(if $(filter cpu,$(ENGINE)),--excludes requirements/excludes-cpu.txt)
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --no-python-downloads $(TORCH) $(EXCLUDES) \
	--constraints requirements/constraints-$(ENGINE).txt
# Many short processes import torch. Compiling it again in each of them (11 s measured) would take most of their time.
unexport PYTHONDONTWRITEBYTECODE
# Tests wait for the processes that they start for a quarter of their time: two cores are full with three workers.
TEST_WORKERS ?= 3

# Where the libraries of BigCodeBench's tests go: 3 GB, which nothing else here needs.
BIGCODEBENCH ?= .bigcodebench
BIGCODEBENCH_PYTHON ?= 3.10

.PHONY: help bigcodebench setup demo test quick chaos check docs schema wheel bench bench-quick system clean

help:
	@echo "make demo    set up, sample two tiny models with a real vLLM engine, print the comparison"
	@echo "make test    set up, check the code, run all tests (what CI runs)"
	@echo "make quick   run the tests that need neither an engine nor much time (2 to 4 minutes)"
	@echo "make chaos   disturb runs of 5,000 samples with 45 faults (6 minutes, an hour on a busy machine)"
	@echo "make wheel   build the wheel of a release into dist/"
	@echo "make setup   create $(VENV)/ with the $(ENGINE) build of vLLM"
	@echo "make check   run ruff, mypy --strict and import-linter"
	@echo "make docs    build the documentation into site/; a broken link is an error"
	@echo "make schema  write the JSON schemas, docs/openapi.json and docs/parity/ from the code"
	@echo "make bench   measure speed; results are kept in benchmarks/RESULTS.md"
	@echo "make bench-quick   print the CPU a sample of each verifier and of the host next to the last row of RESULTS.md"
	@echo "make bigcodebench   create $(BIGCODEBENCH)/ with the libraries of BigCodeBench's tests (Python 3.10, 3 GB)"
	@echo "make clean   remove $(VENV)/ and caches"

setup: system $(STAMP)

$(STAMP): pyproject.toml $(wildcard requirements/*.txt)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "genbench needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ echo "no venv module: install it (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(UV) --editable ".[$(ENGINE),dev,docs]"
	@touch $@

system:
	@sh requirements/system.sh

demo: setup
	@$(BIN)/genbench run quickstart --run-dir runs/quickstart
	@$(BIN)/genbench compare runs/quickstart/base runs/quickstart/tuned

test: setup check
	@sh requirements/system.sh dev
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder

quick: setup
	@$(BIN)/python -m pytest -q -n $(TEST_WORKERS) --dist loadfile -m "not engine and not slow"

# make test has 16 of these faults: 8 of an engine and its processes, 8 of a server, the disk and the run.
# A test may take longer here than in make test: it starts ten engines one after another, and draws 2,200 samples twice.
CHAOS_TEST_S ?= 5400
chaos: setup
	@GENBENCH_CHAOS=full $(BIN)/python -m pytest -v -n 0 --timeout $(CHAOS_TEST_S) tests/end_to_end/test_chaos.py tests/end_to_end/test_chaos_served.py \
		tests/agents/gateway/test_hostile_harnesses.py tests/sandbox/test_self_excluding.py tests/agents/images/test_kills.py

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "built site/index.html"

# Without compiled files each program compiles what it imports, which takes three times the CPU.
bigcodebench: setup
	@test -x $(BIGCODEBENCH)/bin/python || $(BIN)/uv venv --quiet --python $(BIGCODEBENCH_PYTHON) $(BIGCODEBENCH) || \
		{ echo "no Python 3.10 here or to download; name one: make bigcodebench BIGCODEBENCH_PYTHON=/path/to/python3.10"; exit 1; }
	$(BIN)/uv pip install --quiet --python $(BIGCODEBENCH)/bin/python --compile-bytecode -r requirements/bigcodebench.txt
	@echo "in a suite: verifier: {environment: {python: $(abspath $(BIGCODEBENCH)), lock: $(abspath requirements/bigcodebench.txt)}}"

wheel: setup
	@$(BIN)/python -m hatchling build -t wheel -d dist
	@ls dist/*.whl

schema: setup
	@$(BIN)/python -m genbench.reports.schemas
	@$(BIN)/python -m genbench.team.service.app
	@$(BIN)/python -m genbench.reports.parity

bench: setup
	@for script in benchmarks/*.py; do echo "== $$script"; case $$script in \
		*/math_answers.py) set -- "$(or $(GENBENCH_GOLD),../shared)/data/hub/HuggingFaceH4/MATH-500/default/test.jsonl" ;; \
		*) set -- ;; esac; $(BIN)/python $$script "$$@" || exit 1; done

bench-quick: setup
	@$(BIN)/python benchmarks/quick.py

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache
