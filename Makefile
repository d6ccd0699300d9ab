# Two commands: `make demo` runs the whole chain on the sprites world, `make test` checks the project.
PYTHON ?= python3
VENV ?= .venv
CORES ?= all
CONFIG ?= config/config.yaml
BIN := $(VENV)/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG)
TESTBED = $(shell sed -n 's/^testbed: *//p' $(CONFIG) | tail -n 1)
REPORT = results/$(TESTBED)/report.html
PIP_INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: demo test lint faults report locks clean help
help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## set up, run CONFIG (config/config.yaml), and say where the report is
	$(SNAKEMAKE)
	@$(MAKE) --no-print-directory report
	@echo "The report:      $(REPORT)"
	@echo "All on one page: results/$(TESTBED)/paper/index.html"

report: $(VENV)/.installed  ## make the Snakemake report of what has been run
	@if [ ! -e $(REPORT) ] || [ results/$(TESTBED)/paper/index.html -nt $(REPORT) ]; then \
	  $(SNAKEMAKE) --report $(REPORT); fi

test: lint  ## lint, then all tests
	$(BIN)/pytest -n 2 --dist loadgroup

lint: $(VENV)/.installed-dev  ## ruff, snakefmt and snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check workflow rules
	$(BIN)/snakemake --configfile $(CONFIG) --lint

# A machine with no GPU needs no CUDA: the CPU build is taken where pip offers one.
$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	@command -v nvidia-smi >/dev/null 2>&1 \
	  || $(PIP_INSTALL) torch==$(shell sed -n 's/^torch==//p' requirements.lock)+cpu 2>/dev/null \
	  || echo "pip offers no CPU build of torch here: taking the default one"
	$(PIP_INSTALL) -r requirements.lock
	$(PIP_INSTALL) --no-deps -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(PIP_INSTALL) -r requirements-dev.lock -c requirements.lock
	@touch $@

ROUNDS ?= 200
SEED ?= 1
faults: $(VENV)/.installed-dev  ## kill, starve and corrupt ROUNDS small runs and see that each recovers (docs/faults.md)
	PYTHONPATH=workflow:tests $(BIN)/python -m integration.faults --rounds $(ROUNDS) --seed $(SEED)

locks: $(VENV)/.installed  ## write the locks anew; RENEW="NAME …" lets these packages change
	$(BIN)/python envs/generate.py lock --renew $(RENEW)

clean:  ## remove all results and logs (not the environment)
	rm -rf results resources/sprites logs benchmarks/jobs .snakemake
