# Two commands: `make demo` runs the whole chain on drawn worlds, `make test` checks the project.
PYTHON ?= python3
VENV ?= .venv
INSPECT = .venv-inspect
CORES ?= all
CONFIG ?= config/config.yaml
BIN := $(VENV)/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG)
TESTBED = $(shell sed -n 's/^testbed: *//p' $(CONFIG) | tail -n 1)
IMAGES = $(patsubst %.def,%.sif,$(wildcard containers/*.def))
REPORT = results/$(TESTBED)/report.html
# What is imported is compiled then, once, and kept.
unexport PYTHONDONTWRITEBYTECODE
# Which build of PyTorch to install: cpu, cuda, or auto, as envs/setup.py says.
TORCH ?= auto
export TORCH

.PHONY: demo testbed plan costs test test-neo4j inspect test-inspect lint fresh-setup fresh-test faults report locks envs containers containers-test clean help
help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1: /p' $(MAKEFILE_LIST)

# Without a CONFIG of your own, the demo's test-beds one after another; a CONFIG may be several files, on top of each other.
DEMO := config/config.yaml config/clevr-cogent-small.yaml config/clevr-hope-small.yaml
demo: $(VENV)/.installed  ## set up, run CONFIG or the demo's test-beds, and say where the pages are
ifeq ($(origin CONFIG),file)
	@echo "The demo's test-beds take about 12 minutes on two cores."
	@set -e; for config in $(DEMO); do $(MAKE) --no-print-directory testbed CONFIG=$$config; done
else
	@$(MAKE) --no-print-directory testbed
endif
	@$(MAKE) --no-print-directory results/index.html
	@echo "All test-beds:   results/index.html"

testbed: $(VENV)/.installed  ## run CONFIG, one test-bed
	@echo "Running $(CONFIG): what is made already stays."
	$(SNAKEMAKE)
	@$(MAKE) --no-print-directory report
	@echo "The report:      $(REPORT)"
	@echo "Tables, figures: results/$(TESTBED)/paper/index.html"

# One page above the test-beds that have been run, and their reports
results/index.html: $(wildcard results/*/paper/index.html results/*/report.html)
	@$(BIN)/python -m compvqa contents $@ $(filter %/index.html,$^) --title "Test-beds" \
	  $(foreach report,$(filter %/report.html,$^),--link "$(report:results/%/report.html=%): Snakemake's report=$(report)")

report: $(VENV)/.installed  ## make the Snakemake report of what has been run
	@if [ ! -e $(REPORT) ] || [ results/$(TESTBED)/paper/index.html -nt $(REPORT) ]; then \
	  $(SNAKEMAKE) --report $(REPORT) --report-metadata workflow/report/metadata.yaml; fi

plan: $(VENV)/.installed  ## say what a run of CONFIG would do, why, and about what it would cost
	@$(BIN)/python workflow/plan.py --configfile $(CONFIG)

costs: $(VENV)/.installed  ## put what a finished run of CONFIG cost into config/costs.tsv
	@$(BIN)/python workflow/plan.py --configfile $(CONFIG) --measure

test: lint $(INSPECT)/.installed  ## lint, then all tests
	@echo "Testing: about 14 minutes on two cores."
	$(BIN)/pytest -n 3 --dist loadgroup

inspect: $(INSPECT)/.installed  ## set up what asks vision-language models, in an environment of its own (docs/asking.md)
$(INSPECT)/.installed: requirements-inspect.lock envs/setup.py
	$(PYTHON) envs/setup.py $(INSPECT) --lock $<
	@touch $@

test-inspect: $(INSPECT)/.installed $(VENV)/.installed-dev  ## the tests that ask models behind a server on loopback (minutes)
	COMPVQA_ASKED=1 $(BIN)/pytest -n 0 tests/integration/test_asking.py tests/integration/test_asking_models.py

test-neo4j: $(VENV)/.installed-dev  ## the long tests on Neo4j: restarts, kills, the chain with a server of its own
	$(BIN)/pytest -n 0 -m long_neo4j tests/integration

lint: $(VENV)/.installed-dev  ## ruff, mypy, snakefmt and snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check workflow rules
	$(foreach config,$(DEMO),$(BIN)/snakemake --configfile $(config) --lint &&) true

$(VENV)/.installed: pyproject.toml requirements.lock envs/setup.py
	$(PYTHON) envs/setup.py $(VENV)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(PYTHON) envs/setup.py $(VENV) --dev
	@touch $@

# The environment as a stranger's machine gets it: from the index alone, whatever pip is told of here.
FRESH ?= .fresh
STRANGER = env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL -u UV_FIND_LINKS PIP_CONFIG_FILE=/dev/null TORCH=cuda
fresh-setup:  ## set up PyPI's complete build in a folder of its own (FRESH), import torch from it, and remove it
	rm -rf $(FRESH)
	$(STRANGER) $(PYTHON) envs/setup.py $(FRESH)/.venv
	rm -rf $(FRESH)

fresh-test:  ## the same in a fresh clone, then its smallest run there (config/tiny.yaml; minutes)
	rm -rf $(FRESH)
	git clone --quiet . $(FRESH)
	$(STRANGER) $(MAKE) -C $(FRESH) demo CONFIG=config/tiny.yaml VENV=.venv
	rm -rf $(FRESH)

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

# The folders in which the demo draws its worlds
WORLDS = resources/sprites $(shell sed -n 's/^  folder: *//p' $(DEMO))
clean:  ## remove results, logs, kept replies, the demo's worlds and what asks models (not downloads, other worlds, the other environment)
	rm -rf results $(WORLDS) resources/asked logs benchmarks/jobs .snakemake $(INSPECT)
