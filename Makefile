# Two commands: `make demo` runs the whole chain on the sprites world, `make test` checks the project.
PYTHON ?= python3
VENV ?= .venv
CORES ?= all
CONFIG ?= config/config.yaml
BIN := $(VENV)/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG)
TESTBED = $(shell sed -n 's/^testbed: *//p' $(CONFIG) | tail -n 1)
IMAGES = $(patsubst %.def,%.sif,$(wildcard containers/*.def))
REPORT = results/$(TESTBED)/report.html
# The locks name all that is needed: nothing is left to resolve. What is imported is compiled then, once, and kept.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-compile

.PHONY: demo plan costs test test-neo4j lint faults report locks envs containers containers-test clean help
help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1: /p' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## set up, run CONFIG (config/config.yaml), and say where the report is
	$(SNAKEMAKE)
	@$(MAKE) --no-print-directory report
	@echo "The report:      $(REPORT)"
	@echo "All on one page: results/$(TESTBED)/paper/index.html"

report: $(VENV)/.installed  ## make the Snakemake report of what has been run
	@if [ ! -e $(REPORT) ] || [ results/$(TESTBED)/paper/index.html -nt $(REPORT) ]; then \
	  $(SNAKEMAKE) --report $(REPORT); fi

plan: $(VENV)/.installed  ## say what a run of CONFIG would do, why, and about what it would cost
	@$(BIN)/python workflow/plan.py --configfile $(CONFIG)

costs: $(VENV)/.installed  ## put what a finished run of CONFIG cost into config/costs.tsv
	@$(BIN)/python workflow/plan.py --configfile $(CONFIG) --measure

test: lint  ## lint, then all tests
	$(BIN)/pytest -n 2 --dist loadgroup

test-neo4j: $(VENV)/.installed-dev  ## the long tests on Neo4j: restarts, kills, the chain with a server of its own
	$(BIN)/pytest -n 0 -m long_neo4j tests/integration

lint: $(VENV)/.installed-dev  ## ruff, snakefmt and snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check workflow rules
	$(BIN)/snakemake --configfile $(CONFIG) --lint

# A machine with no GPU needs no CUDA: the CPU build is taken where pip offers one.
$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	@command -v nvidia-smi >/dev/null 2>&1 \
	  || $(PIP_INSTALL) torch==$(shell sed -n 's/^torch==\([^ ]*\).*/\1/p' requirements.lock)+cpu 2>/dev/null \
	  || echo "pip offers no CPU build of torch here: taking the default one"
	$(PIP_INSTALL) -r requirements.lock
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(PIP_INSTALL) -r requirements-dev.lock
	@touch $@

ROUNDS ?= 200
SEED ?= 1
faults: $(VENV)/.installed-dev  ## kill, starve and corrupt ROUNDS small runs and see that each recovers (docs/faults.md)
	PYTHONPATH=workflow:tests $(BIN)/python -m integration.faults --rounds $(ROUNDS) --seed $(SEED)

locks: $(VENV)/.installed  ## write the locks anew; RENEW="NAME …" lets these packages change
	$(BIN)/python envs/generate.py lock --renew $(RENEW)

envs: $(VENV)/.installed  ## write conda environments and what images install, from pyproject.toml and the lock
	$(BIN)/python envs/generate.py

containers: $(IMAGES)  ## build the images with Apptainer
containers/%.sif: containers/%.def containers/requirements-%.txt $(wildcard containers/*.py)
	apptainer build --force $@ $<

containers-test: $(VENV)/.installed-dev  ## run the images' definitions in a Debian root (root and mmdebstrap; minutes)
	COMPVQA_CONTAINERS=1 $(BIN)/pytest -n 0 tests/integration/test_containers.py

clean:  ## remove all results and logs (not the environment)
	rm -rf results resources/sprites logs benchmarks/jobs .snakemake
